/* Who buffers, and when a send returns: two nodes, checks 1 to 4. Stamps are of one clock, for both are on one computer.
 * `cmmd_buffering sockets`: the data goes over sockets. */
#include "cmmd_check.h"

#define LONGEST (1 << 20)
static char out[LONGEST], in[LONGEST];
static const int lengths[] = { 1, 8, 100, 5000, 60000, LONGEST };
#define LENGTHS ((int)(sizeof lengths / sizeof *lengths))

static void fill(char *to, int length, int seed)
{
	for (int i = 0; i < length; i++)
		to[i] = (char)(i * 7 + seed);
}

static int holds(const char *from, int length, int seed)
{
	for (int i = 0; i < length; i++)
		if (from[i] != (char)(i * 7 + seed))
			return 0;
	return 1;
}

/* Over sockets a noblock send does not wait until long data has left: it copies the rest. */
static int sockets, late;

/* A blocking send waits for the receive, and nobody buffers. */
static void block(int self, int length)
{
	double posted, returned;
	struct parvum_totals before = totals();

	if (self == 0) {
		fill(out, length, 1);
		CHECK(CMMD_send_block(1, 5, out, length) == 0);
		returned = now();
		CHECK(CMMD_receive_block(1, 6, &posted, sizeof posted) == 0);
		CHECK(returned > posted);
	} else {
		/* The sender is to wait for the receive; it says when it was let go. */
		usleep(20000);
		posted = now();
		CHECK(CMMD_receive_block(0, 5, in, length) == 0 && holds(in, length, 1));
		CHECK(CMMD_send_block(0, 6, &posted, sizeof posted) == 0);
	}
	GIVES(before.buffered_at_sender, totals().buffered_at_sender);
	GIVES(before.buffered_here, totals().buffered_here);
}

/* An asynchronous one returns at once; what it sends is what the memory holds when the receive is posted. */
static void async(int self, int length)
{
	struct parvum_totals before = totals();
	char go = 0;

	if (self == 0) {
		CMMD_mcb mcb;

		fill(out, length, 2);
		mcb = CMMD_send_async(1, 5, out, length, NULL, NULL);
		CHECK(mcb > 0);
		GIVES(0, CMMD_msg_done(mcb));
		/* Time in which it would be buffered, were anybody to. */
		usleep(5000);
		GIVES(0, CMMD_msg_done(mcb));
		fill(out, length, 3);
		CHECK(CMMD_send_block(1, 6, &go, 1) == 0);
		CMMD_msg_wait(mcb);
		GIVES(1, CMMD_msg_done(mcb));
		GIVES(length, CMMD_mcb_bytes(mcb));
		CMMD_free_mcb(mcb);
	} else {
		CHECK(CMMD_receive_block(0, 6, &go, 1) == 0);
		CHECK(CMMD_receive_block(0, 5, in, length) == 0 && holds(in, length, 3));
	}
	GIVES(before.buffered_at_sender, totals().buffered_at_sender);
	GIVES(before.buffered_here, totals().buffered_here);
}

/* A noblock send to a posted receive buffers nothing. Nobody can see from outside that the other one has posted it, or that it
 * would answer in time: a round in which the sender came too early, or waited in vain, proves nothing and is played again. */
static void noblock_posted(int self, int length, int any)
{
	unsigned long copied;

	for (int round = 0, again = 1; again; round++) {
		struct parvum_totals before = totals();

		CHECK(round < 50 || sockets);
		CMMD_sync_with_nodes();
		if (self == 0) {
			/* So that the other has posted; a scene in which it had not is played again, with more time. */
			usleep(2000 << (round < 5 ? round : 5));
			fill(out, length, 4);
			before = totals();
			CHECK(CMMD_send_noblock(1, 7, out, length) == 0);
			memset(out, 0x55, length);
			copied = totals().buffered_at_sender - before.buffered_at_sender;
			CHECK(copied == 0 || copied == (unsigned long)length || (sockets && copied < (unsigned long)length));
			again = copied != 0;
			if (again && sockets && (length > 5000 || round >= 10))
				again = 0, late++;
			/* What the interface sends for itself is no part of what is counted. */
			CMMD_sync_with_nodes();
			CMMD_bc_to_nodes(&again, sizeof again);
		} else {
			before = totals();
			CHECK(CMMD_receive_block(any ? CMMD_ANY_NODE : 0, any ? CMMD_ANY_TAG : 7, in, length) == 0);
			CHECK(holds(in, length, 4));
			GIVES(before.buffered_here, totals().buffered_here);
			CMMD_sync_with_nodes();
			CMMD_receive_bc_from_node(&again, sizeof again);
		}
	}
}

/* To a receive that is not posted: exactly the message is copied, at the sender, and the memory is free at once. */
static void noblock_unposted(int self, int length)
{
	struct parvum_totals before = totals();

	if (self == 0) {
		fill(out, length, 5);
		CHECK(CMMD_send_noblock(1, 7, out, length) == 0);
		memset(out, 0x55, length);
		GIVES(before.buffered_at_sender + length, totals().buffered_at_sender);
		GIVES(length, CMMD_bytes_sent());
		CMMD_sync_with_nodes();
	} else {
		/* It computes; the sender does not wait for that. */
		usleep(5000);
		before = totals();
		CMMD_sync_with_nodes();
		CHECK(CMMD_receive_block(0, 7, in, length) == 0 && holds(in, length, 5));
		GIVES(before.buffered_here, totals().buffered_here);
	}
}

int main(int argc, char **argv)
{
	int self = CMMD_self_address();

	sockets = argc > 1 && !strcmp(argv[1], "sockets");

	GIVES(2, CMMD_partition_size());
	for (int i = 0; i < LENGTHS; i++) {
		block(self, lengths[i]);
		async(self, lengths[i]);
		for (int round = 0; round < 3; round++) {
			noblock_posted(self, lengths[i], 0);
			CMMD_sync_with_nodes();
			noblock_unposted(self, lengths[i]);
		}
		noblock_posted(self, lengths[i], 1);
		CMMD_sync_with_nodes();
	}
	if (self == 0 && late)
		printf("%d posted receives that the sender copied for\n", late);
	if (self == 0)
		puts("all well");
	return 0;
}
