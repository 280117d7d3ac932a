/* Attributes: Fortran's are integers, as wide as an address, or INTEGERs by MPI-1's names; and the functions that copy and delete them. */
#include "face.h"

#include <stdint.h>

/* What the C library has for this one. */
int MPII_Comm_get_attr(MPI_Comm, int, void *, int *, int);
int MPII_Comm_set_attr(MPI_Comm, int, void *, int);
int MPII_Type_get_attr(MPI_Datatype, int, void *, int *, int);
int MPII_Type_set_attr(MPI_Datatype, int, void *, int);
int MPII_Win_get_attr(MPI_Win, int, void *, int *, int);
int MPII_Win_set_attr(MPI_Win, int, void *, int);
typedef int copy_proxy(void (*)(void), int, int, void *, int, void *, void **, int *);
typedef int delete_proxy(void (*)(void), int, int, int, void *, void *);
void MPII_Keyval_set_proxy(int, copy_proxy *, delete_proxy *);

enum { WIDE = 1, NARROW = 3 };

typedef void copy_function(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, MPI_Fint *, MPI_Fint *);
typedef void delete_function(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *);
typedef void narrow_copy_function(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void narrow_delete_function(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void function(void);

static int copy(function *user, int handle, int key, void *extra, int kind, void *value, void **out, int *flag)
{
	(void)kind;
	MPI_Aint state = (MPI_Aint)extra, old = (MPI_Aint)value, new = 0;
	MPI_Fint error = MPI_SUCCESS, copied = 0;
	((copy_function *)user)(&handle, &key, &state, &old, &new, &copied, &error);
	*flag = copied;
	*out = (void *)new;
	return error;
}

static int delete(function *user, int handle, int key, int kind, void *value, void *extra)
{
	(void)kind;
	MPI_Aint state = (MPI_Aint)extra, old = (MPI_Aint)value;
	MPI_Fint error = MPI_SUCCESS;
	((delete_function *)user)(&handle, &key, &old, &state, &error);
	return error;
}

static int narrow_copy(function *user, int handle, int key, void *extra, int kind, void *value, void **out, int *flag)
{
	(void)kind;
	MPI_Fint state = (MPI_Fint)(intptr_t)extra, old = (MPI_Fint)(intptr_t)value, new = 0;
	MPI_Fint error = MPI_SUCCESS, copied = 0;
	((narrow_copy_function *)user)(&handle, &key, &state, &old, &new, &copied, &error);
	*flag = copied;
	*out = (void *)(intptr_t)new;
	return error;
}

static int narrow_delete(function *user, int handle, int key, int kind, void *value, void *extra)
{
	(void)kind;
	MPI_Fint state = (MPI_Fint)(intptr_t)extra, old = (MPI_Fint)(intptr_t)value;
	MPI_Fint error = MPI_SUCCESS;
	((narrow_delete_function *)user)(&handle, &key, &old, &state, &error);
	return error;
}

/* MPI's own functions for attributes, which a program names. */
#define OWN(bearer)                                                                                              \
	MPIF void mpi_##bearer##null_copy_fn_(MPI_Fint *object, MPI_Fint *key, void *extra, void *old, void *new, \
	                                      MPI_Fint *flag, MPI_Fint *ierror)                                   \
	{                                                                                                         \
		(void)object, (void)key, (void)extra, (void)old, (void)new;                                       \
		*flag = 0;                                                                                        \
		*ierror = MPI_SUCCESS;                                                                            \
	}                                                                                                         \
	MPIF void mpi_##bearer##null_delete_fn_(MPI_Fint *object, MPI_Fint *key, void *value, void *extra,        \
	                                        MPI_Fint *ierror)                                                 \
	{                                                                                                         \
		(void)object, (void)key, (void)value, (void)extra;                                                \
		*ierror = MPI_SUCCESS;                                                                            \
	}

OWN()
OWN(comm_)
OWN(type_)
OWN(win_)

#define DUPLICATE(bearer)                                                                                         \
	MPIF void mpi_##bearer##dup_fn_(MPI_Fint *object, MPI_Fint *key, void *extra, MPI_Aint *old, MPI_Aint *new, \
	                                MPI_Fint *flag, MPI_Fint *ierror)                                           \
	{                                                                                                         \
		(void)object, (void)key, (void)extra;                                                             \
		*new = *old;                                                                                      \
		*flag = 1;                                                                                        \
		*ierror = MPI_SUCCESS;                                                                            \
	}

DUPLICATE(comm_)
DUPLICATE(type_)
DUPLICATE(win_)

/* MPI-1's attributes are INTEGERs. */
MPIF void mpi_dup_fn_(MPI_Fint *comm, MPI_Fint *key, MPI_Fint *extra, MPI_Fint *old, MPI_Fint *new, MPI_Fint *flag,
                      MPI_Fint *ierror)
{
	(void)comm, (void)key, (void)extra;
	*new = *old;
	*flag = 1;
	*ierror = MPI_SUCCESS;
}

#define ATTRIBUTES(lower, Upper, type, small, LARGE)                                                                  \
	MPIF void small##_##lower##_create_keyval_(function *copies, function *deletes, MPI_Fint *key, MPI_Aint *extra, \
	                                           MPI_Fint *ierror)                                                  \
	{                                                                                                             \
		*ierror = LARGE##_##Upper##_create_keyval((MPI_##Upper##_copy_attr_function *)copies,                 \
		                                          (MPI_##Upper##_delete_attr_function *)deletes, key,         \
		                                          (void *)*extra);                                            \
		if (!*ierror) MPII_Keyval_set_proxy(*key, copy, delete);                                              \
	}                                                                                                             \
	MPIF void small##_##lower##_get_attr_(MPI_Fint *object, MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag,       \
	                                      MPI_Fint *ierror)                                                       \
	{                                                                                                             \
		*ierror = MPII_##Upper##_get_attr((type)*object, *key, value, flag, WIDE);                            \
	}                                                                                                             \
	MPIF void small##_##lower##_set_attr_(MPI_Fint *object, MPI_Fint *key, MPI_Aint *value, MPI_Fint *ierror)     \
	{                                                                                                             \
		*ierror = MPII_##Upper##_set_attr((type)*object, *key, (void *)*value, WIDE);                         \
	}

#define MPI_BOTH(small, LARGE)                            \
	ATTRIBUTES(comm, Comm, MPI_Comm, small, LARGE)    \
	ATTRIBUTES(type, Type, MPI_Datatype, small, LARGE) \
	ATTRIBUTES(win, Win, MPI_Win, small, LARGE)       \
	MPIF void small##_keyval_create_(function *copies, function *deletes, MPI_Fint *key, MPI_Fint *extra, MPI_Fint *ierror) \
	{                                                 \
		*ierror = LARGE##_Keyval_create((MPI_Copy_function *)copies, (MPI_Delete_function *)deletes, key, \
		                                (void *)(intptr_t)*extra);                                    \
		if (!*ierror) MPII_Keyval_set_proxy(*key, narrow_copy, narrow_delete);                            \
	}                                                 \
	MPIF void small##_attr_get_(MPI_Fint *comm, MPI_Fint *key, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror) \
	{                                                 \
		MPI_Aint found = 0;                       \
		*ierror = MPII_Comm_get_attr(*comm, *key, &found, flag, WIDE);                                    \
		if (!*ierror && *flag) *value = (MPI_Fint)found;                                                  \
	}                                                 \
	MPIF void small##_attr_put_(MPI_Fint *comm, MPI_Fint *key, MPI_Fint *value, MPI_Fint *ierror)                 \
	{                                                 \
		*ierror = MPII_Comm_set_attr(*comm, *key, (void *)(intptr_t)*value, NARROW);                      \
	}

MPI_BOTH(mpi, MPI)
MPI_BOTH(pmpi, PMPI)
