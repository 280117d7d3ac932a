/* Views: what comes with them, who may have them, and what it costs. The second argument is how many processes there are. */
#include "tmk_check.h"

#define VIEWS 3
#define INTS 3000

static int *views[VIEWS];

static void make(void)
{
	int v;

	if (Tmk_proc_id == 0) {
		for (v = 0; v < VIEWS; v++) {
			views[v] = (int *)Tmk_alloc_view((unsigned)v, INTS * sizeof(int));
			CHECK(views[v] != NULL && (size_t)views[v] % Tmk_page_size == 0);
		}
		Tmk_distribute((char *)views, sizeof views);
	}
	Tmk_barrier(1);
}

/* All add to all of a view in turn, and read others. */
static void turns(void)
{
	int round, i, v;

	make();
	for (round = 0; round < 20; round++)
		for (v = 0; v < VIEWS; v++) {
			int other = (v + 1) % VIEWS;

			Tmk_acquire_view((unsigned)v);
			for (i = 0; i < INTS; i++)
				views[v][i] += i + v;
			Tmk_release_view((unsigned)v);
			Tmk_acquire_Rview((unsigned)other);
			/* As many have added as the second number says, to all numbers alike. */
			for (i = 1; i < INTS; i++)
				GIVES((i + other) * (views[other][1] / (1 + other)), views[other][i]);
			Tmk_release_Rview((unsigned)other);
		}
	Tmk_barrier(2);
	for (v = 0; v < VIEWS; v++) {
		Tmk_acquire_Rview((unsigned)v);
		for (i = 0; i < INTS; i++)
			GIVES(20 * (int)Tmk_nprocs * (i + v), views[v][i]);
		Tmk_release_Rview((unsigned)v);
	}
}

/* All are inside at the same time to read: a barrier in there opens. */
static void readers(void)
{
	make();
	Tmk_acquire_Rview(1);
	Tmk_barrier(3);
	GIVES(0, views[1][5]);
	Tmk_release_Rview(1);
	Tmk_barrier(3);
}

/* One message to acquire and one back with the data, one to release; no page is missed. */
static void costs(void)
{
	struct Tmk_stat before, after;
	const char *group = getenv("TMK_GROUP");
	int i, neighbours, counts[2];

	make();
	counts[0] = with_protocol();
	before = stat_now();
	Tmk_barrier(2);
	for (i = 0; i < 10; i++) {
		Tmk_acquire_view(0);
		views[0][i * 200]++;
		views[0][2999]++;
		Tmk_release_view(0);
	}
	Tmk_barrier(2);
	after = stat_now();
	GIVES(before.misses, after.misses);
	/* Of all: who shares pages with others has their counts, or none. */
	counts[1] = (int)(after.messages - before.messages);
	Tmk_reduce(counts, 2, TMK_INT, TMK_SUM);
	if (counts[0] > 0) {
		/* How many are at the manager of the view, which is the node of process 0: as many as on the other hosts, or at most so many. */
		neighbours = (int)Tmk_nprocs / counts[0];
		if (group != NULL && atoi(group) > 0)
			neighbours = atoi(group);
		GIVES(2 * 2 * (counts[0] - 1) + 30 * ((int)Tmk_nprocs - neighbours), counts[1]);
	}
	Tmk_acquire_Rview(0);
	GIVES(10 * Tmk_nprocs, views[0][2999]);
	Tmk_release_Rview(0);
}

static void wrong(const char *what)
{
	make();
	if (Tmk_proc_id == 0) {
		if (strcmp(what, "again") == 0)
			Tmk_alloc_view(2, 10);
		if (strcmp(what, "number") == 0)
			Tmk_alloc_view(TMK_NVIEWS, 10);
		if (strcmp(what, "acquire_none") == 0)
			Tmk_acquire_view(TMK_NVIEWS);
		if (strcmp(what, "twice") == 0) {
			Tmk_acquire_view(1);
			Tmk_acquire_Rview(1);
		}
		if (strcmp(what, "release") == 0)
			Tmk_release_view(1);
		if (strcmp(what, "other") == 0) {
			Tmk_acquire_Rview(1);
			Tmk_release_view(1);
		}
		if (strcmp(what, "outside") == 0)
			views[1][0] = 5;
		if (strcmp(what, "reader") == 0) {
			Tmk_acquire_Rview(1);
			views[1][0] = 5;
		}
	}
	Tmk_barrier(1);
}

/* For `parvum why`: process 0 holds view 2, the others want it. */
static void hold(void)
{
	make();
	if (Tmk_proc_id == 0)
		Tmk_acquire_view(2);
	Tmk_barrier(2);
	printf("ready %u\n", Tmk_proc_id);
	fflush(stdout);
	if (Tmk_proc_id == 0)
		for (;;)
			pause();
	Tmk_acquire_view(2);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	Tmk_startup(argc, argv);
	if (strcmp(what, "turns") == 0)
		turns();
	else if (strcmp(what, "readers") == 0)
		readers();
	else if (strcmp(what, "costs") == 0)
		costs();
	else if (strcmp(what, "hold") == 0)
		hold();
	else
		wrong(what);
	all_well();
}
