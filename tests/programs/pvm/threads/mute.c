/* Standard error is a full pipe that nobody reads. What the library says to people holds up no thread, and comes when there is room.
 *
 * mute PROGRAM: spawns a program of which the library says something after some seconds. */
#include "check.h"
#include "beside.h"
#include <fcntl.h>
#include <sys/time.h>

enum { OWN = 1, NEVER };

static int me, errors;
static char *program;

static void beside_round(void)
{
	int value = 1, from, tag, length;

	OK(pvm_psend(me, OWN, &value, 1, PVM_INT));
	OK(pvm_precv(me, OWN, &value, 1, PVM_INT, &from, &tag, &length));
}

static void fill(int at)
{
	static const char piece[4096];
	int ends[2];

	(void)at;
	CHECK(pipe(ends) == 0);
	CHECK(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
	while (write(ends[1], piece, sizeof piece) > 0)
		;
	CHECK(fcntl(ends[1], F_SETFL, 0) == 0);
	CHECK(dup2(ends[1], 2) == 2);
	CHECK(close(ends[1]) == 0);
}

static void wait_for_words(int at)
{
	struct timeval patience = { 6, 0 };
	int tid;

	(void)at;
	GIVES(1, pvm_spawn(program, NULL, PvmTaskDefault, NULL, 1, &tid));
	GIVES(0, pvm_trecv(-1, NEVER, &patience));
	OK(pvm_kill(tid));
	CHECK(dup2(errors, 2) == 2);
}

int main(int argc, char **argv)
{
	int good;

	CHECK(argc == 2 && (me = pvm_mytid()) > 0);
	program = argv[1];
	errors = dup(2);
	good = beside_measure("pvm_trecv", beside_alone(300), 0, fill, wait_for_words);
	OK(pvm_exit());
	return !good;
}
