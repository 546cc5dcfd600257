// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Marks spans in one of several ways and writes down each call, its time and its result.
 *
 *   span_marks OUT WAY     OUT: a line of JSON for each call, in the order in which they ended
 *
 * Built with -DOPENED it is not linked with the library, and loads the one that SPAN_LIBRARY names.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "faultline.h"
#include "live.h"

#define CALLS_MAX 4096
#define THREADS 4
#define SPANS_EACH 50
#define CROWD 8
#define CROWD_EACH 200

/* --- calls made --- */

struct call {
	const char *what, *name; /* literals: at the same address in all processes */
	uint64_t id, before_ns, after_ns;
	pid_t pid, tid;
};

static struct account {
	uint32_t count;
	struct call calls[CALLS_MAX];
} * account; /* shared with forked children */

static void note(const char *what, const char *name, uint64_t id, uint64_t before_ns)
{
	uint64_t after_ns = now_ns();
	uint32_t at = __atomic_fetch_add(&account->count, 1, __ATOMIC_RELAXED);

	require(at < CALLS_MAX);
	account->calls[at] = (struct call) {
		what, name, id, before_ns, after_ns, getpid(), syscall(SYS_gettid)
	};
}

static void write_account(const char *path)
{
	FILE *out = fopen(path, "w");

	require(out);
	for (uint32_t i = 0; i < account->count; i++) {
		struct call *call = &account->calls[i];

		fprintf(out,
			"{\"what\": \"%s\", \"name\": \"%s\", \"id\": %llu, \"before\": %llu, "
			"\"after\": %llu, \"pid\": %d, \"tid\": %d}\n",
			call->what, call->name, (unsigned long long)call->id,
			(unsigned long long)call->before_ns, (unsigned long long)call->after_ns,
			call->pid, call->tid);
	}
	require(!fclose(out));
}

/* --- the library's functions --- */

static __typeof__(&faultline_span_begin) span_begin;
static __typeof__(&faultline_span_end) span_end;
static __typeof__(&faultline_instant) instant;

static void find_functions(void)
{
#ifdef OPENED
	void *library = dlopen(getenv("SPAN_LIBRARY"), RTLD_NOW | RTLD_LOCAL);

	if (!library)
		dprintf(2, "%s\n", dlerror());
	require(library);
	span_begin = dlsym(library, "faultline_span_begin");
	span_end = dlsym(library, "faultline_span_end");
	instant = dlsym(library, "faultline_instant");
	require(span_begin && span_end && instant);
#else
	span_begin = faultline_span_begin;
	span_end = faultline_span_end;
	instant = faultline_instant;
#endif
}

static uint64_t begin_with(const char *label, const char *name, const char *category,
			   const void *args, size_t args_bytes)
{
	uint64_t before_ns = now_ns();
	uint64_t id = span_begin(name, category, args, args_bytes);

	note("begin", label, id, before_ns);
	return id;
}

static uint64_t begin(const char *name)
{
	return begin_with(name, name, "test", NULL, 0);
}

static void end(uint64_t id)
{
	uint64_t before_ns = now_ns();

	span_end(id);
	note("end", "", id, before_ns);
}

static void mark(const char *name)
{
	uint64_t before_ns = now_ns();

	instant(name, "test", NULL, 0);
	note("instant", name, 0, before_ns);
}

/* --- ways --- */

static void way_one(void)
{
	end(begin("only"));
}

static void way_nested(void)
{
	uint64_t outer = begin("outer");

	for (int i = 0; i < 3; i++) {
		uint64_t middle = begin("middle");

		mark("mark");
		end(begin("inner"));
		end(middle);
	}
	end(outer);
}

static void way_sixty(void)
{
	for (int i = 0; i < 60; i++)
		end(begin("one of sixty"));
}

static void *marking_thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < SPANS_EACH; i++)
		end(begin("threaded"));
	return NULL;
}

static void way_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		require(!pthread_create(&threads[i], NULL, marking_thread, NULL));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Each thread's spans have its ID as their name. */
static void *crowding_thread(void *unused)
{
	char name[20];

	(void)unused;
	snprintf(name, sizeof(name), "%ld", syscall(SYS_gettid));
	for (int i = 0; i < CROWD_EACH; i++)
		end(begin_with("crowd", name, "test", NULL, 0));
	return NULL;
}

static void way_crowd(void)
{
	pthread_t threads[CROWD];

	for (int i = 0; i < CROWD; i++)
		require(!pthread_create(&threads[i], NULL, crowding_thread, NULL));
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
}

static void wait_for(pid_t pid)
{
	require(pid > 0);
	require(waitpid(pid, NULL, 0) == pid);
}

/* The child ends its copy of the span open at the fork, then the parent ends its own. */
static void way_fork(void)
{
	uint64_t shared = begin("over the fork");
	pid_t pid = fork();

	if (pid == 0) {
		end(begin("of the child"));
		end(shared);
		end(begin("of the child"));
		_exit(0);
	}
	wait_for(pid);
	end(begin("of the parent"));
	end(shared);
}

static void *ending_thread(void *id)
{
	end(*(uint64_t *)id);
	return NULL;
}

static void way_handed_over(void)
{
	uint64_t id = begin("handed over");
	pthread_t thread;

	require(!pthread_create(&thread, NULL, ending_thread, &id));
	pthread_join(thread, NULL);
	mark("after");
}

static void way_ended_twice(void)
{
	uint64_t first = begin("first"), second = begin("second");

	end(first); /* the outer one first */
	end(first);
	end(second);
	end(second);
	end(0);
	end(UINT64_MAX);
	end(begin("third"));
}

/* A child that exits, one that is killed, one of whose threads ends. */
static void *leaving_thread(void *unused)
{
	begin("left by its thread");
	return unused;
}

static void way_never_ended(void)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		begin("left by exit");
		_exit(0);
	}
	wait_for(pid);
	pid = fork();
	if (pid == 0) {
		begin("left by a kill");
		kill(getpid(), SIGKILL);
	}
	wait_for(pid);
	require(!pthread_create(&thread, NULL, leaving_thread, NULL));
	pthread_join(thread, NULL);
	end(begin("after"));
}

/* The process execs another program, which marks nothing. */
static void way_exec(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		begin("before the exec");
		execl("/bin/true", "true", (char *)NULL);
		_exit(WORKLOAD_BROKEN);
	}
	wait_for(pid);
	end(begin("after"));
}

static void way_names(void)
{
	static char huge[10001], edge[300];
	unsigned char args[2000] = { 0x81, 0xa1, 'k', 0xc5, 0x07, 0xc8 };

	memset(huge, 'n', sizeof(huge) - 1);
	memset(edge, 'e', 254);
	memcpy(edge + 254, "\xe2\x82\xac!",
	       5); /* 257 bytes and one more: a character across the limit */
	end(begin_with("empty", "", "", NULL, 0));
	end(begin_with("null", NULL, NULL, NULL, 0));
	end(begin_with("huge", huge, huge, NULL, 0));
	end(begin_with("edge", edge, "test", NULL, 0));
	end(begin_with("not UTF-8", "\xff\xfe\x80 \xc3(", "\x80", NULL, 0));
	end(begin_with("control", "a\n\"\\\t\x1b[31m\x7f", "b\r", NULL, 0));
	end(begin_with("args", "args", "test", "\x81\xa4step\x07", 7));
	end(begin_with("long args", "long args", "test", args, sizeof(args)));
	end(begin_with("broken args", "broken args", "test", "\xdf\xff\xff\xff\xff", 5));
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "one", way_one },
	{ "nested", way_nested },
	{ "sixty", way_sixty },
	{ "threads", way_threads },
	{ "crowd", way_crowd },
	{ "fork", way_fork },
	{ "handed_over", way_handed_over },
	{ "ended_twice", way_ended_twice },
	{ "never_ended", way_never_ended },
	{ "exec", way_exec },
	{ "names", way_names },
};

int main(int argc, char **argv)
{
	require(argc == 3);
	account = mmap(NULL, sizeof(*account), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	require(account != MAP_FAILED);
	find_functions();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[2]) != 0)
			continue;
		ways[i].run();
		write_account(argv[1]);
		return 0;
	}
	dprintf(2, "span_marks: no way is called %s\n", argv[2]);
	return WORKLOAD_BROKEN;
}
