// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: the state of processes with more than one thread.
 *
 * Tasks and mms carry a cookie, a table index and a generation; neither holds a
 * reference. A group is found by index and is the right one only if its
 * generation matches. A task whose cookie differs from its mm's has another mm
 * since, by exec; its next tick puts that right. So no hook at exec or exit is
 * needed, and nothing ever follows the mm of a task that is not current.
 *
 * Ticks run with interrupts off and must not allocate: they leave a request
 * with their CPU, and a work item makes the group, or its slot for an LLC.
 * Groups that are not seen any more are dropped by age.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "llc_gran.h"

enum {
	LLCG_INDEX_SHIFT	= 4,
	LLCG_INDEX_BITS		= 13,
	LLCG_MAX_GROUPS		= 1 << LLCG_INDEX_BITS,
	LLCG_GENERATION_SHIFT	= LLCG_INDEX_SHIFT + LLCG_INDEX_BITS,
	/* A group goes when it has been idle for so many timeouts. */
	LLCG_DROP_TIMEOUTS	= 4,
	LLCG_REAP_PERIOD_MS	= 100,
};

/* Written under llcg_groups_mutex, read under RCU. */
static struct llcg_group __rcu *groups[LLCG_MAX_GROUPS];
static DECLARE_BITMAP(used, LLCG_MAX_GROUPS);
static u64 generation;
/* Serialises making and dropping groups and slots. */
static DEFINE_MUTEX(llcg_groups_mutex);

static struct workqueue_struct *llcg_wq;

/**
 * struct llcg_request - what a CPU's tick asks the worker for
 * @node: in @requests while asked
 * @busy: from the tick's asking to the worker's answer
 * @mm: the process that needs a group or slot, pinned by mmgrab()
 * @llc: where it runs
 */
struct llcg_request {
	struct llist_node node;
	atomic_t busy;
	struct mm_struct *mm;
	u32 llc;
};

static DEFINE_PER_CPU(struct llcg_request, llcg_requests);
static LLIST_HEAD(requests);

static u32 cookie_index(u64 cookie)
{
	return (cookie >> LLCG_INDEX_SHIFT) & (LLCG_MAX_GROUPS - 1);
}

/**
 * llcg_group_find - the group a cookie stands for
 * @cookie: of a task or mm
 *
 * Inside an RCU read section; O(1).
 *
 * Return: the group, NULL if there is none or it has been dropped.
 */
struct llcg_group *llcg_group_find(u64 cookie)
{
	struct llcg_group *g;

	if (!cookie)
		return NULL;
	g = rcu_dereference(groups[cookie_index(cookie)]);

	return g && g->cookie == cookie ? g : NULL;
}

static void free_group(struct llcg_group *g)
{
	u32 i;

	for (i = 0; i < g->nr_slots; i++)
		kfree(g->slots[i]);
	free_cpumask_var(g->allowed);
	free_cpumask_var(g->allowed_next);
	kvfree(g->claims);
	kvfree(g->visits);
	kvfree(g);
}

static void free_group_rcu(struct rcu_head *rcu)
{
	free_group(container_of(rcu, struct llcg_group, rcu));
}

static struct llcg_group *alloc_group(struct llcg_machine *m)
{
	struct llcg_group *g;

	g = kvzalloc(struct_size(g, slots, m->nr_llcs), GFP_KERNEL);
	if (!g)
		return NULL;
	g->machine = m;
	g->nr_slots = m->nr_llcs;
	g->claims = kvcalloc(m->nr_llcs, sizeof(*g->claims), GFP_KERNEL);
	g->visits = kvcalloc(m->nr_llcs, sizeof(*g->visits), GFP_KERNEL);
	if (!g->claims || !g->visits ||
	    !zalloc_cpumask_var(&g->allowed, GFP_KERNEL) ||
	    !zalloc_cpumask_var(&g->allowed_next, GFP_KERNEL)) {
		free_group(g);
		return NULL;
	}
	raw_spin_lock_init(&g->lock);
	g->seen_epoch = llcg_epoch_now();
	g->all_epoch = g->seen_epoch;
	g->folded_epoch = g->seen_epoch;
	g->folded_ns = ktime_get_ns();
	g->state.decision.range = 1;
	g->decision = g->state.decision;

	return g;
}

/* Puts the cookie into the mm's word, whose low bits are not ours. */
static void publish_cookie(struct mm_struct *mm, u64 cookie)
{
	u64 old = atomic64_read(&mm->sched_policy);

	while (!atomic64_try_cmpxchg(&mm->sched_policy, (s64 *)&old,
				     cookie | (old & SCHED_POLICY_MM_INHERIT)))
		;
}

static struct llcg_group *create_group(struct mm_struct *mm,
				       struct llcg_machine *m)
{
	u32 index = find_first_zero_bit(used, LLCG_MAX_GROUPS);
	struct llcg_group *g;

	lockdep_assert_held(&llcg_groups_mutex);
	if (index == LLCG_MAX_GROUPS) {
		pr_warn_once("all %u groups are in use, further processes are left alone\n",
			     LLCG_MAX_GROUPS);
		llcg_stat_add(LLCG_STAT_GROUPS_REFUSED, 1);
		return NULL;
	}
	g = alloc_group(m);
	if (!g)
		return NULL;
	generation++;
	g->cookie = generation << LLCG_GENERATION_SHIFT |
		    (u64)index << LLCG_INDEX_SHIFT;
	__set_bit(index, used);
	rcu_assign_pointer(groups[index], g);
	publish_cookie(mm, g->cookie);
	llcg_stat_add(LLCG_STAT_GROUPS_CREATED, 1);

	return g;
}

static void add_slot(struct llcg_group *g, u32 llc)
{
	struct llcg_slot *slot = g->slots[llc];

	if (!slot) {
		slot = kzalloc(sizeof(*slot), GFP_KERNEL);
		if (!slot)
			return;
		slot->load.epoch = llcg_epoch_now();
		/* Readers on other CPUs must see it initialised. */
		smp_store_release(&g->slots[llc], slot);
	}

	raw_spin_lock_irq(&g->lock);
	if (!slot->listed) {
		slot->last_epoch = llcg_epoch_now();
		slot->occupancy = 0;
		slot->listed = true;
		g->visits[g->nr_visits++].llc = llc;
	}
	raw_spin_unlock_irq(&g->lock);
}

static void answer(struct llcg_request *rq)
{
	u64 cookie = atomic64_read(&rq->mm->sched_policy) & LLCG_COOKIE_MASK;
	struct llcg_machine *m;
	struct llcg_group *g;

	/* The mutex keeps the group, and the group its machine. */
	mutex_lock(&llcg_groups_mutex);
	rcu_read_lock();
	m = rcu_dereference(llcg_machine);
	g = llcg_group_find(cookie);
	rcu_read_unlock();
	if (m && !g)
		g = create_group(rq->mm, m);
	if (g && rq->llc < g->machine->nr_llcs)
		add_slot(g, rq->llc);
	mutex_unlock(&llcg_groups_mutex);
}

static void requests_work_fn(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&requests);
	struct llcg_request *rq, *next;

	llist_for_each_entry_safe(rq, next, list, node) {
		struct mm_struct *mm = rq->mm;

		answer(rq);
		atomic_set_release(&rq->busy, 0);
		mmdrop(mm);
	}
}

static DECLARE_WORK(requests_work, requests_work_fn);

static void request(struct mm_struct *mm, u32 llc)
{
	struct llcg_request *rq = this_cpu_ptr(&llcg_requests);

	if (atomic_cmpxchg_acquire(&rq->busy, 0, 1))
		return;
	mmgrab(mm);
	rq->mm = mm;
	rq->llc = llc;
	llist_add(&rq->node, &requests);
	queue_work(llcg_wq, &requests_work);
}

static bool has_slot(const struct llcg_group *g, u32 llc)
{
	const struct llcg_slot *slot = READ_ONCE(g->slots[llc]);

	return slot && READ_ONCE(slot->listed);
}

/**
 * llcg_group_of_current - the group of the task that the tick interrupted
 * @p: current, with an mm
 * @llc: where it runs
 *
 * Puts the task's cookie right, and asks for the group or slot that is missing;
 * they are there some ticks later. Interrupts off, inside an RCU read section;
 * O(1).
 *
 * Return: the group, or NULL.
 */
struct llcg_group *llcg_group_of_current(struct task_struct *p, u32 llc)
{
	u64 cookie = atomic64_read(&p->mm->sched_policy) & LLCG_COOKIE_MASK;
	struct llcg_group *g = llcg_group_find(cookie);

	/* Also when there is none: by exec the task has left another's. */
	if (!g)
		cookie = 0;
	if (p->sched_policy[LLCG_TASK_COOKIE] != cookie)
		WRITE_ONCE(p->sched_policy[LLCG_TASK_COOKIE], cookie);
	if (!g && get_nr_threads(p) < 2)
		return NULL;
	if (!g || !has_slot(g, llc))
		request(p->mm, llc);

	return g;
}

static void drop_group(struct llcg_group *g)
{
	u32 index = cookie_index(g->cookie);

	lockdep_assert_held(&llcg_groups_mutex);
	llcg_fold_idle(g, true);
	RCU_INIT_POINTER(groups[index], NULL);
	__clear_bit(index, used);
	call_rcu(&g->rcu, free_group_rcu);
	llcg_stat_add(LLCG_STAT_GROUPS_DROPPED, 1);
}

static struct llcg_group *group_at(u32 index)
{
	return rcu_dereference_protected(groups[index],
					 lockdep_is_held(&llcg_groups_mutex));
}

/**
 * llcg_groups_drop_all - forget every group
 *
 * Threads form them again at their ticks, if the module is still asked. May
 * sleep.
 */
void llcg_groups_drop_all(void)
{
	u32 i;

	mutex_lock(&llcg_groups_mutex);
	for_each_set_bit(i, used, LLCG_MAX_GROUPS)
		drop_group(group_at(i));
	mutex_unlock(&llcg_groups_mutex);
}

/* A group unseen for a timeout lets go of its claims, after more it is dropped. */
static void reap_work_fn(struct work_struct *work)
{
	u32 timeout = llcg_get(LLCG_AFFINITY_TIMEOUT_EPOCHS);
	u32 epoch = llcg_epoch_now(), i;
	bool enabled = llcg_get(LLCG_ENABLED);

	mutex_lock(&llcg_groups_mutex);
	for_each_set_bit(i, used, LLCG_MAX_GROUPS) {
		struct llcg_group *g = group_at(i);
		u32 age = llcg_age(epoch, READ_ONCE(g->seen_epoch));

		if (!enabled || age > LLCG_DROP_TIMEOUTS * timeout)
			drop_group(g);
		else if (age > timeout)
			llcg_fold_idle(g, false);
	}
	mutex_unlock(&llcg_groups_mutex);
	queue_delayed_work(llcg_wq, to_delayed_work(work),
			   msecs_to_jiffies(LLCG_REAP_PERIOD_MS));
}

static DECLARE_DELAYED_WORK(reap_work, reap_work_fn);

/**
 * llcg_groups_for_each - call a function with every group
 * @fn: may sleep
 * @ctx: passed to it
 *
 * May sleep; no group comes or goes meanwhile.
 *
 * Return: how many there are.
 */
u32 llcg_groups_for_each(void (*fn)(struct llcg_group *g, void *ctx), void *ctx)
{
	u32 i, nr = 0;

	mutex_lock(&llcg_groups_mutex);
	for_each_set_bit(i, used, LLCG_MAX_GROUPS) {
		nr++;
		if (fn)
			fn(group_at(i), ctx);
	}
	mutex_unlock(&llcg_groups_mutex);

	return nr;
}

/**
 * llcg_groups_init - be ready for the first tick
 *
 * Return: 0 or -ENOMEM.
 */
int llcg_groups_init(void)
{
	/* mms keep cookies across a reload: never give one out twice. */
	generation = get_random_u64() >> (LLCG_GENERATION_SHIFT + 1) | 1;
	llcg_wq = alloc_workqueue("llc_gran", WQ_UNBOUND, 0);
	if (!llcg_wq)
		return -ENOMEM;
	queue_delayed_work(llcg_wq, &reap_work, 0);

	return 0;
}

/**
 * llcg_groups_exit - drop all groups and wait for their memory
 *
 * No hook runs any more. May sleep.
 */
void llcg_groups_exit(void)
{
	cancel_delayed_work_sync(&reap_work);
	destroy_workqueue(llcg_wq);
	llcg_groups_drop_all();
	rcu_barrier();
}
