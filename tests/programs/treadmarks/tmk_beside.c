/* Each call of TreadMarks that waits, and an access that waits for a page, in one thread; a second thread sends itself messages by MPI
 * meanwhile and must not stand still. Two processes.
 *
 * tmk_beside SITUATION: the partner comes half a second late (`silent`) or is stopped (`stopped`), or the daemon is stopped (`daemon`). */
#include "tmk_check.h"
#include "beside.h"

#include <mpi.h>

enum { LOCK = 3, WORDS = 4 << 20 };

static volatile int *shared;
static MPI_Comm self;
static const char *situation;
static int partner, turn;

static void beside_round(void)
{
	int out = 1, in = 0;

	MPI_Sendrecv(&out, 1, MPI_INT, 0, 9, &in, 1, MPI_INT, 0, 9, self, MPI_STATUS_IGNORE);
}

static void meet(void) { Tmk_barrier(1); }
static void reduce(void)
{
	long value = 1;

	Tmk_reduce(&value, 1, TMK_LONG, TMK_SUM);
	GIVES(2, value);
}

/* The partner has the lock for as long as it is late. */
static void wait_for_lock(void)
{
	usleep(20000);
	Tmk_lock_acquire(LOCK);
	Tmk_lock_release(LOCK);
	Tmk_barrier(1);
}
static void hold_lock(void)
{
	Tmk_lock_acquire(LOCK);
	if (!strcmp(situation, "silent"))
		usleep(500000);
	Tmk_lock_release(LOCK);
	Tmk_barrier(1);
}

/* All pages that the partner has written. */
static void fetch_pages(void)
{
	Tmk_barrier(1);
	for (int i = 0; i < WORDS; i += 256)
		GIVES(turn + i, shared[i]);
	Tmk_barrier(1);
	turn++;
}
static void write_pages(void)
{
	for (int i = 0; i < WORDS; i++)
		shared[i] = turn + i;
	Tmk_barrier(1);
	Tmk_barrier(1);
	turn++;
}

static const struct beside_call calls[] = {
	{ "Tmk_barrier", meet, meet },
	{ "Tmk_reduce", reduce, reduce },
	{ "Tmk_lock_acquire", wait_for_lock, hold_lock },
	{ "page", fetch_pages, write_pages },
};
#define CALLS ((int)(sizeof calls / sizeof calls[0]))

static void tell_partner(int at)
{
	MPI_Bcast(&at, 1, MPI_INT, 0, MPI_COMM_WORLD);
	beside_disturb(situation, partner, 400);
}

int main(int argc, char **argv)
{
	int bad = 0, at = 0, provided;

	CHECK(argc > 1);
	situation = argv[1];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	Tmk_startup(argc, argv);
	GIVES(2, Tmk_nprocs);
	MPI_Comm_dup(MPI_COMM_SELF, &self);
	partner = getpid();
	MPI_Bcast(&partner, 1, MPI_INT, 1, MPI_COMM_WORLD);
	shared = share(WORDS * sizeof *shared);
	if (Tmk_proc_id == 1) {
		for (;;) {
			MPI_Bcast(&at, 1, MPI_INT, 0, MPI_COMM_WORLD);
			if (at < 0)
				break;
			if (!strcmp(situation, "silent"))
				usleep(500000);
			calls[at].its();
		}
	} else {
		bad = beside_judge(calls, CALLS, tell_partner);
		at = -1;
		MPI_Bcast(&at, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	Tmk_barrier(1);
	MPI_Finalize();
	Tmk_exit(bad != 0);
}
