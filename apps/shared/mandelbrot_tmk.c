/* Mandelbrot's set in shared memory: the pool is a number under a lock, and each writes its rows into the picture. With HYBRID the
   rows go to task 0 by PVM, and only the pool is shared. */
#include "share_tmk.h"

#include <stdlib.h>
#include <string.h>

const char share_name[] = "mandelbrot";
enum { POOL = 1 };
static int32_t *picture;
static int *next;

static size_t take(size_t points, size_t piece)
{
    Tmk_lock_acquire(POOL);
    size_t first = (size_t)*next;
    if (first < points) *next += (int)piece;
    Tmk_lock_release(POOL);
    return first;
}

#ifdef HYBRID
static void hand_over(const struct team *team, size_t points, size_t piece)
{
    size_t pieces = (points + piece - 1) / piece, own = 0, first, bytes = (1 + piece * points) * sizeof *picture;
    int32_t *result = calloc(1, bytes);
    if (result == NULL) fail("no memory for a piece");
    if (team->task == 0) {
        picture = malloc(points * points * sizeof *picture);
        if (picture == NULL) fail("no memory for the picture");
    }
    while ((first = take(points, piece)) < points) {
        int32_t *to = team->task == 0 ? picture + first * points : result + 1;
        for (size_t row = first; row < points && row < first + piece; row++) mandelbrot_row(to + (row - first) * points, points, row);
        result[0] = (int32_t)first;
        if (team->task != 0) share_send(0, TAG_DATA, result, bytes);
        own++;
    }
    for (size_t came = own; team->task == 0 && came < pieces; came++) {
        share_any(TAG_DATA, result, bytes, 1);
        first = (size_t)result[0];
        size_t rows = first + piece < points ? piece : points - first;
        memcpy(picture + first * points, result + 1, rows * points * sizeof *picture);
    }
    free(result);
}
#else
static void hand_over(const struct team *team, size_t points, size_t piece)
{
    size_t first;
    (void)team;
    picture = share_make(points * points * sizeof *picture);
    while ((first = take(points, piece)) < points)
        for (size_t row = first; row < points && row < first + piece; row++) mandelbrot_row(picture + row * points, points, row);
}
#endif

/* Task 0 has the picture in the end: it looks at all of it. */
static void look(size_t points)
{
    volatile int32_t seen = 0;
    for (size_t at = 0; at < points * points; at += Tmk_page_size / sizeof *picture) seen += picture[at];
}

void share_run(const struct options *options, const struct team *team, size_t size)
{
    (void)options;
    next = share_make(sizeof *next);
    if (team->task == 0) *next = 0;
    Tmk_barrier(1);
    hand_over(team, size, mandelbrot_piece(size, team->tasks));
    Tmk_barrier(1);
    if (team->task == 0) look(size);
}

void share_check(const struct options *options, const struct team *team, size_t size)
{
    (void)options;
    (void)team;
    mandelbrot_check(picture, size);
    Tmk_free((char *)next);
#ifdef HYBRID
    free(picture);
#else
    Tmk_free((char *)picture);
#endif
}
