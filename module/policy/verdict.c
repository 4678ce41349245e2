// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one rule that every path asks: load balancing, active balancing, wakeup
 * and the push step, so that none undoes what another did.
 */
#include <llc_gran/policy.h>

static const char * const reason_names[LLCG_NR_REASONS] = {
	[LLCG_REASON_NEW]		= "new",
	[LLCG_REASON_PACKED]		= "packed",
	[LLCG_REASON_NO_FOOTPRINT]	= "no-footprint",
	[LLCG_REASON_FOOTPRINT]		= "footprint",
	[LLCG_REASON_TOLERANCE]		= "tolerance",
	[LLCG_REASON_SATURATED]		= "saturated",
	[LLCG_REASON_IDLE]		= "idle",
};

static const char * const why_names[LLCG_NR_WHYS] = {
	[LLCG_WHY_FREE]		= "free",
	[LLCG_WHY_SAME_LLC]	= "same-llc",
	[LLCG_WHY_INSIDE]	= "inside",
	[LLCG_WHY_ENTER]	= "enter",
	[LLCG_WHY_ENTER_FULL]	= "enter-full",
	[LLCG_WHY_CLOSER]	= "closer",
	[LLCG_WHY_SPILL]	= "spill",
	[LLCG_WHY_OUTSIDE]	= "outside",
	[LLCG_WHY_STRAY]	= "stray",
};

static struct llcg_verdict say(enum llcg_answer answer, enum llcg_why why)
{
	return (struct llcg_verdict){ .answer = answer, .why = why };
}

/**
 * llcg_verdict - may a thread of a group move between two LLCs?
 * @t: the machine
 * @d: the group's decision
 * @src: LLC where the thread is
 * @dst: LLC where it would go
 * @dst_idle: a CPU waits for it there
 *
 * Inside the range any LLC will do, even if an earlier one is not full yet.
 * Beyond it a thread may go only as far as everything before is full. Any
 * context; O(1).
 */
struct llcg_verdict llcg_verdict(const struct llcg_topo *t,
				 union llcg_decision d, u32 src, u32 dst,
				 bool dst_idle)
{
	u32 from, to;

	if (!d.packed)
		return say(LLCG_DEFAULT, LLCG_WHY_FREE);
	if (src == dst)
		return say(LLCG_DEFAULT, LLCG_WHY_SAME_LLC);

	from = llcg_topo_rank(t, d.pref, src);
	to = llcg_topo_rank(t, d.pref, dst);
	if (to < d.range) {
		if (from < d.range)
			return say(LLCG_DEFAULT, LLCG_WHY_INSIDE);
		if (dst_idle)
			return say(LLCG_ALLOW, LLCG_WHY_ENTER);
		return say(LLCG_DEFAULT, LLCG_WHY_ENTER_FULL);
	}
	if (to < from)
		return say(LLCG_DEFAULT, LLCG_WHY_CLOSER);
	if (to <= d.spill)
		return say(LLCG_DEFAULT, LLCG_WHY_SPILL);

	return say(LLCG_DENY, LLCG_WHY_OUTSIDE);
}

/**
 * llcg_numa_verdict - may NUMA balancing move a thread of a group?
 * @t: the machine
 * @d: the group's decision
 * @src: LLC where the thread is
 * @dst: LLC where it would go
 * @dst_idle: a CPU waits for it there
 * @to_preferred_node: @dst is in the node that the thread prefers
 *
 * As llcg_verdict(), but inside the range a thread moves to another LLC only to
 * come to its preferred node. Threads that share data on several nodes would
 * otherwise be exchanged for each other at every scan, with no gain. Any
 * context; O(1).
 */
struct llcg_verdict llcg_numa_verdict(const struct llcg_topo *t,
				      union llcg_decision d, u32 src, u32 dst,
				      bool dst_idle, bool to_preferred_node)
{
	struct llcg_verdict v = llcg_verdict(t, d, src, dst, dst_idle);

	if (v.why == LLCG_WHY_INSIDE && !to_preferred_node)
		return say(LLCG_DENY, LLCG_WHY_STRAY);

	return v;
}

/**
 * llcg_push_wanted - should a running thread be sent to an idle CPU in range?
 * @t: the machine
 * @d: the group's decision
 * @llc: LLC where the thread runs
 * @waiting: capacity that the thread would use and others on its CPU get
 *
 * Threads outside the range are brought in, and those inside that are in each
 * other's way, or in that of a pinned task, are set apart: balancing inside the
 * range takes its time. Any context; O(1).
 */
bool llcg_push_wanted(const struct llcg_topo *t, union llcg_decision d, u32 llc,
		      u32 waiting)
{
	if (!d.packed)
		return false;

	return waiting > LLCG_WAIT_MAX || llcg_topo_rank(t, d.pref, llc) >= d.range;
}

/**
 * llcg_reason_name - a reason as users read it
 * @reason: enum llcg_reason
 *
 * Return: a word, "?" for what is none.
 */
const char *llcg_reason_name(u32 reason)
{
	return reason < LLCG_NR_REASONS ? reason_names[reason] : "?";
}

/**
 * llcg_why_name - the rule behind a verdict as users read it
 * @why: enum llcg_why
 *
 * Return: a word, "?" for what is none.
 */
const char *llcg_why_name(u32 why)
{
	return why < LLCG_NR_WHYS ? why_names[why] : "?";
}
