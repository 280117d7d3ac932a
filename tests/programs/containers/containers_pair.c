/* Two tasks and their containers: `containers_pair server`, `containers_pair client`. */
#include "check.h"

#include <containers.h>

static char data[1 << 20], got[1 << 20];

static void fill(size_t length, int salt)
{
	for (size_t i = 0; i < length; i++)
		data[i] = (char)(i * 31 + i / 257 + (size_t)salt);
}

static const size_t lengths[] = { 0, 8, 64, 65, 1399, 1400, 1401, 4095, 4096, 4097, 100000, 1 << 20 };
enum { LENGTHS = sizeof lengths / sizeof *lengths, MANY = 1000 };

static void server(void)
{
	ch_container *c = ch_container_create("server", 0, 0), *small = ch_container_create("small", 4000, 10);
	ch_sender from;
	long length;

	GIVES(0, ch_bind(NULL, c));
	GIVES(0, ch_bind(NULL, small));
	/* A thousand in order. */
	for (int i = 0; i < MANY; i++) {
		int number;
		GIVES(sizeof number, ch_receive(c, &number, sizeof number, &from));
		GIVES(i, number);
	}
	/* The client's own container, by the name it has. */
	ch_representative *back = ch_lookup("client", 5000);
	CHECK(back != NULL && ch_is_local(back) == 0);
	GIVES(ch_task(back), from.task);
	for (int i = 0; i < LENGTHS; i++) {
		GIVES(lengths[i], ch_receive(c, got, sizeof got, NULL));
		GIVES(0, ch_send(back, got, lengths[i], NULL));
	}
	/* By reference. */
	ch_reference *reference = ch_receive_reference(c, -1, &from);
	CHECK(reference != NULL);
	GIVES(sizeof data, ch_reference_length(reference));
	SAY("with sender: %d", ch_reference_is_with_sender(reference));
	CHECK(ch_reference_read(reference, sizeof data - 3, got, 4) == CH_EARGUMENT);
	GIVES(0, ch_reference_read(reference, 1000, got, 500));
	fill(sizeof data, 5);
	CHECK(memcmp(got, data + 1000, 500) == 0);
	GIVES(0, ch_reference_release(reference));
	/* A full container: the sender waits for room, and no longer. It says when it is full. */
	GIVES(4, ch_receive(c, got, sizeof got, NULL));
	usleep(20000);
	for (int i = 0; i < 30; i++) {
		int number;
		GIVES(sizeof number, ch_receive(small, &number, sizeof number, NULL));
		GIVES(i, number);
	}
	/* Calls: what is asked is doubled; one is answered late, one never, one too long. */
	for (;;) {
		int value;
		length = ch_receive(c, got, sizeof got, &from);
		GIVES(sizeof value, length);
		CHECK(from.call != 0);
		memcpy(&value, got, sizeof value);
		if (value == -1)
			break;
		if (value == -2)
			/* Slower than the caller's timer. */
			usleep(300000);
		if (value == -3) {
			GIVES(0, ch_reply(&from, data, 5000));
			continue;
		}
		value *= 2;
		GIVES(0, ch_reply(&from, &value, sizeof value));
	}
	/* The container ends with a call in it: its caller is told. Others are told too, before the next message. */
	GIVES(0, ch_container_destroy(c));
	GIVES(0, ch_send(back, "ended", 6, NULL));
	GIVES(4, ch_receive(small, got, 4, NULL));
	GIVES(0, ch_release(back));
}

static int asked;
static int wait_on(ch_state *state)
{
	asked++;
	GIVES(7, *(int *)ch_state_data(state));
	GIVES(asked, ch_state_expiries(state));
	return asked < 3 ? CH_WAIT_ON : CH_AGAIN;
}
static int give_up(ch_state *state)
{
	return ch_state_expiries(state) < 3 ? CH_AGAIN : CH_GIVE_UP;
}

static void client(void)
{
	ch_container *c = ch_container_create("client", 0, 0);
	ch_representative *to = ch_lookup("server", 5000), *small = ch_lookup("small", 5000);
	ch_state *state = ch_state_create(CH_RELIABLE), *datagrams = ch_state_create(CH_DATAGRAM);
	int value, seven = 7;

	CHECK(to != NULL && small != NULL);
	GIVES(0, ch_bind(NULL, c));
	uint64_t exchanges = ch_exchanges();
	for (int i = 0; i < MANY; i++)
		GIVES(0, ch_send(to, &i, sizeof i, NULL));
	GIVES(exchanges, ch_exchanges());
	for (int i = 0; i < LENGTHS; i++) {
		fill(lengths[i], i);
		GIVES(0, ch_send(to, data, lengths[i], NULL));
		memset(got, 0, lengths[i]);
		GIVES(lengths[i], ch_receive(c, got, sizeof got, NULL));
		CHECK(memcmp(got, data, lengths[i]) == 0);
	}
	fill(sizeof data, 5);
	GIVES(0, ch_send_reference(to, data, sizeof data));
	/* The memory is ours again, and the receiver has read what it wanted. */
	memset(data, 0, sizeof data);

	for (int i = 0; i < 10; i++)
		GIVES(0, ch_send(small, &i, sizeof i, NULL));
	GIVES(0, ch_send(small, data, 4, datagrams));
	GIVES(1, ch_state_dropped(datagrams));
	GIVES(0, ch_send(to, data, 4, NULL));
	for (int i = 10; i < 30; i++)
		GIVES(0, ch_send(small, &i, sizeof i, NULL));

	for (int i = 0; i < MANY; i++) {
		GIVES(sizeof value, ch_rpc(to, &i, sizeof i, &value, sizeof value, NULL));
		GIVES(2 * i, value);
	}
	/* A slow server: the handler extends. */
	GIVES(0, ch_state_set_data(state, &seven));
	GIVES(0, ch_set_timer(state, 20, wait_on));
	value = -2;
	GIVES(sizeof value, ch_rpc(to, &value, sizeof value, &value, sizeof value, state));
	GIVES(-4, value);
	CHECK(asked >= 3);
	/* Or gives up; the answer that comes all the same is nobody's. */
	GIVES(0, ch_set_timer(state, 10, give_up));
	value = -2;
	GIVES(CH_ETIMEDOUT, ch_rpc(to, &value, sizeof value, &value, sizeof value, state));
	GIVES(3, ch_state_expiries(state));
	GIVES(0, ch_set_timer(state, 0, NULL));
	value = -3;
	GIVES(CH_EROOM, ch_rpc(to, &value, sizeof value, got, 4999, state));
	value = 21;
	GIVES(sizeof value, ch_rpc(to, &value, sizeof value, &value, sizeof value, state));
	GIVES(42, value);
	value = -1;
	GIVES(CH_ETIMEDOUT, (ch_set_timer(state, 300, NULL), ch_rpc(to, &value, sizeof value, got, 4, state)));
	GIVES(6, ch_receive(c, got, 6, NULL));
	GIVES(CH_EGONE, ch_send(to, data, 1, NULL));
	GIVES(CH_EGONE, ch_rpc(to, data, 1, got, 4, NULL));
	GIVES(0, ch_send(small, data, 4, NULL));
	/* Then the server's task ends. */
	while (ch_send(small, data, 1, datagrams) == 0)
		usleep(1000);
	GIVES(CH_EGONE, ch_error());
	CHECK(ch_lookup("small", 0) == NULL);
	GIVES(0, ch_state_destroy(state));
	GIVES(0, ch_state_destroy(datagrams));
	GIVES(0, ch_release(to));
	GIVES(0, ch_release(small));
	GIVES(0, ch_container_destroy(c));
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	if (strcmp(argv[1], "server") == 0)
		server();
	else
		client();
	return 0;
}
