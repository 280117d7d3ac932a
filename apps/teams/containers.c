#include "containers.h"

#include "team_pvm.h"

#include <stdio.h>

static ch_container *own[64];
static ch_representative *others[64];

void container_ok(long result, const char *call)
{
    if (result < 0) fail("%s failed: %s", call, ch_error_text((int)result));
}

/* Named after both tasks, so that runs beside each other do not meet, nor do messages of two partners. */
static void name_of(char name[64], int receiver, int sender)
{
    snprintf(name, 64, "t%x from t%x", (unsigned)receiver, (unsigned)sender);
}

ch_container *container_from(int task)
{
    if (own[task] == NULL) {
        char name[64];
        name_of(name, ch_my_task(), team_tids[task]);
        own[task] = ch_container_create(name, 0, 0);
        if (own[task] == NULL) fail("ch_container_create failed: %s", ch_error_text(ch_error()));
        container_ok(ch_bind(NULL, own[task]), "ch_bind");
    }
    return own[task];
}

ch_representative *container_of(int task)
{
    if (others[task] == NULL) {
        char name[64];
        name_of(name, team_tids[task], ch_my_task());
        others[task] = ch_lookup(name, 10000);
        if (others[task] == NULL) fail("ch_lookup of %s failed: %s", name, ch_error_text(ch_error()));
    }
    return others[task];
}
