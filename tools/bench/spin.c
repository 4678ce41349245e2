// SPDX-License-Identifier: GPL-2.0-only
/*
 * spin: busy threads that share one array are scattered over all LLCs, then set
 * free; where do they go, and how soon do they stay?
 *
 * A child process has the threads; this one pins them, frees them, and samples
 * where they run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watch.h"

#define MAX_PROCS	16
#define SAMPLE_MS	10
#define SCATTER_MS	1000
#define ARRAY_WORDS	(64 * 1024)
#define LINE_WORDS	(64 / sizeof(long))

/*
 * Shared with a child. Threads say themselves where they are: reading /proc
 * takes so much time on a slow machine that it would be part of the load.
 */
struct shared {
	volatile int ready;
	struct {
		pid_t tid;
		volatile int cpu;
	} threads[WATCH_MAX_THREADS];
};

struct options {
	int threads;
	int procs;
	int seconds;
	int hog_after_ms;
	int ideal;
	int stream_mib;
	bool trail;
	bool in_place;
	bool bare;
};

static struct shared *shared[MAX_PROCS];
/* What a child's threads share. */
static long *array;
static size_t array_words = ARRAY_WORDS;
static int nr_threads;

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: spin [OPTION...]\n"
		"Busy threads, scattered over all LLCs and then set free.\n"
		"  -t N   threads a process, 1 to %d (2)\n"
		"  -p N   processes, 1 to %d (1)\n"
		"  -s N   seconds to watch, 2 to 600 (12)\n"
		"  -i N   LLCs that would do, for 'settled' (threads over cores of LLC 0)\n"
		"  -H MS  so long after the threads are free, a pinned busy process joins\n"
		"         the CPU of one of them (never)\n"
		"  -f     free from the start: threads are not scattered\n"
		"  -m MIB walk through an array of so much memory, line by line (reads\n"
		"         and writes 512 KiB at random)\n"
		"  -b     only be the process with the threads, and watch nothing\n"
		"  -v     print the LLCs of every thread ten times a second\n"
		"One line a process: threads, LLCs and nodes on average over the second\n"
		"half, when it settled on -i LLCs for good (ms, -1 never), moves of a\n"
		"thread to another LLC in all and in the second half, and the LLCs at the\n"
		"end. With -H, how long the hog's CPU was shared (ms, -1 to the end).\n",
		WATCH_MAX_THREADS / MAX_PROCS, MAX_PROCS);
}

static int number(const char *text, int min, int max, char option)
{
	int n;

	if (watch_number(text, min, max, &n)) {
		fprintf(stderr, "spin: -%c %s is not from %d to %d\n", option,
			text, min, max);
		usage(stderr);
		exit(2);
	}

	return n;
}

static void *stream(void *arg)
{
	unsigned int n = (uintptr_t)arg, round;
	size_t i = array_words / nr_threads * n / LINE_WORDS * LINE_WORDS;
	struct shared *sh = shared[0];

	sh->threads[n].tid = syscall(SYS_gettid);
	__atomic_add_fetch(&sh->ready, 1, __ATOMIC_SEQ_CST);
	for (round = 0;; round++) {
		array[i]++;
		i = i + LINE_WORDS < array_words ? i + LINE_WORDS : 0;
		if (!(round & 0xff))
			sh->threads[n].cpu = sched_getcpu();
	}

	return NULL;
}

static void *spin(void *arg)
{
	unsigned int n = (uintptr_t)arg, i = n, round;
	struct shared *sh = shared[0];
	long sum = 0;

	sh->threads[n].tid = syscall(SYS_gettid);
	__atomic_add_fetch(&sh->ready, 1, __ATOMIC_SEQ_CST);
	for (round = 0;; round++) {
		i = i * 1664525 + 1013904223;
		sum += array[i % ARRAY_WORDS];
		if (round & 0xff)
			continue;
		array[(i >> 8) % ARRAY_WORDS] = sum;
		sh->threads[n].cpu = sched_getcpu();
	}

	return NULL;
}

/* The child: busy threads, of which the main thread is none. */
static void child(struct shared *sh, const struct options *o)
{
	void *(*fn)(void *) = o->stream_mib ? stream : spin;
	pthread_attr_t attr;
	int i;

	shared[0] = sh;
	nr_threads = o->threads;
	if (o->stream_mib)
		array_words = (size_t)o->stream_mib * (1024 * 1024) / sizeof(*array);
	array = mmap(NULL, array_words * sizeof(*array), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (array == MAP_FAILED) {
		perror("spin: mmap");
		_exit(1);
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (i = 0; i < nr_threads; i++) {
		pthread_t t;

		if (pthread_create(&t, &attr, fn, (void *)(uintptr_t)i)) {
			perror("spin: pthread_create");
			_exit(1);
		}
	}
	for (;;)
		pause();
}

static void pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		perror("spin: sched_setaffinity");
}

/*
 * Thread @n of process @p goes to the LLC after next but some, so that
 * neighbours are far apart, and to another CPU of it each time round. The step
 * of 5 is prime to the numbers of LLCs that machines have.
 */
static int scatter_cpu(const struct watch_machine *m, int n, int p)
{
	int step = m->nr_llcs % 5 ? 5 : 1, round = n / m->nr_llcs;
	int llc = (n * step + p) % m->nr_llcs, cpu, seen = 0, weight = 0;

	for (cpu = 0; cpu < m->nr_cpus; cpu++)
		weight += m->llc[cpu] == llc;
	for (cpu = 0; cpu < m->nr_cpus; cpu++)
		if (m->llc[cpu] == llc && seen++ == round % weight)
			return cpu;

	return 0;
}

static pid_t start_hog(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(0, cpu);
		for (;;)
			;
	}

	return pid;
}

struct result {
	double llcs, nodes;
	int64_t unsettled_ms;
	long moves, moves_half;
	int samples, started;
};

static void print_trail(const struct watch *w, int64_t at_ms)
{
	int llc;

	printf("%6lld ms ", (long long)at_ms);
	for (llc = 0; llc < w->machine->nr_llcs; llc++)
		printf(" %2d", watch_llc_threads(w, llc));
	printf("  %d LLCs\n", w->llcs);
}

static void print_result(const struct watch *w, const struct result *r,
			 const struct options *o, int64_t hog_ms)
{
	int64_t settled = r->unsettled_ms + SAMPLE_MS;
	const char *comma = "";
	int llc;

	if (settled > o->seconds * 1000 - 100)
		settled = -1;
	printf("threads=%d llcs=%.2f nodes=%.2f ideal=%d settled_ms=%lld moves=%ld moves_half=%ld",
	       o->threads, r->llcs / r->samples, r->nodes / r->samples, o->ideal,
	       (long long)settled, r->moves, r->moves_half);
	if (o->hog_after_ms)
		printf(" hog_shared_ms=%lld", (long long)hog_ms);
	printf(" at=");
	for (llc = 0; llc < w->machine->nr_llcs; llc++)
		if (watch_llc_threads(w, llc)) {
			printf("%s%d", comma, llc);
			comma = ",";
		}
	printf("\n");
	fflush(stdout);
}

static void note(struct result *r, struct watch *w, int64_t at_ms,
		 const struct options *o)
{
	if (w->llcs > o->ideal)
		r->unsettled_ms = at_ms;
	r->moves = w->moves;
	if (at_ms * 2 < o->seconds * INT64_C(1000)) {
		r->moves_half = w->moves;
		return;
	}
	r->llcs += w->llcs;
	r->nodes += w->nodes;
	r->samples++;
}

static bool shares_cpu(const struct watch *w, int cpu)
{
	int i;

	for (i = 0; i < w->nr_threads; i++)
		if (w->threads[i].cpu == cpu)
			return true;

	return false;
}

static void sample(struct watch *w, const struct shared *sh, bool first)
{
	const struct watch_machine *m = w->machine;
	int i;

	for (i = 0; i < w->nr_threads; i++) {
		int cpu = sh->threads[i].cpu, before = w->threads[i].cpu;

		w->threads[i].tid = sh->threads[i].tid;
		w->threads[i].cpu = cpu;
		w->threads[i].running = true;
		w->moves += !first && m->llc[before] != m->llc[cpu];
	}
	watch_count(w);
}

static void watch_all(struct watch *ws, struct options *o)
{
	static struct result r[MAX_PROCS];
	int64_t start = watch_now_ms(), at = 0, trail = 0, hog_ms = -1;
	int p, hog_cpu = -1;
	pid_t hog = 0;

	while (at < o->seconds * 1000) {
		usleep(SAMPLE_MS * 1000);
		at = watch_now_ms() - start;
		for (p = 0; p < o->procs; p++) {
			sample(&ws[p], shared[p], !r[p].started++);
			note(&r[p], &ws[p], at, o);
			if (o->trail && at >= trail)
				print_trail(&ws[p], at);
		}
		if (at >= trail)
			trail = at + 100;
		if (o->hog_after_ms && !hog && at >= o->hog_after_ms) {
			hog_cpu = ws[0].threads[ws[0].nr_threads - 1].cpu;
			hog = start_hog(hog_cpu);
		}
		if (hog && shares_cpu(&ws[0], hog_cpu))
			hog_ms = at - o->hog_after_ms;
	}
	if (hog) {
		kill(hog, SIGKILL);
		waitpid(hog, NULL, 0);
		if (hog_ms >= at - o->hog_after_ms - 10 * SAMPLE_MS)
			hog_ms = -1;
	}
	for (p = 0; p < o->procs; p++) {
		r[p].moves_half = r[p].moves - r[p].moves_half;
		print_result(&ws[p], &r[p], o, hog_ms);
	}
}

static void parse(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt(argc, argv, "t:p:s:i:H:m:bfvh")) != -1) {
		switch (c) {
		case 't':
			o->threads = number(optarg, 1, WATCH_MAX_THREADS / MAX_PROCS, c);
			break;
		case 'p':
			o->procs = number(optarg, 1, MAX_PROCS, c);
			break;
		case 's':
			o->seconds = number(optarg, 2, 600, c);
			break;
		case 'i':
			o->ideal = number(optarg, 1, WATCH_MAX_CPUS, c);
			break;
		case 'H':
			o->hog_after_ms = number(optarg, 1, 600000, c);
			break;
		case 'm':
			o->stream_mib = number(optarg, 1, 1048576, c);
			break;
		case 'b':
			o->bare = true;
			break;
		case 'f':
			o->in_place = true;
			break;
		case 'v':
			o->trail = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "spin: unknown argument %s\n", argv[optind]);
		usage(stderr);
		exit(2);
	}
}

static void free_threads(const struct watch_machine *m, struct shared *sh, int nr)
{
	cpu_set_t all;
	int i, cpu;

	CPU_ZERO(&all);
	for (cpu = 0; cpu < m->nr_cpus; cpu++)
		CPU_SET(cpu, &all);
	for (i = 0; i < nr; i++)
		sched_setaffinity(sh->threads[i].tid, sizeof(all), &all);
}

static struct shared *share(void)
{
	void *p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("spin: mmap");
		exit(1);
	}

	return p;
}

static int start_process(const struct watch_machine *m, const struct options *o,
			 int p, struct watch *w)
{
	int i;

	shared[p] = share();
	w->machine = m;
	w->pid = fork();
	if (!w->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child(shared[p], o);
	}
	if (w->pid < 0)
		return -errno;
	w->nr_threads = o->threads;
	while (shared[p]->ready < o->threads) {
		if (waitpid(w->pid, NULL, WNOHANG))
			return -ECHILD;
		usleep(1000);
	}
	for (i = 0; !o->in_place && i < o->threads; i++)
		pin(shared[p]->threads[i].tid, scatter_cpu(m, i, p));

	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { .threads = 2, .procs = 1, .seconds = 12 };
	static struct watch ws[MAX_PROCS];
	static struct watch_machine m;
	int p, cpu, cores = 0;

	parse(argc, argv, &o);
	if (watch_machine_read(&m)) {
		fprintf(stderr, "spin: this kernel tells no caches\n");
		return 1;
	}
	for (cpu = 0; cpu < m.nr_cpus; cpu++)
		cores += m.llc[cpu] == 0 && m.first_of_core[cpu];
	if (o.bare)
		child(share(), &o);
	if (!o.ideal)
		o.ideal = (o.threads + cores - 1) / cores;

	for (p = 0; p < o.procs; p++)
		if (start_process(&m, &o, p, &ws[p])) {
			fprintf(stderr, "spin: cannot start process %d\n", p);
			return 1;
		}
	if (!o.in_place) {
		usleep(SCATTER_MS * 1000);
		for (p = 0; p < o.procs; p++)
			free_threads(&m, shared[p], o.threads);
	}
	watch_all(ws, &o);
	for (p = 0; p < o.procs; p++) {
		kill(ws[p].pid, SIGKILL);
		waitpid(ws[p].pid, NULL, 0);
	}

	return 0;
}
