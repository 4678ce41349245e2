/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LLC_GRAN_H
#define _LLC_GRAN_H

/*
 * What the files of the module share.
 *
 * Data goes one way: the scheduler calls a hook (hooks.c); the hook asks
 * llcg_verdict() with the decision that the task's group published. Once an
 * epoch a running thread of the group folds what account.c gathered into a new
 * decision, under the group's trylock. Readers never wait.
 *
 * Lifetime: the machine (topology.c) and the groups (groups.c) are published by
 * RCU. A group belongs to one machine: when the machine is replaced, all groups
 * are dropped first and form again at their threads' next ticks.
 *
 * Lock order: CPU hotplug lock -> sched_domains_mutex -> the core's topology
 * mutex -> llcg_machine_mutex -> llcg_groups_mutex -> group->lock.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <llc_gran/policy.h>

#include "compat.h"

#define LLCG_NO_LLC		U16_MAX

/* account.c: demand of tasks, each counted once in the last few epochs */

#define LLCG_WINDOW_EPOCHS	7
#define LLCG_RING_BUCKETS	(LLCG_WINDOW_EPOCHS + 1)

/**
 * struct llcg_ring - sum of what each task of a set would use
 * @epoch: newest epoch in it
 * @bucket: contributions by the epoch in which the task last ran
 *
 * A task's contribution is its PELT runnable average. When it runs in a new
 * epoch its old contribution is taken back, so none counts twice, and one that
 * stopped running drops out after LLCG_WINDOW_EPOCHS. Updated without a lock;
 * a race at the edge of an epoch costs a contribution for one window.
 */
struct llcg_ring {
	u32 epoch;
	atomic_t bucket[LLCG_RING_BUCKETS];
};

u32 llcg_epoch_now(void);
void llcg_epoch_restart(void);
bool llcg_epoch_advance(u64 now_ns);
u32 llcg_ring_sum(const struct llcg_ring *ring, u32 epoch);
void llcg_account(struct task_struct *p, int cpu, u64 delta_ns);

/* topology.c: the machine */

/**
 * struct llcg_llc - one LLC, or one part of it under llc_split
 * @cpus: its CPUs
 * @nid: the kernel's id of its node
 * @nr_cores: cores among @cpus
 * @nr_cpus: weight of @cpus
 * @size_bytes: its share of the cache, 0 if unknown
 * @load: demand of all fair tasks that run here
 * @capacity: of its cores, less RT and interrupts; refreshed once an epoch
 * @capacity_epoch: when it was
 * @claims: capacity that groups plan to use here
 */
struct llcg_llc {
	struct cpumask *cpus;
	int nid;
	u32 nr_cores;
	u32 nr_cpus;
	u64 size_bytes;
	struct llcg_ring load ____cacheline_aligned_in_smp;
	u32 capacity;
	u32 capacity_epoch;
	atomic_t claims;
};

/**
 * struct llcg_machine - the LLCs as the scheduler sees them now
 * @topo: affinity sequences
 * @nr_llcs: LLCs, numbered in node order
 * @nr_cores: cores in all
 * @nr_cpus: CPUs in all
 * @full: more is runnable than @nr_cores; refreshed once an epoch
 * @cpu_llc: LLC of each possible CPU, LLCG_NO_LLC for one that is offline
 * @masks: backs every @cpus of @llcs
 * @llcs: array of @nr_llcs
 */
struct llcg_machine {
	struct rcu_head rcu;
	struct llcg_topo *topo;
	u32 nr_llcs;
	u32 nr_cores;
	u32 nr_cpus;
	bool full;
	u16 *cpu_llc;
	void *masks;
	struct llcg_llc llcs[];
};

extern struct llcg_machine __rcu *llcg_machine;
extern struct mutex llcg_machine_mutex;

int llcg_topology_init(unsigned int split);
void llcg_topology_rebuild(void);
void llcg_topology_exit(void);
u32 llcg_topology_nr_llcs(void);
void llcg_topology_refresh(struct llcg_machine *m, u32 llc, u32 epoch);
u32 llcg_topology_capacity(const struct llcg_llc *llc,
			   const struct cpumask *allowed);

/* groups.c: state of processes with more than one thread */

/* Words of a task that belong to the policy. */
enum llcg_task_word {
	LLCG_TASK_COOKIE,
	LLCG_TASK_LAST,
	LLCG_TASK_PENDING_NS,
};

#define LLCG_COOKIE_MASK	(~(u64)SCHED_POLICY_MM_INHERIT)

/**
 * struct llcg_slot - what a group uses of one LLC it has visited
 * @load: demand of its threads that run there
 * @runtime_ns: their running time since the last fold
 * @occupancy: decayed running time as capacity; written by the fold
 * @last_epoch: last fold that found running time
 * @listed: whether the group's fold looks at it
 */
struct llcg_slot {
	struct llcg_ring load;
	atomic64_t runtime_ns;
	u32 occupancy;
	u32 last_epoch;
	bool listed;
} ____cacheline_aligned_in_smp;

/**
 * struct llcg_group - the threads that share an mm
 * @cookie: generation and table index; what tasks and mms carry
 * @machine: the machine it was made for; valid as long as the group is found
 * @decision: what readers see; written under @lock
 * @pushes: pushes since the last fold
 * @searches: searches for an idle CPU to push to, likewise
 * @seen_epoch: last epoch in which a thread of it was seen
 * @all_epoch: last epoch in which one was that may run anywhere
 * @lock: protects all below; a trylock in the tick, never waited for there
 * @dropped: nobody finds it any more, and it may claim nothing
 * @state: the policy's
 * @folded_epoch: last fold
 * @folded_ns: when it was
 * @demand: what its threads would use, as of the last fold
 * @anywhere: one of its threads may run anywhere, as of the last fold
 * @allowed: CPUs that its threads may use, where all are restricted
 * @allowed_next: the same, being gathered; written without @lock by any thread
 * @allowed_epoch: when @allowed was last replaced
 * @claims: what it claims of each LLC
 * @claimed: leading positions of @claimed_pref's sequence with claims
 * @claimed_pref: see @claimed
 * @nr_threads: threads as of the last fold
 * @tgid: of the thread that folded last
 * @comm: likewise
 * @nr_visits: LLCs in @visits
 * @visits: LLCs it has run on lately
 * @nr_slots: entries of @slots
 * @slots: by LLC, NULL where it never ran
 */
struct llcg_group {
	struct rcu_head rcu;
	u64 cookie;
	struct llcg_machine *machine;
	union llcg_decision decision;
	atomic_t pushes;
	atomic_t searches;
	u32 seen_epoch;
	u32 all_epoch;

	raw_spinlock_t lock;
	bool dropped;
	struct llcg_state state;
	u32 folded_epoch;
	u64 folded_ns;
	u32 demand;
	bool anywhere;
	cpumask_var_t allowed;
	cpumask_var_t allowed_next;
	u32 allowed_epoch;
	u32 *claims;
	u32 claimed;
	u32 claimed_pref;
	int nr_threads;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	u32 nr_visits;
	struct llcg_visit *visits;
	u32 nr_slots;
	struct llcg_slot *slots[];
};

int llcg_groups_init(void);
void llcg_groups_exit(void);
void llcg_groups_drop_all(void);
struct llcg_group *llcg_group_find(u64 cookie);
struct llcg_group *llcg_group_of_current(struct task_struct *p, u32 llc);
u32 llcg_groups_for_each(void (*fn)(struct llcg_group *g, void *ctx), void *ctx);

/* fold.c: once an epoch, what was gathered becomes a decision */

void llcg_fold(struct llcg_group *g, struct task_struct *p, u32 epoch,
	       u64 now_ns);
void llcg_fold_idle(struct llcg_group *g, bool drop);

/* placement.c */

void llcg_place(struct llcg_group *g, struct task_struct *p, int cpu);
int llcg_find_idle(struct llcg_group *g, union llcg_decision d,
		   struct task_struct *p);

/* hooks.c */

int llcg_hooks_register(void);
void llcg_hooks_unregister(void);

/* tunables.c */

enum llcg_tunable_id {
	LLCG_ENABLED,
	LLCG_AGGR_TOLERANCE,
	LLCG_FILL_PCT,
	LLCG_EPOCH_PERIOD_MS,
	LLCG_AFFINITY_TIMEOUT_EPOCHS,
	LLCG_PUSH_MAX,
	LLCG_WAKEUP,
	LLCG_FOOTPRINT_GUARD,
	LLCG_NR_TUNABLES,
};

/**
 * struct llcg_tunable - a knob, as module parameter and in sysfs
 * @name: of both
 * @min: lowest value
 * @max: highest value
 * @value: the current one; any reader, any time
 */
struct llcg_tunable {
	const char *name;
	unsigned int min;
	unsigned int max;
	unsigned int value;
};

extern struct llcg_tunable llcg_tunables[LLCG_NR_TUNABLES];

static inline unsigned int llcg_get(enum llcg_tunable_id id)
{
	return READ_ONCE(llcg_tunables[id].value);
}

int llcg_tunable_store(struct llcg_tunable *t, const char *buf);

/* sysfs.c, debugfs.c */

int llcg_sysfs_init(void);
void llcg_sysfs_exit(void);
void llcg_sysfs_topology_changed(void);
void llcg_debugfs_init(void);
void llcg_debugfs_exit(void);

/* stats.c: monotonic counters */

enum llcg_stat_id {
	LLCG_STAT_ALLOWED,
	LLCG_STAT_DENIED,
	LLCG_STAT_DEFAULTED,
	LLCG_STAT_WAKEUPS,
	LLCG_STAT_PUSHES,
	LLCG_STAT_FOLDS,
	LLCG_STAT_LLCS_SCANNED,
	LLCG_STAT_GROUPS_CREATED,
	LLCG_STAT_GROUPS_DROPPED,
	LLCG_STAT_GROUPS_REFUSED,
	LLCG_STAT_TOPOLOGY_REBUILDS,
	LLCG_NR_STATS,
};

extern const char * const llcg_stat_names[LLCG_NR_STATS];
DECLARE_PER_CPU(u64 [LLCG_NR_STATS], llcg_stats);

static inline void llcg_stat_add(enum llcg_stat_id id, u64 n)
{
	this_cpu_add(llcg_stats[id], n);
}

u64 llcg_stat_sum(enum llcg_stat_id id);

#endif /* _LLC_GRAN_H */
