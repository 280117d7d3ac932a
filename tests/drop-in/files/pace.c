/* How fast tasks start and how fast they meet, as any PVM program would see it.
 *
 *     pace spawn COUNT ROUNDS      milliseconds from pvm_spawn to the first message of the last of COUNT tasks
 *     pace barrier COUNT ROUNDS    microseconds of one barrier of COUNT tasks, the slowest of them
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST = 64, TAG = 1, BARRIERS = 50 };

static double now(void)
{
    struct timeval time;

    gettimeofday(&time, NULL);
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void meet(int count)
{
    double began, each;

    pvm_joingroup("pace");
    while (pvm_gsize("pace") < count)
        usleep(1000);
    pvm_barrier("pace", count);
    began = now();
    for (int round = 0; round < BARRIERS; round++)
        pvm_barrier("pace", count);
    each = (now() - began) / BARRIERS;
    pvm_initsend(PvmDataDefault);
    pvm_pkdouble(&each, 1, 1);
    pvm_send(pvm_parent(), TAG);
    pvm_barrier("pace", count);
    pvm_lvgroup("pace");
}

int main(int argc, char **argv)
{
    char self[512], *role[] = { argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "", NULL };
    int length = (int)readlink("/proc/self/exe", self, sizeof self - 1), tids[MOST];
    int count = argc > 2 ? atoi(argv[2]) : 0, rounds = argc > 3 ? atoi(argv[3]) : 0;

    pvm_mytid();
    if (argc == 3) { /* a copy */
        if (strcmp(argv[1], "barrier") == 0)
            meet(count);
        else {
            pvm_initsend(PvmDataDefault);
            pvm_send(pvm_parent(), TAG);
        }
        pvm_exit();
        return 0;
    }
    if (argc != 4 || length < 1 || count < 1 || count > MOST)
        return 2;
    self[length] = 0;
    for (int round = 0; round < rounds; round++) {
        double began = now(), slowest = 0, each;

        if (pvm_spawn(self, role, PvmTaskDefault, "", count, tids) != count)
            return 1;
        for (int at = 0; at < count; at++) {
            if (pvm_recv(-1, TAG) < 0)
                return 1;
            if (strcmp(argv[1], "barrier") == 0) {
                pvm_upkdouble(&each, 1, 1);
                slowest = each > slowest ? each : slowest;
            }
        }
        printf("%.3f\n", slowest > 0 ? slowest * 1e6 : (now() - began) * 1e3);
        usleep(200000);
    }
    pvm_exit();
    return 0;
}
