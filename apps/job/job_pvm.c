/* A task that only enrols and leaves. Whoever starts it starts as many as it wants: it looks for no others. */
#include <pvm3.h>

int main(void)
{
    return pvm_mytid() > 0 && pvm_exit() == 0 ? 0 : 1;
}
