// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost: what operations of the scheduler's hot paths take. Meant for an emulated
 * machine whose clock counts instructions, where a nanosecond is one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	10

static void die(const char *what)
{
	fprintf(stderr, "cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* A byte to and fro, between this thread and whoever echoes. */
struct pipes {
	int there[2];
	int back[2];
};

static void open_pipes(struct pipes *p)
{
	if (pipe(p->there) || pipe(p->back))
		die("pipe");
}

static void echo(const struct pipes *p)
{
	char c;

	while (read(p->there[0], &c, 1) == 1 && c)
		if (write(p->back[1], &c, 1) != 1)
			die("write");
}

static void round_trips(const struct pipes *p, int n)
{
	char c = 1;

	while (n--)
		if (write(p->there[1], &c, 1) != 1 || read(p->back[0], &c, 1) != 1)
			die("round trip");
}

static void stop_echo(const struct pipes *p)
{
	char c = 0;

	if (write(p->there[1], &c, 1) != 1)
		die("write");
}

static struct pipes pipes;
static pthread_t peer;
static pid_t peer_pid;

static void *echo_fn(void *arg)
{
	if (arg)
		pin((intptr_t)arg - 1);
	echo(&pipes);

	return NULL;
}

static void pipe_begin(void)
{
	open_pipes(&pipes);
	peer_pid = fork();
	if (peer_pid < 0)
		die("fork");
	if (!peer_pid) {
		echo(&pipes);
		_exit(0);
	}
}

static void pipe_end(void)
{
	stop_echo(&pipes);
	waitpid(peer_pid, NULL, 0);
}

static void pipe_run(int n)
{
	round_trips(&pipes, n);
}

static void start_peer(void *(*fn)(void *), int cpu)
{
	if (pthread_create(&peer, NULL, fn, (void *)(intptr_t)(cpu + 1)))
		die("pthread_create");
}

/* Two threads of a process, on the CPUs of two LLCs. */
static void cross_begin(void)
{
	open_pipes(&pipes);
	pin(0);
	start_peer(echo_fn, 1);
}

static void cross_end(void)
{
	stop_echo(&pipes);
	pthread_join(peer, NULL);
}

/* The same, free to run where the scheduler puts them. */
static void threads_begin(void)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	open_pipes(&pipes);
	start_peer(echo_fn, -1);
}

static int turn;

static void futex(int op, int value)
{
	syscall(SYS_futex, &turn, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void hand_over(int from, int to)
{
	__atomic_store_n(&turn, to, __ATOMIC_SEQ_CST);
	futex(FUTEX_WAKE, 1);
	while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != from) {
		if (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) < 0)
			return;
		futex(FUTEX_WAIT, to);
	}
}

static void *futex_fn(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != 1)
		futex(FUTEX_WAIT, 0);
	while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) >= 0)
		hand_over(1, 0);

	return NULL;
}

static void futex_begin(void)
{
	turn = 0;
	start_peer(futex_fn, -1);
}

static void futex_run(int n)
{
	while (n--)
		hand_over(0, 1);
}

static void futex_end(void)
{
	__atomic_store_n(&turn, -1, __ATOMIC_SEQ_CST);
	futex(FUTEX_WAKE, 1);
	pthread_join(peer, NULL);
}

static void fork_run(int n)
{
	while (n--) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static char *self;

static void exec_run(int n)
{
	while (n--) {
		pid_t pid = vfork();

		if (pid < 0)
			die("vfork");
		if (!pid) {
			execl(self, self, "-x", NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
}

static void *nothing(void *arg)
{
	return arg;
}

static void create_run(int n)
{
	while (n--) {
		start_peer(nothing, -1);
		pthread_join(peer, NULL);
	}
}

static const struct bench {
	const char *name;
	int repeat;
	void (*begin)(void);
	void (*run)(int n);
	void (*end)(void);
} benches[] = {
	{ "pipe", 2000, pipe_begin, pipe_run, pipe_end },
	{ "futex", 2000, futex_begin, futex_run, futex_end },
	{ "fork+exit", 500, NULL, fork_run, NULL },
	{ "exec", 200, NULL, exec_run, NULL },
	{ "thread", 1000, NULL, create_run, NULL },
	{ "pipe-cross", 2000, cross_begin, pipe_run, cross_end },
	{ "pipe-threads", 2000, threads_begin, pipe_run, cross_end },
};

enum {
	NR_BENCHES = sizeof(benches) / sizeof(*benches),
};

static void usage(FILE *to)
{
	int i;

	fputs("Usage: cost NAME...\n"
	      "Nanoseconds an operation takes, least of 10 rounds, and by how many per cent\n"
	      "the second least is more: instructions under icount with shift 0. Runs on\n"
	      "CPU 0 but for pipe-cross (two threads on CPUs 0 and 1) and pipe-threads (two\n"
	      "threads that run anywhere). NAME is one of:", to);
	for (i = 0; i < NR_BENCHES; i++)
		fprintf(to, " %s", benches[i].name);
	fputc('\n', to);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct bench *b)
{
	double cost[ROUNDS];
	int i;

	pin(0);
	if (b->begin)
		b->begin();
	b->run(b->repeat / 4);
	for (i = 0; i < ROUNDS; i++) {
		int64_t start = now_ns();

		b->run(b->repeat);
		cost[i] = (double)(now_ns() - start) / b->repeat;
	}
	if (b->end)
		b->end();
	qsort(cost, ROUNDS, sizeof(*cost), compare);
	printf("%s %.1f %.3f\n", b->name, cost[0],
	       (cost[1] / cost[0] - 1) * 100);
	fflush(stdout);
}

static const struct bench *find(const char *name)
{
	int i;

	for (i = 0; i < NR_BENCHES; i++)
		if (!strcmp(benches[i].name, name))
			return &benches[i];

	return NULL;
}

int main(int argc, char **argv)
{
	int i;

	self = "/proc/self/exe";
	if (argc == 2 && !strcmp(argv[1], "-x"))
		return 0;
	if (argc == 2 && !strcmp(argv[1], "-h")) {
		usage(stdout);
		return 0;
	}
	for (i = 1; i < argc; i++)
		if (!find(argv[i])) {
			fprintf(stderr, "cost: no benchmark %s\n", argv[i]);
			usage(stderr);
			return 2;
		}
	if (argc < 2) {
		fprintf(stderr, "cost: NAME is missing\n");
		usage(stderr);
		return 2;
	}
	for (i = 1; i < argc; i++)
		measure(find(argv[i]));

	return 0;
}
