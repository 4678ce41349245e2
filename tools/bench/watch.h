/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LLCG_WATCH_H
#define _LLCG_WATCH_H

/*
 * Where the threads of a process run, seen from outside: /proc is sampled, the
 * process does not know, and nothing of llc_gran is needed, so that kernels
 * with and without it are measured alike.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WATCH_MAX_CPUS		1024
#define WATCH_MAX_THREADS	1024

/**
 * struct watch_machine - CPUs by last-level cache and node
 * @nr_cpus: highest online CPU + 1
 * @nr_llcs: LLCs
 * @nr_nodes: nodes with CPUs
 * @llc: LLC of each CPU, numbered in the order of their lowest CPUs; -1 offline
 * @node: node of each CPU
 * @first_of_core: whether the CPU is the first of its core
 */
struct watch_machine {
	int nr_cpus;
	int nr_llcs;
	int nr_nodes;
	int llc[WATCH_MAX_CPUS];
	int node[WATCH_MAX_CPUS];
	bool first_of_core[WATCH_MAX_CPUS];
};

/**
 * struct watch_thread - a thread across samples
 * @tid: its id
 * @cpu: where it was last, -1 if not seen
 * @running: it ran or waited to run
 */
struct watch_thread {
	pid_t tid;
	int cpu;
	bool running;
};

/**
 * struct watch - a process being sampled
 * @machine: where
 * @pid: the process
 * @skip: a thread that is not looked at, or 0
 * @nr_threads: threads in @threads
 * @threads: those of the last sample
 * @llcs: LLCs with a running thread in the last sample
 * @nodes: nodes likewise
 * @moves: moves of a thread to another LLC, since the first sample
 */
struct watch {
	const struct watch_machine *machine;
	pid_t pid;
	pid_t skip;
	int nr_threads;
	struct watch_thread threads[WATCH_MAX_THREADS];
	int llcs;
	int nodes;
	long moves;
};

int watch_machine_read(struct watch_machine *m);
int watch_sample(struct watch *w);
void watch_count(struct watch *w);
int watch_llc_threads(const struct watch *w, int llc);
int64_t watch_now_ms(void);
int watch_number(const char *text, int min, int max, int *n);

#endif /* _LLCG_WATCH_H */
