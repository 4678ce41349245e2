/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LLC_GRAN_POLICY_H
#define _LLC_GRAN_POLICY_H

/*
 * The policy: where the threads of a group belong.
 *
 * Once an epoch, llcg_decide() turns what a group was measured to use, and what
 * the LLCs have left for it, into a decision: a preferred LLC, a range (how
 * much of the affinity sequence from there the group may use), and a spill
 * limit (how far beyond its range it may go because all before is full). Every
 * question of the scheduler is then answered by llcg_verdict() from that
 * decision alone.
 *
 * Quantities are in capacity: 1024 is one core fully used.
 */
#include <llc_gran/topo.h>

#define LLCG_CORE_CAPACITY	1024

enum llcg_limits {
	/*
	 * Demand may exceed capacity by 1/16, but no more than half a core: the
	 * crumbs that daemons take add no LLC, a busy task does.
	 */
	LLCG_SLACK_SHIFT	= 4,
	LLCG_SLACK_MAX		= LLCG_CORE_CAPACITY / 2,
	/* Epochs for which others must be in the way before a range grows. */
	LLCG_SQUEEZE_EPOCHS	= 8,
	/* Epochs for which less must suffice before a range shrinks. */
	LLCG_SHRINK_EPOCHS	= 20,
	/* A preferred LLC is left for one with so many times the occupancy. */
	LLCG_SWITCH_FACTOR	= 2,
	/* Epochs in a row for which another must be better. */
	LLCG_SWITCH_EPOCHS	= 8,
	/* A thread that loses more than this to others on its CPU is moved. */
	LLCG_WAIT_MAX		= LLCG_CORE_CAPACITY / 4,
	/* aggr_tolerance: every step above 1 adds so many LLC shares. */
	LLCG_TOLERANCE_STEP	= 256,
	LLCG_TOLERANCE_MAX	= 100,
};

/**
 * enum llcg_reason - why a group is, or is not, aggregated
 * @LLCG_REASON_NEW: nothing has been measured yet
 * @LLCG_REASON_PACKED: it is: kept within its range
 * @LLCG_REASON_NO_FOOTPRINT: its memory or the LLC's size is not known
 * @LLCG_REASON_FOOTPRINT: its memory exceeds the bound
 * @LLCG_REASON_TOLERANCE: aggr_tolerance is 0
 * @LLCG_REASON_SATURATED: the machine has more to run than cores
 * @LLCG_REASON_IDLE: not seen for affinity_timeout_epochs
 */
enum llcg_reason {
	LLCG_REASON_NEW,
	LLCG_REASON_PACKED,
	LLCG_REASON_NO_FOOTPRINT,
	LLCG_REASON_FOOTPRINT,
	LLCG_REASON_TOLERANCE,
	LLCG_REASON_SATURATED,
	LLCG_REASON_IDLE,
	LLCG_NR_REASONS,
};

/**
 * union llcg_decision - what a group's threads are held to
 * @pref: preferred LLC
 * @range: leading LLCs of its sequence that the group may use, at least 1
 * @spill: first position of the sequence that is not full; beyond the range a
 *	task may go up to there
 * @reason: enum llcg_reason
 * @packed: whether verdicts follow @pref and @range at all
 * @word: all of it, so that readers load one consistent decision at once
 */
union llcg_decision {
	struct {
		u16 pref;
		u16 range;
		u16 spill;
		u8 reason;
		u8 packed;
	};
	u64 word;
};

/**
 * enum llcg_why - the rule that gave a verdict
 * @LLCG_WHY_FREE: the group is not packed
 * @LLCG_WHY_SAME_LLC: source and destination share the LLC
 * @LLCG_WHY_INSIDE: both are in the range
 * @LLCG_WHY_ENTER: from outside into the range, where there is room
 * @LLCG_WHY_ENTER_FULL: likewise, but the destination is busy
 * @LLCG_WHY_CLOSER: outside the range, towards it
 * @LLCG_WHY_SPILL: all LLCs before the destination are full
 * @LLCG_WHY_OUTSIDE: the destination is beyond the range
 * @LLCG_WHY_STRAY: both are in the range, but NUMA balancing would not bring
 *	the task to the node it prefers
 */
enum llcg_why {
	LLCG_WHY_FREE,
	LLCG_WHY_SAME_LLC,
	LLCG_WHY_INSIDE,
	LLCG_WHY_ENTER,
	LLCG_WHY_ENTER_FULL,
	LLCG_WHY_CLOSER,
	LLCG_WHY_SPILL,
	LLCG_WHY_OUTSIDE,
	LLCG_WHY_STRAY,
	LLCG_NR_WHYS,
};

enum llcg_answer {
	LLCG_DEFAULT,
	LLCG_ALLOW,
	LLCG_DENY,
};

struct llcg_verdict {
	u8 answer;
	u8 why;
};

/**
 * struct llcg_room - what an LLC offers one group
 * @total: capacity of the cores that the group may run on, less what RT tasks
 *	and interrupts take, times fill_pct
 * @outside: likewise of the cores that the group may not run on
 * @claims: what other groups plan to use of the LLC
 * @load: demand of everyone else that runs there now
 * @full: more is runnable there than it has cores for
 */
struct llcg_room {
	u32 total;
	u32 outside;
	u32 claims;
	u32 load;
	bool full;
};

/**
 * struct llcg_visit - what a group was seen to use of one LLC
 * @llc: which
 * @occupancy: decayed running time there, as capacity
 */
struct llcg_visit {
	u16 llc;
	u32 occupancy;
};

/**
 * struct llcg_footprint - what is known of a group's memory
 * @rss_bytes: resident memory, an upper bound of the working set
 * @llc_bytes: size of the group's share of one LLC, 0 if unknown
 * @known: @rss_bytes was read
 */
struct llcg_footprint {
	u64 rss_bytes;
	u64 llc_bytes;
	bool known;
};

/**
 * struct llcg_inputs - what a decision is made from
 * @topo: the machine
 * @visits: LLCs that the group has run on lately
 * @nr_visits: how many
 * @demand: what its threads would use if they could
 * @machine_full: more is runnable than the machine has cores for
 * @refit: its threads' affinity changed, so the old range means nothing
 * @guarded: footprint_guard is on
 * @tolerance: aggr_tolerance
 * @room: tells what an LLC offers this group; called O(visits + range) times
 * @footprint: tells the memory of the group against a share of an LLC
 * @ctx: passed to both
 */
struct llcg_inputs {
	const struct llcg_topo *topo;
	const struct llcg_visit *visits;
	u32 nr_visits;
	u32 demand;
	bool machine_full;
	bool refit;
	bool guarded;
	u32 tolerance;
	void (*room)(void *ctx, u32 llc, struct llcg_room *room);
	void (*footprint)(void *ctx, u32 llc, struct llcg_footprint *fp);
	void *ctx;
};

/**
 * struct llcg_state - a group's decision and what it needs to change it
 * @decision: the current one
 * @switch_epochs: epochs in a row for which another preferred LLC was better
 * @raise_epochs: epochs in a row for which others squeezed the group
 * @raise_range: the shortest range that would have done meanwhile
 * @lower_epochs: epochs in a row for which a shorter range would have done
 * @lower_range: the longest of those shorter ranges
 * @footprint: as last looked at
 * @bound_bytes: what it was compared with
 */
struct llcg_state {
	union llcg_decision decision;
	u16 switch_epochs;
	u16 raise_epochs;
	u16 raise_range;
	u16 lower_epochs;
	u16 lower_range;
	struct llcg_footprint footprint;
	u64 bound_bytes;
};

/*
 * Epochs from @then to @now, 0 if @then is later: a CPU that has seen the epoch
 * change may have written @then after another read @now.
 */
static inline u32 llcg_age(u32 now, u32 then)
{
	s32 age = now - then;

	return max_t(s32, age, 0);
}

void llcg_decide(struct llcg_state *s, const struct llcg_inputs *in);
struct llcg_verdict llcg_verdict(const struct llcg_topo *t,
				 union llcg_decision d, u32 src, u32 dst,
				 bool dst_idle);
struct llcg_verdict llcg_numa_verdict(const struct llcg_topo *t,
				      union llcg_decision d, u32 src, u32 dst,
				      bool dst_idle, bool to_preferred_node);
bool llcg_push_wanted(const struct llcg_topo *t, union llcg_decision d, u32 llc,
		      u32 waiting);
u64 llcg_footprint_bound(u64 llc_bytes, u32 tolerance);
u32 llcg_free_capacity(const struct llcg_room *room);
const char *llcg_reason_name(u32 reason);
const char *llcg_why_name(u32 why);

#endif /* _LLC_GRAN_POLICY_H */
