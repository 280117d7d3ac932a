/* Programs that hang, each in its way, and one that is merely slow.
 *
 *     hang ring N          N tasks, each of which waits for the next
 *     hang dead            waits for a task that has ended
 *     hang tag             waits for tag 7, and has been sent tag 8
 *     hang source          waits for one task, and another has sent
 *     hang credit          sends more than its receiver takes, which waits for another tag
 *     hang anyone          two tasks wait for anyone
 *     hang barrier N       one of three does not come to a barrier, after N that all have come to
 *     hang unjoined        waits in a barrier for one more than there are members
 *     hang deaf            waits for a task that it has sent to, which has not called since
 *     hang slow            waits for a task that computes for two seconds
 */
#include "check.h"
#include <signal.h>
#include <time.h>

enum { WORD = 1, NEXT = 2, SEVEN = 7, EIGHT = 8 };

static void send_int(int tid, int tag, int value)
{
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(tid, tag));
}

static int hear_int(int tid, int tag)
{
	int value;

	CHECK(pvm_recv(tid, tag) > 0);
	OK(pvm_upkint(&value, 1, 1));
	return value;
}

/* A task that was told whom to wait for. */
static void member(void)
{
	int next = hear_int(pvm_parent(), NEXT);

	pvm_recv(next, SEVEN);
}

static void ring(char *self, int many)
{
	int tids[16], last = pvm_mytid();
	char *args[] = { "member", NULL };

	GIVES(many - 1, pvm_spawn(self, args, PvmTaskDefault, NULL, many - 1, tids));
	for (int i = 0; i < many - 1; i++)
		send_int(tids[i], NEXT, i + 1 < many - 1 ? tids[i + 1] : last);
	SAY("hangs");
	pvm_recv(tids[0], SEVEN);
}

static int one(char *self, char *role)
{
	char *args[] = { role, NULL };
	int tid;

	GIVES(1, pvm_spawn(self, args, PvmTaskDefault, NULL, 1, &tid));
	return tid;
}

/* One of three, all of whom come so often; the one that was started by hand does not come once more. */
static void trio(char *self, int rounds, int first)
{
	char number[16], *args[] = { "trio", number, NULL };
	int tids[2];

	snprintf(number, sizeof number, "%d", rounds);
	if (first)
		GIVES(2, pvm_spawn(self, args, PvmTaskDefault, NULL, 2, tids));
	CHECK(pvm_joingroup("trio") >= 0);
	/* PVM tells nobody that a group has grown. */
	while (pvm_gsize("trio") < 3)
		usleep(1000);
	for (int i = 0; i < rounds; i++)
		OK(pvm_barrier("trio", -1));
	if (!first)
		pvm_barrier("trio", -1);
	SAY("absent %x", pvm_mytid());
	SAY("hangs");
	pvm_recv(-1, SEVEN);
}

static volatile sig_atomic_t told;

static void note(int signal)
{
	(void)signal;
	told = 1;
}

/* Where the one that will hear nothing says so: beside the machine's directory. */
static const char *deaf_sign(void)
{
	static char path[4096];

	CHECK(getenv("PARVUM_DIR"));
	snprintf(path, sizeof path, "%s.deaf", getenv("PARVUM_DIR"));
	return path;
}

/* Does nothing of PVM's until it gets the signal; then answers. */
static void deaf_until_told(void)
{
	signal(SIGUSR1, note);
	CHECK(fclose(fopen(deaf_sign(), "w")) == 0);
	while (!told)
		usleep(1000);
	send_int(pvm_parent(), SEVEN, hear_int(pvm_parent(), WORD));
}

int main(int argc, char **argv)
{
	const char *role = argc > 1 ? argv[1] : "";
	int tid, big = 8 << 20;

	CHECK(pvm_mytid() > 0);
	pvm_setopt(PvmAutoErr, 0);
	if (strcmp(role, "member") == 0) {
		member();
	} else if (strcmp(role, "ring") == 0 && argc == 3) {
		ring(argv[0], atoi(argv[2]));
	} else if (strcmp(role, "short") == 0) {
		send_int(pvm_parent(), WORD, 1);
	} else if (strcmp(role, "dead") == 0) {
		tid = one(argv[0], "short");
		hear_int(tid, WORD);
		while (pvm_pstat(tid) == PvmOk)
			usleep(1000);
		SAY("hangs");
		tid = pvm_recv(tid, WORD);
		SAY("gives %d", tid);
	} else if (strcmp(role, "wrong-tag") == 0) {
		send_int(pvm_parent(), EIGHT, 5);
		pvm_recv(pvm_parent(), WORD);
	} else if (strcmp(role, "tag") == 0) {
		tid = one(argv[0], "wrong-tag");
		SAY("hangs");
		pvm_recv(tid, SEVEN);
	} else if (strcmp(role, "source") == 0) {
		int other = one(argv[0], "wrong-tag");

		tid = one(argv[0], "wrong-tag");
		SAY("hangs");
		hear_int(tid, EIGHT);
		pvm_recv(tid, EIGHT); /* the other's has come */
		CHECK(other != tid);
	} else if (strcmp(role, "deaf-until-told") == 0) {
		deaf_until_told();
	} else if (strcmp(role, "deaf") == 0) {
		tid = one(argv[0], "deaf-until-told");
		while (unlink(deaf_sign()) != 0)
			usleep(1000);
		send_int(tid, WORD, 12);
		SAY("hangs");
		GIVES(12, hear_int(tid, SEVEN));
		SAY("heard");
	} else if (strcmp(role, "full") == 0) {
		pvm_recv(pvm_parent(), SEVEN);
	} else if (strcmp(role, "credit") == 0) {
		char *data = calloc(1, (size_t)big);

		tid = one(argv[0], "full");
		SAY("hangs");
		for (;;) {
			CHECK(pvm_initsend(PvmDataRaw) > 0);
			OK(pvm_pkbyte(data, big, 1));
			OK(pvm_send(tid, EIGHT));
		}
	} else if (strcmp(role, "any") == 0) {
		pvm_recv(-1, SEVEN);
	} else if (strcmp(role, "anyone") == 0) {
		one(argv[0], "any");
		SAY("hangs");
		pvm_recv(-1, EIGHT);
	} else if (strcmp(role, "barrier") == 0 || strcmp(role, "trio") == 0) {
		trio(argv[0], argc > 2 ? atoi(argv[2]) : 0, strcmp(role, "barrier") == 0);
	} else if (strcmp(role, "unjoined") == 0) {
		CHECK(pvm_joingroup("pair") == 0);
		SAY("hangs");
		pvm_barrier("pair", 2);
	} else if (strcmp(role, "busy") == 0) {
		time_t end = time(NULL) + 3;

		while (time(NULL) < end)
			continue;
		send_int(pvm_parent(), WORD, 1);
	} else {
		CHECK(strcmp(role, "slow") == 0);
		tid = one(argv[0], "busy");
		SAY("hangs"); /* so it seems */
		hear_int(tid, WORD);
	}
	OK(pvm_exit());
	return 0;
}
