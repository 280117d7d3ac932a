/* A host and its nodes, in one program. */
#include "cmmd_check.h"

int main(void)
{
	int n, number = 41, *all;

	if (CMMD_am_node()) {
		int self;

		GIVES(0, CMMD_enable_host());
		self = CMMD_self_address(), n = CMMD_partition_size();
		GIVES(n, CMMD_host_node());
		GIVES(0, CMMD_receive_bc_from_host(&number, sizeof number));
		GIVES(42, number);
		number += self;
		GIVES(0, CMMD_concat_elements_to_host(&number, sizeof number));
		GIVES(0, CMMD_receive_element_from_host(&number, sizeof number));
		GIVES(self * self, number);
		CMMD_reduce_to_host_int(self, CMMD_combiner_add);
		CMMD_reduce_to_host_double(self + 0.5, CMMD_combiner_dmax);
		CMMD_reduce_to_host_uint(3000000000u - self, CMMD_combiner_umax);
		CMMD_reduce_to_host_lint(-(1L << 40) - self, CMMD_combiner_max);
		CMMD_reduce_to_host_luint(1ul << 60, CMMD_combiner_uadd);
		CMMD_reduce_to_host_float(0.25f + self, CMMD_combiner_fmax);
		CMMD_sync_with_host();
		if (self == n - 1)
			CMMD_set_global_or(1);
		CHECK(CMMD_receive_block(CMMD_host_node(), 3, &number, sizeof number) == 0);
		GIVES(n, CMMD_msg_sender());
		CMMD_set_global_or(0);
		CMMD_sync_with_host();
		while (CMMD_get_global_or())
			;
		CMMD_sync_with_host();
		return 0;
	}
	GIVES(0, CMMD_enable());
	n = CMMD_partition_size();
	GIVES(n, CMMD_self_address());
	all = calloc(n, sizeof *all);
	number++;
	GIVES(0, CMMD_bc_from_host(&number, sizeof number));
	GIVES(0, CMMD_gather_from_nodes(all, sizeof *all));
	for (int i = 0; i < n; i++) {
		GIVES(42 + i, all[i]);
		all[i] = i * i;
	}
	GIVES(0, CMMD_distrib_to_nodes(all, sizeof *all));
	GIVES(n * (n - 1) / 2, CMMD_reduce_from_nodes_int(0, CMMD_combiner_add));
	CHECK(CMMD_reduce_from_nodes_double(0, CMMD_combiner_dmax) == n - 0.5);
	CHECK(CMMD_reduce_from_nodes_uint(7, CMMD_combiner_umax) == 3000000000u);
	CHECK(CMMD_reduce_from_nodes_lint(-(1L << 50), CMMD_combiner_max) == -(1L << 40));
	CHECK(CMMD_reduce_from_nodes_luint(5, CMMD_combiner_uadd) == 5 + ((unsigned long)n << 60));
	CHECK(CMMD_reduce_from_nodes_float(100.5f, CMMD_combiner_fmax) == 100.5);
	CMMD_sync_host_with_nodes();
	while (!CMMD_get_global_or())
		;
	for (int i = 0; i < n; i++)
		CHECK(CMMD_send_block(i, 3, &number, sizeof number) == 0);
	CMMD_sync_host_with_nodes();
	while (CMMD_get_global_or())
		;
	CMMD_sync_host_with_nodes();
	FAILS(CMMD_ERR_NO_HOST, CMMD_enable_host());
	FAILS(CMMD_ERR_NO_HOST, CMMD_bc_to_nodes(&number, 4));
	printf("%d nodes, all well\n", n);
	return 0;
}
