/* What the calls share: texts, and tables that are given row by row. */
#include "face.h"

#include <stdlib.h>
#include <string.h>

struct text *parvum_text(struct text *text, const char *characters, size_t length)
{
	/* Some programs end their texts with a null, as C does. */
	length = strnlen(characters, length);
	while (length > 0 && characters[length - 1] == ' ')
		length--;
	text->c = length < sizeof text->small ? text->small : malloc(length + 1);
	if (text->c) {
		memcpy(text->c, characters, length);
		text->c[length] = 0;
	}
	return text;
}

void parvum_text_done(struct text *text)
{
	if (text->c != text->small)
		free(text->c);
}

void parvum_give_text(char *characters, size_t length, const char *c)
{
	if (!characters)
		return;
	size_t have = c ? strnlen(c, length) : 0;
	if (have)
		memcpy(characters, c, have);
	memset(characters + have, ' ', length - have);
}

int parvum_walk_begins(struct walk *walk, const int *count)
{
	if (count && *count == -1)
		walk->next = 0;
	return walk->next == 0;
}

int parvum_walk_step(struct walk *walk)
{
	int row = walk->next++;
	if (walk->next >= walk->count)
		walk->next = 0;
	return row;
}
