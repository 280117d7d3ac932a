/* Both tasks send first and receive then. The program ends if the library buffers the message, and waits for ever if not. */
#include "../common/bench.h"
#include "../teams/team.h"

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2 || options.size_count != 1) fail("two tasks and one size are needed");
    int count = (int)(options.sizes[0] / sizeof(double)), other = 1 - team.task;
    double *out = doubles((size_t)count + 1), *in = doubles((size_t)count + 1);
    fill(out, (size_t)count, (uint64_t)team.task);
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t before = now_ns();
    MPI_Send(out, count, MPI_DOUBLE, other, TAG_DATA, MPI_COMM_WORLD);
    MPI_Recv(in, count, MPI_DOUBLE, other, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int64_t spent = now_ns() - before;
    check(in, (size_t)count, (uint64_t)other, "from the other task");
    if (team.task == 0) {
        FILE *samples = samples_open(&options);
        fprintf(samples, "{\"program\":\"both-send\",\"face\":\"mpi\",\"tasks\":2,\"size\":%zu,\"hops\":1,\"verified\":true,", options.sizes[0]);
        samples_array(samples, "samples_ns", &spent, 1);
        fprintf(samples, "}\n");
        samples_close(samples);
    }
    free(out);
    free(in);
    team_close();
    return 0;
}
