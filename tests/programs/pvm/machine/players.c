/* A resource manager, a tasker and a hoster that write down what they are sent, for a comparison of PVM and Parvum.
 *
 *     players manager|tasker|hoster     plays the part, says "ready", prints each reserved message, ends when told
 *     players asks PART HOST...         asks for what the player of that part is sent
 *
 * A message is printed field by field, and its rest must be empty: so equal prints are equal bytes. Ids of tasks are
 * printed as names, paths and commands as words: those differ between any two runs. The hoster runs commands by the
 * command in DOOR, which gets the host and the command. */
#define _GNU_SOURCE 1	/* strdup, putenv, popen: beside C11 */
#include <pvm3.h>
#include <pvmproto.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DAEMON ((int)0x80040000)
#define PLAYER "players-player"

enum { STOP = 1, HELLO, TOLD };

static int me;

static void fail(const char *what)
{
	printf("failed: %s\n", what);
	fflush(stdout);
	_exit(1);
}

static int take(void)
{
	int value;

	if (pvm_upkint(&value, 1, 1) < 0)
		fail("a number is missing");
	return value;
}

static char *word(void)
{
	static char text[65536];

	if (pvm_upkstr(text) < 0)
		fail("a text is missing");
	return text;
}

static void put(int value)
{
	if (pvm_pkint(&value, 1, 1) < 0)
		fail("pack");
}

/* Tasks by the order in which they are seen. */
static const char *name(int tid)
{
	static int known[64], count;
	static char text[32];

	if (tid == me)
		return "player";
	if (tid == 0)
		return "nobody";
	if (tid == pvm_tidtohost(tid))
		return tid == pvm_tidtohost(me) ? "host" : "other host";
	for (int at = 0; at < count; at++)
		if (known[at] == tid) {
			sprintf(text, "task %d", at + 1);
			return text;
		}
	known[count++] = tid;
	sprintf(text, "task %d", count);
	return text;
}

/* The text behind the last slash, for paths; variables by their names. */
static const char *last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int by_text(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Variables come in any order, and each system adds its own: those of the program's own choice are shown. */
static char *shown[256];

static int variables(char **all)
{
	int count = take(), few = 0;

	for (int at = 0; at < count; at++) {
		char *text = word();
		if (all)
			all[at] = strdup(text);
		if (strncmp(text, "PLAYERS_", 8) == 0)
			shown[few++] = strdup(text);
	}
	qsort(shown, few, sizeof *shown, by_text);
	printf(" variables of the program:");
	for (int at = 0; at < few; at++)
		printf(" %s", shown[at]);
	return count;
}

static void rest(void)
{
	char byte;

	/* It must fail. */
	pvm_setopt(PvmAutoErr, 0);
	if (pvm_upkbyte(&byte, 1, 1) >= 0)
		printf(" AND MORE");
	printf("\n");
	fflush(stdout);
}

static void answer(struct pvmminfo *asked)
{
	struct pvmminfo mine;

	if (pvm_initsend(PvmDataDefault) < 0 || pvm_getminfo(pvm_getsbuf(), &mine) < 0)
		fail("answer");
	mine.wid = asked->wid;
	pvm_setminfo(pvm_getsbuf(), &mine);
}

/* Asks the daemon for what a task has asked the manager for. */
static void spawn_for(struct pvmminfo *asked)
{
	char file[4096], place[512], *args[64];
	static char *env[256];
	int flags, count, argc, nenv, tids[16], output[6];

	strcpy(file, word());
	flags = take();
	strcpy(place, word());
	count = take();
	argc = take();
	printf("SM_SPAWN file %s flags %d where \"%s\" count %d args %d:", last(file), flags, place, count, argc);
	for (int at = 0; at < argc; at++)
		printf(" %s", args[at] = strdup(word()));
	for (int at = 0; at < 6; at++)
		output[at] = take();
	printf(" output %s", name(output[0]));
	printf(" trace %s", name(output[3]));
	nenv = variables(env);
	rest();
	answer(asked);
	put(asked->src);
	pvm_pkstr(file);
	put(flags), put(count), put(argc);
	for (int at = 0; at < argc; at++)
		pvm_pkstr(args[at]);
	pvm_pkint(output, 6, 1);
	put(nenv);
	for (int at = 0; at < nenv; at++)
		pvm_pkstr(env[at]);
	/* The number of the first one, and of how many: in no manual, but PVM wants it. */
	put(0), put(count);
	pvm_send(DAEMON, SM_EXEC);
	struct pvmminfo said;
	do {
		if (pvm_recv(-1, SM_EXECACK) < 0)
			fail("no SM_EXECACK");
		pvm_getminfo(pvm_getrbuf(), &said);
	} while (said.wid != asked->wid);
	printf("SM_EXECACK count %d:", take());
	pvm_upkint(tids, count, 1);
	for (int at = 0; at < count; at++)
		printf(" %s", tids[at] > 0 ? name(tids[at]) : "refused");
	rest();
	answer(asked);
	put(count);
	pvm_pkint(tids, count, 1);
	pvm_send(asked->src, SM_SPAWN);
}

static int list(const char *what, char **names)
{
	int count = take();

	printf("%s count %d:", what, count);
	for (int at = 0; at < count; at++)
		printf(" %s", names[at] = strdup(word()));
	rest();
	return count;
}

/* Has the daemon add what a task has asked the manager for. */
static void add_for(struct pvmminfo *asked)
{
	char *names[16], what[16][2][64];
	int count = list("SM_ADDHOST", names), numbers[16][3];

	answer(asked);
	put(count);
	for (int at = 0; at < count; at++)
		pvm_pkstr(names[at]);
	pvm_send(DAEMON, SM_ADD);
	if (pvm_recv(-1, SM_ADDACK) < 0)
		fail("no SM_ADDACK");
	printf("SM_ADDACK count %d", take());
	printf(" kinds %d:", take());
	for (int at = 0; at < count; at++) {
		numbers[at][0] = take();
		strcpy(what[at][0], word());
		strcpy(what[at][1], word());
		numbers[at][1] = take(), numbers[at][2] = take();
		if (numbers[at][0] > 0)
			printf(" %s", name(numbers[at][0]));
		else
			printf(" %d", numbers[at][0]);
		printf(" name \"%s\" arch \"%s\" speed %d data %x", what[at][0], what[at][1], numbers[at][1], numbers[at][2]);
	}
	rest();
	answer(asked);
	put(count), put(0);
	for (int at = 0; at < count; at++) {
		put(numbers[at][0]);
		pvm_pkstr(what[at][0]), pvm_pkstr(what[at][1]);
		put(numbers[at][1]), put(numbers[at][2]);
	}
	pvm_send(asked->src, SM_ADDHOST);
}

static void manage(struct pvmminfo *asked, struct pvmhostinfo *host)
{
	switch (asked->tag) {
	case SM_SPAWN:
		spawn_for(asked);
		break;
	case SM_EXECACK:
		/* A task has joined by itself. */
		printf("SM_EXECACK count %d:", take());
		printf(" %s by itself", take() > 0 ? "a task" : "nobody");
		rest();
		break;
	case SM_CONFIG:
		printf("SM_CONFIG");
		rest();
		answer(asked);
		put(1), put(1), put(host->hi_tid);
		pvm_pkstr("managed"), pvm_pkstr("LINUX64");
		put(7), put(0x408c41);
		pvm_send(asked->src, SM_CONFIG);
		break;
	case SM_TASK:
		printf("SM_TASK of %s", name(take()));
		rest();
		answer(asked);
		put(0), put(asked->src), put(0), put(host->hi_tid), put(4);
		pvm_pkstr("somebody");
		put(123);
		pvm_send(asked->src, SM_TASK);
		break;
	case SM_ADDHOST:
		add_for(asked);
		break;
	case SM_DELHOST: {
		char *names[16];
		int count = list("SM_DELHOST", names), infos[16];
		/* The manager's own calls are not for a manager. */
		pvm_delhosts(names, count, infos);
		/* PVM sends it seconds later. */
		for (int at = 0; at < count; at++) {
			if (infos[at] < 0 || pvm_recv(-1, SM_HOSTX) < 0)
				continue;
			printf("SM_HOSTX %s", name(take() & 0x7fffffff));
			rest();
		}
		answer(asked);
		put(count);
		for (int at = 0; at < count; at++)
			put(infos[at]);
		pvm_send(asked->src, SM_DELHOST);
		break;
	}
	case SM_NOTIFY: {
		int what = take(), context = take(), tag = take(), count = take();
		printf("SM_NOTIFY what %d context %d tag %d count %d:", what, context, tag, count);
		for (int at = 0; what != PvmHostAdd && at < count; at++)
			printf(" %s", name(take()));
		rest();
		break;
	}
	case SM_TASKX: {
		/* Any of those that have ended. */
		printf("SM_TASKX %s", take() > 0 ? "a task" : "nobody");
		printf(" status %d", take());
		/* Times of its processors. */
		for (int at = 0; at < 4; at++)
			take();
		rest();
		break;
	}
	default:
		printf("tag %x\n", asked->tag);
		fflush(stdout);
	}
}

/* Starts what the daemon would have started. */
static void start(void)
{
	char path[4096], *args[64], *env[256];
	int tid = take(), flags = take(), argc, nenv, status;

	strcpy(path, word());
	argc = take();
	printf("SM_STTASK %s flags %d path %s args %d:", name(tid), flags, last(path), argc);
	for (int at = 0; at < argc; at++)
		printf(" %s", last(args[at] = strdup(word())));
	args[argc] = NULL;
	nenv = variables(env);
	env[nenv] = NULL;
	/* In no manual. */
	printf(" number %d", take());
	printf(" of this host's %d", take());
	printf(" of %d", take());
	rest();
	pid_t child = fork();
	if (child == 0) {
		/* The daemon's own variables are not among them: a program finds its libraries by this one's. */
		for (int at = 0; at < nenv; at++)
			putenv(env[at]);
		execv(path, args);
		_exit(127);
	}
	waitpid(child, &status, 0);
	pvm_initsend(PvmDataDefault);
	put(tid), put(status);
	for (int at = 0; at < 4; at++)
		put(0);
	pvm_send(DAEMON, SM_TASKX);
}

/* Runs what the daemon would have run on other hosts. */
static void host(struct pvmminfo *asked)
{
	int count = take(), tids[8];
	static char results[8][4096];

	printf("SM_STHOST count %d:", count);
	for (int at = 0; at < count; at++) {
		char start[64], login[256], *command, *line;
		tids[at] = take();
		strcpy(start, word());
		strcpy(login, word());
		command = word();
		line = malloc(strlen(command) + 1024);
		sprintf(line, "%s %s %s </dev/null", getenv("DOOR"), strchr(login, '@') ? strchr(login, '@') + 1 : login, command);
		printf(" %s so \"%s\" login %s command %d", name(tids[at]), start, login, *command != 0);
		/* For hosts of another system, and PVM's name of the machine: in no manual. */
		printf(" other %d", *word() != 0);
		printf(" id \"%s\"", word());
		FILE *pipe = strcmp(start, "pw") == 0 ? NULL : popen(line, "r");
		strcpy(results[at], "PvmCantStart");
		if (pipe) {
			if (fgets(results[at], sizeof results[at], pipe))
				results[at][strcspn(results[at], "\n")] = 0;
			pclose(pipe);
		}
		free(line);
	}
	rest();
	answer(asked);
	/* PVM's manual leaves the number out; PVM wants it. */
	put(count);
	for (int at = 0; at < count; at++) {
		put(tids[at]);
		pvm_pkstr(results[at]);
	}
	pvm_send(asked->src, SM_STHOSTACK);
}

static void play(const char *part)
{
	struct pvmhostinfo *own = NULL;
	struct pvmminfo asked;
	int code;

	pvm_setopt(PvmResvTids, 1);
	if (strcmp(part, "manager") == 0)
		code = pvm_reg_rm(&own);
	else
		code = strcmp(part, "tasker") == 0 ? pvm_reg_tasker() : pvm_reg_hoster();
	pvm_initsend(PvmDataDefault);
	put(me);
	pvm_putinfo(PLAYER, pvm_getsbuf(), PvmMboxDefault);
	printf("ready %d\n", code);
	fflush(stdout);
	for (;;) {
		if (pvm_recv(-1, -1) < 0)
			fail("receive");
		pvm_getminfo(pvm_getrbuf(), &asked);
		if (asked.tag == STOP)
			return;
		if (asked.tag == SM_STTASK)
			start();
		else if (asked.tag == SM_STHOST)
			host(&asked);
		else
			manage(&asked, own);
	}
}

static void spawn(char *self, int flags, char *where)
{
	char *args[] = { "one", "two words", NULL };
	int tid;

	putenv("PLAYERS_VALUE=of the program");
	pvm_export("PLAYERS_VALUE");
	printf("spawn %d\n", pvm_spawn(self, args, flags, where, 1, &tid));
	if (pvm_recv(-1, HELLO) < 0)
		fail("hello");
}

static void ask(char *self, const char *part, int count, char **hosts)
{
	struct pvmhostinfo *table;
	struct pvmtaskinfo *tasks;
	int player, few, infos[8];

	if (pvm_recvinfo(PLAYER, 0, PvmMboxDefault) < 0)
		fail("no player");
	player = take();
	if (strcmp(part, "hoster") == 0) {
		printf("added %d", pvm_addhosts(hosts, count, infos));
		for (int at = 0; at < count; at++)
			printf(infos[at] > 0 ? " yes" : " %d", infos[at]);
		pvm_config(&few, NULL, &table);
		printf(" hosts %d\n", few);
	} else {
		spawn(self, PvmTaskDefault, "");
		spawn(self, PvmTaskHost, ".");
	}
	if (strcmp(part, "manager") == 0) {
		printf("config %d", pvm_config(&few, NULL, &table));
		printf(" %s\n", table->hi_name);
		printf("tasks %d", pvm_tasks(0, &few, &tasks));
		printf(" %s\n", tasks->ti_a_out);
		for (int at = 0; at < count; at++) {
			printf("add %d", pvm_addhosts(hosts + at, 1, infos));
			printf(infos[0] > 0 ? " yes\n" : " %d\n", infos[0]);
			printf("delete %d", pvm_delhosts(hosts + at, 1, infos));
			printf(" %d\n", infos[0]);
		}
		printf("notify %d\n", pvm_notify(PvmTaskExit, TOLD, 1, &player));
		printf("notify %d\n", pvm_notify(PvmHostDelete, TOLD, 1, &table->hi_tid));
		printf("notify %d\n", pvm_notify(PvmHostAdd, TOLD, 3, NULL));
	}
	pvm_initsend(PvmDataDefault);
	pvm_send(player, STOP);
}

int main(int argc, char **argv)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	self[length < 0 ? 0 : length] = 0;
	me = pvm_mytid();
	if (pvm_parent() > 0) {
		/* What was spawned. */
		pvm_initsend(PvmDataDefault);
		pvm_send(pvm_parent(), HELLO);
	} else if (argc > 2 && strcmp(argv[1], "asks") == 0)
		ask(self, argv[2], argc - 3, argv + 3);
	else if (argc > 1)
		play(argv[1]);
	pvm_exit();
	return 0;
}
