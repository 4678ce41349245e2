/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LLCG_UNIT_H
#define _LLCG_UNIT_H

/*
 * What the unit tests of the policy share: named cases, repeatable random
 * numbers, and random machines with a deliberately naive idea of their affinity
 * sequences.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <llc_gran/policy.h>

/* A cmocka test whose name says what must hold. */
#define CASE(description, function)	\
	{ description, function, unit_setup, NULL, NULL }
int unit_setup(void **unused);

/* Fails the case unless @cond holds; says how to repeat a random one. */
#define check(cond, ...)						\
	do {								\
		if (!(cond))						\
			unit_fail(__FILE__, __LINE__, #cond, __VA_ARGS__); \
	} while (0)

void unit_fail(const char *file, int line, const char *cond,
	       const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/*
 * Runs @nr cases; main() returns the result. A failed case leaves its memory
 * behind, so leaks are looked for only if none fails.
 */
int unit_run(const char *name, const struct CMUnitTest *cases, size_t nr);
/* Called by LeakSanitizer at exit. */
int __lsan_is_turned_off(void);

struct rng {
	u64 state;
};

u64 rng_next(struct rng *rng);
/* From 0 to @limit - 1. */
u32 rng_below(struct rng *rng, u32 limit);
/* From @low to @high, both included. */
u32 rng_range(struct rng *rng, u32 low, u32 high);
/* True once in @n. */
bool rng_one_in(struct rng *rng, u32 n);

/*
 * Calls @function with a generator for each of @nr seeds from @first on, or
 * with the one that LLCG_SEED in the environment names.
 */
void with_seeds(u64 first, u32 nr, void (*function)(struct rng *rng));

/**
 * struct alloc_stats - allocations since alloc_watch()
 * @calls: how many
 * @bytes: what they asked for
 */
struct alloc_stats {
	u32 calls;
	size_t bytes;
};

/* Counts from now on; the @nth allocation fails, 0 for none. */
void alloc_watch(u32 nth);
struct alloc_stats alloc_stop(void);

/**
 * struct unit_machine - a machine to make a topology of
 * @nr_nodes: nodes
 * @nr_llcs: LLCs in all
 * @llcs: LLCs of each node
 * @node_distance: @nr_nodes rows
 * @llc_distance: rows for each node, or NULL
 * @no_llc_distance: pass no array at all
 */
struct unit_machine {
	u32 nr_nodes;
	u32 nr_llcs;
	u32 llcs[LLCG_MAX_NODES];
	u32 node_distance[LLCG_MAX_NODES * LLCG_MAX_NODES];
	u32 *llc_distance[LLCG_MAX_NODES];
	bool no_llc_distance;
};

/**
 * struct unit_shape - bounds of a random machine
 * @nodes: exactly so many
 * @llcs: at most so many a node
 * @total: at most so many in all
 * @spread: how many different distances there are; 1 makes all equal
 */
struct unit_shape {
	u32 nodes;
	u32 llcs;
	u32 total;
	u32 spread;
};

/* @llcs LLCs in each of @nodes nodes, distances 10 and 20. */
struct unit_machine *machine_even(u32 nodes, u32 llcs);
struct unit_machine *machine_random(struct rng *rng,
				    const struct unit_shape *shape);
void machine_free(struct unit_machine *m);
/* Gives node @n distances between its LLCs, @spread different ones. */
void machine_rank_node(struct unit_machine *m, struct rng *rng, u32 n,
		       u32 spread);
/* Its topology, which must be possible. */
struct llcg_topo *machine_topo(const struct unit_machine *m);
int machine_create(const struct unit_machine *m, struct llcg_topo **topo);

/* By counting. */
u32 naive_node(const struct unit_machine *m, u32 llc);
/* By sorting all LLCs; @seq has room for @m->nr_llcs. */
void naive_sequence(const struct unit_machine *m, u32 pref, u32 *seq);

#endif /* _LLCG_UNIT_H */
