/*
 * pvm3.h - the interface of PVM 3.4, as Parvum provides it.
 *
 * Names, numbers and structures are the same as in PVM 3.4.6. Programs for
 * PVM compile, and objects compiled for PVM link. The text is Parvum's own.
 */
#ifndef _PVM3_H_
#define _PVM3_H_

#define PVM_VER			"3.4.6"
#define PVM_MAJOR_VERSION	3
#define PVM_MINOR_VERSION	4
#define PVM_PATCH_VERSION	6

#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a message is packed: pvm_initsend, pvm_mkbuf. */
#define PvmDataDefault		0	/* XDR: any host can read the message */
#define PvmDataRaw		1	/* as in memory */
#define PvmDataInPlace		2	/* raw, copied only when sent */
#define PvmDataFoo		PvmDataDefault
#define PvmDataTrace		4

/* Flags of pvm_spawn. */
#define PvmTaskDefault		0
#define PvmTaskHost		1	/* `where` names a host */
#define PvmTaskArch		2	/* `where` names an architecture */
#define PvmTaskDebug		4
#define PvmTaskTrace		8
#define PvmMppFront		16
#define PvmHostCompl		32	/* anywhere but `where` */
#define PvmNoSpawnParent	64	/* the tasks get no parent */

/* Kinds of pvm_notify. */
#define PvmTaskExit		1
#define PvmHostDelete		2
#define PvmHostAdd		3
#define PvmRouteAdd		4
#define PvmRouteDelete		5
#define PvmNotifyCancel		256	/* with a kind: send the message now, and cancel */

/* Options: pvm_setopt, pvm_getopt. */
#define PvmRoute		1	/* the route of messages: */
#define PvmDontRoute		1	/*   through the daemons */
#define PvmAllowDirect		2	/*   the best route */
#define PvmRouteDirect		3	/*   directly to the other task */
#define PvmDebugMask		2
#define PvmAutoErr		3	/* 0 silent, 1 print, 2 exit, 3 abort */
#define PvmOutputTid		4
#define PvmOutputCode		5
#define PvmTraceTid		6
#define PvmTraceCode		7
#define PvmTraceBuffer		8
#define PvmTraceOptions		9
#define PvmTraceFull		1
#define PvmTraceTime		2
#define PvmTraceCount		3
#define PvmFragSize		10
#define PvmResvTids		11
#define PvmSelfOutputTid	12
#define PvmSelfOutputCode	13
#define PvmSelfTraceTid		14
#define PvmSelfTraceCode	15
#define PvmSelfTraceBuffer	16
#define PvmSelfTraceOptions	17
#define PvmShowTids		18
#define PvmPollType		19
#define PvmPollConstant		1
#define PvmPollSleep		2
#define PvmPollTime		20
#define PvmOutputContext	21
#define PvmTraceContext		22
#define PvmSelfOutputContext	23
#define PvmSelfTraceContext	24
#define PvmNoReset		25

#define PvmTaskSelf		0
#define PvmTaskChild		1

#define PvmBaseContext		0	/* the first context of a task */

/* The mailbox: pvm_putinfo, pvm_recvinfo. */
#define PvmMboxDefault		0
#define PvmMboxPersistent	1	/* put: the entry outlives its owner */
#define PvmMboxMultiInstance	2	/* put: beside the other entries of the class */
#define PvmMboxOverWritable	4	/* put: others may replace and delete it */
#define PvmMboxFirstAvail	8	/* get: the first entry at the index or above */
#define PvmMboxReadAndDelete	16	/* get: also delete, if the caller may */
#define PvmMboxWaitForInfo	32	/* get: wait for an entry */
#define PvmMboxMaxFlag		512
#define PvmMboxDirectIndexShift	10	/* the index for put is stored above the flags */
#define PvmMboxMaxDirectIndex	((unsigned)1 << (31 - PvmMboxDirectIndexShift))
#define PvmMboxDirectIndexOf(flags) \
	(((unsigned)(flags) >> PvmMboxDirectIndexShift) & (PvmMboxMaxDirectIndex - 1))
#define PvmMboxDirectIndex(index) \
	((unsigned)(index) >= PvmMboxMaxDirectIndex ? 0 : (unsigned)(index) << PvmMboxDirectIndexShift)

/* Classes of the mailbox that PVM itself uses. */
#define PVMNORESETCLASS		"###_PVM_NO_RESET_###"
#define PVMHOSTERCLASS		"###_PVM_HOSTER_###"
#define PVMTASKERCLASS		"###_PVM_TASKER_###"
#define PVMTRACERCLASS		"###_PVM_TRACER_###"
#define PVMRMCLASS		"###_PVM_RM_###"

/* Error codes. */
#define PvmOk			0
#define PvmBadParam		-2
#define PvmMismatch		-3
#define PvmOverflow		-4
#define PvmNoData		-5
#define PvmNoHost		-6
#define PvmNoFile		-7
#define PvmDenied		-8
#define PvmNoMem		-10
#define PvmBadMsg		-12
#define PvmSysErr		-14
#define PvmNoBuf		-15
#define PvmNoSuchBuf		-16
#define PvmNullGroup		-17
#define PvmDupGroup		-18
#define PvmNoGroup		-19
#define PvmNotInGroup		-20
#define PvmNoInst		-21
#define PvmHostFail		-22
#define PvmNoParent		-23
#define PvmNotImpl		-24
#define PvmDSysErr		-25
#define PvmBadVersion		-26
#define PvmOutOfRes		-27
#define PvmDupHost		-28
#define PvmCantStart		-29
#define PvmAlready		-30
#define PvmNoTask		-31
#define PvmNotFound		-32
#define PvmExists		-33
#define PvmHostrNMstr		-34
#define PvmParentNotSet		-35
#define PvmIPLoopback		-36

/* Names of PVM 3.3. */
#define PvmNoEntry		PvmNotFound
#define PvmDupEntry		PvmDenied

/* Data types of pvm_psend, pvm_precv, pvm_reduce, pvm_gather, pvm_scatter. */
#define PVM_STR			0
#define PVM_BYTE		1
#define PVM_SHORT		2
#define PVM_INT			3
#define PVM_FLOAT		4
#define PVM_CPLX		5
#define PVM_DOUBLE		6
#define PVM_DCPLX		7
#define PVM_LONG		8
#define PVM_USHORT		9
#define PVM_UINT		10
#define PVM_ULONG		11

/* A host: pvm_config. */
struct pvmhostinfo {
	int hi_tid;		/* id of its daemon */
	char *hi_name;
	char *hi_arch;
	int hi_speed;		/* relative */
	int hi_dsig;		/* data format */
};

/* A task: pvm_tasks. */
struct pvmtaskinfo {
	int ti_tid;
	int ti_ptid;		/* its parent */
	int ti_host;		/* its daemon */
	int ti_flag;
	char *ti_a_out;		/* its program */
	int ti_pid;
};

/* A message: pvm_getminfo, pvm_setminfo. */
struct pvmminfo {
	int len;		/* bytes */
	int ctx;		/* context */
	int tag;
	int wid;		/* wait id */
	int enc;		/* encoding: a number for XDR, the data format for raw */
	int crc;		/* checksum; not used */
	int src;		/* sender */
	int dst;		/* receiver */
};

/* A class of the mailbox: pvm_getmboxinfo. */
struct pvmmboxinfo {
	char *mi_name;
	int mi_nentries;
	int *mi_indices;
	int *mi_owners;		/* 0: the owner has ended */
	int *mi_flags;
};

/* For a file's temporary name. */
#ifdef NOTMPNAM
#define PVMTMPNAMFUN(x)		pvmtmpnam(x)
#define PVMTMPNAMLEN		128
#else
#define PVMTMPNAMFUN(x)		tmpnam(x)
#ifdef L_tmpnam
#define PVMTMPNAMLEN		L_tmpnam
#else
#define PVMTMPNAMLEN		128
#endif
#endif

/* The error code of the last call that failed. */
extern int pvm_errno;

/* Identity and processes. */
int pvm_mytid(void);
int pvm_parent(void);
int pvm_tidtohost(int tid);
int pvm_exit(void);
int pvm_spawn(char *task, char **argv, int flag, char *where, int ntask, int *tids);
int pvm_kill(int tid);
int pvm_sendsig(int tid, int signum);
int pvm_notify(int what, int msgtag, int cnt, int *tids);
int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **taskp);
int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hostp);
int pvm_pstat(int tid);
int pvm_siblings(int **tids);
int pvm_export(char *name);
int pvm_unexport(char *name);
#if defined(EOF)
int pvm_catchout(FILE *ff);
#endif
int pvm_getnoresets(int **tids, int *ntids);

/* Hosts and the virtual machine. */
int pvm_addhosts(char **hosts, int nhost, int *infos);
int pvm_delhosts(char **hosts, int nhost, int *infos);
int pvm_mstat(char *host);
int pvm_hostsync(int host, struct timeval *clk, struct timeval *delta);
int pvm_archcode(char *arch);
int pvm_halt(void);
int pvm_start_pvmd(int argc, char **argv, int block);
int pvm_tickle(int narg, int *argp, int *nresp, int *resp);

/* Options, contexts, errors. */
int pvm_setopt(int what, int val);
int pvm_getopt(int what);
int pvm_getcontext(void);
int pvm_setcontext(int context);
int pvm_newcontext(void);
int pvm_freecontext(int context);
int pvm_perror(char *msg);
char *pvm_strerror(void);
char *pvm_version(void);

/* Buffers. */
int pvm_initsend(int encoding);
int pvm_mkbuf(int encoding);
int pvm_freebuf(int bufid);
int pvm_getsbuf(void);
int pvm_getrbuf(void);
int pvm_setsbuf(int bufid);
int pvm_setrbuf(int bufid);
int pvm_bufinfo(int bufid, int *bytes, int *msgtag, int *tid);
int pvm_getminfo(int bufid, struct pvmminfo *info);
int pvm_setminfo(int bufid, struct pvmminfo *info);
int pvm_pkmesg(int bufid);
int pvm_pkmesgbody(int bufid);
int pvm_upkmesg(void);
#ifdef PVM33COMPAT
int pvm_getmwid(int bufid);
int pvm_setmwid(int bufid, int wid);
#endif

/* Packing: nitem items, stride items apart. */
int pvm_packf(const char *fmt, ...);
int pvm_pkbyte(char *p, int nitem, int stride);
int pvm_pkcplx(float *p, int nitem, int stride);
int pvm_pkdcplx(double *p, int nitem, int stride);
int pvm_pkdouble(double *p, int nitem, int stride);
int pvm_pkfloat(float *p, int nitem, int stride);
int pvm_pkint(int *p, int nitem, int stride);
int pvm_pklong(long *p, int nitem, int stride);
int pvm_pkshort(short *p, int nitem, int stride);
int pvm_pkstr(char *p);
int pvm_pkuint(unsigned int *p, int nitem, int stride);
int pvm_pkulong(unsigned long *p, int nitem, int stride);
int pvm_pkushort(unsigned short *p, int nitem, int stride);

/* Unpacking, in the order of packing. */
int pvm_unpackf(const char *fmt, ...);
int pvm_upkbyte(char *p, int nitem, int stride);
int pvm_upkcplx(float *p, int nitem, int stride);
int pvm_upkdcplx(double *p, int nitem, int stride);
int pvm_upkdouble(double *p, int nitem, int stride);
int pvm_upkfloat(float *p, int nitem, int stride);
int pvm_upkint(int *p, int nitem, int stride);
int pvm_upklong(long *p, int nitem, int stride);
int pvm_upkshort(short *p, int nitem, int stride);
int pvm_upkstr(char *p);
int pvm_upkuint(unsigned int *p, int nitem, int stride);
int pvm_upkulong(unsigned long *p, int nitem, int stride);
int pvm_upkushort(unsigned short *p, int nitem, int stride);

/* Messages. A tid or tag of -1 matches any. */
int pvm_send(int tid, int msgtag);
int pvm_mcast(int *tids, int ntask, int msgtag);
int pvm_psend(int tid, int msgtag, void *buf, int len, int datatype);
int pvm_recv(int tid, int msgtag);
int pvm_nrecv(int tid, int msgtag);
int pvm_trecv(int tid, int msgtag, struct timeval *tmout);
int pvm_precv(int tid, int msgtag, void *buf, int len, int datatype, int *atid, int *atag, int *alen);
int pvm_probe(int tid, int msgtag);
int pvm_getfds(int **fds);
int (*pvm_recvf(int (*match)(int bufid, int tid, int msgtag)))(int bufid, int tid, int msgtag);
int pvm_addmhf(int src, int tag, int ctx, int (*func)(int bufid));
int pvm_delmhf(int mhid);

/* The mailbox. */
int pvm_putinfo(char *name, int bufid, int flags);
int pvm_recvinfo(char *name, int index, int flags);
int pvm_delinfo(char *name, int index, int flags);
int pvm_getmboxinfo(char *pattern, int *nclasses, struct pvmmboxinfo **classes);
int pvm_insert(char *name, int index, int data);
int pvm_lookup(char *name, int index, int *data);
int pvm_delete(char *name, int index);

/* Roles of a task for the whole virtual machine. */
int pvm_reg_hoster(void);
int pvm_reg_rm(struct pvmhostinfo **hostp);
int pvm_reg_tasker(void);
int pvm_reg_tracer(int trcctx, int trctag, int outctx, int outtag, char *tmask, int trcbuf, int trcopt);

/* Programs use these functions although PVM's manual omits them. */
char *pvmgetrsh(void);
char *pvmgettmp(void);
#ifdef NOTMPNAM
char *pvmtmpnam(char *name);
#endif

/* Groups: -lgpvm3. */
int pvm_joingroup(char *group);
int pvm_lvgroup(char *group);
int pvm_gettid(char *group, int inum);
int pvm_getinst(char *group, int tid);
int pvm_gsize(char *group);
int pvm_freezegroup(char *group, int size);
int pvm_barrier(char *group, int count);
int pvm_bcast(char *group, int msgtag);
int pvm_reduce(void (*func)(int *, void *, void *, int *, int *), void *data, int count, int datatype,
	int msgtag, char *group, int rootinst);
int pvm_gather(void *result, void *data, int count, int datatype, int msgtag, char *group, int rootinst);
int pvm_scatter(void *result, void *data, int count, int datatype, int msgtag, char *group, int rootinst);

/* For pvm_reduce. */
void PvmMax(int *datatype, void *x, void *y, int *num, int *info);
void PvmMin(int *datatype, void *x, void *y, int *num, int *info);
void PvmSum(int *datatype, void *x, void *y, int *num, int *info);
void PvmProduct(int *datatype, void *x, void *y, int *num, int *info);

#ifdef __cplusplus
}
#endif

#endif
