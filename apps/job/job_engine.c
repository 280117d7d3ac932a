/* A task that only joins the machine and leaves it, by the engine's own calls. */
#include <parvum_engine.h>

int main(void)
{
    struct parvum_enrolled me;
    const struct parvum_table *engine = parvum_table();
    return engine->enrol("engine", 6, &me) == PARVUM_STATUS_DONE && engine->depart() == PARVUM_STATUS_DONE ? 0 : 1;
}
