// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a group is aggregated at all: the footprint guard, which fails
 * closed, and the full machine.
 */
#include "fake.h"

static struct fake *group(void)
{
	struct fake *f = fake_new(machine_even(2, 2), 4);

	f->in.demand = 2 * CORE;
	fake_visit(f, 1, 2 * CORE);

	return f;
}

static u32 reason_after(struct fake *f, u32 epochs)
{
	return fake_epochs(f, epochs).reason;
}

static void test_bound(void **unused)
{
	static const struct {
		u64 llc_bytes;
		u32 tolerance;
		u64 bound;
	} cases[] = {
		{ 32 * MIB, 0, 0 },
		{ 32 * MIB, 1, 32 * MIB },
		{ 32 * MIB, 2, 257 * 32 * MIB },
		{ 32 * MIB, 3, 513 * 32 * MIB },
		{ 32 * MIB, 99, 25089 * 32 * MIB },
		{ 32 * MIB, 100, U64_MAX },
		{ 32 * MIB, 101, U64_MAX },
		{ 32 * MIB, U32_MAX, U64_MAX },
		{ 0, 0, 0 },
		{ 0, 1, 0 },
		{ 0, 99, 0 },
		{ 0, 100, U64_MAX },
		{ U64_MAX, 1, U64_MAX },
		{ U64_MAX / 513, 3, U64_MAX / 513 * 513 },
		{ U64_MAX / 513 + 1, 3, U64_MAX },
	};
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 bound = llcg_footprint_bound(cases[i].llc_bytes,
						 cases[i].tolerance);

		check(bound == cases[i].bound, "%llu bytes, tolerance %u: %llu",
		      (unsigned long long)cases[i].llc_bytes,
		      cases[i].tolerance, (unsigned long long)bound);
	}
}

enum known { UNKNOWN, KNOWN };
enum guard { UNGUARDED, GUARDED };

static const struct guard_case {
	u32 tolerance;
	enum guard guard;
	enum known known;
	u64 llc_bytes;
	u64 rss_bytes;
	u32 reason;
} guard_cases[] = {
	{ 1, GUARDED, KNOWN, 32 * MIB, 0, LLCG_REASON_PACKED },
	{ 1, GUARDED, KNOWN, 32 * MIB, 32 * MIB, LLCG_REASON_PACKED },
	{ 1, GUARDED, KNOWN, 32 * MIB, 32 * MIB + 1, LLCG_REASON_FOOTPRINT },
	{ 2, GUARDED, KNOWN, 32 * MIB, 257 * 32 * MIB, LLCG_REASON_PACKED },
	{ 2, GUARDED, KNOWN, 32 * MIB, 257 * 32 * MIB + 1, LLCG_REASON_FOOTPRINT },
	{ 99, GUARDED, KNOWN, MIB, 25089 * MIB, LLCG_REASON_PACKED },
	{ 99, GUARDED, KNOWN, MIB, 25089 * MIB + 1, LLCG_REASON_FOOTPRINT },
	{ 99, GUARDED, KNOWN, MIB, U64_MAX, LLCG_REASON_FOOTPRINT },
	{ 100, GUARDED, KNOWN, MIB, U64_MAX, LLCG_REASON_PACKED },
	/* Fails closed, unless told to ignore it. */
	{ 1, GUARDED, UNKNOWN, 32 * MIB, 0, LLCG_REASON_NO_FOOTPRINT },
	{ 1, GUARDED, KNOWN, 0, 0, LLCG_REASON_NO_FOOTPRINT },
	{ 1, GUARDED, UNKNOWN, 0, 0, LLCG_REASON_NO_FOOTPRINT },
	{ 99, GUARDED, UNKNOWN, 32 * MIB, 0, LLCG_REASON_NO_FOOTPRINT },
	{ 99, GUARDED, KNOWN, 0, 0, LLCG_REASON_NO_FOOTPRINT },
	{ 100, GUARDED, UNKNOWN, 0, 0, LLCG_REASON_PACKED },
	{ 1, UNGUARDED, KNOWN, MIB, 1000 * MIB, LLCG_REASON_PACKED },
	{ 1, UNGUARDED, UNKNOWN, 0, 0, LLCG_REASON_PACKED },
	/* Tolerance 0 never aggregates. */
	{ 0, GUARDED, KNOWN, 32 * MIB, 0, LLCG_REASON_TOLERANCE },
	{ 0, GUARDED, UNKNOWN, 0, 0, LLCG_REASON_TOLERANCE },
	{ 0, UNGUARDED, KNOWN, 32 * MIB, 0, LLCG_REASON_TOLERANCE },
	{ 0, UNGUARDED, UNKNOWN, 0, 0, LLCG_REASON_TOLERANCE },
};

static void try_guard(const struct guard_case *c, bool machine_full)
{
	struct fake *f = group();
	u32 want = c->reason, reason;

	if (machine_full && want == LLCG_REASON_PACKED)
		want = LLCG_REASON_SATURATED;
	f->in.tolerance = c->tolerance;
	f->in.guarded = c->guard == GUARDED;
	f->in.machine_full = machine_full;
	f->rss_known = c->known == KNOWN;
	f->rss_bytes = c->rss_bytes;
	f->llc_bytes[1] = c->llc_bytes;
	reason = reason_after(f, 1);
	check(reason == want, "case %u%s: %s", (u32)(c - guard_cases),
	      machine_full ? ", machine full" : "", llcg_reason_name(reason));
	check(f->s.bound_bytes == llcg_footprint_bound(c->llc_bytes, c->tolerance),
	      "case %u: bound", (u32)(c - guard_cases));
	/* Nothing changes, so neither does the answer. */
	reason = reason_after(f, 30);
	check(reason == want, "case %u, later: %s", (u32)(c - guard_cases),
	      llcg_reason_name(reason));
	fake_free(f);
}

static void test_guard(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(guard_cases); i++) {
		try_guard(&guard_cases[i], false);
		try_guard(&guard_cases[i], true);
	}
}

/* A bound too large to compute must not pass for "no bound". */
static void test_unknown_and_huge(void **unused)
{
	struct fake *f = group();

	(void)unused;
	f->in.tolerance = 2;
	f->rss_known = false;
	f->llc_bytes[1] = U64_MAX / 2;
	assert_int_equal(reason_after(f, 1), LLCG_REASON_NO_FOOTPRINT);
	fake_free(f);
}

static void test_readmission(void **unused)
{
	struct fake *f = group();

	(void)unused;
	f->rss_bytes = 32 * MIB + 1;
	assert_int_equal(reason_after(f, 1), LLCG_REASON_FOOTPRINT);
	f->rss_bytes = 32 * MIB;
	assert_int_equal(reason_after(f, 10), LLCG_REASON_FOOTPRINT);
	f->rss_bytes = 28 * MIB + 1;
	assert_int_equal(reason_after(f, 10), LLCG_REASON_FOOTPRINT);
	f->rss_bytes = 28 * MIB;
	assert_int_equal(reason_after(f, 1), LLCG_REASON_PACKED);
	f->rss_bytes = 32 * MIB;
	assert_int_equal(reason_after(f, 10), LLCG_REASON_PACKED);
	fake_free(f);
}

static void test_no_flipping(void **unused)
{
	struct fake *f = group();
	u32 flips = 0, packed = 1, i;

	(void)unused;
	for (i = 0; i < 100; i++) {
		f->rss_bytes = i % 2 ? 32 * MIB - 4096 : 32 * MIB + 4096;
		fake_epoch(f);
		flips += packed != f->s.decision.packed;
		packed = f->s.decision.packed;
	}
	check(flips <= 1, "%u flips", flips);
	fake_free(f);
}

/* Memory is compared with the LLC that is preferred now. */
static void test_other_llc(void **unused)
{
	struct fake *f = group();

	(void)unused;
	f->rss_bytes = 20 * MIB;
	f->llc_bytes[2] = 16 * MIB;
	assert_int_equal(reason_after(f, 1), LLCG_REASON_PACKED);
	fake_visit(f, 1, 100);
	fake_visit(f, 2, 200);
	assert_int_equal(reason_after(f, LLCG_SWITCH_EPOCHS), LLCG_REASON_FOOTPRINT);
	assert_int_equal(f->s.bound_bytes, 16 * MIB);
	fake_free(f);
}

static void test_machine_full(void **unused)
{
	struct fake *f = group();
	union llcg_decision d;

	(void)unused;
	f->in.demand = 8 * CORE;
	d = fake_epoch(f);
	check(d.packed && d.range == 2, "packed %u, range %u", d.packed, d.range);
	f->in.machine_full = true;
	d = fake_epoch(f);
	check(!d.packed && d.reason == LLCG_REASON_SATURATED, "packed %u, %s",
	      d.packed, llcg_reason_name(d.reason));
	check(d.pref == 1, "preferred LLC %u", d.pref);

	/* Over at once, and with a range for the present demand. */
	f->in.machine_full = false;
	f->in.demand = 2 * CORE;
	d = fake_epoch(f);
	check(d.packed && d.range == 1, "packed %u, range %u", d.packed, d.range);
	check(d.pref == 1, "preferred LLC %u", d.pref);
	fake_free(f);
}

/* A refused group keeps its LLC in mind: the 2x rule goes on. */
static void test_refused_keeps_preference(void **unused)
{
	struct fake *f = group();

	(void)unused;
	fake_epoch(f);
	f->rss_bytes = 33 * MIB;
	fake_visit(f, 3, 3 * CORE);
	assert_int_equal(reason_after(f, 10), LLCG_REASON_FOOTPRINT);
	assert_int_equal(f->s.decision.pref, 1);
	fake_visit(f, 3, 4 * CORE);
	fake_epochs(f, LLCG_SWITCH_EPOCHS);
	assert_int_equal(f->s.decision.pref, 3);
	fake_free(f);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE("the bound: tolerance 0, 1, 2, 99, 100", test_bound),
		CASE("the guard fails closed", test_guard),
		CASE("unknown memory and a bound beyond 64 bits",
		     test_unknown_and_huge),
		CASE("once refused, admitted 1/8 below the bound",
		     test_readmission),
		CASE("memory that wavers about the bound: one flip",
		     test_no_flipping),
		CASE("compared with the preferred LLC's share", test_other_llc),
		CASE("the machine is full: saturated, at once both ways",
		     test_machine_full),
		CASE("a refused group keeps its preferred LLC",
		     test_refused_keeps_preference),
	};

	return unit_run("guard", cases, ARRAY_SIZE(cases));
}
