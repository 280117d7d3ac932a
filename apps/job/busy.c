/* A neighbour that computes all the time on one core, and never waits: the last core of --cpus. */
#include "../common/bench.h"

int main(int argc, char **argv)
{
    struct options options;
    options_read(&options, argc, argv);
    if (options.cpu_count == 0) fail("needs --cpus");
    pin_task(&options, options.cpu_count - 1);
    for (volatile unsigned long turns = 0;; turns++)
        ;
}
