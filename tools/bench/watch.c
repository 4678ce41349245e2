// SPDX-License-Identifier: GPL-2.0-only
/* Where the threads of a process run. See watch.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

static int read_text(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return -errno;
	n = fread(buf, 1, size - 1, f);
	fclose(f);
	buf[n] = '\0';

	return n ? 0 : -ENODATA;
}

/* The lowest CPU that shares the deepest cache of @cpu, or -1 if offline. */
static int llc_leader(int cpu)
{
	int index, leader = -1;
	char path[128], text[4096];

	for (index = 0; index < 8; index++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
			 cpu, index);
		if (read_text(path, text, sizeof(text)))
			break;
		leader = atoi(text);
	}

	return leader;
}

static bool is_first_of_core(int cpu)
{
	char path[128], text[4096];

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
		 cpu);

	return read_text(path, text, sizeof(text)) || atoi(text) == cpu;
}

static int node_of(int cpu)
{
	char path[128];
	DIR *dir;
	struct dirent *e;
	int node = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((e = readdir(dir)))
		if (sscanf(e->d_name, "node%d", &node) == 1)
			break;
	closedir(dir);

	return node;
}

/**
 * watch_machine_read - find the LLCs and nodes of this machine
 * @m: filled in
 *
 * Return: 0, or -ENODEV where the kernel tells no caches.
 */
int watch_machine_read(struct watch_machine *m)
{
	int cpu, leader, nr = sysconf(_SC_NPROCESSORS_CONF);

	memset(m, 0, sizeof(*m));
	for (cpu = 0; cpu < nr && cpu < WATCH_MAX_CPUS; cpu++) {
		m->llc[cpu] = -1;
		leader = llc_leader(cpu);
		if (leader < 0)
			continue;
		m->llc[cpu] = leader == cpu ? m->nr_llcs++ : m->llc[leader];
		m->node[cpu] = node_of(cpu);
		m->first_of_core[cpu] = is_first_of_core(cpu);
		if (m->node[cpu] >= m->nr_nodes)
			m->nr_nodes = m->node[cpu] + 1;
		m->nr_cpus = cpu + 1;
	}

	return m->nr_llcs ? 0 : -ENODEV;
}

/* State and CPU of a thread: fields 3 and 39 of its stat file. */
static int read_thread(pid_t pid, pid_t tid, char *state, int *cpu)
{
	char path[64], text[1024], *s;
	int field;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (read_text(path, text, sizeof(text)))
		return -ESRCH;
	/* The name may hold anything, a parenthesis as well. */
	s = strrchr(text, ')');
	if (!s || sscanf(s, ") %c", state) != 1)
		return -EINVAL;
	for (field = 3, s += 2; field < 39 && s; field++) {
		s = strchr(s, ' ');
		s = s ? s + 1 : NULL;
	}
	if (!s)
		return -EINVAL;
	*cpu = atoi(s);

	return 0;
}

static int last_cpu(const struct watch_thread *old, int nr, pid_t tid)
{
	int i;

	for (i = 0; i < nr; i++)
		if (old[i].tid == tid)
			return old[i].cpu;

	return -1;
}

/**
 * watch_count - LLCs and nodes in use, from @w->threads
 * @w: the process, each thread with its CPU; @w->llcs and @w->nodes are set
 */
void watch_count(struct watch *w)
{
	const struct watch_machine *m = w->machine;
	bool llc[WATCH_MAX_CPUS] = {}, node[WATCH_MAX_CPUS] = {};
	int i;

	w->llcs = 0;
	w->nodes = 0;
	for (i = 0; i < w->nr_threads; i++) {
		const struct watch_thread *t = &w->threads[i];

		if (!t->running || m->llc[t->cpu] < 0)
			continue;
		w->llcs += !llc[m->llc[t->cpu]];
		w->nodes += !node[m->node[t->cpu]];
		llc[m->llc[t->cpu]] = true;
		node[m->node[t->cpu]] = true;
	}
}

/**
 * watch_sample - look where all threads are now
 * @w: the process, and the last sample
 *
 * Return: 0, or -ESRCH when the process is gone.
 */
int watch_sample(struct watch *w)
{
	static struct watch_thread old[WATCH_MAX_THREADS];
	const struct watch_machine *m = w->machine;
	int nr_old = w->nr_threads;
	struct dirent *e;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", w->pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	memcpy(old, w->threads, nr_old * sizeof(*old));
	w->nr_threads = 0;
	while ((e = readdir(dir)) && w->nr_threads < WATCH_MAX_THREADS) {
		struct watch_thread *t = &w->threads[w->nr_threads];
		char state;
		int before;

		t->tid = atoi(e->d_name);
		if (!t->tid || t->tid == w->skip ||
		    read_thread(w->pid, t->tid, &state, &t->cpu))
			continue;
		t->running = state == 'R';
		before = last_cpu(old, nr_old, t->tid);
		if (before >= 0 && m->llc[before] != m->llc[t->cpu])
			w->moves++;
		w->nr_threads++;
	}
	closedir(dir);
	watch_count(w);

	return w->nr_threads ? 0 : -ESRCH;
}

/**
 * watch_llc_threads - running threads on an LLC in the last sample
 * @w: the process
 * @llc: the LLC
 */
int watch_llc_threads(const struct watch *w, int llc)
{
	int i, nr = 0;

	for (i = 0; i < w->nr_threads; i++)
		nr += w->threads[i].running &&
		      w->machine->llc[w->threads[i].cpu] == llc;

	return nr;
}

/**
 * watch_now_ms - monotonic time
 */
int64_t watch_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/**
 * watch_number - a number on a command line
 * @text: what was given
 * @min: lowest
 * @max: highest
 * @n: set on success
 *
 * Return: 0, -EINVAL for what is no number, -ERANGE.
 */
int watch_number(const char *text, int min, int max, int *n)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text)
		return -EINVAL;
	if (value < min || value > max)
		return -ERANGE;
	*n = value;

	return 0;
}
