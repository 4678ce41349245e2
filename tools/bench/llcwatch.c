// SPDX-License-Identifier: GPL-2.0-only
/*
 * llcwatch: run a program and note on which LLCs its threads run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watch.h"

struct options {
	int period_ms;
	int seconds;
	const char *output;
	char **command;
};

static void usage(FILE *to)
{
	fputs("Usage: llcwatch -o FILE [-p MS] [-s N] COMMAND...\n"
	      "Runs COMMAND, notes in FILE on which LLCs its threads run, and ends it.\n"
	      "  -o FILE  where to\n"
	      "  -p MS    time between two looks, 1 to 10000 (25)\n"
	      "  -s N     seconds to watch, 1 to 3600 (4)\n"
	      "FILE begins with a line 'llc NUMBER NODE' for each LLC and 'cpu NUMBER LLC'\n"
	      "for each CPU. 'begin MS' is when COMMAND began on the monotonic clock, and a\n"
	      "line 'at MS RSS_KIB N N N...' for each look follows: how many threads were\n"
	      "running, or waiting to, on each LLC.\n", to);
}

static int number(const char *text, int min, int max, char option)
{
	int n;

	if (watch_number(text, min, max, &n)) {
		fprintf(stderr, "llcwatch: -%c %s is not from %d to %d\n", option,
			text, min, max);
		usage(stderr);
		exit(2);
	}

	return n;
}

static void parse(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt(argc, argv, "+o:p:s:h")) != -1) {
		switch (c) {
		case 'o':
			o->output = optarg;
			break;
		case 'p':
			o->period_ms = number(optarg, 1, 10000, c);
			break;
		case 's':
			o->seconds = number(optarg, 1, 3600, c);
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	o->command = argv + optind;
	if (!o->output || !*o->command) {
		fprintf(stderr, "llcwatch: %s is missing\n",
			o->output ? "COMMAND" : "-o FILE");
		usage(stderr);
		exit(2);
	}
}

static void write_machine(const struct watch_machine *m, FILE *f)
{
	int cpu, llc = 0;

	for (cpu = 0; cpu < m->nr_cpus; cpu++)
		if (m->llc[cpu] == llc)
			fprintf(f, "llc %d %d\n", llc++, m->node[cpu]);
	for (cpu = 0; cpu < m->nr_cpus; cpu++)
		fprintf(f, "cpu %d %d\n", cpu, m->llc[cpu]);
}

static long rss_kib(pid_t pid)
{
	long pages = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	fclose(f);

	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void write_look(const struct watch *w, int64_t at_ms, FILE *f)
{
	int llc;

	fprintf(f, "at %lld %ld", (long long)at_ms, rss_kib(w->pid));
	for (llc = 0; llc < w->machine->nr_llcs; llc++)
		fprintf(f, " %d", watch_llc_threads(w, llc));
	fputc('\n', f);
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		execvp(command[0], command);
		fprintf(stderr, "llcwatch: cannot run %s: %s\n", command[0],
			strerror(errno));
		_exit(127);
	}

	return pid;
}

/* Returns the status of a command that ended by itself, or 0. */
static int watch_all(struct watch *w, const struct options *o, FILE *f)
{
	int64_t begin = watch_now_ms(), at = 0, next;
	int status;

	fprintf(f, "begin %lld\n", (long long)begin);
	while (at < o->seconds * 1000) {
		next = at - at % o->period_ms + o->period_ms;
		usleep((next - at) * 1000);
		at = watch_now_ms() - begin;
		if (waitpid(w->pid, &status, WNOHANG) == w->pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		if (!watch_sample(w))
			write_look(w, at, f);
	}
	kill(-w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);

	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { .period_ms = 25, .seconds = 4 };
	static struct watch_machine m;
	static struct watch w;
	int status;
	FILE *f;

	parse(argc, argv, &o);
	if (watch_machine_read(&m)) {
		fprintf(stderr, "llcwatch: this kernel tells no caches\n");
		return 1;
	}
	f = fopen(o.output, "we");
	if (!f) {
		fprintf(stderr, "llcwatch: cannot write %s: %s\n", o.output,
			strerror(errno));
		return 1;
	}
	write_machine(&m, f);
	w.machine = &m;
	w.pid = start(o.command);
	if (w.pid < 0) {
		perror("llcwatch: fork");
		return 1;
	}
	status = watch_all(&w, &o, f);
	if (fclose(f)) {
		fprintf(stderr, "llcwatch: cannot write %s\n", o.output);
		return 1;
	}

	return status;
}
