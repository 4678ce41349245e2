// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine: LLCs as the scheduler groups CPUs by them, numbered densely in
 * node order. Rebuilt whole, published by RCU, whenever the scheduler rebuilds
 * its domains.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/topology.h>

#include "llc_gran.h"

struct llcg_machine __rcu *llcg_machine;
/* Serialises building and publishing; readers are under RCU. */
DEFINE_MUTEX(llcg_machine_mutex);

static unsigned int llcg_split = 1;

/* What scan_llcs() finds, before it is known how many there are. */
struct llcg_scan {
	u32 nr_llcs;
	u32 nr_nodes;
	int nids[LLCG_MAX_NODES];
	u32 llcs_per_node[LLCG_MAX_NODES];
	struct {
		struct cpumask *cpus;
		u64 size_bytes;
	} llcs[LLCG_MAX_LLCS];
	cpumask_var_t todo;
	cpumask_var_t span;
};

static void free_scan(struct llcg_scan *scan)
{
	u32 i;

	if (!scan)
		return;
	for (i = 0; i < scan->nr_llcs; i++)
		kfree(scan->llcs[i].cpus);
	free_cpumask_var(scan->todo);
	free_cpumask_var(scan->span);
	kvfree(scan);
}

static struct llcg_scan *alloc_scan(void)
{
	struct llcg_scan *scan = kvzalloc(sizeof(*scan), GFP_KERNEL);

	if (!scan)
		return NULL;
	if (!zalloc_cpumask_var(&scan->todo, GFP_KERNEL) ||
	    !zalloc_cpumask_var(&scan->span, GFP_KERNEL)) {
		free_scan(scan);
		return NULL;
	}

	return scan;
}

static int add_llc(struct llcg_scan *scan, u64 size_bytes)
{
	struct cpumask *cpus;

	if (scan->nr_llcs == LLCG_MAX_LLCS)
		return -E2BIG;
	cpus = kzalloc(cpumask_size(), GFP_KERNEL);
	if (!cpus)
		return -ENOMEM;
	scan->llcs[scan->nr_llcs].cpus = cpus;
	scan->llcs[scan->nr_llcs].size_bytes = size_bytes;
	scan->nr_llcs++;

	return 0;
}

static u32 count_cores(const struct cpumask *cpus)
{
	u32 nr = 0;
	int cpu;

	for_each_cpu(cpu, cpus)
		if (cpumask_first_and(topology_sibling_cpumask(cpu), cpus) == cpu)
			nr++;

	return nr;
}

/*
 * Adds @span as one LLC, or as llc_split of them: cores are dealt out in order
 * and siblings stay together, so a part is what a small LLC would be.
 */
static int add_parts(struct llcg_scan *scan, const struct cpumask *span,
		     u64 size_bytes)
{
	u32 cores = count_cores(span), parts = min(llcg_split, cores);
	u32 first = scan->nr_llcs, core = 0, i;
	int cpu, sibling, err;

	for (i = 0; i < parts; i++) {
		err = add_llc(scan, size_bytes / parts);
		if (err)
			return err;
	}
	for_each_cpu(cpu, span) {
		if (cpumask_first_and(topology_sibling_cpumask(cpu), span) != cpu)
			continue;
		i = first + core++ * parts / cores;
		for_each_cpu_and(sibling, topology_sibling_cpumask(cpu), span)
			cpumask_set_cpu(sibling, scan->llcs[i].cpus);
	}

	return 0;
}

/*
 * Adds the LLC of the first CPU in @scan->todo: CPUs of one node.
 * Firmware that reports one cache for two nodes would make an LLC of both; it
 * is cut at the node boundary. A CPU that takes no part in balancing is left
 * out: no thread is to be sent there.
 */
static int scan_llc(struct llcg_scan *scan)
{
	int cpu = cpumask_first(scan->todo);
	struct sched_policy_llc llc;
	u32 weight;

	sched_policy_cpu_llc(cpu, &llc, scan->span);
	if (llc.id < 0) {
		cpumask_clear_cpu(cpu, scan->todo);
		return 0;
	}
	weight = cpumask_weight(scan->span);
	cpumask_and(scan->span, scan->span, scan->todo);
	if (cpumask_weight(scan->span) < weight)
		pr_warn_once("the LLC of CPU %d crosses nodes, treated as one LLC a node\n",
			     cpu);
	cpumask_andnot(scan->todo, scan->todo, scan->span);

	return add_parts(scan, scan->span,
			 llc.size_bytes * cpumask_weight(scan->span) /
			 max(llc.nr_sharing, 1U));
}

static int scan_node(struct llcg_scan *scan, int nid)
{
	u32 first = scan->nr_llcs;
	int err;

	cpumask_and(scan->todo, cpumask_of_node(nid), cpu_active_mask);
	if (cpumask_empty(scan->todo))
		return 0;
	if (scan->nr_nodes == LLCG_MAX_NODES)
		return -E2BIG;
	while (!cpumask_empty(scan->todo)) {
		err = scan_llc(scan);
		if (err)
			return err;
	}
	if (scan->nr_llcs == first)
		return 0;
	scan->nids[scan->nr_nodes] = nid;
	scan->llcs_per_node[scan->nr_nodes++] = scan->nr_llcs - first;

	return 0;
}

static struct llcg_topo *make_topo(const struct llcg_scan *scan)
{
	struct llcg_topo_spec spec = {
		.nr_nodes = scan->nr_nodes,
		.llcs_per_node = scan->llcs_per_node,
	};
	struct llcg_topo *topo;
	u32 *distance, i, j;
	int err;

	distance = kvcalloc(array_size(scan->nr_nodes, scan->nr_nodes),
			    sizeof(*distance), GFP_KERNEL);
	if (!distance)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < scan->nr_nodes; i++)
		for (j = 0; j < scan->nr_nodes; j++)
			distance[i * scan->nr_nodes + j] =
				node_distance(scan->nids[i], scan->nids[j]);
	spec.node_distance = distance;
	err = llcg_topo_create(&spec, &topo);
	kvfree(distance);

	return err ? ERR_PTR(err) : topo;
}

static void free_machine(struct llcg_machine *m)
{
	if (!m)
		return;
	llcg_topo_destroy(m->topo);
	kvfree(m->cpu_llc);
	kvfree(m->masks);
	kvfree(m);
}

static void fill_llc(struct llcg_machine *m, const struct llcg_scan *scan, u32 i)
{
	struct llcg_llc *llc = &m->llcs[i];
	int cpu;

	llc->cpus = m->masks + i * cpumask_size();
	cpumask_copy(llc->cpus, scan->llcs[i].cpus);
	llc->nid = scan->nids[m->topo->llc_node[i]];
	llc->nr_cores = count_cores(llc->cpus);
	llc->nr_cpus = cpumask_weight(llc->cpus);
	llc->size_bytes = scan->llcs[i].size_bytes;
	llc->capacity = llc->nr_cores * LLCG_CORE_CAPACITY;
	m->nr_cores += llc->nr_cores;
	m->nr_cpus += llc->nr_cpus;
	for_each_cpu(cpu, llc->cpus)
		m->cpu_llc[cpu] = i;
}

static struct llcg_machine *make_machine(const struct llcg_scan *scan)
{
	struct llcg_machine *m;
	int err = -ENOMEM;
	u32 i;

	m = kvzalloc(struct_size(m, llcs, scan->nr_llcs), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->nr_llcs = scan->nr_llcs;
	m->masks = kvcalloc(scan->nr_llcs, cpumask_size(), GFP_KERNEL);
	m->cpu_llc = kvmalloc_array(nr_cpu_ids, sizeof(*m->cpu_llc), GFP_KERNEL);
	if (!m->masks || !m->cpu_llc)
		goto err_free;
	m->topo = make_topo(scan);
	if (IS_ERR(m->topo)) {
		err = PTR_ERR(m->topo);
		m->topo = NULL;
		goto err_free;
	}
	for (i = 0; i < nr_cpu_ids; i++)
		m->cpu_llc[i] = LLCG_NO_LLC;
	for (i = 0; i < scan->nr_llcs; i++)
		fill_llc(m, scan, i);

	return m;

err_free:
	free_machine(m);
	return ERR_PTR(err);
}

static struct llcg_machine *build_machine(void)
{
	struct llcg_scan *scan = alloc_scan();
	struct llcg_machine *m;
	int nid, err = 0;

	if (!scan)
		return ERR_PTR(-ENOMEM);
	for_each_online_node(nid) {
		err = scan_node(scan, nid);
		if (err)
			break;
	}
	if (!err && !scan->nr_llcs)
		err = -ENODEV;
	m = err ? ERR_PTR(err) : make_machine(scan);
	free_scan(scan);

	return m;
}

static void free_machine_rcu(struct rcu_head *rcu)
{
	free_machine(container_of(rcu, struct llcg_machine, rcu));
}

static void publish(struct llcg_machine *m)
{
	struct llcg_machine *old;

	lockdep_assert_held(&llcg_machine_mutex);
	old = rcu_dereference_protected(llcg_machine,
					lockdep_is_held(&llcg_machine_mutex));
	llcg_epoch_restart();
	rcu_assign_pointer(llcg_machine, m);
	/* Groups of @old keep it until their own grace period is over. */
	llcg_groups_drop_all();
	if (old)
		call_rcu(&old->rcu, free_machine_rcu);
}

/**
 * llcg_topology_rebuild - make the tables follow the scheduler's domains
 *
 * Called by the hook and at load, with the CPU hotplug lock held; may sleep.
 * When it fails, or one LLC is left, no machine is published and every decision
 * is the scheduler's own until a later rebuild succeeds.
 */
void llcg_topology_rebuild(void)
{
	struct llcg_machine *m = build_machine();

	if (IS_ERR(m)) {
		pr_warn("no topology (%ld), dormant until it changes\n", PTR_ERR(m));
		m = NULL;
	} else if (m->nr_llcs < 2) {
		if (rcu_access_pointer(llcg_machine))
			pr_info("one LLC left, dormant until there are more\n");
		free_machine(m);
		m = NULL;
	}

	mutex_lock(&llcg_machine_mutex);
	publish(m);
	mutex_unlock(&llcg_machine_mutex);
	llcg_stat_add(LLCG_STAT_TOPOLOGY_REBUILDS, 1);
	llcg_sysfs_topology_changed();
}

/**
 * llcg_topology_init - look at the machine for the first time
 * @split: parts that every LLC is treated as
 *
 * May sleep; takes the CPU hotplug lock.
 *
 * Return: 0, -ENODEV on a machine with one LLC, -E2BIG on one beyond
 * LLCG_MAX_LLCS or LLCG_MAX_NODES, -ENOMEM.
 */
int llcg_topology_init(unsigned int split)
{
	struct llcg_machine *m;

	llcg_split = split;
	cpus_read_lock();
	m = build_machine();
	cpus_read_unlock();
	if (IS_ERR(m)) {
		pr_err("cannot use this machine's topology: %ld\n", PTR_ERR(m));
		return PTR_ERR(m);
	}
	if (m->nr_llcs < 2) {
		free_machine(m);
		pr_err("this machine has one LLC, nothing to do (llc_split=2 to try it anyway)\n");
		return -ENODEV;
	}
	mutex_lock(&llcg_machine_mutex);
	publish(m);
	mutex_unlock(&llcg_machine_mutex);

	return 0;
}

/**
 * llcg_topology_exit - forget the machine
 *
 * No hook runs any more, and there are no groups. May sleep.
 */
void llcg_topology_exit(void)
{
	struct llcg_machine *m;

	mutex_lock(&llcg_machine_mutex);
	m = rcu_replace_pointer(llcg_machine, NULL,
				lockdep_is_held(&llcg_machine_mutex));
	mutex_unlock(&llcg_machine_mutex);
	/* Waits for free_machine_rcu() of earlier machines, which is our text. */
	rcu_barrier();
	free_machine(m);
}

/**
 * llcg_topology_nr_llcs - LLCs of the machine now, 0 while dormant
 *
 * Any context.
 */
u32 llcg_topology_nr_llcs(void)
{
	struct llcg_machine *m;
	u32 nr;

	rcu_read_lock();
	m = rcu_dereference(llcg_machine);
	nr = m ? m->nr_llcs : 0;
	rcu_read_unlock();

	return nr;
}

/**
 * llcg_topology_capacity - what the cores of an LLC offer to fair tasks
 * @llc: the LLC
 * @allowed: only these CPUs, or NULL for all
 *
 * A core counts once whatever its SMT width, less what RT tasks and interrupts
 * take from its CPUs on average. Any context; O(CPUs of the LLC).
 */
u32 llcg_topology_capacity(const struct llcg_llc *llc,
			   const struct cpumask *allowed)
{
	u32 sum = 0;
	int cpu;

	for_each_cpu(cpu, llc->cpus) {
		const struct cpumask *core = topology_sibling_cpumask(cpu);
		struct sched_policy_load load;
		u32 nr = 0, part = 0;
		int sibling;

		if (cpumask_first_and(core, llc->cpus) != cpu)
			continue;
		for_each_cpu_and(sibling, core, llc->cpus) {
			if (allowed && !cpumask_test_cpu(sibling, allowed))
				continue;
			sched_policy_cpu_load(sibling, &load);
			part += load.capacity;
			nr++;
		}
		if (nr)
			sum += part / nr;
	}

	return sum;
}

/**
 * llcg_topology_refresh - bring an LLC's capacity up to date
 * @m: the machine
 * @llc: the LLC of the CPU that asks, so that this stays local
 * @epoch: now
 *
 * Called from the tick. O(CPUs of the LLC) once an epoch, O(1) otherwise.
 */
void llcg_topology_refresh(struct llcg_machine *m, u32 llc, u32 epoch)
{
	struct llcg_llc *l = &m->llcs[llc];
	u32 old = READ_ONCE(l->capacity_epoch);

	if (old == epoch || cmpxchg(&l->capacity_epoch, old, epoch) != old)
		return;
	WRITE_ONCE(l->capacity, llcg_topology_capacity(l, NULL));
}
