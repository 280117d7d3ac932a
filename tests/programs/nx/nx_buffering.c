/* Where messages are buffered, and in which call they are copied. Two nodes; each line that is printed tells what node 1
 * counted in one scene: direct, buffered, then what was copied in crecv, irecv, msgwait, msgdone, gsync and elsewhere. */
#include "nx_check.h"

enum { LONG = 200000, TYPE = 1, OTHER = 2, READY = 3, SENT = 4, AGAIN = 5 };

static char first[LONG], second[LONG];
static struct nx_buffering before;

static void begin(void)
{
	nx_buffering(&before);
}

static void tell(const char *scene)
{
	struct nx_buffering now;

	nx_buffering(&now);
	printf("%s: %ld %ld |", scene, now.direct - before.direct, now.buffered - before.buffered);
	for (int call = 0; call < 6; call++)
		printf(" %ld", now.copied[call] - before.copied[call]);
	printf(" | %ld\n", now.kept_by_sender - before.kept_by_sender);
	fflush(stdout);
}

static void say(long type)
{
	csend(type, NULL, 0, 1 - mynode(), 0);
}

static void hear(long type)
{
	crecv(type, NULL, 0);
}

/* Node 0 sends when node 1 is ready, by csend or isend, and says that it has. */
static void send_one(int by_isend, long type)
{
	hear(READY);
	if (by_isend) {
		long id = isend(type, first, LONG, 1, 0);
		msgwait(id);
	} else {
		csend(type, first, LONG, 1, 0);
	}
	say(SENT);
}

static void scenes_of_sender(void)
{
	for (int by_isend = 0; by_isend < 2; by_isend++) {
		send_one(by_isend, TYPE);
		send_one(by_isend, TYPE);
	}
	for (int scene = 0; scene < 5; scene++) {
		long again = 0;

		do {
			send_one(0, TYPE);
			if (scene == 1 || scene == 3) {
				/* The other message comes late. */
				hear(READY);
				compute(20);
				csend(OTHER, second, LONG, 1, 0);
				crecv(AGAIN, &again, sizeof again);
			}
		} while (again);
		if (scene == 2) {
			compute(20);
			gsync();
		}
	}
}

/* Node 1: READY, then nothing until the message is here. */
static void await_sent(void)
{
	say(READY);
	while (!iprobe(SENT))
		;
	hear(SENT);
}

/* Whether the other message came before it was asked for: then the scene proves nothing, and is played again. */
static int came_early(void)
{
	static int times;
	struct nx_buffering now;

	nx_buffering(&now);
	long again = now.direct - before.direct != LONG && ++times < 50;
	csend(AGAIN, &again, sizeof again, 0, 0);
	return again != 0;
}

static void scenes_of_receiver(void)
{
	long id, other, copied;
	struct nx_buffering now;

	for (int by_isend = 0; by_isend < 2; by_isend++) {
		begin();
		id = irecv(TYPE, first, LONG);
		await_sent();
		msgwait(id);
		tell(by_isend ? "posted, isend" : "posted, csend");

		begin();
		await_sent();
		crecv(TYPE, first, LONG);
		tell(by_isend ? "not posted, isend" : "not posted, csend");
	}

	begin();
	await_sent();
	id = irecv(TYPE, first, LONG);
	compute(5);
	msgwait(id);
	tell("irecv, msgwait");

	do {
		begin();
		await_sent();
		id = irecv(TYPE, first, LONG);
		say(READY);
		crecv(OTHER, second, LONG);
		msgwait(id);
	} while (came_early());
	tell("crecv of another between");

	begin();
	await_sent();
	id = irecv(TYPE, first, LONG);
	gsync();
	msgwait(id);
	tell("gsync between");

	do {
		begin();
		await_sent();
		id = irecv(TYPE, first, LONG);
		say(READY);
		other = irecv(OTHER, second, LONG);
		msgwait(other);
		nx_buffering(&now);
		copied = now.copied[NX_IN_MSGWAIT] - before.copied[NX_IN_MSGWAIT];
		msgwait(id);
	} while (came_early());
	GIVES(0, copied);
	tell("irecv and msgwait of another between");

	begin();
	await_sent();
	id = irecv(TYPE, first, LONG);
	while (!msgdone(id))
		;
	tell("irecv, msgdone");
}

int main(void)
{
	GIVES(2, numnodes());
	/* Both have named long memory, and so take in what comes while they compute. */
	if (mynode() == 0) {
		csend(9, first, LONG, 1, 0);
		crecv(9, first, LONG);
	} else {
		crecv(9, first, LONG);
		csend(9, first, LONG, 0, 0);
	}
	gsync();
	if (mynode() == 0)
		scenes_of_sender();
	else
		scenes_of_receiver();
	gsync();
	return 0;
}
