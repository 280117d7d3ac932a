/* Sections of arrays: see sections.h. */
#include "sections.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What the module has for a status that is not wanted. */
MPIF MPI_Fint parvum_f08_status_ignore[5];
MPIF MPI_Fint parvum_f08_statuses_ignore[5];

enum { DEEPEST = CFI_MAX_RANK };

/* A code of its own, so that the text says what to do. */
static int refusal(const char *why)
{
	static int code;
	if (!code && (PMPI_Add_error_code(MPI_ERR_BUFFER, &code) || PMPI_Add_error_string(code, why))) return MPI_ERR_BUFFER;
	return code;
}

/* As CFI_is_contiguous, which needs Fortran's own library. An array whose last extent is not known has no gaps. */
static int has_no_gaps(CFI_cdesc_t *data)
{
	CFI_index_t step = (CFI_index_t)data->elem_len;
	for (int d = 0; d < data->rank; d++) {
		if (data->dim[d].extent == 0) return 1;
		if (data->dim[d].extent > 1 && data->dim[d].sm != step) return 0;
		step *= data->dim[d].extent;
	}
	return 1;
}

int parvum_refused(MPI_Comm comm, int code)
{
	PMPI_Comm_call_errhandler(comm, code);
	return code;
}

int parvum_kept(struct section *section, CFI_cdesc_t *data_of)
{
	section->address = data(data_of->base_addr);
	if (has_no_gaps(data_of)) return MPI_SUCCESS;
	return refusal("MPI_ERR_BUFFER: a section of an array with gaps cannot be used after the call in this way: use an array "
	               "without gaps, or the blocking form");
}

static size_t elements_of(CFI_cdesc_t *data)
{
	size_t all = 1;
	for (int at = 0; at < data->rank; at++) all *= (size_t)data->dim[at].extent;
	return all;
}

/* Copies the section's elements to memory without gaps, or from there. */
static void copy(CFI_cdesc_t *data, char *flat, int back)
{
	CFI_index_t at[DEEPEST] = {0};
	for (size_t left = elements_of(data); left > 0; left--, flat += data->elem_len) {
		char *place = data->base_addr;
		for (int d = 0; d < data->rank; d++) place += at[d] * data->dim[d].sm;
		if (back) memcpy(place, flat, data->elem_len);
		else memcpy(flat, place, data->elem_len);
		for (int d = 0; d < data->rank && ++at[d] == data->dim[d].extent; d++) at[d] = 0;
	}
}

int parvum_within(struct section *section, CFI_cdesc_t *data_of)
{
	section->address = data(data_of->base_addr);
	if (has_no_gaps(data_of)) return MPI_SUCCESS;
	size_t bytes = elements_of(data_of) * data_of->elem_len;
	section->copy = malloc(bytes ? bytes : 1);
	if (!section->copy) return MPI_ERR_NO_MEM;
	copy(data_of, section->copy, 0);
	section->address = section->copy;
	return MPI_SUCCESS;
}

void parvum_section_done(struct section *section, CFI_cdesc_t *data, int gives)
{
	if (section->copy && gives) copy(data, section->copy, 1);
	free(section->copy);
	if (section->made) PMPI_Type_free(&section->type);
}

/* The datatype of one element of the array, in terms of the message's. */
static int element(size_t bytes, MPI_Count of_type, MPI_Datatype type, MPI_Datatype *made)
{
	if (of_type > 0 && bytes % (size_t)of_type == 0)
		return PMPI_Type_contiguous((int)(bytes / (size_t)of_type), type, made);
	return PMPI_Type_contiguous((int)bytes, MPI_BYTE, made);
}

/* The first `wanted` elements of the section, as whole slices of fewer and fewer dimensions. */
static int slices(CFI_cdesc_t *data, MPI_Datatype one, size_t wanted, MPI_Datatype *made)
{
	MPI_Datatype level[DEEPEST + 1], parts[DEEPEST];
	size_t whole[DEEPEST + 1];
	MPI_Aint places[DEEPEST], place = 0;
	int lengths[DEEPEST], count = 0, code = MPI_SUCCESS;
	level[0] = one, whole[0] = 1;
	for (int d = 0; d < data->rank; d++) {
		whole[d + 1] = whole[d] * (size_t)data->dim[d].extent;
		code = PMPI_Type_create_hvector((int)data->dim[d].extent, 1, data->dim[d].sm, level[d], &level[d + 1]);
		if (code) return code;
	}
	for (int d = data->rank; d > 0 && !code; d--) {
		size_t fit = whole[d - 1] ? wanted / whole[d - 1] : 0;
		if (fit == 0) continue;
		code = PMPI_Type_create_hvector((int)fit, 1, data->dim[d - 1].sm, level[d - 1], &parts[count]);
		lengths[count] = 1;
		places[count++] = place;
		place += (MPI_Aint)fit * data->dim[d - 1].sm;
		wanted -= fit * whole[d - 1];
	}
	if (!code) code = PMPI_Type_create_struct(count, lengths, places, parts, made);
	for (int at = 0; at < count; at++) PMPI_Type_free(&parts[at]);
	for (int d = 1; d <= data->rank; d++) PMPI_Type_free(&level[d]);
	return code;
}

int parvum_message(struct section *section, CFI_cdesc_t *data_of, MPI_Count count, MPI_Datatype type)
{
	MPI_Count size, low, extent;
	section->address = data(data_of->base_addr);
	section->count = count;
	section->type = type;
	/* What is wrong with count or type, C's function says. */
	if (has_no_gaps(data_of) || count <= 0 || type == MPI_DATATYPE_NULL) return MPI_SUCCESS;
	if (PMPI_Type_size_c(type, &size) || PMPI_Type_get_extent_c(type, &low, &extent)) return MPI_SUCCESS;
	if (size != extent || low != 0)
		return refusal("MPI_ERR_BUFFER: a section of an array and a datatype that both have gaps do not go together: use one of them");
	size_t bytes = (size_t)size * (size_t)count;
	if (bytes % data_of->elem_len != 0 || bytes / data_of->elem_len > elements_of(data_of))
		return refusal("MPI_ERR_BUFFER: count and datatype are not so many elements of this section of an array");
	MPI_Datatype one;
	int code = element(data_of->elem_len, size, type, &one);
	if (code) return code;
	code = slices(data_of, one, bytes / data_of->elem_len, &section->type);
	PMPI_Type_free(&one);
	if (code) return code;
	section->made = 1;
	section->count = 1;
	return PMPI_Type_commit(&section->type);
}

/* MPI_Sizeof, of the module mpi as well. */
MPIF void parvum_sizeof(CFI_cdesc_t *data, MPI_Fint *size, MPI_Fint *ierror)
{
	*size = (MPI_Fint)data->elem_len;
	if (ierror) *ierror = MPI_SUCCESS;
}

/* Both forms of a status are the same five numbers. */
MPIF void mpi_status_f2f08_f08_(MPI_Fint *old, MPI_Fint *new, MPI_Fint *ierror)
{
	memcpy(new, old, 5 * sizeof *new);
	if (ierror) *ierror = MPI_SUCCESS;
}

MPIF void mpi_status_f082f_f08_(MPI_Fint *new, MPI_Fint *old, MPI_Fint *ierror)
{
	memcpy(old, new, 5 * sizeof *old);
	if (ierror) *ierror = MPI_SUCCESS;
}
