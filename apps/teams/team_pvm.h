/* What a PVM program of the comparison needs to know of its team besides team.h. */
#ifndef TEAM_PVM_H
#define TEAM_PVM_H

#include "tasks_pvm.h"
#include "team.h"

extern int team_tids[];      /* the tid of each task                          */
extern int team_encoding;    /* PvmDataDefault, PvmDataRaw or PvmDataInPlace  */
extern int team_direct;   /* they talk over connections of their own        */
extern int team_psend;       /* not packed at all: pvm_psend and pvm_precv     */

#endif
