#include "containers.h"

#include "team_pvm.h"

#include <stdio.h>

static ch_container *own;
static ch_representative *others[64];

void container_ok(long result, const char *call)
{
    if (result < 0) fail("%s failed: %s", call, ch_error_text((int)result));
}

/* Named after the task, so that runs beside each other do not meet. */
ch_container *container_own(void)
{
    if (own == NULL) {
        char name[32];
        snprintf(name, sizeof name, "ring of t%x", (unsigned)ch_my_task());
        own = ch_container_create(name, 0, 0);
        if (own == NULL) fail("ch_container_create failed: %s", ch_error_text(ch_error()));
        container_ok(ch_bind(NULL, own), "ch_bind");
    }
    return own;
}

ch_representative *container_of(int task)
{
    if (others[task] == NULL) {
        char name[32];
        snprintf(name, sizeof name, "ring of t%x", (unsigned)team_tids[task]);
        others[task] = ch_lookup(name, 10000);
        if (others[task] == NULL) fail("ch_lookup of %s failed: %s", name, ch_error_text(ch_error()));
    }
    return others[task];
}
