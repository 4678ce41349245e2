// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs llc_gran/groups: every group and why it is where it is, and
 * llc_gran/llcs: what every LLC has left. For people.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "llc_gran.h"

static struct dentry *llcg_dir;

static void show_group(struct llcg_group *g, void *ctx)
{
	struct seq_file *m = ctx;
	struct llcg_state s;
	char comm[TASK_COMM_LEN];
	int threads;
	pid_t tgid;
	u32 demand, visits;

	raw_spin_lock_irq(&g->lock);
	s = g->state;
	strscpy(comm, g->comm, sizeof(comm));
	threads = g->nr_threads;
	tgid = g->tgid;
	demand = g->demand;
	visits = g->nr_visits;
	raw_spin_unlock_irq(&g->lock);

	seq_printf(m, "%7d %-15s %7d %5u %5u %7u %7u %7u %12llu %12llu %s\n",
		   tgid, comm, threads, s.decision.pref, s.decision.range,
		   s.decision.spill, visits, demand, s.footprint.rss_bytes,
		   s.bound_bytes, llcg_reason_name(s.decision.reason));
}

static int groups_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "    pid comm            threads  pref range   spill visited  demand    rss_bytes  bound_bytes reason\n");
	llcg_groups_for_each(show_group, m);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(groups);

static int llcs_show(struct seq_file *m, void *unused)
{
	u32 epoch = llcg_epoch_now(), i;
	struct llcg_machine *machine;

	seq_puts(m, "llc node cores capacity    load  claims cpus\n");
	rcu_read_lock();
	machine = rcu_dereference(llcg_machine);
	for (i = 0; machine && i < machine->nr_llcs; i++) {
		const struct llcg_llc *llc = &machine->llcs[i];

		seq_printf(m, "%3u %4d %5u %8u %7u %7d %*pbl\n", i, llc->nid,
			   llc->nr_cores, READ_ONCE(llc->capacity),
			   llcg_ring_sum(&llc->load, epoch),
			   atomic_read(&llc->claims), cpumask_pr_args(llc->cpus));
	}
	rcu_read_unlock();

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(llcs);

/**
 * llcg_debugfs_init - make the files
 *
 * They are for looking only: a kernel without debugfs loses nothing else.
 */
void llcg_debugfs_init(void)
{
	llcg_dir = debugfs_create_dir("llc_gran", NULL);
	debugfs_create_file("groups", 0400, llcg_dir, NULL, &groups_fops);
	debugfs_create_file("llcs", 0400, llcg_dir, NULL, &llcs_fops);
}

/**
 * llcg_debugfs_exit - remove the files, waiting for their readers
 */
void llcg_debugfs_exit(void)
{
	debugfs_remove(llcg_dir);
}
