// SPDX-License-Identifier: GPL-2.0-only
/*
 * Built in place of everything else for a kernel without the policy hooks: the
 * build succeeds, so that a kernel update does not fail, and loading says what
 * is missing.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>

static int __init llcg_init(void)
{
	pr_err("this kernel lacks CONFIG_SCHED_POLICY_HOOKS; apply the series under patches/\n");
	return -EOPNOTSUPP;
}

module_init(llcg_init);
MODULE_DESCRIPTION("Cache-aware scheduling at LLC granularity (kernel without hooks)");
MODULE_AUTHOR("llc_gran developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(LLCG_VERSION);
