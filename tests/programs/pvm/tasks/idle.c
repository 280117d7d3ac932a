/*
 * The memory that a pair of tasks shares: little when it has exchanged a few short messages, as much as
 * it needs while it is busy, little again when it is idle, and none when the other has died.
 */
#include "check.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

enum { PING = 1, PONG, LONG = 1 << 20, SELDOM = 12 << 10, IDLE = 64 << 10 };

/* Memory that was not used for so many seconds may be given back, REST in the library's waits.rs; less than that, for what is around. */
#define REST 0.3

static char *data, *back;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Bytes in the memory of all pairs of this task. */
static long shared(void)
{
	DIR *descriptors = opendir("/proc/self/fd");
	long bytes = 0;

	CHECK(descriptors != NULL);
	for (struct dirent *entry; (entry = readdir(descriptors)) != NULL;) {
		char path[300], target[300];
		struct stat state;

		snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
		ssize_t length = readlink(path, target, sizeof target - 1);
		target[length < 0 ? 0 : length] = 0;
		if (strstr(target, "parvum-segment") != NULL && stat(path, &state) == 0)
			bytes += state.st_blocks * 512L;
	}
	closedir(descriptors);
	return bytes;
}

static void fill(int length, int seed)
{
	for (int i = 0; i < length; i++)
		data[i] = (char)(i * 7 + i / 4099 + seed);
}

/* There and back; what comes back must be what was sent. */
static void exchange(int tid, int length, int seed, int pause)
{
	fill(length, seed);
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkint(&length, 1, 1));
	OK(pvm_pkint(&pause, 1, 1));
	OK(pvm_pkbyte(data, length, 1));
	OK(pvm_send(tid, PING));
	hear(tid, PONG);
	OK(pvm_upkbyte(back, length, 1));
	CHECK(memcmp(data, back, length) == 0);
}

static int echo(void)
{
	int parent = pvm_parent(), length, pause;

	for (;;) {
		CHECK(pvm_recv(parent, PING) > 0);
		OK(pvm_upkint(&length, 1, 1));
		OK(pvm_upkint(&pause, 1, 1));
		OK(pvm_upkbyte(data, length, 1));
		/* So that its peer sleeps in each round, which must not cost the pair its memory. */
		if (pause > 0)
			usleep(pause);
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkbyte(data, length, 1));
		OK(pvm_send(parent, PONG));
	}
}

/* Waits for nothing, as a task does that has nothing to do, until the memory is little. */
static void await_little(void)
{
	struct timeval while_idle = { 0, 100000 };

	for (int i = 0; shared() > IDLE; i++) {
		CHECK(i < 100);
		GIVES(0, pvm_trecv(-1, PONG, &while_idle));
	}
}

int main(int argc, char **argv)
{
	int tid;
	long before, least;

	data = malloc(LONG);
	back = malloc(LONG);
	CHECK(pvm_mytid() > 0);
	if (argc > 1)
		return echo();
	copies(argv[0], "echo", 1, &tid);
	for (int i = 0; i < 20; i++)
		exchange(tid, 8 + 40 * i, i, 0);
	before = shared();
	/* The page that both begin in, and one for each direction's longer messages. */
	CHECK(before > 0 && before <= SELDOM);
	for (int round = 0; round < 2; round++) {
		/* More than the ring holds in all, and never ahead. */
		for (int i = 0; i < 600; i++)
			exchange(tid, 2000, i, 0);
		CHECK(round > 0 || shared() <= SELDOM);
		for (int i = 0; i < 30; i++)
			exchange(tid, LONG, i, 0);
		CHECK(shared() >= 2 * LONG);
		await_little();
	}
	SAY("short %ld idle %ld", before, shared());
	/* Who sleeps before each message, and never for long, keeps it. A round that a busy machine has drawn out says nothing. */
	exchange(tid, LONG, 1, 0);
	least = 2 * LONG;
	for (int i = 0; i < 20; i++) {
		double begun = now();

		exchange(tid, LONG, i, 100000);
		if (now() - begun < REST)
			least = shared() < least ? shared() : least;
		else
			exchange(tid, LONG, i, 0);
	}
	GIVES(2 * LONG, least);
	OK(pvm_kill(tid));
	ends(1);
	GIVES(0, shared());
	OK(pvm_exit());
	return 0;
}
