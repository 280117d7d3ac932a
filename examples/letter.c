/* One program with four interfaces: a letter goes from a PVM task to an NX node, to a CMMD node, and back to PVM. Each
 * adds its line. All are tasks of one run, and PVM, NX and CMMD exchange the same messages. The MPI standard keeps MPI
 * messages separate. The PVM task is therefore also an MPI rank, and sends the letter to a reader that uses only
 * MPI.
 *
 *     cc examples/letter.c -o letter -lpvm3 -lnx -lcmmd -lmpi
 *     parvum run -n 4 ./letter
 */
#include <cmmd.h>
#include <mpi.h>
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

/* PVM addresses the other tasks by their task ids, in the order of their start. */
static int through_pvm(const int *tids)
{
    add("PVM: I begin, with raw data: the others know no XDR.\n");
    if (pvm_initsend(PvmDataRaw) < 0 || pvm_pkbyte(letter, ROOM, 1) < 0 || pvm_send(tids[1], LETTER) < 0) return 1;
    if (pvm_recv(tids[2], LETTER) < 0 || pvm_upkbyte(letter, ROOM, 1) < 0) return 1;
    add("PVM: and here it is again.\n");
    return MPI_Send(letter, ROOM, MPI_CHAR, 3, LETTER, MPI_COMM_WORLD) != MPI_SUCCESS;
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

static int through_mpi(void)
{
    int rank, size;
    MPI_Status status;
    MPI_Recv(letter, ROOM, MPI_CHAR, MPI_ANY_SOURCE, LETTER, MPI_COMM_WORLD, &status);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%sMPI: rank %d of %d reads it, from rank %d.\n", letter, rank, size, status.MPI_SOURCE);
    return 0;
}

int main(int argc, char **argv)
{
    int *tids, mytid = pvm_mytid(), tasks = pvm_siblings(&tids), me = 0, failed;
    if (tasks != 4) {
        fprintf(stderr, "letter: start it with: parvum run -n 4\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    while (tids[me] != mytid) me++;
    if (me == 0) failed = through_pvm(tids);
    else if (me == 1) failed = through_nx();
    else if (me == 2) failed = through_cmmd();
    else failed = through_mpi();
    MPI_Finalize();
    pvm_exit();
    return failed;
}
