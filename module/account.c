// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting: where tasks run and what they would use. All that runs for every
 * slice of every fair task is here.
 */
#include <linux/math64.h>

#include "llc_gran.h"

/*
 * The epoch, one for the whole machine, so that rings of LLCs and of groups
 * hold contributions of the same time and can be subtracted. Written by the CPU
 * whose tick finds that it is over.
 */
static struct {
	atomic_t now;
	u64 started_ns;
} llcg_epoch ____cacheline_aligned_in_smp;

/**
 * llcg_epoch_now - the current epoch
 *
 * Any context. Wraps; compare by difference.
 */
u32 llcg_epoch_now(void)
{
	return atomic_read(&llcg_epoch.now);
}

/**
 * llcg_epoch_restart - make every earlier contribution of a task void
 *
 * What tasks remember of their last contribution names an LLC of the machine at
 * that time, maybe under an earlier load of the module. Milliseconds of uptime
 * run ahead of epochs, so that no such epoch comes again soon.
 */
void llcg_epoch_restart(void)
{
	u32 uptime_ms = div_u64(ktime_get_ns(), NSEC_PER_MSEC);
	u32 after = llcg_epoch_now() + 2 * LLCG_WINDOW_EPOCHS;

	if ((s32)(uptime_ms - after) > 0)
		after = uptime_ms;
	atomic_set(&llcg_epoch.now, after);
}

/**
 * llcg_epoch_advance - begin the next epoch if this one is over
 * @now_ns: scheduler clock
 *
 * Called from ticks of all CPUs at once.
 *
 * Return: whether this call began it.
 */
bool llcg_epoch_advance(u64 now_ns)
{
	u64 started = READ_ONCE(llcg_epoch.started_ns);
	u64 period = (u64)llcg_get(LLCG_EPOCH_PERIOD_MS) * NSEC_PER_MSEC;

	if ((s64)(now_ns - started) < (s64)period)
		return false;
	if (cmpxchg64(&llcg_epoch.started_ns, started, now_ns) != started)
		return false;
	atomic_inc(&llcg_epoch.now);

	return true;
}

/*
 * The bucket after the newest is always clear, so that the first CPU of an epoch
 * and others that follow it at once need not wait for each other: clearing
 * begins one bucket ahead of where they add. Only a ring that was left alone
 * for longer clears buckets that may be in use already.
 */
static void ring_advance(struct llcg_ring *ring, u32 epoch)
{
	u32 old = READ_ONCE(ring->epoch), n, i;

	if ((s32)(epoch - old) <= 0)
		return;
	if (cmpxchg(&ring->epoch, old, epoch) != old)
		return;
	n = min_t(u32, epoch - old, LLCG_RING_BUCKETS);
	for (i = 0; i < n; i++)
		atomic_set(&ring->bucket[(epoch + 1 - i) % LLCG_RING_BUCKETS], 0);
}

static void ring_add(struct llcg_ring *ring, u32 epoch, int amount)
{
	atomic_add(amount, &ring->bucket[epoch % LLCG_RING_BUCKETS]);
}

/**
 * llcg_ring_sum - demand of all tasks that ran in the window
 * @ring: the ring
 * @epoch: now
 *
 * Any context; O(1).
 *
 * Return: capacity.
 */
u32 llcg_ring_sum(const struct llcg_ring *ring, u32 epoch)
{
	u32 newest = READ_ONCE(ring->epoch), age = llcg_age(epoch, newest), i;
	int sum = 0;

	/* What the ring has not been advanced over is empty, or too old. */
	for (i = age; i < LLCG_WINDOW_EPOCHS; i++)
		sum += atomic_read(&ring->bucket[(newest - (i - age)) %
						 LLCG_RING_BUCKETS]);

	return max(sum, 0);
}

/* A task's last contribution, in one word. */
struct contribution {
	u32 epoch;
	u16 llc;
	u16 amount:15;
	u16 in_group:1;
};

static struct contribution unpack(u64 word)
{
	return (struct contribution){
		.epoch = word,
		.llc = word >> 32,
		.amount = (word >> 48) & 0x7fff,
		.in_group = word >> 63,
	};
}

static u64 pack(struct contribution c)
{
	return c.epoch | (u64)c.llc << 32 | (u64)c.amount << 48 |
	       (u64)c.in_group << 63;
}

static void take_back(struct llcg_machine *m, struct llcg_group *g,
		      struct contribution c, u32 epoch)
{
	struct llcg_slot *slot;

	if (llcg_age(epoch, c.epoch) >= LLCG_WINDOW_EPOCHS || c.llc >= m->nr_llcs)
		return;
	ring_add(&m->llcs[c.llc].load, c.epoch, -c.amount);
	if (!g || !c.in_group)
		return;
	/* The group may be a new one since, that has not been there. */
	slot = READ_ONCE(g->slots[c.llc]);
	if (slot)
		ring_add(&slot->load, c.epoch, -c.amount);
}

static void contribute(struct task_struct *p, struct llcg_machine *m, u32 llc,
		       u32 epoch)
{
	struct llcg_group *g = llcg_group_find(p->sched_policy[LLCG_TASK_COOKIE]);
	struct llcg_slot *slot = g ? READ_ONCE(g->slots[llc]) : NULL;
	struct contribution c = {
		.epoch = epoch,
		.llc = llc,
		.amount = min_t(unsigned long, p->se.avg.runnable_avg,
				LLCG_CORE_CAPACITY),
		.in_group = !!slot,
	};

	take_back(m, g, unpack(p->sched_policy[LLCG_TASK_LAST]), epoch);
	ring_advance(&m->llcs[llc].load, epoch);
	ring_add(&m->llcs[llc].load, epoch, c.amount);
	if (slot) {
		ring_advance(&slot->load, epoch);
		ring_add(&slot->load, epoch, c.amount);
		atomic64_add(p->sched_policy[LLCG_TASK_PENDING_NS],
			     &slot->runtime_ns);
	}
	p->sched_policy[LLCG_TASK_LAST] = pack(c);
	p->sched_policy[LLCG_TASK_PENDING_NS] = 0;
}

/**
 * llcg_account - hook: a fair task ran
 * @p: the task, not necessarily current
 * @cpu: where
 * @delta_ns: for how long
 *
 * Under @cpu's rq lock, which protects the task's words. O(1): a few
 * instructions, and a look-up once an epoch and task. Time is credited to the
 * LLC where the task runs when the epoch changes, which is at most an epoch
 * off.
 */
void llcg_account(struct task_struct *p, int cpu, u64 delta_ns)
{
	u32 epoch = llcg_epoch_now();
	struct llcg_machine *m;
	u32 llc;

	p->sched_policy[LLCG_TASK_PENDING_NS] += delta_ns;
	if ((u32)p->sched_policy[LLCG_TASK_LAST] == epoch)
		return;

	m = rcu_dereference(llcg_machine);
	if (!m || !llcg_get(LLCG_ENABLED))
		return;
	llc = m->cpu_llc[cpu];
	if (llc != LLCG_NO_LLC)
		contribute(p, m, llc, epoch);
}
