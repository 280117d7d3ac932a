/* Tasks: who they are, starting and ending them, what they tell each other of their ends. */
#include "face.h"

PVMF pvmfmytid_(int *tid)
{
	*tid = pvm_mytid();
}

PVMF pvmfparent_(int *tid)
{
	*tid = pvm_parent();
}

PVMF pvmfexit_(int *info)
{
	*info = pvm_exit();
}

/* Tasks of a Fortran program get no arguments: the call has none. A place that begins with '*' is any. */
PVMF pvmfspawn_(const char *task, const int *flag, const char *where, const int *ntask, int *tids, int *numt,
	size_t task_length, size_t where_length)
{
	struct text program, place;
	parvum_text(&program, task, task_length);
	parvum_text(&place, where, where_length);
	if (!program.c || !place.c)
		*numt = PvmNoMem;
	else
		*numt = pvm_spawn(program.c, NULL, *flag, place.c[0] == '*' ? "" : place.c, *ntask, tids);
	parvum_text_done(&place);
	parvum_text_done(&program);
}

PVMF pvmfkill_(const int *tid, int *info)
{
	*info = pvm_kill(*tid);
}

PVMF pvmfsendsig_(const int *tid, const int *signum, int *info)
{
	*info = pvm_sendsig(*tid, *signum);
}

PVMF pvmfpstat_(const int *tid, int *status)
{
	*status = pvm_pstat(*tid);
}

PVMF pvmfnotify_(const int *what, const int *msgtag, const int *cnt, int *tids, int *info)
{
	*info = pvm_notify(*what, *msgtag, *cnt, tids);
}

/* Those of this task's spawning do not change: asked for once, and then given one by one. */
PVMF pvmfsiblings_(int *ntids, const int *index, int *sibling)
{
	static int count = -1, *tids;
	if (count < 0)
		count = pvm_siblings(&tids);
	GIVE(ntids, count);
	if (index)
		GIVE(sibling, *index >= 0 && *index < count ? tids[*index] : PvmNoTask);
}

/* What tasks print that this one starts, is printed by this one, or no longer. */
PVMF pvmfcatchout_(const int *onoff, int *info)
{
	*info = pvm_catchout(*onoff ? stdout : NULL);
}

PVMF pvmftidtohost_(const int *tid, int *dtid)
{
	*dtid = pvm_tidtohost(*tid);
}

/* As PVM's manual spells it, though not its library. */
PVMF pvmftidtoh_(const int *tid, int *dtid)
{
	pvmftidtohost_(tid, dtid);
}

PVMF pvmftasks_(const int *where, int *ntask, int *tid, int *ptid, int *dtid, int *flag, char *aout, int *info,
	size_t aout_length)
{
	static struct walk walk;
	static struct pvmtaskinfo *tasks;
	if (parvum_walk_begins(&walk, ntask)) {
		*info = pvm_tasks(*where, &walk.count, &tasks);
		if (*info < 0)
			return;
		if (walk.count == 0) {
			GIVE(ntask, 0);
			return;
		}
	}
	const struct pvmtaskinfo *row = &tasks[parvum_walk_step(&walk)];
	GIVE(ntask, walk.count);
	GIVE(tid, row->ti_tid);
	GIVE(ptid, row->ti_ptid);
	GIVE(dtid, row->ti_host);
	GIVE(flag, row->ti_flag);
	parvum_give_text(aout, aout_length, row->ti_a_out);
	/* PVM's manual has 0 here, its library gives 1. */
	*info = 1;
}
