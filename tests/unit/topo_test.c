// SPDX-License-Identifier: GPL-2.0-only
/*
 * Affinity sequences: the example of the design, the properties that the rest
 * relies on, and comparison with the naive twin in unit.c on random machines.
 */
#include "unit.h"

#define TABLE_LIMIT_BYTES	(600 * 1024)

static const u32 design_llcs[] = { 4, 4, 4, 4 };

static const u32 design_nodes[] = {
	10, 20, 30, 40,
	20, 10, 25, 30,
	30, 25, 10, 20,
	40, 30, 20, 10,
};

static const u32 design_rows[] = {
	0, 2, 3, 4,
	2, 0, 4, 1,
	3, 4, 0, 2,
	4, 1, 2, 0,
};

static const struct llcg_topo_spec design_spec = {
	.nr_nodes = 4,
	.llcs_per_node = design_llcs,
	.node_distance = design_nodes,
	.llc_distance = (const u32 *const []){ design_rows, design_rows,
					       design_rows, design_rows },
};

static const struct {
	u32 pref;
	u32 seq[16];
} design_example[] = {
	{ 0, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
	{ 3, { 3, 1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
	{ 7, { 7, 5, 6, 4, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15 } },
};

static void test_design_example(void **unused)
{
	struct llcg_topo *t;
	u32 i, k;

	(void)unused;
	assert_int_equal(llcg_topo_create(&design_spec, &t), 0);
	for (i = 0; i < ARRAY_SIZE(design_example); i++) {
		u32 pref = design_example[i].pref;

		for (k = 0; k < 16; k++) {
			u32 want = design_example[i].seq[k];

			check(llcg_topo_at(t, pref, k) == want,
			      "at(%u, %u) is %u", pref, k, llcg_topo_at(t, pref, k));
			check(llcg_topo_rank(t, pref, want) == k,
			      "rank(%u, %u) is %u", pref, want,
			      llcg_topo_rank(t, pref, want));
		}
	}
	llcg_topo_destroy(t);
}

static void check_inverse(const struct llcg_topo *t)
{
	u32 pref, k;

	for (pref = 0; pref < t->nr_llcs; pref++) {
		check(llcg_topo_at(t, pref, 0) == pref,
		      "LLC %u's sequence starts elsewhere", pref);
		for (k = 0; k < t->nr_llcs; k++) {
			u32 llc = llcg_topo_at(t, pref, k);

			check(llc < t->nr_llcs && llcg_topo_rank(t, pref, llc) == k,
			      "at(%u, %u) is %u", pref, k, llc);
		}
	}
}

static void compare_with_twin(const struct unit_machine *m,
			      const struct llcg_topo *t, u32 pref)
{
	u32 seq[LLCG_MAX_LLCS], k;

	naive_sequence(m, pref, seq);
	for (k = 0; k < m->nr_llcs; k++)
		check(llcg_topo_at(t, pref, k) == seq[k],
		      "%u nodes, %u LLCs: at(%u, %u) is %u, twin says %u",
		      m->nr_nodes, m->nr_llcs, pref, k,
		      llcg_topo_at(t, pref, k), seq[k]);
}

static void check_machine(const struct unit_machine *m, u32 step)
{
	struct llcg_topo *t;
	size_t bytes;
	u32 llc;

	alloc_watch(0);
	t = machine_topo(m);
	bytes = alloc_stop().bytes;
	check(llcg_topo_bytes(t) == bytes, "%zu bytes allocated, says %zu",
	      bytes, llcg_topo_bytes(t));
	assert_int_equal(t->nr_nodes, m->nr_nodes);
	assert_int_equal(t->nr_llcs, m->nr_llcs);
	check_inverse(t);
	for (llc = 0; llc < m->nr_llcs; llc++) {
		check(t->llc_node[llc] == naive_node(m, llc),
		      "LLC %u in node %u", llc, t->llc_node[llc]);
		if (llc % step == 0)
			compare_with_twin(m, t, llc);
	}
	llcg_topo_destroy(t);
}

static void random_small(struct rng *rng)
{
	struct unit_shape shape = { .llcs = 8, .total = 24 * 8 };
	struct unit_machine *m;

	for (shape.nodes = 1; shape.nodes <= 24; shape.nodes++) {
		shape.spread = rng_range(rng, 1, 12);
		m = machine_random(rng, &shape);
		check_machine(m, 1);
		machine_free(m);
	}
}

static void test_random_small(void **unused)
{
	(void)unused;
	with_seeds(1000, 16, random_small);
}

static void random_large(struct rng *rng)
{
	struct unit_shape shape = { .total = LLCG_MAX_LLCS };
	struct unit_machine *m;

	shape.nodes = rng_one_in(rng, 3) ? LLCG_MAX_NODES :
					   rng_range(rng, 4, LLCG_MAX_NODES);
	shape.llcs = rng_range(rng, 1, 2 * LLCG_MAX_LLCS / shape.nodes);
	shape.spread = rng_range(rng, 1, 40);
	m = machine_random(rng, &shape);
	check_machine(m, 1 + m->nr_llcs / 24);
	machine_free(m);
}

static void test_random_large(void **unused)
{
	(void)unused;
	with_seeds(2000, 16, random_large);
}

/* For every k, every LLC of the node is the k-th choice of exactly one. */
static void check_latin(const struct llcg_topo *t, u32 node)
{
	u32 first = t->nodes[node].first, nr = t->nodes[node].nr, k, i;

	for (k = 0; k < nr; k++) {
		bool chosen[LLCG_MAX_LLCS] = { };

		for (i = 0; i < nr; i++) {
			u32 llc = llcg_topo_at(t, first + i, k);

			check(llc >= first && llc < first + nr && !chosen[llc],
			      "node %u: LLC %u chosen twice as number %u",
			      node, llc, k);
			chosen[llc] = true;
		}
	}
}

static void random_latin(struct rng *rng)
{
	struct unit_shape shape = { .llcs = 20, .total = 400, .spread = 3 };
	struct unit_machine *m;
	struct llcg_topo *t;
	u32 n;

	shape.nodes = rng_range(rng, 1, 12);
	m = machine_random(rng, &shape);
	m->no_llc_distance = true;
	t = machine_topo(m);
	for (n = 0; n < m->nr_nodes; n++)
		check_latin(t, n);
	llcg_topo_destroy(t);
	machine_free(m);
}

static void test_latin(void **unused)
{
	(void)unused;
	with_seeds(3000, 40, random_latin);
}

static void test_equal_distances(void **unused)
{
	u32 nodes, n;

	(void)unused;
	for (nodes = 2; nodes <= 24; nodes++) {
		struct unit_machine *m = machine_even(nodes, 2);
		struct llcg_topo *t = machine_topo(m);
		u32 chosen[24] = { };

		for (n = 0; n < nodes; n++)
			chosen[t->llc_node[llcg_topo_at(t, 2 * n, 2)]]++;
		for (n = 0; n < nodes; n++)
			check(chosen[n] <= 2, "%u of %u nodes go to node %u first",
			      chosen[n], nodes, n);
		llcg_topo_destroy(t);
		machine_free(m);
	}
}

/* Different distances in every row, the node's own the least. */
static void distinct_rows(struct rng *rng, struct unit_machine *m)
{
	u32 nr = m->nr_nodes, i, j;

	for (i = 0; i < nr; i++) {
		u32 *row = m->node_distance + i * nr;

		for (j = 0; j < nr; j++)
			row[j] = 11 + j;
		for (j = nr - 1; j; j--) {
			u32 other = rng_below(rng, j + 1), old = row[j];

			row[j] = row[other];
			row[other] = old;
		}
		row[i] = 10;
	}
}

/* The nodes of @all that @keep names, as module/topology.c numbers them. */
static struct unit_machine *without_holes(const struct unit_machine *all,
					  const u32 *keep, u32 nr)
{
	struct unit_machine *m = machine_even(nr, 1);
	u32 i, j;

	m->nr_llcs = 0;
	m->no_llc_distance = true;
	for (i = 0; i < nr; i++) {
		m->llcs[i] = all->llcs[keep[i]];
		m->nr_llcs += m->llcs[i];
		for (j = 0; j < nr; j++)
			m->node_distance[i * nr + j] =
				all->node_distance[keep[i] * all->nr_nodes + keep[j]];
	}

	return m;
}

/*
 * Kernel ids of nodes have holes: nodes offline or without CPUs. Numbered
 * densely, the rest must come in the order it has on the machine without holes.
 */
static void random_sparse(struct rng *rng)
{
	struct unit_shape shape = { .nodes = 20, .llcs = 5, .total = 100, .spread = 1 };
	struct unit_machine *all = machine_random(rng, &shape), *some;
	struct llcg_topo *whole, *part;
	u32 keep[20], old_id[100], nr = 0, nr_llcs = 0, n, pref, k;

	distinct_rows(rng, all);
	all->no_llc_distance = true;
	whole = machine_topo(all);
	for (n = 0; n < all->nr_nodes; n++) {
		if (rng_one_in(rng, 2) && (nr || n + 1 < all->nr_nodes))
			continue;
		for (k = 0; k < all->llcs[n]; k++)
			old_id[nr_llcs++] = whole->nodes[n].first + k;
		keep[nr++] = n;
	}
	some = without_holes(all, keep, nr);
	part = machine_topo(some);
	for (pref = 0; pref < nr_llcs; pref++)
		for (k = 1; k < nr_llcs; k++) {
			u32 a = llcg_topo_at(part, pref, k - 1);
			u32 b = llcg_topo_at(part, pref, k);

			check(llcg_topo_rank(whole, old_id[pref], old_id[a]) <
			      llcg_topo_rank(whole, old_id[pref], old_id[b]),
			      "LLC %u: %u before %u", pref, a, b);
		}
	llcg_topo_destroy(part);
	llcg_topo_destroy(whole);
	machine_free(some);
	machine_free(all);
}

static void test_sparse(void **unused)
{
	(void)unused;
	with_seeds(4000, 40, random_sparse);
}

static void check_size(struct unit_machine *m, const char *what, size_t limit)
{
	struct llcg_topo *t = machine_topo(m);

	assert_int_equal(t->nr_llcs, LLCG_MAX_LLCS);
	print_message("%u LLCs, %u nodes, %s: %zu bytes\n", t->nr_llcs,
		      t->nr_nodes, what, llcg_topo_bytes(t));
	check(llcg_topo_bytes(t) < limit, "%u nodes, %s: %zu bytes",
	      t->nr_nodes, what, llcg_topo_bytes(t));
	llcg_topo_destroy(t);
}

static void test_size(void **unused)
{
	static const u32 nodes[] = { 8, 16, 64, 256 };
	struct rng rng = { .state = 1 };
	u32 i, n;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		u32 llcs = LLCG_MAX_LLCS / nodes[i];
		struct unit_machine *m = machine_even(nodes[i], llcs);

		check_size(m, "even, computed", TABLE_LIMIT_BYTES);
		for (n = 0; n < nodes[i]; n++)
			machine_rank_node(m, &rng, n, 50);
		check_size(m, "even, measured", TABLE_LIMIT_BYTES);
		m->llcs[0]--;
		m->llcs[1]++;
		for (n = 0; n < nodes[i]; n++)
			machine_rank_node(m, &rng, n, 50);
		check_size(m, "uneven, measured", TABLE_LIMIT_BYTES);
		machine_free(m);
	}
}

/* No real machine: as many nodes as there may be, three of them huge. */
static void test_size_worst(void **unused)
{
	struct unit_machine *m = machine_even(LLCG_MAX_NODES, 1);
	struct rng rng = { .state = 1 };
	u32 n;

	(void)unused;
	m->nr_llcs = LLCG_MAX_LLCS;
	m->llcs[0] = LLCG_MAX_RANKED;
	m->llcs[1] = LLCG_MAX_RANKED;
	m->llcs[2] = LLCG_MAX_RANKED;
	m->llcs[3] = 4;
	for (n = 0; n < m->nr_nodes; n++)
		machine_rank_node(m, &rng, n, 50);
	check_size(m, "worst", 1024 * 1024);
	machine_free(m);
}

static const struct {
	const char *what;
	u32 nodes;
	u32 llcs[4];
	int err;
} refused[] = {
	{ "no node", 0, { }, -EINVAL },
	{ "an empty node", 1, { 0 }, -EINVAL },
	{ "an empty node after others", 3, { 4, 4, 0 }, -EINVAL },
	{ "an empty node in front", 3, { 0, 4, 4 }, -EINVAL },
	{ "a node beyond LLCG_MAX_LLCS", 1, { LLCG_MAX_LLCS + 1 }, -E2BIG },
	{ "nodes beyond it in sum", 3, { 1000, 24, 1 }, -E2BIG },
	{ "a count that would wrap", 2, { 1, U32_MAX }, -E2BIG },
	{ "all LLCs that there may be", 3, { 1000, 23, 1 }, 0 },
	{ "one LLC", 1, { 1 }, 0 },
};

static void test_refused(void **unused)
{
	static const u32 distance[16];
	struct llcg_topo *const untouched = (struct llcg_topo *)0x1000;
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct llcg_topo_spec spec = {
			.nr_nodes = refused[i].nodes,
			.llcs_per_node = refused[i].llcs,
			.node_distance = distance,
		};
		struct llcg_topo *t = untouched;
		int err = llcg_topo_create(&spec, &t);

		check(err == refused[i].err, "%s: %d", refused[i].what, err);
		check(!err == (t != untouched), "%s: *topo", refused[i].what);
		if (!err)
			llcg_topo_destroy(t);
	}
}

static void test_too_many_nodes(void **unused)
{
	struct unit_machine *m = machine_even(LLCG_MAX_NODES, 1);
	struct llcg_topo *t;

	(void)unused;
	assert_int_equal(machine_create(m, &t), 0);
	llcg_topo_destroy(t);
	m->nr_nodes++;
	assert_int_equal(machine_create(m, &t), -E2BIG);
	m->nr_nodes = U32_MAX;
	assert_int_equal(machine_create(m, &t), -E2BIG);
	m->nr_nodes = LLCG_MAX_NODES;
	machine_free(m);
}

static void test_ranked_limit(void **unused)
{
	struct unit_machine *m = machine_even(2, LLCG_MAX_RANKED);
	struct rng rng = { .state = 1 };
	struct llcg_topo *t;

	(void)unused;
	machine_rank_node(m, &rng, 1, 50);
	assert_int_equal(machine_create(m, &t), 0);
	check_inverse(t);
	llcg_topo_destroy(t);

	m->llcs[1]++;
	m->nr_llcs++;
	assert_int_equal(machine_create(m, &t), -E2BIG);
	/* Without distances such a node is fine. */
	m->no_llc_distance = true;
	assert_int_equal(machine_create(m, &t), 0);
	check_latin(t, 1);
	llcg_topo_destroy(t);
	machine_free(m);
}

/* Sanitizers tell whether what was there already is freed. */
static void test_no_memory(void **unused)
{
	struct unit_machine *m = machine_even(3, 2);
	struct rng rng = { .state = 1 };
	struct llcg_topo *t = NULL;
	u32 calls, i;

	(void)unused;
	m->llcs[2] = 3;
	m->nr_llcs++;
	machine_rank_node(m, &rng, 1, 50);
	alloc_watch(0);
	llcg_topo_destroy(machine_topo(m));
	calls = alloc_stop().calls;
	check(calls > 5, "%u allocations", calls);

	for (i = 1; i <= calls; i++) {
		int err;

		alloc_watch(i);
		err = machine_create(m, &t);
		alloc_stop();
		check(err == -ENOMEM && !t, "allocation %u fails: %d", i, err);
	}
	machine_free(m);
	llcg_topo_destroy(NULL);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE("the example of the design holds exactly", test_design_example),
		CASE("1 to 24 nodes: as the twin, rank inverse to at",
		     test_random_small),
		CASE("up to 256 nodes, 1,024 LLCs: likewise", test_random_large),
		CASE("computed orders inside a node are a Latin square", test_latin),
		CASE("equally far nodes do not all pick the same neighbour",
		     test_equal_distances),
		CASE("holes in node ids do not change the order", test_sparse),
		CASE("1,024 LLCs take less than 600 KiB", test_size),
		CASE("the worst shape takes less than 1 MiB", test_size_worst),
		CASE("impossible machines are refused", test_refused),
		CASE("more than 256 nodes are refused", test_too_many_nodes),
		CASE("more than 256 measured LLCs a node are refused",
		     test_ranked_limit),
		CASE("no memory, at every allocation", test_no_memory),
	};

	return unit_run("topo", cases, ARRAY_SIZE(cases));
}
