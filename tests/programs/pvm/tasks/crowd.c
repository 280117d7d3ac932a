/* More peers than a low limit for descriptors has room for: the limit is raised as far as the system allows. */
#include "check.h"

#include <sys/resource.h>

enum { WORD = 1, PEERS = 100 };

int main(int argc, char **argv)
{
	int tids[PEERS], word = 7;

	if (pvm_parent() > 0) {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_pkint(&word, 1, 1));
		OK(pvm_send(pvm_parent(), WORD));
		CHECK(pvm_recv(-1, WORD) > 0);
		OK(pvm_exit());
		return 0;
	}
	(void)argc;
	struct rlimit limit;
	GIVES(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 128;
	GIVES(0, setrlimit(RLIMIT_NOFILE, &limit));
	copies(argv[0], "peer", PEERS, tids);
	for (int peer = 0; peer < PEERS; peer++)
		hear(tids[peer], WORD);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_mcast(tids, PEERS, WORD));
	for (int peer = 0; peer < PEERS; peer++)
		hear(-1, TAG_ENDED);
	OK(pvm_exit());
	return 0;
}
