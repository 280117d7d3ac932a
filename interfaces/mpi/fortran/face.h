/*
 * MPI's calls for Fortran, over those for C.
 *
 * gfortran's conventions: a name in lower case with an underscore behind it, every argument by reference, and for each CHARACTER
 * argument its length, by value, behind the last argument. The error code comes back in an argument of its own, so that every
 * call is a subroutine. .TRUE. is 1, as C's truth is; a handle of Fortran's is the number that it is in C.
 */
#ifndef PARVUM_MPI_FORTRAN_FACE_H
#define PARVUM_MPI_FORTRAN_FACE_H

#include <mpi.h>
#include <stddef.h>

/* What programs link with; all else stays inside the library. */
#define MPIF __attribute__((visibility("default")))

/* Places that stand for something by their address. They are commons of the program's, whose places count when it has them. */
extern MPIF MPI_Fint mpipriv1_[7];	/* MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE */
extern MPIF MPI_Fint mpipriv2_[6];	/* MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE */
extern MPIF char mpiprivc_[2];		/* MPI_ARGVS_NULL, MPI_ARGV_NULL */
extern MPIF MPI_Fint mpifcmb5_, mpifcmb9_;	/* MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */

/* The same of the module mpi_f08; the library has them where it has that module. */
extern MPIF MPI_Fint parvum_f08_status_ignore[5] __attribute__((weak));
extern MPIF MPI_Fint parvum_f08_statuses_ignore[5] __attribute__((weak));

/* Each as C has it. */
static inline void *data(void *place)
{
	if (place == &mpipriv1_[0]) return MPI_BOTTOM;
	if (place == &mpipriv1_[1]) return MPI_IN_PLACE;
	return place;
}

static inline MPI_Status *wanted(MPI_Fint *status)
{
	if (status == &mpipriv1_[2] || status == parvum_f08_status_ignore) return MPI_STATUS_IGNORE;
	if (status == &mpipriv2_[0] || status == parvum_f08_statuses_ignore) return MPI_STATUSES_IGNORE;
	return (MPI_Status *)status;
}

static inline int *weighted(MPI_Fint *place)
{
	if (place == &mpifcmb5_) return MPI_UNWEIGHTED;
	if (place == &mpifcmb9_) return MPI_WEIGHTS_EMPTY;
	return place;
}

static inline int *codes(MPI_Fint *place)
{
	return place == &mpipriv2_[5] ? MPI_ERRCODES_IGNORE : place;
}

/* A Fortran text as C takes it: without the blanks at its end, with a null behind it. */
struct text {
	char *c;	/* null when there was no memory */
	char small[512];
};

char *parvum_text(struct text *text, const char *characters, size_t length);
/* A hint's key or value: without the blanks at either end. */
char *parvum_trimmed(struct text *text, const char *characters, size_t length);
void parvum_text_done(struct text *text);

/* A C text as Fortran keeps it: cut to the length, or filled up with blanks. */
void parvum_give_text(char *characters, size_t length, const char *c);

/* C's places in an array begin at 0, Fortran's at 1. */
static inline void from_one(MPI_Fint *index)
{
	if (*index >= 0) ++*index;
}

static inline void all_from_one(MPI_Fint count, MPI_Fint *indices)
{
	for (MPI_Fint i = 0; i < count; i++) ++indices[i];
}

#endif
