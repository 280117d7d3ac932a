/* One program, three interfaces: a letter goes from a PVM task to an NX node, on to a CMMD node, and back to PVM. Each adds
 * its line. All are tasks of one run, and a message is the same message whichever calls send and receive it.
 *
 *     cc examples/letter.c -o letter -lpvm3 -lnx -lcmmd
 *     parvum run -n 3 ./letter
 */
#include <cmmd.h>
#include <nx.h>
#include <pvm3.h>
#include <stdio.h>
#include <string.h>

enum { LETTER = 7, ROOM = 400 };    /* PVM's tag is NX's type and CMMD's tag */

static char letter[ROOM];

static void add(const char *line)
{
    strncat(letter, line, sizeof letter - strlen(letter) - 1);
}

/* PVM knows the others by their task ids, in the order in which they were started. */
static int through_pvm(const int *tids)
{
    add("PVM: I begin, with raw data: the others know no XDR.\n");
    if (pvm_initsend(PvmDataRaw) < 0 || pvm_pkbyte(letter, ROOM, 1) < 0 || pvm_send(tids[1], LETTER) < 0) return 1;
    if (pvm_recv(tids[2], LETTER) < 0 || pvm_upkbyte(letter, ROOM, 1) < 0) return 1;
    printf("%sPVM: and here it is again.\n", letter);
    return 0;
}

/* NX and CMMD number the tasks of a run from 0. */
static int through_nx(void)
{
    char line[80];
    crecv(LETTER, letter, ROOM);
    snprintf(line, sizeof line, "NX: node %ld of %ld had it from node %ld.\n", mynode(), numnodes(), infonode());
    add(line);
    csend(LETTER, letter, ROOM, 2, 0);
    return 0;
}

static int through_cmmd(void)
{
    char line[80];
    if (CMMD_receive_block(CMMD_ANY_NODE, LETTER, letter, ROOM) != 0) return 1;
    snprintf(line, sizeof line, "CMMD: node %d of %d had it from node %d.\n", CMMD_self_address(), CMMD_partition_size(),
             CMMD_msg_sender());
    add(line);
    return CMMD_send_noblock(0, LETTER, letter, ROOM) != 0;
}

int main(void)
{
    int *tids, mytid = pvm_mytid(), tasks = pvm_siblings(&tids), me = 0, failed;
    if (tasks != 3) {
        fprintf(stderr, "letter: start it with: parvum run -n 3\n");
        return 2;
    }
    while (tids[me] != mytid) me++;
    if (me == 0) failed = through_pvm(tids);
    else if (me == 1) failed = through_nx();
    else failed = through_cmmd();
    pvm_exit();
    return failed;
}
