/* Sending and receiving, message handlers, the mailbox. */
#include "face.h"

PVMF pvmfsend_(const int *tid, const int *msgtag, int *info)
{
	*info = pvm_send(*tid, *msgtag);
}

/* The count comes first here, and second in C. */
PVMF pvmfmcast_(const int *ntask, int *tids, const int *msgtag, int *info)
{
	*info = pvm_mcast(tids, *ntask, *msgtag);
}

PVMF pvmfpsend_(const int *tid, const int *msgtag, void *items, const int *len, const int *datatype, int *info)
{
	*info = pvm_psend(*tid, *msgtag, items, *len, *datatype);
}

PVMF pvmfrecv_(const int *tid, const int *msgtag, int *bufid)
{
	*bufid = pvm_recv(*tid, *msgtag);
}

PVMF pvmfnrecv_(const int *tid, const int *msgtag, int *bufid)
{
	*bufid = pvm_nrecv(*tid, *msgtag);
}

/* -1 seconds: as long as it takes. */
PVMF pvmftrecv_(const int *tid, const int *msgtag, const int *seconds, const int *micros, int *bufid)
{
	struct timeval patience = { .tv_sec = *seconds, .tv_usec = *micros };
	*bufid = pvm_trecv(*tid, *msgtag, *seconds == -1 ? NULL : &patience);
}

PVMF pvmfprecv_(const int *tid, const int *msgtag, void *items, const int *len, const int *datatype, int *atid,
	int *atag, int *alen, int *info)
{
	*info = pvm_precv(*tid, *msgtag, items, *len, *datatype, atid, atag, alen);
}

PVMF pvmfprobe_(const int *tid, const int *msgtag, int *bufid)
{
	*bufid = pvm_probe(*tid, *msgtag);
}

/*
 * The handler gets its buffer by value, as PVM passes it on from C; in Fortran
 * it has a VALUE argument. The fourth argument has no meaning, there as here.
 */
PVMF pvmfaddmhf_(const int *src, const int *tag, const int *ctx, const void *nothing, int (*handler)(int), int *mhid)
{
	(void)nothing;
	*mhid = pvm_addmhf(*src, *tag, *ctx, handler);
}

PVMF pvmfdelmhf_(const int *mhid, int *info)
{
	*info = pvm_delmhf(*mhid);
}

PVMF pvmfputinfo_(const char *name, const int *bufid, const int *flags, int *index, size_t length)
{
	WITH_TEXT(index, name, length, class, pvm_putinfo(class, *bufid, *flags));
}

PVMF pvmfrecvinfo_(const char *name, const int *index, const int *flags, int *bufid, size_t length)
{
	WITH_TEXT(bufid, name, length, class, pvm_recvinfo(class, *index, *flags));
}

PVMF pvmfdelinfo_(const char *name, const int *index, const int *flags, int *info, size_t length)
{
	WITH_TEXT(info, name, length, class, pvm_delinfo(class, *index, *flags));
}

/*
 * A class at each call, and PvmNotFound after the last, as PVM's manual has it;
 * -1 for the count or the result begins anew. PVM 3.4.6 gives the first class
 * for ever, does not tell how many there are, and sets no result.
 */
PVMF pvmfgetmboxinfo_(const char *pattern, char *name, int *nclasses, int *nentries, int *index, int *owner,
	int *flags, int *info, size_t pattern_length, size_t name_length)
{
	static int count, next;
	static struct pvmmboxinfo *classes;
	if ((nclasses && *nclasses == -1) || *info == -1)
		next = 0;
	if (next == 0) {
		WITH_TEXT(info, pattern, pattern_length, wanted, pvm_getmboxinfo(wanted, &count, &classes));
		if (*info < 0)
			return;
	}
	GIVE(nclasses, count);
	if (next >= count) {
		next = 0;
		*info = PvmNotFound;
		return;
	}
	const struct pvmmboxinfo *row = &classes[next++];
	parvum_give_text(name, name_length, row->mi_name);
	GIVE(nentries, row->mi_nentries);
	for (int i = 0; i < row->mi_nentries; i++) {
		GIVE(index ? &index[i] : NULL, row->mi_indices[i]);
		GIVE(owner ? &owner[i] : NULL, row->mi_owners[i]);
		GIVE(flags ? &flags[i] : NULL, row->mi_flags[i]);
	}
	*info = PvmOk;
}
