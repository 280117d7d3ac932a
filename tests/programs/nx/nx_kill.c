/* Stopping processes: one node, then all of them. Three nodes. */
#include "nx_check.h"

int main(void)
{
	long number = 1, info[8], me = mynode();

	GIVES(3, numnodes());
	gsync();
	/* A node that has left may be one without which others do not: who is to be killed, and who stays, are through. */
	if (me == 0) {
		crecv(5, &number, sizeof number);
		crecv(5, &number, sizeof number);
	} else {
		csend(5, &number, sizeof number, 0, 0);
	}
	if (me == 1)
		crecv(1, &number, sizeof number);
	if (me == 2) {
		crecv(2, &number, sizeof number);
		csend(3, &number, sizeof number, 0, 0);
		crecv(1, &number, sizeof number);
	}
	if (me == 0) {
		GIVES(0, _killproc(1, 0));
		/* Nothing comes from there any more; the others live. */
		FAILS(EQNODE, _crecvx(4, &number, sizeof number, 1, -1, info));
		FAILS(EQNODE, _csend(1, &number, sizeof number, 1, 0));
		csend(2, &number, sizeof number, 2, 0);
		crecv(3, &number, sizeof number);
		/* Who is gone need not be stopped. */
		GIVES(0, _killcube(1, -1));
		printf("one is gone\n");
		fflush(stdout);
		killcube(-1, -1);
		compute(10000);
	}
	printf("not reached by %ld\n", me);
	return 0;
}
