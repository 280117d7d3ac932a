/* The machine: its hosts, options, contexts, and what went wrong. */
#include "face.h"

#include <stdlib.h>
#include <string.h>

PVMF pvmfconfig_(int *nhost, int *narch, int *dtid, char *name, char *arch, int *speed, int *info,
	size_t name_length, size_t arch_length)
{
	static struct walk walk;
	static struct pvmhostinfo *hosts;
	static int archs;
	if (parvum_walk_begins(&walk, nhost)) {
		*info = pvm_config(&walk.count, &archs, &hosts);
		if (*info < 0)
			return;
		if (walk.count == 0) {
			GIVE(nhost, 0);
			return;
		}
	}
	const struct pvmhostinfo *row = &hosts[parvum_walk_step(&walk)];
	GIVE(nhost, walk.count);
	GIVE(narch, archs);
	GIVE(dtid, row->hi_tid);
	parvum_give_text(name, name_length, row->hi_name);
	parvum_give_text(arch, arch_length, row->hi_arch);
	GIVE(speed, row->hi_speed);
	/* As for pvmftasks. */
	*info = 1;
}

/* Of one host, the number that C programs find in its place of the list. */
static int about_host(int (*call)(char **, int, int *), char *host)
{
	int one = 0;
	int went_well = call(&host, 1, &one);
	return went_well < 0 ? went_well : one;
}

PVMF pvmfaddhost_(const char *host, int *info, size_t length)
{
	WITH_TEXT(info, host, length, name, about_host(pvm_addhosts, name));
}

PVMF pvmfdelhost_(const char *host, int *info, size_t length)
{
	WITH_TEXT(info, host, length, name, about_host(pvm_delhosts, name));
}

PVMF pvmfmstat_(const char *host, int *mstat, size_t length)
{
	WITH_TEXT(mstat, host, length, name, pvm_mstat(name));
}

PVMF pvmfarchcode_(const char *arch, int *code, size_t length)
{
	WITH_TEXT(code, arch, length, name, pvm_archcode(name));
}

PVMF pvmfhostsync_(const int *host, int *seconds, int *micros, int *delta_seconds, int *delta_micros, int *info)
{
	struct timeval clock = { 0 }, delta = { 0 };
	*info = pvm_hostsync(*host, &clock, &delta);
	*seconds = (int)clock.tv_sec;
	*micros = (int)clock.tv_usec;
	*delta_seconds = (int)delta.tv_sec;
	*delta_micros = (int)delta.tv_usec;
}

PVMF pvmfhalt_(int *info)
{
	*info = pvm_halt();
}

/* The arguments are one text, with blanks between them. */
PVMF pvmfstartpvmd_(const char *args, const int *block, int *info, size_t length)
{
	struct text text;
	char *rest = parvum_text(&text, args, length)->c;
	char **list = rest ? calloc(strlen(rest) / 2 + 2, sizeof *list) : NULL;
	*info = PvmNoMem;
	if (list) {
		int count = 0;
		for (char *word; (word = strtok_r(rest, " \t", &rest));)
			list[count++] = word;
		*info = pvm_start_pvmd(count, list, *block);
	}
	free(list);
	parvum_text_done(&text);
}

PVMF pvmfsetopt_(const int *what, const int *val, int *oldval)
{
	*oldval = pvm_setopt(*what, *val);
}

PVMF pvmfgetopt_(const int *what, int *val)
{
	*val = pvm_getopt(*what);
}

PVMF pvmfgetcontext_(int *context)
{
	*context = pvm_getcontext();
}

PVMF pvmfsetcontext_(const int *new, int *old)
{
	*old = pvm_setcontext(*new);
}

PVMF pvmfnewcontext_(int *context)
{
	*context = pvm_newcontext();
}

PVMF pvmffreecontext_(const int *context, int *info)
{
	*info = pvm_freecontext(*context);
}

PVMF pvmfperror_(const char *msg, int *info, size_t length)
{
	WITH_TEXT(info, msg, length, words, pvm_perror(words));
}

void pvmsleep(int seconds);

PVMF pvmfsleep_(const int *seconds)
{
	pvmsleep(*seconds);
}
