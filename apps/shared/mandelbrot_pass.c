/* Mandelbrot's set by messages: task 0 has the pool of pieces, deals one to whoever brings one back, and computes itself meanwhile. */
#include "share.h"

#include <stdlib.h>
#include <string.h>

const char share_name[] = "mandelbrot";
static int32_t *picture;

static size_t rows_of(size_t first, size_t piece, size_t points)
{
    return first + piece < points ? piece : points - first;
}

/* A piece as it travels: its first row, and its points. */
static void work(size_t points, size_t piece)
{
    int32_t *result = malloc((1 + piece * points) * sizeof *result), first;
    if (result == NULL) fail("no memory for a piece");
    for (;;) {
        share_recv(0, TAG_CONTROL, &first, sizeof first);
        if (first < 0) break;
        size_t rows = rows_of((size_t)first, piece, points);
        memset(result, 0, (1 + piece * points) * sizeof *result);
        result[0] = first;
        for (size_t row = 0; row < rows; row++) mandelbrot_row(result + 1 + row * points, points, (size_t)first + row);
        share_send(0, TAG_DATA, result, (1 + piece * points) * sizeof *result);
    }
    free(result);
}

static void deal(const struct team *team, size_t points, size_t piece)
{
    int32_t *result = malloc((1 + piece * points) * sizeof *result), none = -1;
    size_t next = 0, mine = 0, mine_end = 0;
    int busy = 0;
    picture = malloc(points * points * sizeof *picture);
    if (result == NULL || picture == NULL) fail("no memory for the picture");
    for (int task = 1; task < team->tasks; task++) {
        int32_t first = next < points ? (int32_t)next : none;
        share_send(task, TAG_CONTROL, &first, sizeof first);
        if (first == none) continue;
        next += piece;
        busy++;
    }
    while (busy > 0 || next < points || mine < mine_end) {
        if (mine == mine_end && next < points) {
            mine = next;
            mine_end = mine + rows_of(mine, piece, points);
            next += piece;
        }
        int from = busy > 0 ? share_any(TAG_DATA, result, (1 + piece * points) * sizeof *result, mine == mine_end) : -1;
        if (from >= 0) {
            size_t came = (size_t)result[0];
            memcpy(picture + came * points, result + 1, rows_of(came, piece, points) * points * sizeof *picture);
            int32_t first = next < points ? (int32_t)next : none;
            share_send(from, TAG_CONTROL, &first, sizeof first);
            if (first == none) busy--;
            else next += piece;
        } else if (mine < mine_end) {
            mandelbrot_row(picture + mine * points, points, mine);
            mine++;
        }
    }
    free(result);
}

void share_run(const struct options *options, const struct team *team, size_t size)
{
    (void)options;
    size_t piece = mandelbrot_piece(size, team->tasks);
    if (team->task == 0) deal(team, size, piece);
    else work(size, piece);
}

void share_check(const struct options *options, const struct team *team, size_t size)
{
    (void)options;
    (void)team;
    mandelbrot_check(picture, size);
    free(picture);
}
