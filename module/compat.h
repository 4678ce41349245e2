/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LLC_GRAN_COMPAT_H
#define _LLC_GRAN_COMPAT_H

/*
 * The only place where the module looks at what kernel it is built for.
 */
#include <linux/sched/policy_hooks.h>
#include <linux/numa.h>
#include <linux/version.h>

#if SCHED_POLICY_ABI != 1
#error "llc_gran is written for scheduler policy hooks of ABI 1"
#endif

/* __assign_str() has learnt to find the source by itself. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define llcg_assign_str(field, src)	__assign_str(field)
#else
#define llcg_assign_str(field, src)	__assign_str(field, src)
#endif

/* The node that NUMA balancing wants a task on, NUMA_NO_NODE for none. */
static inline int llcg_task_preferred_nid(const struct task_struct *p)
{
#ifdef CONFIG_NUMA_BALANCING
	return READ_ONCE(p->numa_preferred_nid);
#else
	return NUMA_NO_NODE;
#endif
}

#endif /* _LLC_GRAN_COMPAT_H */
