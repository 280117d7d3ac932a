/* HDF5's parallel library: each rank writes its columns of one array, independently and all together; all of them read the whole. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, COLUMNS = 3, PART = ROWS * COLUMNS };

static void round_trip(const char *name, int rank, int ranks, int together) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    hsize_t whole[2] = {ROWS, (hsize_t)ranks * COLUMNS}, part[2] = {ROWS, COLUMNS}, at[2] = {0, (hsize_t)rank * COLUMNS};

    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(2, whole, NULL), memory = H5Screate_simple(2, part, NULL);
    hid_t set = H5Dcreate2(file, "numbers", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, part, NULL);
    int mine[PART];
    for (int i = 0; i < PART; i++) mine[i] = 1000 * rank + i + 100000 * together;
    herr_t wrote = H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, mine);
    H5Dclose(set);
    H5Fclose(file);

    file = H5Fopen(name, H5F_ACC_RDONLY, access);
    set = H5Dopen2(file, "numbers", H5P_DEFAULT);
    int *all = calloc((size_t)ranks * PART, sizeof *all);
    herr_t did_read = H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer, all);
    long sum = 0;
    for (int i = 0; i < ranks * PART; i++) sum = (sum * 31 + all[i]) % 1000000007;
    printf("rank %d, %s: write %d, read %d, sum %ld\n", rank, together ? "together" : "alone", wrote, did_read, sum);
    free(all);
    H5Dclose(set);
    H5Fclose(file);
}

int main(int count, char **words) {
    int rank, ranks;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    round_trip("numbers.h5", rank, ranks, 0);
    round_trip("numbers.h5", rank, ranks, 1);
    MPI_Finalize();
    return 0;
}
