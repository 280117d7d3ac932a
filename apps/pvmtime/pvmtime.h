/* What pvmtime is told, and where its tasks run. */
#ifndef PVMTIME_H
#define PVMTIME_H

#include <stddef.h>
#include <stdint.h>

enum { PVMTIME_TASKS_MAX = 256, PVMTIME_SIZES_MAX = 64, PVMTIME_HOST_MAX = 64 };

/* Which ends pack or unpack each message, as bits of a pack level. Who does not pack sends one message again and again. */
enum { SLAVE_PACKS = 1, MASTER_UNPACKS = 2, MASTER_PACKS = 4, SLAVE_UNPACKS = 8, PACK_LEVELS = 16 };

struct pvmtime {
    int blast;                          /* --test ping-pong|blast: whether masters send nothing back              */
    int level;                          /* --level 0..15                                                          */
    int messages;                       /* --messages N: of each slave, of each size                              */
    int fragment;                       /* --fragment BYTES: 0 leaves the system its own                          */
    int compute_us;                     /* --compute-us N: a slave's computation before each message              */
    int encoding;                       /* --encoding default|raw|inplace, as PVM numbers them                    */
    int direct;                         /* --route direct|dont                                                    */
    const char *out;                    /* --out FILE                                                             */
    const char *config;                 /* --config FILE: without one, a master and a slave on this host          */
    size_t sizes[PVMTIME_SIZES_MAX];    /* --sizes LIST: bytes, multiples of 4                                    */
    int size_count;
};

/* One task: a master, or a slave of the last master before it. */
struct place {
    char host[PVMTIME_HOST_MAX];    /* "." is the host of whoever starts the program */
    int core;                       /* -1: any                                       */
    int master;                     /* its own number, if it is one, else its master's */
    int is_master;
    int line;                       /* of the file */
};

/* Reads the arguments, or says what is wrong and exits with code 2. */
void pvmtime_options(struct pvmtime *told, int argc, char **argv);

/* Reads who runs where, or says which line is wrong, and why, and exits with code 2. Gives the number of tasks. */
int pvmtime_places(const struct pvmtime *told, struct place *places);

#endif
