// SPDX-License-Identifier: GPL-2.0-only
/*
 * Range and spill of a decision. Four nodes of four LLCs of two cores, unless a
 * case says otherwise.
 */
#include "fake.h"

#define FULL_LLC	(2 * CORE)

/* A group that runs on @llc of the usual machine. */
static struct fake *group_on(u32 llc)
{
	struct fake *f = fake_new(machine_even(4, 4), 2);

	fake_visit(f, llc, FULL_LLC);

	return f;
}

static u32 range_after(struct fake *f, u32 epochs)
{
	return fake_epochs(f, epochs).range;
}

static const struct {
	u32 demand;
	u32 range;
} first_ranges[] = {
	{ 0, 1 },
	{ 1, 1 },
	{ 1 * FULL_LLC, 1 },
	{ 1 * FULL_LLC + FULL_LLC / 16, 1 },
	{ 1 * FULL_LLC + FULL_LLC / 16 + 1, 2 },
	{ 3 * CORE, 2 },
	{ 2 * FULL_LLC + FULL_LLC / 8, 2 },
	{ 2 * FULL_LLC + FULL_LLC / 8 + 1, 3 },
	{ 4 * FULL_LLC + CORE / 2, 4 },
	{ 4 * FULL_LLC + CORE / 2 + 1, 5 },
	/* The slack stops growing at half a core. */
	{ 10 * FULL_LLC + CORE / 2, 10 },
	{ 10 * FULL_LLC + CORE / 2 + 1, 11 },
	{ 16 * FULL_LLC, 16 },
	{ 17 * FULL_LLC, 16 },
	{ U32_MAX, 16 },
};

static void test_first_range(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(first_ranges); i++) {
		struct fake *f = group_on(9);
		union llcg_decision d;

		f->in.demand = first_ranges[i].demand;
		d = fake_epoch(f);
		check(d.range == first_ranges[i].range, "demand %u: range %u",
		      f->in.demand, d.range);
		check(d.pref == 9 && d.packed, "demand %u: preferred %u, %s",
		      f->in.demand, d.pref, llcg_reason_name(d.reason));
		fake_free(f);
	}
}

static void test_grows_at_once(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 2 * CORE;
	assert_int_equal(range_after(f, 50), 1);
	f->in.demand = 16 * CORE;
	assert_int_equal(range_after(f, 1), 8);
	f->in.demand = 18 * CORE;
	assert_int_equal(range_after(f, 1), 9);
	fake_free(f);
}

static void test_shrinks_late(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 16 * CORE;
	fake_epoch(f);
	f->in.demand = 4 * CORE;
	assert_int_equal(range_after(f, LLCG_SHRINK_EPOCHS - 1), 8);
	assert_int_equal(range_after(f, 1), 2);
	/* And again only after as long. */
	f->in.demand = 2 * CORE;
	assert_int_equal(range_after(f, LLCG_SHRINK_EPOCHS - 1), 2);
	assert_int_equal(range_after(f, 1), 1);
	fake_free(f);
}

static void test_shrinks_to_longest(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 16 * CORE;
	fake_epoch(f);
	f->in.demand = 4 * CORE;
	fake_epochs(f, 3);
	f->in.demand = 10 * CORE;
	fake_epoch(f);
	f->in.demand = 2 * CORE;
	assert_int_equal(range_after(f, LLCG_SHRINK_EPOCHS - 5), 8);
	assert_int_equal(range_after(f, 1), 5);
	assert_int_equal(range_after(f, LLCG_SHRINK_EPOCHS), 1);
	fake_free(f);
}

static void test_shrink_starts_over(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 16 * CORE;
	fake_epoch(f);
	f->in.demand = 12 * CORE;
	fake_epochs(f, LLCG_SHRINK_EPOCHS - 1);
	f->in.demand = 16 * CORE;
	assert_int_equal(range_after(f, 1), 8);
	f->in.demand = 2 * CORE;
	assert_int_equal(range_after(f, LLCG_SHRINK_EPOCHS - 1), 8);
	/* The need before the interruption is forgotten. */
	assert_int_equal(range_after(f, 1), 1);
	fake_free(f);
}

static void test_refit(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 16 * CORE;
	fake_epoch(f);
	f->in.demand = 2 * CORE;
	f->in.refit = true;
	assert_int_equal(range_after(f, 1), 1);
	f->in.refit = false;
	assert_int_equal(range_after(f, 1), 1);
	fake_free(f);
}

static void test_claims(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 4 * CORE;
	assert_int_equal(range_after(f, 5), 2);
	f->rooms[1].claims = CORE;
	assert_int_equal(range_after(f, 1), 3);
	f->rooms[1].claims = FULL_LLC;
	f->rooms[2].claims = FULL_LLC;
	assert_int_equal(range_after(f, 1), 4);
	/* More than there is must not wrap. */
	f->rooms[3].claims = U32_MAX;
	assert_int_equal(range_after(f, 1), 5);

	f->rooms[1].claims = 0;
	f->rooms[2].claims = 0;
	f->rooms[3].claims = 0;
	assert_int_equal(range_after(f, LLCG_SHRINK_EPOCHS - 1), 5);
	assert_int_equal(range_after(f, 1), 2);
	fake_free(f);
}

static void test_load(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 4 * CORE;
	fake_epochs(f, 5);
	f->rooms[1].load = CORE;
	assert_int_equal(range_after(f, LLCG_SQUEEZE_EPOCHS - 1), 2);
	assert_int_equal(range_after(f, 1), 3);
	f->rooms[1].load = 0;
	assert_int_equal(range_after(f, LLCG_SHRINK_EPOCHS - 1), 3);
	assert_int_equal(range_after(f, 1), 2);
	fake_free(f);
}

static void test_load_comes_and_goes(void **unused)
{
	struct fake *f = group_on(0);
	u32 i;

	(void)unused;
	f->in.demand = 4 * CORE;
	fake_epochs(f, 5);
	for (i = 0; i < 50; i++) {
		f->rooms[1].load = FULL_LLC;
		assert_int_equal(range_after(f, LLCG_SQUEEZE_EPOCHS - 1), 2);
		f->rooms[1].load = 0;
		assert_int_equal(range_after(f, 1), 2);
	}
	fake_free(f);
}

static void test_load_least(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 4 * CORE;
	fake_epochs(f, 5);
	f->rooms[1].load = FULL_LLC;
	f->rooms[2].load = FULL_LLC;
	f->rooms[3].load = FULL_LLC;
	fake_epochs(f, LLCG_SQUEEZE_EPOCHS - 2);
	f->rooms[3].load = 0;
	assert_int_equal(range_after(f, 1), 2);
	f->rooms[3].load = FULL_LLC;
	/* Four would have done once, five is what it takes now. */
	assert_int_equal(range_after(f, 1), 4);
	assert_int_equal(range_after(f, LLCG_SQUEEZE_EPOCHS - 1), 4);
	assert_int_equal(range_after(f, 1), 5);
	fake_free(f);
}

/* Load does not slow down what the group's own demand asks for. */
static void test_demand_under_load(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 4 * CORE;
	fake_epochs(f, 5);
	f->rooms[1].load = FULL_LLC;
	fake_epochs(f, LLCG_SQUEEZE_EPOCHS / 2);
	f->in.demand = 6 * CORE;
	assert_int_equal(range_after(f, 1), 3);
	/* The squeeze is counted from there. */
	assert_int_equal(range_after(f, LLCG_SQUEEZE_EPOCHS - 1), 3);
	assert_int_equal(range_after(f, 1), 4);
	fake_free(f);
}

static void test_free_capacity(void **unused)
{
	static const struct {
		struct llcg_room room;
		u32 free;
	} rooms[] = {
		{ { .total = 4096 }, 4096 },
		{ { .total = 4096, .claims = 1000 }, 3096 },
		{ { .total = 4096, .load = 1000 }, 3096 },
		/* What others use now is mostly what they claim. */
		{ { .total = 4096, .claims = 1000, .load = 3000 }, 1096 },
		{ { .total = 4096, .claims = 3000, .load = 1000 }, 1096 },
		{ { .total = 4096, .claims = 4096 }, 0 },
		{ { .total = 4096, .claims = 4097 }, 0 },
		{ { .total = 4096, .load = U32_MAX, .claims = U32_MAX }, 0 },
		{ { .total = 0, .load = 1 }, 0 },
		{ { .total = 4096, .full = true }, 4096 },
		/* Others find place on cores that the group may not use. */
		{ { .total = 2048, .outside = 2048, .load = 2000 }, 2048 },
		{ { .total = 2048, .outside = 2048, .load = 3000 }, 1096 },
		{ { .total = 2048, .outside = 2048, .claims = 5000 }, 0 },
	};
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(rooms); i++)
		check(llcg_free_capacity(&rooms[i].room) == rooms[i].free,
		      "room %u: %u", i, llcg_free_capacity(&rooms[i].room));
}

static void test_uneven_llcs(void **unused)
{
	static const u32 cores[] = { 8, 6, 4 };
	static const struct {
		u32 pref;
		u32 threads;
		u32 range;
	} cases[] = {
		{ 0, 8, 1 }, { 0, 9, 2 }, { 0, 14, 2 }, { 0, 15, 3 }, { 0, 18, 3 },
		{ 1, 6, 1 }, { 1, 7, 2 }, { 1, 10, 2 }, { 1, 11, 3 },
		{ 2, 4, 1 }, { 2, 5, 2 }, { 2, 12, 2 }, { 2, 13, 3 }, { 2, 19, 3 },
	};
	u32 i, llc;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fake *f = fake_new(machine_even(1, 3), 0);

		for (llc = 0; llc < 3; llc++)
			f->rooms[llc].total = cores[llc] * CORE;
		fake_visit(f, cases[i].pref, CORE);
		f->in.demand = cases[i].threads * CORE;
		check(fake_epoch(f).range == cases[i].range,
		      "%u threads from LLC %u: range %u", cases[i].threads,
		      cases[i].pref, f->s.decision.range);
		fake_free(f);
	}
}

/* Four big cores of 1024 in LLC 0, four little ones of 650 in LLC 1. */
static void test_unequal_capacity(void **unused)
{
	static const struct {
		u32 pref;
		u32 demand;
		u32 range;
	} cases[] = {
		{ 0, 4096, 1 }, { 0, 4096 + 256, 1 }, { 0, 4096 + 257, 2 },
		{ 0, 6696, 2 }, { 0, 9000, 2 },
		{ 1, 2600, 1 }, { 1, 2600 + 162, 1 }, { 1, 2600 + 163, 2 },
		{ 1, 3 * 1024, 2 },
	};
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fake *f = fake_new(machine_even(1, 2), 0);

		f->rooms[0].total = 4 * 1024;
		f->rooms[1].total = 4 * 650;
		fake_visit(f, cases[i].pref, CORE);
		f->in.demand = cases[i].demand;
		check(fake_epoch(f).range == cases[i].range,
		      "demand %u from LLC %u: range %u", cases[i].demand,
		      cases[i].pref, f->s.decision.range);
		fake_free(f);
	}
}

/* LLCs on which the group may run nowhere stand in the way. */
static void test_without_capacity(void **unused)
{
	struct fake *f = group_on(0);

	(void)unused;
	f->in.demand = 4 * CORE;
	f->rooms[1].total = 0;
	f->rooms[3].total = 0;
	assert_int_equal(fake_epoch(f).range, 3);
	f->in.demand = 6 * CORE;
	assert_int_equal(fake_epoch(f).range, 5);
	fake_free(f);
}

/* Too little anywhere to move to: a range still ends where there is some. */
static void test_crumbs_only(void **unused)
{
	struct fake *f = fake_new(machine_even(4, 4), 0);

	(void)unused;
	f->rooms[11].total = 100;
	assert_int_equal(fake_epoch(f).range, 12);
	f->in.demand = 107;
	assert_int_equal(fake_epoch(f).range, 16);
	f->rooms[11].total = 0;
	f->in.demand = 0;
	assert_int_equal(range_after(f, 2 * LLCG_SHRINK_EPOCHS), 16);
	assert_int_equal(f->s.decision.pref, 0);
	fake_free(f);
}

static void test_spill(void **unused)
{
	static const struct {
		u32 full;
		u32 spill;
	} cases[] = {
		{ 0x0000, 0 }, { 0x0001, 1 }, { 0x0002, 0 }, { 0x0003, 2 },
		{ 0x000f, 4 }, { 0x00ff, 8 }, { 0x0ff7, 3 }, { 0x7fff, 15 },
		{ 0xffff, 15 },
	};
	u32 pref, i, k;

	(void)unused;
	for (pref = 0; pref < 16; pref++) {
		struct fake *f = group_on(pref);

		f->in.demand = 4 * CORE;
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			for (k = 0; k < 16; k++)
				f->rooms[llcg_topo_at(f->topo, pref, k)].full =
					cases[i].full >> k & 1;
			check(fake_epoch(f).spill == cases[i].spill,
			      "LLC %u, full %#x: spill %u", pref,
			      cases[i].full, f->s.decision.spill);
			assert_int_equal(f->s.decision.range, 2);
		}
		fake_free(f);
	}
}

/*
 * The group may run in nodes 0 and 2 only, and node 0 is full: node 1 is not,
 * but no use to it.
 */
static void test_spill_over_forbidden(void **unused)
{
	struct fake *f = group_on(0);
	u32 llc;

	(void)unused;
	f->in.demand = 8 * CORE;
	for (llc = 0; llc < 4; llc++)
		f->rooms[llc].full = true;
	for (llc = 4; llc < 8; llc++)
		f->rooms[llc].total = 0;
	assert_int_equal(fake_epoch(f).range, 4);
	assert_int_equal(f->s.decision.spill, 8);
	fake_free(f);
}

/* Epochs wrap, and a later one may have been written by another CPU. */
static void test_age(void **unused)
{
	static const struct {
		u32 now;
		u32 then;
		u32 age;
	} cases[] = {
		{ 5, 5, 0 }, { 6, 5, 1 }, { 500, 5, 495 }, { 5, 6, 0 }, { 5, 12, 0 },
		{ 0, U32_MAX, 1 }, { 3, U32_MAX - 1, 5 }, { U32_MAX, 0, 0 },
		{ U32_MAX - 1, 3, 0 },
	};
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check(llcg_age(cases[i].now, cases[i].then) == cases[i].age,
		      "from %u to %u: %u", cases[i].then, cases[i].now,
		      llcg_age(cases[i].now, cases[i].then));
}

/* What an epoch costs does not depend on the size of the machine. */
static void test_cost(void **unused)
{
	struct fake *f = fake_new(machine_even(16, 64), 2);

	(void)unused;
	f->in.demand = 4 * CORE;
	fake_visit(f, 700, FULL_LLC);
	fake_visit(f, 701, CORE);
	fake_visit(f, 3, CORE / 2);
	fake_epoch(f);
	assert_int_equal(f->s.decision.range, 2);
	check(f->room_calls <= 3 + 2 * 2 + 1, "room() called %u times",
	      f->room_calls);
	fake_free(f);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE("the first range is the shortest that holds the demand",
		     test_first_range),
		CASE("a range grows at once with the demand", test_grows_at_once),
		CASE("it shrinks after 20 epochs", test_shrinks_late),
		CASE("it shrinks to the longest need meanwhile",
		     test_shrinks_to_longest),
		CASE("a need for all of it starts the 20 epochs over",
		     test_shrink_starts_over),
		CASE("changed affinity: a new range at once", test_refit),
		CASE("others' claims make a range grow at once", test_claims),
		CASE("others' load makes it grow after 8 epochs", test_load),
		CASE("load that comes and goes does not", test_load_comes_and_goes),
		CASE("load makes it grow to the least need meanwhile",
		     test_load_least),
		CASE("demand counts at once, also under load",
		     test_demand_under_load),
		CASE("free capacity", test_free_capacity),
		CASE("uneven LLCs: 8, 6 and 4 cores", test_uneven_llcs),
		CASE("unequal capacity: 1024 and 650 a core",
		     test_unequal_capacity),
		CASE("LLCs without capacity lengthen a range",
		     test_without_capacity),
		CASE("next to no capacity anywhere", test_crumbs_only),
		CASE("spill is the first position that is not full", test_spill),
		CASE("spill passes LLCs the group may not run on",
		     test_spill_over_forbidden),
		CASE("age of an epoch: none if it is later", test_age),
		CASE("1,024 LLCs: O(visits + range)", test_cost),
	};

	return unit_run("decide", cases, ARRAY_SIZE(cases));
}
