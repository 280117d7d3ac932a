/* Two threads of a node: one waits, in one call after the other, and the other does what it waits for. Two nodes. */
#include "cmmd_check.h"
#include "waiter.h"

enum { ASK = 1, ANSWER, JOIN, DONE };
#define ROUNDS 300

static void receive_block(void)
{
	int value;

	for (int i = 0; i < ROUNDS; i++) {
		GIVES(0, CMMD_receive_block(1, ANSWER, &value, sizeof value));
		GIVES(i, value);
	}
}

static void receive_async(void)
{
	int value;

	for (int i = 0; i < ROUNDS; i++) {
		CMMD_mcb mcb = CMMD_receive_async(1, ANSWER, &value, sizeof value, NULL, NULL);

		CHECK(mcb > 0);
		CMMD_msg_wait(mcb);
		CMMD_free_mcb(mcb);
		GIVES(i, value);
	}
}

/* The other node receives it when the other thread has told it to. */
static void send_block(void)
{
	int value = ROUNDS;

	GIVES(0, CMMD_send_block(1, DONE, &value, sizeof value));
}

static void barrier(void)
{
	CMMD_sync_with_nodes();
}

static void reduce(void)
{
	GIVES(3, CMMD_reduce_int(1, CMMD_combiner_add));
}

static void with_answers(void (*wait)(void))
{
	struct waiter waiter;

	waiter_start(&waiter, wait);
	for (int i = 0; i < ROUNDS; i++)
		GIVES(0, i % 2 ? CMMD_send_block(1, ASK, &i, sizeof i) : CMMD_send_noblock(1, ASK, &i, sizeof i));
	waiter_end(&waiter);
}

/* The other node comes only when it was sent something. */
static void with_a_word(void (*wait)(void))
{
	struct waiter waiter;
	int value = 7;

	waiter_start(&waiter, wait);
	GIVES(0, CMMD_send_noblock(1, JOIN, &value, sizeof value));
	waiter_end(&waiter);
}

static void asks(void)
{
	with_answers(receive_block);
	with_answers(receive_async);
	with_a_word(send_block);
	with_a_word(barrier);
	with_a_word(reduce);
}

static void await_word(void)
{
	int value;

	GIVES(0, CMMD_receive_block(0, JOIN, &value, sizeof value));
	GIVES(7, value);
}

static void answers(void)
{
	int value;

	for (int i = 0; i < 2 * ROUNDS; i++) {
		GIVES(0, CMMD_receive_block(0, ASK, &value, sizeof value));
		GIVES(i % ROUNDS, value);
		GIVES(0, CMMD_send_noblock(0, ANSWER, &value, sizeof value));
	}
	await_word();
	GIVES(0, CMMD_receive_block(0, DONE, &value, sizeof value));
	await_word();
	CMMD_sync_with_nodes();
	await_word();
	GIVES(3, CMMD_reduce_int(2, CMMD_combiner_add));
}

int main(void)
{
	CMMD_self_address() == 0 ? asks() : answers();
	puts("all well");
	return 0;
}
