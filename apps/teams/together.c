#include "team.h"

void team_wait_for_all(const struct team *team)
{
    int64_t token = 0;
    if (team->task != 0) {
        team_send(0, TAG_CONTROL, &token, 1);
        team_recv(0, TAG_CONTROL, &token, 1);
        return;
    }
    for (int task = 1; task < team->tasks; task++) team_recv(task, TAG_CONTROL, &token, 1);
    for (int task = 1; task < team->tasks; task++) team_send(task, TAG_CONTROL, &token, 1);
}
