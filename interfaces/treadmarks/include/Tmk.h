/*
 * Tmk.h - TreadMarks on Parvum: shared memory for the processes of one run, on one host or many.
 *
 * Link with -lTmk. `parvum run -n N program` makes N processes; so does a program that is started by itself with TMK_NODES=N
 * or with `-- -n N` behind its arguments. Shared memory lies at the same addresses in all of them. See treadmarks(7).
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

extern unsigned Tmk_proc_id;	/* which process this is, from 0; after Tmk_startup     */
extern unsigned Tmk_nprocs;	/* how many there are                                   */
extern unsigned Tmk_page_size;	/* bytes of the unit that is shared                     */

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

/* --- What TreadMarks did not have --------------------------------------------------------------------------------- */

/* Views: memory that is touched by whoever has acquired it alone, to write it, or to read it as others may too. What others
 * have changed in it comes when it is acquired. One process makes a view; all know of it when this returns. */
char *Tmk_alloc_view(unsigned view, unsigned size);
void Tmk_acquire_view(unsigned view);
void Tmk_release_view(unsigned view);
void Tmk_acquire_Rview(unsigned view);
void Tmk_release_Rview(unsigned view);
/* Opens memory to system calls, which give EFAULT where a program's access would fetch it. */
void Tmk_touch(char *ptr, unsigned size, int write);
/* This process will write all of it before anybody reads it: what others have changed there is not fetched. */
void Tmk_overwrite(char *ptr, unsigned size);
/* The pages that lie wholly in it get a home, to which changes go at once; before anybody touches them. */
void Tmk_home(char *ptr, unsigned size);

/* With TMK_REPLICAS=1 the run goes on when a process dies. As Tmk_barrier, and 0: all is kept. Or, in all that live, how many have
 * died by now: shared memory is as it was when the barrier before this was left, and all locks are free. */
int Tmk_barrier_kept(unsigned id);
/* 1; 0 for a process that has died, as far as this one knows. */
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
/* All processes give an array of their own; each gets them combined, element by element, in its place. */
void Tmk_reduce(void *data, unsigned count, int type, int op);

/* What this process has done since it began. On one host without protocol most of it is 0. */
struct Tmk_stat {
	unsigned long messages;      /* sent to other processes for consistency                */
	unsigned long bytes;         /* of them                                                */
	unsigned long write_faults;  /* first writes to pages that were up to date             */
	unsigned long misses;        /* accesses that needed data of another process           */
	unsigned long twins;
	unsigned long diffs_made;
	unsigned long diff_bytes;
	unsigned long diffs_applied;
	unsigned long page_fetches;  /* whole pages                                            */
	unsigned long requests;      /* for diffs or pages                                     */
	unsigned long intervals;
	unsigned long invalidations; /* pages that a write notice has closed                   */
	unsigned long locks_here;    /* locks taken that nobody had after this process         */
	unsigned long locks_fetched; /* locks for which it had to ask, or to wait              */
	unsigned long barriers;
	unsigned long collections;   /* times that old records were thrown away                */
	unsigned long held;          /* bytes of twins and records now                         */
	unsigned long most_held;     /* the most that ever were                                */
};
/* 0; -1 before Tmk_startup. */
int Tmk_statistics(struct Tmk_stat *out);

#ifdef __cplusplus
}
#endif

#endif
