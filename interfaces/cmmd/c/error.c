/* CMMD_error(3): the call with variable arguments, which only C can take apart. */
#include <stdarg.h>
#include <stdio.h>

#include "cmmd.h"

_Noreturn void parvum_cmmd_end(void);

_Noreturn void parvum_cmmd_error(const char *format, ...)
{
	va_list args;
	int self = CMMD_self_address();

	fflush(stdout);
	if (self >= 0)
		fprintf(stderr, "CMMD node %d: ", self);
	else
		fputs("CMMD: ", stderr);
	if (format != NULL) {
		va_start(args, format);
		vfprintf(stderr, format, args);
		va_end(args);
	}
	fputc('\n', stderr);
	fflush(stderr);
	parvum_cmmd_end();
}
