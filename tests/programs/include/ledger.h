/*
 * What a task of the chaos test writes down: one file for each task, one line for each thing that it
 * did or was told, written before the next thing is done. Who is killed leaves what it wrote. The judge
 * (tests/src/chaos/judge.rs) compares the files.
 *
 *	task NAME TID PID HOST RUN ROLE		its first line
 *	sent TID EPOCH N SUM			the N-th message to the task with that tid (EPOCH: how many of that
 *						tid it has seen die), written before the call
 *	unsent TID EPOCH N			the call has refused that one
 *	got NAME EPOCH N SUM			a message, from whom
 *	asked KIND TID, told KIND TID		notify
 *	accept UNIT, wrong UNIT			a result of a farm
 *	enter N TIME, leave N TIME		a barrier
 *	settled					all has come that was to come
 *	over WHY				it ends by itself, before that
 */
#ifndef LEDGER_H
#define LEDGER_H

#include "check.h"

#include <fcntl.h>
#include <stdarg.h>
#include <time.h>

enum { LIST = 1, WORK, RESULT, RING, JOINED, GO, FINISH, EXITED = 900, DELETED, ADDED };

#define PEERS 256
#define LONGEST 400000

/* A task that this one talks with. */
struct peer {
	int tid, epoch, next;
	int gone, finished;
};

/* A message of another task, or what the machine told. */
struct heard {
	int tag, tid, length, number;
	unsigned sum;
};

static int book = -1;
static char my_name[64];
static const char *folder;
static struct peer peers[PEERS];
static int peer_count;
static char *content;
static unsigned long long random_state;

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static unsigned draw(unsigned below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(random_state >> 33) % below;
}

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	char line[256];
	va_list values;

	va_start(values, format);
	int length = vsnprintf(line, sizeof line - 1, format, values);
	va_end(values);
	line[length++] = '\n';
	CHECK(write(book, line, (size_t)length) == length);
}

static void open_ledger(const char *run, const char *role)
{
	char path[512], host[128];
	int me = pvm_mytid();
	long long born = now();

	CHECK(me > 0);
	gethostname(host, sizeof host);
	snprintf(my_name, sizeof my_name, "%x.%llx", me, born);
	snprintf(path, sizeof path, "%s/%s.log", folder, my_name);
	book = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	CHECK(book >= 0);
	note("task %s %x %d %s %s %s", my_name, me, (int)getpid(), host, run, role);
	random_state = (unsigned long long)born ^ (unsigned)me;
	content = malloc(LONGEST);
	CHECK(content != NULL);
}

/* Ends before the others, for a reason. */
static void __attribute__((noreturn)) end_early(const char *why)
{
	note("over %s", why);
	pvm_exit();
	_exit(0);
}

/* The test puts up a file when something is to be done by all. */
static int is_up(const char *sign)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, sign);
	return access(path, F_OK) == 0;
}

static struct peer *find_peer(int tid)
{
	for (int i = 0; i < peer_count; i++)
		if (peers[i].tid == tid)
			return peers + i;
	return NULL;
}

/* Another task that lives, as far as this one knows; asks to be told of its end. */
static void know(int tid)
{
	struct peer *peer = find_peer(tid);

	if (peer == NULL) {
		CHECK(peer_count < PEERS);
		peer = peers + peer_count++;
		*peer = (struct peer){ .tid = tid };
	}
	peer->gone = peer->finished = 0;
	note("asked exit %x", tid);
	OK(pvm_notify(PvmTaskExit, EXITED, 1, &tid));
}

static int is_there(int tid)
{
	struct peer *peer = find_peer(tid);

	return peer != NULL && !peer->gone;
}

static unsigned sum_of(const char *data, int length)
{
	unsigned sum = 2166136261u;

	for (int i = 0; i < length; i++)
		sum = (sum ^ (unsigned char)data[i]) * 16777619u;
	return sum;
}

/* Most messages are short. */
static int some_length(void)
{
	unsigned which = draw(128);

	return (int)draw(which == 0 ? LONGEST : which < 8 ? 60000 : 2000);
}

static void make_content(int length)
{
	for (int i = 0; i < length; i += 4) {
		unsigned word = draw(1u << 31);
		memcpy(content + i, &word, length - i < 4 ? (size_t)(length - i) : 4);
	}
}

/* Sends what lies in `content`; false when the call refuses. */
static int tell(int tid, int tag, int number, int length)
{
	struct peer *peer = find_peer(tid);
	unsigned sum = sum_of(content, length);

	CHECK(peer != NULL);
	CHECK(pvm_initsend(number % 2 ? PvmDataDefault : PvmDataRaw) > 0);
	OK(pvm_pkstr(my_name));
	OK(pvm_pkint(&peer->epoch, 1, 1));
	OK(pvm_pkint(&peer->next, 1, 1));
	OK(pvm_pkint(&number, 1, 1));
	OK(pvm_pkint(&length, 1, 1));
	OK(pvm_pkbyte(content, length, 1));
	note("sent %x %d %d %u", tid, peer->epoch, peer->next, sum);
	int info = pvm_send(tid, tag);
	if (info < 0) {
		note("unsent %x %d %d %d", tid, peer->epoch, peer->next, info);
		return 0;
	}
	peer->next++;
	return 1;
}

/* A notice: one tid, after the count of them for hosts that are new. */
static void hear_notice(struct heard *heard)
{
	int count;

	if (heard->tag == ADDED)
		OK(pvm_upkint(&count, 1, 1));
	OK(pvm_upkint(&heard->tid, 1, 1));
	note("told %s %x", heard->tag == EXITED ? "exit" : heard->tag == DELETED ? "delete" : "add", heard->tid);
	struct peer *peer = heard->tag == EXITED ? find_peer(heard->tid) : NULL;
	if (peer != NULL) {
		peer->gone = 1;
		peer->epoch++;
		peer->next = 0;
	}
}

/* Takes in the next message, for so long; false when none has come. */
static int listen_for(struct heard *heard, long microseconds)
{
	struct timeval time = { microseconds / 1000000, microseconds % 1000000 };
	char from[64];
	int epoch, n, bufid = pvm_trecv(-1, -1, &time);

	if (bufid == 0)
		return 0;
	if (bufid < 0)
		end_early("receiving failed");
	OK(pvm_bufinfo(bufid, NULL, &heard->tag, &heard->tid));
	if (is_up("leave"))
		return 1;
	if (heard->tag >= EXITED) {
		hear_notice(heard);
		return 1;
	}
	OK(pvm_upkstr(from));
	OK(pvm_upkint(&epoch, 1, 1));
	OK(pvm_upkint(&n, 1, 1));
	OK(pvm_upkint(&heard->number, 1, 1));
	OK(pvm_upkint(&heard->length, 1, 1));
	CHECK(heard->length >= 0 && heard->length <= LONGEST);
	OK(pvm_upkbyte(content, heard->length, 1));
	heard->sum = sum_of(content, heard->length);
	note("got %s %d %d %u", from, epoch, n, heard->sum);
	struct peer *peer = find_peer(heard->tid);
	if (peer != NULL && heard->tag == FINISH)
		peer->finished = 1;
	return 1;
}

/* Whether all that live have said that no more comes. */
static int all_finished(void)
{
	for (int i = 0; i < peer_count; i++)
		if (!peers[i].gone && !peers[i].finished)
			return 0;
	return 1;
}

/* Says to all that no more comes, takes in what still comes, and stays until all leave. */
static void settle(void)
{
	struct heard heard;

	for (int i = 0; i < peer_count; i++)
		if (!peers[i].gone)
			tell(peers[i].tid, FINISH, 0, 0);
	while (!all_finished() && !is_up("leave"))
		listen_for(&heard, 100000);
	if (all_finished())
		note("settled");
	while (!is_up("leave"))
		listen_for(&heard, 100000);
	pvm_exit();
}

#endif
