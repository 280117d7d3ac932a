/* Programs that hang at shared memory, each in its own way; who is about to says `ready`. `parvum why` shall know why. */
#include "tmk_check.h"
#include <time.h>

static void ready(void)
{
	printf("ready %u\n", Tmk_proc_id);
	fflush(stdout);
}

static void for_ever(void)
{
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int first, *data;

	Tmk_startup(argc, argv);
	first = Tmk_proc_id == 0;
	data = share(64);
	/* Two locks in two orders; the others come behind the first. */
	if (strcmp(what, "locks") == 0) {
		if (Tmk_proc_id < 2)
			Tmk_lock_acquire(1 + Tmk_proc_id);
		Tmk_barrier(1);
		ready();
		Tmk_lock_acquire(Tmk_proc_id == 0 ? 2 : 1);
	}
	/* The first holds a lock and computes; each of the others comes a little later than the one before. */
	if (strcmp(what, "queue") == 0) {
		struct timespec apart = {0, Tmk_proc_id * 300000000L};

		if (first)
			Tmk_lock_acquire(7);
		Tmk_barrier(1);
		nanosleep(&apart, NULL);
		ready();
		if (first)
			for_ever();
		Tmk_lock_acquire(7);
	}
	/* The last computes, all others wait for it. */
	if (strcmp(what, "barrier") == 0) {
		ready();
		if (Tmk_proc_id == Tmk_nprocs - 1)
			for_ever();
		Tmk_barrier(5);
	}
	/* The first leaves with a lock. */
	if (strcmp(what, "leaves") == 0) {
		if (first)
			Tmk_lock_acquire(3);
		Tmk_barrier(1);
		ready();
		if (first)
			Tmk_exit(0);
		Tmk_lock_acquire(3);
	}
	/* This one ends: faults, locks and barriers for a recording and for counts. With `stays` the first waits for a word first. */
	if (strncmp(what, "turns", 5) == 0) {
		int turn;

		for (turn = 0; turn < 20; turn++) {
			Tmk_lock_acquire(9);
			data[0]++;
			Tmk_lock_release(9);
			Tmk_barrier(6);
		}
		GIVES(20 * Tmk_nprocs, data[0]);
		ready();
		if (strcmp(what, "turns stay") == 0)
			for_ever();
	}
	all_well();
}
