#include "pvmtime.h"
#include "../common/bench.h"

#include <pvm3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("pvmtime: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static int number(const char *name, const char *text, int least, int most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < least || value > most)
        refuse("%s is a number from %d to %d, not %s", name, least, most, text);
    return (int)value;
}

static void read_sizes(struct pvmtime *told, const char *list)
{
    for (const char *at = list;;) {
        char *end;
        long size = strtol(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0')) refuse("--sizes is a list of numbers, not %s", list);
        if (size < 4 || size > (1 << 24) || size % 4 != 0) refuse("--sizes are multiples of 4 from 4 to 16777216, not %ld", size);
        if (told->size_count == PVMTIME_SIZES_MAX) refuse("--sizes are at most %d", PVMTIME_SIZES_MAX);
        told->sizes[told->size_count++] = (size_t)size;
        if (*end == '\0') return;
        at = end + 1;
    }
}

/* The place of a word in a list. */
static int one_of(const char *name, const char *word, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(word, words[i]) == 0) return i;
    refuse("%s is not %s", name, word);
}

void pvmtime_options(struct pvmtime *told, int argc, char **argv)
{
    static const char *const tests[] = { "ping-pong", "blast", NULL };
    static const char *const encodings[] = { "default", "raw", "inplace", NULL };
    static const int pvms[] = { PvmDataDefault, PvmDataRaw, PvmDataInPlace };
    static const char *const routes[] = { "dont", "direct", NULL };
    *told = (struct pvmtime){ .messages = 1024, .encoding = PvmDataDefault };
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (i + 1 == argc) refuse("unknown argument, or its value is missing: %s", name);
        const char *value = argv[++i];
        if (strcmp(name, "--test") == 0) told->blast = one_of(name, value, tests);
        else if (strcmp(name, "--level") == 0) told->level = number(name, value, 0, PACK_LEVELS - 1);
        else if (strcmp(name, "--messages") == 0) told->messages = number(name, value, 1, 1 << 20);
        else if (strcmp(name, "--fragment") == 0) told->fragment = number(name, value, 1024, 1 << 20);
        else if (strcmp(name, "--compute-us") == 0) told->compute_us = number(name, value, 0, 1000000);
        else if (strcmp(name, "--encoding") == 0) told->encoding = pvms[one_of(name, value, encodings)];
        else if (strcmp(name, "--route") == 0) told->direct = one_of(name, value, routes);
        else if (strcmp(name, "--sizes") == 0) read_sizes(told, value);
        else if (strcmp(name, "--config") == 0) told->config = value;
        else if (strcmp(name, "--out") == 0) told->out = value;
        /* The laboratory says these to every program; here the configuration file decides. */
        else if (strcmp(name, "--tasks") != 0 && strcmp(name, "--cpus") != 0) refuse("unknown argument: %s", name);
    }
    if (told->size_count == 0) read_sizes(told, "4,1024,4096,8192,16384");
    /* Nobody echoes in a blast. */
    if (told->blast && told->level > (SLAVE_PACKS | MASTER_UNPACKS))
        refuse("--level %d has masters pack or slaves unpack, and in a blast no message goes that way", told->level);
}

/* HOST, HOST:CORE or :CORE. */
static void read_place(const char *file, int line, char *word, struct place *place)
{
    char *core = strchr(word, ':');
    place->core = -1;
    if (core != NULL) {
        *core++ = '\0';
        char *end;
        long value = strtol(core, &end, 10);
        if (end == core || *end != '\0' || value < 0 || value > 1023)
            refuse("%s, line %d: a core is a number from 0 to 1023, not \"%s\"", file, line, core);
        place->core = (int)value;
    }
    if (*word == '\0') word = ".";
    if (strlen(word) >= sizeof place->host) refuse("%s, line %d: the host's name is too long", file, line);
    strcpy(place->host, word);
}

static void check_last_master(const char *file, const struct place *places, int count)
{
    if (count > 0 && places[count - 1].is_master)
        refuse("%s, line %d: this master has no slave; its slaves' lines follow it", file, places[count - 1].line);
}

int pvmtime_places(const struct pvmtime *told, struct place *places)
{
    if (told->config == NULL) {
        places[0] = (struct place){ .host = ".", .core = -1, .master = 0, .is_master = 1 };
        places[1] = (struct place){ .host = ".", .core = -1, .master = 0 };
        return 2;
    }
    const char *file = told->config;
    FILE *input = fopen(file, "r");
    if (input == NULL) refuse("cannot read the configuration %s", file);
    int count = 0, masters = 0;
    char text[512];
    for (int line = 1; fgets(text, sizeof text, input) != NULL; line++) {
        if (strchr(text, '\n') == NULL && !feof(input)) refuse("%s, line %d: longer than %zu characters", file, line, sizeof text - 2);
        text[strcspn(text, "#\n")] = '\0';
        char *role = strtok(text, " \t\r"), *where = strtok(NULL, " \t\r"), *more = strtok(NULL, " \t\r");
        if (role == NULL) continue;
        int is_master = strcmp(role, "master") == 0;
        if (!is_master && strcmp(role, "slave") != 0)
            refuse("%s, line %d: a line begins with \"master\" or \"slave\", not \"%s\"", file, line, role);
        if (where == NULL) refuse("%s, line %d: where? HOST, HOST:CORE or :CORE is missing", file, line);
        if (more != NULL) refuse("%s, line %d: \"%s\" is too much: a line places one task", file, line, more);
        if (count == PVMTIME_TASKS_MAX) refuse("%s, line %d: more than %d tasks", file, line, PVMTIME_TASKS_MAX);
        if (is_master) check_last_master(file, places, count);
        if (!is_master && masters == 0) refuse("%s, line %d: a slave before any master", file, line);
        struct place *place = &places[count];
        *place = (struct place){ .line = line, .is_master = is_master };
        read_place(file, line, where, place);
        masters += is_master;
        place->master = masters - 1;
        count++;
    }
    if (ferror(input)) refuse("cannot read the configuration %s", file);
    fclose(input);
    if (masters == 0) refuse("%s: no master in it", file);
    check_last_master(file, places, count);
    return count;
}
