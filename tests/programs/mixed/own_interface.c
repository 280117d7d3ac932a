/*
 * An interface in one file: it uses the engine by its C header alone, and no file of Parvum's names it. Its words say what its
 * programs wait in: here for an echo that nobody sends. A second interface has words behind those of the first.
 */
#include "check.h"

#include <parvum_engine.h>
#include <string.h>

enum { CONTEXT = 0xec40, TAG = 7 };

static const char other[] = "interface noise\ncall hush\n";
static const char words[] = "interface:closed echo\ncall shout\ncall await an echo\n";

int main(void)
{
	const struct parvum_table *engine = parvum_table();
	struct parvum_enrolled me;
	struct parvum_message message;
	GIVES(0, (int)engine->describe(other, strlen(other)));
	uint32_t before = engine->describe(words, strlen(words));
	GIVES(1, (int)before);
	GIVES(PARVUM_STATUS_DONE, engine->enrol("echo", 4, &me));
	GIVES(1, (int)engine->describe(words, strlen(words)));
	uint32_t await = PARVUM_CALL_RECEIVE | (before + 2) << 16;
	struct parvum_notes notes = { -1, await, PARVUM_ANY_TASK, TAG, CONTEXT };
	struct parvum_pattern pattern = { PARVUM_ANY_TASK, PARVUM_TAG_EXACTLY, TAG, 0, CONTEXT };
	struct parvum_room room = { .kind = PARVUM_ROOM_BLOCK };
	puts("waits here");
	fflush(stdout);
	return engine->receive(&pattern, &room, &notes, &message);
}
