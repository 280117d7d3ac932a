/* Tmk_errexit(3): the call with variable arguments, which only C can take apart. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "Tmk.h"

_Noreturn void parvum_tmk_errexit(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "Tmk node %u: ", Tmk_proc_id);
	if (format != NULL) {
		va_start(args, format);
		vfprintf(stderr, format, args);
		va_end(args);
	}
	fputc('\n', stderr);
	exit(1);
}
