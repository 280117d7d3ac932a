/* Mandelbrot's set, row by row: for each point how many steps it takes to leave the circle of radius 2. */
#include "share.h"

#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 1000, PIECES = 8, EVERY = 7 };

void mandelbrot_row(int32_t *row, size_t points, size_t number)
{
    double ci = -1.5 + 3.0 * (double)number / (double)points;
    for (size_t at = 0; at < points; at++) {
        double cr = -2.0 + 3.0 * (double)at / (double)points, re = 0, im = 0;
        int steps = 0;
        while (steps < ITERATIONS && re * re + im * im <= 4) {
            double next = re * re - im * im + cr;
            im = 2 * re * im + ci;
            re = next;
            steps++;
        }
        row[at] = steps;
    }
}

/* Many more pieces than tasks, for some rows take long: but not so many that each is a message's worth of waiting. */
size_t mandelbrot_piece(size_t points, int tasks)
{
    size_t rows = points / (size_t)(PIECES * tasks);
    return rows > 0 ? rows : 1;
}

/* Every seventh row, and the last, once more. */
void mandelbrot_check(const int32_t *picture, size_t points)
{
    int32_t *row = malloc(points * sizeof *row);
    if (row == NULL) fail("no memory for a row");
    for (size_t number = 0; number < points; number++) {
        if (number % EVERY != 0 && number + 1 < points) continue;
        mandelbrot_row(row, points, number);
        if (memcmp(row, picture + number * points, points * sizeof *row) != 0)
            fail("verification failed: row %zu of %zu is another", number, points);
    }
    free(row);
}
