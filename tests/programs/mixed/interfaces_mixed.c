/* Task 0 of PVM, 1 of NX and 2 of CMMD: each sends to both others and receives from them, in every way that they have, with
 * messages of many lengths. Three tasks of one run, anywhere. */
#include <cmmd.h>
#include <nx.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(holds)                                                                             \
	do {                                                                                     \
		if (!(holds)) {                                                                  \
			fprintf(stderr, "%s:%d: task %d: not so: %s\n", __FILE__, __LINE__, me, #holds); \
			_exit(1);                                                                \
		}                                                                                \
	} while (0)

enum { LONGEST = 1 << 20, ROUNDS = 3 };
static const int lengths[] = { 0, 1, 8, 100, 4096, 16384, 16385, 200000, LONGEST };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static char out[LONGEST], in[LONGEST];
static int me, *tids;

/* What task `from` sends to `to` in a round: every byte of it is known. */
static char letter(int from, int to, int length, int at)
{
	return (char)(at * 7 + from * 31 + to * 3 + length % 251);
}

static void fill(int to, int length)
{
	for (int at = 0; at < length; at++)
		out[at] = letter(me, to, length, at);
}

static void check(int from, int length, long got)
{
	CHECK(got == length);
	for (int at = 0; at < length; at++)
		CHECK(in[at] == letter(from, me, length, at));
	memset(in, 0, length);
}

/* The tag says who sends. `way`: another call for the same in each round. */
static void send(int to, int length, int way)
{
	fill(to, length);
	if (me == 0 && way % 2 == 0) {
		CHECK(pvm_psend(tids[to], me, out, length, PVM_BYTE) == 0);
	} else if (me == 0) {
		CHECK(pvm_initsend(PvmDataRaw) >= 0 && pvm_pkbyte(out, length, 1) == 0 && pvm_send(tids[to], me) == 0);
	} else if (me == 1 && way % 2 == 0) {
		csend(me, out, length, to, 0);
	} else if (me == 1) {
		msgwait(isend(me, out, length, to, 0));
	} else if (way == 0) {
		CHECK(CMMD_send_noblock(to, me, out, length) == 0);
	} else if (way == 1) {
		CHECK(CMMD_send_block(to, me, out, length) == 0);
	} else {
		CMMD_mcb mcb = CMMD_send_async(to, me, out, length, NULL, NULL);

		CHECK(mcb > 0);
		CMMD_msg_wait(mcb);
		CMMD_free_mcb(mcb);
	}
}

static void receive(int from, int length, int way)
{
	int got = -1, tag, tid;

	if (me == 0 && way % 2 == 0) {
		CHECK(pvm_precv(tids[from], from, in, LONGEST, PVM_BYTE, &tid, &tag, &got) == 0);
		CHECK(tid == tids[from] && tag == from);
	} else if (me == 0) {
		CHECK(pvm_recv(-1, from) > 0 && pvm_bufinfo(pvm_getrbuf(), &got, &tag, &tid) == 0);
		CHECK(tid == tids[from] && pvm_upkbyte(in, got, 1) == 0);
	} else if (me == 1 && way % 2 == 0) {
		crecv(from, in, LONGEST);
		CHECK(infonode() == from && infotype() == from);
		got = (int)infocount();
	} else if (me == 1) {
		msgwait(irecv(from, in, LONGEST));
		got = (int)infocount();
	} else if (way % 2 == 0) {
		CHECK(CMMD_receive_block(from, from, in, LONGEST) == 0 && CMMD_msg_sender() == from);
		got = CMMD_bytes_received();
	} else {
		CMMD_mcb mcb = CMMD_receive_async(CMMD_ANY_NODE, from, in, LONGEST, NULL, NULL);

		CHECK(mcb > 0);
		CMMD_msg_wait(mcb);
		CHECK(CMMD_mcb_source(mcb) == from);
		got = CMMD_mcb_bytes(mcb);
		CMMD_free_mcb(mcb);
	}
	check(from, length, got);
}

int main(void)
{
	int mytid = pvm_mytid();

	CHECK(pvm_siblings(&tids) == 3);
	while (tids[me] != mytid)
		me++;
	if (me == 1)
		CHECK(mynode() == 1 && numnodes() == 3);
	if (me == 2)
		CHECK(CMMD_self_address() == 2 && CMMD_partition_size() == 3);
	for (int round = 0; round < ROUNDS; round++)
		for (int at = 0; at < LENGTHS; at++)
			/* Round the circle one way, then the other; who waits for a receive never waits for who waits for him. */
			for (int turn = 1; turn < 3; turn++)
				for (int from = 0; from < 3; from++) {
					int to = (from + turn) % 3;

					if (me == from)
						send(to, lengths[at], round);
					if (me == to)
						receive(from, lengths[at], round);
				}
	pvm_exit();
	if (me == 0)
		printf("all well\n");
	return 0;
}
