/* Wildcards, probing, order, handlers, strided messages, a matching function: three nodes. Checks 6 to 8. */
#include "cmmd_check.h"

static int ran, last_mcb;
static void *with;

static void handler(CMMD_mcb *mcb, void *arg)
{
	ran++;
	last_mcb = *mcb;
	with = arg;
}

static int even_ones(int wanted_node, int wanted_tag, int node, int tag)
{
	(void)node;
	CHECK(wanted_node == 0 && wanted_tag == 1);
	GIVES(CMMD_ERRVAL, CMMD_msg_tag());
	return tag % 2 == 0;
}

static void wildcards(int self)
{
	int value = self * 10, got;

	if (self > 0) {
		CHECK(CMMD_send_noblock(0, 20 + self, &value, sizeof value) == 0);
		return;
	}
	GIVES(0, CMMD_msg_pending(CMMD_ANY_NODE, 99));
	GIVES(0, CMMD_mcb_pending(CMMD_ANY_NODE, 99));
	/* Probing takes nothing. */
	while (CMMD_msg_pending(2, CMMD_ANY_TAG) == 0)
		;
	for (int i = 0; i < 3; i++) {
		CMMD_mcb found = CMMD_mcb_pending(2, 22);

		GIVES(1, CMMD_msg_pending(2, 22));
		GIVES(2, CMMD_msg_sender());
		GIVES(22, CMMD_msg_tag());
		GIVES(4, CMMD_bytes_received());
		CHECK(found > 0);
		GIVES(4, CMMD_mcb_bytes(found));
		GIVES(4, CMMD_mcb_len(found));
		GIVES(22, CMMD_mcb_tag(found));
		GIVES(2, CMMD_mcb_source(found));
		GIVES(0, CMMD_mcb_dest(found));
		CMMD_free_mcb(found);
	}
	CHECK(CMMD_receive_block(CMMD_ANY_NODE, 22, &got, sizeof got) == 0);
	CHECK(got == 20 && CMMD_msg_sender() == 2 && CMMD_msg_tag() == 22 && CMMD_bytes_received() == 4);
	CHECK(CMMD_receive_block(CMMD_ANY_NODE, CMMD_ANY_TAG, &got, sizeof got) == 0);
	CHECK(got == 10 && CMMD_msg_sender() == 1 && CMMD_msg_tag() == 21);
	GIVES(0, CMMD_msg_pending(CMMD_ANY_NODE, CMMD_ANY_TAG));
}

/* One pair and one tag: as sent. Different tags: as asked for. */
static void order(int self)
{
	int got;

	if (self == 1)
		for (int i = 0; i < 300; i++)
			CHECK(CMMD_send_noblock(0, i % 3, &i, sizeof i) == 0);
	if (self == 0)
		for (int tag = 2; tag >= 0; tag--)
			for (int i = tag; i < 300; i += 3) {
				CHECK(CMMD_receive_block(1, i < 150 ? tag : tag, &got, sizeof got) == 0);
				GIVES(i, got);
			}
}

static void handlers(int self)
{
	int values[4] = { 0 }, wait = 0;
	CMMD_mcb mcbs[4];

	if (self == 1) {
		CHECK(CMMD_receive_block(0, 8, &wait, sizeof wait) == 0);
		for (int i = 0; i < 4; i++)
			CHECK(CMMD_send_noblock(0, 30 + i, &i, sizeof i) == 0);
		return;
	}
	if (self != 0)
		return;
	ran = 0;
	for (int i = 0; i < 4; i++) {
		mcbs[i] = CMMD_receive_async(1, 30 + i, &values[i], sizeof values[i], i < 3 ? handler : NULL, &values[i]);
		CHECK(mcbs[i] > 0);
		GIVES((long)&values[i], (long)CMMD_mcb_buffer(mcbs[i]));
	}
	GIVES(1, CMMD_disable_interrupts());
	GIVES(0, CMMD_all_receives_done());
	GIVES(1, CMMD_all_sends_done());
	CHECK(CMMD_send_block(1, 8, &wait, sizeof wait) == 0);
	while (!CMMD_all_receives_done())
		;
	GIVES(0, ran);
	GIVES(0, CMMD_enable_interrupts());
	GIVES(3, ran);
	for (int i = 0; i < 4; i++) {
		CMMD_msg_wait(mcbs[i]);
		GIVES(i, values[i]);
		GIVES(30 + i, CMMD_mcb_tag(mcbs[i]));
		GIVES(1, CMMD_mcb_node(mcbs[i]));
		CMMD_free_mcb(mcbs[i]);
	}
	CMMD_poll();
	GIVES(3, ran);
	CHECK(last_mcb == mcbs[2] && with == &values[2]);
}

/* Handlers run while the program waits for something else, once each. */
static void handlers_in_waits(int self)
{
	int value = 7, other = 0;

	if (self == 1) {
		CHECK(CMMD_send_noblock(0, 40, &value, sizeof value) == 0);
		CHECK(CMMD_receive_block(0, 41, &other, sizeof other) == 0);
		GIVES(7, other);
	} else if (self == 0) {
		CMMD_mcb mcb;

		/* The message may have come already: then its handler would run within the receive itself. */
		ran = 0;
		CHECK(CMMD_disable_interrupts() == 1);
		mcb = CMMD_receive_async(1, 40, &other, sizeof other, handler, NULL);
		GIVES(0, ran);
		while (ran == 0)
			CMMD_poll();
		GIVES(7, other);
		CHECK(CMMD_enable_interrupts() == 0);
		CMMD_free_mcb(mcb);
		mcb = CMMD_send_async(1, 41, &other, sizeof other, handler, NULL);
		CHECK(mcb > 0);
		CMMD_all_msgs_wait();
		GIVES(2, ran);
		CMMD_free_mcb(mcb);
	}
}

static void strides(int self)
{
	int grid[6][5] = { { 0 } };

	if (self == 0) {
		for (int i = 0; i < 30; i++)
			grid[i / 5][i % 5] = i;
		CHECK(CMMD_send_block_v(1, 50, &grid[0][2], sizeof(int), sizeof grid[0], 6) == 0);
		CHECK(CMMD_send_noblock_v(1, 51, &grid[0][3], sizeof(int), sizeof grid[0], 6) == 0);
		GIVES(1, CMMD_swap_v(1, &grid[0][0], sizeof(int), sizeof grid[0], 6, &grid[0][4], sizeof(int),
				     sizeof grid[0], 6));
		for (int i = 0; i < 6; i++)
			GIVES(i * 5 + 2, grid[i][0]);
	} else if (self == 1) {
		int row[6];
		CMMD_mcb mcb = CMMD_receive_async_v(0, 51, &grid[0][1], sizeof(int), sizeof grid[0], 6, NULL, NULL);

		CHECK(mcb > 0);
		CHECK(CMMD_receive_block_v(0, 50, &grid[0][0], sizeof(int), sizeof grid[0], 6) == 0);
		CMMD_msg_wait(mcb);
		CMMD_free_mcb(mcb);
		for (int i = 0; i < 6; i++)
			CHECK(grid[i][0] == i * 5 + 2 && grid[i][1] == i * 5 + 3 && grid[i][2] == 0);
		GIVES(1, CMMD_swap_v(0, row, sizeof(int), sizeof(int), 6, &grid[0][0], sizeof(int), sizeof grid[0], 6));
		GIVES(24, CMMD_bytes_received());
		for (int i = 0; i < 6; i++)
			GIVES(i * 5 + 4, row[i]);
	}
}

static void by_function(int self)
{
	int got;

	if (self == 1)
		for (int i = 0; i < 4; i++)
			CHECK(CMMD_send_noblock(0, i, &i, sizeof i) == 0);
	if (self == 0) {
		CMMD_mcb mcb;

		CMMD_set_msg_matching_fcn(even_ones);
		CHECK(CMMD_receive_block(0, 1, &got, sizeof got) == 0);
		GIVES(0, got);
		mcb = CMMD_receive_async(0, 1, &got, sizeof got, NULL, NULL);
		CMMD_msg_wait(mcb);
		GIVES(2, got);
		CMMD_free_mcb(mcb);
		CMMD_set_msg_matching_fcn(NULL);
		CHECK(CMMD_receive_block(1, CMMD_ANY_TAG, &got, sizeof got) == 0);
		GIVES(1, got);
		CHECK(CMMD_receive_block(1, CMMD_ANY_TAG, &got, sizeof got) == 0);
		GIVES(3, got);
	}
}

int main(void)
{
	int self = CMMD_self_address();

	GIVES(3, CMMD_partition_size());
	wildcards(self);
	CMMD_sync_with_nodes();
	order(self);
	CMMD_sync_with_nodes();
	handlers(self);
	CMMD_sync_with_nodes();
	handlers_in_waits(self);
	CMMD_sync_with_nodes();
	strides(self);
	CMMD_sync_with_nodes();
	by_function(self);
	CMMD_sync_with_nodes();
	if (self == 0)
		puts("all well");
	return 0;
}
