/* Gives the program mtile, the worker of xep, a piece of the Mandelbrot set to compute, and says what came back. */
#include <pvm3.h>
#include <stdio.h>

#define WIDE 24
#define HIGH 10

int main(void)
{
    static const char shades[] = " .:-=+*#%@";
    char pixels[WIDE * HIGH];
    double left = -2.0, low = -1.2, right = 0.6, top = 1.2;
    int wide = WIDE, high = HIGH, tid, x, y, bytes = 0;

    if (pvm_mytid() < 0) return 3;
    if (pvm_spawn("mtile", 0, PvmTaskDefault, "", 1, &tid) != 1) return 4;
    pvm_packf("%+ %lf %lf %lf %lf %d %d", PvmDataDefault, left, low, right, top, wide, high);
    pvm_send(tid, 1);
    pvm_bufinfo(pvm_recv(tid, -1), &bytes, 0, 0);
    printf("%d bytes\n", bytes);
    if (pvm_unpackf("%*c", bytes < WIDE * HIGH ? bytes : WIDE * HIGH, pixels) < 0) return 5;
    for (y = 0; y < HIGH; y++) {
        for (x = 0; x < WIDE; x++) putchar(shades[(unsigned char)pixels[y * WIDE + x] % 10]);
        putchar('\n');
    }
    pvm_kill(tid);
    pvm_exit();
    return 0;
}
