/* Counts of Parvum's ledger for the messages of a measurement, over all tasks of the team. */
#ifndef LEDGER_H
#define LEDGER_H

#include "../teams/team.h"

/* Bytes, but for the first and the last two, which are messages. */
struct counted {
    int64_t sent, sent_bytes;
    int64_t copied;              /* into a transport and out of it                  */
    int64_t fetched;             /* straight from the sender's memory               */
    int64_t buffered_here;       /* at the receiver, until they were received       */
    int64_t buffered_at_sender;  /* at the sender, until they could leave           */
    int64_t unexpected;          /* came before a receive was posted                */
    int64_t discarded;           /* were thrown away, for no receive was posted     */
};

enum { COUNTED_WORDS = 8 };

/* This task's counters now; the difference of two; a line's member "counts". */
struct counted counted_now(void);
struct counted counted_since(struct counted before);
void counted_write(FILE *out, struct counted counted);

/* After a measurement: task 0 gets the sum over all tasks, the others give theirs. */
struct counted counted_collect(const struct team *team, struct counted mine);
void counted_give(struct counted mine);

#endif
