/* Tasks that send far more than the credit before anybody receives, as PVM lets them.
 *   mutual        two send each other, three in a circle, and one receives the last message first
 *   mutual full   the same two with next to no memory: the send is refused, and nothing else is lost */
#include "check.h"

enum { DATA = 1, LAST, FULL };
#define COUNT 100
#define LENGTH (1 << 20)

static char data[LENGTH];

static void flood(int to, int count)
{
	for (int i = 0; i < count; i++) {
		memset(data, i, LENGTH);
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkbyte(data, LENGTH, 1));
		OK(pvm_send(to, DATA));
	}
}

static void drain(int from, int count)
{
	for (int i = 0; i < count; i++) {
		CHECK(pvm_recv(from, DATA) > 0);
		OK(pvm_upkbyte(data, LENGTH, 1));
		GIVES((char)i, data[0]);
		GIVES((char)i, data[LENGTH - 1]);
	}
}

static void note(int to, int tag)
{
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(to, tag));
}

/* Each sends to the next before it receives from the one before. */
static void circle(int before, int next)
{
	flood(next, COUNT);
	drain(before, COUNT);
}

static int was_refused;

/* Sends until it is refused, or has sent far more than there is memory for: the other does the same, and whoever is refused
 * first begins to take. How many sends were good. */
static int fill(int other)
{
	int sent, result = 0;

	memset(data, 7, LENGTH);
	for (sent = 0; sent < COUNT; sent++) {
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkbyte(data, LENGTH, 1));
		result = pvm_send(other, DATA);
		if (result != 0)
			break;
	}
	if (result != 0)
		GIVES(PvmNoMem, result);
	was_refused = result != 0;
	return sent;
}

/* Says how many there were; as long as the other takes nothing that is refused as well. */
static void say_how_many(int other, int sent)
{
	int refused, tries = 0;

	do {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_pkint(&sent, 1, 1));
		OK(pvm_pkint(&was_refused, 1, 1));
		refused = pvm_send(other, FULL);
	} while (refused == PvmNoMem && ++tries < 20);
	OK(refused);
}

/* Takes what the other has sent: as many as it says, and nothing that was refused. */
static void take_all(int other)
{
	int tag, told, its_refusal, taken = 0;

	do {
		OK(pvm_bufinfo(pvm_recv(other, -1), NULL, &tag, NULL));
		taken += tag == DATA;
	} while (tag != FULL);
	OK(pvm_upkint(&told, 1, 1));
	GIVES(told, taken);
	OK(pvm_upkint(&its_refusal, 1, 1));
	CHECK(was_refused || its_refusal);
}

int main(int argc, char **argv)
{
	char *role = argc > 1 ? argv[1] : "";
	int parent = pvm_parent(), tids[2];

	pvm_setopt(PvmAutoErr, 0);
	if (strcmp(role, "pair") == 0) {
		circle(parent, parent);
	} else if (strcmp(role, "ring") == 0) {
		CHECK(pvm_recv(parent, LAST) > 0);
		OK(pvm_upkint(tids, 2, 1));
		circle(tids[0], tids[1]);
	} else if (strcmp(role, "late") == 0) {
		flood(parent, COUNT);
		note(parent, LAST);
	} else if (strcmp(role, "filler") == 0) {
		int sent = fill(parent);

		take_all(parent);
		say_how_many(parent, sent);
	} else if (strcmp(role, "full") == 0) {
		copies(argv[0], "filler", 1, tids);
		say_how_many(tids[0], fill(tids[0]));
		take_all(tids[0]);
		ends(1);
	} else {
		copies(argv[0], "pair", 1, tids);
		circle(tids[0], tids[0]);
		ends(1);
		copies(argv[0], "ring", 2, tids);
		for (int i = 0; i < 2; i++) {
			int around[2] = { i ? tids[0] : pvm_mytid(), i ? pvm_mytid() : tids[1] };

			CHECK(pvm_initsend(PvmDataDefault) > 0);
			OK(pvm_pkint(around, 2, 1));
			OK(pvm_send(tids[i], LAST));
		}
		circle(tids[1], tids[0]);
		ends(2);
		copies(argv[0], "late", 1, tids);
		CHECK(pvm_recv(tids[0], LAST) > 0);
		drain(tids[0], COUNT);
		ends(1);
	}
	OK(pvm_exit());
	return 0;
}
