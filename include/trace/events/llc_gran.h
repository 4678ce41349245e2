/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM llc_gran

#if !defined(_TRACE_LLC_GRAN_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LLC_GRAN_H

#include <linux/tracepoint.h>

struct llcg_group;

/* An epoch's decision for a group, and what it was made from. */
TRACE_EVENT(llcg_group,

	TP_PROTO(const struct llcg_group *g),

	TP_ARGS(g),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(int,	tgid)
		__field(int,	threads)
		__field(u32,	visited)
		__field(u32,	demand)
		__field(u32,	pref)
		__field(u32,	range)
		__field(u32,	spill)
		__field(u64,	rss_bytes)
		__field(u64,	bound_bytes)
		__string(reason, llcg_reason_name(g->decision.reason))
	),

	TP_fast_assign(
		memcpy(__entry->comm, g->comm, TASK_COMM_LEN);
		__entry->tgid = g->tgid;
		__entry->threads = g->nr_threads;
		__entry->visited = g->nr_visits;
		__entry->demand = g->demand;
		__entry->pref = g->decision.pref;
		__entry->range = g->decision.range;
		__entry->spill = g->decision.spill;
		__entry->rss_bytes = g->state.footprint.rss_bytes;
		__entry->bound_bytes = g->state.bound_bytes;
		llcg_assign_str(reason, llcg_reason_name(g->decision.reason));
	),

	TP_printk("comm=%s tgid=%d threads=%d visited=%u demand=%u pref=%u range=%u spill=%u rss=%llu bound=%llu reason=%s",
		  __entry->comm, __entry->tgid, __entry->threads,
		  __entry->visited, __entry->demand, __entry->pref,
		  __entry->range, __entry->spill, __entry->rss_bytes,
		  __entry->bound_bytes, __get_str(reason))
);

/* A group began or ceased to be aggregated. */
TRACE_EVENT(llcg_guard,

	TP_PROTO(const struct llcg_group *g, u32 old_reason),

	TP_ARGS(g, old_reason),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(int,	tgid)
		__field(u64,	rss_bytes)
		__field(u64,	bound_bytes)
		__string(from,	llcg_reason_name(old_reason))
		__string(to,	llcg_reason_name(g->state.decision.reason))
	),

	TP_fast_assign(
		memcpy(__entry->comm, g->comm, TASK_COMM_LEN);
		__entry->tgid = g->tgid;
		__entry->rss_bytes = g->state.footprint.rss_bytes;
		__entry->bound_bytes = g->state.bound_bytes;
		llcg_assign_str(from, llcg_reason_name(old_reason));
		llcg_assign_str(to, llcg_reason_name(g->state.decision.reason));
	),

	TP_printk("comm=%s tgid=%d rss=%llu bound=%llu from=%s to=%s",
		  __entry->comm, __entry->tgid, __entry->rss_bytes,
		  __entry->bound_bytes, __get_str(from), __get_str(to))
);

/* The answer about a move of one task, where it is not the default one. */
TRACE_EVENT(llcg_can_migrate,

	TP_PROTO(const struct sched_policy_move *mv, struct llcg_verdict v,
		 union llcg_decision d),

	TP_ARGS(mv, v, d),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(int,	pid)
		__field(int,	src_cpu)
		__field(int,	dst_cpu)
		__field(u32,	pref)
		__field(u32,	range)
		__field(u8,	path)
		__field(u8,	answer)
		__string(why,	llcg_why_name(v.why))
	),

	TP_fast_assign(
		memcpy(__entry->comm, mv->p->comm, TASK_COMM_LEN);
		__entry->pid = mv->p->pid;
		__entry->src_cpu = mv->src_cpu;
		__entry->dst_cpu = mv->dst_cpu;
		__entry->pref = d.pref;
		__entry->range = d.range;
		__entry->path = mv->path;
		__entry->answer = v.answer;
		llcg_assign_str(why, llcg_why_name(v.why));
	),

	TP_printk("comm=%s pid=%d src_cpu=%d dst_cpu=%d pref=%u range=%u path=%s answer=%s why=%s",
		  __entry->comm, __entry->pid, __entry->src_cpu,
		  __entry->dst_cpu, __entry->pref, __entry->range,
		  __print_symbolic(__entry->path, { 0, "pull" },
				   { 1, "active" }, { 2, "numa" }),
		  __print_symbolic(__entry->answer, { 0, "default" },
				   { 1, "allow" }, { 2, "deny" }),
		  __get_str(why))
);

/* A running thread is sent to an idle CPU of its group's range. */
TRACE_EVENT(llcg_push,

	TP_PROTO(const struct task_struct *p, int src_cpu, int dst_cpu,
		 union llcg_decision d),

	TP_ARGS(p, src_cpu, dst_cpu, d),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(int,	pid)
		__field(int,	src_cpu)
		__field(int,	dst_cpu)
		__field(u32,	pref)
		__field(u32,	range)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->src_cpu = src_cpu;
		__entry->dst_cpu = dst_cpu;
		__entry->pref = d.pref;
		__entry->range = d.range;
	),

	TP_printk("comm=%s pid=%d src_cpu=%d dst_cpu=%d pref=%u range=%u",
		  __entry->comm, __entry->pid, __entry->src_cpu,
		  __entry->dst_cpu, __entry->pref, __entry->range)
);

#endif /* _TRACE_LLC_GRAN_H */

#include <trace/define_trace.h>
