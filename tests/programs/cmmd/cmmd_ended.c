/* The last node ends before the others come together. */
#include "cmmd_check.h"

int main(void)
{
	int self = CMMD_self_address(), nodes = CMMD_partition_size(), all[16];
	static double vector[20000];

	if (self == nodes - 1)
		return 0;
	for (int round = 0; round < 2; round++) {
		CMMD_sync_with_nodes();
		GIVES(CMMD_ERR_GONE, CMMD_get_errno());
	}
	GIVES(0, CMMD_reduce_int(1, CMMD_combiner_add));
	GIVES(CMMD_ERR_GONE, CMMD_get_errno());
	GIVES(0, CMMD_scan_int(1, CMMD_combiner_add, CMMD_upward, CMMD_none, 0, CMMD_inclusive));
	FAILS(CMMD_ERR_GONE, CMMD_reduce_v(vector, vector, CMMD_combiner_dadd, sizeof *vector, 20000));
	FAILS(CMMD_ERR_GONE, CMMD_concat_with_nodes(&self, all, sizeof self));
	if (self == 0)
		puts("all well");
	return 0;
}
