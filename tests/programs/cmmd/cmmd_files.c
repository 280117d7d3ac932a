/* Files that nodes write together, by name on the command line: three nodes. The test looks at standard output as well. */
#include "cmmd_check.h"

#define LONG 150000

int main(int argc, char **argv)
{
	int self = CMMD_self_address(), nodes = CMMD_partition_size();
	char memory[100], *data = malloc(LONG);
	FILE *file, *other;

	GIVES(3, nodes);
	CHECK(argc == 2);
	/* What is refused. */
	FAILS(CMMD_ERR_BAD_BUFFER, CMMD_fset_io_mode(NULL, CMMD_local));
	FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_fset_io_mode(stdout, 9));
	FAILS(CMMD_ERR_UNSUPPORTED, CMMD_fset_io_mode(stdout, CMMD_system));
	GIVES(0, CMMD_fset_io_mode(stdout, CMMD_independent));
	GIVES(0, CMMD_fset_io_mode(stdout, CMMD_local));
	FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_fset_io_mode(stdout, self == 1 ? CMMD_sync_bc : CMMD_sync_seq));
	CHECK((other = fopen("/dev/null", "r")) != NULL);
	if (self == 2)
		FAILS(CMMD_ERR_UNSUPPORTED, CMMD_fset_io_mode(other, CMMD_sync_seq));
	else
		FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_fset_io_mode(stdout, CMMD_sync_seq));
	CHECK((other = fmemopen(memory, sizeof memory, "w")) != NULL);
	FAILS(CMMD_ERR_UNSUPPORTED, CMMD_fset_io_mode(other, CMMD_sync_seq));

	/* In node order, although the last node writes first. */
	GIVES(0, CMMD_fset_io_mode(stdout, CMMD_sync_seq));
	for (int round = 0; round < 3; round++) {
		usleep(3000 * (nodes - self));
		printf("round %d node %d\n", round, self);
		if (round == 1)
			printf("and more of node %d\n", self);
		CMMD_sync_with_nodes();
	}
	/* Once for all; with a second file beside it. */
	CHECK((file = fopen(argv[1], self == 0 ? "w" : "a")) != NULL);
	GIVES(0, CMMD_fset_io_mode(file, CMMD_sync_seq));
	GIVES(0, CMMD_fset_io_mode(stdout, CMMD_sync_bc));
	printf("all of us\n");
	memset(data, 'a' + self, LONG);
	CHECK(fwrite(data, 1, LONG, file) == LONG);
	CMMD_sync_with_nodes();
	GIVES(0, CMMD_fset_io_mode(stdout, CMMD_sync_seq));
	CHECK(fputc('x' + self, file) == 'x' + self);
	/* What was written is out when the mode ends. */
	GIVES(0, CMMD_fset_io_mode(file, CMMD_independent));
	if (self == 1)
		CHECK(fputs("alone", file) >= 0);
	CHECK(fclose(file) == 0);
	CMMD_sync_with_nodes();
	if (self == 0) {
		CHECK((file = fopen(argv[1], "r")) != NULL);
		for (int node = 0; node < nodes; node++)
			for (int i = 0; i < LONG; i++)
				CHECK(fgetc(file) == 'a' + node);
		CHECK(fgets(memory, sizeof memory, file) && !strcmp(memory, "xyzalone"));
		CHECK(fgetc(file) == EOF);
	}
	/* What is left goes out at the end. */
	CMMD_sync_with_nodes();
	printf("end of node %d\n", self);
	return 0;
}
