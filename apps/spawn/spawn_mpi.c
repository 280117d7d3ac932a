/* Spawning in MPI. */
#define _GNU_SOURCE
#include "spawn.h"
#include "../teams/team.h"

#include <mpi.h>
#include <unistd.h>

static MPI_Comm others;

void spawn_tasks(int tasks)
{
    static char path[4096];
    char *arguments[] = { "--child", NULL };
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) fail("cannot find this program's own file");
    path[length] = '\0';
    if (MPI_Comm_spawn(path, arguments, tasks, MPI_INFO_NULL, 0, MPI_COMM_SELF, &others, MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        fail("MPI_Comm_spawn failed");
    for (int task = 0; task < tasks; task++)
        MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, TAG_DATA, others, MPI_STATUS_IGNORE);
}

void spawn_end(int tasks)
{
    for (int task = 0; task < tasks; task++) MPI_Send(NULL, 0, MPI_INT, task, TAG_RESULT, others);
    MPI_Comm_disconnect(&others);
}

int main(int argc, char **argv)
{
    struct options options;
    MPI_Init(&argc, &argv);
    options_read(&options, argc, argv);
    if (options.child) {
        MPI_Comm parent;
        MPI_Comm_get_parent(&parent);
        MPI_Send(NULL, 0, MPI_INT, 0, TAG_DATA, parent);
        MPI_Recv(NULL, 0, MPI_INT, 0, TAG_RESULT, parent, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&parent);
    } else {
        spawn_run(&options, "mpi");
    }
    MPI_Finalize();
    return 0;
}
