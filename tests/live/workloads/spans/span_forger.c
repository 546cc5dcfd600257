// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Fires the probes of provider "faultline" with pointers and lengths that no library would pass.
 *
 *   span_forger OUT [REPEAT]
 *            OUT: a line of JSON {"case", "id"} for each; repeats all of them REPEAT times
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "live.h"

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define SEMAPHORE(name)                                                                            \
	__extension__ volatile unsigned short name                                                 \
		__attribute__((section(".probes"), visibility("hidden")))

SEMAPHORE(faultline_span_begin_semaphore);
SEMAPHORE(faultline_span_end_semaphore);
SEMAPHORE(faultline_instant_semaphore);

#define PAGE 4096

static void forge(uint64_t id, uint64_t name, uint64_t category, uint64_t args, uint64_t length)
{
	STAP_PROBE5(faultline, span_begin, id, name, category, args, length);
	STAP_PROBE4(faultline, instant, name, category, args, length);
	STAP_PROBE1(faultline, span_end, id);
}

/* A mapped page followed by an unmapped one. */
static unsigned char *page_at_the_edge(void)
{
	unsigned char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(pages != MAP_FAILED);
	memset(pages, 'z', PAGE);
	require(!munmap(pages + PAGE, PAGE));
	return pages;
}

#define NUMBER(pointer) ((uint64_t)(uintptr_t)(pointer))

int main(int argc, char **argv)
{
	unsigned char *edge = page_at_the_edge();
	void *forbidden = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char endless[3 * PAGE];
	uint64_t honest = NUMBER("honest"), wild[] = { 1, 0xffffffff81000000, 0x8000000000000000,
						       NUMBER(forbidden), UINT64_MAX };
	struct {
		const char *name;
		uint64_t text, category, args, length;
	} cases[] = {
		{ "honest", honest, honest, NUMBER("\x81\xa1k\x01"), 4 },
		{ "nothing", 0, 0, 0, 0 },
		{ "length without arguments", honest, honest, 0, 500 },
		{ "arguments without length", honest, honest, honest, 0 },
		{ "endless name", NUMBER(endless), honest, 0, 0 },
		{ "endless category", honest, NUMBER(endless), 0, 0 },
		{ "name over the edge", NUMBER(edge + PAGE - 8), honest, 0, 0 },
		{ "arguments up to the edge", honest, honest, NUMBER(edge + PAGE - 1024), 1024 },
		{ "arguments over the edge", honest, honest, NUMBER(edge + PAGE - 1023), 1024 },
		{ "too long by one", honest, honest, NUMBER(endless), 1025 },
		{ "as long as can be", honest, honest, NUMBER(endless), UINT64_MAX },
		{ "negative", honest, honest, NUMBER(endless), 1ull << 63 },
		{ "32 bits of nothing", honest, honest, NUMBER(endless), 1ull << 32 },
		{ "wild name 0", wild[0], honest, 0, 0 },
		{ "wild name 1", wild[1], honest, 0, 0 },
		{ "wild name 2", wild[2], honest, 0, 0 },
		{ "wild name 3", wild[3], honest, 0, 0 },
		{ "wild name 4", wild[4], honest, 0, 0 },
		{ "wild arguments 0", honest, honest, wild[0], 10 },
		{ "wild arguments 1", honest, honest, wild[1], 10 },
		{ "wild arguments 2", honest, honest, wild[2], 10 },
		{ "wild arguments 3", honest, honest, wild[3], 10 },
		{ "wild arguments 4", honest, honest, wild[4], 10 },
		{ "all of it", wild[1], wild[2], wild[3], 1024 },
	};
	int repeat = argc > 2 ? atoi(argv[2]) : 1;
	uint64_t end_ns = now_ns() + 5000000000, id = 0;
	FILE *out;

	require(argc > 1 && forbidden != MAP_FAILED);
	memset(endless, 'x', sizeof(endless));
	while (!(faultline_span_begin_semaphore && faultline_span_end_semaphore &&
		 faultline_instant_semaphore) &&
	       now_ns() < end_ns)
		usleep(1000);
	out = fopen(argv[1], "w");
	require(out);
	while (repeat--)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			forge(++id, cases[i].text, cases[i].category, cases[i].args,
			      cases[i].length);
			fprintf(out, "{\"case\": \"%s\", \"id\": %llu}\n", cases[i].name,
				(unsigned long long)id);
		}
	require(!fclose(out));
	return 0;
}
