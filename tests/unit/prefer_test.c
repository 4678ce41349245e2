// SPDX-License-Identifier: GPL-2.0-only
/*
 * The preferred LLC of a decision. Four nodes of four LLCs of two cores, unless
 * a case says otherwise.
 */
#include "fake.h"

#define FULL_LLC	(2 * CORE)

static struct fake *group(u32 cores)
{
	struct fake *f = fake_new(machine_even(4, 4), cores);

	f->in.demand = 2 * CORE;

	return f;
}

static u32 pref_after(struct fake *f, u32 epochs)
{
	return fake_epochs(f, epochs).pref;
}

static void test_most_occupied(void **unused)
{
	struct fake *f = group(2);

	(void)unused;
	fake_visit(f, 3, 500);
	fake_visit(f, 12, 501);
	fake_visit(f, 5, 501);
	fake_visit(f, 9, 499);
	assert_int_equal(pref_after(f, 1), 12);
	fake_free(f);
}

static void test_never_seen(void **unused)
{
	struct fake *f = group(2);

	(void)unused;
	assert_int_equal(pref_after(f, 1), 0);
	f->s = (struct llcg_state){ };
	fake_visit(f, 6, 0);
	assert_int_equal(pref_after(f, 1), 6);
	fake_free(f);
}

static void test_hysteresis(void **unused)
{
	static const struct {
		u32 here;
		u32 there;
		u32 elsewhere;
		u32 pref;
	} cases[] = {
		{ 1000, 1000, 0, 2 },
		{ 1000, 1999, 0, 2 },
		{ 1000, 2000, 0, 7 },
		{ 1000, 1999, 1999, 2 },
		{ 1000, 2000, 2001, 11 },
		{ 1, 1, 1, 2 },
		{ 1, 2, 0, 7 },
		{ 0, 1, 0, 7 },
		{ 4000, 7999, 7998, 2 },
	};
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fake *f = group(8);

		fake_visit(f, 2, CORE);
		assert_int_equal(pref_after(f, 1), 2);
		fake_visit(f, 2, cases[i].here);
		fake_visit(f, 7, cases[i].there);
		fake_visit(f, 11, cases[i].elsewhere);
		check(pref_after(f, LLCG_SWITCH_EPOCHS - 1) == 2,
		      "case %u switches at once", i);
		check(pref_after(f, 1) == cases[i].pref,
		      "%u here, %u and %u there: LLC %u", cases[i].here,
		      cases[i].there, cases[i].elsewhere, f->s.decision.pref);
		/* And does not go back. */
		check(pref_after(f, 10) == cases[i].pref, "case %u bounces", i);
		fake_free(f);
	}
}

/* Eight threads, LLCs of eight cores. */
static void test_pinned_away(void **unused)
{
	struct fake *f = group(8);

	(void)unused;
	f->in.demand = 8 * CORE;
	fake_visit(f, 0, 8 * CORE);
	assert_int_equal(pref_after(f, 1), 0);
	fake_visit(f, 0, 6 * CORE);
	fake_visit(f, 9, 2 * CORE);
	assert_int_equal(pref_after(f, 50), 0);
	fake_visit(f, 0, 2 * CORE);
	fake_visit(f, 9, 6 * CORE);
	assert_int_equal(pref_after(f, LLCG_SWITCH_EPOCHS - 1), 0);
	assert_int_equal(pref_after(f, 1), 9);
	fake_free(f);
}

/* What comes and goes does not make a group switch. */
static void test_comes_and_goes(void **unused)
{
	struct fake *f = group(8);
	u32 i;

	(void)unused;
	fake_visit(f, 2, CORE);
	fake_visit(f, 7, CORE);
	assert_int_equal(pref_after(f, 1), 2);
	for (i = 0; i < 50; i++) {
		f->rooms[2].load = 8 * CORE;
		assert_int_equal(pref_after(f, LLCG_SWITCH_EPOCHS - 1), 2);
		f->rooms[2].load = 0;
		assert_int_equal(pref_after(f, 1), 2);
	}
	fake_free(f);
}

static void test_left_behind(void **unused)
{
	struct fake *f = group(2);

	(void)unused;
	fake_visit(f, 4, FULL_LLC);
	assert_int_equal(pref_after(f, 1), 4);
	f->in.nr_visits = 0;
	assert_int_equal(pref_after(f, 10), 4);
	fake_visit(f, 8, 1);
	assert_int_equal(pref_after(f, LLCG_SWITCH_EPOCHS), 8);
	fake_free(f);
}

static void test_switch_means_new_range(void **unused)
{
	struct fake *f = group(2);

	(void)unused;
	f->in.demand = 16 * CORE;
	fake_visit(f, 0, CORE);
	assert_int_equal(fake_epoch(f).range, 8);
	f->in.demand = 2 * CORE;
	fake_visit(f, 4, FULL_LLC);
	assert_int_equal(pref_after(f, LLCG_SWITCH_EPOCHS), 4);
	assert_int_equal(f->s.decision.range, 1);
	fake_free(f);
}

/* Others fill the preferred LLC, by what they run there or what they claim. */
static void test_filled_by_others(void **unused)
{
	u32 claimed;

	(void)unused;
	for (claimed = 0; claimed <= 1; claimed++) {
		struct fake *f = group(2);
		u32 *used = claimed ? &f->rooms[4].claims : &f->rooms[4].load;

		f->in.demand = 4 * CORE;
		fake_visit(f, 4, FULL_LLC);
		fake_visit(f, 5, FULL_LLC);
		assert_int_equal(pref_after(f, 1), 4);
		*used = CORE - 1;
		assert_int_equal(pref_after(f, 50), 4);
		*used = CORE;
		assert_int_equal(pref_after(f, LLCG_SWITCH_EPOCHS - 1), 4);
		assert_int_equal(pref_after(f, 1), 5);
		/* Room there again is no reason to go back. */
		*used = 0;
		assert_int_equal(pref_after(f, 50), 5);
		fake_free(f);
	}
}

/* All that the group uses is full: nearest in the sequence of where it was. */
static void test_nearest_free(void **unused)
{
	static const struct {
		u32 pref;
		u32 free;
		u32 want;
	} cases[] = {
		{ 0, 0xfffe, 1 }, { 2, 0xfffb, 3 }, { 3, 0xfff7, 0 },
		{ 0, 0xfff0, 4 }, { 0, 0x8f00, 8 }, { 0, 0x8000, 15 },
		{ 5, 0xff0f, 0 }, { 5, 0xff00, 8 }, { 5, 0xf000, 12 },
		{ 9, 0xf0ff, 4 }, { 9, 0xf00f, 12 }, { 9, 0x000f, 0 },
		{ 14, 0x0fff, 8 }, { 14, 0x00ff, 4 }, { 14, 0x000c, 2 },
	};
	u32 i, llc;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fake *f = group(2);

		fake_visit(f, cases[i].pref, FULL_LLC);
		fake_epoch(f);
		for (llc = 0; llc < 16; llc++)
			if (!(cases[i].free >> llc & 1))
				f->rooms[llc].claims = FULL_LLC;
		check(pref_after(f, LLCG_SWITCH_EPOCHS) == cases[i].want,
		      "from LLC %u, free %#x: LLC %u", cases[i].pref,
		      cases[i].free, f->s.decision.pref);
		fake_free(f);
	}
}

static void test_half_a_core(void **unused)
{
	struct fake *f = group(2);
	u32 llc;

	(void)unused;
	fake_visit(f, 0, FULL_LLC);
	fake_epoch(f);
	for (llc = 0; llc < 16; llc++)
		f->rooms[llc].load = FULL_LLC;
	f->rooms[1].load = FULL_LLC - CORE / 2 + 1;
	f->rooms[3].load = FULL_LLC - CORE / 2;
	assert_int_equal(pref_after(f, LLCG_SWITCH_EPOCHS), 3);
	fake_free(f);
}

static void test_nothing_free(void **unused)
{
	struct fake *f = group(2);
	u32 llc;

	(void)unused;
	fake_visit(f, 6, FULL_LLC);
	fake_visit(f, 10, CORE);
	assert_int_equal(pref_after(f, 1), 6);
	for (llc = 0; llc < 16; llc++)
		f->rooms[llc].load = FULL_LLC;
	assert_int_equal(pref_after(f, 50), 6);
	fake_free(f);
}

/* A group that is new, or was away, has no LLC to be attached to. */
static void test_fresh(void **unused)
{
	static const u8 reasons[] = { LLCG_REASON_NEW, LLCG_REASON_IDLE };
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		struct fake *f = group(2);

		fake_visit(f, 2, 1000);
		assert_int_equal(pref_after(f, 1), 2);
		fake_visit(f, 7, 1001);
		assert_int_equal(pref_after(f, 1), 2);
		f->s.decision.reason = reasons[i];
		f->s.decision.packed = 0;
		assert_int_equal(pref_after(f, 1), 7);
		fake_free(f);
	}
}

/* A fresh group in a full place looks for room from where it was seen. */
static void test_fresh_in_full_place(void **unused)
{
	struct fake *f = group(2);

	(void)unused;
	fake_visit(f, 13, FULL_LLC);
	f->rooms[13].claims = FULL_LLC;
	assert_int_equal(pref_after(f, 1), 14);
	fake_free(f);
}

/* What module/fold.c does for a group: claims of its range. */
static void claim(struct fake *f, struct fake *others, bool add)
{
	u32 left = f->in.demand, k;

	for (k = 0; k < f->s.decision.range; k++) {
		u32 llc = llcg_topo_at(f->topo, f->s.decision.pref, k);
		u32 part = min_t(u32, llcg_free_capacity(&f->rooms[llc]), left);

		if (add)
			others->rooms[llc].claims += part;
		else
			others->rooms[llc].claims = 0;
		left -= part;
	}
}

static void settle(struct fake *f, struct fake *other)
{
	claim(f, other, false);
	fake_epoch(f);
	claim(f, other, true);
	/* Its threads follow the decision. */
	f->in.nr_visits = 0;
	fake_visit(f, f->s.decision.pref, FULL_LLC);
}

static void test_two_groups(void **unused)
{
	struct fake *a = group(2), *b = group(2);
	u32 pref, i;

	(void)unused;
	fake_visit(a, 0, CORE);
	fake_visit(b, 0, CORE);
	for (i = 0; i < LLCG_SWITCH_EPOCHS; i++) {
		settle(a, b);
		settle(b, a);
	}
	check(a->s.decision.pref == 0 && b->s.decision.pref == 1,
	      "LLCs %u and %u", a->s.decision.pref, b->s.decision.pref);
	pref = b->s.decision.pref;
	for (i = 0; i < 100; i++) {
		settle(a, b);
		settle(b, a);
		check(a->s.decision.pref == 0 && a->s.decision.range == 1 &&
		      b->s.decision.pref == pref && b->s.decision.range == 1,
		      "epoch %u: LLCs %u and %u", i, a->s.decision.pref,
		      b->s.decision.pref);
	}
	fake_free(a);
	fake_free(b);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE("the most occupied LLC, the first seen of equals",
		     test_most_occupied),
		CASE("a group that used nothing yet", test_never_seen),
		CASE("switched only at twice the occupancy", test_hysteresis),
		CASE("a quarter pinned away: stays, three quarters: follows",
		     test_pinned_away),
		CASE("others that come and go: stays", test_comes_and_goes),
		CASE("the preferred LLC is not used any more", test_left_behind),
		CASE("a switch begins with a new range",
		     test_switch_means_new_range),
		CASE("left when others fill it", test_filled_by_others),
		CASE("all in use is full: nearest free LLC", test_nearest_free),
		CASE("free means half a core", test_half_a_core),
		CASE("nothing free: stays", test_nothing_free),
		CASE("new or back from idle: no hysteresis", test_fresh),
		CASE("new in a full place", test_fresh_in_full_place),
		CASE("two groups that fit an LLC each end up on two",
		     test_two_groups),
	};

	return unit_run("prefer", cases, ARRAY_SIZE(cases));
}
