/* The guidelines and their mock-ups. A size is a whole vector in bcast, reduce, allreduce and scan, else a block. */
#include "guidelines.h"

#include <string.h>

#define WORLD MPI_COMM_WORLD

/* The collectives themselves. */
static void barrier(struct place *p) { (void)p; MPI_Barrier(WORLD); }
static void bcast_of(struct place *p, int count)
{
    if (p->rank == p->root) memcpy(p->out, p->in, (size_t)count * sizeof *p->in);
    MPI_Bcast(p->out, count, MPI_DOUBLE, p->root, WORLD);
}
static void bcast(struct place *p) { bcast_of(p, p->count); }
static void reduce(struct place *p) { MPI_Reduce(p->in, p->out, p->count, MPI_DOUBLE, MPI_SUM, p->root, WORLD); }
static void allreduce(struct place *p) { MPI_Allreduce(p->in, p->out, p->count, MPI_DOUBLE, MPI_SUM, WORLD); }
static void gather(struct place *p) { MPI_Gather(p->in, p->count, MPI_DOUBLE, p->out, p->count, MPI_DOUBLE, p->root, WORLD); }
static void scatter(struct place *p) { MPI_Scatter(p->in, p->count, MPI_DOUBLE, p->out, p->count, MPI_DOUBLE, p->root, WORLD); }
static void allgather(struct place *p) { MPI_Allgather(p->in, p->count, MPI_DOUBLE, p->out, p->count, MPI_DOUBLE, WORLD); }
static void alltoall(struct place *p) { MPI_Alltoall(p->in, p->count, MPI_DOUBLE, p->out, p->count, MPI_DOUBLE, WORLD); }
static void reduce_scatter(struct place *p) { MPI_Reduce_scatter_block(p->in, p->out, p->count, MPI_DOUBLE, MPI_SUM, WORLD); }
static void scan(struct place *p) { MPI_Scan(p->in, p->out, p->count, MPI_DOUBLE, MPI_SUM, WORLD); }

/* Mock-ups. */
static void one_allreduce(struct place *p) { MPI_Allreduce(p->in, p->out, 1, MPI_DOUBLE, MPI_SUM, WORLD); }

static void gather_bcast(struct place *p)
{
    gather(p);
    MPI_Bcast(p->out, p->count * p->tasks, MPI_DOUBLE, p->root, WORLD);
}

/* Each process sends its block to all. */
static void allgather_by_alltoall(struct place *p)
{
    for (int i = 0; i < p->tasks; i++) memcpy(p->between + (size_t)i * p->count, p->in, (size_t)p->count * sizeof *p->in);
    MPI_Alltoall(p->between, p->count, MPI_DOUBLE, p->out, p->count, MPI_DOUBLE, WORLD);
}

/* The block of this process among zeros. */
static void spread_own(struct place *p)
{
    memset(p->between, 0, (size_t)p->count * p->tasks * sizeof *p->between);
    memcpy(p->between + (size_t)p->rank * p->count, p->in, (size_t)p->count * sizeof *p->in);
}

static void allgather_by_allreduce(struct place *p)
{
    spread_own(p);
    MPI_Allreduce(p->between, p->out, p->count * p->tasks, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void gather_by_reduce(struct place *p)
{
    spread_own(p);
    MPI_Reduce(p->between, p->out, p->count * p->tasks, MPI_DOUBLE, MPI_SUM, p->root, WORLD);
}

static void reduce_bcast(struct place *p)
{
    reduce(p);
    MPI_Bcast(p->out, p->count, MPI_DOUBLE, p->root, WORLD);
}

static void reduce_scatter_allgather(struct place *p)
{
    MPI_Reduce_scatter_block(p->in, p->between, p->share, MPI_DOUBLE, MPI_SUM, WORLD);
    MPI_Allgather(p->between, p->share, MPI_DOUBLE, p->out, p->share, MPI_DOUBLE, WORLD);
}

static void reduce_scatter_gather(struct place *p)
{
    MPI_Reduce_scatter_block(p->in, p->between, p->share, MPI_DOUBLE, MPI_SUM, WORLD);
    MPI_Gather(p->between, p->share, MPI_DOUBLE, p->out, p->share, MPI_DOUBLE, p->root, WORLD);
}

static void scatter_allgather(struct place *p)
{
    MPI_Scatter(p->in, p->share, MPI_DOUBLE, p->between, p->share, MPI_DOUBLE, p->root, WORLD);
    MPI_Allgather(p->between, p->share, MPI_DOUBLE, p->out, p->share, MPI_DOUBLE, WORLD);
}

static void gatherv(struct place *p)
{
    MPI_Gatherv(p->in, p->count, MPI_DOUBLE, p->out, p->counts, p->places, MPI_DOUBLE, p->root, WORLD);
}

static void scatterv(struct place *p)
{
    MPI_Scatterv(p->in, p->counts, p->places, MPI_DOUBLE, p->out, p->count, MPI_DOUBLE, p->root, WORLD);
}

static void alltoallv(struct place *p)
{
    MPI_Alltoallv(p->in, p->counts, p->places, MPI_DOUBLE, p->out, p->counts, p->places, MPI_DOUBLE, WORLD);
}

/* Everybody gets all blocks, and keeps one. */
static void scatter_by_bcast(struct place *p)
{
    double *all = p->rank == p->root ? p->in : p->between;
    MPI_Bcast(all, p->count * p->tasks, MPI_DOUBLE, p->root, WORLD);
    memcpy(p->out, all + (size_t)p->rank * p->count, (size_t)p->count * sizeof *p->out);
}

static void reduce_then_scatter(struct place *p)
{
    MPI_Reduce(p->in, p->between, p->count * p->tasks, MPI_DOUBLE, MPI_SUM, p->root, WORLD);
    MPI_Scatter(p->between, p->count, MPI_DOUBLE, p->out, p->count, MPI_DOUBLE, p->root, WORLD);
}

static void reduce_scatter_by_allreduce(struct place *p)
{
    MPI_Allreduce(p->in, p->between, p->count * p->tasks, MPI_DOUBLE, MPI_SUM, WORLD);
    memcpy(p->out, p->between + (size_t)p->rank * p->count, (size_t)p->count * sizeof *p->out);
}

static void exscan_reduce_local(struct place *p)
{
    memset(p->out, 0, (size_t)p->count * sizeof *p->out);
    MPI_Exscan(p->in, p->out, p->count, MPI_DOUBLE, MPI_SUM, WORLD);
    MPI_Reduce_local(p->in, p->out, p->count, MPI_DOUBLE, MPI_SUM);
}

/* The same collective of twice as much: its first half is the result. */
static void longer_bcast(struct place *p) { bcast_of(p, 2 * p->count); }
static void longer_reduce(struct place *p) { MPI_Reduce(p->in, p->out, 2 * p->count, MPI_DOUBLE, MPI_SUM, p->root, WORLD); }
static void longer_allreduce(struct place *p) { MPI_Allreduce(p->in, p->out, 2 * p->count, MPI_DOUBLE, MPI_SUM, WORLD); }

static size_t none(const struct place *p) { (void)p; return 0; }
static size_t whole(const struct place *p) { return (size_t)p->count; }
static size_t blocks(const struct place *p) { return (size_t)p->count * (size_t)p->tasks; }

const struct guideline guidelines[] = {
    { "barrier <= allreduce", barrier, one_allreduce, none, 0, 1 },
    { "bcast <= scatter + allgather", bcast, scatter_allgather, whole, 0, 0 },
    { "bcast <= bcast of twice as much", bcast, longer_bcast, whole, 0, 0 },
    { "reduce <= allreduce", reduce, allreduce, whole, 1, 0 },
    { "reduce <= reduce_scatter_block + gather", reduce, reduce_scatter_gather, whole, 1, 0 },
    { "reduce <= reduce of twice as much", reduce, longer_reduce, whole, 1, 0 },
    { "allreduce <= reduce + bcast", allreduce, reduce_bcast, whole, 0, 0 },
    { "allreduce <= reduce_scatter_block + allgather", allreduce, reduce_scatter_allgather, whole, 0, 0 },
    { "allreduce <= allreduce of twice as much", allreduce, longer_allreduce, whole, 0, 0 },
    { "gather <= allgather", gather, allgather, blocks, 1, 0 },
    { "gather <= gatherv", gather, gatherv, blocks, 1, 0 },
    { "gather <= reduce", gather, gather_by_reduce, blocks, 1, 0 },
    { "scatter <= bcast", scatter, scatter_by_bcast, whole, 0, 0 },
    { "scatter <= scatterv", scatter, scatterv, whole, 0, 0 },
    { "allgather <= gather + bcast", allgather, gather_bcast, blocks, 0, 0 },
    { "allgather <= alltoall", allgather, allgather_by_alltoall, blocks, 0, 0 },
    { "allgather <= allreduce", allgather, allgather_by_allreduce, blocks, 0, 0 },
    { "alltoall <= alltoallv", alltoall, alltoallv, blocks, 0, 0 },
    { "reduce_scatter_block <= reduce + scatter", reduce_scatter, reduce_then_scatter, whole, 0, 0 },
    { "reduce_scatter_block <= allreduce", reduce_scatter, reduce_scatter_by_allreduce, whole, 0, 0 },
    { "scan <= exscan + reduce_local", scan, exscan_reduce_local, whole, 0, 0 },
    { NULL, NULL, NULL, NULL, 0, 0 },
};
