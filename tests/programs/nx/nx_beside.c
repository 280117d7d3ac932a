/* Each call of NX that waits, in one thread; a second thread sends to itself meanwhile and must not stand still. Two nodes.
 *
 * nx_beside SITUATION: the partner comes half a second late (`silent`, and then there is no credit any more), is stopped (`stopped`), the daemon is stopped (`daemon`), or sends
 * and takes 256 MiB in messages of 4 MiB (`long`). Run it with a credit of 65,536 bytes. */
#include "nx_check.h"
#include "beside.h"

enum { DATA = 1, GO, OWN, ITS_PID, BACK };

static long length = 3000, count = 200;
static char *buffer, *other;

static void beside_round(void)
{
	int value = 1;

	csend(OWN, &value, sizeof value, mynode(), 0);
	crecv(OWN, &value, sizeof value);
}

static void send_all(void)
{
	for (long i = 0; i < count; i++)
		csend(DATA, buffer, length, 1 - mynode(), 0);
}
static void receive_all(void)
{
	for (long i = 0; i < count; i++)
		crecv(DATA, buffer, length);
}
static void send_and_wait(void)
{
	for (long i = 0; i < count; i++)
		msgwait(isend(DATA, buffer, length, 1 - mynode(), 0));
}
static void receive_and_wait(void)
{
	for (long i = 0; i < count; i++)
		msgwait(irecv(DATA, buffer, length));
}
static void probe_all(void)
{
	for (long i = 0; i < count; i++) {
		cprobe(DATA);
		crecv(DATA, buffer, length);
	}
}
static void ask_all(void)
{
	for (long i = 0; i < count; i++)
		csendrecv(DATA, buffer, length, 1 - mynode(), 0, BACK, other, length);
}
static void answer_all(void)
{
	for (long i = 0; i < count; i++) {
		crecv(DATA, buffer, length);
		csend(BACK, buffer, length, 1 - mynode(), 0);
	}
}
static void send_to_several(void)
{
	long node = 1 - mynode();

	for (long i = 0; i < count; i++)
		gsendx(DATA, buffer, length, &node, 1);
}
static void synchronize(void) { gsync(); }
static void sum(void) { gdsum((double *)buffer, length / 8, (double *)other); }
static void collect(void)
{
	long got;

	gcol(buffer, length / 2, other, length, &got);
}

static const struct beside_call calls[] = {
	{ "crecv", receive_all, send_all },
	{ "csend", send_all, receive_all },
	{ "msgwait-isend", send_and_wait, receive_all },
	{ "msgwait-irecv", receive_and_wait, send_all },
	{ "cprobe", probe_all, send_all },
	{ "csendrecv", ask_all, answer_all },
	{ "gsendx", send_to_several, receive_all },
	{ "gsync", synchronize, synchronize },
	{ "gdsum", sum, sum },
	{ "gcol", collect, collect },
};
#define CALLS ((int)(sizeof calls / sizeof calls[0]))

static const char *situation;
static int partner;

static void tell_partner(int at)
{
	csend(GO, &at, sizeof at, 1, 0);
	beside_disturb(situation, partner, 400);
}

int main(int argc, char **argv)
{
	int bad, at, pid = getpid();

	CHECK(argc > 1);
	situation = argv[1];
	GIVES(2, numnodes());
	if (!strcmp(situation, "long") || !strcmp(situation, "stopped")) {
		length = 4 << 20;
		count = 64;
	}
	buffer = calloc(1, (size_t)length);
	other = calloc(1, (size_t)length);
	if (mynode() == 1) {
		csend(ITS_PID, &pid, sizeof pid, 0, 0);
		for (;;) {
			crecv(GO, &at, sizeof at);
			if (at < 0)
				return 0;
			if (!strcmp(situation, "silent"))
				usleep(500000);
			calls[at].its();
		}
	}
	crecv(ITS_PID, &partner, sizeof partner);
	bad = beside_judge(calls, CALLS, tell_partner);
	at = -1;
	csend(GO, &at, sizeof at, 1, 0);
	return bad != 0;
}
