/* A task without a descriptor for the connections of others: it is told, it sleeps, and nothing is lost when it has some again. */
#include "check.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>

enum { WORD = 1, PEERS = 20, LIMIT = 128 };

static int heard[PEERS];

/* One word, from somebody who has not been heard; or none within the time. */
static int listen_for(struct timeval limit, const int *tids)
{
	int bufid = pvm_trecv(-1, WORD, &limit), bytes, tag, from;

	CHECK(bufid >= 0);
	if (bufid == 0)
		return 0;
	OK(pvm_bufinfo(bufid, &bytes, &tag, &from));
	for (int peer = 0; peer < PEERS; peer++)
		if (tids[peer] == from) {
			GIVES(0, heard[peer]++);
			return 1;
		}
	CHECK(0);
	return 0;
}

static double processor(void)
{
	struct rusage used;

	GIVES(0, getrusage(RUSAGE_SELF, &used));
	return used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	int tids[PEERS], fillers[LIMIT], count = 0, known = 0;
	struct timeval second = { 1, 0 };

	(void)argc;
	if (pvm_parent() > 0) {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_send(pvm_parent(), WORD));
		CHECK(pvm_recv(-1, WORD) > 0);
		OK(pvm_exit());
		return 0;
	}
	CHECK(pvm_mytid() > 0);
	struct rlimit limit;
	GIVES(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = limit.rlim_max = LIMIT;
	GIVES(0, setrlimit(RLIMIT_NOFILE, &limit));
	while ((fillers[count] = dup(0)) >= 0)
		count++;
	GIVES(EMFILE, errno);
	/* For what starting them needs. */
	close(fillers[--count]);
	close(fillers[--count]);
	copies(argv[0], "peer", PEERS, tids);
	while (listen_for(second, tids))
		known++;
	CHECK(known < PEERS);
	/* It waits for room in its sleep. */
	double before = processor();
	GIVES(0, listen_for(second, tids));
	CHECK(processor() - before < 0.1);
	while (count > 0)
		close(fillers[--count]);
	for (; known < PEERS; known++)
		GIVES(1, listen_for((struct timeval){ 30, 0 }, tids));
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_mcast(tids, PEERS, WORD));
	ends(PEERS);
	OK(pvm_exit());
	return 0;
}
