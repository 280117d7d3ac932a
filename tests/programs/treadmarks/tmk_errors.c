/* What is wrong ends the run, with a sentence. Which of it, the first argument says. */
#include "tmk_check.h"
#include <pvm3.h>
#include <signal.h>

/* Until a process has been stopped. */
static void await_stop(int process)
{
	char path[40], said[200];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", process);
	do {
		CHECK((file = fopen(path, "r")) != NULL && fgets(said, sizeof said, file) != NULL);
		fclose(file);
	} while (strstr(said, ") T ") == NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char *block, stack[4];
	int last;

	if (strcmp(what, "early") == 0)
		Tmk_distribute((char *)&shared_pointer, sizeof shared_pointer);
	if (strcmp(what, "early_lock") == 0)
		Tmk_lock_acquire(0);
	if (strcmp(what, "early_statistics") == 0) {
		struct Tmk_stat s;

		GIVES(-1, Tmk_statistics(&s));
		printf("none yet\n");
		return 0;
	}
	Tmk_startup(argc, argv);
	last = Tmk_proc_id == Tmk_nprocs - 1;
	if (strcmp(what, "twice") == 0)
		Tmk_startup(argc, argv);
	Tmk_barrier(0);
	if (strcmp(what, "leaves") == 0) {
		CHECK(pvm_mytid() > 0);
		GIVES(0, pvm_exit());
		Tmk_barrier(1);
	}
	if (strcmp(what, "lock") == 0 && last)
		Tmk_lock_acquire(TMK_NLOCKS);
	if (strcmp(what, "release_lock") == 0 && last)
		Tmk_lock_release(1u << 31);
	if (strcmp(what, "barrier") == 0 && last)
		Tmk_barrier(TMK_NBARRIERS);
	if (strcmp(what, "not_held") == 0 && last)
		Tmk_lock_release(3);
	if (strcmp(what, "held") == 0 && last) {
		Tmk_lock_acquire(3);
		Tmk_lock_acquire(3);
	}
	if (strcmp(what, "others") == 0) {
		if (last)
			Tmk_lock_acquire(3);
		Tmk_barrier(1);
		if (!last)
			Tmk_lock_release(3);
	}
	if (strcmp(what, "barriers") == 0)
		Tmk_barrier(last ? 7 : 5);
	if (strcmp(what, "free") == 0 && last)
		Tmk_free(stack);
	if (strcmp(what, "free_inside") == 0 && last)
		Tmk_free(Tmk_malloc(100) + 16);
	if (strcmp(what, "free_twice") == 0 && last) {
		block = Tmk_malloc(100);
		Tmk_free(block);
		Tmk_free(block);
	}
	if (strcmp(what, "stack") == 0 && last)
		Tmk_distribute(stack, sizeof stack);
	if (strcmp(what, "shared") == 0 && last)
		Tmk_distribute(Tmk_malloc(100), 100);
	if (strcmp(what, "negative") == 0 && last)
		Tmk_distribute((char *)&shared_pointer, -1);
	if (strcmp(what, "touch") == 0 && last)
		Tmk_touch(stack, sizeof stack, 1);
	if (strcmp(what, "overwrite") == 0 && last)
		Tmk_overwrite(stack, sizeof stack);
	if (strcmp(what, "home") == 0) {
		block = share(4 * Tmk_page_size);
		block[Tmk_page_size * Tmk_proc_id] = 1;
		Tmk_barrier(1);
		if (last)
			Tmk_home(block, 4 * Tmk_page_size);
	}
	if (strcmp(what, "type") == 0 && last)
		Tmk_reduce(stack, 1, 9, TMK_SUM);
	if (strcmp(what, "reduce_shared") == 0 && last)
		Tmk_reduce(Tmk_malloc(8), 1, TMK_INT, TMK_SUM);
	if (strcmp(what, "errexit") == 0 && last)
		Tmk_errexit("no luck %s, %d times", "today", 3);
	if (strcmp(what, "fault") == 0 && last)
		*(volatile char *)(size_t)64 = 1;
	if (strcmp(what, "sent") == 0 && last)
		raise(SIGSEGV);
	if (strcmp(what, "status") == 0 && last)
		Tmk_exit(3);
	if (strcmp(what, "die") == 0) {
		if (last) {
			printf("dies\n");
			fflush(stdout);
			pause();
		}
	}
	if (strcmp(what, "dies_alone") == 0 && last)
		raise(SIGKILL);
	if (strcmp(what, "die_holding") == 0) {
		if (last)
			Tmk_lock_acquire(9);
		Tmk_barrier(1);
		if (last) {
			printf("dies\n");
			fflush(stdout);
			pause();
		}
		Tmk_lock_acquire(9);
	}
	/* The last has a page open to write, and sleeps; of another host one wants what was written there by the neighbour of the last. */
	if (strcmp(what, "stops") == 0) {
		volatile int *page = share(Tmk_page_size), sleeper;

		page[Tmk_proc_id] = (int)getpid();
		if (Tmk_proc_id == Tmk_nprocs - 2)
			Tmk_lock_acquire(9);
		Tmk_barrier(1);
		sleeper = page[Tmk_nprocs - 1];
		/* All have read: who is stopped answers no question, and a question may close the page. */
		Tmk_barrier(3);
		if (last) {
			printf("stops\n");
			fflush(stdout);
		}
		page[Tmk_proc_id] = 2;
		if (last)
			raise(SIGSTOP);
		if (Tmk_proc_id == Tmk_nprocs - 2) {
			await_stop(sleeper);
			Tmk_lock_release(9);
		}
		if (Tmk_proc_id == 0)
			Tmk_lock_acquire(9);
	}
	/* For want of the one who has gone wrong. */
	Tmk_barrier(2);
	/* Without Tmk_exit. */
	if (strcmp(what, "returns") == 0) {
		if (last)
			printf("returns\n");
		return 0;
	}
	Tmk_exit(0);
}
