/* What is not of the pattern: no arguments of C's, places that begin at 1, INTEGERs for addresses, functions with results. */
#include "face.h"

#include <stdlib.h>

void MPII_Grequest_set_lang_f77(MPI_Request);

#define BEGINNING(small, LARGE)                                                                                   \
	MPIF void small##_init_(MPI_Fint *ierror)                                                                 \
	{                                                                                                         \
		*ierror = LARGE##_Init(NULL, NULL);                                                               \
	}                                                                                                         \
	MPIF void small##_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)                  \
	{                                                                                                         \
		*ierror = LARGE##_Init_thread(NULL, NULL, *required, provided);                                   \
	}                                                                                                         \
	MPIF void small##_pcontrol_(MPI_Fint *level)                                                              \
	{                                                                                                         \
		LARGE##_Pcontrol(*level);                                                                         \
	}                                                                                                         \
	MPIF void small##_info_create_env_(MPI_Fint *info, MPI_Fint *ierror)                                      \
	{                                                                                                         \
		*ierror = LARGE##_Info_create_env(0, NULL, info);                                                 \
	}                                                                                                         \
	MPIF void small##_register_datarep_(char *name, void (*read)(void), void (*write)(void), void (*extent)(void), \
	                                    MPI_Aint *extra, MPI_Fint *ierror, size_t length)                     \
	{                                                                                                         \
		struct text text;                                                                                 \
		*ierror = LARGE##_Register_datarep(parvum_text(&text, name, length), conversion(read),            \
		                                   conversion(write), (MPI_Datarep_extent_function *)extent, extra); \
		parvum_text_done(&text);                                                                          \
	}                                                                                                         \
	/* Fortran's buffer is the program's own variable: where it lay is not said. */                           \
	MPIF void small##_buffer_detach_(void *buffer, MPI_Fint *size, MPI_Fint *ierror)                          \
	{                                                                                                         \
		void *place;                                                                                      \
		(void)buffer;                                                                                     \
		*ierror = LARGE##_Buffer_detach(&place, size);                                                    \
	}                                                                                                         \
	MPIF void small##_comm_detach_buffer_(MPI_Fint *comm, void *buffer, MPI_Fint *size, MPI_Fint *ierror)     \
	{                                                                                                         \
		void *place;                                                                                      \
		(void)buffer;                                                                                     \
		*ierror = LARGE##_Comm_detach_buffer(*comm, &place, size);                                        \
	}                                                                                                         \
	MPIF void small##_session_detach_buffer_(MPI_Fint *session, void *buffer, MPI_Fint *size, MPI_Fint *ierror) \
	{                                                                                                         \
		void *place;                                                                                      \
		(void)buffer;                                                                                     \
		*ierror = LARGE##_Session_detach_buffer(*session, &place, size);                                  \
	}                                                                                                         \
	MPIF void small##_grequest_start_(void (*query)(void), void (*release)(void), void (*cancel)(void),        \
	                                  MPI_Aint *extra, MPI_Fint *request, MPI_Fint *ierror)                   \
	{                                                                                                         \
		*ierror = LARGE##_Grequest_start((MPI_Grequest_query_function *)query,                            \
		                                 (MPI_Grequest_free_function *)release,                           \
		                                 (MPI_Grequest_cancel_function *)cancel, extra, request);         \
		if (!*ierror) MPII_Grequest_set_lang_f77(*request);                                               \
	}

/* Nothing: that it is called keeps the compiler from moving what is done with the buffer. */
MPIF void mpi_f_sync_reg_(void *buffer)
{
	(void)buffer;
}

/* It stands for none, and is not called. */
MPIF void mpi_conversion_fn_null_(void)
{
}

static MPI_Datarep_conversion_function *conversion(void (*given)(void))
{
	return given == mpi_conversion_fn_null_ ? MPI_CONVERSION_FN_NULL : (MPI_Datarep_conversion_function *)given;
}

BEGINNING(mpi, MPI)
BEGINNING(pmpi, PMPI)

#define INDICES(small, LARGE)                                                                                          \
	MPIF void small##_waitany_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status,             \
	                           MPI_Fint *ierror)                                                                   \
	{                                                                                                              \
		*ierror = LARGE##_Waitany(*count, requests, index, wanted(status));                                    \
		if (!*ierror) from_one(index);                                                                         \
	}                                                                                                              \
	MPIF void small##_testany_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag,               \
	                           MPI_Fint *status, MPI_Fint *ierror)                                                 \
	{                                                                                                              \
		*ierror = LARGE##_Testany(*count, requests, index, flag, wanted(status));                              \
		if (!*ierror) from_one(index);                                                                         \
	}                                                                                                              \
	MPIF void small##_request_get_status_any_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag, \
	                                          MPI_Fint *status, MPI_Fint *ierror)                                  \
	{                                                                                                              \
		*ierror = LARGE##_Request_get_status_any(*count, requests, index, flag, wanted(status));               \
		if (!*ierror) from_one(index);                                                                         \
	}                                                                                                              \
	SOME(small, LARGE, waitsome, Waitsome)                                                                         \
	SOME(small, LARGE, testsome, Testsome)                                                                         \
	SOME(small, LARGE, request_get_status_some, Request_get_status_some)

/* Also when some of those that are over have failed. */
#define SOME(small, LARGE, lower, Upper)                                                                             \
	MPIF void small##_##lower##_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices,         \
	                             MPI_Fint *statuses, MPI_Fint *ierror)                                           \
	{                                                                                                            \
		*done = MPI_UNDEFINED;                                                                               \
		*ierror = LARGE##_##Upper(*count, requests, done, indices, wanted(statuses));                        \
		all_from_one(*done, indices);                                                                        \
	}

INDICES(mpi, MPI)
INDICES(pmpi, PMPI)

/* MPI-1 has INTEGERs for places in memory. What does not fit is cut, as it was then. */
static MPI_Aint *wide(const MPI_Fint *narrow, MPI_Fint count)
{
	MPI_Aint *list = malloc(sizeof *list * (size_t)(count > 0 ? count : 1));
	for (MPI_Fint at = 0; list && at < count; at++) list[at] = narrow[at];
	return list;
}

#define OLD_PLACES(small, LARGE)                                                                                       \
	MPIF void small##_address_(void *place, MPI_Fint *address, MPI_Fint *ierror)                                   \
	{                                                                                                              \
		MPI_Aint found = 0;                                                                                    \
		*ierror = LARGE##_Get_address(data(place), &found);                                                    \
		*address = (MPI_Fint)found;                                                                            \
	}                                                                                                              \
	OLD_NUMBER(small, LARGE, extent)                                                                       \
	OLD_NUMBER(small, LARGE, lb)                                                                               \
	OLD_NUMBER(small, LARGE, ub)                                                                               \
	MPIF void small##_type_hvector_(MPI_Fint *count, MPI_Fint *length, MPI_Fint *stride, MPI_Fint *old,            \
	                                MPI_Fint *new, MPI_Fint *ierror)                                               \
	{                                                                                                              \
		*ierror = LARGE##_Type_create_hvector(*count, *length, *stride, *old, new);                            \
	}                                                                                                              \
	MPIF void small##_type_hindexed_(MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *places, MPI_Fint *old,          \
	                                 MPI_Fint *new, MPI_Fint *ierror)                                              \
	{                                                                                                              \
		MPI_Aint *list = wide(places, *count);                                                                 \
		*ierror = LARGE##_Type_create_hindexed(*count, lengths, list, *old, new);                              \
		free(list);                                                                                            \
	}                                                                                                              \
	MPIF void small##_type_struct_(MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *places, MPI_Fint *old,            \
	                               MPI_Fint *new, MPI_Fint *ierror)                                                \
	{                                                                                                              \
		MPI_Aint *list = wide(places, *count);                                                                 \
		*ierror = LARGE##_Type_struct(*count, lengths, list, old, new);                                        \
		free(list);                                                                                            \
	}

#define OLD_NUMBER(small, LARGE, lower)                                                \
	MPIF void small##_type_##lower##_(MPI_Fint *type, MPI_Fint *number, MPI_Fint *ierror) \
	{                                                                                     \
		MPI_Aint found = 0;                                                           \
		*ierror = LARGE##_Type_##lower(*type, &found);                                \
		*number = (MPI_Fint)found;                                                    \
	}

OLD_PLACES(mpi, MPI)
OLD_PLACES(pmpi, PMPI)

#define RESULTS(small, LARGE)                                              \
	MPIF double small##_wtime_(void)                                   \
	{                                                                  \
		return LARGE##_Wtime();                                    \
	}                                                                  \
	MPIF double small##_wtick_(void)                                   \
	{                                                                  \
		return LARGE##_Wtick();                                    \
	}                                                                  \
	MPIF MPI_Aint small##_aint_add_(MPI_Aint *base, MPI_Aint *far)     \
	{                                                                  \
		return LARGE##_Aint_add(*base, *far);                      \
	}                                                                  \
	MPIF MPI_Aint small##_aint_diff_(MPI_Aint *one, MPI_Aint *other)   \
	{                                                                  \
		return LARGE##_Aint_diff(*one, *other);                    \
	}

RESULTS(mpi, MPI)
RESULTS(pmpi, PMPI)
