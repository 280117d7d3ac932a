/* Each call of PVM that waits, in one thread; a second thread sends to itself meanwhile and must not stand still.
 *
 * beside SITUATION: the partner takes or sends nothing for half a second (`silent`, and then there is no credit any more), is stopped
 * (`stopped`), the daemon is stopped (`daemon`), or sends and takes 256 MiB in messages of 4 MiB (`long`). Run it with PVM's credit at 65,536 bytes. */
#include "check.h"
#include "beside.h"

enum { DATA = 1, GO, OWN, ITS_PID };

static int partner, me;
static size_t length = 9000;
static int count = 60;
static char *buffer;

static void beside_round(void)
{
	int value = 1, from, tag, length;

	OK(pvm_psend(me, OWN, &value, 1, PVM_INT));
	OK(pvm_precv(me, OWN, &value, 1, PVM_INT, &from, &tag, &length));
}

static void pack(void)
{
	pvm_initsend(PvmDataRaw);
	OK(pvm_pkbyte(buffer, (int)length, 1));
}
static void send_packed(void)
{
	pack();
	for (int i = 0; i < count; i++)
		OK(pvm_send(partner, DATA));
}
static void send_in_place(void)
{
	pvm_initsend(PvmDataInPlace);
	OK(pvm_pkbyte(buffer, (int)length, 1));
	for (int i = 0; i < count; i++)
		OK(pvm_send(partner, DATA));
}
static void psend(void)
{
	for (int i = 0; i < count; i++)
		OK(pvm_psend(partner, DATA, buffer, (int)length, PVM_BYTE));
}
static void multicast(void)
{
	int two[2] = { partner, partner };

	pack();
	for (int i = 0; i < count / 2; i++)
		OK(pvm_mcast(two, 2, DATA));
}
static void its_receives(void)
{
	for (int i = 0; i < count; i++) {
		CHECK(pvm_recv(-1, DATA) > 0);
		OK(pvm_upkbyte(buffer, (int)length, 1));
	}
}
static void receive(void)
{
	for (int i = 0; i < count; i++) {
		CHECK(pvm_recv(partner, DATA) > 0);
		OK(pvm_upkbyte(buffer, (int)length, 1));
	}
}
static void receive_in_time(void)
{
	struct timeval time = { 100, 0 };

	for (int i = 0; i < count; i++)
		CHECK(pvm_trecv(partner, DATA, &time) > 0);
}
static void precv(void)
{
	int from, tag, got;

	for (int i = 0; i < count; i++)
		OK(pvm_precv(partner, DATA, buffer, (int)length, PVM_BYTE, &from, &tag, &got));
}
static void forward(void)
{
	for (int i = 0; i < count; i++) {
		CHECK(pvm_recv(partner, DATA) > 0);
		pvm_setsbuf(pvm_getrbuf());
		OK(pvm_send(partner, DATA));
		pvm_setsbuf(0);
	}
}
static void its_both(void)
{
	send_packed();
	its_receives();
}

/* One item of 256 MiB, packed and unpacked. Doubles in XDR are turned around one by one. */
#define HUGE ((size_t)256 << 20)
static char *huge;
static void pack_huge(void)
{
	pvm_initsend(PvmDataDefault);
	OK(pvm_pkdouble((double *)huge, HUGE / 8, 1));
	pvm_initsend(PvmDataRaw);
	OK(pvm_pkbyte(huge, HUGE, 1));
}
static void nothing(void) { }
static void unpack_huge(void)
{
	CHECK(pvm_recv(partner, DATA) > 0);
	OK(pvm_upkbyte(huge, HUGE, 1));
	CHECK(pvm_recv(partner, DATA) > 0);
	OK(pvm_upkdouble((double *)huge, HUGE / 8, 1));
}
static void send_huge(void)
{
	pvm_initsend(PvmDataInPlace);
	OK(pvm_pkbyte(huge, HUGE, 1));
	OK(pvm_send(partner, DATA));
	pvm_initsend(PvmDataDefault);
	OK(pvm_pkdouble((double *)huge, HUGE / 8, 1));
	OK(pvm_send(partner, DATA));
}
static void barrier(void) { OK(pvm_barrier("beside", 2)); }

static const struct beside_call calls[] = {
	{ "pvm_send", send_packed, its_receives },
	{ "pvm_send-in-place", send_in_place, its_receives },
	{ "pvm_psend", psend, its_receives },
	{ "pvm_mcast", multicast, its_receives },
	{ "pvm_recv", receive, send_packed },
	{ "pvm_recv-of-psend", receive, psend },
	{ "pvm_trecv", receive_in_time, send_packed },
	{ "pvm_precv", precv, psend },
	{ "forward", forward, its_both },
	{ "pvm_barrier", barrier, barrier },
	/* In the situation `long` only. */
	{ "pvm_pkdouble", pack_huge, nothing },
	{ "pvm_upkbyte", unpack_huge, send_huge },
};
#define CALLS ((int)(sizeof calls / sizeof calls[0]))
#define HUGE_CALLS 2

static void prepare(const char *situation)
{
	if (!strcmp(situation, "long") || !strcmp(situation, "stopped")) {
		length = 4 << 20;
		count = 64;
	}
	buffer = calloc(length, 1);
	if (!strcmp(situation, "long"))
		huge = calloc(HUGE, 1);
}

static const char *situation;
static int partners_process;

static int serve(void)
{
	int pid = getpid(), at, from, tag, got;

	partner = pvm_parent();
	prepare(situation);
	OK(pvm_psend(partner, ITS_PID, &pid, 1, PVM_INT));
	CHECK(pvm_joingroup("beside") >= 0);
	while (pvm_precv(partner, GO, &at, 1, PVM_INT, &from, &tag, &got) == PvmOk && at >= 0) {
		if (!strcmp(situation, "silent"))
			usleep(500000);
		calls[at].its();
	}
	pvm_exit();
	return 0;
}

static void tell_partner(int at)
{
	OK(pvm_psend(partner, GO, &at, 1, PVM_INT));
	beside_disturb(situation, partners_process, 400);
}

int main(int argc, char **argv)
{
	int bad, from, tag, got, over = -1;

	if (argc < 2) {
		fprintf(stderr, "usage: beside silent|stopped|daemon|long\n");
		return 2;
	}
	situation = argv[1];
	me = pvm_mytid();
	if (pvm_parent() > 0)
		return serve();
	prepare(situation);
	copies(argv[0], argv[1], 1, &partner);
	OK(pvm_precv(partner, ITS_PID, &partners_process, 1, PVM_INT, &from, &tag, &got));
	CHECK(pvm_joingroup("beside") >= 0);
	bad = beside_judge(calls, CALLS - (strcmp(situation, "long") ? HUGE_CALLS : 0), tell_partner);
	OK(pvm_psend(partner, GO, &over, 1, PVM_INT));
	pvm_exit();
	return bad != 0;
}
