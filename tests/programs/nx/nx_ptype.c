/* ptypes: chosen once, sent along; a service process must choose. */
#include "nx_check.h"

int main(int argc, char **argv)
{
	long number = 1;

	if (argc > 1 && strcmp(argv[1], "service") == 0) {
		FAILS(EQPARAM, nx_initve(NULL, 100, NULL, &argc, argv));
		GIVES(1, nx_initve(NULL, -1, NULL, &argc, argv));
		GIVES(INVALID_PTYPE, myptype());
		FAILS(EQNOSET, _csend(1, &number, sizeof number, 0, 0));
		FAILS(EQNOSET, _iprobe(1));
		FAILS(EQNOSET, _gsync());
	}
	setptype(5);
	FAILS(EQSET, _setptype(5));
	GIVES(5, myptype());
	csend(1, &number, sizeof number, mynode(), 5);
	crecv(1, &number, sizeof number);
	GIVES(5, infoptype());
	GIVES(5, infopid());
	printf("all well\n");
	return 0;
}
