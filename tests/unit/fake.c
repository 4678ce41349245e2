// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine behind the callbacks of llcg_decide(): see fake.h.
 */
#include "fake.h"

static void tell_room(void *ctx, u32 llc, struct llcg_room *room)
{
	struct fake *f = ctx;

	check(llc < f->topo->nr_llcs, "asked for the room of LLC %u", llc);
	f->room_calls++;
	*room = f->rooms[llc];
}

static void tell_footprint(void *ctx, u32 llc, struct llcg_footprint *fp)
{
	struct fake *f = ctx;

	check(llc < f->topo->nr_llcs, "asked for the share of LLC %u", llc);
	f->footprint_calls++;
	*fp = (struct llcg_footprint){
		.rss_bytes = f->rss_bytes,
		.llc_bytes = f->llc_bytes[llc],
		.known = f->rss_known,
	};
}

struct fake *fake_new(struct unit_machine *m, u32 cores)
{
	struct fake *f = calloc(1, sizeof(*f));
	u32 llc;

	check(f, "no memory");
	f->machine = m;
	f->topo = machine_topo(m);
	for (llc = 0; llc < m->nr_llcs; llc++) {
		f->rooms[llc].total = cores * CORE;
		f->llc_bytes[llc] = 32 * MIB;
	}
	f->rss_bytes = MIB;
	f->rss_known = true;
	f->in = (struct llcg_inputs){
		.topo = f->topo,
		.visits = f->visits,
		.guarded = true,
		.tolerance = 1,
		.room = tell_room,
		.footprint = tell_footprint,
		.ctx = f,
	};

	return f;
}

void fake_free(struct fake *f)
{
	llcg_topo_destroy(f->topo);
	machine_free(f->machine);
	free(f);
}

void fake_visit(struct fake *f, u32 llc, u32 occupancy)
{
	u32 i = 0;

	while (i < f->in.nr_visits && f->visits[i].llc != llc)
		i++;
	if (i == f->in.nr_visits)
		f->in.nr_visits++;
	f->visits[i] = (struct llcg_visit){ .llc = llc, .occupancy = occupancy };
}

static void check_decision(const struct fake *f)
{
	union llcg_decision d = f->s.decision;
	u32 nr = f->topo->nr_llcs;
	bool guarded = f->in.guarded && f->in.tolerance < LLCG_TOLERANCE_MAX;

	check(d.pref < nr, "preferred LLC %u of %u", d.pref, nr);
	check(d.range >= 1 && d.range <= nr, "range %u of %u", d.range, nr);
	check(d.spill < nr, "spill %u of %u", d.spill, nr);
	check(d.packed <= 1, "packed %u", d.packed);
	check(d.packed == (d.reason == LLCG_REASON_PACKED),
	      "packed %u, reason %s", d.packed, llcg_reason_name(d.reason));
	check(d.reason < LLCG_NR_REASONS && d.reason != LLCG_REASON_NEW &&
	      d.reason != LLCG_REASON_IDLE,
	      "reason %s", llcg_reason_name(d.reason));
	check(!d.packed || !f->in.machine_full, "packed on a full machine");
	check(!d.packed || f->in.tolerance, "packed with tolerance 0");
	check(!d.packed || !guarded || f->rss_known, "packed, memory unknown");
	check(!d.packed || !guarded || f->rss_bytes <= f->s.bound_bytes,
	      "packed with %llu bytes, bound %llu",
	      (unsigned long long)f->rss_bytes,
	      (unsigned long long)f->s.bound_bytes);
	check(f->s.footprint.llc_bytes == f->llc_bytes[d.pref],
	      "memory compared with a share of another LLC than %u", d.pref);
	check(f->footprint_calls == 1, "footprint() called %u times",
	      f->footprint_calls);
	/* Visits, a search for a free LLC, both ranges, and the spill. */
	check(f->room_calls <= 2 * f->in.nr_visits + 4 * nr, "room() called %u times",
	      f->room_calls);
}

union llcg_decision fake_epoch(struct fake *f)
{
	f->room_calls = 0;
	f->footprint_calls = 0;
	llcg_decide(&f->s, &f->in);
	check_decision(f);

	return f->s.decision;
}

union llcg_decision fake_epochs(struct fake *f, u32 nr)
{
	union llcg_decision d = f->s.decision;

	while (nr--)
		d = fake_epoch(f);

	return d;
}
