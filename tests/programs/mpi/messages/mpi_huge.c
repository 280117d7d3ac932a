/* A message of more than 2^31 bytes, by a type, and by a large count: how much it was is told by what can tell it, and all of it is there. */
#include "mpi_check.h"

enum { BLOCK = 1 << 20, BLOCKS = 2049 };

static char value_at(size_t place)
{
    return (char)(place % 251 + place / BLOCK);
}

static void look(const char *data, size_t length)
{
    size_t wrong = 0;
    for (size_t at = 0; at < length; at++)
        wrong += data[at] != value_at(at);
    CHECK(wrong == 0);
}

int main(void)
{
    const size_t length = (size_t)BLOCK * BLOCKS + 3;
    int count, provided;
    MPI_Count exact;
    MPI_Status status;
    MPI_Datatype block, all;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *data = malloc(length + 1);
    CHECK(data && size == 2);
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Aint places[2] = {0, (MPI_Aint)BLOCK * BLOCKS};
    int lengths[2] = {BLOCKS, 3};
    MPI_Datatype types[2] = {block, MPI_BYTE};
    MPI_Type_create_struct(2, lengths, places, types, &all);
    MPI_Type_commit(&all);
    MPI_Type_size(all, &count);
    MPI_Type_size_x(all, &exact);
    CHECK(count == MPI_UNDEFINED && exact == (MPI_Count)length);
    if (rank == 0) {
        for (size_t at = 0; at < length; at++)
            data[at] = value_at(at);
        MPI_Send(data, 1, all, 1, 1, MPI_COMM_WORLD);
        MPI_Send_c(data, (MPI_Count)length, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    } else {
        data[length] = 7;
        MPI_Recv(data, 1, all, 0, 1, MPI_COMM_WORLD, &status);
        CHECK(count_of(&status, MPI_BYTE) == MPI_UNDEFINED && count_of(&status, all) == 1);
        MPI_Get_elements(&status, all, &count);
        MPI_Get_elements_x(&status, all, &exact);
        CHECK(count == MPI_UNDEFINED && exact == (MPI_Count)length);
        look(data, length);
        memset(data, 0, length);
        MPI_Recv_c(data, (MPI_Count)length, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &status);
        MPI_Get_count_c(&status, MPI_BYTE, &exact);
        CHECK(exact == (MPI_Count)length && count_of(&status, MPI_BYTE) == MPI_UNDEFINED && data[length] == 7);
        look(data, length);
    }
    free(data);
    MPI_Type_free(&all);
    MPI_Type_free(&block);
    MPI_Finalize();
    printf("rank %d: %d checks\n", rank, checks);
    return 0;
}
