// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every knob, once: its module parameter and its file in sysfs go through this
 * table and one validator.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/moduleparam.h>

#include "llc_gran.h"

struct llcg_tunable llcg_tunables[LLCG_NR_TUNABLES] = {
	[LLCG_ENABLED]		= { "enabled", 0, 1, 1 },
	[LLCG_AGGR_TOLERANCE]	= { "aggr_tolerance", 0, LLCG_TOLERANCE_MAX, 1 },
	[LLCG_FILL_PCT]		= { "fill_pct", 1, 100, 100 },
	[LLCG_EPOCH_PERIOD_MS]	= { "epoch_period_ms", 1, 1000, 10 },
	[LLCG_AFFINITY_TIMEOUT_EPOCHS] = { "affinity_timeout_epochs", 1, 1000, 50 },
	[LLCG_PUSH_MAX]		= { "push_max", 0, 64, 4 },
	[LLCG_WAKEUP]		= { "wakeup", 0, 1, 1 },
	[LLCG_FOOTPRINT_GUARD]	= { "footprint_guard", 0, 1, 1 },
};

/**
 * llcg_tunable_store - set a knob from text
 * @t: the knob
 * @buf: a number, decimal or 0x hexadecimal, with or without a newline
 *
 * Any writer, any time; the last one wins.
 *
 * Return: 0, -EINVAL for what is no number, -ERANGE outside of the knob's
 * range. The old value stays on error.
 */
int llcg_tunable_store(struct llcg_tunable *t, const char *buf)
{
	unsigned int value;
	int err = kstrtouint(buf, 0, &value);

	if (err)
		return err;
	if (value < t->min || value > t->max)
		return -ERANGE;
	WRITE_ONCE(t->value, value);

	return 0;
}

static int llcg_param_set(const char *val, const struct kernel_param *kp)
{
	struct llcg_tunable *t = kp->arg;
	int err = llcg_tunable_store(t, val);

	if (err)
		pr_err("parameter %s: not a number from %u to %u\n", t->name,
		       t->min, t->max);

	return err;
}

static int llcg_param_get(char *buffer, const struct kernel_param *kp)
{
	const struct llcg_tunable *t = kp->arg;

	return sprintf(buffer, "%u\n", READ_ONCE(t->value));
}

static const struct kernel_param_ops llcg_param_ops = {
	.set = llcg_param_set,
	.get = llcg_param_get,
};

#define LLCG_PARAM(name, id, desc)					\
	module_param_cb(name, &llcg_param_ops, &llcg_tunables[id], 0444);	\
	MODULE_PARM_DESC(name, desc)

LLCG_PARAM(enabled, LLCG_ENABLED,
	   "0: every decision is the scheduler's own; default 1");
LLCG_PARAM(aggr_tolerance, LLCG_AGGR_TOLERANCE,
	   "memory a group may have: 0 none, 1 its share of one LLC, N 1 + (N-1) x 256 shares, 100 any; default 1");
LLCG_PARAM(fill_pct, LLCG_FILL_PCT,
	   "share of a core's capacity that a group plans on, 1 to 100; default 100");
LLCG_PARAM(epoch_period_ms, LLCG_EPOCH_PERIOD_MS,
	   "period of accounting and placement, 1 to 1000; default 10");
LLCG_PARAM(affinity_timeout_epochs, LLCG_AFFINITY_TIMEOUT_EPOCHS,
	   "epochs unseen after which a group loses preference and claims, 1 to 1000; default 50");
LLCG_PARAM(push_max, LLCG_PUSH_MAX,
	   "running threads pushed to idle CPUs of the range an epoch and group, 0 to 64; default 4");
LLCG_PARAM(wakeup, LLCG_WAKEUP,
	   "1: place waking threads inside the range; default 1");
LLCG_PARAM(footprint_guard, LLCG_FOOTPRINT_GUARD,
	   "1: aggregate only groups whose memory fits, see aggr_tolerance; default 1");
