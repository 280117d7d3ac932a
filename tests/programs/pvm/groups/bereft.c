/* What members do together when one of them has ended, or a function refuses; and what they do next. */
#include "check.h"

enum { STAY = 2, TOGETHER = 7 };

static void refuses(int *datatype, void *x, void *y, int *count, int *info)
{
	(void)datatype, (void)x, (void)y, (void)count;
	*info = -7;
}

/* One of the four is gone: only what is about it fails. Under the same tag the three go on, and nothing is left of that. */
static void together(int parent, int is_root)
{
	int four = pvm_getinst("four", parent), three = pvm_getinst("three", parent);
	int all[4] = { 0 }, mine = 10, parts[4] = { 1, 1, 1, 1 };

	pvm_setopt(PvmAutoErr, 0);
	GIVES(is_root ? PvmNoTask : PvmOk, pvm_gather(all, &mine, 1, PVM_INT, TOGETHER, "four", four));
	GIVES(is_root ? PvmNoTask : PvmOk, pvm_reduce(PvmSum, &mine, 1, PVM_INT, TOGETHER, "four", four));
	pvm_setopt(PvmAutoErr, 1);
	mine = 20;
	OK(pvm_gather(all, &mine, 1, PVM_INT, TOGETHER, "three", three));
	for (int i = 0; is_root && i < 3; i++)
		GIVES(20, all[i]);
	GIVES(is_root ? -7 : PvmOk, pvm_reduce(refuses, &mine, 1, PVM_INT, TOGETHER, "three", three));
	mine = 30;
	OK(pvm_reduce(PvmSum, &mine, 1, PVM_INT, TOGETHER, "three", three));
	if (is_root)
		GIVES(90, mine);
	/* Each gets its part, though the root may find that one is taken by nobody. */
	mine = 0;
	pvm_setopt(PvmAutoErr, 0);
	int sent = pvm_scatter(&mine, parts, 1, PVM_INT, TOGETHER, "four", four);
	pvm_setopt(PvmAutoErr, 1);
	CHECK(sent == PvmOk || (is_root && sent == PvmNoTask));
	GIVES(1, mine);
}

int main(int argc, char **argv)
{
	int tids[3], parent = pvm_parent(), gone;

	if (argc < 2) {
		copies(argv[0], "stay", STAY, tids);
		copies(argv[0], "go", 1, tids + STAY);
		parent = pvm_mytid();
	}
	CHECK(pvm_joingroup("four") >= 0);
	GIVES(4, pvm_freezegroup("four", 4));
	if (argc > 1 && strcmp(argv[1], "go") == 0)
		return pvm_exit();
	CHECK(pvm_joingroup("three") >= 0);
	GIVES(3, pvm_freezegroup("three", 3));
	if (argc < 2) {
		CHECK(pvm_recv(-1, TAG_ENDED) > 0);
		OK(pvm_upkint(&gone, 1, 1));
		GIVES(tids[STAY], gone);
	}
	together(parent, argc < 2);
	/* The last one to leave is the one that started the others. */
	if (argc < 2)
		ends(STAY);
	return pvm_exit();
}
