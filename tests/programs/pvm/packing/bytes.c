/* Names that are bytes and no UTF-8: of the program's folder, of arguments, of variables, of groups and of the mailbox. The
 * program lies in a folder with such a name, and is started there. */
#include "check.h"

enum { SAID = 1 };

#define ARGUMENT "a\xff\xfe"
#define NAME "V\xfe"
#define VALUE "w\xff"

static void child(int argc, char **argv)
{
	char folder[4096];

	CHECK(argc == 2);
	CHECK(strcmp(argv[1], ARGUMENT) == 0);
	CHECK(getenv(NAME) != NULL);
	CHECK(strcmp(getenv(NAME), VALUE) == 0);
	CHECK(getcwd(folder, sizeof folder) != NULL);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkstr(folder));
	OK(pvm_send(pvm_parent(), SAID));
}

static void mail(char *name, int number)
{
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&number, 1, 1));
	GIVES(0, pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault));
}

int main(int argc, char **argv)
{
	char self[4096], folder[4096], theirs[4096], *args[] = { ARGUMENT, NULL };
	struct pvmmboxinfo *table;
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	int tid, count, number;

	CHECK(length > 0);
	self[length] = 0;
	CHECK(pvm_mytid() > 0);
	if (pvm_parent() > 0) {
		child(argc, argv);
		OK(pvm_exit());
		return 0;
	}
	CHECK(getcwd(folder, sizeof folder) != NULL);
	CHECK(strchr(folder, '\xff') != NULL);
	CHECK(setenv("PVMSPAWNWD", folder, 1) == 0);
	CHECK(setenv(NAME, VALUE, 1) == 0);
	OK(pvm_export(NAME));
	GIVES(1, pvm_spawn(self, args, PvmTaskDefault, NULL, 1, &tid));
	CHECK(pvm_recv(tid, SAID) > 0);
	OK(pvm_upkstr(theirs));
	CHECK(strcmp(folder, theirs) == 0);
	/* By its name alone, in the folder that PVM_PATH names. */
	CHECK(setenv("PVM_PATH", folder, 1) == 0);
	GIVES(1, pvm_spawn(strrchr(self, '/') + 1, args, PvmTaskDefault, NULL, 1, &tid));
	CHECK(pvm_recv(tid, SAID) > 0);
	OK(pvm_unexport(NAME));
	CHECK(strcmp(getenv("PVM_EXPORT"), "") == 0);
	/* Two names that differ in such a byte are two. */
	GIVES(0, pvm_joingroup("g\xff"));
	GIVES(0, pvm_joingroup("g\xfe"));
	GIVES(1, pvm_gsize("g\xff"));
	OK(pvm_lvgroup("g\xff"));
	GIVES(1, pvm_gsize("g\xfe"));
	OK(pvm_lvgroup("g\xfe"));
	mail("m\xff", 1);
	mail("m\xfe", 2);
	CHECK(pvm_recvinfo("m\xff", 0, PvmMboxDefault) >= 0);
	OK(pvm_upkint(&number, 1, 1));
	GIVES(1, number);
	OK(pvm_getmboxinfo("m\xfe*", &count, &table));
	GIVES(1, count);
	CHECK(strcmp(table->mi_name, "m\xfe") == 0);
	OK(pvm_exit());
	return 0;
}
