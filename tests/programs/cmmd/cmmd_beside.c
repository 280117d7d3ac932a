/* Each call of CMMD that waits, in one thread; a second thread sends to itself meanwhile and must not stand still. Two nodes.
 *
 * cmmd_beside SITUATION: the partner comes half a second late (`silent`, and then there is no credit any more), is stopped (`stopped`), the daemon is stopped (`daemon`), or sends
 * and takes 256 MiB in messages of 4 MiB (`long`). Run it with a credit of 65,536 bytes. */
#include "cmmd_check.h"
#include "beside.h"

enum { DATA = 1, GO, OWN, ITS_PID, BACK };

static int length = 3000, count = 200;
static char *buffer, *other;

static int partner_node(void) { return 1 - CMMD_self_address(); }

static void beside_round(void)
{
	int value = 1;

	GIVES(0, CMMD_send_noblock(CMMD_self_address(), OWN, &value, sizeof value));
	GIVES(0, CMMD_receive_block(CMMD_self_address(), OWN, &value, sizeof value));
}

static void send_all(void)
{
	for (int i = 0; i < count; i++)
		GIVES(0, CMMD_send_block(partner_node(), DATA, buffer, length));
}
static void receive_all(void)
{
	for (int i = 0; i < count; i++)
		GIVES(0, CMMD_receive_block(partner_node(), DATA, buffer, length));
}
static void wait_for(CMMD_mcb mcb)
{
	CHECK(mcb > 0);
	CMMD_msg_wait(mcb);
	CMMD_free_mcb(mcb);
}
static void send_and_wait(void)
{
	for (int i = 0; i < count; i++)
		wait_for(CMMD_send_async(partner_node(), DATA, buffer, length, NULL, NULL));
}
static void receive_and_wait(void)
{
	for (int i = 0; i < count; i++)
		wait_for(CMMD_receive_async(partner_node(), DATA, buffer, length, NULL, NULL));
}
static void exchange(void)
{
	int node = partner_node();

	for (int i = 0; i < count; i++)
		GIVES(1, CMMD_send_and_receive(node, BACK, other, length, node, BACK, buffer, length));
}
static void swap(void)
{
	for (int i = 0; i < count; i++)
		GIVES(1, CMMD_swap(partner_node(), other, length, buffer, length));
}
static void synchronize(void) { CMMD_sync_with_nodes(); }
static void reduce(void) { GIVES(2, CMMD_reduce_int(1, CMMD_combiner_add)); }
static void reduce_many(void) { GIVES(0, CMMD_reduce_v(other, buffer, CMMD_combiner_add, 4, length / 4)); }
static void broadcast(void) { GIVES(0, CMMD_bc_to_nodes(buffer, length)); }
static void take_broadcast(void) { GIVES(0, CMMD_receive_bc_from_node(buffer, length)); }
static void concatenate(void) { GIVES(0, CMMD_concat_with_nodes(buffer, other, length / 2)); }

static const struct beside_call calls[] = {
	{ "CMMD_receive_block", receive_all, send_all },
	{ "CMMD_send_block", send_all, receive_all },
	{ "CMMD_msg_wait-send", send_and_wait, receive_all },
	{ "CMMD_msg_wait-receive", receive_and_wait, send_all },
	{ "CMMD_send_and_receive", exchange, exchange },
	{ "CMMD_swap", swap, swap },
	{ "CMMD_sync_with_nodes", synchronize, synchronize },
	{ "CMMD_reduce_int", reduce, reduce },
	{ "CMMD_reduce_v", reduce_many, reduce_many },
	{ "CMMD_receive_bc_from_node", take_broadcast, broadcast },
	{ "CMMD_concat_with_nodes", concatenate, concatenate },
};
#define CALLS ((int)(sizeof calls / sizeof calls[0]))

static const char *situation;
static int partner;

static void tell_partner(int at)
{
	GIVES(0, CMMD_send_block(1, GO, &at, sizeof at));
	beside_disturb(situation, partner, 400);
}

int main(int argc, char **argv)
{
	int bad, at, pid = getpid();

	CHECK(argc > 1);
	situation = argv[1];
	GIVES(2, CMMD_partition_size());
	if (!strcmp(situation, "long") || !strcmp(situation, "stopped")) {
		length = 4 << 20;
		count = 64;
	}
	buffer = calloc(1, (size_t)length);
	other = calloc(1, (size_t)length);
	if (CMMD_self_address() == 1) {
		GIVES(0, CMMD_send_block(0, ITS_PID, &pid, sizeof pid));
		for (;;) {
			GIVES(0, CMMD_receive_block(0, GO, &at, sizeof at));
			if (at < 0)
				return 0;
			if (!strcmp(situation, "silent"))
				usleep(500000);
			calls[at].its();
		}
	}
	GIVES(0, CMMD_receive_block(1, ITS_PID, &partner, sizeof partner));
	bad = beside_judge(calls, CALLS, tell_partner);
	at = -1;
	GIVES(0, CMMD_send_block(1, GO, &at, sizeof at));
	return bad != 0;
}
