/* What the programs of shared memory share besides share.h. */
#ifndef SHARE_TMK_H
#define SHARE_TMK_H

#include "share.h"

#include <Tmk.h>

/* Shared memory that all get to know, made by task 0; all call it. */
void *share_make(size_t bytes);
void share_forget(void *memory);

#endif
