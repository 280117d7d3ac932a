/* Texts whose length the program says, and arrays of texts. */
#include "face.h"

#include <stdlib.h>
#include <string.h>

/* Hints. */
#define INFO(small, LARGE)                                                                                             \
	MPIF void small##_info_get_(MPI_Fint *info, char *key, MPI_Fint *longest, char *value, MPI_Fint *flag,         \
	                            MPI_Fint *ierror, size_t key_length, size_t value_length)                          \
	{                                                                                                              \
		struct text text;                                                                                      \
		char found[MPI_MAX_INFO_VAL + 1] = "";                                                                 \
		*ierror = LARGE##_Info_get(*info, parvum_trimmed(&text, key, key_length), most(*longest), found, flag); \
		if (!*ierror && *flag) parvum_give_text(value, value_length, found);                                   \
		parvum_text_done(&text);                                                                               \
	}                                                                                                              \
	/* The length is that without C's null, in and out. */                                                         \
	MPIF void small##_info_get_string_(MPI_Fint *info, char *key, MPI_Fint *length, char *value, MPI_Fint *flag,   \
	                                   MPI_Fint *ierror, size_t key_length, size_t value_length)                   \
	{                                                                                                              \
		struct text text;                                                                                      \
		char found[MPI_MAX_INFO_VAL + 1] = "";                                                                 \
		int room = *length > 0 ? most(*length) + 1 : 0;                                                        \
		*ierror = LARGE##_Info_get_string(*info, parvum_trimmed(&text, key, key_length), &room, found, flag);  \
		if (!*ierror && *flag) {                                                                               \
			if (*length > 0) parvum_give_text(value, value_length, found);                                 \
			*length = room - 1;                                                                            \
		}                                                                                                      \
		parvum_text_done(&text);                                                                               \
	}                                                                                                              \
	MPIF void small##_info_get_nthkey_(MPI_Fint *info, MPI_Fint *n, char *key, MPI_Fint *ierror, size_t length)    \
	{                                                                                                              \
		char found[MPI_MAX_INFO_KEY + 1] = "";                                                                 \
		*ierror = LARGE##_Info_get_nthkey(*info, *n, found);                                                   \
		if (!*ierror) parvum_give_text(key, length, found);                                                    \
	}                                                                                                              \
	MPIF void small##_session_get_nth_pset_(MPI_Fint *session, MPI_Fint *info, MPI_Fint *n, MPI_Fint *length,      \
	                                        char *name, MPI_Fint *ierror, size_t name_length)                      \
	{                                                                                                              \
		char found[MPI_MAX_PSET_NAME_LEN + 1] = "";                                                            \
		int room = *length > 0 ? (int)sizeof found : 0;                                                        \
		*ierror = LARGE##_Session_get_nth_pset(*session, *info, *n, &room, found);                             \
		if (!*ierror && *length > 0) parvum_give_text(name, name_length, found);                               \
		if (!*ierror) *length = room - 1;                                                                      \
	}

static int most(int wished)
{
	return wished < MPI_MAX_INFO_VAL ? wished : MPI_MAX_INFO_VAL;
}

INFO(mpi, MPI)
INFO(pmpi, PMPI)

/* The words of a Fortran array of texts, each `length` long and `step` behind the one before: up to a blank one, or `count` of them.
 * One piece of memory, which the caller frees; null when there was none. */
static char **words(const char *first, size_t length, size_t step, int count)
{
	int found = 0;
	size_t bytes = 0;
	for (; count < 0 || found < count; found++) {
		const char *word = first + step * (size_t)found;
		size_t used = length;
		while (used > 0 && word[used - 1] == ' ') used--;
		if (used == 0 && count < 0) break;
		bytes += used + 1;
	}
	char **list = malloc(((size_t)found + 1) * sizeof *list + bytes);
	if (!list) return NULL;
	char *place = (char *)(list + found + 1);
	for (int at = 0; at < found; at++) {
		const char *word = first + step * (size_t)at;
		size_t used = length;
		while (used > 0 && word[used - 1] == ' ') used--;
		list[at] = memcpy(place, word, used);
		place[used] = '\0';
		place += used + 1;
	}
	list[found] = NULL;
	return list;
}

#define SPAWN(small, LARGE)                                                                                          \
	MPIF void small##_comm_spawn_(char *command, char *arguments, MPI_Fint *most, MPI_Fint *info, MPI_Fint *root, \
	                              MPI_Fint *comm, MPI_Fint *children, MPI_Fint *errors, MPI_Fint *ierror,        \
	                              size_t command_length, size_t argument_length)                                 \
	{                                                                                                            \
		struct text text;                                                                                    \
		char *program = parvum_text(&text, command, command_length), **list = MPI_ARGV_NULL;                 \
		if (arguments != &mpiprivc_[1]) list = words(arguments, argument_length, argument_length, -1);       \
		*ierror = LARGE##_Comm_spawn(program, list, *most, *info, *root, *comm, children, codes(errors));    \
		free(list);                                                                                          \
		parvum_text_done(&text);                                                                             \
	}                                                                                                            \
	/* The arguments of program i stand in row i of an array that lies column by column. */                     \
	MPIF void small##_comm_spawn_multiple_(MPI_Fint *count, char *commands, char *arguments, MPI_Fint *most,     \
	                                       MPI_Fint *infos, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *children,  \
	                                       MPI_Fint *errors, MPI_Fint *ierror, size_t command_length,            \
	                                       size_t argument_length)                                               \
	{                                                                                                            \
		int rank = 0;                                                                                        \
		LARGE##_Comm_rank(*comm, &rank);                                                                     \
		/* Only the root's arguments are looked at. */                                                       \
		int programs = rank == *root ? *count : 0;                                                           \
		char **names = words(commands, command_length, command_length, programs), ***lists = MPI_ARGVS_NULL; \
		if (arguments != &mpiprivc_[0] && programs > 0) {                                                    \
			lists = calloc((size_t)programs, sizeof *lists);                                             \
			for (int at = 0; lists && at < programs; at++)                                               \
				lists[at] = words(arguments + (size_t)at * argument_length, argument_length,         \
				                  argument_length * (size_t)programs, -1);                           \
		}                                                                                                    \
		*ierror = LARGE##_Comm_spawn_multiple(*count, names, lists, most, infos, *root, *comm, children,     \
		                                      codes(errors));                                                \
		for (int at = 0; lists && at < programs; at++) free(lists[at]);                                      \
		free(lists);                                                                                         \
		free(names);                                                                                         \
	}

SPAWN(mpi, MPI)
SPAWN(pmpi, PMPI)
