/*
 * Tmk.h - TreadMarks on Parvum: shared memory for the processes of one run, on one host or many.
 *
 * Link with -lTmk. `parvum run -n N program` makes N processes. A program that is started directly with TMK_NODES=N, or
 * with `-- -n N` after its arguments, does the same. Shared memory has the same addresses in all of them. See treadmarks(7).
 */
#ifndef TMK_H
#define TMK_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TMK_NORETURN __attribute__((noreturn))
#define TMK_PRINTS __attribute__((format(printf, 1, 2)))
#else
#define TMK_NORETURN
#define TMK_PRINTS
#endif

#define TMK_NPROCS	256	/* most processes of a run                              */
#define TMK_NLOCKS	4096	/* locks are numbered from 0 to TMK_NLOCKS - 1          */
#define TMK_NBARRIERS	256	/* barriers from 0 to TMK_NBARRIERS - 1                 */
#define TMK_NVIEWS	1024	/* views from 0 to TMK_NVIEWS - 1                       */

extern unsigned Tmk_proc_id;	/* number of this process, from 0; after Tmk_startup    */
extern unsigned Tmk_nprocs;	/* number of processes                                  */
extern unsigned Tmk_page_size;	/* bytes of the unit of sharing                         */

void Tmk_startup(int argc, char **argv);
void Tmk_exit(int status) TMK_NORETURN;
void Tmk_errexit(const char *format, ...) TMK_NORETURN TMK_PRINTS;

char *Tmk_malloc(unsigned size);
void Tmk_free(char *ptr);
char *Tmk_sbrk(unsigned incr);
void Tmk_distribute(char *ptr, int size);

void Tmk_barrier(unsigned id);
void Tmk_lock_acquire(unsigned id);
void Tmk_lock_release(unsigned id);

/* --- Parvum's additions to TreadMarks------------------------------------------------------------------------------ */

/* Views: parts of memory that a process acquires before it uses them, alone for writes, or shared for reads. An acquire brings the
 * changes of other processes. One process makes a view, and all processes know the view when the call returns. */
char *Tmk_alloc_view(unsigned view, unsigned size);
void Tmk_acquire_view(unsigned view);
void Tmk_release_view(unsigned view);
void Tmk_acquire_Rview(unsigned view);
void Tmk_release_Rview(unsigned view);
/* Opens memory for system calls, which otherwise may fail with EFAULT. */
void Tmk_touch(char *ptr, unsigned size, int write);
/* Promises to write all of the memory before any process reads it: changes of other processes are not fetched. */
void Tmk_overwrite(char *ptr, unsigned size);
/* Gives a home to the pages that lie wholly in the memory, before any process uses them. Changes go to the home at once. */
void Tmk_home(char *ptr, unsigned size);

/* A barrier that a death does not end, with TMK_REPLICAS=1. Returns 0, or in all living processes the number of processes that have
 * died so far: then shared memory is as it was after the previous barrier, and all locks are free. */
int Tmk_barrier_kept(unsigned id);
/* Returns 1, or 0 if this process knows that the other has died. */
int Tmk_is_alive(unsigned proc_id);

/* Types and operators of Tmk_reduce. */
#define TMK_INT		1
#define TMK_LONG	2
#define TMK_FLOAT	3
#define TMK_DOUBLE	4
#define TMK_SUM		1
#define TMK_PROD	2
#define TMK_MIN		3
#define TMK_MAX		4
/* Combines the private arrays of all processes, element by element, into each array. */
void Tmk_reduce(void *data, unsigned count, int type, int op);

/* Counters of this process since its start. On one host without protocol most are 0. */
struct Tmk_stat {
	unsigned long messages;      /* sent to other processes for consistency                */
	unsigned long bytes;         /* bytes of these messages                                */
	unsigned long write_faults;  /* first writes to pages that were up to date             */
	unsigned long misses;        /* accesses that needed data from another process         */
	unsigned long twins;
	unsigned long diffs_made;
	unsigned long diff_bytes;
	unsigned long diffs_applied;
	unsigned long page_fetches;  /* whole pages                                            */
	unsigned long requests;      /* for diffs or pages                                     */
	unsigned long intervals;
	unsigned long invalidations; /* pages that a write notice has closed                   */
	unsigned long locks_here;    /* locks acquired that this process had last              */
	unsigned long locks_fetched; /* locks acquired with a request or a wait                */
	unsigned long barriers;
	unsigned long collections;   /* times that old records were freed                      */
	unsigned long held;          /* bytes of twins and records now                         */
	unsigned long most_held;     /* the largest number so far                              */
};
/* Returns 0, or -1 before Tmk_startup. */
int Tmk_statistics(struct Tmk_stat *out);

#ifdef __cplusplus
}
#endif

#endif
