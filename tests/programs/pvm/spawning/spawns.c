/* Spawns the program that is named, with its arguments, and waits for its end. */
#include "check.h"

enum { ENDED = 1 };

int main(int argc, char **argv)
{
	int tid;

	CHECK(argc > 1 && pvm_mytid() > 0);
	GIVES(1, pvm_spawn(argv[1], argv + 2, PvmTaskDefault, NULL, 1, &tid));
	OK(pvm_notify(PvmTaskExit, ENDED, 1, &tid));
	printf("spawned %x\n", tid);
	fflush(stdout);
	CHECK(pvm_recv(-1, ENDED) > 0);
	OK(pvm_exit());
	return 0;
}
