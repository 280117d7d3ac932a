/* Plain calls that must end the program, each named on the command line. */
#include "nx_check.h"

static long number;

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long me = mynode(), ids[NX_IDS + 1];

#define WHEN(name, ...)                        \
	if (strcmp(what, name) == 0) {         \
		__VA_ARGS__;                   \
	}
	WHEN("msglong", csend(1, &number, 8, me, 0); crecv(1, &number, 4))
	WHEN("pbuf", csend(1, NULL, 8, me, 0))
	WHEN("len", crecv(1, &number, -1))
	WHEN("blen", csend(1, &number, 1L << 60, me, 0))
	WHEN("node", csend(1, &number, 8, 99, 0))
	WHEN("pid", csend(1, &number, 8, me, -1))
	WHEN("type", csend(-3, &number, 8, me, 0))
	WHEN("mid", msgwait(12345))
	WHEN("hnd", hrecv(1, &number, 8, NULL))
	WHEN("nomid", for (int i = 0; i <= NX_IDS; i++) ids[i] = irecv(1, &number, 8); number = ids[0])
	WHEN("set", csend(1, &number, 8, me, 0); setptype(1))
	WHEN("noset", nx_initve(NULL, 1, NULL, NULL, NULL); csend(1, &number, 8, me, 0))
	WHEN("done", printf("well\n"))
	return 0;
}
