/* What is refused, and how: two nodes. The error table, and timers (check 14), channels, files. */
#include "cmmd_check.h"
#include <sys/wait.h>

static char data[100000], room[100000];

static void refused(void)
{
	int nodes = CMMD_partition_size();

	GIVES(CMMD_ERR_NONE, CMMD_get_errno());
	FAILS(CMMD_ERR_BAD_NODE, CMMD_send_block(nodes + 1, 1, data, 1));
	FAILS(CMMD_ERR_BAD_NODE, CMMD_send_noblock(-7, 1, data, 1));
	FAILS(CMMD_ERR_BAD_NODE, CMMD_send_async(CMMD_ANY_NODE, 1, data, 1, NULL, NULL));
	FAILS(CMMD_ERR_BAD_NODE, CMMD_receive_block(nodes + 1, 1, data, 1));
	FAILS(CMMD_ERR_BAD_LENGTH, CMMD_send_block(0, 1, data, -1));
	FAILS(CMMD_ERR_BAD_LENGTH, CMMD_send_noblock(0, 1, data, -1));
	FAILS(CMMD_ERR_BAD_LENGTH, CMMD_receive_block(0, 1, data, -5));
	FAILS(CMMD_ERR_BAD_LENGTH, CMMD_receive_async(0, 1, data, -5, NULL, NULL));
	FAILS(CMMD_ERR_BAD_LENGTH, CMMD_send_block_v(0, 1, data, 4, 2, 3));
	FAILS(CMMD_ERR_BAD_TAG, CMMD_send_noblock(0, CMMD_ANY_TAG, data, 1));
	FAILS(CMMD_ERR_BAD_TAG, CMMD_receive_block(0, -3, data, 1));
	FAILS(CMMD_ERR_BAD_BUFFER, CMMD_send_block(0, 1, NULL, 1));
	FAILS(CMMD_ERR_BAD_BUFFER, CMMD_receive_block(0, 1, NULL, 1));
	GIVES(0, CMMD_send_and_receive(0, 1, room, 1, 99, 1, data, 1));
	GIVES(CMMD_ERR_BAD_NODE, CMMD_get_errno());
	GIVES(0, CMMD_swap(99, room, 1, data, 1));
	FAILS(CMMD_ERR_BAD_MCB, CMMD_msg_done(12345));
	FAILS(CMMD_ERR_BAD_MCB, CMMD_msg_done(0));
	FAILS(CMMD_ERR_BAD_MCB, CMMD_msg_done(-1));
	CMMD_free_mcb(77);
	GIVES(CMMD_ERR_BAD_MCB, CMMD_get_errno());
	FAILS(CMMD_ERR_NO_HOST, CMMD_enable_host());
	FAILS(CMMD_ERR_NO_HOST, CMMD_bc_from_host(data, 1));
	FAILS(CMMD_ERR_NO_HOST, CMMD_receive_bc_from_host(data, 1));
	FAILS(CMMD_ERR_NO_HOST, CMMD_gather_from_nodes(data, 1));
	GIVES(0, CMMD_am_node());
	for (int number = 0; number < 17; number++)
		CHECK(strlen(CMMD_error_string(number)) > 5);
	CHECK(strstr(CMMD_version(), "CMMD 3"));
	FAILS(CMMD_ERR_UNSUPPORTED, CMMD_suspend());
	FAILS(CMMD_ERR_UNSUPPORTED, CMMD_resume());
	/* Without safety tags are the program's own business. */
	CMMD_disable_safety();
	CHECK(CMMD_send_noblock(CMMD_self_address(), -9, data, 1) == 0);
	CHECK(CMMD_receive_block(CMMD_self_address(), -9, room, 1) == 0);
	CMMD_enable_safety();
	FAILS(CMMD_ERR_BAD_TAG, CMMD_send_noblock(0, -9, data, 1));
}

/* Too long: an error, and nothing beyond the room. */
static void truncated(int self)
{
	static const int lengths[] = { 20, 5000, 90000 };

	for (int i = 0; i < 3; i++) {
		if (self == 0) {
			memset(data, 'x', lengths[i]);
			CHECK(CMMD_send_block(1, 1, data, lengths[i]) == 0);
			CHECK(CMMD_send_noblock(1, 2, data, lengths[i]) == 0);
		} else {
			CMMD_mcb mcb;

			memset(room, 0, sizeof room);
			FAILS(CMMD_ERR_TRUNCATED, CMMD_receive_block(0, 1, room, 10));
			CHECK(room[9] == 'x' && room[10] == 0);
			GIVES(lengths[i], CMMD_bytes_received());
			GIVES(0, CMMD_msg_sender());
			memset(room, 0, sizeof room);
			mcb = CMMD_receive_async(0, 2, room, 10, NULL, NULL);
			CMMD_msg_wait(mcb);
			FAILS(CMMD_ERR_TRUNCATED, CMMD_msg_done(mcb));
			CHECK(room[9] == 'x' && room[10] == 0);
			CMMD_free_mcb(mcb);
		}
	}
}

/* An unfinished operation keeps its handle, and gives it back by itself. */
static void unfinished(int self)
{
	if (self == 0) {
		int free = CMMD_available_sends();
		CMMD_mcb mcb = CMMD_send_async(1, 1, data, 8, NULL, NULL);

		CMMD_free_mcb(mcb);
		GIVES(CMMD_ERR_UNFINISHED, CMMD_get_errno());
		GIVES(free - 1, CMMD_available_sends());
		CMMD_sync_with_nodes();
		CMMD_all_msgs_wait();
		GIVES(free, CMMD_available_sends());
		FAILS(CMMD_ERR_BAD_MCB, CMMD_msg_done(mcb));
	} else {
		CMMD_sync_with_nodes();
		CHECK(CMMD_receive_block(0, 1, room, 8) == 0);
	}
}

/* Each bound is taken beside what it bounds: how long anything takes depends on who else wants the processor. */
static void timers(int self)
{
	double before, began, waited, ended, after, elapsed, busy, idle;
	const double little = 1e-6;

	FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_node_timer_start(64));
	FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_node_timer_clear(-1));
	for (int timer = 0; timer < 64; timer += 63) {
		GIVES(0, CMMD_node_timer_clear(timer));
		CHECK(CMMD_node_timer_elapsed(timer) == 0 && CMMD_node_timer_busy(timer) == 0);
		/* Node 1 sleeps only when node 0's timer runs. */
		if (self == 1)
			CHECK(CMMD_receive_block(0, 2, room, 1) == 0);
		before = now();
		GIVES(0, CMMD_node_timer_start(timer));
		began = now();
		FAILS(CMMD_ERR_UNFINISHED, CMMD_node_timer_start(timer));
		CHECK(CMMD_node_timer_elapsed(timer) == -1);
		if (self == 0) {
			CHECK(CMMD_send_noblock(1, 2, data, 1) == 0);
			waited = now();
			CHECK(CMMD_receive_block(1, 3, room, 1) == 0);
		} else {
			usleep(50000);
			waited = now();
			CHECK(CMMD_send_block(0, 3, data, 1) == 0);
		}
		ended = now();
		waited = ended - waited;
		GIVES(0, CMMD_node_timer_stop(timer));
		after = now();
		FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_node_timer_stop(timer));
		elapsed = CMMD_node_timer_elapsed(timer);
		busy = CMMD_node_timer_busy(timer);
		idle = CMMD_node_timer_idle(timer);
		CHECK(elapsed >= ended - began && elapsed <= after - before);
		CHECK(elapsed >= busy && busy >= 0 && idle >= 0);
		CHECK(elapsed - busy - idle < little && elapsed - busy - idle > -little);
		/* The node that waited was idle for as long, the other was not while it slept. */
		if (self == 0)
			CHECK(waited < 0.02 || idle > waited / 2);
		else
			CHECK(idle <= waited + little && busy > 0.049);
		CHECK(CMMD_node_timer_start(timer) == 0);
		usleep(2000);
		CHECK(CMMD_node_timer_stop(timer) == 0);
		CHECK(CMMD_node_timer_elapsed(timer) >= elapsed + 0.002);
		CHECK(CMMD_node_timer_clear(timer) == 0 && CMMD_node_timer_elapsed(timer) == 0);
	}
}

/* Short waits are counted one by one: their sum is never longer than the calls that contain them. */
static void short_waits(int self)
{
	for (int round = 0; round < 20; round++) {
		double waited = 0;

		GIVES(0, CMMD_node_timer_clear(1));
		GIVES(0, CMMD_node_timer_start(1));
		for (int turn = 0; turn < 64; turn++) {
			double began = now();

			if (self == 0)
				CHECK(CMMD_send_block(1, 4, data, 1) == 0);
			else
				CHECK(CMMD_receive_block(0, 4, room, 1) == 0);
			waited += now() - began;
		}
		GIVES(0, CMMD_node_timer_stop(1));
		CHECK(CMMD_node_timer_idle(1) <= waited);
	}
}

/* A forked child is no node; its parent goes on. */
static void forked(int self)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		FAILS(CMMD_ERR_FORKED, CMMD_send_noblock(self, 1, data, 1));
		FAILS(CMMD_ERR_FORKED, CMMD_receive_block(CMMD_ANY_NODE, 1, room, 1));
		FAILS(CMMD_ERR_FORKED, CMMD_self_address());
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(CMMD_send_noblock(self, 1, data, 1) == 0 && CMMD_receive_block(self, 1, room, 1) == 0);
}

static void channels(int self)
{
	struct parvum_totals before;
	CMMD_channel channel, back;
	int number = 0;

	FAILS(CMMD_ERR_BAD_NODE, CMMD_open_send_channel(17, 1, data, 4));
	FAILS(CMMD_ERR_BAD_ARGUMENT, CMMD_open_send_channel(0, -1, data, 4));
	FAILS(CMMD_ERR_BAD_LENGTH, CMMD_open_receive_channel(0, 1, data, -4));
	FAILS(CMMD_ERR_BAD_MCB, CMMD_write_channel(1));
	before = totals();
	if (self == 0) {
		channel = CMMD_open_send_channel(1, 4, &number, sizeof number);
		back = CMMD_open_receive_channel(1, 4, room, sizeof room);
		CHECK(channel > 0 && back > 0 && CMMD_all_channels_free() == 1);
		FAILS(CMMD_ERR_BAD_MCB, CMMD_write_channel(back));
		for (int round = 0; round < 50; round++) {
			while (!CMMD_is_channel_writable(channel))
				;
			number = round;
			GIVES(0, CMMD_write_channel(channel));
			while (!CMMD_is_channel_readable(back))
				;
			CHECK(room[0] == (char)round && room[sizeof room - 1] == (char)round);
			GIVES(0, CMMD_reset_channel(back));
		}
		CMMD_all_channels_free_wait();
		GIVES(1, CMMD_send_channel_status(channel));
		GIVES(0, CMMD_receive_channel_status(back));
		GIVES(0, CMMD_close_send_channel(channel));
		GIVES(0, CMMD_close_receive_channel(back));
		FAILS(CMMD_ERR_BAD_MCB, CMMD_close_send_channel(channel));
	} else {
		channel = CMMD_open_receive_channel(0, 4, &number, sizeof number);
		back = CMMD_open_send_channel(0, 4, data, sizeof data);
		for (int round = 0; round < 50; round++) {
			while (!CMMD_is_channel_readable(channel))
				;
			GIVES(round, number);
			while (!CMMD_is_channel_writable(back))
				;
			memset(data, round, sizeof data);
			GIVES(0, CMMD_reset_channel(channel));
			GIVES(0, CMMD_write_channel(back));
		}
		CMMD_all_channels_free_wait();
		GIVES(0, CMMD_close_receive_channel(channel));
		GIVES(0, CMMD_close_send_channel(back));
	}
	GIVES(before.buffered_at_sender, totals().buffered_at_sender);
	GIVES(before.buffered_here, totals().buffered_here);
}

int main(int argc, char **argv)
{
	int self = CMMD_self_address();

	if (argc > 1 && !strcmp(argv[1], "die")) {
		/* The other one dies: who waits for it is told. */
		if (self == 1)
			_exit(3);
		FAILS(CMMD_ERR_GONE, CMMD_receive_block(1, 1, room, 1));
		FAILS(CMMD_ERR_GONE, CMMD_send_block(1, 1, data, 1));
		puts("told");
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "error")) {
		if (self == 1)
			CMMD_error("no %s today", "luck");
		CMMD_receive_block(1, 1, room, 1);
		pause();
	}
	refused();
	CMMD_sync_with_nodes();
	truncated(self);
	CMMD_sync_with_nodes();
	unfinished(self);
	CMMD_sync_with_nodes();
	forked(self);
	timers(self);
	short_waits(self);
	CMMD_sync_with_nodes();
	channels(self);
	CMMD_sync_with_nodes();
	if (self == 0)
		puts("all well");
	return 0;
}
