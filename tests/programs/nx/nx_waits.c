/* Two nodes that wait for each other in crecv: for `parvum why`. */
#include "nx_check.h"

int main(void)
{
	char word[8];

	printf("waits %ld\n", mynode());
	fflush(stdout);
	crecv(5 + mynode(), word, sizeof word);
	return 0;
}
