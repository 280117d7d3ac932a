/* Texts, and the places that stand for something. */
#include "face.h"

#include <stdlib.h>
#include <string.h>

/* As aligned as compilers have commons. */
#define COMMON MPIF __attribute__((aligned(32)))
COMMON MPI_Fint mpipriv1_[7];
COMMON MPI_Fint mpipriv2_[6];
COMMON char mpiprivc_[2];
COMMON MPI_Fint mpifcmb5_;
COMMON MPI_Fint mpifcmb9_;

/* The C library is told where Fortran's are, for MPI_Status_f2c. */
__attribute__((constructor)) static void tell(void)
{
	MPI_F_STATUS_IGNORE = &mpipriv1_[2];
	MPI_F_STATUSES_IGNORE = &mpipriv2_[0];
}

char *parvum_text(struct text *text, const char *characters, size_t length)
{
	while (length > 0 && characters[length - 1] == ' ') length--;
	text->c = length < sizeof text->small ? text->small : malloc(length + 1);
	if (text->c) {
		memcpy(text->c, characters, length);
		text->c[length] = '\0';
	}
	return text->c;
}

char *parvum_trimmed(struct text *text, const char *characters, size_t length)
{
	while (length > 0 && *characters == ' ') characters++, length--;
	return parvum_text(text, characters, length);
}

void parvum_text_done(struct text *text)
{
	if (text->c != text->small) free(text->c);
}

void parvum_give_text(char *characters, size_t length, const char *c)
{
	size_t given = strlen(c);
	if (given > length) given = length;
	memcpy(characters, c, given);
	memset(characters + given, ' ', length - given);
}
