/* Memory that the system does not give: the call says so, nothing else is harmed. */
#include "check.h"

#include <sys/resource.h>

enum { LONG = 1, SHORT = 2, MANY = 512 << 20 };

/* From now on the process may have so many bytes more than it has. */
static void bound(size_t more)
{
	long pages;
	FILE *sizes = fopen("/proc/self/statm", "r");
	struct rlimit limit;

	CHECK(sizes && fscanf(sizes, "%ld", &pages) == 1);
	fclose(sizes);
	limit.rlim_cur = limit.rlim_max = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
	GIVES(0, setrlimit(RLIMIT_AS, &limit));
}

static void receive(void)
{
	int word = 0;

	/* The segments of the pair are there before the bound. */
	CHECK(pvm_recv(pvm_parent(), SHORT) > 0);
	bound(200 << 20);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(pvm_parent(), SHORT));
	GIVES(PvmNoMem, pvm_recv(pvm_parent(), LONG));
	/* It is gone, and what comes after it is there. */
	CHECK(pvm_recv(-1, -1) > 0);
	OK(pvm_upkint(&word, 1, 1));
	GIVES(42, word);
	OK(pvm_exit());
	exit(0);
}

int main(int argc, char **argv)
{
	int tid, word = 42;
	char *data = malloc(MANY);

	CHECK(pvm_mytid() > 0);
	CHECK(pvm_setopt(PvmAutoErr, 0) >= 0);
	if (pvm_parent() > 0) {
		free(data);
		receive();
	}
	(void)argc;
	CHECK(data);
	memset(data, 1, MANY);
	copies(argv[0], "receive", 1, &tid);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(tid, SHORT));
	hear(tid, SHORT);
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkbyte(data, MANY, 1));
	OK(pvm_send(tid, LONG));
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&word, 1, 1));
	OK(pvm_send(tid, SHORT));
	hear(-1, TAG_ENDED);
	/* And who packs. */
	bound(64 << 20);
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkint(&word, 1, 1));
	GIVES(PvmNoMem, pvm_pkbyte(data, MANY, 1));
	OK(pvm_pkint(&word, 1, 1));
	OK(pvm_send(pvm_mytid(), SHORT));
	CHECK(pvm_recv(-1, SHORT) > 0);
	OK(pvm_upkint(&word, 1, 1));
	OK(pvm_upkint(&word, 1, 1));
	GIVES(PvmNoData, pvm_upkint(&word, 1, 1));
	OK(pvm_exit());
	return 0;
}
