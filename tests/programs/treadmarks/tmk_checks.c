/* What an implementation of TreadMarks must show, with real processes. The numbers are those of the checks in section 10 of the
 * interface's specification. With a protocol the counts are checked as well. */
#include "tmk_check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WORDS ((int)(Tmk_page_size / sizeof(int)))

/* With homes other counts hold: changes go there at once, and a home writes in place. */
static int is_lazy(void)
{
	const char *protocol = getenv("TMK_PROTOCOL");

	return with_protocol() && (protocol == NULL || strcmp(protocol, "home") != 0);
}

/* How many nodes of the protocol there are: of those whose tasks share their pages the first counts. */
static unsigned nodes(void)
{
	int count = with_protocol();

	Tmk_reduce(&count, 1, TMK_INT, TMK_SUM);
	return count;
}

/* 1: the pointer that process 0 distributes is right everywhere, and so is what it points to. */
static int numbers[1000];

static void distribute(void)
{
	int *data = share(100000 * sizeof *data), i, round;

	for (round = 0; round < 3; round++) {
		if (Tmk_proc_id == 0) {
			for (i = 0; i < 100000; i++)
				data[i] = i * 7 + round;
			for (i = 0; i < 1000; i++)
				numbers[i] = i - round;
			Tmk_distribute((char *)numbers, sizeof numbers);
		}
		Tmk_barrier(2);
		for (i = 0; i < 100000; i++)
			GIVES(i * 7 + round, data[i]);
		for (i = 0; i < 1000; i++)
			GIVES(i - round, numbers[i]);
		Tmk_barrier(3);
	}
}

/* 2: a counter under a lock is exact; a lock taken again costs nothing. */
static void counter(void)
{
	volatile int *count = share(sizeof *count);
	struct Tmk_stat before, after;
	int i, mine, turns = 200;

	for (i = 0; i < turns; i++) {
		Tmk_lock_acquire(17);
		++*count;
		Tmk_lock_release(17);
	}
	Tmk_barrier(2);
	GIVES(turns * Tmk_nprocs, *count);
	mine = 100 + (int)Tmk_proc_id;
	Tmk_lock_acquire(mine);
	Tmk_lock_release(mine);
	Tmk_barrier(2);
	before = stat_now();
	for (i = 0; i < 1000; i++) {
		Tmk_lock_acquire(mine);
		Tmk_lock_release(mine);
	}
	after = stat_now();
	GIVES(before.messages, after.messages);
	GIVES(before.locks_here + 1000, after.locks_here);
}

/* 3: what was written under one lock is seen by who takes another, if somebody has taken both in between. */
static void transitive(void)
{
	/* A page each, and what tells whose turn it is under the lock that passes the turn on. */
	volatile int *x = share(4 * Tmk_page_size), *at = x + 2 * WORDS;
	unsigned self = Tmk_proc_id, next = 0;

	for (;;) {
		int turn;

		Tmk_lock_acquire(self);
		turn = at[self];
		Tmk_lock_release(self);
		if (turn || self == 0)
			break;
	}
	/* Everybody before has added to x, under no lock that this process has taken. */
	GIVES(self * (self + 1) / 2, *x);
	*x += self + 1;
	next = self + 1;
	if (next < Tmk_nprocs) {
		Tmk_lock_acquire(next);
		at[next] = 1;
		Tmk_lock_release(next);
	}
	Tmk_barrier(2);
	GIVES(Tmk_nprocs * (Tmk_nprocs + 1) / 2, *x);
}

/* 4: what nobody reads makes no diff. */
static void lazy(void)
{
	volatile int *x = share(Tmk_page_size * 8);
	volatile int *mine = x + Tmk_proc_id % 8 * WORDS;
	struct Tmk_stat before, after;
	int counts[4];

	if (Tmk_proc_id < 8)
		(void)*mine;
	Tmk_barrier(2);
	before = stat_now();
	Tmk_barrier(2);
	if (Tmk_proc_id < 8) {
		Tmk_lock_acquire(Tmk_proc_id);
		*mine = 5;
		Tmk_lock_release(Tmk_proc_id);
	}
	Tmk_barrier(2);
	after = stat_now();
	/* Of all: who shares pages with neighbours has their counts, or none. */
	counts[0] = (int)(after.twins - before.twins);
	counts[1] = (int)(after.diffs_made - before.diffs_made);
	counts[2] = (int)(after.requests - before.requests);
	counts[3] = is_lazy();
	Tmk_reduce(counts, 4, TMK_INT, TMK_SUM);
	if (counts[3]) {
		GIVES(Tmk_nprocs < 8 ? Tmk_nprocs : 8, counts[0]);
		GIVES(0, counts[1]);
		GIVES(0, counts[2]);
	}
}

/* 5: all write to one page at once, to words in turn. */
static void writers(void)
{
	volatile int *page = share(Tmk_page_size);
	struct Tmk_stat before, after;
	int i;

	(void)page[0];
	Tmk_barrier(2);
	before = stat_now();
	Tmk_barrier(2);
	for (i = Tmk_proc_id; i < WORDS; i += Tmk_nprocs)
		page[i] = i + 1;
	Tmk_barrier(2);
	for (i = 0; i < WORDS; i++)
		GIVES(i + 1, page[i]);
	after = stat_now();
	/* Each node one, however many tasks it has. */
	if (is_lazy()) {
		GIVES(1, after.twins - before.twins);
		CHECK(after.diffs_made - before.diffs_made == 1);
	}
}

/* 6: a barrier takes 2 (n - 1) messages, of which the manager sends half. */
static void barriers(void)
{
	struct Tmk_stat before, after;
	int i, with, others;

	Tmk_barrier(2);
	with = with_protocol();
	others = (int)nodes() - 1;
	before = stat_now();
	for (i = 0; i < 50; i++)
		Tmk_barrier(i);
	after = stat_now();
	GIVES(50, after.barriers - before.barriers);
	GIVES(with ? 50 * (Tmk_proc_id == 0 ? others : 1) : 0, after.messages - before.messages);
}

/* 12: with pages of 64 KiB an answer is longer than a datagram could be. */
static void large(void)
{
	volatile int *data = share(3 * Tmk_page_size);
	int i, from, words = 3 * WORDS;

	for (from = 0; from < (int)Tmk_nprocs; from++) {
		if (from == (int)Tmk_proc_id)
			for (i = 0; i < words; i++)
				data[i] = from * 1000003 + i;
		Tmk_barrier(2);
		for (i = 0; i < words; i++)
			GIVES(from * 1000003 + i, data[i]);
		Tmk_barrier(3);
	}
}

/* Blocks come and go at any process, and hold what is written to them; a heap has an end. */
static void blocks(void)
{
	char *mine[20], *all;
	unsigned i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 20; i++) {
			unsigned size = 100 + i * 700;

			mine[i] = Tmk_malloc(size);
			CHECK(mine[i] != NULL);
			memset(mine[i], (int)(Tmk_proc_id * 20 + i), size);
		}
		Tmk_barrier(2);
		for (i = 0; i < 20; i++) {
			GIVES((char)(Tmk_proc_id * 20 + i), mine[i][0]);
			GIVES((char)(Tmk_proc_id * 20 + i), mine[i][99 + i * 700]);
			Tmk_free(mine[i]);
		}
	}
	Tmk_free(NULL);
	Tmk_barrier(2);
	if (Tmk_proc_id == Tmk_nprocs - 1) {
		char *first = Tmk_sbrk(1000), *second = Tmk_sbrk(24);

		CHECK(first != NULL && second == first + 1000);
		strcpy(second, "grown");
		/* 64 MiB, of which a quarter grows. */
		CHECK(Tmk_malloc(60 << 20) == NULL && Tmk_sbrk(17 << 20) == NULL);
		all = Tmk_malloc(48 << 20);
		CHECK(all != NULL && Tmk_malloc(1) == NULL);
		Tmk_free(all);
		CHECK(Tmk_malloc(1) != NULL);
	}
}

/* Sums of arrays of all, with messages that grow with their number alone. */
static void reduce(void)
{
	enum { MANY = 20000 };
	static double values[MANY];
	int whole[3] = { (int)Tmk_proc_id, 7, -(int)Tmk_proc_id }, i, n = (int)Tmk_nprocs;
	long big = 1L << Tmk_proc_id;
	float real = (float)Tmk_proc_id;

	for (i = 0; i < MANY; i++)
		values[i] = i + Tmk_proc_id;
	Tmk_reduce(values, MANY, TMK_DOUBLE, TMK_SUM);
	for (i = 0; i < MANY; i++)
		CHECK(values[i] == (double)i * n + n * (n - 1) / 2);
	Tmk_reduce(whole, 3, TMK_INT, TMK_MAX);
	CHECK(whole[0] == n - 1 && whole[1] == 7 && whole[2] == 0);
	Tmk_reduce(&big, 1, TMK_LONG, TMK_SUM);
	GIVES((1L << n) - 1, big);
	Tmk_reduce(&real, 1, TMK_FLOAT, TMK_MIN);
	CHECK(real == 0);
	Tmk_reduce(NULL, 0, TMK_INT, TMK_PROD);
}

/* System calls do not fault pages in: they are opened before. A home is given before anybody touches. */
static void touched(void)
{
	char *text = share(6 * Tmk_page_size), *home = share(20 * Tmk_page_size), word[6];
	int ends[2], i;

	if (Tmk_proc_id == 0)
		Tmk_home(home, 20 * Tmk_page_size);
	Tmk_barrier(2);
	for (i = 0; i < 20; i++)
		home[i * Tmk_page_size + Tmk_proc_id * 8] = (char)(i + Tmk_proc_id);
	if (Tmk_proc_id == Tmk_nprocs - 1)
		strcpy(text + Tmk_page_size - 3, "hello");
	Tmk_barrier(2);
	for (i = 0; i < 20 * (int)Tmk_nprocs; i++)
		GIVES((char)(i % 20 + i / 20), home[i % 20 * Tmk_page_size + i / 20 * 8]);
	CHECK(pipe(ends) == 0);
	Tmk_touch(text + Tmk_page_size - 3, 6, 0);
	GIVES(6, write(ends[1], text + Tmk_page_size - 3, 6));
	GIVES(6, read(ends[0], word, 6));
	CHECK(strcmp(word, "hello") == 0);
	Tmk_barrier(2);
	if (Tmk_proc_id == 0) {
		GIVES(6, write(ends[1], "world", 6));
		Tmk_touch(text, 6, 1);
		GIVES(6, read(ends[0], text, 6));
	}
	Tmk_barrier(2);
	CHECK(strcmp(text, "world") == 0);
}

/* One after the other writes all of a block, from end to end and a word more. Said so, nobody fetches what it lacks. */
static void overwritten(void)
{
	int words = 10 * Tmk_page_size / sizeof(int), *block = share((words + 1) * sizeof(int)), i;
	unsigned turn;
	struct Tmk_stat before, now;
	unsigned long fetched = 0;

	for (turn = 0; turn < 6; turn++) {
		Tmk_barrier(2);
		if (turn % Tmk_nprocs != Tmk_proc_id)
			continue;
		Tmk_statistics(&before);
		Tmk_overwrite((char *)block, words * sizeof(int));
		for (i = 0; i <= words; i++)
			block[i] = (int)turn * 7 + (turn < 3 ? i : 0);
		Tmk_statistics(&now);
		fetched += now.requests - before.requests;
	}
	Tmk_barrier(2);
	for (i = 0; i <= words; i++)
		GIVES(5 * 7, block[i]);
	/* The block begins and ends anywhere in a page. */
	if (getenv("TMK_PROTOCOL") != NULL && strcmp(getenv("TMK_PROTOCOL"), "lazy") == 0)
		CHECK(fetched <= 2 * 6);
	Tmk_overwrite(NULL, 0);
}

/* A thread reads what the neighbour has written, and waits for it, while another says that it will overwrite its own part. */
static void *reads_the_neighbour(void *of)
{
	int *block = of, i;

	for (i = 0; i < 20 * WORDS; i += WORDS)
		GIVES(i, block[i]);
	return NULL;
}

static void overwritten_beside(void)
{
	int words = 20 * WORDS, *block = share((Tmk_nprocs + 1) * words * sizeof(int)), *own, *next, round, i;
	pthread_t reader;

	own = block + Tmk_proc_id * words;
	next = block + (Tmk_proc_id + 1) % Tmk_nprocs * words;
	for (round = 0; round < 20; round++) {
		for (i = 0; i < words; i++)
			own[i] = i;
		Tmk_barrier(2);
		CHECK(pthread_create(&reader, NULL, reads_the_neighbour, next) == 0);
		for (i = 0; i < 200; i++)
			Tmk_overwrite((char *)(block + Tmk_nprocs * words), words * sizeof(int));
		CHECK(pthread_join(reader, NULL) == 0);
		Tmk_barrier(2);
	}
}

/* A child of fork finds what is there or is ended, and its parent does not notice. */
static void forked(void)
{
	int *block = share(Tmk_nprocs * 2 * Tmk_page_size), round, i, ended;
	int *own = block + Tmk_proc_id * 2 * WORDS, *next = block + (Tmk_proc_id + 1) % Tmk_nprocs * 2 * WORDS;
	pid_t child;

	for (round = 1; round < 4; round++) {
		for (i = 0; i < 2 * WORDS; i++)
			own[i] = i * round;
		Tmk_barrier(2);
		child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			alarm(60);
			if (((volatile int *)next)[9] != 9 * round)
				_exit(2);
			((volatile int *)next)[WORDS + 9] = (WORDS + 9) * round;
			_exit(0);
		}
		CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended));
		CHECK(WEXITSTATUS(ended) == 1 || WEXITSTATUS(ended) == 0);
		Tmk_barrier(2);
		for (i = 0; i < 2 * WORDS; i++) {
			GIVES(i * round, next[i]);
			next[i] = -i;
		}
		Tmk_barrier(2);
		GIVES(-9, own[9]);
		GIVES(-WORDS - 9, own[WORDS + 9]);
	}
}

/* Other faults are the program's own. */
static volatile sig_atomic_t faults;
static char *volatile nowhere;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	CHECK(info->si_addr == nowhere);
	faults++;
	/* As a program does that has a way on. */
	alarm(0);
	printf("own fault\n");
	fflush(stdout);
	_exit(0);
}

static void own_fault(void)
{
	volatile int *x = share(sizeof *x);

	if (Tmk_proc_id == 1)
		*x = 9;
	Tmk_barrier(2);
	GIVES(9, *x);
	if (Tmk_proc_id == 0)
		*nowhere = 1;
	Tmk_exit(0);
}

/* Handlers that are set later get faults outside the heap, and those in it are attended to all the same. */
static void first_handler(int signal)
{
	(void)signal;
	faults += 100;
	mprotect((char *)nowhere - (long)nowhere % 4096, 4096, PROT_READ | PROT_WRITE);
}

static void second_handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	CHECK(info->si_addr == nowhere);
	faults++;
	mprotect((char *)nowhere - (long)nowhere % 4096, 4096, PROT_READ | PROT_WRITE);
}

static void touch_nowhere(void)
{
	CHECK(mprotect(nowhere, 4096, PROT_NONE) == 0);
	*nowhere = 1;
}

/* Handlers that keep back all other signals, and touch shared memory all the same. */
static volatile int *looked_at, seen;

static void looks(int signal)
{
	(void)signal;
	seen = looked_at == NULL ? -1 : *looked_at;
}

static void set_looks(int signal)
{
	struct sigaction act = { .sa_handler = looks };

	sigfillset(&act.sa_mask);
	GIVES(0, sigaction(signal, &act, NULL));
}

static void later_handlers(void)
{
	volatile int *x = share(sizeof *x);
	struct sigaction act = { .sa_sigaction = second_handler, .sa_flags = SA_SIGINFO }, before;
	int round;

	nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(nowhere != MAP_FAILED);
	looked_at = x;
	set_looks(SIGURG);
	for (round = 0; round < 4; round++) {
		if (round == 1)
			CHECK(signal(SIGSEGV, first_handler) == SIG_DFL);
		if (round == 2) {
			GIVES(0, sigaction(SIGSEGV, &act, &before));
			CHECK(before.sa_handler == first_handler);
		}
		if (round == 3) {
			GIVES(0, sigaction(SIGSEGV, NULL, &before));
			CHECK(before.sa_sigaction == second_handler);
		}
		if (round > 0)
			touch_nowhere();
		if (round % (int)Tmk_nprocs == (int)Tmk_proc_id)
			*x = round + 1;
		Tmk_barrier(2);
		raise(round % 2 == 0 ? SIGUSR2 : SIGURG);
		GIVES(round + 1, seen);
		GIVES(round + 1, *x);
		Tmk_barrier(3);
	}
	GIVES(102, faults);
	/* Other signals are as ever. */
	CHECK(signal(SIGUSR1, SIG_IGN) == SIG_DFL && signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	GIVES(-1, sigaction(-1, &act, NULL));
}

/* Others are served while this one computes, or waits in a call of the system. */
static void busy(void)
{
	volatile int *x = share(Tmk_nprocs * Tmk_page_size), sum = 0;
	double began;
	unsigned i;

	x[Tmk_proc_id * WORDS] = (int)Tmk_proc_id + 1;
	Tmk_barrier(2);
	began = now();
	if (Tmk_proc_id == 0) {
		/* Until all the others have read what this one has written, of which it hears only when it looks. */
		for (;;) {
			int done;

			for (i = 0; i < 1000000; i++)
				sum += (int)i;
			Tmk_lock_acquire(5);
			done = x[1];
			Tmk_lock_release(5);
			if (done == (int)Tmk_nprocs - 1)
				break;
			CHECK(now() - began < 60);
		}
	} else {
		GIVES(1, x[0]);
		Tmk_lock_acquire(5);
		++x[1];
		Tmk_lock_release(5);
	}
}

/* A long run in little room. */
static void rounds(void)
{
	enum { PAGES = 40 };
	volatile int *x = share(PAGES * Tmk_page_size);
	struct Tmk_stat s;
	int round, i;

	for (round = 1; round <= 120; round++) {
		for (i = (int)Tmk_proc_id; i < PAGES * WORDS; i += 7 * (int)Tmk_nprocs)
			x[i] = round * 1000 + (int)Tmk_proc_id;
		Tmk_barrier(2);
		i = (round % (int)Tmk_nprocs);
		GIVES(round * 1000 + i, x[i]);
		Tmk_barrier(3);
	}
	s = stat_now();
	if (is_lazy())
		CHECK(s.collections > 2);
	/* Twins of all pages that one round writes to, and diffs of a few rounds. */
	CHECK(s.most_held < 3 << 20);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "own_fault") == 0) {
		struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

		sigaction(SIGSEGV, &act, NULL);
	}
	if (strcmp(what, "later_handlers") == 0)
		set_looks(SIGUSR2);
	Tmk_startup(argc, argv);
	if (argc > 2)
		GIVES(atoi(argv[2]), Tmk_nprocs);
	if (strcmp(what, "distribute") == 0)
		distribute();
	else if (strcmp(what, "counter") == 0)
		counter();
	else if (strcmp(what, "transitive") == 0)
		transitive();
	else if (strcmp(what, "lazy") == 0)
		lazy();
	else if (strcmp(what, "writers") == 0)
		writers();
	else if (strcmp(what, "barriers") == 0)
		barriers();
	else if (strcmp(what, "large") == 0)
		large();
	else if (strcmp(what, "blocks") == 0)
		blocks();
	else if (strcmp(what, "reduce") == 0)
		reduce();
	else if (strcmp(what, "touched") == 0)
		touched();
	else if (strcmp(what, "overwritten") == 0)
		overwritten();
	else if (strcmp(what, "overwritten_beside") == 0)
		overwritten_beside();
	else if (strcmp(what, "forked") == 0)
		forked();
	else if (strcmp(what, "busy") == 0)
		busy();
	else if (strcmp(what, "rounds") == 0)
		rounds();
	else if (strcmp(what, "own_fault") == 0)
		own_fault();
	else if (strcmp(what, "later_handlers") == 0)
		later_handlers();
	else
		Tmk_errexit("there is no check \"%s\" (%d)", what, argc);
	all_well();
}
