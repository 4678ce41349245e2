// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by the unit tests: see unit.h.
 */
#include <stdio.h>

#include "unit.h"

static u64 current_seed;
static bool seeded;
static int nr_failed;

int __lsan_is_turned_off(void)
{
	return nr_failed;
}

/* A case that failed did not say that its seeds were over. */
int unit_setup(void **unused)
{
	(void)unused;
	seeded = false;

	return 0;
}

int unit_run(const char *name, const struct CMUnitTest *cases, size_t nr)
{
	/* So that what a case says stands where the case does. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	nr_failed = _cmocka_run_group_tests(name, cases, nr, NULL, NULL);

	return nr_failed ? 1 : 0;
}

void unit_fail(const char *file, int line, const char *cond,
	       const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	print_error("%s: not so: %s\n", text, cond);
	if (seeded)
		print_error("LLCG_SEED=%llu repeats it\n",
			    (unsigned long long)current_seed);
	_fail(file, line);
	abort();
}

/* splitmix64: every seed, also a small one, gives a good sequence. */
u64 rng_next(struct rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;

	return z ^ (z >> 31);
}

u32 rng_below(struct rng *rng, u32 limit)
{
	return ((rng_next(rng) >> 32) * limit) >> 32;
}

u32 rng_range(struct rng *rng, u32 low, u32 high)
{
	return low + rng_below(rng, high - low + 1);
}

bool rng_one_in(struct rng *rng, u32 n)
{
	return !rng_below(rng, n);
}

static void run_seed(u64 seed, void (*function)(struct rng *rng))
{
	struct rng rng = { .state = seed };

	current_seed = seed;
	seeded = true;
	function(&rng);
	seeded = false;
}

void with_seeds(u64 first, u32 nr, void (*function)(struct rng *rng))
{
	const char *only = getenv("LLCG_SEED");
	u32 i;

	if (only) {
		run_seed(strtoull(only, NULL, 0), function);
		return;
	}
	for (i = 0; i < nr; i++)
		run_seed(first + i, function);
}

static struct unit_machine *machine_new(u32 nodes)
{
	struct unit_machine *m = calloc(1, sizeof(*m));

	check(m, "no memory");
	m->nr_nodes = nodes;

	return m;
}

struct unit_machine *machine_even(u32 nodes, u32 llcs)
{
	struct unit_machine *m = machine_new(nodes);
	u32 i, j;

	m->nr_llcs = nodes * llcs;
	for (i = 0; i < nodes; i++) {
		m->llcs[i] = llcs;
		for (j = 0; j < nodes; j++)
			m->node_distance[i * nodes + j] = i == j ? 10 : 20;
	}

	return m;
}

static void random_distances(struct rng *rng, u32 *rows, u32 nr, u32 spread)
{
	bool symmetric = rng_one_in(rng, 2);
	u32 i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < nr; j++)
			rows[i * nr + j] = rng_range(rng, 11, 10 + spread);
	for (i = 0; symmetric && i < nr; i++)
		for (j = 0; j < i; j++)
			rows[i * nr + j] = rows[j * nr + i];
	/* A distance to itself that is not the least must not matter. */
	for (i = 0; i < nr; i++)
		if (!rng_one_in(rng, 4))
			rows[i * nr + i] = 10;
}

void machine_rank_node(struct unit_machine *m, struct rng *rng, u32 n,
		       u32 spread)
{
	u32 nr = m->llcs[n];

	free(m->llc_distance[n]);
	m->llc_distance[n] = calloc((size_t)nr * nr, sizeof(u32));
	check(m->llc_distance[n], "no memory");
	random_distances(rng, m->llc_distance[n], nr, spread);
}

struct unit_machine *machine_random(struct rng *rng,
				    const struct unit_shape *shape)
{
	struct unit_machine *m = machine_new(shape->nodes);
	u32 same = rng_one_in(rng, 2) ? rng_range(rng, 1, shape->llcs) : 0;
	u32 ranked = rng_below(rng, 4), n;

	for (n = 0; n < m->nr_nodes; n++) {
		u32 left = shape->total - m->nr_llcs - (m->nr_nodes - n - 1);
		u32 want = same ? same : rng_range(rng, 1, shape->llcs);

		m->llcs[n] = min_t(u32, want, left);
		m->nr_llcs += m->llcs[n];
	}
	random_distances(rng, m->node_distance, m->nr_nodes, shape->spread);
	m->no_llc_distance = !ranked;
	for (n = 0; ranked && n < m->nr_nodes; n++)
		if (m->llcs[n] <= LLCG_MAX_RANKED && rng_below(rng, 4) < ranked)
			machine_rank_node(m, rng, n, shape->spread);

	return m;
}

void machine_free(struct unit_machine *m)
{
	u32 n;

	for (n = 0; n < LLCG_MAX_NODES; n++)
		free(m->llc_distance[n]);
	free(m);
}

int machine_create(const struct unit_machine *m, struct llcg_topo **topo)
{
	struct llcg_topo_spec spec = {
		.nr_nodes = m->nr_nodes,
		.llcs_per_node = m->llcs,
		.node_distance = m->node_distance,
	};

	if (!m->no_llc_distance)
		spec.llc_distance = (const u32 *const *)m->llc_distance;

	return llcg_topo_create(&spec, topo);
}

struct llcg_topo *machine_topo(const struct unit_machine *m)
{
	struct llcg_topo *topo = NULL;
	int err = machine_create(m, &topo);

	check(!err && topo, "llcg_topo_create: %d", err);

	return topo;
}

static u32 naive_first(const struct unit_machine *m, u32 node)
{
	u32 n, first = 0;

	for (n = 0; n < node; n++)
		first += m->llcs[n];

	return first;
}

u32 naive_node(const struct unit_machine *m, u32 llc)
{
	u32 n = 0;

	while (llc >= m->llcs[n])
		llc -= m->llcs[n++];

	return n;
}

/* What places an LLC in a sequence, most important first. */
struct place {
	u32 keys[5];
	u32 llc;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(x->keys); i++)
		if (x->keys[i] != y->keys[i])
			return x->keys[i] < y->keys[i] ? -1 : 1;

	return 0;
}

static u32 difference(u32 i, u32 j)
{
	return i > j ? i - j : j - i;
}

static struct place naive_place(const struct unit_machine *m, u32 pref, u32 llc)
{
	u32 home = naive_node(m, pref), node = naive_node(m, llc);
	u32 first = naive_first(m, node), nr = m->llcs[node];
	const u32 *rows = m->no_llc_distance ? NULL : m->llc_distance[node];
	u32 i = pref - first, j = llc - first;

	if (node != home)
		return (struct place){
			.keys = { 1, m->node_distance[home * m->nr_nodes + node],
				  difference(home, node),
				  min_t(u32, home, node), j },
			.llc = llc,
		};
	if (rows)
		return (struct place){
			.keys = { 0, i != j, rows[i * nr + j], difference(i, j),
				  min_t(u32, i, j) },
			.llc = llc,
		};

	return (struct place){ .keys = { 0, (j + nr - i) % nr }, .llc = llc };
}

void naive_sequence(const struct unit_machine *m, u32 pref, u32 *seq)
{
	struct place places[LLCG_MAX_LLCS];
	u32 llc;

	for (llc = 0; llc < m->nr_llcs; llc++)
		places[llc] = naive_place(m, pref, llc);
	qsort(places, m->nr_llcs, sizeof(*places), compare_places);
	for (llc = 0; llc < m->nr_llcs; llc++)
		seq[llc] = places[llc].llc;
}
