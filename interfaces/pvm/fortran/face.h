/*
 * PVM's calls for Fortran, over those for C.
 *
 * gfortran's conventions: a name in lower case with an underscore behind it,
 * every argument by reference, and for each CHARACTER argument its length, by
 * value, behind the last argument. A result comes back in an argument of its
 * own, so that every call is a subroutine.
 */
#ifndef PARVUM_FORTRAN_FACE_H
#define PARVUM_FORTRAN_FACE_H

#include <stddef.h>
#include <stdio.h>	/* before pvm3.h: for pvm_catchout */

#include "pvm3.h"

/* What programs link with; all else stays inside the library. */
#define PVMF __attribute__((visibility("default"))) void

/* A Fortran text as C takes it: without the blanks at its end, with a null behind it. */
struct text {
	char *c;		/* null when there was no memory */
	char small[256];
};

struct text *parvum_text(struct text *text, const char *characters, size_t length);
void parvum_text_done(struct text *text);

/* A C text as Fortran keeps it: cut to the length, or filled up with blanks. */
void parvum_give_text(char *characters, size_t length, const char *c);

/* For a call whose only text is `characters`: does `call` with `name`, and puts what it gives into `result`. */
#define WITH_TEXT(result, characters, length, name, call)                                  \
	do {                                                                               \
		struct text text_;                                                         \
		char *name = parvum_text(&text_, characters, length)->c;                   \
		*(result) = name ? (call) : PvmNoMem;                                      \
		parvum_text_done(&text_);                                                  \
	} while (0)

/* An argument that a caller may leave out by passing a null. */
#define GIVE(to, value)                                                                    \
	do {                                                                               \
		if (to)                                                                    \
			*(to) = (value);                                                   \
	} while (0)

/*
 * Tables. C programs get one whole; Fortran programs get a row at each call,
 * and begin anew after the last, or when they pass -1 for the count.
 */
struct walk {
	int count, next;
};

/* Whether the table must be asked for: at the beginning, or when the program says so. */
int parvum_walk_begins(struct walk *walk, const int *count);

/* The row that this call is about; the table lasts as long as the walk. */
int parvum_walk_step(struct walk *walk);

#endif
