/*
 * A first PVM program: every task greets task 0, which prints the greetings.
 *
 *     cc greetings.c -o greetings -lpvm3 -lgpvm3
 *     parvum run -n 4 ./greetings 4
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { GREETING = 1 };

int main(int argc, char **argv)
{
    int tasks = argc > 1 ? atoi(argv[1]) : 1;
    int me = pvm_joingroup("greeters"); /* 0, 1, 2, ... in the order of joining */
    if (me < 0)
        return 1; /* PVM has printed the reason */
    pvm_barrier("greeters", tasks); /* now all have joined */

    if (me > 0) {
        char text[80];
        snprintf(text, sizeof text, "hello from task %d, process %ld", me, (long)getpid());
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&me, 1, 1);
        pvm_pkstr(text);
        pvm_send(pvm_gettid("greeters", 0), GREETING);
    } else {
        for (int i = 1; i < tasks; i++) {
            int from;
            char text[80];
            pvm_recv(-1, GREETING); /* from any task */
            pvm_upkint(&from, 1, 1);
            pvm_upkstr(text);
            printf("%d: %s\n", from, text);
        }
    }
    pvm_barrier("greeters", tasks); /* no task leaves while others still ask for tids */
    pvm_exit();
    return 0;
}
