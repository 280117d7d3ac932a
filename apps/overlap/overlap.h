/* Communication that is begun, computation, and the end of the communication. Each face says what it can begin. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include "../teams/team.h"

struct overlap {
    const struct team *team;
    int partner;         /* the other task of an exchange            */
    int count;           /* doubles of a message                     */
    double *out, *in;    /* room for `count` doubles for each task   */
};

/* The names of what can be begun, and NULL behind the last one. All but "exchange" are operations of the whole team. */
extern const char *const overlap_names[];

/* Begins `overlap_names[what]`; waits until it is over. */
void overlap_begin(struct overlap *overlap, int what);
void overlap_end(struct overlap *overlap, int what);

#endif
