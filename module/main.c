// SPDX-License-Identifier: GPL-2.0-only
/*
 * llc_gran: cache-aware scheduling at LLC granularity. This file only orders
 * start and stop.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "llc_gran.h"

static unsigned int llc_split = 1;

static int llc_split_set(const char *val, const struct kernel_param *kp)
{
	unsigned int n;
	int err = kstrtouint(val, 0, &n);

	if (!err && (n < 1 || n > 64))
		err = -ERANGE;
	if (err) {
		pr_err("parameter llc_split: not a number from 1 to 64\n");
		return err;
	}
	llc_split = n;

	return 0;
}

static const struct kernel_param_ops llc_split_ops = {
	.set = llc_split_set,
	.get = param_get_uint,
};

module_param_cb(llc_split, &llc_split_ops, &llc_split, 0444);
MODULE_PARM_DESC(llc_split, "parts that each LLC is treated as, to try llc_gran on a machine with one; 1 to 64, default 1");

static int __init llcg_init(void)
{
	int err;

	err = llcg_sysfs_init();
	if (err)
		return err;
	err = llcg_groups_init();
	if (err)
		goto err_sysfs;
	err = llcg_topology_init(llc_split);
	if (err)
		goto err_groups;
	err = llcg_hooks_register();
	if (err)
		goto err_topology;
	llcg_debugfs_init();

	pr_info("loaded, %u LLCs\n", llcg_topology_nr_llcs());
	return 0;

err_topology:
	llcg_topology_exit();
err_groups:
	llcg_groups_exit();
err_sysfs:
	llcg_sysfs_exit();
	return err;
}

static void __exit llcg_exit(void)
{
	llcg_debugfs_exit();
	llcg_hooks_unregister();
	llcg_groups_exit();
	llcg_topology_exit();
	llcg_sysfs_exit();
}

module_init(llcg_init);
module_exit(llcg_exit);
MODULE_DESCRIPTION("Cache-aware scheduling at LLC granularity");
MODULE_AUTHOR("llc_gran developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(LLCG_VERSION);
