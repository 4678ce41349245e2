// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group's decision for the next epoch: whether to aggregate it at all, its
 * preferred LLC, its range and its spill limit.
 */
#include <llc_gran/policy.h>

static u32 minus(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

/**
 * llcg_free_capacity - what is left of an LLC for a group
 * @room: what it offers
 *
 * Others are taken to use the cores first that the group may not run on.
 *
 * Return: capacity, 0 if others need it all.
 */
u32 llcg_free_capacity(const struct llcg_room *room)
{
	u32 others = max_t(u32, room->claims, room->load);

	return minus(room->total, minus(others, room->outside));
}

/**
 * llcg_footprint_bound - memory up to which a group gains from sharing LLCs
 * @llc_bytes: the group's share of one LLC; lines that threads share are
 *	replicated in each, so more LLCs do not raise the bound
 * @tolerance: aggr_tolerance, with the meaning it has in mainline
 *
 * Return: bytes; 0 for tolerance 0, U64_MAX for LLCG_TOLERANCE_MAX.
 */
u64 llcg_footprint_bound(u64 llc_bytes, u32 tolerance)
{
	u64 factor;

	if (!tolerance)
		return 0;
	if (tolerance >= LLCG_TOLERANCE_MAX)
		return U64_MAX;
	factor = 1 + (u64)(tolerance - 1) * LLCG_TOLERANCE_STEP;

	return llc_bytes > U64_MAX / factor ? U64_MAX : llc_bytes * factor;
}

/*
 * Fails closed. A group that was refused must come 1/8 under the bound to be
 * admitted, so that one near it does not flip every epoch.
 */
static enum llcg_reason check_footprint(struct llcg_state *s,
					const struct llcg_inputs *in, u32 llc)
{
	u64 bound;

	in->footprint(in->ctx, llc, &s->footprint);
	bound = llcg_footprint_bound(s->footprint.llc_bytes, in->tolerance);
	s->bound_bytes = bound;
	if (!in->tolerance)
		return LLCG_REASON_TOLERANCE;
	if (!in->guarded || in->tolerance >= LLCG_TOLERANCE_MAX)
		return LLCG_REASON_PACKED;
	if (!s->footprint.known || !s->footprint.llc_bytes)
		return LLCG_REASON_NO_FOOTPRINT;
	if (s->decision.reason == LLCG_REASON_FOOTPRINT)
		bound -= bound / 8;

	return s->footprint.rss_bytes <= bound ? LLCG_REASON_PACKED :
						 LLCG_REASON_FOOTPRINT;
}

static u32 free_on(const struct llcg_inputs *in, u32 llc)
{
	struct llcg_room room;

	in->room(in->ctx, llc, &room);

	return llcg_free_capacity(&room);
}

/*
 * Occupancy counts only as far as others leave room for it, so a group turns
 * away from an LLC that they fill.
 */
static u32 useful_occupancy(const struct llcg_inputs *in,
			    const struct llcg_visit *visit)
{
	return min_t(u32, visit->occupancy, free_on(in, visit->llc));
}

/*
 * All that the group uses is taken by others: the nearest LLC with half a core
 * free, or where it is.
 */
static u32 nearest_free(const struct llcg_inputs *in, u32 from)
{
	u32 k;

	for (k = 0; k < in->topo->nr_llcs; k++) {
		u32 llc = llcg_topo_at(in->topo, from, k);

		if (free_on(in, llc) >= LLCG_CORE_CAPACITY / 2)
			return llc;
	}

	return from;
}

/*
 * Where the group would be best: the LLC that it occupies most, but the one it
 * is at unless another has twice the occupancy.
 */
static u32 best_preferred(const struct llcg_inputs *in, u32 old, bool fresh)
{
	u32 i, old_useful = 0, best_useful = 0, best = old;

	for (i = 0; i < in->nr_visits; i++) {
		u32 useful = useful_occupancy(in, &in->visits[i]);

		if (in->visits[i].llc == old)
			old_useful = useful;
		if (useful > best_useful) {
			best_useful = useful;
			best = in->visits[i].llc;
		}
	}

	if (!best_useful) {
		if (fresh && in->nr_visits)
			best = in->visits[0].llc;
		return nearest_free(in, best);
	}
	if (!fresh && best_useful < LLCG_SWITCH_FACTOR * old_useful)
		return old;

	return best;
}

/* The load of others comes and goes: another LLC must be better for some time. */
static u32 choose_preferred(struct llcg_state *s, const struct llcg_inputs *in)
{
	bool fresh = s->decision.reason == LLCG_REASON_NEW ||
		     s->decision.reason == LLCG_REASON_IDLE;
	u32 best = best_preferred(in, s->decision.pref, fresh);

	if (fresh || best == s->decision.pref)
		s->switch_epochs = 0;
	else if (++s->switch_epochs < LLCG_SWITCH_EPOCHS)
		return s->decision.pref;
	s->switch_epochs = 0;

	return best;
}

/*
 * The shortest leading part whose capacity holds the demand: as it is now, or
 * as it would be without the load of others, which comes and goes.
 */
static u32 needed_range(const struct llcg_inputs *in, u32 pref, bool ignore_load)
{
	u64 capacity = 0;
	u32 k;

	for (k = 0; k < in->topo->nr_llcs; k++) {
		struct llcg_room room;
		u64 slack;

		in->room(in->ctx, llcg_topo_at(in->topo, pref, k), &room);
		if (ignore_load)
			room.load = 0;
		capacity += llcg_free_capacity(&room);
		slack = min_t(u64, capacity >> LLCG_SLACK_SHIFT, LLCG_SLACK_MAX);
		if (capacity && capacity + slack >= in->demand)
			return k + 1;
	}

	return in->topo->nr_llcs;
}

static void reset_raise(struct llcg_state *s)
{
	s->raise_epochs = 0;
	s->raise_range = U16_MAX;
}

static void reset_lower(struct llcg_state *s)
{
	s->lower_epochs = 0;
	s->lower_range = 0;
}

/* Others are in the way: grow when they have been for some time. */
static u32 raise_range(struct llcg_state *s, u32 range, u32 needed)
{
	s->raise_range = min_t(u16, s->raise_range, needed);
	if (++s->raise_epochs < LLCG_SQUEEZE_EPOCHS)
		return range;
	range = s->raise_range;
	reset_raise(s);

	return range;
}

/* Shrink when less has been enough for long. */
static u32 lower_range(struct llcg_state *s, u32 range, u32 needed)
{
	s->lower_range = max_t(u16, s->lower_range, needed);
	if (++s->lower_epochs < LLCG_SHRINK_EPOCHS)
		return range;
	range = s->lower_range;
	reset_lower(s);

	return range;
}

/* Follows the group's own demand up at once, all else when it persists. */
static u32 settle_range(struct llcg_state *s, const struct llcg_inputs *in,
			u32 pref, bool anew)
{
	u32 range = s->decision.range;
	u32 own = needed_range(in, pref, true);
	u32 needed = needed_range(in, pref, false);

	if (anew || own > range) {
		reset_raise(s);
		reset_lower(s);
		return own;
	}
	if (needed >= range)
		reset_lower(s);
	if (needed <= range)
		reset_raise(s);
	if (needed > range)
		return raise_range(s, range, needed);
	if (needed < range)
		return lower_range(s, range, needed);

	return range;
}

static u32 first_not_full(const struct llcg_inputs *in, u32 pref)
{
	u32 k;

	for (k = 0; k + 1 < in->topo->nr_llcs; k++) {
		struct llcg_room room;

		in->room(in->ctx, llcg_topo_at(in->topo, pref, k), &room);
		if (!room.full && room.total)
			break;
	}

	return k;
}

/**
 * llcg_decide - a group's decision for the next epoch
 * @s: its state: the last decision in, the next one out
 * @in: what was measured
 *
 * The caller is the only writer of @s. Does not sleep or allocate;
 * O(visits + range), and O(LLCs) only while LLC after LLC is full.
 */
void llcg_decide(struct llcg_state *s, const struct llcg_inputs *in)
{
	union llcg_decision d = s->decision;
	u32 pref = choose_preferred(s, in);
	bool anew = !d.packed || pref != d.pref || in->refit;

	d.pref = pref;
	d.reason = check_footprint(s, in, pref);
	if (d.reason == LLCG_REASON_PACKED && in->machine_full)
		d.reason = LLCG_REASON_SATURATED;
	d.packed = d.reason == LLCG_REASON_PACKED;
	d.range = settle_range(s, in, pref, anew);
	d.spill = first_not_full(in, pref);
	s->decision = d;
}
