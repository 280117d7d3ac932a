/* Message buffers: making and choosing them, packing, and what is known of a message. */
#include "face.h"

PVMF pvmfinitsend_(const int *encoding, int *bufid)
{
	*bufid = pvm_initsend(*encoding);
}

PVMF pvmfmkbuf_(const int *encoding, int *bufid)
{
	*bufid = pvm_mkbuf(*encoding);
}

PVMF pvmffreebuf_(const int *bufid, int *info)
{
	*info = pvm_freebuf(*bufid);
}

PVMF pvmfgetsbuf_(int *bufid)
{
	*bufid = pvm_getsbuf();
}

PVMF pvmfgetrbuf_(int *bufid)
{
	*bufid = pvm_getrbuf();
}

PVMF pvmfsetsbuf_(const int *bufid, int *oldbuf)
{
	*oldbuf = pvm_setsbuf(*bufid);
}

PVMF pvmfsetrbuf_(const int *bufid, int *oldbuf)
{
	*oldbuf = pvm_setrbuf(*bufid);
}

PVMF pvmfbufinfo_(const int *bufid, int *bytes, int *msgtag, int *tid, int *info)
{
	*info = pvm_bufinfo(*bufid, bytes, msgtag, tid);
}

PVMF pvmfgetminfo_(const int *bufid, int *len, int *ctx, int *tag, int *wid, int *enc, int *crc, int *src, int *dst,
	int *info)
{
	struct pvmminfo known;
	*info = pvm_getminfo(*bufid, &known);
	if (*info < 0)
		return;
	*len = known.len;
	*ctx = known.ctx;
	*tag = known.tag;
	*wid = known.wid;
	*enc = known.enc;
	*crc = known.crc;
	*src = known.src;
	*dst = known.dst;
}

PVMF pvmfsetminfo_(const int *bufid, const int *ctx, const int *tag, const int *wid, const int *src, const int *dst,
	int *info)
{
	struct pvmminfo known;
	*info = pvm_getminfo(*bufid, &known);
	if (*info < 0)
		return;
	known.ctx = *ctx;
	known.tag = *tag;
	known.wid = *wid;
	known.src = *src;
	known.dst = *dst;
	*info = pvm_setminfo(*bufid, &known);
}

PVMF pvmfpkmesg_(const int *bufid, int *info)
{
	*info = pvm_pkmesg(*bufid);
}

PVMF pvmfpkmesgbody_(const int *bufid, int *info)
{
	*info = pvm_pkmesgbody(*bufid);
}

/* PVM's manual has a buffer to unpack from; it is always the active receive buffer. */
PVMF pvmfupkmesg_(const int *bufid, int *newbufid)
{
	int old = pvm_setrbuf(*bufid);
	*newbufid = old < 0 ? old : pvm_upkmesg();
	if (old >= 0 && old != *bufid)
		pvm_setrbuf(old);
}

/* One call for all types. A text is bytes: its items are characters, and no length goes with it. */
#define BY_TYPE(pk, what, items, nitem, stride, info)                                      \
	switch (what) {                                                                    \
	case PVM_STR:                                                                      \
	case PVM_BYTE:                                                                     \
		*(info) = pk##byte(items, nitem, stride);                                  \
		break;                                                                     \
	case PVM_SHORT:                                                                    \
		*(info) = pk##short(items, nitem, stride);                                 \
		break;                                                                     \
	case PVM_INT:                                                                      \
		*(info) = pk##int(items, nitem, stride);                                   \
		break;                                                                     \
	case PVM_FLOAT:                                                                    \
		*(info) = pk##float(items, nitem, stride);                                 \
		break;                                                                     \
	case PVM_CPLX:                                                                     \
		*(info) = pk##cplx(items, nitem, stride);                                  \
		break;                                                                     \
	case PVM_DOUBLE:                                                                   \
		*(info) = pk##double(items, nitem, stride);                                \
		break;                                                                     \
	case PVM_DCPLX:                                                                    \
		*(info) = pk##dcplx(items, nitem, stride);                                 \
		break;                                                                     \
	case PVM_LONG:                                                                     \
		*(info) = pk##long(items, nitem, stride);                                  \
		break;                                                                     \
	default:                                                                           \
		*(info) = PvmBadParam;                                                     \
	}

PVMF pvmfpack_(const int *what, void *items, const int *nitem, const int *stride, int *info)
{
	BY_TYPE(pvm_pk, *what, items, *nitem, *stride, info)
}

PVMF pvmfunpack_(const int *what, void *items, const int *nitem, const int *stride, int *info)
{
	BY_TYPE(pvm_upk, *what, items, *nitem, *stride, info)
}
