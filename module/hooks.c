// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hooks: turn the scheduler's question into the policy's, and its answer
 * back. No policy is here.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/sched/clock.h>

#include "llc_gran.h"

#define CREATE_TRACE_POINTS
#include <trace/events/llc_gran.h>

static const enum sched_policy_verdict llcg_answers[] = {
	[LLCG_DEFAULT]	= SCHED_POLICY_DEFAULT,
	[LLCG_ALLOW]	= SCHED_POLICY_ALLOW,
	[LLCG_DENY]	= SCHED_POLICY_DENY,
};

static const enum llcg_stat_id llcg_answer_stats[] = {
	[LLCG_DEFAULT]	= LLCG_STAT_DEFAULTED,
	[LLCG_ALLOW]	= LLCG_STAT_ALLOWED,
	[LLCG_DENY]	= LLCG_STAT_DENIED,
};

/* A question about a move, once its group and LLCs are known. */
struct llcg_question {
	const struct sched_policy_move *mv;
	struct llcg_group *g;
	u32 src;
	u32 dst;
};

/*
 * The group is found by the cookie, since the task may be about to get another
 * mm elsewhere.
 */
static bool understand(struct llcg_question *q, const struct sched_policy_move *mv)
{
	if (!llcg_get(LLCG_ENABLED))
		return false;
	q->mv = mv;
	q->g = llcg_group_find(READ_ONCE(mv->p->sched_policy[LLCG_TASK_COOKIE]));
	if (!q->g)
		return false;
	q->src = q->g->machine->cpu_llc[mv->src_cpu];
	q->dst = q->g->machine->cpu_llc[mv->dst_cpu];

	return q->src != LLCG_NO_LLC && q->dst != LLCG_NO_LLC;
}

static struct llcg_verdict ask(const struct llcg_question *q, union llcg_decision d)
{
	const struct llcg_machine *m = q->g->machine;
	const struct sched_policy_move *mv = q->mv;
	bool idle = mv->newidle || sched_policy_cpu_idle(mv->dst_cpu);

	if (mv->path != SCHED_POLICY_NUMA)
		return llcg_verdict(m->topo, d, q->src, q->dst, idle);

	return llcg_numa_verdict(m->topo, d, q->src, q->dst, idle,
				 llcg_task_preferred_nid(mv->p) ==
				 m->llcs[q->dst].nid);
}

/* O(1). */
static enum sched_policy_verdict llcg_can_migrate(const struct sched_policy_move *mv)
{
	struct llcg_question q;
	struct llcg_verdict v;
	union llcg_decision d;

	if (!understand(&q, mv))
		return SCHED_POLICY_DEFAULT;
	d.word = READ_ONCE(q.g->decision.word);
	v = ask(&q, d);
	llcg_stat_add(llcg_answer_stats[v.answer], 1);
	if (v.answer != LLCG_DEFAULT)
		trace_llcg_can_migrate(mv, v, d);

	return llcg_answers[v.answer];
}

static struct llcg_group *group_of_waking(struct task_struct *p,
					  unsigned int flags)
{
	u64 cookie = READ_ONCE(p->sched_policy[LLCG_TASK_COOKIE]);

	/*
	 * A new thread has no cookie yet. It has not run, so nothing can take
	 * its mm away while its creator, which shares it, is here.
	 */
	if ((flags & SCHED_POLICY_WAKE_FORK) && p->mm && p->mm == current->mm)
		cookie = atomic64_read(&current->mm->sched_policy) &
			 LLCG_COOKIE_MASK;

	return llcg_group_find(cookie);
}

/*
 * Inside the range the scheduler's choice stands, even if the CPU is busy: an
 * idle one of another LLC there gives no less waiting, and costs a cold cache.
 */
static bool cpu_is_right(const struct llcg_group *g, union llcg_decision d,
			 int cpu)
{
	u32 llc = g->machine->cpu_llc[cpu];

	return llc == LLCG_NO_LLC ||
	       llcg_topo_rank(g->machine->topo, d.pref, llc) < d.range;
}

/* O(CPUs of the range) when the scheduler's choice is outside of it. */
static int llcg_select_cpu(struct task_struct *p, int prev_cpu, int new_cpu,
			   unsigned int flags)
{
	struct llcg_group *g;
	union llcg_decision d;
	int cpu;

	if (!llcg_get(LLCG_ENABLED) || !llcg_get(LLCG_WAKEUP) ||
	    (flags & SCHED_POLICY_WAKE_EXEC))
		return -1;
	g = group_of_waking(p, flags);
	if (!g)
		return -1;
	d.word = READ_ONCE(g->decision.word);
	if (!d.packed || cpu_is_right(g, d, new_cpu))
		return -1;
	cpu = llcg_find_idle(g, d, p);
	if (cpu >= 0)
		llcg_stat_add(LLCG_STAT_WAKEUPS, 1);

	return cpu;
}

/* Is more runnable than there are cores? Left again below exactly full. */
static void refresh_machine(struct llcg_machine *m, u32 epoch)
{
	u64 load = 0, capacity = (u64)m->nr_cores * LLCG_CORE_CAPACITY;
	u32 i;

	for (i = 0; i < m->nr_llcs; i++)
		load += llcg_ring_sum(&m->llcs[i].load, epoch);
	if (load > capacity + (capacity >> LLCG_SLACK_SHIFT))
		WRITE_ONCE(m->full, true);
	else if (load < capacity)
		WRITE_ONCE(m->full, false);
}

static void note_affinity(struct llcg_machine *m, struct llcg_group *g,
			  struct task_struct *p, u32 epoch)
{
	if (p->nr_cpus_allowed >= m->nr_cpus)
		WRITE_ONCE(g->all_epoch, epoch);
	else
		cpumask_or(g->allowed_next, g->allowed_next, &p->cpus_mask);
}

/*
 * O(1), plus a fold and a push at most once an epoch and group, plus O(LLCs)
 * once an epoch for the whole machine.
 */
static void llcg_tick(struct task_struct *p, int cpu)
{
	struct llcg_machine *m = rcu_dereference(llcg_machine);
	struct llcg_group *g;
	u64 now_ns;
	u32 epoch, llc;

	if (!m || !llcg_get(LLCG_ENABLED))
		return;
	llc = m->cpu_llc[cpu];
	if (llc == LLCG_NO_LLC)
		return;
	now_ns = local_clock();
	if (llcg_epoch_advance(now_ns))
		refresh_machine(m, llcg_epoch_now());
	epoch = llcg_epoch_now();
	llcg_topology_refresh(m, llc, epoch);

	/* Kernel threads may borrow an mm; they are not of its process. */
	if (!p->mm || (p->flags & (PF_KTHREAD | PF_EXITING)))
		return;
	g = llcg_group_of_current(p, llc);
	if (!g || g->machine != m)
		return;
	WRITE_ONCE(g->seen_epoch, epoch);
	note_affinity(m, g, p, epoch);
	llcg_fold(g, p, epoch, now_ns);
	llcg_place(g, p, cpu);
}

static const struct sched_policy_ops llcg_ops = {
	.abi		= SCHED_POLICY_ABI,
	.size		= sizeof(struct sched_policy_ops),
	.name		= "llc_gran",
	.can_migrate	= llcg_can_migrate,
	.select_cpu	= llcg_select_cpu,
	.account	= llcg_account,
	.tick		= llcg_tick,
	.topology	= llcg_topology_rebuild,
};

/**
 * llcg_hooks_register - begin to be asked
 *
 * May sleep.
 *
 * Return: 0, or what sched_policy_register() returns.
 */
int llcg_hooks_register(void)
{
	int err = sched_policy_register(&llcg_ops);

	if (err == -EBUSY)
		pr_err("another scheduler policy is registered\n");
	else if (err)
		pr_err("the kernel's policy hooks do not fit this module: %d\n",
		       err);

	return err;
}

/**
 * llcg_hooks_unregister - be asked no more
 *
 * No hook runs when this returns. May sleep.
 */
void llcg_hooks_unregister(void)
{
	sched_policy_unregister(&llcg_ops);
}
