/*
 * Data as the module mpi_f08 gives it: any type, any rank, and with gaps when it is a section of an array.
 *
 * What lies without gaps goes as it is. Of a section that is one message a datatype is made; what a call uses in another way is copied
 * when the call is over with it at its return, and refused when it is not.
 */
#ifndef PARVUM_MPI_FORTRAN_SECTIONS_H
#define PARVUM_MPI_FORTRAN_SECTIONS_H

#include "face.h"

#include <ISO_Fortran_binding.h>

struct section {
	void *address;
	MPI_Count count;
	MPI_Datatype type;
	int made;	/* the type is this section's own */
	void *copy;	/* null, or the section without its gaps */
};

/* One message of so many elements. Each of these gives MPI_SUCCESS, or a code of the class MPI_ERR_BUFFER. */
int parvum_message(struct section *section, CFI_cdesc_t *data, MPI_Count count, MPI_Datatype type);
/* Used in this call only. */
int parvum_within(struct section *section, CFI_cdesc_t *data);
/* Used after this call. */
int parvum_kept(struct section *section, CFI_cdesc_t *data);
/* The call is over; if it gives data, that goes back into the section. */
void parvum_section_done(struct section *section, CFI_cdesc_t *data, int gives);
/* Has the error handler called, and gives the code. */
int parvum_refused(MPI_Comm comm, int code);

#endif
