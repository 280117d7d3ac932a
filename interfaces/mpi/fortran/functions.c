/* MPI's functions for Fortran. Made from interfaces/mpi/functions.txt by interfaces/mpi/fortran.rs; not to be edited. */
#include "face.h"

MPIF void mpi_abort_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = MPI_Abort(*comm, *errorcode);
}

MPIF void pmpi_abort_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = PMPI_Abort(*comm, *errorcode);
}

MPIF void mpi_accumulate_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *op, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Accumulate(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *op, *win);
}

MPIF void pmpi_accumulate_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *op, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Accumulate(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *op, *win);
}

MPIF void mpi_add_error_class_(MPI_Fint *errorclass, MPI_Fint *ierror)
{
	*ierror = MPI_Add_error_class(errorclass);
}

MPIF void pmpi_add_error_class_(MPI_Fint *errorclass, MPI_Fint *ierror)
{
	*ierror = PMPI_Add_error_class(errorclass);
}

MPIF void mpi_add_error_code_(MPI_Fint *errorclass, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = MPI_Add_error_code(*errorclass, errorcode);
}

MPIF void pmpi_add_error_code_(MPI_Fint *errorclass, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = PMPI_Add_error_code(*errorclass, errorcode);
}

MPIF void mpi_add_error_string_(MPI_Fint *errorcode, char *string, MPI_Fint *ierror, size_t string_length)
{
	struct text string_text;
	char *string_c = parvum_text(&string_text, string, string_length);
	*ierror = MPI_Add_error_string(*errorcode, string_c);
	parvum_text_done(&string_text);
}

MPIF void pmpi_add_error_string_(MPI_Fint *errorcode, char *string, MPI_Fint *ierror, size_t string_length)
{
	struct text string_text;
	char *string_c = parvum_text(&string_text, string, string_length);
	*ierror = PMPI_Add_error_string(*errorcode, string_c);
	parvum_text_done(&string_text);
}

MPIF void mpi_allgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Allgather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm);
}

MPIF void pmpi_allgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Allgather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm);
}

MPIF void mpi_allgather_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Allgather_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, *info, request);
}

MPIF void pmpi_allgather_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Allgather_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, *info, request);
}

MPIF void mpi_allgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Allgatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm);
}

MPIF void pmpi_allgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Allgatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm);
}

MPIF void mpi_allgatherv_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Allgatherv_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm, *info, request);
}

MPIF void pmpi_allgatherv_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Allgatherv_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm, *info, request);
}

MPIF void mpi_alloc_mem_(MPI_Aint *size, MPI_Fint *info, void *baseptr, MPI_Fint *ierror)
{
	*ierror = MPI_Alloc_mem(*size, *info, data(baseptr));
}

MPIF void pmpi_alloc_mem_(MPI_Aint *size, MPI_Fint *info, void *baseptr, MPI_Fint *ierror)
{
	*ierror = PMPI_Alloc_mem(*size, *info, data(baseptr));
}

MPIF void mpi_allreduce_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Allreduce(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm);
}

MPIF void pmpi_allreduce_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Allreduce(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm);
}

MPIF void mpi_allreduce_init_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Allreduce_init(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, *info, request);
}

MPIF void pmpi_allreduce_init_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Allreduce_init(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, *info, request);
}

MPIF void mpi_alltoall_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Alltoall(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm);
}

MPIF void pmpi_alltoall_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Alltoall(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm);
}

MPIF void mpi_alltoall_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Alltoall_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, *info, request);
}

MPIF void pmpi_alltoall_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Alltoall_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, *info, request);
}

MPIF void mpi_alltoallv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Alltoallv(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm);
}

MPIF void pmpi_alltoallv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Alltoallv(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm);
}

MPIF void mpi_alltoallv_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Alltoallv_init(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm, *info, request);
}

MPIF void pmpi_alltoallv_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Alltoallv_init(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm, *info, request);
}

MPIF void mpi_alltoallw_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Alltoallw(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm);
}

MPIF void pmpi_alltoallw_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Alltoallw(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm);
}

MPIF void mpi_alltoallw_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Alltoallw_init(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm, *info, request);
}

MPIF void pmpi_alltoallw_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Alltoallw_init(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm, *info, request);
}

MPIF void mpi_attr_delete_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *ierror)
{
	*ierror = MPI_Attr_delete(*comm, *keyval);
}

MPIF void pmpi_attr_delete_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *ierror)
{
	*ierror = PMPI_Attr_delete(*comm, *keyval);
}

MPIF void mpi_barrier_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Barrier(*comm);
}

MPIF void pmpi_barrier_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Barrier(*comm);
}

MPIF void mpi_barrier_init_(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Barrier_init(*comm, *info, request);
}

MPIF void pmpi_barrier_init_(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Barrier_init(*comm, *info, request);
}

MPIF void mpi_bcast_(void *buffer, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Bcast(data(buffer), *count, *datatype, *root, *comm);
}

MPIF void pmpi_bcast_(void *buffer, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Bcast(data(buffer), *count, *datatype, *root, *comm);
}

MPIF void mpi_bcast_init_(void *buffer, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Bcast_init(data(buffer), *count, *datatype, *root, *comm, *info, request);
}

MPIF void pmpi_bcast_init_(void *buffer, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Bcast_init(data(buffer), *count, *datatype, *root, *comm, *info, request);
}

MPIF void mpi_bsend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Bsend(data(buf), *count, *datatype, *dest, *tag, *comm);
}

MPIF void pmpi_bsend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Bsend(data(buf), *count, *datatype, *dest, *tag, *comm);
}

MPIF void mpi_bsend_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Bsend_init(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void pmpi_bsend_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Bsend_init(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void mpi_buffer_attach_(void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Buffer_attach(data(buffer), *size);
}

MPIF void pmpi_buffer_attach_(void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Buffer_attach(data(buffer), *size);
}

MPIF void mpi_buffer_flush_(MPI_Fint *ierror)
{
	*ierror = MPI_Buffer_flush();
}

MPIF void pmpi_buffer_flush_(MPI_Fint *ierror)
{
	*ierror = PMPI_Buffer_flush();
}

MPIF void mpi_buffer_iflush_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Buffer_iflush(request);
}

MPIF void pmpi_buffer_iflush_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Buffer_iflush(request);
}

MPIF void mpi_cancel_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Cancel(request);
}

MPIF void pmpi_cancel_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Cancel(request);
}

MPIF void mpi_cart_coords_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *maxdims, MPI_Fint *coords, MPI_Fint *ierror)
{
	*ierror = MPI_Cart_coords(*comm, *rank, *maxdims, coords);
}

MPIF void pmpi_cart_coords_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *maxdims, MPI_Fint *coords, MPI_Fint *ierror)
{
	*ierror = PMPI_Cart_coords(*comm, *rank, *maxdims, coords);
}

MPIF void mpi_cart_create_(MPI_Fint *comm_old, MPI_Fint *ndims, MPI_Fint *dims, MPI_Fint *periods, MPI_Fint *reorder, MPI_Fint *comm_cart, MPI_Fint *ierror)
{
	*ierror = MPI_Cart_create(*comm_old, *ndims, dims, periods, *reorder, comm_cart);
}

MPIF void pmpi_cart_create_(MPI_Fint *comm_old, MPI_Fint *ndims, MPI_Fint *dims, MPI_Fint *periods, MPI_Fint *reorder, MPI_Fint *comm_cart, MPI_Fint *ierror)
{
	*ierror = PMPI_Cart_create(*comm_old, *ndims, dims, periods, *reorder, comm_cart);
}

MPIF void mpi_cart_get_(MPI_Fint *comm, MPI_Fint *maxdims, MPI_Fint *dims, MPI_Fint *periods, MPI_Fint *coords, MPI_Fint *ierror)
{
	*ierror = MPI_Cart_get(*comm, *maxdims, dims, periods, coords);
}

MPIF void pmpi_cart_get_(MPI_Fint *comm, MPI_Fint *maxdims, MPI_Fint *dims, MPI_Fint *periods, MPI_Fint *coords, MPI_Fint *ierror)
{
	*ierror = PMPI_Cart_get(*comm, *maxdims, dims, periods, coords);
}

MPIF void mpi_cart_map_(MPI_Fint *comm, MPI_Fint *ndims, MPI_Fint *dims, MPI_Fint *periods, MPI_Fint *newrank, MPI_Fint *ierror)
{
	*ierror = MPI_Cart_map(*comm, *ndims, dims, periods, newrank);
}

MPIF void pmpi_cart_map_(MPI_Fint *comm, MPI_Fint *ndims, MPI_Fint *dims, MPI_Fint *periods, MPI_Fint *newrank, MPI_Fint *ierror)
{
	*ierror = PMPI_Cart_map(*comm, *ndims, dims, periods, newrank);
}

MPIF void mpi_cart_rank_(MPI_Fint *comm, MPI_Fint *coords, MPI_Fint *rank, MPI_Fint *ierror)
{
	*ierror = MPI_Cart_rank(*comm, coords, rank);
}

MPIF void pmpi_cart_rank_(MPI_Fint *comm, MPI_Fint *coords, MPI_Fint *rank, MPI_Fint *ierror)
{
	*ierror = PMPI_Cart_rank(*comm, coords, rank);
}

MPIF void mpi_cart_shift_(MPI_Fint *comm, MPI_Fint *direction, MPI_Fint *disp, MPI_Fint *rank_source, MPI_Fint *rank_dest, MPI_Fint *ierror)
{
	*ierror = MPI_Cart_shift(*comm, *direction, *disp, rank_source, rank_dest);
}

MPIF void pmpi_cart_shift_(MPI_Fint *comm, MPI_Fint *direction, MPI_Fint *disp, MPI_Fint *rank_source, MPI_Fint *rank_dest, MPI_Fint *ierror)
{
	*ierror = PMPI_Cart_shift(*comm, *direction, *disp, rank_source, rank_dest);
}

MPIF void mpi_cart_sub_(MPI_Fint *comm, MPI_Fint *remain_dims, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = MPI_Cart_sub(*comm, remain_dims, newcomm);
}

MPIF void pmpi_cart_sub_(MPI_Fint *comm, MPI_Fint *remain_dims, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Cart_sub(*comm, remain_dims, newcomm);
}

MPIF void mpi_cartdim_get_(MPI_Fint *comm, MPI_Fint *ndims, MPI_Fint *ierror)
{
	*ierror = MPI_Cartdim_get(*comm, ndims);
}

MPIF void pmpi_cartdim_get_(MPI_Fint *comm, MPI_Fint *ndims, MPI_Fint *ierror)
{
	*ierror = PMPI_Cartdim_get(*comm, ndims);
}

MPIF void mpi_close_port_(char *port_name, MPI_Fint *ierror, size_t port_name_length)
{
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = MPI_Close_port(port_name_c);
	parvum_text_done(&port_name_text);
}

MPIF void pmpi_close_port_(char *port_name, MPI_Fint *ierror, size_t port_name_length)
{
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = PMPI_Close_port(port_name_c);
	parvum_text_done(&port_name_text);
}

MPIF void mpi_comm_accept_(char *port_name, MPI_Fint *info, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror, size_t port_name_length)
{
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = MPI_Comm_accept(port_name_c, *info, *root, *comm, newcomm);
	parvum_text_done(&port_name_text);
}

MPIF void pmpi_comm_accept_(char *port_name, MPI_Fint *info, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror, size_t port_name_length)
{
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = PMPI_Comm_accept(port_name_c, *info, *root, *comm, newcomm);
	parvum_text_done(&port_name_text);
}

MPIF void mpix_comm_ack_failed_(MPI_Fint *comm, MPI_Fint *num_to_ack, MPI_Fint *num_acked, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_ack_failed(*comm, *num_to_ack, num_acked);
}

MPIF void pmpix_comm_ack_failed_(MPI_Fint *comm, MPI_Fint *num_to_ack, MPI_Fint *num_acked, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_ack_failed(*comm, *num_to_ack, num_acked);
}

MPIF void mpix_comm_agree_(MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_agree(*comm, flag);
}

MPIF void pmpix_comm_agree_(MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_agree(*comm, flag);
}

MPIF void mpi_comm_attach_buffer_(MPI_Fint *comm, void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_attach_buffer(*comm, data(buffer), *size);
}

MPIF void pmpi_comm_attach_buffer_(MPI_Fint *comm, void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_attach_buffer(*comm, data(buffer), *size);
}

MPIF void mpi_comm_call_errhandler_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_call_errhandler(*comm, *errorcode);
}

MPIF void pmpi_comm_call_errhandler_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_call_errhandler(*comm, *errorcode);
}

MPIF void mpi_comm_compare_(MPI_Fint *comm1, MPI_Fint *comm2, MPI_Fint *result, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_compare(*comm1, *comm2, result);
}

MPIF void pmpi_comm_compare_(MPI_Fint *comm1, MPI_Fint *comm2, MPI_Fint *result, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_compare(*comm1, *comm2, result);
}

MPIF void mpi_comm_connect_(char *port_name, MPI_Fint *info, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror, size_t port_name_length)
{
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = MPI_Comm_connect(port_name_c, *info, *root, *comm, newcomm);
	parvum_text_done(&port_name_text);
}

MPIF void pmpi_comm_connect_(char *port_name, MPI_Fint *info, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror, size_t port_name_length)
{
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = PMPI_Comm_connect(port_name_c, *info, *root, *comm, newcomm);
	parvum_text_done(&port_name_text);
}

MPIF void mpi_comm_create_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_create(*comm, *group, newcomm);
}

MPIF void pmpi_comm_create_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_create(*comm, *group, newcomm);
}

MPIF void mpi_comm_create_errhandler_(void (*comm_errhandler_fn)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_create_errhandler((void *)comm_errhandler_fn, errhandler);
}

MPIF void pmpi_comm_create_errhandler_(void (*comm_errhandler_fn)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_create_errhandler((void *)comm_errhandler_fn, errhandler);
}

MPIF void mpi_comm_create_from_group_(MPI_Fint *group, char *stringtag, MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *newcomm, MPI_Fint *ierror, size_t stringtag_length)
{
	struct text stringtag_text;
	char *stringtag_c = parvum_text(&stringtag_text, stringtag, stringtag_length);
	*ierror = MPI_Comm_create_from_group(*group, stringtag_c, *info, *errhandler, newcomm);
	parvum_text_done(&stringtag_text);
}

MPIF void pmpi_comm_create_from_group_(MPI_Fint *group, char *stringtag, MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *newcomm, MPI_Fint *ierror, size_t stringtag_length)
{
	struct text stringtag_text;
	char *stringtag_c = parvum_text(&stringtag_text, stringtag, stringtag_length);
	*ierror = PMPI_Comm_create_from_group(*group, stringtag_c, *info, *errhandler, newcomm);
	parvum_text_done(&stringtag_text);
}

MPIF void mpi_comm_create_group_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *tag, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_create_group(*comm, *group, *tag, newcomm);
}

MPIF void pmpi_comm_create_group_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *tag, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_create_group(*comm, *group, *tag, newcomm);
}

MPIF void mpi_comm_delete_attr_(MPI_Fint *comm, MPI_Fint *comm_keyval, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_delete_attr(*comm, *comm_keyval);
}

MPIF void pmpi_comm_delete_attr_(MPI_Fint *comm, MPI_Fint *comm_keyval, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_delete_attr(*comm, *comm_keyval);
}

MPIF void mpi_comm_disconnect_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_disconnect(comm);
}

MPIF void pmpi_comm_disconnect_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_disconnect(comm);
}

MPIF void mpi_comm_dup_(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_dup(*comm, newcomm);
}

MPIF void pmpi_comm_dup_(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_dup(*comm, newcomm);
}

MPIF void mpi_comm_dup_with_info_(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_dup_with_info(*comm, *info, newcomm);
}

MPIF void pmpi_comm_dup_with_info_(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_dup_with_info(*comm, *info, newcomm);
}

MPIF void mpix_comm_failure_ack_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_failure_ack(*comm);
}

MPIF void pmpix_comm_failure_ack_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_failure_ack(*comm);
}

MPIF void mpix_comm_failure_get_acked_(MPI_Fint *comm, MPI_Fint *failedgrp, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_failure_get_acked(*comm, failedgrp);
}

MPIF void pmpix_comm_failure_get_acked_(MPI_Fint *comm, MPI_Fint *failedgrp, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_failure_get_acked(*comm, failedgrp);
}

MPIF void mpi_comm_flush_buffer_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_flush_buffer(*comm);
}

MPIF void pmpi_comm_flush_buffer_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_flush_buffer(*comm);
}

MPIF void mpi_comm_free_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_free(comm);
}

MPIF void pmpi_comm_free_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_free(comm);
}

MPIF void mpi_comm_free_keyval_(MPI_Fint *comm_keyval, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_free_keyval(comm_keyval);
}

MPIF void pmpi_comm_free_keyval_(MPI_Fint *comm_keyval, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_free_keyval(comm_keyval);
}

MPIF void mpi_comm_get_errhandler_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_get_errhandler(*comm, errhandler);
}

MPIF void pmpi_comm_get_errhandler_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_get_errhandler(*comm, errhandler);
}

MPIF void mpix_comm_get_failed_(MPI_Fint *comm, MPI_Fint *failedgrp, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_get_failed(*comm, failedgrp);
}

MPIF void pmpix_comm_get_failed_(MPI_Fint *comm, MPI_Fint *failedgrp, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_get_failed(*comm, failedgrp);
}

MPIF void mpi_comm_get_info_(MPI_Fint *comm, MPI_Fint *info_used, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_get_info(*comm, info_used);
}

MPIF void pmpi_comm_get_info_(MPI_Fint *comm, MPI_Fint *info_used, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_get_info(*comm, info_used);
}

MPIF void mpi_comm_get_name_(MPI_Fint *comm, char *comm_name, MPI_Fint *resultlen, MPI_Fint *ierror, size_t comm_name_length)
{
	char comm_name_c[MPI_MAX_OBJECT_NAME + 1] = "";
	*ierror = MPI_Comm_get_name(*comm, comm_name_c, resultlen);
	if (!*ierror) parvum_give_text(comm_name, comm_name_length, comm_name_c);
}

MPIF void pmpi_comm_get_name_(MPI_Fint *comm, char *comm_name, MPI_Fint *resultlen, MPI_Fint *ierror, size_t comm_name_length)
{
	char comm_name_c[MPI_MAX_OBJECT_NAME + 1] = "";
	*ierror = PMPI_Comm_get_name(*comm, comm_name_c, resultlen);
	if (!*ierror) parvum_give_text(comm_name, comm_name_length, comm_name_c);
}

MPIF void mpi_comm_get_parent_(MPI_Fint *parent, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_get_parent(parent);
}

MPIF void pmpi_comm_get_parent_(MPI_Fint *parent, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_get_parent(parent);
}

MPIF void mpi_comm_group_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_group(*comm, group);
}

MPIF void pmpi_comm_group_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_group(*comm, group);
}

MPIF void mpix_comm_iagree_(MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_iagree(*comm, flag, request);
}

MPIF void pmpix_comm_iagree_(MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_iagree(*comm, flag, request);
}

MPIF void mpi_comm_idup_(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_idup(*comm, newcomm, request);
}

MPIF void pmpi_comm_idup_(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_idup(*comm, newcomm, request);
}

MPIF void mpi_comm_idup_with_info_(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_idup_with_info(*comm, *info, newcomm, request);
}

MPIF void pmpi_comm_idup_with_info_(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_idup_with_info(*comm, *info, newcomm, request);
}

MPIF void mpi_comm_iflush_buffer_(MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_iflush_buffer(*comm, request);
}

MPIF void pmpi_comm_iflush_buffer_(MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_iflush_buffer(*comm, request);
}

MPIF void mpix_comm_is_revoked_(MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_is_revoked(*comm, flag);
}

MPIF void pmpix_comm_is_revoked_(MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_is_revoked(*comm, flag);
}

MPIF void mpix_comm_ishrink_(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_ishrink(*comm, newcomm, request);
}

MPIF void pmpix_comm_ishrink_(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_ishrink(*comm, newcomm, request);
}

MPIF void mpi_comm_join_(MPI_Fint *fd, MPI_Fint *intercomm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_join(*fd, intercomm);
}

MPIF void pmpi_comm_join_(MPI_Fint *fd, MPI_Fint *intercomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_join(*fd, intercomm);
}

MPIF void mpi_comm_rank_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_rank(*comm, rank);
}

MPIF void pmpi_comm_rank_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_rank(*comm, rank);
}

MPIF void mpi_comm_remote_group_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_remote_group(*comm, group);
}

MPIF void pmpi_comm_remote_group_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_remote_group(*comm, group);
}

MPIF void mpi_comm_remote_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_remote_size(*comm, size);
}

MPIF void pmpi_comm_remote_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_remote_size(*comm, size);
}

MPIF void mpix_comm_revoke_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_revoke(*comm);
}

MPIF void pmpix_comm_revoke_(MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_revoke(*comm);
}

MPIF void mpi_comm_set_errhandler_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_set_errhandler(*comm, *errhandler);
}

MPIF void pmpi_comm_set_errhandler_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_set_errhandler(*comm, *errhandler);
}

MPIF void mpi_comm_set_info_(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_set_info(*comm, *info);
}

MPIF void pmpi_comm_set_info_(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_set_info(*comm, *info);
}

MPIF void mpi_comm_set_name_(MPI_Fint *comm, char *comm_name, MPI_Fint *ierror, size_t comm_name_length)
{
	struct text comm_name_text;
	char *comm_name_c = parvum_text(&comm_name_text, comm_name, comm_name_length);
	*ierror = MPI_Comm_set_name(*comm, comm_name_c);
	parvum_text_done(&comm_name_text);
}

MPIF void pmpi_comm_set_name_(MPI_Fint *comm, char *comm_name, MPI_Fint *ierror, size_t comm_name_length)
{
	struct text comm_name_text;
	char *comm_name_c = parvum_text(&comm_name_text, comm_name, comm_name_length);
	*ierror = PMPI_Comm_set_name(*comm, comm_name_c);
	parvum_text_done(&comm_name_text);
}

MPIF void mpix_comm_shrink_(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = MPIX_Comm_shrink(*comm, newcomm);
}

MPIF void pmpix_comm_shrink_(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = PMPIX_Comm_shrink(*comm, newcomm);
}

MPIF void mpi_comm_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_size(*comm, size);
}

MPIF void pmpi_comm_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_size(*comm, size);
}

MPIF void mpi_comm_split_(MPI_Fint *comm, MPI_Fint *color, MPI_Fint *key, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_split(*comm, *color, *key, newcomm);
}

MPIF void pmpi_comm_split_(MPI_Fint *comm, MPI_Fint *color, MPI_Fint *key, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_split(*comm, *color, *key, newcomm);
}

MPIF void mpi_comm_split_type_(MPI_Fint *comm, MPI_Fint *split_type, MPI_Fint *key, MPI_Fint *info, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_split_type(*comm, *split_type, *key, *info, newcomm);
}

MPIF void pmpi_comm_split_type_(MPI_Fint *comm, MPI_Fint *split_type, MPI_Fint *key, MPI_Fint *info, MPI_Fint *newcomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_split_type(*comm, *split_type, *key, *info, newcomm);
}

MPIF void mpi_comm_test_inter_(MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_Comm_test_inter(*comm, flag);
}

MPIF void pmpi_comm_test_inter_(MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_test_inter(*comm, flag);
}

MPIF void mpi_compare_and_swap_(void *origin_addr, void *compare_addr, void *result_addr, MPI_Fint *datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Compare_and_swap(data(origin_addr), data(compare_addr), data(result_addr), *datatype, *target_rank, *target_disp, *win);
}

MPIF void pmpi_compare_and_swap_(void *origin_addr, void *compare_addr, void *result_addr, MPI_Fint *datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Compare_and_swap(data(origin_addr), data(compare_addr), data(result_addr), *datatype, *target_rank, *target_disp, *win);
}

MPIF void mpi_dims_create_(MPI_Fint *nnodes, MPI_Fint *ndims, MPI_Fint *dims, MPI_Fint *ierror)
{
	*ierror = MPI_Dims_create(*nnodes, *ndims, dims);
}

MPIF void pmpi_dims_create_(MPI_Fint *nnodes, MPI_Fint *ndims, MPI_Fint *dims, MPI_Fint *ierror)
{
	*ierror = PMPI_Dims_create(*nnodes, *ndims, dims);
}

MPIF void mpi_dist_graph_create_(MPI_Fint *comm_old, MPI_Fint *n, MPI_Fint *sources, MPI_Fint *degrees, MPI_Fint *destinations, MPI_Fint *weights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm_dist_graph, MPI_Fint *ierror)
{
	*ierror = MPI_Dist_graph_create(*comm_old, *n, sources, degrees, destinations, weighted(weights), *info, *reorder, comm_dist_graph);
}

MPIF void pmpi_dist_graph_create_(MPI_Fint *comm_old, MPI_Fint *n, MPI_Fint *sources, MPI_Fint *degrees, MPI_Fint *destinations, MPI_Fint *weights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm_dist_graph, MPI_Fint *ierror)
{
	*ierror = PMPI_Dist_graph_create(*comm_old, *n, sources, degrees, destinations, weighted(weights), *info, *reorder, comm_dist_graph);
}

MPIF void mpi_dist_graph_create_adjacent_(MPI_Fint *comm_old, MPI_Fint *indegree, MPI_Fint *sources, MPI_Fint *sourceweights, MPI_Fint *outdegree, MPI_Fint *destinations, MPI_Fint *destweights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm_dist_graph, MPI_Fint *ierror)
{
	*ierror = MPI_Dist_graph_create_adjacent(*comm_old, *indegree, sources, weighted(sourceweights), *outdegree, destinations, weighted(destweights), *info, *reorder, comm_dist_graph);
}

MPIF void pmpi_dist_graph_create_adjacent_(MPI_Fint *comm_old, MPI_Fint *indegree, MPI_Fint *sources, MPI_Fint *sourceweights, MPI_Fint *outdegree, MPI_Fint *destinations, MPI_Fint *destweights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm_dist_graph, MPI_Fint *ierror)
{
	*ierror = PMPI_Dist_graph_create_adjacent(*comm_old, *indegree, sources, weighted(sourceweights), *outdegree, destinations, weighted(destweights), *info, *reorder, comm_dist_graph);
}

MPIF void mpi_dist_graph_neighbors_(MPI_Fint *comm, MPI_Fint *maxindegree, MPI_Fint *sources, MPI_Fint *sourceweights, MPI_Fint *maxoutdegree, MPI_Fint *destinations, MPI_Fint *destweights, MPI_Fint *ierror)
{
	*ierror = MPI_Dist_graph_neighbors(*comm, *maxindegree, sources, weighted(sourceweights), *maxoutdegree, destinations, weighted(destweights));
}

MPIF void pmpi_dist_graph_neighbors_(MPI_Fint *comm, MPI_Fint *maxindegree, MPI_Fint *sources, MPI_Fint *sourceweights, MPI_Fint *maxoutdegree, MPI_Fint *destinations, MPI_Fint *destweights, MPI_Fint *ierror)
{
	*ierror = PMPI_Dist_graph_neighbors(*comm, *maxindegree, sources, weighted(sourceweights), *maxoutdegree, destinations, weighted(destweights));
}

MPIF void mpi_dist_graph_neighbors_count_(MPI_Fint *comm, MPI_Fint *indegree, MPI_Fint *outdegree, MPI_Fint *weighted, MPI_Fint *ierror)
{
	*ierror = MPI_Dist_graph_neighbors_count(*comm, indegree, outdegree, weighted);
}

MPIF void pmpi_dist_graph_neighbors_count_(MPI_Fint *comm, MPI_Fint *indegree, MPI_Fint *outdegree, MPI_Fint *weighted, MPI_Fint *ierror)
{
	*ierror = PMPI_Dist_graph_neighbors_count(*comm, indegree, outdegree, weighted);
}

MPIF void mpi_errhandler_create_(void (*function)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Errhandler_create((void *)function, errhandler);
}

MPIF void pmpi_errhandler_create_(void (*function)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Errhandler_create((void *)function, errhandler);
}

MPIF void mpi_errhandler_free_(MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Errhandler_free(errhandler);
}

MPIF void pmpi_errhandler_free_(MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Errhandler_free(errhandler);
}

MPIF void mpi_errhandler_get_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Errhandler_get(*comm, errhandler);
}

MPIF void pmpi_errhandler_get_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Errhandler_get(*comm, errhandler);
}

MPIF void mpi_errhandler_set_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Errhandler_set(*comm, *errhandler);
}

MPIF void pmpi_errhandler_set_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Errhandler_set(*comm, *errhandler);
}

MPIF void mpi_error_class_(MPI_Fint *errorcode, MPI_Fint *errorclass, MPI_Fint *ierror)
{
	*ierror = MPI_Error_class(*errorcode, errorclass);
}

MPIF void pmpi_error_class_(MPI_Fint *errorcode, MPI_Fint *errorclass, MPI_Fint *ierror)
{
	*ierror = PMPI_Error_class(*errorcode, errorclass);
}

MPIF void mpi_error_string_(MPI_Fint *errorcode, char *string, MPI_Fint *resultlen, MPI_Fint *ierror, size_t string_length)
{
	char string_c[MPI_MAX_ERROR_STRING + 1] = "";
	*ierror = MPI_Error_string(*errorcode, string_c, resultlen);
	if (!*ierror) parvum_give_text(string, string_length, string_c);
}

MPIF void pmpi_error_string_(MPI_Fint *errorcode, char *string, MPI_Fint *resultlen, MPI_Fint *ierror, size_t string_length)
{
	char string_c[MPI_MAX_ERROR_STRING + 1] = "";
	*ierror = PMPI_Error_string(*errorcode, string_c, resultlen);
	if (!*ierror) parvum_give_text(string, string_length, string_c);
}

MPIF void mpi_exscan_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Exscan(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm);
}

MPIF void pmpi_exscan_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Exscan(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm);
}

MPIF void mpi_exscan_init_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Exscan_init(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, *info, request);
}

MPIF void pmpi_exscan_init_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Exscan_init(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, *info, request);
}

MPIF void mpi_fetch_and_op_(void *origin_addr, void *result_addr, MPI_Fint *datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *op, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Fetch_and_op(data(origin_addr), data(result_addr), *datatype, *target_rank, *target_disp, *op, *win);
}

MPIF void pmpi_fetch_and_op_(void *origin_addr, void *result_addr, MPI_Fint *datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *op, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Fetch_and_op(data(origin_addr), data(result_addr), *datatype, *target_rank, *target_disp, *op, *win);
}

MPIF void mpi_file_call_errhandler_(MPI_Fint *fh, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = MPI_File_call_errhandler(MPI_File_f2c(*fh), *errorcode);
}

MPIF void pmpi_file_call_errhandler_(MPI_Fint *fh, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = PMPI_File_call_errhandler(MPI_File_f2c(*fh), *errorcode);
}

MPIF void mpi_file_close_(MPI_Fint *fh, MPI_Fint *ierror)
{
	MPI_File fh_c = MPI_File_f2c(*fh);
	*ierror = MPI_File_close(&fh_c);
	*fh = MPI_File_c2f(fh_c);
}

MPIF void pmpi_file_close_(MPI_Fint *fh, MPI_Fint *ierror)
{
	MPI_File fh_c = MPI_File_f2c(*fh);
	*ierror = PMPI_File_close(&fh_c);
	*fh = MPI_File_c2f(fh_c);
}

MPIF void mpi_file_create_errhandler_(void (*file_errhandler_fn)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_File_create_errhandler((void *)file_errhandler_fn, errhandler);
}

MPIF void pmpi_file_create_errhandler_(void (*file_errhandler_fn)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_File_create_errhandler((void *)file_errhandler_fn, errhandler);
}

MPIF void mpi_file_delete_(char *filename, MPI_Fint *info, MPI_Fint *ierror, size_t filename_length)
{
	struct text filename_text;
	char *filename_c = parvum_text(&filename_text, filename, filename_length);
	*ierror = MPI_File_delete(filename_c, *info);
	parvum_text_done(&filename_text);
}

MPIF void pmpi_file_delete_(char *filename, MPI_Fint *info, MPI_Fint *ierror, size_t filename_length)
{
	struct text filename_text;
	char *filename_c = parvum_text(&filename_text, filename, filename_length);
	*ierror = PMPI_File_delete(filename_c, *info);
	parvum_text_done(&filename_text);
}

MPIF void mpi_file_get_amode_(MPI_Fint *fh, MPI_Fint *amode, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_amode(MPI_File_f2c(*fh), amode);
}

MPIF void pmpi_file_get_amode_(MPI_Fint *fh, MPI_Fint *amode, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_amode(MPI_File_f2c(*fh), amode);
}

MPIF void mpi_file_get_atomicity_(MPI_Fint *fh, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_atomicity(MPI_File_f2c(*fh), flag);
}

MPIF void pmpi_file_get_atomicity_(MPI_Fint *fh, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_atomicity(MPI_File_f2c(*fh), flag);
}

MPIF void mpi_file_get_byte_offset_(MPI_Fint *fh, MPI_Offset *offset, MPI_Offset *disp, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_byte_offset(MPI_File_f2c(*fh), *offset, disp);
}

MPIF void pmpi_file_get_byte_offset_(MPI_Fint *fh, MPI_Offset *offset, MPI_Offset *disp, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_byte_offset(MPI_File_f2c(*fh), *offset, disp);
}

MPIF void mpi_file_get_errhandler_(MPI_Fint *file, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_errhandler(MPI_File_f2c(*file), errhandler);
}

MPIF void pmpi_file_get_errhandler_(MPI_Fint *file, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_errhandler(MPI_File_f2c(*file), errhandler);
}

MPIF void mpi_file_get_group_(MPI_Fint *fh, MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_group(MPI_File_f2c(*fh), group);
}

MPIF void pmpi_file_get_group_(MPI_Fint *fh, MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_group(MPI_File_f2c(*fh), group);
}

MPIF void mpi_file_get_info_(MPI_Fint *fh, MPI_Fint *info_used, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_info(MPI_File_f2c(*fh), info_used);
}

MPIF void pmpi_file_get_info_(MPI_Fint *fh, MPI_Fint *info_used, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_info(MPI_File_f2c(*fh), info_used);
}

MPIF void mpi_file_get_position_(MPI_Fint *fh, MPI_Offset *offset, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_position(MPI_File_f2c(*fh), offset);
}

MPIF void pmpi_file_get_position_(MPI_Fint *fh, MPI_Offset *offset, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_position(MPI_File_f2c(*fh), offset);
}

MPIF void mpi_file_get_position_shared_(MPI_Fint *fh, MPI_Offset *offset, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_position_shared(MPI_File_f2c(*fh), offset);
}

MPIF void pmpi_file_get_position_shared_(MPI_Fint *fh, MPI_Offset *offset, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_position_shared(MPI_File_f2c(*fh), offset);
}

MPIF void mpi_file_get_size_(MPI_Fint *fh, MPI_Offset *size, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_size(MPI_File_f2c(*fh), size);
}

MPIF void pmpi_file_get_size_(MPI_Fint *fh, MPI_Offset *size, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_size(MPI_File_f2c(*fh), size);
}

MPIF void mpi_file_get_type_extent_(MPI_Fint *fh, MPI_Fint *datatype, MPI_Aint *extent, MPI_Fint *ierror)
{
	*ierror = MPI_File_get_type_extent(MPI_File_f2c(*fh), *datatype, extent);
}

MPIF void pmpi_file_get_type_extent_(MPI_Fint *fh, MPI_Fint *datatype, MPI_Aint *extent, MPI_Fint *ierror)
{
	*ierror = PMPI_File_get_type_extent(MPI_File_f2c(*fh), *datatype, extent);
}

MPIF void mpi_file_get_view_(MPI_Fint *fh, MPI_Offset *disp, MPI_Fint *etype, MPI_Fint *filetype, char *datarep, MPI_Fint *ierror, size_t datarep_length)
{
	char datarep_c[MPI_MAX_DATAREP_STRING + 1] = "";
	*ierror = MPI_File_get_view(MPI_File_f2c(*fh), disp, etype, filetype, datarep_c);
	if (!*ierror) parvum_give_text(datarep, datarep_length, datarep_c);
}

MPIF void pmpi_file_get_view_(MPI_Fint *fh, MPI_Offset *disp, MPI_Fint *etype, MPI_Fint *filetype, char *datarep, MPI_Fint *ierror, size_t datarep_length)
{
	char datarep_c[MPI_MAX_DATAREP_STRING + 1] = "";
	*ierror = PMPI_File_get_view(MPI_File_f2c(*fh), disp, etype, filetype, datarep_c);
	if (!*ierror) parvum_give_text(datarep, datarep_length, datarep_c);
}

MPIF void mpi_file_iread_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iread(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iread_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iread(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iread_all_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iread_all(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iread_all_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iread_all(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iread_at_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iread_at(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iread_at_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iread_at(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iread_at_all_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iread_at_all(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iread_at_all_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iread_at_all(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iread_shared_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iread_shared(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iread_shared_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iread_shared(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iwrite_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iwrite(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iwrite_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iwrite(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iwrite_all_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iwrite_all(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iwrite_all_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iwrite_all(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iwrite_at_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iwrite_at(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iwrite_at_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iwrite_at(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iwrite_at_all_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iwrite_at_all(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iwrite_at_all_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iwrite_at_all(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, request);
}

MPIF void mpi_file_iwrite_shared_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_File_iwrite_shared(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void pmpi_file_iwrite_shared_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_File_iwrite_shared(MPI_File_f2c(*fh), data(buf), *count, *datatype, request);
}

MPIF void mpi_file_open_(MPI_Fint *comm, char *filename, MPI_Fint *amode, MPI_Fint *info, MPI_Fint *fh, MPI_Fint *ierror, size_t filename_length)
{
	struct text filename_text;
	char *filename_c = parvum_text(&filename_text, filename, filename_length);
	MPI_File fh_c = MPI_File_f2c(*fh);
	*ierror = MPI_File_open(*comm, filename_c, *amode, *info, &fh_c);
	parvum_text_done(&filename_text);
	*fh = MPI_File_c2f(fh_c);
}

MPIF void pmpi_file_open_(MPI_Fint *comm, char *filename, MPI_Fint *amode, MPI_Fint *info, MPI_Fint *fh, MPI_Fint *ierror, size_t filename_length)
{
	struct text filename_text;
	char *filename_c = parvum_text(&filename_text, filename, filename_length);
	MPI_File fh_c = MPI_File_f2c(*fh);
	*ierror = PMPI_File_open(*comm, filename_c, *amode, *info, &fh_c);
	parvum_text_done(&filename_text);
	*fh = MPI_File_c2f(fh_c);
}

MPIF void mpi_file_preallocate_(MPI_Fint *fh, MPI_Offset *size, MPI_Fint *ierror)
{
	*ierror = MPI_File_preallocate(MPI_File_f2c(*fh), *size);
}

MPIF void pmpi_file_preallocate_(MPI_Fint *fh, MPI_Offset *size, MPI_Fint *ierror)
{
	*ierror = PMPI_File_preallocate(MPI_File_f2c(*fh), *size);
}

MPIF void mpi_file_read_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_read_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_read_all_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_all(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_read_all_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_all(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_read_all_begin_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_all_begin(MPI_File_f2c(*fh), data(buf), *count, *datatype);
}

MPIF void pmpi_file_read_all_begin_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_all_begin(MPI_File_f2c(*fh), data(buf), *count, *datatype);
}

MPIF void mpi_file_read_all_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_all_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void pmpi_file_read_all_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_all_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void mpi_file_read_at_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_at(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_read_at_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_at(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_read_at_all_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_at_all(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_read_at_all_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_at_all(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_read_at_all_begin_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_at_all_begin(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype);
}

MPIF void pmpi_file_read_at_all_begin_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_at_all_begin(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype);
}

MPIF void mpi_file_read_at_all_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_at_all_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void pmpi_file_read_at_all_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_at_all_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void mpi_file_read_ordered_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_ordered(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_read_ordered_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_ordered(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_read_ordered_begin_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_ordered_begin(MPI_File_f2c(*fh), data(buf), *count, *datatype);
}

MPIF void pmpi_file_read_ordered_begin_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_ordered_begin(MPI_File_f2c(*fh), data(buf), *count, *datatype);
}

MPIF void mpi_file_read_ordered_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_ordered_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void pmpi_file_read_ordered_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_ordered_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void mpi_file_read_shared_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_read_shared(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_read_shared_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_read_shared(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_seek_(MPI_Fint *fh, MPI_Offset *offset, MPI_Fint *whence, MPI_Fint *ierror)
{
	*ierror = MPI_File_seek(MPI_File_f2c(*fh), *offset, *whence);
}

MPIF void pmpi_file_seek_(MPI_Fint *fh, MPI_Offset *offset, MPI_Fint *whence, MPI_Fint *ierror)
{
	*ierror = PMPI_File_seek(MPI_File_f2c(*fh), *offset, *whence);
}

MPIF void mpi_file_seek_shared_(MPI_Fint *fh, MPI_Offset *offset, MPI_Fint *whence, MPI_Fint *ierror)
{
	*ierror = MPI_File_seek_shared(MPI_File_f2c(*fh), *offset, *whence);
}

MPIF void pmpi_file_seek_shared_(MPI_Fint *fh, MPI_Offset *offset, MPI_Fint *whence, MPI_Fint *ierror)
{
	*ierror = PMPI_File_seek_shared(MPI_File_f2c(*fh), *offset, *whence);
}

MPIF void mpi_file_set_atomicity_(MPI_Fint *fh, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_File_set_atomicity(MPI_File_f2c(*fh), *flag);
}

MPIF void pmpi_file_set_atomicity_(MPI_Fint *fh, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_File_set_atomicity(MPI_File_f2c(*fh), *flag);
}

MPIF void mpi_file_set_errhandler_(MPI_Fint *file, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_File_set_errhandler(MPI_File_f2c(*file), *errhandler);
}

MPIF void pmpi_file_set_errhandler_(MPI_Fint *file, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_File_set_errhandler(MPI_File_f2c(*file), *errhandler);
}

MPIF void mpi_file_set_info_(MPI_Fint *fh, MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = MPI_File_set_info(MPI_File_f2c(*fh), *info);
}

MPIF void pmpi_file_set_info_(MPI_Fint *fh, MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = PMPI_File_set_info(MPI_File_f2c(*fh), *info);
}

MPIF void mpi_file_set_size_(MPI_Fint *fh, MPI_Offset *size, MPI_Fint *ierror)
{
	*ierror = MPI_File_set_size(MPI_File_f2c(*fh), *size);
}

MPIF void pmpi_file_set_size_(MPI_Fint *fh, MPI_Offset *size, MPI_Fint *ierror)
{
	*ierror = PMPI_File_set_size(MPI_File_f2c(*fh), *size);
}

MPIF void mpi_file_set_view_(MPI_Fint *fh, MPI_Offset *disp, MPI_Fint *etype, MPI_Fint *filetype, char *datarep, MPI_Fint *info, MPI_Fint *ierror, size_t datarep_length)
{
	struct text datarep_text;
	char *datarep_c = parvum_text(&datarep_text, datarep, datarep_length);
	*ierror = MPI_File_set_view(MPI_File_f2c(*fh), *disp, *etype, *filetype, datarep_c, *info);
	parvum_text_done(&datarep_text);
}

MPIF void pmpi_file_set_view_(MPI_Fint *fh, MPI_Offset *disp, MPI_Fint *etype, MPI_Fint *filetype, char *datarep, MPI_Fint *info, MPI_Fint *ierror, size_t datarep_length)
{
	struct text datarep_text;
	char *datarep_c = parvum_text(&datarep_text, datarep, datarep_length);
	*ierror = PMPI_File_set_view(MPI_File_f2c(*fh), *disp, *etype, *filetype, datarep_c, *info);
	parvum_text_done(&datarep_text);
}

MPIF void mpi_file_sync_(MPI_Fint *fh, MPI_Fint *ierror)
{
	*ierror = MPI_File_sync(MPI_File_f2c(*fh));
}

MPIF void pmpi_file_sync_(MPI_Fint *fh, MPI_Fint *ierror)
{
	*ierror = PMPI_File_sync(MPI_File_f2c(*fh));
}

MPIF void mpi_file_write_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_write_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_write_all_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_all(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_write_all_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_all(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_write_all_begin_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_all_begin(MPI_File_f2c(*fh), data(buf), *count, *datatype);
}

MPIF void pmpi_file_write_all_begin_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_all_begin(MPI_File_f2c(*fh), data(buf), *count, *datatype);
}

MPIF void mpi_file_write_all_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_all_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void pmpi_file_write_all_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_all_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void mpi_file_write_at_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_at(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_write_at_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_at(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_write_at_all_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_at_all(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_write_at_all_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_at_all(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_write_at_all_begin_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_at_all_begin(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype);
}

MPIF void pmpi_file_write_at_all_begin_(MPI_Fint *fh, MPI_Offset *offset, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_at_all_begin(MPI_File_f2c(*fh), *offset, data(buf), *count, *datatype);
}

MPIF void mpi_file_write_at_all_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_at_all_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void pmpi_file_write_at_all_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_at_all_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void mpi_file_write_ordered_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_ordered(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_write_ordered_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_ordered(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_file_write_ordered_begin_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_ordered_begin(MPI_File_f2c(*fh), data(buf), *count, *datatype);
}

MPIF void pmpi_file_write_ordered_begin_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_ordered_begin(MPI_File_f2c(*fh), data(buf), *count, *datatype);
}

MPIF void mpi_file_write_ordered_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_ordered_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void pmpi_file_write_ordered_end_(MPI_Fint *fh, void *buf, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_ordered_end(MPI_File_f2c(*fh), data(buf), wanted(status));
}

MPIF void mpi_file_write_shared_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_File_write_shared(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void pmpi_file_write_shared_(MPI_Fint *fh, void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_File_write_shared(MPI_File_f2c(*fh), data(buf), *count, *datatype, wanted(status));
}

MPIF void mpi_finalize_(MPI_Fint *ierror)
{
	*ierror = MPI_Finalize();
}

MPIF void pmpi_finalize_(MPI_Fint *ierror)
{
	*ierror = PMPI_Finalize();
}

MPIF void mpi_finalized_(MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_Finalized(flag);
}

MPIF void pmpi_finalized_(MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_Finalized(flag);
}

MPIF void mpi_free_mem_(void *base, MPI_Fint *ierror)
{
	*ierror = MPI_Free_mem(data(base));
}

MPIF void pmpi_free_mem_(void *base, MPI_Fint *ierror)
{
	*ierror = PMPI_Free_mem(data(base));
}

MPIF void mpi_gather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Gather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm);
}

MPIF void pmpi_gather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Gather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm);
}

MPIF void mpi_gather_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Gather_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, *info, request);
}

MPIF void pmpi_gather_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Gather_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, *info, request);
}

MPIF void mpi_gatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Gatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *root, *comm);
}

MPIF void pmpi_gatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Gatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *root, *comm);
}

MPIF void mpi_gatherv_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Gatherv_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *root, *comm, *info, request);
}

MPIF void pmpi_gatherv_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Gatherv_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *root, *comm, *info, request);
}

MPIF void mpi_get_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Get(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *win);
}

MPIF void pmpi_get_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Get(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *win);
}

MPIF void mpi_get_accumulate_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, void *result_addr, MPI_Fint *result_count, MPI_Fint *result_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *op, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Get_accumulate(data(origin_addr), *origin_count, *origin_datatype, data(result_addr), *result_count, *result_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *op, *win);
}

MPIF void pmpi_get_accumulate_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, void *result_addr, MPI_Fint *result_count, MPI_Fint *result_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *op, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Get_accumulate(data(origin_addr), *origin_count, *origin_datatype, data(result_addr), *result_count, *result_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *op, *win);
}

MPIF void mpi_get_address_(void *location, MPI_Aint *address, MPI_Fint *ierror)
{
	*ierror = MPI_Get_address(data(location), address);
}

MPIF void pmpi_get_address_(void *location, MPI_Aint *address, MPI_Fint *ierror)
{
	*ierror = PMPI_Get_address(data(location), address);
}

MPIF void mpi_get_count_(MPI_Fint *status, MPI_Fint *datatype, MPI_Fint *count, MPI_Fint *ierror)
{
	*ierror = MPI_Get_count((const MPI_Status *)status, *datatype, count);
}

MPIF void pmpi_get_count_(MPI_Fint *status, MPI_Fint *datatype, MPI_Fint *count, MPI_Fint *ierror)
{
	*ierror = PMPI_Get_count((const MPI_Status *)status, *datatype, count);
}

MPIF void mpi_get_elements_(MPI_Fint *status, MPI_Fint *datatype, MPI_Fint *count, MPI_Fint *ierror)
{
	*ierror = MPI_Get_elements((const MPI_Status *)status, *datatype, count);
}

MPIF void pmpi_get_elements_(MPI_Fint *status, MPI_Fint *datatype, MPI_Fint *count, MPI_Fint *ierror)
{
	*ierror = PMPI_Get_elements((const MPI_Status *)status, *datatype, count);
}

MPIF void mpi_get_elements_x_(MPI_Fint *status, MPI_Fint *datatype, MPI_Count *count, MPI_Fint *ierror)
{
	*ierror = MPI_Get_elements_x((const MPI_Status *)status, *datatype, count);
}

MPIF void pmpi_get_elements_x_(MPI_Fint *status, MPI_Fint *datatype, MPI_Count *count, MPI_Fint *ierror)
{
	*ierror = PMPI_Get_elements_x((const MPI_Status *)status, *datatype, count);
}

MPIF void mpi_get_hw_resource_info_(MPI_Fint *hw_info, MPI_Fint *ierror)
{
	*ierror = MPI_Get_hw_resource_info(hw_info);
}

MPIF void pmpi_get_hw_resource_info_(MPI_Fint *hw_info, MPI_Fint *ierror)
{
	*ierror = PMPI_Get_hw_resource_info(hw_info);
}

MPIF void mpi_get_library_version_(char *version, MPI_Fint *resultlen, MPI_Fint *ierror, size_t version_length)
{
	char version_c[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
	*ierror = MPI_Get_library_version(version_c, resultlen);
	if (!*ierror) parvum_give_text(version, version_length, version_c);
}

MPIF void pmpi_get_library_version_(char *version, MPI_Fint *resultlen, MPI_Fint *ierror, size_t version_length)
{
	char version_c[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
	*ierror = PMPI_Get_library_version(version_c, resultlen);
	if (!*ierror) parvum_give_text(version, version_length, version_c);
}

MPIF void mpi_get_processor_name_(char *name, MPI_Fint *resultlen, MPI_Fint *ierror, size_t name_length)
{
	char name_c[MPI_MAX_PROCESSOR_NAME + 1] = "";
	*ierror = MPI_Get_processor_name(name_c, resultlen);
	if (!*ierror) parvum_give_text(name, name_length, name_c);
}

MPIF void pmpi_get_processor_name_(char *name, MPI_Fint *resultlen, MPI_Fint *ierror, size_t name_length)
{
	char name_c[MPI_MAX_PROCESSOR_NAME + 1] = "";
	*ierror = PMPI_Get_processor_name(name_c, resultlen);
	if (!*ierror) parvum_give_text(name, name_length, name_c);
}

MPIF void mpi_get_version_(MPI_Fint *version, MPI_Fint *subversion, MPI_Fint *ierror)
{
	*ierror = MPI_Get_version(version, subversion);
}

MPIF void pmpi_get_version_(MPI_Fint *version, MPI_Fint *subversion, MPI_Fint *ierror)
{
	*ierror = PMPI_Get_version(version, subversion);
}

MPIF void mpi_graph_create_(MPI_Fint *comm_old, MPI_Fint *nnodes, MPI_Fint *indx, MPI_Fint *edges, MPI_Fint *reorder, MPI_Fint *comm_graph, MPI_Fint *ierror)
{
	*ierror = MPI_Graph_create(*comm_old, *nnodes, indx, edges, *reorder, comm_graph);
}

MPIF void pmpi_graph_create_(MPI_Fint *comm_old, MPI_Fint *nnodes, MPI_Fint *indx, MPI_Fint *edges, MPI_Fint *reorder, MPI_Fint *comm_graph, MPI_Fint *ierror)
{
	*ierror = PMPI_Graph_create(*comm_old, *nnodes, indx, edges, *reorder, comm_graph);
}

MPIF void mpi_graph_get_(MPI_Fint *comm, MPI_Fint *maxindex, MPI_Fint *maxedges, MPI_Fint *indx, MPI_Fint *edges, MPI_Fint *ierror)
{
	*ierror = MPI_Graph_get(*comm, *maxindex, *maxedges, indx, edges);
}

MPIF void pmpi_graph_get_(MPI_Fint *comm, MPI_Fint *maxindex, MPI_Fint *maxedges, MPI_Fint *indx, MPI_Fint *edges, MPI_Fint *ierror)
{
	*ierror = PMPI_Graph_get(*comm, *maxindex, *maxedges, indx, edges);
}

MPIF void mpi_graph_map_(MPI_Fint *comm, MPI_Fint *nnodes, MPI_Fint *indx, MPI_Fint *edges, MPI_Fint *newrank, MPI_Fint *ierror)
{
	*ierror = MPI_Graph_map(*comm, *nnodes, indx, edges, newrank);
}

MPIF void pmpi_graph_map_(MPI_Fint *comm, MPI_Fint *nnodes, MPI_Fint *indx, MPI_Fint *edges, MPI_Fint *newrank, MPI_Fint *ierror)
{
	*ierror = PMPI_Graph_map(*comm, *nnodes, indx, edges, newrank);
}

MPIF void mpi_graph_neighbors_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *maxneighbors, MPI_Fint *neighbors, MPI_Fint *ierror)
{
	*ierror = MPI_Graph_neighbors(*comm, *rank, *maxneighbors, neighbors);
}

MPIF void pmpi_graph_neighbors_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *maxneighbors, MPI_Fint *neighbors, MPI_Fint *ierror)
{
	*ierror = PMPI_Graph_neighbors(*comm, *rank, *maxneighbors, neighbors);
}

MPIF void mpi_graph_neighbors_count_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *nneighbors, MPI_Fint *ierror)
{
	*ierror = MPI_Graph_neighbors_count(*comm, *rank, nneighbors);
}

MPIF void pmpi_graph_neighbors_count_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *nneighbors, MPI_Fint *ierror)
{
	*ierror = PMPI_Graph_neighbors_count(*comm, *rank, nneighbors);
}

MPIF void mpi_graphdims_get_(MPI_Fint *comm, MPI_Fint *nnodes, MPI_Fint *nedges, MPI_Fint *ierror)
{
	*ierror = MPI_Graphdims_get(*comm, nnodes, nedges);
}

MPIF void pmpi_graphdims_get_(MPI_Fint *comm, MPI_Fint *nnodes, MPI_Fint *nedges, MPI_Fint *ierror)
{
	*ierror = PMPI_Graphdims_get(*comm, nnodes, nedges);
}

MPIF void mpi_grequest_complete_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Grequest_complete(*request);
}

MPIF void pmpi_grequest_complete_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Grequest_complete(*request);
}

MPIF void mpi_group_compare_(MPI_Fint *group1, MPI_Fint *group2, MPI_Fint *result, MPI_Fint *ierror)
{
	*ierror = MPI_Group_compare(*group1, *group2, result);
}

MPIF void pmpi_group_compare_(MPI_Fint *group1, MPI_Fint *group2, MPI_Fint *result, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_compare(*group1, *group2, result);
}

MPIF void mpi_group_difference_(MPI_Fint *group1, MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = MPI_Group_difference(*group1, *group2, newgroup);
}

MPIF void pmpi_group_difference_(MPI_Fint *group1, MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_difference(*group1, *group2, newgroup);
}

MPIF void mpi_group_excl_(MPI_Fint *group, MPI_Fint *n, MPI_Fint *ranks, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = MPI_Group_excl(*group, *n, ranks, newgroup);
}

MPIF void pmpi_group_excl_(MPI_Fint *group, MPI_Fint *n, MPI_Fint *ranks, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_excl(*group, *n, ranks, newgroup);
}

MPIF void mpi_group_free_(MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = MPI_Group_free(group);
}

MPIF void pmpi_group_free_(MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_free(group);
}

MPIF void mpi_group_from_session_pset_(MPI_Fint *session, char *pset_name, MPI_Fint *newgroup, MPI_Fint *ierror, size_t pset_name_length)
{
	struct text pset_name_text;
	char *pset_name_c = parvum_text(&pset_name_text, pset_name, pset_name_length);
	*ierror = MPI_Group_from_session_pset(*session, pset_name_c, newgroup);
	parvum_text_done(&pset_name_text);
}

MPIF void pmpi_group_from_session_pset_(MPI_Fint *session, char *pset_name, MPI_Fint *newgroup, MPI_Fint *ierror, size_t pset_name_length)
{
	struct text pset_name_text;
	char *pset_name_c = parvum_text(&pset_name_text, pset_name, pset_name_length);
	*ierror = PMPI_Group_from_session_pset(*session, pset_name_c, newgroup);
	parvum_text_done(&pset_name_text);
}

MPIF void mpi_group_incl_(MPI_Fint *group, MPI_Fint *n, MPI_Fint *ranks, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = MPI_Group_incl(*group, *n, ranks, newgroup);
}

MPIF void pmpi_group_incl_(MPI_Fint *group, MPI_Fint *n, MPI_Fint *ranks, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_incl(*group, *n, ranks, newgroup);
}

MPIF void mpi_group_intersection_(MPI_Fint *group1, MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = MPI_Group_intersection(*group1, *group2, newgroup);
}

MPIF void pmpi_group_intersection_(MPI_Fint *group1, MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_intersection(*group1, *group2, newgroup);
}

MPIF void mpi_group_range_excl_(MPI_Fint *group, MPI_Fint *n, MPI_Fint ranges[][3], MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = MPI_Group_range_excl(*group, *n, ranges, newgroup);
}

MPIF void pmpi_group_range_excl_(MPI_Fint *group, MPI_Fint *n, MPI_Fint ranges[][3], MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_range_excl(*group, *n, ranges, newgroup);
}

MPIF void mpi_group_range_incl_(MPI_Fint *group, MPI_Fint *n, MPI_Fint ranges[][3], MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = MPI_Group_range_incl(*group, *n, ranges, newgroup);
}

MPIF void pmpi_group_range_incl_(MPI_Fint *group, MPI_Fint *n, MPI_Fint ranges[][3], MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_range_incl(*group, *n, ranges, newgroup);
}

MPIF void mpi_group_rank_(MPI_Fint *group, MPI_Fint *rank, MPI_Fint *ierror)
{
	*ierror = MPI_Group_rank(*group, rank);
}

MPIF void pmpi_group_rank_(MPI_Fint *group, MPI_Fint *rank, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_rank(*group, rank);
}

MPIF void mpi_group_size_(MPI_Fint *group, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Group_size(*group, size);
}

MPIF void pmpi_group_size_(MPI_Fint *group, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_size(*group, size);
}

MPIF void mpi_group_translate_ranks_(MPI_Fint *group1, MPI_Fint *n, MPI_Fint *ranks1, MPI_Fint *group2, MPI_Fint *ranks2, MPI_Fint *ierror)
{
	*ierror = MPI_Group_translate_ranks(*group1, *n, ranks1, *group2, ranks2);
}

MPIF void pmpi_group_translate_ranks_(MPI_Fint *group1, MPI_Fint *n, MPI_Fint *ranks1, MPI_Fint *group2, MPI_Fint *ranks2, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_translate_ranks(*group1, *n, ranks1, *group2, ranks2);
}

MPIF void mpi_group_union_(MPI_Fint *group1, MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = MPI_Group_union(*group1, *group2, newgroup);
}

MPIF void pmpi_group_union_(MPI_Fint *group1, MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror)
{
	*ierror = PMPI_Group_union(*group1, *group2, newgroup);
}

MPIF void mpi_iallgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Iallgather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, request);
}

MPIF void pmpi_iallgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Iallgather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, request);
}

MPIF void mpi_iallgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Iallgatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm, request);
}

MPIF void pmpi_iallgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Iallgatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm, request);
}

MPIF void mpi_iallreduce_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Iallreduce(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, request);
}

MPIF void pmpi_iallreduce_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Iallreduce(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, request);
}

MPIF void mpi_ialltoall_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ialltoall(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, request);
}

MPIF void pmpi_ialltoall_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ialltoall(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, request);
}

MPIF void mpi_ialltoallv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ialltoallv(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm, request);
}

MPIF void pmpi_ialltoallv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ialltoallv(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm, request);
}

MPIF void mpi_ialltoallw_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ialltoallw(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm, request);
}

MPIF void pmpi_ialltoallw_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ialltoallw(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm, request);
}

MPIF void mpi_ibarrier_(MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ibarrier(*comm, request);
}

MPIF void pmpi_ibarrier_(MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ibarrier(*comm, request);
}

MPIF void mpi_ibcast_(void *buffer, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ibcast(data(buffer), *count, *datatype, *root, *comm, request);
}

MPIF void pmpi_ibcast_(void *buffer, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ibcast(data(buffer), *count, *datatype, *root, *comm, request);
}

MPIF void mpi_ibsend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ibsend(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void pmpi_ibsend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ibsend(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void mpi_iexscan_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Iexscan(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, request);
}

MPIF void pmpi_iexscan_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Iexscan(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, request);
}

MPIF void mpi_igather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Igather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, request);
}

MPIF void pmpi_igather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Igather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, request);
}

MPIF void mpi_igatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Igatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *root, *comm, request);
}

MPIF void pmpi_igatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Igatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *root, *comm, request);
}

MPIF void mpi_improbe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Improbe(*source, *tag, *comm, flag, message, wanted(status));
}

MPIF void pmpi_improbe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Improbe(*source, *tag, *comm, flag, message, wanted(status));
}

MPIF void mpi_imrecv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *message, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Imrecv(data(buf), *count, *datatype, message, request);
}

MPIF void pmpi_imrecv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *message, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Imrecv(data(buf), *count, *datatype, message, request);
}

MPIF void mpi_ineighbor_allgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ineighbor_allgather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, request);
}

MPIF void pmpi_ineighbor_allgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ineighbor_allgather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, request);
}

MPIF void mpi_ineighbor_allgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ineighbor_allgatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm, request);
}

MPIF void pmpi_ineighbor_allgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ineighbor_allgatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm, request);
}

MPIF void mpi_ineighbor_alltoall_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ineighbor_alltoall(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, request);
}

MPIF void pmpi_ineighbor_alltoall_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ineighbor_alltoall(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, request);
}

MPIF void mpi_ineighbor_alltoallv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ineighbor_alltoallv(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm, request);
}

MPIF void pmpi_ineighbor_alltoallv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ineighbor_alltoallv(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm, request);
}

MPIF void mpi_ineighbor_alltoallw_(void *sendbuf, MPI_Fint *sendcounts, MPI_Aint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Aint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ineighbor_alltoallw(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm, request);
}

MPIF void pmpi_ineighbor_alltoallw_(void *sendbuf, MPI_Fint *sendcounts, MPI_Aint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Aint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ineighbor_alltoallw(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm, request);
}

MPIF void mpi_info_create_(MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = MPI_Info_create(info);
}

MPIF void pmpi_info_create_(MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = PMPI_Info_create(info);
}

MPIF void mpi_info_delete_(MPI_Fint *info, char *key, MPI_Fint *ierror, size_t key_length)
{
	struct text key_text;
	char *key_c = parvum_trimmed(&key_text, key, key_length);
	*ierror = MPI_Info_delete(*info, key_c);
	parvum_text_done(&key_text);
}

MPIF void pmpi_info_delete_(MPI_Fint *info, char *key, MPI_Fint *ierror, size_t key_length)
{
	struct text key_text;
	char *key_c = parvum_trimmed(&key_text, key, key_length);
	*ierror = PMPI_Info_delete(*info, key_c);
	parvum_text_done(&key_text);
}

MPIF void mpi_info_dup_(MPI_Fint *info, MPI_Fint *newinfo, MPI_Fint *ierror)
{
	*ierror = MPI_Info_dup(*info, newinfo);
}

MPIF void pmpi_info_dup_(MPI_Fint *info, MPI_Fint *newinfo, MPI_Fint *ierror)
{
	*ierror = PMPI_Info_dup(*info, newinfo);
}

MPIF void mpi_info_free_(MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = MPI_Info_free(info);
}

MPIF void pmpi_info_free_(MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = PMPI_Info_free(info);
}

MPIF void mpi_info_get_nkeys_(MPI_Fint *info, MPI_Fint *nkeys, MPI_Fint *ierror)
{
	*ierror = MPI_Info_get_nkeys(*info, nkeys);
}

MPIF void pmpi_info_get_nkeys_(MPI_Fint *info, MPI_Fint *nkeys, MPI_Fint *ierror)
{
	*ierror = PMPI_Info_get_nkeys(*info, nkeys);
}

MPIF void mpi_info_get_valuelen_(MPI_Fint *info, char *key, MPI_Fint *valuelen, MPI_Fint *flag, MPI_Fint *ierror, size_t key_length)
{
	struct text key_text;
	char *key_c = parvum_trimmed(&key_text, key, key_length);
	*ierror = MPI_Info_get_valuelen(*info, key_c, valuelen, flag);
	parvum_text_done(&key_text);
}

MPIF void pmpi_info_get_valuelen_(MPI_Fint *info, char *key, MPI_Fint *valuelen, MPI_Fint *flag, MPI_Fint *ierror, size_t key_length)
{
	struct text key_text;
	char *key_c = parvum_trimmed(&key_text, key, key_length);
	*ierror = PMPI_Info_get_valuelen(*info, key_c, valuelen, flag);
	parvum_text_done(&key_text);
}

MPIF void mpi_info_set_(MPI_Fint *info, char *key, char *value, MPI_Fint *ierror, size_t key_length, size_t value_length)
{
	struct text key_text;
	char *key_c = parvum_trimmed(&key_text, key, key_length);
	struct text value_text;
	char *value_c = parvum_trimmed(&value_text, value, value_length);
	*ierror = MPI_Info_set(*info, key_c, value_c);
	parvum_text_done(&key_text);
	parvum_text_done(&value_text);
}

MPIF void pmpi_info_set_(MPI_Fint *info, char *key, char *value, MPI_Fint *ierror, size_t key_length, size_t value_length)
{
	struct text key_text;
	char *key_c = parvum_trimmed(&key_text, key, key_length);
	struct text value_text;
	char *value_c = parvum_trimmed(&value_text, value, value_length);
	*ierror = PMPI_Info_set(*info, key_c, value_c);
	parvum_text_done(&key_text);
	parvum_text_done(&value_text);
}

MPIF void mpi_initialized_(MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_Initialized(flag);
}

MPIF void pmpi_initialized_(MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_Initialized(flag);
}

MPIF void mpi_intercomm_create_(MPI_Fint *local_comm, MPI_Fint *local_leader, MPI_Fint *peer_comm, MPI_Fint *remote_leader, MPI_Fint *tag, MPI_Fint *newintercomm, MPI_Fint *ierror)
{
	*ierror = MPI_Intercomm_create(*local_comm, *local_leader, *peer_comm, *remote_leader, *tag, newintercomm);
}

MPIF void pmpi_intercomm_create_(MPI_Fint *local_comm, MPI_Fint *local_leader, MPI_Fint *peer_comm, MPI_Fint *remote_leader, MPI_Fint *tag, MPI_Fint *newintercomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Intercomm_create(*local_comm, *local_leader, *peer_comm, *remote_leader, *tag, newintercomm);
}

MPIF void mpi_intercomm_create_from_groups_(MPI_Fint *local_group, MPI_Fint *local_leader, MPI_Fint *remote_group, MPI_Fint *remote_leader, char *stringtag, MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *newintercomm, MPI_Fint *ierror, size_t stringtag_length)
{
	struct text stringtag_text;
	char *stringtag_c = parvum_text(&stringtag_text, stringtag, stringtag_length);
	*ierror = MPI_Intercomm_create_from_groups(*local_group, *local_leader, *remote_group, *remote_leader, stringtag_c, *info, *errhandler, newintercomm);
	parvum_text_done(&stringtag_text);
}

MPIF void pmpi_intercomm_create_from_groups_(MPI_Fint *local_group, MPI_Fint *local_leader, MPI_Fint *remote_group, MPI_Fint *remote_leader, char *stringtag, MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *newintercomm, MPI_Fint *ierror, size_t stringtag_length)
{
	struct text stringtag_text;
	char *stringtag_c = parvum_text(&stringtag_text, stringtag, stringtag_length);
	*ierror = PMPI_Intercomm_create_from_groups(*local_group, *local_leader, *remote_group, *remote_leader, stringtag_c, *info, *errhandler, newintercomm);
	parvum_text_done(&stringtag_text);
}

MPIF void mpi_intercomm_merge_(MPI_Fint *intercomm, MPI_Fint *high, MPI_Fint *newintracomm, MPI_Fint *ierror)
{
	*ierror = MPI_Intercomm_merge(*intercomm, *high, newintracomm);
}

MPIF void pmpi_intercomm_merge_(MPI_Fint *intercomm, MPI_Fint *high, MPI_Fint *newintracomm, MPI_Fint *ierror)
{
	*ierror = PMPI_Intercomm_merge(*intercomm, *high, newintracomm);
}

MPIF void mpi_iprobe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Iprobe(*source, *tag, *comm, flag, wanted(status));
}

MPIF void pmpi_iprobe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Iprobe(*source, *tag, *comm, flag, wanted(status));
}

MPIF void mpi_irecv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Irecv(data(buf), *count, *datatype, *source, *tag, *comm, request);
}

MPIF void pmpi_irecv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Irecv(data(buf), *count, *datatype, *source, *tag, *comm, request);
}

MPIF void mpi_ireduce_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ireduce(data(sendbuf), data(recvbuf), *count, *datatype, *op, *root, *comm, request);
}

MPIF void pmpi_ireduce_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ireduce(data(sendbuf), data(recvbuf), *count, *datatype, *op, *root, *comm, request);
}

MPIF void mpi_ireduce_scatter_(void *sendbuf, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ireduce_scatter(data(sendbuf), data(recvbuf), recvcounts, *datatype, *op, *comm, request);
}

MPIF void pmpi_ireduce_scatter_(void *sendbuf, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ireduce_scatter(data(sendbuf), data(recvbuf), recvcounts, *datatype, *op, *comm, request);
}

MPIF void mpi_ireduce_scatter_block_(void *sendbuf, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ireduce_scatter_block(data(sendbuf), data(recvbuf), *recvcount, *datatype, *op, *comm, request);
}

MPIF void pmpi_ireduce_scatter_block_(void *sendbuf, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ireduce_scatter_block(data(sendbuf), data(recvbuf), *recvcount, *datatype, *op, *comm, request);
}

MPIF void mpi_irsend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Irsend(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void pmpi_irsend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Irsend(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void mpi_is_thread_main_(MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_Is_thread_main(flag);
}

MPIF void pmpi_is_thread_main_(MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_Is_thread_main(flag);
}

MPIF void mpi_iscan_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Iscan(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, request);
}

MPIF void pmpi_iscan_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Iscan(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, request);
}

MPIF void mpi_iscatter_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Iscatter(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, request);
}

MPIF void pmpi_iscatter_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Iscatter(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, request);
}

MPIF void mpi_iscatterv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *displs, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Iscatterv(data(sendbuf), sendcounts, displs, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, request);
}

MPIF void pmpi_iscatterv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *displs, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Iscatterv(data(sendbuf), sendcounts, displs, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, request);
}

MPIF void mpi_isend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Isend(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void pmpi_isend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Isend(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void mpi_isendrecv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, MPI_Fint *dest, MPI_Fint *sendtag, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Isendrecv(data(sendbuf), *sendcount, *sendtype, *dest, *sendtag, data(recvbuf), *recvcount, *recvtype, *source, *recvtag, *comm, request);
}

MPIF void pmpi_isendrecv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, MPI_Fint *dest, MPI_Fint *sendtag, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Isendrecv(data(sendbuf), *sendcount, *sendtype, *dest, *sendtag, data(recvbuf), *recvcount, *recvtype, *source, *recvtag, *comm, request);
}

MPIF void mpi_isendrecv_replace_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *sendtag, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Isendrecv_replace(data(buf), *count, *datatype, *dest, *sendtag, *source, *recvtag, *comm, request);
}

MPIF void pmpi_isendrecv_replace_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *sendtag, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Isendrecv_replace(data(buf), *count, *datatype, *dest, *sendtag, *source, *recvtag, *comm, request);
}

MPIF void mpi_issend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Issend(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void pmpi_issend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Issend(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void mpi_keyval_free_(MPI_Fint *keyval, MPI_Fint *ierror)
{
	*ierror = MPI_Keyval_free(keyval);
}

MPIF void pmpi_keyval_free_(MPI_Fint *keyval, MPI_Fint *ierror)
{
	*ierror = PMPI_Keyval_free(keyval);
}

MPIF void mpi_lookup_name_(char *service_name, MPI_Fint *info, char *port_name, MPI_Fint *ierror, size_t service_name_length, size_t port_name_length)
{
	struct text service_name_text;
	char *service_name_c = parvum_text(&service_name_text, service_name, service_name_length);
	char port_name_c[MPI_MAX_PORT_NAME + 1] = "";
	*ierror = MPI_Lookup_name(service_name_c, *info, port_name_c);
	parvum_text_done(&service_name_text);
	if (!*ierror) parvum_give_text(port_name, port_name_length, port_name_c);
}

MPIF void pmpi_lookup_name_(char *service_name, MPI_Fint *info, char *port_name, MPI_Fint *ierror, size_t service_name_length, size_t port_name_length)
{
	struct text service_name_text;
	char *service_name_c = parvum_text(&service_name_text, service_name, service_name_length);
	char port_name_c[MPI_MAX_PORT_NAME + 1] = "";
	*ierror = PMPI_Lookup_name(service_name_c, *info, port_name_c);
	parvum_text_done(&service_name_text);
	if (!*ierror) parvum_give_text(port_name, port_name_length, port_name_c);
}

MPIF void mpi_mprobe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Mprobe(*source, *tag, *comm, message, wanted(status));
}

MPIF void pmpi_mprobe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Mprobe(*source, *tag, *comm, message, wanted(status));
}

MPIF void mpi_mrecv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Mrecv(data(buf), *count, *datatype, message, wanted(status));
}

MPIF void pmpi_mrecv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Mrecv(data(buf), *count, *datatype, message, wanted(status));
}

MPIF void mpi_neighbor_allgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_allgather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm);
}

MPIF void pmpi_neighbor_allgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_allgather(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm);
}

MPIF void mpi_neighbor_allgather_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_allgather_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, *info, request);
}

MPIF void pmpi_neighbor_allgather_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_allgather_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, *info, request);
}

MPIF void mpi_neighbor_allgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_allgatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm);
}

MPIF void pmpi_neighbor_allgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_allgatherv(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm);
}

MPIF void mpi_neighbor_allgatherv_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_allgatherv_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm, *info, request);
}

MPIF void pmpi_neighbor_allgatherv_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_allgatherv_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), recvcounts, displs, *recvtype, *comm, *info, request);
}

MPIF void mpi_neighbor_alltoall_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_alltoall(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm);
}

MPIF void pmpi_neighbor_alltoall_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_alltoall(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm);
}

MPIF void mpi_neighbor_alltoall_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_alltoall_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, *info, request);
}

MPIF void pmpi_neighbor_alltoall_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_alltoall_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *comm, *info, request);
}

MPIF void mpi_neighbor_alltoallv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_alltoallv(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm);
}

MPIF void pmpi_neighbor_alltoallv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_alltoallv(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm);
}

MPIF void mpi_neighbor_alltoallv_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_alltoallv_init(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm, *info, request);
}

MPIF void pmpi_neighbor_alltoallv_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_alltoallv_init(data(sendbuf), sendcounts, sdispls, *sendtype, data(recvbuf), recvcounts, rdispls, *recvtype, *comm, *info, request);
}

MPIF void mpi_neighbor_alltoallw_(void *sendbuf, MPI_Fint *sendcounts, MPI_Aint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Aint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_alltoallw(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm);
}

MPIF void pmpi_neighbor_alltoallw_(void *sendbuf, MPI_Fint *sendcounts, MPI_Aint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Aint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_alltoallw(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm);
}

MPIF void mpi_neighbor_alltoallw_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Aint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Aint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Neighbor_alltoallw_init(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm, *info, request);
}

MPIF void pmpi_neighbor_alltoallw_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Aint *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, MPI_Aint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Neighbor_alltoallw_init(data(sendbuf), sendcounts, sdispls, sendtypes, data(recvbuf), recvcounts, rdispls, recvtypes, *comm, *info, request);
}

MPIF void mpi_op_commutative_(MPI_Fint *op, MPI_Fint *commute, MPI_Fint *ierror)
{
	*ierror = MPI_Op_commutative(*op, commute);
}

MPIF void pmpi_op_commutative_(MPI_Fint *op, MPI_Fint *commute, MPI_Fint *ierror)
{
	*ierror = PMPI_Op_commutative(*op, commute);
}

MPIF void mpi_op_create_(void (*user_fn)(void), MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror)
{
	*ierror = MPI_Op_create((void *)user_fn, *commute, op);
}

MPIF void pmpi_op_create_(void (*user_fn)(void), MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror)
{
	*ierror = PMPI_Op_create((void *)user_fn, *commute, op);
}

MPIF void mpi_op_free_(MPI_Fint *op, MPI_Fint *ierror)
{
	*ierror = MPI_Op_free(op);
}

MPIF void pmpi_op_free_(MPI_Fint *op, MPI_Fint *ierror)
{
	*ierror = PMPI_Op_free(op);
}

MPIF void mpi_open_port_(MPI_Fint *info, char *port_name, MPI_Fint *ierror, size_t port_name_length)
{
	char port_name_c[MPI_MAX_PORT_NAME + 1] = "";
	*ierror = MPI_Open_port(*info, port_name_c);
	if (!*ierror) parvum_give_text(port_name, port_name_length, port_name_c);
}

MPIF void pmpi_open_port_(MPI_Fint *info, char *port_name, MPI_Fint *ierror, size_t port_name_length)
{
	char port_name_c[MPI_MAX_PORT_NAME + 1] = "";
	*ierror = PMPI_Open_port(*info, port_name_c);
	if (!*ierror) parvum_give_text(port_name, port_name_length, port_name_c);
}

MPIF void mpi_pack_(void *inbuf, MPI_Fint *incount, MPI_Fint *datatype, void *outbuf, MPI_Fint *outsize, MPI_Fint *position, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Pack(data(inbuf), *incount, *datatype, data(outbuf), *outsize, position, *comm);
}

MPIF void pmpi_pack_(void *inbuf, MPI_Fint *incount, MPI_Fint *datatype, void *outbuf, MPI_Fint *outsize, MPI_Fint *position, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Pack(data(inbuf), *incount, *datatype, data(outbuf), *outsize, position, *comm);
}

MPIF void mpi_pack_external_(char *datarep, void *inbuf, MPI_Fint *incount, MPI_Fint *datatype, void *outbuf, MPI_Aint *outsize, MPI_Aint *position, MPI_Fint *ierror, size_t datarep_length)
{
	struct text datarep_text;
	char *datarep_c = parvum_text(&datarep_text, datarep, datarep_length);
	*ierror = MPI_Pack_external(datarep_c, data(inbuf), *incount, *datatype, data(outbuf), *outsize, position);
	parvum_text_done(&datarep_text);
}

MPIF void pmpi_pack_external_(char *datarep, void *inbuf, MPI_Fint *incount, MPI_Fint *datatype, void *outbuf, MPI_Aint *outsize, MPI_Aint *position, MPI_Fint *ierror, size_t datarep_length)
{
	struct text datarep_text;
	char *datarep_c = parvum_text(&datarep_text, datarep, datarep_length);
	*ierror = PMPI_Pack_external(datarep_c, data(inbuf), *incount, *datatype, data(outbuf), *outsize, position);
	parvum_text_done(&datarep_text);
}

MPIF void mpi_pack_external_size_(char *datarep, MPI_Fint *incount, MPI_Fint *datatype, MPI_Aint *size, MPI_Fint *ierror, size_t datarep_length)
{
	struct text datarep_text;
	char *datarep_c = parvum_text(&datarep_text, datarep, datarep_length);
	*ierror = MPI_Pack_external_size(datarep_c, *incount, *datatype, size);
	parvum_text_done(&datarep_text);
}

MPIF void pmpi_pack_external_size_(char *datarep, MPI_Fint *incount, MPI_Fint *datatype, MPI_Aint *size, MPI_Fint *ierror, size_t datarep_length)
{
	struct text datarep_text;
	char *datarep_c = parvum_text(&datarep_text, datarep, datarep_length);
	*ierror = PMPI_Pack_external_size(datarep_c, *incount, *datatype, size);
	parvum_text_done(&datarep_text);
}

MPIF void mpi_pack_size_(MPI_Fint *incount, MPI_Fint *datatype, MPI_Fint *comm, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Pack_size(*incount, *datatype, *comm, size);
}

MPIF void pmpi_pack_size_(MPI_Fint *incount, MPI_Fint *datatype, MPI_Fint *comm, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Pack_size(*incount, *datatype, *comm, size);
}

MPIF void mpi_parrived_(MPI_Fint *request, MPI_Fint *partition, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_Parrived(*request, *partition, flag);
}

MPIF void pmpi_parrived_(MPI_Fint *request, MPI_Fint *partition, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_Parrived(*request, *partition, flag);
}

MPIF void mpi_pready_(MPI_Fint *partition, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Pready(*partition, *request);
}

MPIF void pmpi_pready_(MPI_Fint *partition, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Pready(*partition, *request);
}

MPIF void mpi_pready_list_(MPI_Fint *length, MPI_Fint *array_of_partitions, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Pready_list(*length, array_of_partitions, *request);
}

MPIF void pmpi_pready_list_(MPI_Fint *length, MPI_Fint *array_of_partitions, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Pready_list(*length, array_of_partitions, *request);
}

MPIF void mpi_pready_range_(MPI_Fint *partition_low, MPI_Fint *partition_high, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Pready_range(*partition_low, *partition_high, *request);
}

MPIF void pmpi_pready_range_(MPI_Fint *partition_low, MPI_Fint *partition_high, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Pready_range(*partition_low, *partition_high, *request);
}

MPIF void mpi_precv_init_(void *buf, MPI_Fint *partitions, MPI_Count *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Precv_init(data(buf), *partitions, *count, *datatype, *dest, *tag, *comm, *info, request);
}

MPIF void pmpi_precv_init_(void *buf, MPI_Fint *partitions, MPI_Count *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Precv_init(data(buf), *partitions, *count, *datatype, *dest, *tag, *comm, *info, request);
}

MPIF void mpi_probe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Probe(*source, *tag, *comm, wanted(status));
}

MPIF void pmpi_probe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Probe(*source, *tag, *comm, wanted(status));
}

MPIF void mpi_psend_init_(void *buf, MPI_Fint *partitions, MPI_Count *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Psend_init(data(buf), *partitions, *count, *datatype, *dest, *tag, *comm, *info, request);
}

MPIF void pmpi_psend_init_(void *buf, MPI_Fint *partitions, MPI_Count *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Psend_init(data(buf), *partitions, *count, *datatype, *dest, *tag, *comm, *info, request);
}

MPIF void mpi_publish_name_(char *service_name, MPI_Fint *info, char *port_name, MPI_Fint *ierror, size_t service_name_length, size_t port_name_length)
{
	struct text service_name_text;
	char *service_name_c = parvum_text(&service_name_text, service_name, service_name_length);
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = MPI_Publish_name(service_name_c, *info, port_name_c);
	parvum_text_done(&service_name_text);
	parvum_text_done(&port_name_text);
}

MPIF void pmpi_publish_name_(char *service_name, MPI_Fint *info, char *port_name, MPI_Fint *ierror, size_t service_name_length, size_t port_name_length)
{
	struct text service_name_text;
	char *service_name_c = parvum_text(&service_name_text, service_name, service_name_length);
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = PMPI_Publish_name(service_name_c, *info, port_name_c);
	parvum_text_done(&service_name_text);
	parvum_text_done(&port_name_text);
}

MPIF void mpi_put_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Put(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *win);
}

MPIF void pmpi_put_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Put(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *win);
}

MPIF void mpi_query_thread_(MPI_Fint *provided, MPI_Fint *ierror)
{
	*ierror = MPI_Query_thread(provided);
}

MPIF void pmpi_query_thread_(MPI_Fint *provided, MPI_Fint *ierror)
{
	*ierror = PMPI_Query_thread(provided);
}

MPIF void mpi_raccumulate_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *op, MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Raccumulate(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *op, *win, request);
}

MPIF void pmpi_raccumulate_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *op, MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Raccumulate(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *op, *win, request);
}

MPIF void mpi_recv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Recv(data(buf), *count, *datatype, *source, *tag, *comm, wanted(status));
}

MPIF void pmpi_recv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Recv(data(buf), *count, *datatype, *source, *tag, *comm, wanted(status));
}

MPIF void mpi_recv_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Recv_init(data(buf), *count, *datatype, *source, *tag, *comm, request);
}

MPIF void pmpi_recv_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Recv_init(data(buf), *count, *datatype, *source, *tag, *comm, request);
}

MPIF void mpi_reduce_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Reduce(data(sendbuf), data(recvbuf), *count, *datatype, *op, *root, *comm);
}

MPIF void pmpi_reduce_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Reduce(data(sendbuf), data(recvbuf), *count, *datatype, *op, *root, *comm);
}

MPIF void mpi_reduce_init_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Reduce_init(data(sendbuf), data(recvbuf), *count, *datatype, *op, *root, *comm, *info, request);
}

MPIF void pmpi_reduce_init_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Reduce_init(data(sendbuf), data(recvbuf), *count, *datatype, *op, *root, *comm, *info, request);
}

MPIF void mpi_reduce_local_(void *inbuf, void *inoutbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *ierror)
{
	*ierror = MPI_Reduce_local(data(inbuf), data(inoutbuf), *count, *datatype, *op);
}

MPIF void pmpi_reduce_local_(void *inbuf, void *inoutbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *ierror)
{
	*ierror = PMPI_Reduce_local(data(inbuf), data(inoutbuf), *count, *datatype, *op);
}

MPIF void mpi_reduce_scatter_(void *sendbuf, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Reduce_scatter(data(sendbuf), data(recvbuf), recvcounts, *datatype, *op, *comm);
}

MPIF void pmpi_reduce_scatter_(void *sendbuf, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Reduce_scatter(data(sendbuf), data(recvbuf), recvcounts, *datatype, *op, *comm);
}

MPIF void mpi_reduce_scatter_block_(void *sendbuf, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Reduce_scatter_block(data(sendbuf), data(recvbuf), *recvcount, *datatype, *op, *comm);
}

MPIF void pmpi_reduce_scatter_block_(void *sendbuf, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Reduce_scatter_block(data(sendbuf), data(recvbuf), *recvcount, *datatype, *op, *comm);
}

MPIF void mpi_reduce_scatter_block_init_(void *sendbuf, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Reduce_scatter_block_init(data(sendbuf), data(recvbuf), *recvcount, *datatype, *op, *comm, *info, request);
}

MPIF void pmpi_reduce_scatter_block_init_(void *sendbuf, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Reduce_scatter_block_init(data(sendbuf), data(recvbuf), *recvcount, *datatype, *op, *comm, *info, request);
}

MPIF void mpi_reduce_scatter_init_(void *sendbuf, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Reduce_scatter_init(data(sendbuf), data(recvbuf), recvcounts, *datatype, *op, *comm, *info, request);
}

MPIF void pmpi_reduce_scatter_init_(void *sendbuf, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Reduce_scatter_init(data(sendbuf), data(recvbuf), recvcounts, *datatype, *op, *comm, *info, request);
}

MPIF void mpi_remove_error_class_(MPI_Fint *errorclass, MPI_Fint *ierror)
{
	*ierror = MPI_Remove_error_class(*errorclass);
}

MPIF void pmpi_remove_error_class_(MPI_Fint *errorclass, MPI_Fint *ierror)
{
	*ierror = PMPI_Remove_error_class(*errorclass);
}

MPIF void mpi_remove_error_code_(MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = MPI_Remove_error_code(*errorcode);
}

MPIF void pmpi_remove_error_code_(MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = PMPI_Remove_error_code(*errorcode);
}

MPIF void mpi_remove_error_string_(MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = MPI_Remove_error_string(*errorcode);
}

MPIF void pmpi_remove_error_string_(MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = PMPI_Remove_error_string(*errorcode);
}

MPIF void mpi_request_free_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Request_free(request);
}

MPIF void pmpi_request_free_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Request_free(request);
}

MPIF void mpi_request_get_status_(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Request_get_status(*request, flag, wanted(status));
}

MPIF void pmpi_request_get_status_(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Request_get_status(*request, flag, wanted(status));
}

MPIF void mpi_request_get_status_all_(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *flag, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	*ierror = MPI_Request_get_status_all(*count, array_of_requests, flag, wanted(array_of_statuses));
}

MPIF void pmpi_request_get_status_all_(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *flag, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	*ierror = PMPI_Request_get_status_all(*count, array_of_requests, flag, wanted(array_of_statuses));
}

MPIF void mpi_rget_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Rget(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *win, request);
}

MPIF void pmpi_rget_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Rget(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *win, request);
}

MPIF void mpi_rget_accumulate_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, void *result_addr, MPI_Fint *result_count, MPI_Fint *result_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *op, MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Rget_accumulate(data(origin_addr), *origin_count, *origin_datatype, data(result_addr), *result_count, *result_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *op, *win, request);
}

MPIF void pmpi_rget_accumulate_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, void *result_addr, MPI_Fint *result_count, MPI_Fint *result_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *op, MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Rget_accumulate(data(origin_addr), *origin_count, *origin_datatype, data(result_addr), *result_count, *result_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *op, *win, request);
}

MPIF void mpi_rput_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Rput(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *win, request);
}

MPIF void pmpi_rput_(void *origin_addr, MPI_Fint *origin_count, MPI_Fint *origin_datatype, MPI_Fint *target_rank, MPI_Aint *target_disp, MPI_Fint *target_count, MPI_Fint *target_datatype, MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Rput(data(origin_addr), *origin_count, *origin_datatype, *target_rank, *target_disp, *target_count, *target_datatype, *win, request);
}

MPIF void mpi_rsend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Rsend(data(buf), *count, *datatype, *dest, *tag, *comm);
}

MPIF void pmpi_rsend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Rsend(data(buf), *count, *datatype, *dest, *tag, *comm);
}

MPIF void mpi_rsend_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Rsend_init(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void pmpi_rsend_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Rsend_init(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void mpi_scan_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Scan(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm);
}

MPIF void pmpi_scan_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Scan(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm);
}

MPIF void mpi_scan_init_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Scan_init(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, *info, request);
}

MPIF void pmpi_scan_init_(void *sendbuf, void *recvbuf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Scan_init(data(sendbuf), data(recvbuf), *count, *datatype, *op, *comm, *info, request);
}

MPIF void mpi_scatter_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Scatter(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm);
}

MPIF void pmpi_scatter_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Scatter(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm);
}

MPIF void mpi_scatter_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Scatter_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, *info, request);
}

MPIF void pmpi_scatter_init_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Scatter_init(data(sendbuf), *sendcount, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, *info, request);
}

MPIF void mpi_scatterv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *displs, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Scatterv(data(sendbuf), sendcounts, displs, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm);
}

MPIF void pmpi_scatterv_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *displs, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Scatterv(data(sendbuf), sendcounts, displs, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm);
}

MPIF void mpi_scatterv_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *displs, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Scatterv_init(data(sendbuf), sendcounts, displs, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, *info, request);
}

MPIF void pmpi_scatterv_init_(void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *displs, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Scatterv_init(data(sendbuf), sendcounts, displs, *sendtype, data(recvbuf), *recvcount, *recvtype, *root, *comm, *info, request);
}

MPIF void mpi_send_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Send(data(buf), *count, *datatype, *dest, *tag, *comm);
}

MPIF void pmpi_send_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Send(data(buf), *count, *datatype, *dest, *tag, *comm);
}

MPIF void mpi_send_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Send_init(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void pmpi_send_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Send_init(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void mpi_sendrecv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, MPI_Fint *dest, MPI_Fint *sendtag, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Sendrecv(data(sendbuf), *sendcount, *sendtype, *dest, *sendtag, data(recvbuf), *recvcount, *recvtype, *source, *recvtag, *comm, wanted(status));
}

MPIF void pmpi_sendrecv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, MPI_Fint *dest, MPI_Fint *sendtag, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Sendrecv(data(sendbuf), *sendcount, *sendtype, *dest, *sendtag, data(recvbuf), *recvcount, *recvtype, *source, *recvtag, *comm, wanted(status));
}

MPIF void mpi_sendrecv_replace_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *sendtag, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Sendrecv_replace(data(buf), *count, *datatype, *dest, *sendtag, *source, *recvtag, *comm, wanted(status));
}

MPIF void pmpi_sendrecv_replace_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *sendtag, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Sendrecv_replace(data(buf), *count, *datatype, *dest, *sendtag, *source, *recvtag, *comm, wanted(status));
}

MPIF void mpi_session_attach_buffer_(MPI_Fint *session, void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Session_attach_buffer(*session, data(buffer), *size);
}

MPIF void pmpi_session_attach_buffer_(MPI_Fint *session, void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_attach_buffer(*session, data(buffer), *size);
}

MPIF void mpi_session_call_errhandler_(MPI_Fint *session, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = MPI_Session_call_errhandler(*session, *errorcode);
}

MPIF void pmpi_session_call_errhandler_(MPI_Fint *session, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_call_errhandler(*session, *errorcode);
}

MPIF void mpi_session_create_errhandler_(void (*session_errhandler_fn)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Session_create_errhandler((void *)session_errhandler_fn, errhandler);
}

MPIF void pmpi_session_create_errhandler_(void (*session_errhandler_fn)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_create_errhandler((void *)session_errhandler_fn, errhandler);
}

MPIF void mpi_session_finalize_(MPI_Fint *session, MPI_Fint *ierror)
{
	*ierror = MPI_Session_finalize(session);
}

MPIF void pmpi_session_finalize_(MPI_Fint *session, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_finalize(session);
}

MPIF void mpi_session_flush_buffer_(MPI_Fint *session, MPI_Fint *ierror)
{
	*ierror = MPI_Session_flush_buffer(*session);
}

MPIF void pmpi_session_flush_buffer_(MPI_Fint *session, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_flush_buffer(*session);
}

MPIF void mpi_session_get_errhandler_(MPI_Fint *session, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Session_get_errhandler(*session, errhandler);
}

MPIF void pmpi_session_get_errhandler_(MPI_Fint *session, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_get_errhandler(*session, errhandler);
}

MPIF void mpi_session_get_info_(MPI_Fint *session, MPI_Fint *info_used, MPI_Fint *ierror)
{
	*ierror = MPI_Session_get_info(*session, info_used);
}

MPIF void pmpi_session_get_info_(MPI_Fint *session, MPI_Fint *info_used, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_get_info(*session, info_used);
}

MPIF void mpi_session_get_num_psets_(MPI_Fint *session, MPI_Fint *info, MPI_Fint *npset_names, MPI_Fint *ierror)
{
	*ierror = MPI_Session_get_num_psets(*session, *info, npset_names);
}

MPIF void pmpi_session_get_num_psets_(MPI_Fint *session, MPI_Fint *info, MPI_Fint *npset_names, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_get_num_psets(*session, *info, npset_names);
}

MPIF void mpi_session_get_pset_info_(MPI_Fint *session, char *pset_name, MPI_Fint *info, MPI_Fint *ierror, size_t pset_name_length)
{
	struct text pset_name_text;
	char *pset_name_c = parvum_text(&pset_name_text, pset_name, pset_name_length);
	*ierror = MPI_Session_get_pset_info(*session, pset_name_c, info);
	parvum_text_done(&pset_name_text);
}

MPIF void pmpi_session_get_pset_info_(MPI_Fint *session, char *pset_name, MPI_Fint *info, MPI_Fint *ierror, size_t pset_name_length)
{
	struct text pset_name_text;
	char *pset_name_c = parvum_text(&pset_name_text, pset_name, pset_name_length);
	*ierror = PMPI_Session_get_pset_info(*session, pset_name_c, info);
	parvum_text_done(&pset_name_text);
}

MPIF void mpi_session_iflush_buffer_(MPI_Fint *session, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Session_iflush_buffer(*session, request);
}

MPIF void pmpi_session_iflush_buffer_(MPI_Fint *session, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_iflush_buffer(*session, request);
}

MPIF void mpi_session_init_(MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *session, MPI_Fint *ierror)
{
	*ierror = MPI_Session_init(*info, *errhandler, session);
}

MPIF void pmpi_session_init_(MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *session, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_init(*info, *errhandler, session);
}

MPIF void mpi_session_set_errhandler_(MPI_Fint *session, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Session_set_errhandler(*session, *errhandler);
}

MPIF void pmpi_session_set_errhandler_(MPI_Fint *session, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Session_set_errhandler(*session, *errhandler);
}

MPIF void mpi_ssend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Ssend(data(buf), *count, *datatype, *dest, *tag, *comm);
}

MPIF void pmpi_ssend_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Ssend(data(buf), *count, *datatype, *dest, *tag, *comm);
}

MPIF void mpi_ssend_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Ssend_init(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void pmpi_ssend_init_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Ssend_init(data(buf), *count, *datatype, *dest, *tag, *comm, request);
}

MPIF void mpi_start_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = MPI_Start(request);
}

MPIF void pmpi_start_(MPI_Fint *request, MPI_Fint *ierror)
{
	*ierror = PMPI_Start(request);
}

MPIF void mpi_startall_(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *ierror)
{
	*ierror = MPI_Startall(*count, array_of_requests);
}

MPIF void pmpi_startall_(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *ierror)
{
	*ierror = PMPI_Startall(*count, array_of_requests);
}

MPIF void mpi_status_get_error_(MPI_Fint *status, MPI_Fint *error, MPI_Fint *ierror)
{
	*ierror = MPI_Status_get_error((const MPI_Status *)status, error);
}

MPIF void pmpi_status_get_error_(MPI_Fint *status, MPI_Fint *error, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_get_error((const MPI_Status *)status, error);
}

MPIF void mpi_status_get_source_(MPI_Fint *status, MPI_Fint *source, MPI_Fint *ierror)
{
	*ierror = MPI_Status_get_source((const MPI_Status *)status, source);
}

MPIF void pmpi_status_get_source_(MPI_Fint *status, MPI_Fint *source, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_get_source((const MPI_Status *)status, source);
}

MPIF void mpi_status_get_tag_(MPI_Fint *status, MPI_Fint *tag, MPI_Fint *ierror)
{
	*ierror = MPI_Status_get_tag((const MPI_Status *)status, tag);
}

MPIF void pmpi_status_get_tag_(MPI_Fint *status, MPI_Fint *tag, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_get_tag((const MPI_Status *)status, tag);
}

MPIF void mpi_status_set_cancelled_(MPI_Fint *status, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_Status_set_cancelled(wanted(status), *flag);
}

MPIF void pmpi_status_set_cancelled_(MPI_Fint *status, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_set_cancelled(wanted(status), *flag);
}

MPIF void mpi_status_set_elements_(MPI_Fint *status, MPI_Fint *datatype, MPI_Fint *count, MPI_Fint *ierror)
{
	*ierror = MPI_Status_set_elements(wanted(status), *datatype, *count);
}

MPIF void pmpi_status_set_elements_(MPI_Fint *status, MPI_Fint *datatype, MPI_Fint *count, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_set_elements(wanted(status), *datatype, *count);
}

MPIF void mpi_status_set_elements_x_(MPI_Fint *status, MPI_Fint *datatype, MPI_Count *count, MPI_Fint *ierror)
{
	*ierror = MPI_Status_set_elements_x(wanted(status), *datatype, *count);
}

MPIF void pmpi_status_set_elements_x_(MPI_Fint *status, MPI_Fint *datatype, MPI_Count *count, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_set_elements_x(wanted(status), *datatype, *count);
}

MPIF void mpi_status_set_error_(MPI_Fint *status, MPI_Fint *error, MPI_Fint *ierror)
{
	*ierror = MPI_Status_set_error(wanted(status), *error);
}

MPIF void pmpi_status_set_error_(MPI_Fint *status, MPI_Fint *error, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_set_error(wanted(status), *error);
}

MPIF void mpi_status_set_source_(MPI_Fint *status, MPI_Fint *source, MPI_Fint *ierror)
{
	*ierror = MPI_Status_set_source(wanted(status), *source);
}

MPIF void pmpi_status_set_source_(MPI_Fint *status, MPI_Fint *source, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_set_source(wanted(status), *source);
}

MPIF void mpi_status_set_tag_(MPI_Fint *status, MPI_Fint *tag, MPI_Fint *ierror)
{
	*ierror = MPI_Status_set_tag(wanted(status), *tag);
}

MPIF void pmpi_status_set_tag_(MPI_Fint *status, MPI_Fint *tag, MPI_Fint *ierror)
{
	*ierror = PMPI_Status_set_tag(wanted(status), *tag);
}

MPIF void mpi_test_(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Test(request, flag, wanted(status));
}

MPIF void pmpi_test_(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Test(request, flag, wanted(status));
}

MPIF void mpi_test_cancelled_(MPI_Fint *status, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_Test_cancelled((const MPI_Status *)status, flag);
}

MPIF void pmpi_test_cancelled_(MPI_Fint *status, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_Test_cancelled((const MPI_Status *)status, flag);
}

MPIF void mpi_testall_(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *flag, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	*ierror = MPI_Testall(*count, array_of_requests, flag, wanted(array_of_statuses));
}

MPIF void pmpi_testall_(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *flag, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	*ierror = PMPI_Testall(*count, array_of_requests, flag, wanted(array_of_statuses));
}

MPIF void mpi_topo_test_(MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Topo_test(*comm, status);
}

MPIF void pmpi_topo_test_(MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Topo_test(*comm, status);
}

MPIF void mpi_type_commit_(MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_commit(datatype);
}

MPIF void pmpi_type_commit_(MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_commit(datatype);
}

MPIF void mpi_type_contiguous_(MPI_Fint *count, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_contiguous(*count, *oldtype, newtype);
}

MPIF void pmpi_type_contiguous_(MPI_Fint *count, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_contiguous(*count, *oldtype, newtype);
}

MPIF void mpi_type_create_darray_(MPI_Fint *size, MPI_Fint *rank, MPI_Fint *ndims, MPI_Fint *array_of_gsizes, MPI_Fint *array_of_distribs, MPI_Fint *array_of_dargs, MPI_Fint *array_of_psizes, MPI_Fint *order, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_darray(*size, *rank, *ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, *order, *oldtype, newtype);
}

MPIF void pmpi_type_create_darray_(MPI_Fint *size, MPI_Fint *rank, MPI_Fint *ndims, MPI_Fint *array_of_gsizes, MPI_Fint *array_of_distribs, MPI_Fint *array_of_dargs, MPI_Fint *array_of_psizes, MPI_Fint *order, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_darray(*size, *rank, *ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, *order, *oldtype, newtype);
}

MPIF void mpi_type_create_f90_complex_(MPI_Fint *p, MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_f90_complex(*p, *r, newtype);
}

MPIF void pmpi_type_create_f90_complex_(MPI_Fint *p, MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_f90_complex(*p, *r, newtype);
}

MPIF void mpi_type_create_f90_integer_(MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_f90_integer(*r, newtype);
}

MPIF void pmpi_type_create_f90_integer_(MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_f90_integer(*r, newtype);
}

MPIF void mpi_type_create_f90_real_(MPI_Fint *p, MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_f90_real(*p, *r, newtype);
}

MPIF void pmpi_type_create_f90_real_(MPI_Fint *p, MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_f90_real(*p, *r, newtype);
}

MPIF void mpi_type_create_hindexed_(MPI_Fint *count, MPI_Fint *array_of_blocklengths, MPI_Aint *array_of_displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_hindexed(*count, array_of_blocklengths, array_of_displacements, *oldtype, newtype);
}

MPIF void pmpi_type_create_hindexed_(MPI_Fint *count, MPI_Fint *array_of_blocklengths, MPI_Aint *array_of_displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_hindexed(*count, array_of_blocklengths, array_of_displacements, *oldtype, newtype);
}

MPIF void mpi_type_create_hindexed_block_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Aint *array_of_displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_hindexed_block(*count, *blocklength, array_of_displacements, *oldtype, newtype);
}

MPIF void pmpi_type_create_hindexed_block_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Aint *array_of_displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_hindexed_block(*count, *blocklength, array_of_displacements, *oldtype, newtype);
}

MPIF void mpi_type_create_hvector_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Aint *stride, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_hvector(*count, *blocklength, *stride, *oldtype, newtype);
}

MPIF void pmpi_type_create_hvector_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Aint *stride, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_hvector(*count, *blocklength, *stride, *oldtype, newtype);
}

MPIF void mpi_type_create_indexed_block_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Fint *array_of_displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_indexed_block(*count, *blocklength, array_of_displacements, *oldtype, newtype);
}

MPIF void pmpi_type_create_indexed_block_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Fint *array_of_displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_indexed_block(*count, *blocklength, array_of_displacements, *oldtype, newtype);
}

MPIF void mpi_type_create_resized_(MPI_Fint *oldtype, MPI_Aint *lb, MPI_Aint *extent, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_resized(*oldtype, *lb, *extent, newtype);
}

MPIF void pmpi_type_create_resized_(MPI_Fint *oldtype, MPI_Aint *lb, MPI_Aint *extent, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_resized(*oldtype, *lb, *extent, newtype);
}

MPIF void mpi_type_create_struct_(MPI_Fint *count, MPI_Fint *array_of_blocklengths, MPI_Aint *array_of_displacements, MPI_Fint *array_of_types, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_struct(*count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}

MPIF void pmpi_type_create_struct_(MPI_Fint *count, MPI_Fint *array_of_blocklengths, MPI_Aint *array_of_displacements, MPI_Fint *array_of_types, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_struct(*count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}

MPIF void mpi_type_create_subarray_(MPI_Fint *ndims, MPI_Fint *array_of_sizes, MPI_Fint *array_of_subsizes, MPI_Fint *array_of_starts, MPI_Fint *order, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_create_subarray(*ndims, array_of_sizes, array_of_subsizes, array_of_starts, *order, *oldtype, newtype);
}

MPIF void pmpi_type_create_subarray_(MPI_Fint *ndims, MPI_Fint *array_of_sizes, MPI_Fint *array_of_subsizes, MPI_Fint *array_of_starts, MPI_Fint *order, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_create_subarray(*ndims, array_of_sizes, array_of_subsizes, array_of_starts, *order, *oldtype, newtype);
}

MPIF void mpi_type_delete_attr_(MPI_Fint *datatype, MPI_Fint *type_keyval, MPI_Fint *ierror)
{
	*ierror = MPI_Type_delete_attr(*datatype, *type_keyval);
}

MPIF void pmpi_type_delete_attr_(MPI_Fint *datatype, MPI_Fint *type_keyval, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_delete_attr(*datatype, *type_keyval);
}

MPIF void mpi_type_dup_(MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_dup(*oldtype, newtype);
}

MPIF void pmpi_type_dup_(MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_dup(*oldtype, newtype);
}

MPIF void mpi_type_free_(MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_free(datatype);
}

MPIF void pmpi_type_free_(MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_free(datatype);
}

MPIF void mpi_type_free_keyval_(MPI_Fint *type_keyval, MPI_Fint *ierror)
{
	*ierror = MPI_Type_free_keyval(type_keyval);
}

MPIF void pmpi_type_free_keyval_(MPI_Fint *type_keyval, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_free_keyval(type_keyval);
}

MPIF void mpi_type_get_contents_(MPI_Fint *datatype, MPI_Fint *max_integers, MPI_Fint *max_addresses, MPI_Fint *max_datatypes, MPI_Fint *array_of_integers, MPI_Aint *array_of_addresses, MPI_Fint *array_of_datatypes, MPI_Fint *ierror)
{
	*ierror = MPI_Type_get_contents(*datatype, *max_integers, *max_addresses, *max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes);
}

MPIF void pmpi_type_get_contents_(MPI_Fint *datatype, MPI_Fint *max_integers, MPI_Fint *max_addresses, MPI_Fint *max_datatypes, MPI_Fint *array_of_integers, MPI_Aint *array_of_addresses, MPI_Fint *array_of_datatypes, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_get_contents(*datatype, *max_integers, *max_addresses, *max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes);
}

MPIF void mpi_type_get_envelope_(MPI_Fint *datatype, MPI_Fint *num_integers, MPI_Fint *num_addresses, MPI_Fint *num_datatypes, MPI_Fint *combiner, MPI_Fint *ierror)
{
	*ierror = MPI_Type_get_envelope(*datatype, num_integers, num_addresses, num_datatypes, combiner);
}

MPIF void pmpi_type_get_envelope_(MPI_Fint *datatype, MPI_Fint *num_integers, MPI_Fint *num_addresses, MPI_Fint *num_datatypes, MPI_Fint *combiner, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_get_envelope(*datatype, num_integers, num_addresses, num_datatypes, combiner);
}

MPIF void mpi_type_get_extent_(MPI_Fint *datatype, MPI_Aint *lb, MPI_Aint *extent, MPI_Fint *ierror)
{
	*ierror = MPI_Type_get_extent(*datatype, lb, extent);
}

MPIF void pmpi_type_get_extent_(MPI_Fint *datatype, MPI_Aint *lb, MPI_Aint *extent, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_get_extent(*datatype, lb, extent);
}

MPIF void mpi_type_get_extent_x_(MPI_Fint *datatype, MPI_Count *lb, MPI_Count *extent, MPI_Fint *ierror)
{
	*ierror = MPI_Type_get_extent_x(*datatype, lb, extent);
}

MPIF void pmpi_type_get_extent_x_(MPI_Fint *datatype, MPI_Count *lb, MPI_Count *extent, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_get_extent_x(*datatype, lb, extent);
}

MPIF void mpi_type_get_name_(MPI_Fint *datatype, char *type_name, MPI_Fint *resultlen, MPI_Fint *ierror, size_t type_name_length)
{
	char type_name_c[MPI_MAX_OBJECT_NAME + 1] = "";
	*ierror = MPI_Type_get_name(*datatype, type_name_c, resultlen);
	if (!*ierror) parvum_give_text(type_name, type_name_length, type_name_c);
}

MPIF void pmpi_type_get_name_(MPI_Fint *datatype, char *type_name, MPI_Fint *resultlen, MPI_Fint *ierror, size_t type_name_length)
{
	char type_name_c[MPI_MAX_OBJECT_NAME + 1] = "";
	*ierror = PMPI_Type_get_name(*datatype, type_name_c, resultlen);
	if (!*ierror) parvum_give_text(type_name, type_name_length, type_name_c);
}

MPIF void mpi_type_get_true_extent_(MPI_Fint *datatype, MPI_Aint *true_lb, MPI_Aint *true_extent, MPI_Fint *ierror)
{
	*ierror = MPI_Type_get_true_extent(*datatype, true_lb, true_extent);
}

MPIF void pmpi_type_get_true_extent_(MPI_Fint *datatype, MPI_Aint *true_lb, MPI_Aint *true_extent, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_get_true_extent(*datatype, true_lb, true_extent);
}

MPIF void mpi_type_get_true_extent_x_(MPI_Fint *datatype, MPI_Count *true_lb, MPI_Count *true_extent, MPI_Fint *ierror)
{
	*ierror = MPI_Type_get_true_extent_x(*datatype, true_lb, true_extent);
}

MPIF void pmpi_type_get_true_extent_x_(MPI_Fint *datatype, MPI_Count *true_lb, MPI_Count *true_extent, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_get_true_extent_x(*datatype, true_lb, true_extent);
}

MPIF void mpi_type_get_value_index_(MPI_Fint *value_type, MPI_Fint *index_type, MPI_Fint *pair_type, MPI_Fint *ierror)
{
	*ierror = MPI_Type_get_value_index(*value_type, *index_type, pair_type);
}

MPIF void pmpi_type_get_value_index_(MPI_Fint *value_type, MPI_Fint *index_type, MPI_Fint *pair_type, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_get_value_index(*value_type, *index_type, pair_type);
}

MPIF void mpi_type_indexed_(MPI_Fint *count, MPI_Fint *array_of_blocklengths, MPI_Fint *array_of_displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_indexed(*count, array_of_blocklengths, array_of_displacements, *oldtype, newtype);
}

MPIF void pmpi_type_indexed_(MPI_Fint *count, MPI_Fint *array_of_blocklengths, MPI_Fint *array_of_displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_indexed(*count, array_of_blocklengths, array_of_displacements, *oldtype, newtype);
}

MPIF void mpi_type_match_size_(MPI_Fint *typeclass, MPI_Fint *size, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_match_size(*typeclass, *size, datatype);
}

MPIF void pmpi_type_match_size_(MPI_Fint *typeclass, MPI_Fint *size, MPI_Fint *datatype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_match_size(*typeclass, *size, datatype);
}

MPIF void mpi_type_set_name_(MPI_Fint *datatype, char *type_name, MPI_Fint *ierror, size_t type_name_length)
{
	struct text type_name_text;
	char *type_name_c = parvum_text(&type_name_text, type_name, type_name_length);
	*ierror = MPI_Type_set_name(*datatype, type_name_c);
	parvum_text_done(&type_name_text);
}

MPIF void pmpi_type_set_name_(MPI_Fint *datatype, char *type_name, MPI_Fint *ierror, size_t type_name_length)
{
	struct text type_name_text;
	char *type_name_c = parvum_text(&type_name_text, type_name, type_name_length);
	*ierror = PMPI_Type_set_name(*datatype, type_name_c);
	parvum_text_done(&type_name_text);
}

MPIF void mpi_type_size_(MPI_Fint *datatype, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Type_size(*datatype, size);
}

MPIF void pmpi_type_size_(MPI_Fint *datatype, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_size(*datatype, size);
}

MPIF void mpi_type_size_x_(MPI_Fint *datatype, MPI_Count *size, MPI_Fint *ierror)
{
	*ierror = MPI_Type_size_x(*datatype, size);
}

MPIF void pmpi_type_size_x_(MPI_Fint *datatype, MPI_Count *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_size_x(*datatype, size);
}

MPIF void mpi_type_vector_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Fint *stride, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = MPI_Type_vector(*count, *blocklength, *stride, *oldtype, newtype);
}

MPIF void pmpi_type_vector_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Fint *stride, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
	*ierror = PMPI_Type_vector(*count, *blocklength, *stride, *oldtype, newtype);
}

MPIF void mpi_unpack_(void *inbuf, MPI_Fint *insize, MPI_Fint *position, void *outbuf, MPI_Fint *outcount, MPI_Fint *datatype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = MPI_Unpack(data(inbuf), *insize, position, data(outbuf), *outcount, *datatype, *comm);
}

MPIF void pmpi_unpack_(void *inbuf, MPI_Fint *insize, MPI_Fint *position, void *outbuf, MPI_Fint *outcount, MPI_Fint *datatype, MPI_Fint *comm, MPI_Fint *ierror)
{
	*ierror = PMPI_Unpack(data(inbuf), *insize, position, data(outbuf), *outcount, *datatype, *comm);
}

MPIF void mpi_unpack_external_(char *datarep, void *inbuf, MPI_Aint *insize, MPI_Aint *position, void *outbuf, MPI_Fint *outcount, MPI_Fint *datatype, MPI_Fint *ierror, size_t datarep_length)
{
	struct text datarep_text;
	char *datarep_c = parvum_text(&datarep_text, datarep, datarep_length);
	*ierror = MPI_Unpack_external(datarep_c, data(inbuf), *insize, position, data(outbuf), *outcount, *datatype);
	parvum_text_done(&datarep_text);
}

MPIF void pmpi_unpack_external_(char *datarep, void *inbuf, MPI_Aint *insize, MPI_Aint *position, void *outbuf, MPI_Fint *outcount, MPI_Fint *datatype, MPI_Fint *ierror, size_t datarep_length)
{
	struct text datarep_text;
	char *datarep_c = parvum_text(&datarep_text, datarep, datarep_length);
	*ierror = PMPI_Unpack_external(datarep_c, data(inbuf), *insize, position, data(outbuf), *outcount, *datatype);
	parvum_text_done(&datarep_text);
}

MPIF void mpi_unpublish_name_(char *service_name, MPI_Fint *info, char *port_name, MPI_Fint *ierror, size_t service_name_length, size_t port_name_length)
{
	struct text service_name_text;
	char *service_name_c = parvum_text(&service_name_text, service_name, service_name_length);
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = MPI_Unpublish_name(service_name_c, *info, port_name_c);
	parvum_text_done(&service_name_text);
	parvum_text_done(&port_name_text);
}

MPIF void pmpi_unpublish_name_(char *service_name, MPI_Fint *info, char *port_name, MPI_Fint *ierror, size_t service_name_length, size_t port_name_length)
{
	struct text service_name_text;
	char *service_name_c = parvum_text(&service_name_text, service_name, service_name_length);
	struct text port_name_text;
	char *port_name_c = parvum_text(&port_name_text, port_name, port_name_length);
	*ierror = PMPI_Unpublish_name(service_name_c, *info, port_name_c);
	parvum_text_done(&service_name_text);
	parvum_text_done(&port_name_text);
}

MPIF void mpi_wait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = MPI_Wait(request, wanted(status));
}

MPIF void pmpi_wait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *ierror)
{
	*ierror = PMPI_Wait(request, wanted(status));
}

MPIF void mpi_waitall_(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	*ierror = MPI_Waitall(*count, array_of_requests, wanted(array_of_statuses));
}

MPIF void pmpi_waitall_(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	*ierror = PMPI_Waitall(*count, array_of_requests, wanted(array_of_statuses));
}

MPIF void mpi_win_allocate_(MPI_Aint *size, MPI_Fint *disp_unit, MPI_Fint *info, MPI_Fint *comm, void *baseptr, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_allocate(*size, *disp_unit, *info, *comm, data(baseptr), win);
}

MPIF void pmpi_win_allocate_(MPI_Aint *size, MPI_Fint *disp_unit, MPI_Fint *info, MPI_Fint *comm, void *baseptr, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_allocate(*size, *disp_unit, *info, *comm, data(baseptr), win);
}

MPIF void mpi_win_allocate_shared_(MPI_Aint *size, MPI_Fint *disp_unit, MPI_Fint *info, MPI_Fint *comm, void *baseptr, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_allocate_shared(*size, *disp_unit, *info, *comm, data(baseptr), win);
}

MPIF void pmpi_win_allocate_shared_(MPI_Aint *size, MPI_Fint *disp_unit, MPI_Fint *info, MPI_Fint *comm, void *baseptr, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_allocate_shared(*size, *disp_unit, *info, *comm, data(baseptr), win);
}

MPIF void mpi_win_attach_(MPI_Fint *win, void *base, MPI_Aint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Win_attach(*win, data(base), *size);
}

MPIF void pmpi_win_attach_(MPI_Fint *win, void *base, MPI_Aint *size, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_attach(*win, data(base), *size);
}

MPIF void mpi_win_call_errhandler_(MPI_Fint *win, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = MPI_Win_call_errhandler(*win, *errorcode);
}

MPIF void pmpi_win_call_errhandler_(MPI_Fint *win, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_call_errhandler(*win, *errorcode);
}

MPIF void mpi_win_complete_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_complete(*win);
}

MPIF void pmpi_win_complete_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_complete(*win);
}

MPIF void mpi_win_create_(void *base, MPI_Aint *size, MPI_Fint *disp_unit, MPI_Fint *info, MPI_Fint *comm, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_create(data(base), *size, *disp_unit, *info, *comm, win);
}

MPIF void pmpi_win_create_(void *base, MPI_Aint *size, MPI_Fint *disp_unit, MPI_Fint *info, MPI_Fint *comm, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_create(data(base), *size, *disp_unit, *info, *comm, win);
}

MPIF void mpi_win_create_dynamic_(MPI_Fint *info, MPI_Fint *comm, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_create_dynamic(*info, *comm, win);
}

MPIF void pmpi_win_create_dynamic_(MPI_Fint *info, MPI_Fint *comm, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_create_dynamic(*info, *comm, win);
}

MPIF void mpi_win_create_errhandler_(void (*win_errhandler_fn)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Win_create_errhandler((void *)win_errhandler_fn, errhandler);
}

MPIF void pmpi_win_create_errhandler_(void (*win_errhandler_fn)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_create_errhandler((void *)win_errhandler_fn, errhandler);
}

MPIF void mpi_win_delete_attr_(MPI_Fint *win, MPI_Fint *win_keyval, MPI_Fint *ierror)
{
	*ierror = MPI_Win_delete_attr(*win, *win_keyval);
}

MPIF void pmpi_win_delete_attr_(MPI_Fint *win, MPI_Fint *win_keyval, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_delete_attr(*win, *win_keyval);
}

MPIF void mpi_win_detach_(MPI_Fint *win, void *base, MPI_Fint *ierror)
{
	*ierror = MPI_Win_detach(*win, data(base));
}

MPIF void pmpi_win_detach_(MPI_Fint *win, void *base, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_detach(*win, data(base));
}

MPIF void mpi_win_fence_(MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_fence(*assert, *win);
}

MPIF void pmpi_win_fence_(MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_fence(*assert, *win);
}

MPIF void mpi_win_flush_(MPI_Fint *rank, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_flush(*rank, *win);
}

MPIF void pmpi_win_flush_(MPI_Fint *rank, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_flush(*rank, *win);
}

MPIF void mpi_win_flush_all_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_flush_all(*win);
}

MPIF void pmpi_win_flush_all_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_flush_all(*win);
}

MPIF void mpi_win_flush_local_(MPI_Fint *rank, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_flush_local(*rank, *win);
}

MPIF void pmpi_win_flush_local_(MPI_Fint *rank, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_flush_local(*rank, *win);
}

MPIF void mpi_win_flush_local_all_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_flush_local_all(*win);
}

MPIF void pmpi_win_flush_local_all_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_flush_local_all(*win);
}

MPIF void mpi_win_free_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_free(win);
}

MPIF void pmpi_win_free_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_free(win);
}

MPIF void mpi_win_free_keyval_(MPI_Fint *win_keyval, MPI_Fint *ierror)
{
	*ierror = MPI_Win_free_keyval(win_keyval);
}

MPIF void pmpi_win_free_keyval_(MPI_Fint *win_keyval, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_free_keyval(win_keyval);
}

MPIF void mpi_win_get_errhandler_(MPI_Fint *win, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Win_get_errhandler(*win, errhandler);
}

MPIF void pmpi_win_get_errhandler_(MPI_Fint *win, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_get_errhandler(*win, errhandler);
}

MPIF void mpi_win_get_group_(MPI_Fint *win, MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = MPI_Win_get_group(*win, group);
}

MPIF void pmpi_win_get_group_(MPI_Fint *win, MPI_Fint *group, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_get_group(*win, group);
}

MPIF void mpi_win_get_info_(MPI_Fint *win, MPI_Fint *info_used, MPI_Fint *ierror)
{
	*ierror = MPI_Win_get_info(*win, info_used);
}

MPIF void pmpi_win_get_info_(MPI_Fint *win, MPI_Fint *info_used, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_get_info(*win, info_used);
}

MPIF void mpi_win_get_name_(MPI_Fint *win, char *win_name, MPI_Fint *resultlen, MPI_Fint *ierror, size_t win_name_length)
{
	char win_name_c[MPI_MAX_OBJECT_NAME + 1] = "";
	*ierror = MPI_Win_get_name(*win, win_name_c, resultlen);
	if (!*ierror) parvum_give_text(win_name, win_name_length, win_name_c);
}

MPIF void pmpi_win_get_name_(MPI_Fint *win, char *win_name, MPI_Fint *resultlen, MPI_Fint *ierror, size_t win_name_length)
{
	char win_name_c[MPI_MAX_OBJECT_NAME + 1] = "";
	*ierror = PMPI_Win_get_name(*win, win_name_c, resultlen);
	if (!*ierror) parvum_give_text(win_name, win_name_length, win_name_c);
}

MPIF void mpi_win_lock_(MPI_Fint *lock_type, MPI_Fint *rank, MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_lock(*lock_type, *rank, *assert, *win);
}

MPIF void pmpi_win_lock_(MPI_Fint *lock_type, MPI_Fint *rank, MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_lock(*lock_type, *rank, *assert, *win);
}

MPIF void mpi_win_lock_all_(MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_lock_all(*assert, *win);
}

MPIF void pmpi_win_lock_all_(MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_lock_all(*assert, *win);
}

MPIF void mpi_win_post_(MPI_Fint *group, MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_post(*group, *assert, *win);
}

MPIF void pmpi_win_post_(MPI_Fint *group, MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_post(*group, *assert, *win);
}

MPIF void mpi_win_set_errhandler_(MPI_Fint *win, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = MPI_Win_set_errhandler(*win, *errhandler);
}

MPIF void pmpi_win_set_errhandler_(MPI_Fint *win, MPI_Fint *errhandler, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_set_errhandler(*win, *errhandler);
}

MPIF void mpi_win_set_info_(MPI_Fint *win, MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = MPI_Win_set_info(*win, *info);
}

MPIF void pmpi_win_set_info_(MPI_Fint *win, MPI_Fint *info, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_set_info(*win, *info);
}

MPIF void mpi_win_set_name_(MPI_Fint *win, char *win_name, MPI_Fint *ierror, size_t win_name_length)
{
	struct text win_name_text;
	char *win_name_c = parvum_text(&win_name_text, win_name, win_name_length);
	*ierror = MPI_Win_set_name(*win, win_name_c);
	parvum_text_done(&win_name_text);
}

MPIF void pmpi_win_set_name_(MPI_Fint *win, char *win_name, MPI_Fint *ierror, size_t win_name_length)
{
	struct text win_name_text;
	char *win_name_c = parvum_text(&win_name_text, win_name, win_name_length);
	*ierror = PMPI_Win_set_name(*win, win_name_c);
	parvum_text_done(&win_name_text);
}

MPIF void mpi_win_shared_query_(MPI_Fint *win, MPI_Fint *rank, MPI_Aint *size, MPI_Fint *disp_unit, void *baseptr, MPI_Fint *ierror)
{
	*ierror = MPI_Win_shared_query(*win, *rank, size, disp_unit, data(baseptr));
}

MPIF void pmpi_win_shared_query_(MPI_Fint *win, MPI_Fint *rank, MPI_Aint *size, MPI_Fint *disp_unit, void *baseptr, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_shared_query(*win, *rank, size, disp_unit, data(baseptr));
}

MPIF void mpi_win_start_(MPI_Fint *group, MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_start(*group, *assert, *win);
}

MPIF void pmpi_win_start_(MPI_Fint *group, MPI_Fint *assert, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_start(*group, *assert, *win);
}

MPIF void mpi_win_sync_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_sync(*win);
}

MPIF void pmpi_win_sync_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_sync(*win);
}

MPIF void mpi_win_test_(MPI_Fint *win, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = MPI_Win_test(*win, flag);
}

MPIF void pmpi_win_test_(MPI_Fint *win, MPI_Fint *flag, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_test(*win, flag);
}

MPIF void mpi_win_unlock_(MPI_Fint *rank, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_unlock(*rank, *win);
}

MPIF void pmpi_win_unlock_(MPI_Fint *rank, MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_unlock(*rank, *win);
}

MPIF void mpi_win_unlock_all_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_unlock_all(*win);
}

MPIF void pmpi_win_unlock_all_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_unlock_all(*win);
}

MPIF void mpi_win_wait_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = MPI_Win_wait(*win);
}

MPIF void pmpi_win_wait_(MPI_Fint *win, MPI_Fint *ierror)
{
	*ierror = PMPI_Win_wait(*win);
}
