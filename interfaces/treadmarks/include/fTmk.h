! fTmk.h - TreadMarks on Parvum, for Fortran: types of functions, and constants. See treadmarks(7).
      integer tmk_proc_id, tmk_nprocs, tmk_page_size, tmk_statistics
      integer tmk_barrier_kept, tmk_is_alive
      external tmk_barrier_kept, tmk_is_alive
      integer*8 tmk_malloc, tmk_sbrk, tmk_alloc_view
      external tmk_proc_id, tmk_nprocs, tmk_page_size, tmk_statistics
      external tmk_malloc, tmk_sbrk, tmk_alloc_view
      integer TMK_INT, TMK_LONG, TMK_FLOAT, TMK_DOUBLE
      integer TMK_SUM, TMK_PROD, TMK_MIN, TMK_MAX
      parameter (TMK_INT = 1, TMK_LONG = 2, TMK_FLOAT = 3)
      parameter (TMK_DOUBLE = 4)
      parameter (TMK_SUM = 1, TMK_PROD = 2, TMK_MIN = 3, TMK_MAX = 4)
