/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LLCG_FAKE_H
#define _LLCG_FAKE_H

/*
 * A machine behind the callbacks of llcg_decide(): arrays that a test fills.
 */
#include "unit.h"

#define FAKE_MAX_LLCS	1024
#define CORE		LLCG_CORE_CAPACITY
#define MIB		(1024ULL * 1024)

/**
 * struct fake - a machine with one group
 * @machine: what @topo was made of
 * @topo: its sequences
 * @rooms: what each LLC offers
 * @llc_bytes: the group's share of each LLC
 * @rss_bytes: the group's memory
 * @rss_known: it could be read
 * @visits: where the group runs
 * @in: inputs of the next epoch
 * @s: state of the group
 * @room_calls: calls of room() in the last epoch
 * @footprint_calls: likewise of footprint()
 */
struct fake {
	struct unit_machine *machine;
	struct llcg_topo *topo;
	struct llcg_room rooms[FAKE_MAX_LLCS];
	u64 llc_bytes[FAKE_MAX_LLCS];
	u64 rss_bytes;
	bool rss_known;
	struct llcg_visit visits[FAKE_MAX_LLCS];
	struct llcg_inputs in;
	struct llcg_state s;
	u32 room_calls;
	u32 footprint_calls;
};

/*
 * A fresh group that runs nowhere, without demand, and fits: 1 MiB of memory,
 * LLCs of 32 MiB with @cores cores each. Takes @m.
 */
struct fake *fake_new(struct unit_machine *m, u32 cores);
void fake_free(struct fake *f);
/* The group is seen to use @occupancy of @llc. */
void fake_visit(struct fake *f, u32 llc, u32 occupancy);
/* One epoch; checks what must hold after any. */
union llcg_decision fake_epoch(struct fake *f);
union llcg_decision fake_epochs(struct fake *f, u32 nr);

#endif /* _LLCG_FAKE_H */
