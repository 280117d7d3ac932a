/* What nodes do together: any number of them. Checks 10 to 13. */
#include "cmmd_check.h"

static int self, nodes;

#define ALL(result, first, step)                                \
	do {                                                    \
		result = first;                                 \
		for (int node = 1; node < nodes; node++)        \
			step;                                   \
	} while (0)

#define VALUE(node) ((node) * 3 % 7 + 1)

#define WHOLE(type, name, u)                                                                     \
	static void reduce_##name(void)                                                          \
	{                                                                                        \
		type mine = (type)VALUE(self), want;                                             \
		ALL(want, (type)VALUE(0), want += (type)VALUE(node));                            \
		CHECK(CMMD_reduce_##name(mine, CMMD_combiner_##u##add) == want);                 \
		ALL(want, (type)VALUE(0), want = (type)VALUE(node) > want ? (type)VALUE(node) : want); \
		CHECK(CMMD_reduce_##name(mine, CMMD_combiner_##u##max) == want);                 \
		ALL(want, (type)VALUE(0), want = (type)VALUE(node) < want ? (type)VALUE(node) : want); \
		CHECK(CMMD_reduce_##name(mine, CMMD_combiner_##u##min) == want);                 \
	}
#define BITS(type, name)                                                                         \
	static void bits_##name(void)                                                            \
	{                                                                                        \
		type mine = (type)VALUE(self), want;                                             \
		ALL(want, (type)VALUE(0), want &= (type)VALUE(node));                            \
		CHECK(CMMD_reduce_##name(mine, CMMD_combiner_and) == want);                      \
		ALL(want, (type)VALUE(0), want |= (type)VALUE(node));                            \
		CHECK(CMMD_reduce_##name(mine, CMMD_combiner_ior) == want);                      \
		ALL(want, (type)VALUE(0), want ^= (type)VALUE(node));                            \
		CHECK(CMMD_reduce_##name(mine, CMMD_combiner_xor) == want);                      \
	}
WHOLE(int, int, )
WHOLE(unsigned, uint, u)
WHOLE(long, lint, )
WHOLE(unsigned long, luint, u)
WHOLE(double, double, d)
WHOLE(float, float, f)
BITS(int, int)
BITS(unsigned, uint)
BITS(long, lint)
BITS(unsigned long, luint)

static void reductions(void)
{
	double vector[5], sums[5], sum = 0;
	int count[3] = { self, 1, -self }, all[3];

	reduce_int(), reduce_uint(), reduce_lint(), reduce_luint(), reduce_double(), reduce_float();
	bits_int(), bits_uint(), bits_lint(), bits_luint();
	/* Plain add for a double. */
	for (int node = 0; node < nodes; node++)
		sum += node + 0.5;
	CHECK(CMMD_reduce_double(self + 0.5, CMMD_combiner_add) == sum);
	/* Bit for bit the same everywhere. */
	vector[0] = CMMD_reduce_double(1.0 / (self + 3), CMMD_combiner_dadd);
	CHECK(CMMD_reduce_double(vector[0], CMMD_combiner_dmax) == CMMD_reduce_double(vector[0], CMMD_combiner_dmin));
	for (int i = 0; i < 5; i++)
		vector[i] = self + i;
	CHECK(CMMD_reduce_v(sums, vector, CMMD_combiner_dadd, sizeof *vector, 5) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(sums[i] == nodes * i + nodes * (nodes - 1) / 2 && vector[i] == self + i);
	CHECK(CMMD_reduce_v(vector, vector, CMMD_combiner_dmax, sizeof *vector, 5) == 0);
	CHECK(vector[4] == nodes + 3);
	CHECK(CMMD_reduce_v(all, count, CMMD_combiner_add, sizeof *count, 3) == 0);
	CHECK(all[0] == nodes * (nodes - 1) / 2 && all[1] == nodes && all[2] == -all[0]);
	FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_reduce_v(all, count, 99, sizeof *count, 3));
	FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_reduce_v(all, count, CMMD_combiner_add, 3, 3));
	FAILS(CMMD_ERR_BAD_LENGTH, CMMD_reduce_v(all, count, CMMD_combiner_add, 4, -1));
	GIVES(0, CMMD_reduce_double(1, CMMD_combiner_xor));
	GIVES(CMMD_ERR_BAD_ARGUMENT, CMMD_get_errno());
}

/* Against a serial scan of the same values, in every way. */
static void scans(void)
{
	for (int down = 0; down < 2; down++)
		for (int mode = 0; mode < 3; mode++)
			for (int kind = 0; kind < 2; kind++) {
				int total = 0, before = 0, want = 0, own = down ? nodes - 1 - self : self;

				for (int place = 0; place <= own; place++) {
					int node = down ? nodes - 1 - place : place, begins = 0;

					if (place > 0 && node % 3 == 0 && mode != CMMD_none) {
						before = total;
						total = 0;
						begins = 1;
					}
					want = begins && mode == CMMD_start_bit ? before : total;
					total += VALUE(node);
				}
				if (kind == CMMD_inclusive)
					want = total;
				GIVES(want, CMMD_scan_int(VALUE(self), CMMD_combiner_add, down, mode, self % 3 == 0, kind));
				GIVES(want, CMMD_scan_luint(VALUE(self), CMMD_combiner_uadd, down, mode, self % 3 == 0,
							    kind));
				CHECK(CMMD_scan_double(VALUE(self), CMMD_combiner_dadd, down, mode, self % 3 == 0, kind) ==
				      want);
				CHECK(CMMD_scan_float(VALUE(self), CMMD_combiner_fadd, down, mode, self % 3 == 0, kind) ==
				      want);
			}
	GIVES(nodes - 1 - (nodes - 1 - self), CMMD_scan_uint(self, CMMD_combiner_umax, CMMD_upward, CMMD_none, 0,
							     CMMD_inclusive));
	GIVES(0, CMMD_scan_int(1, CMMD_combiner_add, 7, CMMD_none, 0, CMMD_inclusive));
	GIVES(CMMD_ERR_BAD_ARGUMENT, CMMD_get_errno());
}

static void broadcasts(void)
{
	static char data[200000];
	int *all = malloc(nodes * sizeof(int));

	for (int root = 0; root < nodes; root++)
		for (int round = 0; round < 2; round++) {
			int length = round ? (int)sizeof data : 5;

			memset(data, self == root ? 'a' + root % 26 : 0, length);
			GIVES(0, self == root ? CMMD_bc_to_nodes(data, length) : CMMD_receive_bc_from_node(data, length));
			CHECK(data[0] == 'a' + root % 26 && data[length - 1] == 'a' + root % 26);
		}
	/* One has too little room: it is told, and those below it get all of it. */
	for (int length = 50; length <= (int)sizeof data; length *= 10) {
		memset(data, self == 0 ? 'z' : 0, sizeof data);
		if (self == 0)
			GIVES(0, CMMD_bc_to_nodes(data, length));
		else if (self == 2)
			FAILS(CMMD_ERR_TRUNCATED, CMMD_receive_bc_from_node(data, 20));
		else
			GIVES(0, CMMD_receive_bc_from_node(data, length));
		CHECK(data[19] == 'z' && (data[length - 1] == 'z') == (self != 2));
	}
	GIVES(0, CMMD_concat_with_nodes(&self, all, sizeof self));
	for (int node = 0; node < nodes; node++)
		GIVES(node, all[node]);
	free(all);
}

static void wait_or(int want)
{
	double until = now() + 100;

	while (CMMD_get_global_or() != want)
		CHECK(now() < until);
}

static void global_or(void)
{
	GIVES(0, CMMD_get_global_or());
	CMMD_sync_with_nodes();
	for (int node = 0; node < nodes; node++) {
		if (self == node)
			CMMD_set_global_or(1);
		wait_or(1);
		CMMD_sync_with_nodes();
		CMMD_set_global_or(0);
		wait_or(0);
		CMMD_sync_with_nodes();
	}
	/* It clears when the last one has. */
	CMMD_set_global_or(1);
	CMMD_sync_with_nodes();
	if (self != 0)
		CMMD_set_global_or(0);
	CMMD_sync_with_nodes();
	/* A bit may come later than a barrier that it was set before: the barrier takes other ways. */
	wait_or(1);
	/* It does not go away by itself. */
	usleep(3000);
	wait_or(1);
	CMMD_sync_with_nodes();
	CMMD_set_global_or(0);
	wait_or(0);
}

static void split_barriers(void)
{
	for (int round = 0; round < 5; round++) {
		if (self == round % nodes && nodes > 1) {
			/* The others come first, mostly. */
			usleep(3000);
			GIVES(CMMD_ERRVAL, CMMD_sync_with_nodes_done());
		}
		CMMD_sync_with_nodes_start();
		if (self == (round + 1) % nodes)
			while (!CMMD_sync_with_nodes_done())
				;
		CMMD_sync_with_nodes_finish();
	}
}

int main(int argc, char **argv)
{
	self = CMMD_self_address();
	nodes = CMMD_partition_size();
	GIVES(argc > 1 ? atoi(argv[1]) : 1, nodes);
	reductions();
	scans();
	broadcasts();
	global_or();
	split_barriers();
	CMMD_sync_with_nodes();
	if (nodes > 1) {
		CHECK(CMMD_reset_partition_size(nodes - 1) == 0);
		GIVES(nodes - 1, CMMD_partition_size());
		GIVES(nodes - 1, CMMD_reduce_int(1, CMMD_combiner_add));
		CMMD_sync_with_nodes();
	}
	FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_reset_partition_size(0));
	if (self == 0)
		puts("all well");
	return 0;
}
