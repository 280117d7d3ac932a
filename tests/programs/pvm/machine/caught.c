/* Catches the output of a task on another host, which then leaves the machine: pvm_exit does not wait for more output.
 * Argument of the first: the host. */
#include "check.h"

enum { READY = 1, ENDED };

int main(int argc, char **argv)
{
	char *role[] = { "child", NULL };
	int tid, status;

	CHECK(argc == 2);
	if (strcmp(argv[1], "child") == 0) {
		printf("a word\n");
		fflush(stdout);
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_send(pvm_parent(), READY));
		pvm_recv(-1, -1);
		return 0;
	}
	OK(pvm_catchout(stdout));
	GIVES(1, pvm_spawn(argv[0], role, PvmTaskHost, argv[1], 1, &tid));
	CHECK(pvm_recv(tid, READY) > 0);
	OK(pvm_notify(PvmTaskExit, ENDED, 1, &tid));
	GIVES(1, pvm_delhosts(&argv[1], 1, &status));
	CHECK(pvm_recv(-1, ENDED) > 0);
	pvm_exit();
	printf("has left\n");
	return 0;
}
