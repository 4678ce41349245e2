// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decisions of random groups on random machines, epoch after epoch, against a
 * deliberately naive twin: it looks everything up anew, and where the policy
 * counts epochs it keeps them all and looks back.
 */
#include "fake.h"

#define MAX_EPOCHS	200

/**
 * struct twin - the same group, decided naively
 * @now: its decision
 * @epoch: epochs so far
 * @since: the epoch of the last range that was not brought about by waiting, or
 *	of the last one that was
 * @needed: range needed in each epoch, with the load of others
 * @pref_since: the epoch after the last in which it was fresh or switched
 * @elsewhere: whether another preferred LLC was better in each epoch
 */
struct twin {
	union llcg_decision now;
	u32 epoch;
	u32 since;
	u32 needed[MAX_EPOCHS];
	u32 pref_since;
	bool elsewhere[MAX_EPOCHS];
};

/* What the random lives exercised. */
static struct {
	u32 epochs;
	u32 raised;
	u32 lowered;
	u32 switched;
	u32 packed;
} seen;

static s64 naive_free(const struct llcg_room *room)
{
	s64 used = room->claims > room->load ? room->claims : room->load;

	used = used > room->outside ? used - room->outside : 0;

	return used < room->total ? room->total - used : 0;
}

static u32 naive_reason(const struct twin *t, const struct fake *f, u32 pref)
{
	unsigned __int128 bound = f->llc_bytes[pref];

	if (f->in.tolerance == 0)
		return LLCG_REASON_TOLERANCE;
	if (f->in.guarded && f->in.tolerance < 100) {
		if (!f->rss_known || !bound)
			return LLCG_REASON_NO_FOOTPRINT;
		bound *= 1 + (f->in.tolerance - 1) * 256;
		if (t->now.reason == LLCG_REASON_FOOTPRINT)
			bound -= bound / 8;
		if (f->rss_bytes > bound)
			return LLCG_REASON_FOOTPRINT;
	}

	return f->in.machine_full ? LLCG_REASON_SATURATED : LLCG_REASON_PACKED;
}

static s64 naive_useful(const struct fake *f, u32 llc)
{
	s64 room = naive_free(&f->rooms[llc]);
	u32 i;

	for (i = 0; i < f->in.nr_visits; i++)
		if (f->visits[i].llc == llc)
			return f->visits[i].occupancy < room ?
			       f->visits[i].occupancy : room;

	return 0;
}

static u32 naive_nearest(const struct fake *f, u32 from)
{
	u32 seq[LLCG_MAX_LLCS], k;

	naive_sequence(f->machine, from, seq);
	for (k = 0; k < f->machine->nr_llcs; k++)
		if (naive_free(&f->rooms[seq[k]]) >= CORE / 2)
			return seq[k];

	return from;
}

static u32 naive_best(const struct fake *f, u32 pref, bool fresh)
{
	u32 best = f->in.nr_visits ? f->visits[0].llc : pref, i;

	for (i = 0; i < f->in.nr_visits; i++)
		if (naive_useful(f, f->visits[i].llc) > naive_useful(f, best))
			best = f->visits[i].llc;
	if (!naive_useful(f, best))
		return naive_nearest(f, fresh ? best : pref);
	if (fresh || naive_useful(f, best) >= 2 * naive_useful(f, pref))
		return best;

	return pref;
}

static u32 naive_preferred(struct twin *t, const struct fake *f)
{
	bool fresh = t->now.reason == LLCG_REASON_NEW ||
		     t->now.reason == LLCG_REASON_IDLE;
	u32 best = naive_best(f, t->now.pref, fresh), i;

	t->elsewhere[t->epoch] = best != t->now.pref;
	for (i = 0; !fresh && i < LLCG_SWITCH_EPOCHS; i++)
		if (t->epoch < t->pref_since + i || !t->elsewhere[t->epoch - i])
			return t->now.pref;
	t->pref_since = t->epoch + 1;

	return best;
}

static u32 naive_range(const struct fake *f, u32 pref, bool with_load)
{
	u32 seq[LLCG_MAX_LLCS], range, k;

	naive_sequence(f->machine, pref, seq);
	for (range = 1; range < f->machine->nr_llcs; range++) {
		s64 sum = 0, slack;

		for (k = 0; k < range; k++) {
			struct llcg_room room = f->rooms[seq[k]];

			room.load = with_load ? room.load : 0;
			sum += naive_free(&room);
		}
		slack = sum / 16 < 512 ? sum / 16 : 512;
		if (sum && f->in.demand <= sum + slack)
			break;
	}

	return range;
}

static u32 naive_spill(const struct fake *f, u32 pref)
{
	u32 seq[LLCG_MAX_LLCS], k = 0;

	naive_sequence(f->machine, pref, seq);
	while (k < f->machine->nr_llcs - 1 &&
	       (f->rooms[seq[k]].full || !f->rooms[seq[k]].total))
		k++;

	return k;
}

/* Whether the last @nr epochs all needed more, or all less, than @range. */
static bool persists(const struct twin *t, u32 nr, bool more)
{
	u32 i;

	if (t->epoch + 1 < t->since + nr)
		return false;
	for (i = t->epoch + 1 - nr; i <= t->epoch; i++)
		if (more ? t->needed[i] <= t->now.range :
			   t->needed[i] >= t->now.range)
			return false;

	return true;
}

static u32 extreme(const struct twin *t, u32 nr, bool least)
{
	u32 i, found = t->needed[t->epoch];

	for (i = t->epoch + 1 - nr; i <= t->epoch; i++)
		if (least ? t->needed[i] < found : t->needed[i] > found)
			found = t->needed[i];

	return found;
}

static u32 naive_settle(struct twin *t, const struct fake *f, u32 pref)
{
	u32 own = naive_range(f, pref, false), range = t->now.range;

	t->needed[t->epoch] = naive_range(f, pref, true);
	if (!t->now.packed || pref != t->now.pref || f->in.refit || own > range) {
		range = own;
	} else if (persists(t, LLCG_SQUEEZE_EPOCHS, true)) {
		range = extreme(t, LLCG_SQUEEZE_EPOCHS, true);
		seen.raised++;
	} else if (persists(t, LLCG_SHRINK_EPOCHS, false)) {
		range = extreme(t, LLCG_SHRINK_EPOCHS, false);
		seen.lowered++;
	} else {
		return range;
	}
	t->since = t->epoch + 1;

	return range;
}

static void naive_decide(struct twin *t, const struct fake *f)
{
	u32 pref = naive_preferred(t, f);
	union llcg_decision next = { .pref = pref };

	next.reason = naive_reason(t, f, pref);
	next.packed = next.reason == LLCG_REASON_PACKED;
	next.range = naive_settle(t, f, pref);
	next.spill = naive_spill(f, pref);
	seen.switched += pref != t->now.pref;
	seen.packed += next.packed;
	seen.epochs++;
	t->now = next;
	t->epoch++;
}

static void compare(const struct fake *f, const struct twin *t)
{
	union llcg_decision d = f->s.decision;

	check(d.pref == t->now.pref, "epoch %u: preferred LLC %u, twin says %u",
	      t->epoch, d.pref, t->now.pref);
	check(d.reason == t->now.reason && d.packed == t->now.packed,
	      "epoch %u: %s, twin says %s", t->epoch,
	      llcg_reason_name(d.reason), llcg_reason_name(t->now.reason));
	check(d.range == t->now.range, "epoch %u: range %u, twin says %u",
	      t->epoch, d.range, t->now.range);
	check(d.spill == t->now.spill, "epoch %u: spill %u, twin says %u",
	      t->epoch, d.spill, t->now.spill);
}

static void drift_rooms(struct fake *f, struct rng *rng, u32 calm)
{
	struct llcg_room *room = &f->rooms[rng_below(rng, f->topo->nr_llcs)];

	if (rng_one_in(rng, 2 * calm))
		room->load = rng_below(rng, room->total + room->total / 4 + 1);
	if (rng_one_in(rng, 2 * calm))
		room->load = 0;
	if (rng_one_in(rng, 3 * calm))
		room->claims = rng_below(rng, room->total + room->total / 4 + 1);
	if (rng_one_in(rng, 2 * calm))
		room->claims = 0;
	if (rng_one_in(rng, 2))
		room->full = rng_one_in(rng, 2);
	if (rng_one_in(rng, 20 * calm))
		room->total = rng_below(rng, 8 * CORE);
	if (rng_one_in(rng, 20 * calm))
		room->total = 0;
	if (rng_one_in(rng, 20 * calm))
		room->outside = rng_below(rng, 4 * CORE);
}

static void drift_group(struct fake *f, struct rng *rng, u32 calm)
{
	u32 nr = f->topo->nr_llcs;

	if (rng_one_in(rng, 3 * calm))
		f->in.demand = rng_below(rng, rng_range(rng, 1, nr * 5 * CORE));
	if (rng_one_in(rng, 4))
		f->in.demand += rng_below(rng, CORE / 8);
	if (rng_one_in(rng, calm))
		fake_visit(f, rng_below(rng, nr), rng_below(rng, 6 * CORE));
	if (rng_one_in(rng, 10 * calm) && f->in.nr_visits)
		f->in.nr_visits = rng_below(rng, f->in.nr_visits);
	f->in.refit = rng_one_in(rng, 15 * calm);
	if (rng_one_in(rng, 10 * calm))
		f->in.machine_full = rng_one_in(rng, 5);
}

static void drift_guard(struct fake *f, struct rng *rng, u32 calm)
{
	static const u32 tolerances[] = { 0, 1, 1, 1, 2, 99, 100 };

	if (rng_one_in(rng, 10 * calm))
		f->rss_bytes = rng_range(rng, 16, 36) * MIB;
	if (rng_one_in(rng, 2))
		f->rss_bytes += rng_below(rng, MIB) - MIB / 2;
	if (rng_one_in(rng, 20 * calm))
		f->in.tolerance = tolerances[rng_below(rng, ARRAY_SIZE(tolerances))];
	if (rng_one_in(rng, 20 * calm))
		f->in.guarded = !rng_one_in(rng, 4);
	if (rng_one_in(rng, 20 * calm))
		f->rss_known = !rng_one_in(rng, 4);
}

static struct fake *random_group(struct rng *rng)
{
	struct unit_shape shape = { .llcs = 6, .total = 36 };
	struct fake *f;
	u32 i;

	shape.nodes = rng_range(rng, 1, 6);
	shape.spread = rng_range(rng, 1, 4);
	f = fake_new(machine_random(rng, &shape), rng_range(rng, 1, 8));
	for (i = 0; i < f->topo->nr_llcs; i++) {
		if (rng_one_in(rng, 4))
			f->rooms[i].total = rng_range(rng, 1, 8 * CORE);
		f->llc_bytes[i] = rng_one_in(rng, 30) ? 0 : 32 * MIB;
		f->rooms[i].full = rng_one_in(rng, 2);
	}
	f->in.demand = rng_below(rng, rng_range(rng, 1, i * 5 * CORE));
	for (i = rng_below(rng, 4); i; i--)
		fake_visit(f, rng_below(rng, f->topo->nr_llcs),
			   rng_below(rng, 6 * CORE));

	return f;
}

static void live(struct rng *rng, u32 epochs)
{
	struct fake *f = random_group(rng);
	u32 calm = 1U << rng_below(rng, 7), i;
	struct twin t = { };

	for (i = 0; i < epochs; i++) {
		drift_rooms(f, rng, calm);
		drift_group(f, rng, calm);
		drift_guard(f, rng, calm);
		fake_epoch(f);
		naive_decide(&t, f);
		compare(f, &t);
		if (rng_one_in(rng, 40)) {
			f->s.decision.reason = LLCG_REASON_IDLE;
			f->s.decision.packed = 0;
			t.now = f->s.decision;
		}
	}
	fake_free(f);
}

static void first_epoch(struct rng *rng)
{
	live(rng, 1);
}

static void whole_life(struct rng *rng)
{
	live(rng, MAX_EPOCHS);
}

static void test_first_epoch(void **unused)
{
	(void)unused;
	with_seeds(10000, 3000, first_epoch);
}

static void test_whole_life(void **unused)
{
	(void)unused;
	memset(&seen, 0, sizeof(seen));
	with_seeds(20000, 2500, whole_life);
	print_message("%u epochs: %u packed, %u switches, ranges raised %u times, lowered %u\n",
		      seen.epochs, seen.packed, seen.switched, seen.raised,
		      seen.lowered);
	if (!getenv("LLCG_SEED"))
		check(seen.raised > 500 && seen.lowered > 300 &&
		      seen.switched > 500 && seen.packed > seen.epochs / 4,
		      "the random lives are too dull to tell");
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE("first decisions of random groups: as the twin",
		     test_first_epoch),
		CASE("whole lives of random groups: as the twin",
		     test_whole_life),
	};

	return unit_run("twin", cases, ARRAY_SIZE(cases));
}
