/* A program sends much and leaves at once, while it is sent things that it never reads. */
#include "check.h"

enum { WORD = 1, UNREAD, ROUNDS = 8, WORDS = 150, LENGTH = 64 << 10 };
static char block[LENGTH];

static void child(void)
{
	for (int word = 0; word < WORDS; word++) {
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkint(&word, 1, 1));
		OK(pvm_pkbyte(block, LENGTH, 1));
		OK(pvm_send(pvm_parent(), WORD));
	}
	OK(pvm_exit());
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		child();
		return 0;
	}
	for (int round = 0; round < ROUNDS; round++) {
		int tid, got;

		GIVES(1, pvm_spawn(argv[0], (char *[]){ "child", NULL }, 0, NULL, 1, &tid));
		for (int word = 0; word < WORDS; word++) {
			for (int more = 0; more < 10; more++) {
				CHECK(pvm_initsend(PvmDataRaw) > 0);
				OK(pvm_send(tid, UNREAD));
			}
			CHECK(pvm_recv(tid, WORD) > 0);
			OK(pvm_upkint(&got, 1, 1));
			GIVES(word, got);
		}
	}
	OK(pvm_exit());
	return 0;
}
