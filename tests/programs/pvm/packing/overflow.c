/* A message may have 4 GiB less one byte; what passes that is refused, and the message stays as it was. */
#include "check.h"

#include <sys/mman.h>

#define PIECE (1u << 30)

int main(void)
{
	int me = pvm_mytid(), bytes, got;
	/* Never touched: it takes no memory. */
	char *piece = mmap(NULL, PIECE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(piece != MAP_FAILED);
	pvm_setopt(PvmAutoErr, 0);
	int bufid = pvm_initsend(PvmDataInPlace);
	for (int i = 0; i < 3; i++)
		OK(pvm_pkbyte(piece, (int)PIECE, 1));
	GIVES(PvmOverflow, pvm_pkbyte(piece, (int)PIECE, 1));
	GIVES(PvmOverflow, pvm_pkdcplx((double *)(void *)piece, 1 << 30, 1));
	GIVES(PvmOverflow, pvm_pkint((int *)(void *)piece, 0x7fffffff, 1));
	OK(pvm_pkbyte(piece, (int)PIECE - 1, 1));
	GIVES(PvmOverflow, pvm_pkbyte(piece, 1, 1));
	GIVES(PvmOverflow, pvm_pkstr("x"));
	/* What no int can say is said as the largest. */
	OK(pvm_bufinfo(bufid, &bytes, NULL, NULL));
	GIVES(0x7fffffff, bytes);
	OK(pvm_freebuf(bufid));

	/* And the next message is none the worse. */
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&me, 1, 1));
	OK(pvm_send(me, 1));
	CHECK(pvm_recv(me, 1) > 0);
	OK(pvm_upkint(&got, 1, 1));
	GIVES(me, got);
	return 0;
}
