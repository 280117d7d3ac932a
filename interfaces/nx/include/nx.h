/* Intel NX (iPSC/2, iPSC/860, Paragon) on Parvum.
 *
 * A call that fails prints an error and ends the program. The call with an underscore before its name returns -1 instead,
 * and sets errno to a number below. Lengths are bytes. The manual describes each call: csend(3) and others. */
#ifndef NX_H
#define NX_H

#ifdef __cplusplus
extern "C" {
#endif

/* Error numbers, all different from the system's. */
#define EQMSGLONG 1001 /* the message is longer than the buffer          */
#define EQPBUF 1002    /* a null pointer for a buffer                    */
#define EQLEN 1003     /* a negative length                              */
#define EQBLEN 1004    /* a length larger than any memory                */
#define EQNODE 1005    /* no such node, or it has ended                  */
#define EQPID 1006     /* an invalid ptype                               */
#define EQTYPE 1007    /* a type that no program may use                 */
#define EQMID 1008     /* no such message id                             */
#define EQHND 1009     /* a null pointer for a handler                   */
#define EQNOMID 1010   /* all message ids are in use                     */
#define EQMEM 1011     /* no memory                                      */
#define EQNOSET 1012   /* this process has no ptype yet                  */
#define EQSET 1013     /* this process already has a ptype               */
#define EQUSEPID 1014  /* another process of the node has this ptype     */
#define EQPARAM 1015   /* another argument is invalid                    */
#define EQMACHINE 1016 /* the virtual machine is missing or lost         */
#define EQCHILD 1017   /* this process was forked from a node            */

#define INVALID_PTYPE (-1)

/* The most message ids of a process at a time. */
#define NX_IDS 1024

/* Types from 0 are ordinary, from NX_FORCE on force types. */
#define NX_LAST_TYPE 999999999L
#define NX_FORCE 1073741824L
#define NX_LAST_FORCE 1999999999L

typedef void (*nx_handler)(long type, long count, long node, long ptype);
typedef void (*nx_xhandler)(long type, long count, long node, long ptype, long hparam);

#define NX_BOTH(result, name, arguments) \
	result name arguments;           \
	long _##name arguments

/* Sending and receiving. */
NX_BOTH(void, csend, (long type, void *buf, long count, long node, long ptype));
NX_BOTH(void, crecv, (long typesel, void *buf, long count));
NX_BOTH(void, crecvx, (long typesel, void *buf, long count, long nodesel, long ptypesel, long info[8]));
NX_BOTH(long, isend, (long type, void *buf, long count, long node, long ptype));
NX_BOTH(long, irecv, (long typesel, void *buf, long count));
NX_BOTH(long, irecvx, (long typesel, void *buf, long count, long nodesel, long ptypesel, long info[8]));
NX_BOTH(long, csendrecv, (long type, void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf, long rcount));
NX_BOTH(long, isendrecv, (long type, void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf, long rcount));
NX_BOTH(void, gsendx, (long type, void *buf, long count, const long nodes[], long nnodes));

/* Message ids. */
NX_BOTH(void, msgwait, (long mid));
NX_BOTH(long, msgdone, (long mid));
NX_BOTH(void, msgignore, (long mid));
NX_BOTH(void, msgcancel, (long mid));
NX_BOTH(long, msgmerge, (long mid1, long mid2));

/* Probes, and properties of the last message. */
NX_BOTH(void, cprobe, (long typesel));
NX_BOTH(long, iprobe, (long typesel));
NX_BOTH(void, cprobex, (long typesel, long nodesel, long ptypesel, long info[8]));
NX_BOTH(long, iprobex, (long typesel, long nodesel, long ptypesel, long info[8]));
NX_BOTH(long, infocount, (void));
NX_BOTH(long, infonode, (void));
NX_BOTH(long, infotype, (void));
NX_BOTH(long, infoptype, (void));
NX_BOTH(long, infopid, (void));

/* Handlers. */
NX_BOTH(void, hrecv, (long typesel, void *buf, long count, nx_handler handler));
NX_BOTH(void, hrecvx, (long typesel, void *buf, long count, long nodesel, long ptypesel, nx_xhandler handler, long hparam));
NX_BOTH(void, hsend, (long type, void *buf, long count, long node, long ptype, nx_handler handler));
NX_BOTH(void, hsendx, (long type, void *buf, long count, long node, long ptype, nx_xhandler handler, long hparam));
NX_BOTH(void, hsendrecv, (long type, void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf, long rcount,
	nx_handler handler));
NX_BOTH(long, masktrap, (long state));

/* Global operations. */
NX_BOTH(void, gsync, (void));
NX_BOTH(void, gisum, (long x[], long n, long work[]));
NX_BOTH(void, gssum, (float x[], long n, float work[]));
NX_BOTH(void, gdsum, (double x[], long n, double work[]));
NX_BOTH(void, giprod, (long x[], long n, long work[]));
NX_BOTH(void, gsprod, (float x[], long n, float work[]));
NX_BOTH(void, gdprod, (double x[], long n, double work[]));
NX_BOTH(void, gihigh, (long x[], long n, long work[]));
NX_BOTH(void, gshigh, (float x[], long n, float work[]));
NX_BOTH(void, gdhigh, (double x[], long n, double work[]));
NX_BOTH(void, gilow, (long x[], long n, long work[]));
NX_BOTH(void, gslow, (float x[], long n, float work[]));
NX_BOTH(void, gdlow, (double x[], long n, double work[]));
NX_BOTH(void, giand, (long x[], long n, long work[]));
NX_BOTH(void, gior, (long x[], long n, long work[]));
NX_BOTH(void, gixor, (long x[], long n, long work[]));
NX_BOTH(void, gland, (long x[], long n, long work[]));
NX_BOTH(void, glor, (long x[], long n, long work[]));
NX_BOTH(void, glxor, (long x[], long n, long work[]));
NX_BOTH(void, gcol, (void *x, long xlen, void *y, long ylen, long *ncnt));
NX_BOTH(void, gcolx, (void *x, const long xlens[], void *y));
NX_BOTH(void, gopf, (void *x, long xlen, void *work, long (*function)(void *x, void *work)));

/* Node numbers and clocks. */
NX_BOTH(long, mynode, (void));
NX_BOTH(long, numnodes, (void));
NX_BOTH(long, nodedim, (void));
NX_BOTH(long, myhost, (void));
NX_BOTH(long, myptype, (void));
NX_BOTH(long, mypid, (void));
NX_BOTH(void, setptype, (long ptype));
NX_BOTH(void, setpid, (long ptype));
NX_BOTH(long, gray, (long number));
NX_BOTH(long, ginv, (long code));
NX_BOTH(void, flick, (void));
NX_BOTH(void, killcube, (long node, long ptype));
NX_BOTH(void, killproc, (long node, long ptype));
double dclock(void);
unsigned long mclock(void);
int nx_initve(char *partition, long size, char *account, int *argc, char **argv);

#undef NX_BOTH

/* The call that copied a buffered message to the program's memory. */
#define NX_IN_CRECV 0
#define NX_IN_IRECV 1
#define NX_IN_MSGWAIT 2
#define NX_IN_MSGDONE 3
#define NX_IN_GLOBAL 4 /* gsync and the other global operations          */
#define NX_IN_OTHER 5  /* handlers, and ids that were given up          */

/* The places in which the bytes of this node's messages were buffered, since its start. */
struct nx_buffering {
	long received;       /* bytes received                                     */
	long direct;         /* of these, put straight into the program's memory   */
	long buffered;       /* bytes that came when no receive was posted         */
	long kept_by_sender; /* bytes that this node buffered as a sender                          */
	long dropped;        /* force messages dropped here: no receive was posted */
	long copied[6];      /* bytes copied out of buffers, by NX_IN_...          */
};
int nx_buffering(struct nx_buffering *out);

#ifdef __cplusplus
}
#endif

#endif
