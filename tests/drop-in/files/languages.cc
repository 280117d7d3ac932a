// C++'s binding of MPI, as long as there was one: functions of the program that the C library calls through libmpichcxx.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

static int seen = 0;

static void add(const void *in, void *inout, int length, const MPI::Datatype &type) {
    if (type != MPI::INT) std::abort();
    for (int i = 0; i < length; i++) static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
}

static void handle(MPI::Comm &comm, int *code, ...) {
    std::printf("rank %d: an error of class %d\n", comm.Get_rank(), MPI::Get_error_class(*code));
}

static int copy(const MPI::Comm &comm, int, void *, void *in, void *out, bool &flag) {
    *static_cast<void **>(out) = in;
    flag = true;
    seen += comm.Get_size();
    return MPI_SUCCESS;
}

static int forget(MPI::Comm &, int, void *, void *) {
    seen += 100;
    return MPI_SUCCESS;
}

int main(int count, char **words) {
    MPI::Init(count, words);
    int rank = MPI::COMM_WORLD.Get_rank(), ranks = MPI::COMM_WORLD.Get_size(), next = (rank + 1) % ranks;
    MPI::Op op;
    op.Init(add, true);
    int mine = rank + 1, sum = 0;
    MPI::COMM_WORLD.Allreduce(&mine, &sum, 1, MPI::INT, op);
    std::printf("rank %d: the sum is %d\n", rank, sum);

    MPI::Intracomm all = MPI::COMM_WORLD.Dup();
    all.Set_errhandler(MPI::Comm::Create_errhandler(handle));
    all.Send(&mine, 1, MPI::INT, ranks + 3, 0);

    int key = MPI::Comm::Create_keyval(copy, forget, 0);
    all.Set_attr(key, &seen);
    MPI::Intracomm other = all.Dup();
    void *value = 0;
    bool flag = other.Get_attr(key, &value);
    other.Free();
    all.Free();
    std::printf("rank %d: the copy is %s, seen %d\n", rank, flag && value == &seen ? "there" : "not there", seen);

    MPI::Status status;
    int got = -1;
    MPI::COMM_WORLD.Sendrecv(&rank, 1, MPI::INT, next, 5, &got, 1, MPI::INT, (rank + ranks - 1) % ranks, 5, status);
    std::printf("rank %d: %d from %d, %d of them\n", rank, got, status.Get_source(), status.Get_count(MPI::INT));
    MPI::Finalize();
}
