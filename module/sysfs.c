// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/llc_gran: the tunables, topology/llcN/ and stats/.
 */
#include <linux/cpu.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "llc_gran.h"

static struct kobject *llcg_kobj;
static struct kobject *llcg_stats_kobj;

/* Tunables */

struct tunable_attr {
	struct kobj_attribute kobj;
	struct llcg_tunable *tunable;
};

static struct tunable_attr tunable_attrs[LLCG_NR_TUNABLES];
static struct attribute *tunable_list[LLCG_NR_TUNABLES + 1];

static const struct attribute_group tunable_group = {
	.attrs = tunable_list,
};

static ssize_t tunable_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	struct tunable_attr *a = container_of(attr, struct tunable_attr, kobj);

	return sysfs_emit(buf, "%u\n", READ_ONCE(a->tunable->value));
}

static ssize_t tunable_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	struct tunable_attr *a = container_of(attr, struct tunable_attr, kobj);
	int err = llcg_tunable_store(a->tunable, buf);

	return err ?: count;
}

static void fill_tunables(void)
{
	u32 i;

	for (i = 0; i < LLCG_NR_TUNABLES; i++) {
		struct tunable_attr *a = &tunable_attrs[i];

		sysfs_attr_init(&a->kobj.attr);
		a->tunable = &llcg_tunables[i];
		a->kobj.attr.name = a->tunable->name;
		a->kobj.attr.mode = 0644;
		a->kobj.show = tunable_show;
		a->kobj.store = tunable_store;
		tunable_list[i] = &a->kobj.attr;
	}
}

/* Counters */

struct stat_attr {
	struct kobj_attribute kobj;
	enum llcg_stat_id id;
};

static struct stat_attr stat_attrs[LLCG_NR_STATS];
static struct attribute *stat_list[LLCG_NR_STATS + 1];

static const struct attribute_group stat_group = {
	.attrs = stat_list,
};

static ssize_t stat_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	struct stat_attr *a = container_of(attr, struct stat_attr, kobj);

	return sysfs_emit(buf, "%llu\n", llcg_stat_sum(a->id));
}

static void fill_stats(void)
{
	u32 i;

	for (i = 0; i < LLCG_NR_STATS; i++) {
		struct stat_attr *a = &stat_attrs[i];

		sysfs_attr_init(&a->kobj.attr);
		a->id = i;
		a->kobj.attr.name = llcg_stat_names[i];
		a->kobj.attr.mode = 0444;
		a->kobj.show = stat_show;
		stat_list[i] = &a->kobj.attr;
	}
}

/*
 * topology/llcN/: made anew by a work item whenever the machine changed, since
 * removing files waits for their readers, who may wait for the hotplug lock.
 */

struct llc_dir {
	struct kobject kobj;
	u32 llc;
};

static struct kobject *topology_kobj;
static struct llc_dir **llc_dirs;
static u32 nr_llc_dirs;

static const struct llcg_llc *dir_llc(const struct llcg_machine *m,
				      struct kobject *kobj)
{
	u32 llc = container_of(kobj, struct llc_dir, kobj)->llc;

	return m && llc < m->nr_llcs ? &m->llcs[llc] : NULL;
}

/* Show functions run under RCU and get the LLC, which is there. */
struct llc_attr {
	struct kobj_attribute kobj;
	int (*emit)(char *buf, const struct llcg_machine *m,
		    const struct llcg_llc *llc);
};

static ssize_t llc_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	struct llc_attr *a = container_of(attr, struct llc_attr, kobj);
	const struct llcg_machine *m;
	const struct llcg_llc *llc;
	ssize_t len = -ENODEV;

	rcu_read_lock();
	m = rcu_dereference(llcg_machine);
	llc = dir_llc(m, kobj);
	if (llc)
		len = a->emit(buf, m, llc);
	rcu_read_unlock();

	return len;
}

static int emit_cpus(char *buf, const struct llcg_machine *m,
		     const struct llcg_llc *llc)
{
	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(llc->cpus));
}

static int emit_node(char *buf, const struct llcg_machine *m,
		     const struct llcg_llc *llc)
{
	return sysfs_emit(buf, "%d\n", llc->nid);
}

static int emit_size(char *buf, const struct llcg_machine *m,
		     const struct llcg_llc *llc)
{
	return sysfs_emit(buf, "%llu\n", llc->size_bytes);
}

/*
 * Ascending runs are written first-last, which keeps even 1,024 LLCs within a
 * page: one run a node, and single LLCs in the one node that has its own order.
 */
static int emit_sequence(char *buf, const struct llcg_machine *m,
			 const struct llcg_llc *llc)
{
	u32 pref = llc - m->llcs, k = 0;
	int len = 0;

	while (k < m->nr_llcs) {
		u32 first = llcg_topo_at(m->topo, pref, k), last = first;

		while (++k < m->nr_llcs &&
		       llcg_topo_at(m->topo, pref, k) == last + 1)
			last++;
		len += sysfs_emit_at(buf, len, "%s%u", len ? "," : "", first);
		if (last > first)
			len += sysfs_emit_at(buf, len, "-%u", last);
	}

	return len + sysfs_emit_at(buf, len, "\n");
}

#define LLC_ATTR(_name, _emit) {					\
	.kobj = __ATTR(_name, 0444, llc_show, NULL),			\
	.emit = _emit,							\
}

static struct llc_attr llc_files[] = {
	LLC_ATTR(cpus, emit_cpus),
	LLC_ATTR(node, emit_node),
	LLC_ATTR(size_bytes, emit_size),
	LLC_ATTR(sequence, emit_sequence),
};

static struct attribute *llc_attrs[] = {
	&llc_files[0].kobj.attr,
	&llc_files[1].kobj.attr,
	&llc_files[2].kobj.attr,
	&llc_files[3].kobj.attr,
	NULL,
};
ATTRIBUTE_GROUPS(llc);

static void llc_dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct llc_dir, kobj));
}

static const struct kobj_type llc_dir_type = {
	.release = llc_dir_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = llc_groups,
};

static void remove_llc_dirs(void)
{
	while (nr_llc_dirs)
		kobject_put(&llc_dirs[--nr_llc_dirs]->kobj);
	kvfree(llc_dirs);
	llc_dirs = NULL;
}

static int add_llc_dir(u32 llc)
{
	struct llc_dir *dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	int err;

	if (!dir)
		return -ENOMEM;
	dir->llc = llc;
	err = kobject_init_and_add(&dir->kobj, &llc_dir_type, topology_kobj,
				   "llc%u", llc);
	if (err) {
		kobject_put(&dir->kobj);
		return err;
	}
	llc_dirs[nr_llc_dirs++] = dir;

	return 0;
}

static void topology_work_fn(struct work_struct *work)
{
	u32 nr = llcg_topology_nr_llcs(), i;

	if (nr == nr_llc_dirs)
		return;
	remove_llc_dirs();
	llc_dirs = kvcalloc(nr, sizeof(*llc_dirs), GFP_KERNEL);
	for (i = 0; llc_dirs && i < nr; i++)
		if (add_llc_dir(i))
			break;
}

static DECLARE_WORK(topology_work, topology_work_fn);

/**
 * llcg_sysfs_topology_changed - the machine is another one now
 *
 * Directories follow soon after. Any context that may take a spinlock.
 */
void llcg_sysfs_topology_changed(void)
{
	schedule_work(&topology_work);
}

/**
 * llcg_sysfs_init - make the directory
 *
 * May sleep.
 *
 * Return: 0 or an error of the kobject or sysfs functions.
 */
int llcg_sysfs_init(void)
{
	int err = -ENOMEM;

	fill_tunables();
	fill_stats();
	llcg_kobj = kobject_create_and_add("llc_gran", kernel_kobj);
	if (!llcg_kobj)
		return -ENOMEM;
	topology_kobj = kobject_create_and_add("topology", llcg_kobj);
	llcg_stats_kobj = kobject_create_and_add("stats", llcg_kobj);
	if (!topology_kobj || !llcg_stats_kobj)
		goto err_put;
	err = sysfs_create_group(llcg_kobj, &tunable_group);
	if (err)
		goto err_put;
	err = sysfs_create_group(llcg_stats_kobj, &stat_group);
	if (err)
		goto err_put;

	return 0;

err_put:
	kobject_put(llcg_stats_kobj);
	kobject_put(topology_kobj);
	kobject_put(llcg_kobj);
	return err;
}

/**
 * llcg_sysfs_exit - remove the directory
 *
 * Waits for readers and writers of its files. May sleep.
 */
void llcg_sysfs_exit(void)
{
	cancel_work_sync(&topology_work);
	remove_llc_dirs();
	kobject_put(llcg_stats_kobj);
	kobject_put(topology_kobj);
	kobject_put(llcg_kobj);
}
