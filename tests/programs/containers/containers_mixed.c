/* A PVM task and a task with containers: `containers_mixed pvm`, `containers_mixed`. Each is both in part: to find each other. */
#include "check.h"

#include <containers.h>

enum { TO_CONTAINER = 77, TO_PVM = 78 };

int main(int argc, char **argv MAYBE_UNUSED)
{
	char got[100];
	int bytes, tag, tid;

	if (argc == 2) {
		/* It knows containers only to learn the other's id. */
		ch_representative *other = ch_lookup("containers", 10000);
		CHECK(other != NULL);
		tid = ch_task(other);
		GIVES(pvm_mytid(), ch_my_task());
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkbyte("packed", 7, 1));
		OK(pvm_send(tid, TO_CONTAINER));
		OK(pvm_psend(tid, TO_CONTAINER, "unpacked", 9, PVM_BYTE));
		CHECK(pvm_recv(tid, TO_PVM) > 0);
		OK(pvm_bufinfo(pvm_getrbuf(), &bytes, &tag, NULL));
		GIVES(5, bytes);
		OK(pvm_upkbyte(got, 5, 1));
		CHECK(strcmp(got, "back") == 0);
		OK(pvm_precv(tid, TO_PVM, got, sizeof got, PVM_BYTE, NULL, NULL, &bytes));
		GIVES(6, bytes);
		pvm_exit();
		return 0;
	}
	ch_container *own = ch_container_create("containers", 0, 0), *c = ch_container_for_tag(TO_CONTAINER);
	ch_sender from;

	CHECK(own != NULL && c != NULL);
	GIVES(TO_CONTAINER, ch_container_number(c));
	GIVES(0, ch_bind(NULL, own));
	GIVES(7, ch_receive(c, got, sizeof got, &from));
	CHECK(strcmp(got, "packed") == 0 && from.call == 0);
	GIVES(9, ch_receive(c, got, sizeof got, &from));
	CHECK(strcmp(got, "unpacked") == 0);
	ch_representative *to = ch_representative_for_tag(from.task, TO_PVM);
	CHECK(to != NULL);
	GIVES(0, ch_send(to, "back", 5, NULL));
	GIVES(CH_EUNABLE, ch_rpc(to, "ask", 3, got, sizeof got, NULL));
	GIVES(0, ch_send(to, "again", 6, NULL));
	GIVES(0, ch_release(to));
	GIVES(0, ch_container_destroy(c));
	GIVES(0, ch_container_destroy(own));
	return 0;
}
