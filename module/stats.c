// SPDX-License-Identifier: GPL-2.0-only
/* Monotonic counters, kept per CPU and summed when read. */
#include <linux/percpu.h>

#include "llc_gran.h"

DEFINE_PER_CPU(u64 [LLCG_NR_STATS], llcg_stats);

const char * const llcg_stat_names[LLCG_NR_STATS] = {
	[LLCG_STAT_ALLOWED]		= "verdicts_allowed",
	[LLCG_STAT_DENIED]		= "verdicts_denied",
	[LLCG_STAT_DEFAULTED]		= "verdicts_defaulted",
	[LLCG_STAT_WAKEUPS]		= "wakeups_placed",
	[LLCG_STAT_PUSHES]		= "pushes",
	[LLCG_STAT_FOLDS]		= "folds",
	[LLCG_STAT_LLCS_SCANNED]	= "llcs_scanned",
	[LLCG_STAT_GROUPS_CREATED]	= "groups_created",
	[LLCG_STAT_GROUPS_DROPPED]	= "groups_dropped",
	[LLCG_STAT_GROUPS_REFUSED]	= "groups_refused",
	[LLCG_STAT_TOPOLOGY_REBUILDS]	= "topology_rebuilds",
};

/**
 * llcg_stat_sum - a counter over all CPUs
 * @id: which
 *
 * Any context; O(CPUs).
 */
u64 llcg_stat_sum(enum llcg_stat_id id)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(llcg_stats[id], cpu);

	return sum;
}
