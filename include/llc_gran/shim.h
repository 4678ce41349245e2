/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LLC_GRAN_SHIM_H
#define _LLC_GRAN_SHIM_H

/*
 * All that the policy needs of its surroundings, so that the same source is
 * built into the module and into user-space tests.
 */
#ifdef __KERNEL__

#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>

static inline void *llcg_zalloc(size_t nr, size_t size)
{
	return kvcalloc(nr, size, GFP_KERNEL);
}

static inline void llcg_free(const void *p)
{
	kvfree(p);
}

#else /* user space */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define min_t(type, a, b)	\
	({ type __a = (a); type __b = (b); __a < __b ? __a : __b; })
#define max_t(type, a, b)	\
	({ type __a = (a); type __b = (b); __a > __b ? __a : __b; })

static inline void *llcg_zalloc(size_t nr, size_t size)
{
	return calloc(nr, size);
}

static inline void llcg_free(const void *p)
{
	free((void *)p);
}

#endif /* __KERNEL__ */
#endif /* _LLC_GRAN_SHIM_H */
