/* One node ends; the other learns it when it sends there, or waits for it alone. */
#include "nx_check.h"

int main(void)
{
	long number = 1, info[8];

	gsync();
	if (mynode() == 1)
		return 0;
	FAILS(EQNODE, _crecvx(1, &number, sizeof number, 1, -1, info));
	FAILS(EQNODE, _csend(1, &number, sizeof number, 1, 0));
	printf("all well\n");
	return 0;
}
