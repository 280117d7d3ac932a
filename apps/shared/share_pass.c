/* By messages: all start when task 0 has heard of all, and what was sent is told to it. */
#include "share.h"

void share_together(const struct team *team)
{
    team_wait_for_all(team);
}

struct traffic traffic_of_memory(void)
{
    return (struct traffic){ 0, 0, 0 };
}

struct traffic share_sum(const struct team *team, struct traffic mine)
{
    int64_t words[2] = { mine.messages, mine.bytes };
    if (team->task != 0) {
        team_send(0, TAG_RESULT, words, 2);
        return mine;
    }
    for (int task = 1; task < team->tasks; task++) {
        team_recv(task, TAG_RESULT, words, 2);
        mine.messages += words[0];
        mine.bytes += words[1];
    }
    return mine;
}
