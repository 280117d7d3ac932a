/* Many names of several processes: `containers_names I OF COUNT` binds COUNT names, and then looks those of the next up. */
#include "check.h"

#include <containers.h>
#include <time.h>

enum { AT_ONCE = 10000, ROOM = 32 };

static char text[AT_ONCE][ROOM];
static const char *names[AT_ONCE];
static const ch_container *containers[AT_ONCE];
static ch_representative *found[AT_ONCE];

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The names of a process from a number on; how many. */
static int list(int process, int from, int count)
{
	int some = count - from < AT_ONCE ? count - from : AT_ONCE;

	for (int i = 0; i < some; i++) {
		snprintf(text[i], ROOM, "process %d, name %d", process, from + i);
		names[i] = text[i];
	}
	return some;
}

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	int me = atoi(argv[1]), next = (me + 1) % atoi(argv[2]), count = atoi(argv[3]), task = 0, some;
	ch_container *c = ch_container_create(NULL, 0, 0);
	CHECK(c != NULL);
	for (int i = 0; i < AT_ONCE; i++)
		containers[i] = c;

	double began = seconds();
	for (int from = 0; from < count; from += some) {
		some = list(me, from, count);
		GIVES(0, ch_bind_many(names, containers, some));
	}
	SAY("bound in %.2f s", seconds() - began);
	await_test();
	began = seconds();
	for (int from = 0; from < count; from += some) {
		some = list(next, from, count);
		GIVES(some, ch_lookup_many(names, some, 0, found));
		for (int i = 0; i < some; i++) {
			CHECK(task == 0 || ch_task(found[i]) == task);
			task = ch_task(found[i]);
			GIVES(0, ch_release(found[i]));
		}
	}
	CHECK(task != 0 && task != ch_my_task());
	/* They are taken, whoever asks. */
	GIVES(CH_ENAMETAKEN, ch_bind(text[0], c));
	SAY("found in %.2f s", seconds() - began);
	await_test();
	GIVES(0, ch_container_destroy(c));
	return 0;
}
