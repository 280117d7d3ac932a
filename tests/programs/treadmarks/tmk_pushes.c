/* Steady patterns of who reads what: how many messages they take. Process 0 prints those of the last rounds, of all together. */
#include "tmk_check.h"

#define ROUNDS 12
#define LAST 8

static long all_messages(const struct Tmk_stat *from, const struct Tmk_stat *to)
{
	long sent[2] = {(long)(to->messages - from->messages), (long)(to->misses - from->misses)};

	Tmk_reduce(sent, 2, TMK_LONG, TMK_SUM);
	if (Tmk_proc_id == 0)
		printf("messages %ld misses %ld\n", sent[0], sent[1]);
	return sent[0];
}

/* All come here before any goes on: by a reduction, which carries nothing of shared memory. */
static void together(void)
{
	int one = 1;

	Tmk_reduce(&one, 1, TMK_INT, TMK_SUM);
}

/* Each changes a part of four pages and reads the first and the last page of its neighbours' parts. */
static void neighbours(void)
{
	int words = (int)(Tmk_page_size / sizeof(int)), part = 4 * words, round, i;
	int me = (int)Tmk_proc_id, all = (int)Tmk_nprocs;
	volatile int *data = share((unsigned)(part * all) * sizeof *data);
	struct Tmk_stat from = stat_now(), to;

	for (round = 1; round <= ROUNDS; round++) {
		int other;

		if (round == ROUNDS - LAST + 1)
			from = stat_now();
		for (i = 0; i < part; i++)
			data[me * part + i] = round * 100 + i;
		Tmk_barrier(2);
		for (other = me - 1; other <= me + 1; other += 2)
			if (other >= 0 && other < all) {
				GIVES(round * 100 + 5, data[other * part + 5]);
				GIVES(round * 100 + part - 1, data[other * part + part - 1]);
			}
		Tmk_barrier(3);
	}
	to = stat_now();
	all_messages(&from, &to);
}

/* A number that each adds to under a lock, in turn. */
static void migrates(void)
{
	volatile int *data = share(Tmk_page_size);
	struct Tmk_stat from = stat_now(), to;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		if (round == ROUNDS - LAST) {
			from = stat_now();
			together();
		}
		for (i = 0; i < (int)Tmk_nprocs; i++) {
			if (i == (int)Tmk_proc_id) {
				Tmk_lock_acquire(5);
				GIVES(round * (int)Tmk_nprocs + i, data[7]);
				data[7]++;
				Tmk_lock_release(5);
			}
			together();
		}
	}
	to = stat_now();
	all_messages(&from, &to);
}

int main(int argc, char **argv)
{
	Tmk_startup(argc, argv);
	if (argc > 1 && strcmp(argv[1], "neighbours") == 0)
		neighbours();
	else
		migrates();
	all_well();
}
