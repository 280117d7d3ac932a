program f08
  use mpi_f08
  implicit none
  integer :: rank, n, x, i
  type(MPI_Status) :: st, sts(2)
  type(MPI_Request) :: req(2)
  type(MPI_Comm) :: c
  type(MPI_Datatype) :: v
  integer :: a(10), b(10)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call MPI_Sendrecv(rank,1,MPI_INTEGER,mod(rank+1,n),3,x,1,MPI_INTEGER,mod(rank+n-1,n),3,MPI_COMM_WORLD,st)
  print *, 'rank', rank, x, st%MPI_SOURCE, st%MPI_TAG
  call MPI_Sendrecv(rank,1,MPI_INTEGER,mod(rank+1,n),3,x,1,MPI_INTEGER,mod(rank+n-1,n),3,MPI_COMM_WORLD,MPI_STATUS_IGNORE)
  call MPI_Irecv(x,1,MPI_INTEGER,mod(rank+1,n),4,MPI_COMM_WORLD,req(1))
  call MPI_Isend(rank,1,MPI_INTEGER,mod(rank+n-1,n),4,MPI_COMM_WORLD,req(2))
  call MPI_Waitall(2, req, MPI_STATUSES_IGNORE)
  print *, 'x', x
  x = rank+1
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  print *, 'sum', x
  a = [(i+rank*100, i=1,10)]; b = 0
  ! strided section: descriptor
  call MPI_Sendrecv(a(1:9:2),5,MPI_INTEGER,mod(rank+1,n),3,b(2:10:2),5,MPI_INTEGER,mod(rank+n-1,n),3,MPI_COMM_WORLD,st)
  print *, 'b', b
  call MPI_Type_vector(3,1,2,MPI_INTEGER,v)
  call MPI_Type_commit(v)
  call MPI_Bcast(a,1,v,0,MPI_COMM_WORLD)
  print *, 'a', a
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank,2), -rank, c)
  call MPI_Comm_rank(c, x)
  print *, 'split', x
  call MPI_Comm_free(c)
  call MPI_Finalize()
end program
