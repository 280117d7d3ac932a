/* What PVM programs know of their group besides group.h. */
#ifndef GROUP_PVM_H
#define GROUP_PVM_H

extern char group_name[];

#endif
