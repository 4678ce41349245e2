// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one rule: every case of it by table, against a naive twin on random
 * machines, and what must hold whatever the rules are.
 */
#include "unit.h"

/*
 * Two nodes of four LLCs, so from LLC 1 the sequence is 1 2 3 0 4 5 6 7 and
 * from LLC 6 it is 6 7 4 5 0 1 2 3.
 */
static const struct verdict_case {
	const char *what;
	u32 pref;
	u32 range;
	u32 spill;
	u32 src;
	u32 dst;
	bool idle;
	u32 answer;
	u32 why;
} verdict_cases[] = {
	{ "the same LLC", 1, 2, 0, 1, 1, true, LLCG_DEFAULT, LLCG_WHY_SAME_LLC },
	{ "the same LLC, outside", 1, 2, 0, 5, 5, true,
	  LLCG_DEFAULT, LLCG_WHY_SAME_LLC },
	{ "up inside the range", 1, 3, 0, 1, 3, true, LLCG_DEFAULT, LLCG_WHY_INSIDE },
	{ "down inside the range", 1, 3, 0, 3, 1, false,
	  LLCG_DEFAULT, LLCG_WHY_INSIDE },
	{ "into the range", 1, 2, 0, 3, 2, true, LLCG_ALLOW, LLCG_WHY_ENTER },
	{ "into the range, busy", 1, 2, 0, 3, 2, false,
	  LLCG_DEFAULT, LLCG_WHY_ENTER_FULL },
	{ "into a range of one", 6, 1, 0, 7, 6, true, LLCG_ALLOW, LLCG_WHY_ENTER },
	{ "into it from another node", 6, 1, 0, 0, 6, true,
	  LLCG_ALLOW, LLCG_WHY_ENTER },
	{ "closer, still outside", 6, 2, 0, 3, 4, true,
	  LLCG_DEFAULT, LLCG_WHY_CLOSER },
	{ "closer, though all before is not full", 6, 1, 0, 3, 2, false,
	  LLCG_DEFAULT, LLCG_WHY_CLOSER },
	{ "out of the range", 1, 2, 0, 1, 3, true, LLCG_DENY, LLCG_WHY_OUTSIDE },
	{ "out of a range of one", 6, 1, 0, 6, 7, true, LLCG_DENY, LLCG_WHY_OUTSIDE },
	{ "farther outside", 6, 1, 0, 4, 5, false, LLCG_DENY, LLCG_WHY_OUTSIDE },
	{ "out, the range is full", 1, 2, 2, 1, 3, true,
	  LLCG_DEFAULT, LLCG_WHY_SPILL },
	{ "out, too far for that", 1, 2, 2, 1, 0, true,
	  LLCG_DENY, LLCG_WHY_OUTSIDE },
	{ "farther out, all before is full", 1, 2, 5, 0, 5, true,
	  LLCG_DEFAULT, LLCG_WHY_SPILL },
	{ "farther out, one before is not", 1, 2, 4, 0, 5, true,
	  LLCG_DENY, LLCG_WHY_OUTSIDE },
	{ "the range is not full to its end", 1, 4, 3, 1, 4, true,
	  LLCG_DENY, LLCG_WHY_OUTSIDE },
	{ "to the last, the machine is full", 6, 2, 7, 6, 3, false,
	  LLCG_DEFAULT, LLCG_WHY_SPILL },
	{ "a range of all", 6, 8, 0, 6, 3, true, LLCG_DEFAULT, LLCG_WHY_INSIDE },
};

static void test_table(void **unused)
{
	struct unit_machine *m = machine_even(2, 4);
	struct llcg_topo *t = machine_topo(m);
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(verdict_cases); i++) {
		const struct verdict_case *c = &verdict_cases[i];
		union llcg_decision d = {
			.pref = c->pref,
			.range = c->range,
			.spill = c->spill,
			.reason = LLCG_REASON_PACKED,
			.packed = 1,
		};
		struct llcg_verdict v = llcg_verdict(t, d, c->src, c->dst, c->idle);

		check(v.answer == c->answer && v.why == c->why, "%s: %u, %s",
		      c->what, v.answer, llcg_why_name(v.why));

		d.packed = 0;
		v = llcg_verdict(t, d, c->src, c->dst, c->idle);
		check(v.answer == LLCG_DEFAULT && v.why == LLCG_WHY_FREE,
		      "%s, not packed: %u, %s", c->what, v.answer,
		      llcg_why_name(v.why));
	}
	llcg_topo_destroy(t);
	machine_free(m);
}

/* A group before its first epoch is all zeroes. */
static void test_new_group(void **unused)
{
	struct unit_machine *m = machine_even(2, 4);
	struct llcg_topo *t = machine_topo(m);
	union llcg_decision d = { .word = 0 };
	struct llcg_verdict v;
	u32 src, dst;

	(void)unused;
	assert_int_equal(sizeof(d), sizeof(d.word));
	assert_int_equal(d.reason, LLCG_REASON_NEW);
	for (src = 0; src < 8; src++)
		for (dst = 0; dst < 8; dst++) {
			v = llcg_verdict(t, d, src, dst, true);
			assert_int_equal(v.answer, LLCG_DEFAULT);
			assert_int_equal(v.why, LLCG_WHY_FREE);
		}
	llcg_topo_destroy(t);
	machine_free(m);
}

static u32 naive_position(const u32 *seq, u32 llc)
{
	u32 k = 0;

	while (seq[k] != llc)
		k++;

	return k;
}

/*
 * Every rule with its condition in full, none relying on an earlier one; how
 * many hold must be one.
 */
static struct llcg_verdict naive_verdict(const u32 *seq, union llcg_decision d,
					 u32 src, u32 dst, bool idle)
{
	u32 from = naive_position(seq, src), to = naive_position(seq, dst);
	bool packed = d.packed, moves = src != dst;
	bool from_in = from < d.range, to_in = to < d.range;
	bool near_enough = to <= d.spill;
	const struct {
		bool holds;
		struct llcg_verdict verdict;
	} rules[] = {
		{ !packed, { LLCG_DEFAULT, LLCG_WHY_FREE } },
		{ packed && !moves, { LLCG_DEFAULT, LLCG_WHY_SAME_LLC } },
		{ packed && moves && from_in && to_in,
		  { LLCG_DEFAULT, LLCG_WHY_INSIDE } },
		{ packed && !from_in && to_in && idle,
		  { LLCG_ALLOW, LLCG_WHY_ENTER } },
		{ packed && !from_in && to_in && !idle,
		  { LLCG_DEFAULT, LLCG_WHY_ENTER_FULL } },
		{ packed && !to_in && to < from,
		  { LLCG_DEFAULT, LLCG_WHY_CLOSER } },
		{ packed && !to_in && to > from && near_enough,
		  { LLCG_DEFAULT, LLCG_WHY_SPILL } },
		{ packed && !to_in && to > from && !near_enough,
		  { LLCG_DENY, LLCG_WHY_OUTSIDE } },
	};
	u32 i, found = 0, holding = 0;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].holds) {
			found = i;
			holding++;
		}
	check(holding == 1, "%u rules hold", holding);

	return rules[found].verdict;
}

/* What must hold of a verdict and of the one on the way back. */
static void check_sane(const u32 *seq, union llcg_decision d, u32 src, u32 dst,
		       struct llcg_verdict there, struct llcg_verdict back)
{
	u32 from = naive_position(seq, src), to = naive_position(seq, dst);

	check(there.answer != LLCG_DENY || to >= d.range,
	      "%u to %u: denied inside the range", src, dst);
	check(there.answer != LLCG_DENY || to > from,
	      "%u to %u: denied though closer", src, dst);
	check(there.answer != LLCG_DENY || to > d.spill,
	      "%u to %u: denied though all before is full", src, dst);
	check(there.answer != LLCG_ALLOW || to < d.range,
	      "%u to %u: allowed to outside", src, dst);
	check(there.answer != LLCG_ALLOW || to < from,
	      "%u to %u: allowed away from the preferred LLC", src, dst);
	check(there.answer != LLCG_ALLOW || back.answer != LLCG_ALLOW,
	      "%u and %u: allowed both ways", src, dst);
	check(there.answer != LLCG_DENY || back.answer != LLCG_DENY,
	      "%u and %u: denied both ways", src, dst);
	check(d.packed || there.answer == LLCG_DEFAULT,
	      "%u to %u: %u though not packed", src, dst, there.answer);
	check(there.why < LLCG_NR_WHYS, "%u to %u: rule %u", src, dst, there.why);
}

static void try_all(const struct llcg_topo *t, const u32 *seq,
		    union llcg_decision d)
{
	u32 src, dst, idle;

	for (src = 0; src < t->nr_llcs; src++)
		for (dst = 0; dst < t->nr_llcs; dst++)
			for (idle = 0; idle <= 1; idle++) {
				struct llcg_verdict v, w;

				v = llcg_verdict(t, d, src, dst, idle);
				w = naive_verdict(seq, d, src, dst, idle);
				check(v.answer == w.answer && v.why == w.why,
				      "%u to %u, idle %u: %u %s, twin says %u %s",
				      src, dst, idle, v.answer,
				      llcg_why_name(v.why), w.answer,
				      llcg_why_name(w.why));
				w = llcg_verdict(t, d, dst, src, idle);
				check_sane(seq, d, src, dst, v, w);
			}
}

static void random_verdicts(struct rng *rng)
{
	struct unit_shape shape = { .llcs = 5, .total = 40 };
	struct unit_machine *m;
	struct llcg_topo *t;
	u32 seq[40], i;

	shape.nodes = rng_range(rng, 1, 8);
	shape.spread = rng_range(rng, 1, 5);
	m = machine_random(rng, &shape);
	t = machine_topo(m);
	for (i = 0; i < 4; i++) {
		union llcg_decision d = {
			.pref = rng_below(rng, m->nr_llcs),
			.range = rng_range(rng, 1, m->nr_llcs),
			.spill = rng_below(rng, m->nr_llcs),
			.reason = LLCG_REASON_PACKED,
			.packed = 1,
		};

		if (rng_one_in(rng, 10)) {
			d.reason = rng_below(rng, LLCG_NR_REASONS);
			d.packed = d.reason == LLCG_REASON_PACKED;
		}
		naive_sequence(m, d.pref, seq);
		try_all(t, seq, d);
	}
	llcg_topo_destroy(t);
	machine_free(m);
}

static void test_random(void **unused)
{
	(void)unused;
	with_seeds(30000, 200, random_verdicts);
}

/*
 * Threads that only make moves which are not denied, and take every one that is
 * allowed, come to rest: an allowed move always leads into the range, and
 * nothing allowed or spilling leads from there before the range is full.
 */
static void random_walk(struct rng *rng)
{
	struct unit_shape shape = { .nodes = 4, .llcs = 4, .total = 16, .spread = 3 };
	struct unit_machine *m = machine_random(rng, &shape);
	struct llcg_topo *t = machine_topo(m);
	union llcg_decision d = {
		.pref = rng_below(rng, m->nr_llcs),
		.range = rng_range(rng, 1, m->nr_llcs),
		.reason = LLCG_REASON_PACKED,
		.packed = 1,
	};
	u32 here = rng_below(rng, m->nr_llcs), i;
	bool inside = false;

	d.spill = rng_below(rng, d.range);
	for (i = 0; i < 200; i++) {
		u32 to = rng_below(rng, m->nr_llcs);
		struct llcg_verdict v;

		v = llcg_verdict(t, d, here, to, rng_one_in(rng, 2));
		if (v.answer == LLCG_DENY)
			continue;
		check(llcg_topo_rank(t, d.pref, to) <=
		      llcg_topo_rank(t, d.pref, here) ||
		      llcg_topo_rank(t, d.pref, to) < d.range,
		      "from %u to %u", here, to);
		here = to;
		if (llcg_topo_rank(t, d.pref, here) < d.range)
			inside = true;
		else
			check(!inside, "left the range for %u", here);
	}
	llcg_topo_destroy(t);
	machine_free(m);
}

static void test_walk(void **unused)
{
	(void)unused;
	with_seeds(40000, 500, random_walk);
}

static void check_names(const char *(*name)(u32 value), u32 nr)
{
	u32 i, j;

	for (i = 0; i < nr; i++) {
		check(name(i) && name(i)[0] && strcmp(name(i), "?"),
		      "value %u has no name", i);
		check(!strpbrk(name(i), " \t\n\"=,"), "\"%s\" is not a word", name(i));
		for (j = 0; j < i; j++)
			check(strcmp(name(i), name(j)), "%u and %u are both \"%s\"",
			      i, j, name(i));
	}
	assert_string_equal(name(nr), "?");
	assert_string_equal(name(255), "?");
	assert_string_equal(name(U32_MAX), "?");
}

static void test_names(void **unused)
{
	(void)unused;
	check_names(llcg_reason_name, LLCG_NR_REASONS);
	check_names(llcg_why_name, LLCG_NR_WHYS);
}

/* NUMA balancing: as all else, but inside the range only to come home. */
static void test_numa(void **unused)
{
	struct unit_machine *m = machine_even(2, 4);
	struct llcg_topo *t = machine_topo(m);
	u32 i, home;

	(void)unused;
	for (i = 0; i < 2 * ARRAY_SIZE(verdict_cases); i++) {
		const struct verdict_case *c = &verdict_cases[i / 2];
		union llcg_decision d = {
			.pref = c->pref,
			.range = c->range,
			.spill = c->spill,
			.reason = LLCG_REASON_PACKED,
			.packed = 1,
		};
		bool stray = c->why == LLCG_WHY_INSIDE && !(i & 1);
		struct llcg_verdict v = llcg_numa_verdict(t, d, c->src, c->dst,
							  c->idle, i & 1);

		check(v.answer == (stray ? LLCG_DENY : c->answer) &&
		      v.why == (stray ? LLCG_WHY_STRAY : c->why),
		      "%s, home %u: %u, %s", c->what, i & 1, v.answer,
		      llcg_why_name(v.why));
		for (home = 0; home < 2; home++) {
			d.packed = 0;
			v = llcg_numa_verdict(t, d, c->src, c->dst, c->idle, home);
			check(v.answer == LLCG_DEFAULT, "%s, not packed: %u",
			      c->what, v.answer);
		}
	}
	llcg_topo_destroy(t);
	machine_free(m);
}

static void test_push(void **unused)
{
	static const struct {
		u32 packed;
		u32 range;
		u32 llc;
		u32 waiting;
		bool wanted;
	} cases[] = {
		{ 1, 2, 1, 0, false }, { 1, 2, 2, 0, false }, { 1, 2, 3, 0, true },
		{ 1, 2, 0, 0, true }, { 1, 4, 0, 0, false }, { 1, 4, 4, 0, true },
		{ 1, 4, 0, 256, false }, { 1, 4, 0, 257, true },
		{ 1, 8, 7, 1024, true }, { 0, 2, 7, 1024, false },
		{ 0, 2, 7, 0, false },
	};
	struct unit_machine *m = machine_even(2, 4);
	struct llcg_topo *t = machine_topo(m);
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		union llcg_decision d = {
			.pref = 1,
			.range = cases[i].range,
			.packed = cases[i].packed,
		};

		check(llcg_push_wanted(t, d, cases[i].llc, cases[i].waiting) ==
		      cases[i].wanted, "case %u", i);
	}
	llcg_topo_destroy(t);
	machine_free(m);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE("every rule, by table; none if not packed", test_table),
		CASE("NUMA balancing: inside the range only to come home",
		     test_numa),
		CASE("pushed: what runs outside, or waits for a quarter",
		     test_push),
		CASE("a new group's decision leaves all to the scheduler",
		     test_new_group),
		CASE("random machines and decisions: as the twin, and sane",
		     test_random),
		CASE("threads that enter a range stay until it is full",
		     test_walk),
		CASE("every reason and rule has a name of its own", test_names),
	};

	return unit_run("verdict", cases, ARRAY_SIZE(cases));
}
