// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what the policy allocates, and makes it fail on demand: linked with
 * --wrap=calloc.
 */
#include "unit.h"

static struct alloc_stats stats;
static u32 fail_at;

void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);

void *__wrap_calloc(size_t nr, size_t size)
{
	stats.calls++;
	if (stats.calls == fail_at)
		return NULL;
	stats.bytes += nr * size;

	return __real_calloc(nr, size);
}

void alloc_watch(u32 nth)
{
	stats = (struct alloc_stats){ };
	fail_at = nth;
}

struct alloc_stats alloc_stop(void)
{
	fail_at = 0;

	return stats;
}
