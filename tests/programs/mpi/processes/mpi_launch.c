/*
 * Shows the launch of an MPI process. Its orders, one after the other:
 *   who          rank, size and number of the program
 *   var NAME     a variable of the environment
 *   where        the working directory
 *   read         how many bytes standard input has
 *   abort CODE   rank 1 calls MPI_Abort, the others wait for a message that never comes
 *   brief        the process does not wait for the others at its end
 *   child        rank 0 runs this program once more, which asks `who`
 *   code         each ends with 1 << rank as its code, when all have got so far
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void who(void)
{
    int flag, *number;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    printf("rank %d of %d, program %d\n", rank, size, flag ? *number : -1);
}

static void count_input(void)
{
    char piece[4096];
    size_t all = 0, length;
    while ((length = fread(piece, 1, sizeof piece, stdin)) > 0)
        all += length;
    printf("rank %d read %zu\n", rank, all);
}

int main(int argc, char **argv)
{
    int code = 0, waits = 1;
    char where[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int at = 1; at < argc; at++) {
        if (!strcmp(argv[at], "who"))
            who();
        else if (!strcmp(argv[at], "var") && at + 1 < argc) {
            const char *value = getenv(argv[++at]);
            printf("%s=%s\n", argv[at], value ? value : "(none)");
        } else if (!strcmp(argv[at], "where"))
            printf("in %s\n", getcwd(where, sizeof where) ? where : "?");
        else if (!strcmp(argv[at], "read"))
            count_input();
        else if (!strcmp(argv[at], "brief"))
            waits = 0;
        else if (!strcmp(argv[at], "child")) {
            fflush(stdout);
            if (rank == 0) {
                snprintf(where, sizeof where, "%s who brief", argv[0]);
                if (system(where))
                    return 98;
            }
        } else if (!strcmp(argv[at], "abort") && at + 1 < argc) {
            int number = atoi(argv[++at]);
            if (rank == 1)
                MPI_Abort(MPI_COMM_WORLD, number);
            MPI_Recv(&number, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (!strcmp(argv[at], "code"))
            code = 1 << rank;
        else
            return 99;
    }
    if (waits)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}
