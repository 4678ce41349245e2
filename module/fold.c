// SPDX-License-Identifier: GPL-2.0-only
/*
 * Once an epoch, what a group's threads left in its slots becomes a decision.
 */
#include <linux/hugetlb.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "llc_gran.h"

#include <trace/events/llc_gran.h>

/* After so many windows without one, no thread may run anywhere it likes. */
#define LLCG_ALLOWED_EPOCHS	(4 * LLCG_WINDOW_EPOCHS)

struct fold {
	struct llcg_group *g;
	struct task_struct *p;
	u32 epoch;
};

static bool may_run_anywhere(const struct llcg_group *g, u32 epoch)
{
	return llcg_age(epoch, READ_ONCE(g->all_epoch)) < LLCG_ALLOWED_EPOCHS;
}

/* Whether the threads have just been set free, or restricted. */
static bool affinity_changed(struct llcg_group *g, u32 epoch)
{
	bool anywhere = may_run_anywhere(g, epoch);
	bool changed = anywhere != g->anywhere;

	g->anywhere = anywhere;

	return changed;
}

/* Affinity as the threads last seen have it: gathered over some windows. */
static void turn_allowed(struct llcg_group *g, u32 epoch)
{
	if (llcg_age(epoch, g->allowed_epoch) < LLCG_ALLOWED_EPOCHS)
		return;
	cpumask_copy(g->allowed, g->allowed_next);
	cpumask_clear(g->allowed_next);
	g->allowed_epoch = epoch;
}

static void tell_room(void *ctx, u32 llc, struct llcg_room *room)
{
	const struct fold *f = ctx;
	const struct llcg_group *g = f->g;
	const struct llcg_llc *l = &g->machine->llcs[llc];
	const struct llcg_slot *slot = g->slots[llc];
	u32 load = llcg_ring_sum(&l->load, f->epoch), own = 0, claims;
	u32 capacity = READ_ONCE(l->capacity), allowed = capacity;

	if (slot)
		own = llcg_ring_sum(&slot->load, f->epoch);
	claims = max(atomic_read(&l->claims), 0);
	claims -= min(claims, g->claims[llc]);

	if (!g->anywhere)
		allowed = min(llcg_topology_capacity(l, g->allowed), capacity);
	room->total = allowed * llcg_get(LLCG_FILL_PCT) / 100;
	room->outside = capacity - allowed;
	room->claims = claims;
	room->load = load - min(load, own);
	room->full = load > capacity + (capacity >> LLCG_SLACK_SHIFT);
}

static void tell_footprint(void *ctx, u32 llc, struct llcg_footprint *fp)
{
	const struct fold *f = ctx;
	struct mm_struct *mm = f->p->mm;
	u64 pages = get_mm_rss(mm);

#ifdef CONFIG_HUGETLB_PAGE
	pages += atomic_long_read(&mm->hugetlb_usage);
#endif
	fp->rss_bytes = pages << PAGE_SHIFT;
	fp->llc_bytes = f->g->machine->llcs[llc].size_bytes;
	fp->known = true;
}

static void drop_claims(struct llcg_group *g)
{
	u32 k;

	for (k = 0; k < g->claimed; k++) {
		u32 llc = llcg_topo_at(g->machine->topo, g->claimed_pref, k);

		atomic_sub(g->claims[llc], &g->machine->llcs[llc].claims);
		g->claims[llc] = 0;
	}
	g->claimed = 0;
}

/* Claims are what the group means to use of each LLC of its range. */
static void stake_claims(struct fold *f)
{
	struct llcg_group *g = f->g;
	union llcg_decision d = g->state.decision;
	u32 left = g->demand, k;

	drop_claims(g);
	if (!d.packed)
		return;
	for (k = 0; k < d.range && left; k++) {
		u32 llc = llcg_topo_at(g->machine->topo, d.pref, k);
		struct llcg_room room;
		u32 claim;

		tell_room(f, llc, &room);
		claim = min(llcg_free_capacity(&room), left);
		atomic_add(claim, &g->machine->llcs[llc].claims);
		g->claims[llc] = claim;
		left -= claim;
	}
	g->claimed_pref = d.pref;
	g->claimed = k;
}

/* Decays occupancy by half an epoch and forgets LLCs not run on for long. */
static void gather(struct fold *f, u32 epochs, u64 elapsed_ns)
{
	struct llcg_group *g = f->g;
	u32 timeout = llcg_get(LLCG_AFFINITY_TIMEOUT_EPOCHS), i = 0;

	g->demand = 0;
	while (i < g->nr_visits) {
		struct llcg_slot *slot = g->slots[g->visits[i].llc];
		u64 ran = atomic64_xchg(&slot->runtime_ns, 0);
		u64 used = mul_u64_u64_div_u64(ran, LLCG_CORE_CAPACITY, elapsed_ns);

		slot->occupancy = slot->occupancy >> min(epochs, 31U);
		slot->occupancy += min_t(u64, used, U32_MAX) / 2;
		if (ran)
			slot->last_epoch = f->epoch;
		if (llcg_age(f->epoch, slot->last_epoch) > timeout) {
			WRITE_ONCE(slot->listed, false);
			g->visits[i] = g->visits[--g->nr_visits];
			continue;
		}
		g->visits[i].occupancy = slot->occupancy;
		g->demand += llcg_ring_sum(&slot->load, f->epoch);
		i++;
	}
	llcg_stat_add(LLCG_STAT_LLCS_SCANNED, i);
}

static void decide(struct fold *f)
{
	struct llcg_group *g = f->g;
	struct llcg_inputs in = {
		.topo = g->machine->topo,
		.visits = g->visits,
		.nr_visits = g->nr_visits,
		.demand = g->demand,
		.machine_full = READ_ONCE(g->machine->full),
		.refit = affinity_changed(g, f->epoch),
		.guarded = llcg_get(LLCG_FOOTPRINT_GUARD),
		.tolerance = llcg_get(LLCG_AGGR_TOLERANCE),
		.room = tell_room,
		.footprint = tell_footprint,
		.ctx = f,
	};
	union llcg_decision old = g->state.decision;

	llcg_decide(&g->state, &in);
	if (old.reason != g->state.decision.reason)
		trace_llcg_guard(g, old.reason);
	WRITE_ONCE(g->decision.word, g->state.decision.word);
}

/**
 * llcg_fold - make a group's decision for the coming epoch
 * @g: the group
 * @p: current, one of its threads
 * @epoch: now
 * @now_ns: likewise
 *
 * From the tick, interrupts off, inside an RCU read section. Does nothing if
 * another thread does it or has done it in this epoch. O(LLCs visited + range).
 */
void llcg_fold(struct llcg_group *g, struct task_struct *p, u32 epoch,
	       u64 now_ns)
{
	struct fold f = { .g = g, .p = p, .epoch = epoch };
	u64 elapsed_ns;
	u32 epochs;

	if (READ_ONCE(g->folded_epoch) == epoch || !raw_spin_trylock(&g->lock))
		return;
	epochs = llcg_age(epoch, g->folded_epoch);
	elapsed_ns = now_ns - g->folded_ns;
	if (!g->dropped && epochs && (s64)elapsed_ns > 0) {
		g->folded_epoch = epoch;
		g->folded_ns = now_ns;
		g->nr_threads = get_nr_threads(p);
		g->tgid = p->tgid;
		strscpy(g->comm, p->group_leader->comm, sizeof(g->comm));
		turn_allowed(g, epoch);
		gather(&f, epochs, elapsed_ns);
		decide(&f);
		stake_claims(&f);
		atomic_set(&g->pushes, 0);
		atomic_set(&g->searches, 0);
		llcg_stat_add(LLCG_STAT_FOLDS, 1);
		trace_llcg_group(g);
	}
	raw_spin_unlock(&g->lock);
}

/**
 * llcg_fold_idle - a group that is not seen any more lets go
 * @g: the group
 * @drop: it is about to be freed: a thread that found it before must not claim
 *	anything again
 *
 * Its preference and claims end; its next thread to run starts anew. May be
 * called with interrupts on, from the worker only.
 */
void llcg_fold_idle(struct llcg_group *g, bool drop)
{
	raw_spin_lock_irq(&g->lock);
	g->dropped = drop;
	drop_claims(g);
	g->state.decision.reason = LLCG_REASON_IDLE;
	g->state.decision.packed = 0;
	WRITE_ONCE(g->decision.word, g->state.decision.word);
	raw_spin_unlock_irq(&g->lock);
}
