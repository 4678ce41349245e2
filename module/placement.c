// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement: idle CPUs inside the range, for threads that wake and for running
 * threads that are outside. Refusing moves alone converges slowly; pushing
 * alone fights the balancer. Together they settle.
 */
#include <linux/sched/clock.h>
#include <linux/topology.h>

#include "llc_gran.h"

#include <trace/events/llc_gran.h>

/*
 * A CPU that a push is under way to is not given to another for so long: it
 * still looks idle until the thread has arrived.
 */
#define LLCG_RESERVE_NS		(5 * NSEC_PER_MSEC)

/* Searches for an idle CPU that a group may make an epoch, for each push. */
#define LLCG_SEARCHES_A_PUSH	4

static DEFINE_PER_CPU(u64, reserved_until_ns);

static bool is_reserved(int cpu, u64 now_ns)
{
	return (s64)(READ_ONCE(per_cpu(reserved_until_ns, cpu)) - now_ns) > 0;
}

static bool reserve(int cpu, u64 now_ns)
{
	u64 *until = per_cpu_ptr(&reserved_until_ns, cpu);
	u64 old = READ_ONCE(*until);

	if ((s64)(old - now_ns) > 0)
		return false;

	return cmpxchg64(until, old, now_ns + LLCG_RESERVE_NS) == old;
}

static bool core_idle(int cpu, const struct cpumask *cpus)
{
	int sibling;

	for_each_cpu_and(sibling, topology_sibling_cpumask(cpu), cpus)
		if (sibling != cpu && !sched_policy_cpu_idle(sibling))
			return false;

	return true;
}

/* An idle CPU of @llc for @p, on an idle core if there is one. */
static int idle_in_llc(const struct llcg_llc *llc, struct task_struct *p,
		       u64 now_ns, bool *whole_core)
{
	int cpu, fallback = -1;

	for_each_cpu_and(cpu, llc->cpus, p->cpus_ptr) {
		if (!sched_policy_cpu_idle(cpu) || is_reserved(cpu, now_ns))
			continue;
		if (core_idle(cpu, llc->cpus)) {
			*whole_core = true;
			return cpu;
		}
		if (fallback < 0)
			fallback = cpu;
	}
	*whole_core = false;

	return fallback;
}

/* The first LLC of the range with an idle core, else with an idle CPU. */
static int idle_in_range(const struct llcg_machine *m, union llcg_decision d,
			 struct task_struct *p, u64 now_ns)
{
	u32 range = min_t(u32, d.range, m->nr_llcs), k;
	int fallback = -1;

	for (k = 0; k < range; k++) {
		const struct llcg_llc *llc = &m->llcs[llcg_topo_at(m->topo, d.pref, k)];
		bool whole_core;
		int cpu = idle_in_llc(llc, p, now_ns, &whole_core);

		if (cpu >= 0 && whole_core)
			return cpu;
		if (fallback < 0)
			fallback = cpu;
	}

	return fallback;
}

/**
 * llcg_find_idle - an idle CPU inside a group's range
 * @g: the group
 * @d: its decision
 * @p: the thread that needs one
 *
 * Any context, inside an RCU read section. O(CPUs of the range).
 *
 * Return: a CPU that @p may use, negative if none is idle.
 */
int llcg_find_idle(struct llcg_group *g, union llcg_decision d,
		   struct task_struct *p)
{
	return idle_in_range(g->machine, d, p, local_clock());
}

/*
 * What others on its CPU take from a thread: it is runnable for longer than it
 * runs. The averages lag, so somebody must be there now, too.
 */
static u32 waiting(const struct task_struct *p, int cpu)
{
	struct sched_policy_load load;
	unsigned long runnable = READ_ONCE(p->se.avg.runnable_avg);
	unsigned long util = READ_ONCE(p->se.avg.util_avg);

	if (runnable <= util + LLCG_WAIT_MAX)
		return 0;
	sched_policy_cpu_load(cpu, &load);

	return load.nr_runnable > 1 ? runnable - util : 0;
}

/* Whether the group has a push left in this epoch, and a search for a place. */
static bool may_search(struct llcg_group *g, u32 push_max)
{
	return atomic_read(&g->pushes) < push_max &&
	       atomic_read(&g->searches) < LLCG_SEARCHES_A_PUSH * push_max &&
	       atomic_fetch_inc(&g->searches) < LLCG_SEARCHES_A_PUSH * push_max;
}

/**
 * llcg_place - send a running thread where it belongs in its group's range
 * @g: the group
 * @p: current
 * @cpu: where it runs
 *
 * From the tick, interrupts off, inside an RCU read section. At most push_max
 * threads of a group an epoch, and never two to one CPU. O(1) for a thread that
 * is well placed; else O(CPUs of the range), a few times an epoch and group.
 */
void llcg_place(struct llcg_group *g, struct task_struct *p, int cpu)
{
	struct llcg_machine *m = g->machine;
	union llcg_decision d = { .word = READ_ONCE(g->decision.word) };
	u32 push_max = llcg_get(LLCG_PUSH_MAX);
	u64 now_ns;
	int dst;

	if (p->nr_cpus_allowed == 1 ||
	    !llcg_push_wanted(m->topo, d, m->cpu_llc[cpu], waiting(p, cpu)) ||
	    !may_search(g, push_max))
		return;
	now_ns = local_clock();
	dst = idle_in_range(m, d, p, now_ns);
	if (dst < 0 || atomic_fetch_inc(&g->pushes) >= push_max ||
	    !reserve(dst, now_ns))
		return;

	if (sched_policy_push(p, dst)) {
		llcg_stat_add(LLCG_STAT_PUSHES, 1);
		trace_llcg_push(p, cpu, dst, d);
	}
}
