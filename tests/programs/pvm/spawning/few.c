/* A task that may have few descriptors, and talks with more tasks than those would do for: nothing is lost, both ways, nor does anybody
   sleep through what comes. */
#include "check.h"

#include <poll.h>
#include <sys/resource.h>

enum { WORD = 1, ANSWER = 2, LONG = 3, PEERS = 60, LIMIT = 40, BYTES = 200000 };

static char data[BYTES];

static void send_to(int tid, int tag, int bytes)
{
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkbyte(data, bytes, 1));
	OK(pvm_send(tid, tag));
}

/* Sleeps in poll(2), where only a descriptor wakes: as programs do that wait for more than messages. */
static void sleep_in_poll(int tid, int tag)
{
	int *fds, count;
	struct pollfd wanted[16];

	while (pvm_probe(tid, tag) == 0) {
		count = pvm_getfds(&fds);
		CHECK(count > 0 && count <= 16);
		for (int fd = 0; fd < count; fd++)
			wanted[fd] = (struct pollfd){ fds[fd], POLLIN, 0 };
		CHECK(pvm_probe(tid, tag) > 0 || poll(wanted, count, 60000) > 0);
	}
}

static void peer(void)
{
	int parent = pvm_parent();

	send_to(parent, WORD, 8);
	sleep_in_poll(parent, ANSWER);
	CHECK(pvm_recv(parent, ANSWER) > 0);
	send_to(parent, LONG, BYTES);
	CHECK(pvm_recv(parent, LONG) > 0);
	OK(pvm_exit());
	exit(0);
}

/* Which of the peers the message is from, that it has not been heard with this tag. */
static int sender(int bufid, const int *tids, int *heard, int length)
{
	int bytes, tag, from;

	OK(pvm_bufinfo(bufid, &bytes, &tag, &from));
	GIVES(length, bytes);
	for (int peer = 0; peer < PEERS; peer++)
		if (tids[peer] == from) {
			GIVES(0, heard[peer]++);
			return from;
		}
	CHECK(0);
	return 0;
}

int main(int argc, char **argv)
{
	int tids[PEERS], words[PEERS] = { 0 }, longs[PEERS] = { 0 }, fillers[LIMIT], count = 0;
	struct rlimit limit = { LIMIT, LIMIT };

	CHECK(argc > 0 && pvm_mytid() > 0);
	if (pvm_parent() > 0)
		peer();
	GIVES(0, setrlimit(RLIMIT_NOFILE, &limit));
	copies(argv[0], "peer", PEERS, tids);
	/* The program has some of its own. */
	while (count < 12 && (fillers[count] = dup(0)) >= 0)
		count++;
	for (int i = 0; i < PEERS; i++)
		send_to(sender(hear(-1, WORD), tids, words, 8), ANSWER, 8);
	for (int i = 0; i < PEERS; i++)
		send_to(sender(hear(-1, LONG), tids, longs, BYTES), LONG, BYTES);
	ends(PEERS);
	while (count > 0)
		close(fillers[--count]);
	OK(pvm_exit());
	return 0;
}
