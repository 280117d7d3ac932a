/* What becomes of a node that loses something: named on the command line. */
#include "nx_check.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static long number = 7;
static char room[1 << 20];

/* A forked child is no node. Its parent goes on. */
static void child(void)
{
	long me = mynode(), info[8];
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		FAILS(EQCHILD, _csend(1, &number, sizeof number, me, 0));
		FAILS(EQCHILD, _crecvx(1, &number, sizeof number, -1, -1, info));
		FAILS(EQCHILD, _irecv(1, &number, sizeof number));
		FAILS(EQCHILD, _iprobe(1));
		FAILS(EQCHILD, _gsync());
		FAILS(EQCHILD, _mynode());
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	csend(1, &number, sizeof number, me, 0);
	crecv(1, &number, sizeof number);
}

/* No descriptor is free when the thread begins that takes long messages in: it asks again later, and does not spin. */
static void descriptors(void)
{
	struct rlimit limit;
	struct timespec before, after;
	long milliseconds;
	int top;

	mynode();
	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	top = dup(0);
	CHECK(top > 0 && close(top) == 0);
	limit.rlim_cur = (rlim_t)top;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	irecv(1, room, sizeof room);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	sleep(1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	milliseconds = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
	if (milliseconds > 200)
		fprintf(stderr, "%ld ms of the processor in a second of sleep\n", milliseconds);
	CHECK(milliseconds <= 200);
}

/* The address space is full: there is no memory for a way to a node that nothing was sent to before. */
static void memory(void)
{
	struct rlimit limit, all;
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "r");

	GIVES(2, numnodes());
	if (mynode() == 1) {
		crecv(1, &number, sizeof number);
		GIVES(8, number);
		return;
	}
	CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
	CHECK(getrlimit(RLIMIT_AS, &all) == 0);
	limit = all;
	limit.rlim_cur = pages * (unsigned long)getpagesize() + 100000;
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	FAILS(EQMEM, _csend(1, &number, sizeof number, 1, 0));
	FAILS(EQMEM, _isend(1, &number, sizeof number, 1, 0));
	CHECK(setrlimit(RLIMIT_AS, &all) == 0);
	number = 8;
	csend(1, &number, sizeof number, 1, 0);
}

/* The machine ends while the node waits: every way of waiting ends. */
static void machine(void)
{
	long info[8], id = (mynode(), irecv(2, &number, sizeof number));

	printf("waits\n");
	fflush(stdout);
	FAILS(EQMACHINE, _crecv(1, &number, sizeof number));
	FAILS(EQMACHINE, _msgwait(id));
	FAILS(EQMACHINE, _cprobex(1, -1, -1, info));
	FAILS(EQMACHINE, _crecvx(1, room, sizeof room, -1, -1, info));
}

/* One node ends before an operation of all: the others' end too, short and long. */
static void fellow(int plainly)
{
	static double long_vector[20000], scratch[20000];
	double one = 1;
	long total, me = mynode(), nodes = numnodes();

	gdsum(&one, 1, scratch);
	GIVES(nodes, one);
	if (me == 2)
		return;
	if (plainly)
		gdsum(long_vector, 20000, scratch);
	FAILS(EQNODE, _gsync());
	FAILS(EQNODE, _gdsum(&one, 1, scratch));
	FAILS(EQNODE, _gdsum(long_vector, 20000, scratch));
	FAILS(EQNODE, _gcol(&one, sizeof one, scratch, sizeof scratch, &total));
	/* The others are still there. */
	csend(5, &me, sizeof me, (me + (me == 1 ? 2 : 1)) % nodes, 0);
	crecv(5, &number, sizeof number);
}

/* The nodes have met more than once, so that nobody asks the machine any more. Then one dies, before, while or after the others
   come, and an operation that they began together ends for all of them. */
static void dies(int after)
{
	double values[8] = { 1 }, work[8], all[64];
	long total, me = mynode();

	for (int round = 0; round < 3; round++) {
		gsync();
		gdsum(values, 8, work);
	}
	if (me == 2) {
		usleep((useconds_t)after * 1000);
		raise(SIGKILL);
	}
	FAILS(EQNODE, _gsync());
	FAILS(EQNODE, _gdsum(values, 8, work));
	FAILS(EQNODE, _gcol(values, sizeof values[0], all, sizeof all, &total));
	FAILS(EQNODE, _gsync());
}

/* One does not come. */
static void absent(void)
{
	double value = 1, work;

	for (int round = 0; round < 3; round++)
		gsync();
	if (mynode() == 1) {
		printf("absent\n");
		fflush(stdout);
		crecv(1, &number, sizeof number);
	}
	gdsum(&value, 1, &work);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "child") == 0)
		child();
	else if (strcmp(what, "memory") == 0)
		memory();
	else if (strcmp(what, "descriptors") == 0)
		descriptors();
	else if (strcmp(what, "machine") == 0)
		machine();
	else if (strcmp(what, "fellow") == 0 || strcmp(what, "plainly") == 0)
		fellow(what[0] == 'p');
	else if (strcmp(what, "dies") == 0)
		dies(argc > 2 ? atoi(argv[2]) : 0);
	else if (strcmp(what, "absent") == 0)
		absent();
	else {
		/* There is none, and none can be made. */
		FAILS(EQMACHINE, _mynode());
		FAILS(EQMACHINE, _csend(1, &number, sizeof number, 0, 0));
		FAILS(EQMACHINE, _gsync());
	}
	printf("all well\n");
	return 0;
}
