/* Programs with races, and without: what `parvum run --races` is to find. Lines that the test looks for end with a mark. */
#include "tmk_check.h"

static int *allocate(unsigned bytes)
{
	char *block = Tmk_malloc(bytes); /* ALLOCATED */

	CHECK(block != NULL);
	return (int *)block;
}

static int *shared;

static int *share_by(unsigned bytes)
{
	if (Tmk_proc_id == 0) {
		shared = allocate(bytes);
		Tmk_distribute((char *)&shared, sizeof shared);
	}
	Tmk_barrier(3);
	return shared;
}

/* Two processes count without a lock, the others under different ones. */
static void count(void)
{
	volatile int *data = share_by(4096);

	if (Tmk_proc_id < 2) {
		data[5] = (int)Tmk_proc_id; /* WRITES */
	}
	Tmk_lock_acquire(Tmk_proc_id);
	data[40 + Tmk_proc_id]++;
	Tmk_lock_release(Tmk_proc_id);
	Tmk_barrier(4);
}

/* One writes under a lock, another reads under another: the lock that both take afterwards orders nothing. */
static void locks(void)
{
	volatile int *data = share_by(8192);
	int seen = 0;

	if (Tmk_proc_id == 0) {
		Tmk_lock_acquire(7);
		data[100] = 5; /* LOCKED */
		Tmk_lock_release(7);
	}
	if (Tmk_proc_id == 1) {
		Tmk_lock_acquire(8);
		seen = data[100]; /* READS */
		Tmk_lock_release(8);
	}
	Tmk_lock_acquire(9);
	data[0] += seen;
	Tmk_lock_release(9);
	Tmk_barrier(4);
}

/* A race that only the end of the run comes after, of eight bytes at once with four. */
static void last(void)
{
	int *data = share_by(4096);

	if (Tmk_proc_id == 0)
		*(volatile long *)(data + 2) = 1; /* LONG */
	if (Tmk_proc_id == 1)
		*(volatile int *)(data + 3) = 1; /* SHORT */
}

/* One copies with the C library what another writes. */
static void copies(void)
{
	int *data = share_by(4096);
	static volatile unsigned bytes = 800; /* not known when this is compiled: the library is called */
	static int mine[256];

	if (Tmk_proc_id == 0) {
		memcpy(mine, data + 300, bytes); /* COPIES */
	}
	if (Tmk_proc_id == 1)
		((volatile int *)data)[377] = 1; /* INSIDE */
	Tmk_barrier(4);
	GIVES(0, mine[199]);
}

/* Locks, barriers, a page that several write to at once, a lock that goes round, and system calls. */
static void orderly(void)
{
	volatile int *data = share_by(3 * 4096);
	int round, i, fd[2], sum = 0;

	for (round = 0; round < 3; round++) {
		/* Neighbours in one page: no race. */
		for (i = 0; i < 20; i++)
			data[i * (int)Tmk_nprocs + (int)Tmk_proc_id] = round;
		Tmk_barrier(5);
		for (i = 0; i < 20 * (int)Tmk_nprocs; i++)
			sum += data[i];
		Tmk_barrier(6);
		for (i = 0; i < 5; i++) {
			Tmk_lock_acquire(1);
			data[1024]++;
			memcpy((void *)(data + 1100), (void *)(data + 1024), 64);
			Tmk_lock_release(1);
		}
	}
	/* What was written before a release is read by who takes the lock later, without it. */
	if (Tmk_proc_id == 0) {
		data[2048] = 77;
		Tmk_lock_acquire(2);
		data[2049] = 1;
		Tmk_lock_release(2);
	}
	if (Tmk_proc_id == 1) {
		int told = 0;

		while (!told) {
			Tmk_lock_acquire(2);
			told = data[2049];
			Tmk_lock_release(2);
		}
		GIVES(77, data[2048]);
	}
	Tmk_barrier(5);
	GIVES(15 * (int)Tmk_nprocs, data[1024]);
	GIVES(3 * 20 * (int)Tmk_nprocs, sum);
	CHECK(pipe(fd) == 0);
	Tmk_touch((char *)data, 64, 0);
	GIVES(64, write(fd[1], (void *)data, 64));
	Tmk_barrier(6);
	if (Tmk_proc_id == 0) {
		Tmk_touch((char *)data, 64, 1);
		GIVES(64, read(fd[0], (void *)data, 64));
	}
}

/* How long an access takes: no check, for people. */
static void speed(void)
{
	volatile int *data = share_by(40 * 4096);
	double start = now();
	int i;

	for (i = 0; i < 20000; i++)
		data[Tmk_proc_id * 4096 + (unsigned)i % 4096] = i;
	if (Tmk_proc_id == 0)
		printf("an access takes %.2f us\n", (now() - start) / 20000 * 1e6);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(void);
	} all[] = {{"count", count}, {"locks", locks}, {"last", last}, {"copies", copies}, {"orderly", orderly}, {"speed", speed}};
	unsigned i;

	Tmk_startup(argc, argv);
	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (argc > 1 && strcmp(argv[1], all[i].name) == 0)
			all[i].work();
	if (Tmk_proc_id == 0)
		printf("all well\n");
	Tmk_exit(0);
}
