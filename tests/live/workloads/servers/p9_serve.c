// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A 9P2000.L server on a TCP port of 127.0.0.1, with a process for each connection. Its files are
 * 1 MiB, the same in each run. Prints "ready", answers each request DELAY_MS after it came, and
 * appends a line to LOG for each:
 *
 *   TYPE PATH OFFSET ASKED MOVED ERROR REQUEST_BYTES REPLY_BYTES ARRIVED_NS ANSWERED_NS
 *
 * PATH is of the qid that the request's fid has; 0: none. OFFSET is -1 if the request has none.
 * Reads of "failing" get EIO. A read past the middle of "die" ends the connection; one of "held"
 * waits for a flush: neither is answered.
 *
 *   p9_serve PORT DELAY_MS LOG
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "live.h"

#define FILE_BYTES (1 << 20)
#define MESSAGE_MAX (128 << 10)
#define ROOT 1
#define FIRST 100
#define FIDS 1024

enum {
	STATFS = 8,
	LOPEN = 12,
	LCREATE = 14,
	GETATTR = 24,
	SETATTR = 26,
	READDIR = 40,
	FSYNC = 50,
	UNLINKAT = 76,
	VERSION = 100,
	ATTACH = 104,
	FLUSH = 108,
	WALK = 110,
	READ = 116,
	WRITE = 118,
	CLUNK = 120,
	RLERROR = 7,
};
enum { DATA, FAILING, DIE, HELD, MADE, NAMES };
static const char *const names[NAMES] = { "data", "failing", "die", "held", "made" };

static char contents[NAMES][FILE_BYTES];
static uint64_t sizes[NAMES] = { FILE_BYTES, FILE_BYTES, FILE_BYTES, FILE_BYTES };
static bool exists[NAMES] = { true, true, true, true };
static uint64_t paths[FIDS]; /* 0: free */
static unsigned char in[MESSAGE_MAX], out[MESSAGE_MAX];
static unsigned char *from, *to;
static FILE *log_file;

/* A request, as logged. */
struct request {
	uint32_t type, fid, asked, moved, error, bytes;
	uint64_t path, arrived_ns;
	int64_t offset;
};

static uint64_t get(int bytes)
{
	uint64_t value = 0;

	memcpy(&value, from, bytes);
	from += bytes;
	return value;
}

static void put(int bytes, uint64_t value)
{
	memcpy(to, &value, bytes);
	to += bytes;
}

static void put_text(const char *text)
{
	put(2, strlen(text));
	memcpy(to, text, strlen(text));
	to += strlen(text);
}

static void put_qid(uint64_t path)
{
	put(1, path == ROOT ? 0x80 : 0);
	put(4, 1);
	put(8, path);
}

/* Returns the number of a file; NAMES for others. */
static uint32_t number_of(uint64_t path)
{
	return path >= FIRST && path < FIRST + NAMES ? path - FIRST : NAMES;
}

static uint32_t find(void)
{
	uint32_t bytes = get(2), number = 0;

	while (number < NAMES &&
	       (strlen(names[number]) != bytes || memcmp(from, names[number], bytes)))
		number++;
	from += bytes;
	return number;
}

static void log_request(const struct request *request, uint32_t reply_bytes)
{
	fprintf(log_file, "%u %llu %lld %u %u %u %u %u %llu %llu\n", request->type,
		(unsigned long long)request->path, (long long)request->offset, request->asked,
		request->moved, request->error, request->bytes, reply_bytes,
		(unsigned long long)request->arrived_ns, (unsigned long long)now_ns());
	fflush(log_file);
}

/* --- requests --- */

static void serve_walk(struct request *request)
{
	uint32_t to_fid = get(4), count = get(2), number;
	uint64_t path = request->path;

	require(to_fid < FIDS && count <= 1);
	if (count) {
		number = find();
		path = number < NAMES && exists[number] ? FIRST + number : 0;
	}
	if (!path) {
		request->error = ENOENT;
		return;
	}
	paths[to_fid] = path;
	put(2, count);
	if (count)
		put_qid(path);
}

static void serve_getattr(const struct request *request)
{
	uint32_t number = number_of(request->path);
	uint64_t size = number < NAMES ? sizes[number] : 4096;

	put(8, 0x7ff);
	put_qid(request->path);
	put(4, number < NAMES ? S_IFREG | 0644 : S_IFDIR | 0755);
	put(8, 0); /* owner and group */
	put(8, 1);
	put(8, 0);
	put(8, size);
	put(8, 4096);
	put(8, size / 512);
	for (int i = 0; i < 10; i++)
		put(8, 1); /* times, generation, version */
}

static void serve_setattr(const struct request *request)
{
	uint32_t number = number_of(request->path), valid = get(4);

	from += 12;
	if (valid & 8 && number < NAMES)
		sizes[number] = get(8);
}

static void serve_readdir(struct request *request)
{
	unsigned char *count = to;

	request->asked = (from += 8, get(4));
	from -= 12;
	to += 4;
	for (uint64_t i = get(8); i < NAMES; i++) {
		if (!exists[i])
			continue;
		put_qid(FIRST + i);
		put(8, i + 1);
		put(1, 8);
		put_text(names[i]);
	}
	request->moved = to - count - 4;
	require(request->moved <= request->asked);
	to = count;
	put(4, request->moved);
	to += request->moved;
}

static void serve_read(struct request *request)
{
	uint32_t number = number_of(request->path);
	uint64_t left;

	request->offset = get(8);
	request->asked = get(4);
	require(number < NAMES && request->asked < MESSAGE_MAX - 11);
	if (number == FAILING) {
		request->error = EIO;
		return;
	}
	left = sizes[number] > (uint64_t)request->offset ? sizes[number] - request->offset : 0;
	request->moved = request->asked < left ? request->asked : left;
	put(4, request->moved);
	memcpy(to, contents[number] + request->offset, request->moved);
	to += request->moved;
}

static void serve_write(struct request *request)
{
	uint32_t number = number_of(request->path);

	request->offset = get(8);
	request->asked = request->moved = get(4);
	require(number < NAMES && request->offset + request->asked <= FILE_BYTES);
	memcpy(contents[number] + request->offset, from, request->asked);
	if ((uint64_t)request->offset + request->asked > sizes[number])
		sizes[number] = request->offset + request->asked;
	put(4, request->moved);
}

static void serve_one(struct request *request)
{
	uint32_t number;

	switch (request->type) {
	case VERSION:
		put(4, request->fid); /* msize */
		put_text("9P2000.L");
		break;
	case ATTACH:
		paths[request->fid] = ROOT;
		request->path = 0;
		put_qid(ROOT);
		break;
	case WALK:
		serve_walk(request);
		break;
	case GETATTR:
		serve_getattr(request);
		break;
	case SETATTR:
		serve_setattr(request);
		break;
	case LCREATE:
		number = find();
		require(number < NAMES);
		exists[number] = true;
		sizes[number] = 0;
		paths[request->fid] = FIRST + number;
		put_qid(FIRST + number);
		put(4, 0);
		break;
	case LOPEN:
		put_qid(request->path);
		put(4, 0);
		break;
	case READDIR:
		serve_readdir(request);
		break;
	case READ:
		serve_read(request);
		break;
	case WRITE:
		serve_write(request);
		break;
	case UNLINKAT:
		number = find();
		request->error = number < NAMES && exists[number] ? 0 : ENOENT;
		exists[number % NAMES] &= request->error != 0;
		break;
	case CLUNK:
		paths[request->fid] = 0;
		break;
	case STATFS:
		put(4, 0x01021997);
		put(4, 4096);
		for (int i = 0; i < 6; i++)
			put(8, 1 << 20);
		put(4, 255);
		break;
	case FLUSH:
	case FSYNC:
		break;
	default:
		request->error = EOPNOTSUPP;
	}
}

/* --- connections --- */

static bool has_fid(uint32_t type)
{
	return type != VERSION && type != FLUSH;
}

/* Answers the requests of one connection, until it is closed. */
static void serve(int connection, const struct timespec *delay)
{
	struct request held = { 0 };

	while (recv(connection, in, 4, MSG_WAITALL) == 4) {
		struct request request = { .offset = -1 };
		uint32_t bytes;
		uint16_t tag;

		request.arrived_ns = now_ns();
		from = in;
		bytes = request.bytes = get(4);
		require(bytes >= 7 && bytes <= sizeof(in));
		require(recv(connection, in + 4, bytes - 4, MSG_WAITALL) == (ssize_t)bytes - 4);
		nanosleep(delay, NULL);
		request.type = get(1);
		tag = get(2);
		request.fid = request.type == FLUSH ? 0 : get(4);
		if (has_fid(request.type)) {
			require(request.fid < FIDS);
			request.path = paths[request.fid];
		}
		to = out + 7;
		serve_one(&request);
		if (request.error) {
			to = out + 7;
			put(4, request.error);
		}
		if (request.type == READ && number_of(request.path) == DIE &&
		    request.offset >= FILE_BYTES / 2) {
			request.moved = 0;
			log_request(&request, 0);
			_exit(0);
		}
		if (request.type == READ && number_of(request.path) == HELD) {
			request.moved = 0;
			held = request;
			continue;
		}
		if (request.type == FLUSH && held.type) {
			held.error = EINTR;
			log_request(&held, 0);
			held.type = 0;
		}
		bytes = to - out;
		to = out;
		put(4, bytes);
		put(1, request.error ? RLERROR : request.type + 1);
		put(2, tag);
		log_request(&request, bytes);
		if (send(connection, out, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
			return;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timespec delay = { 0 };
	int listener, connection, one = 1;

	require(argc == 4);
	address.sin_port = htons(atoi(argv[1]));
	delay.tv_nsec = atoi(argv[2]) * 1000000l;
	log_file = fopen(argv[3], "a");
	require(log_file);
	for (int i = 0; i < NAMES; i++)
		for (size_t at = 0; at < FILE_BYTES; at++)
			contents[i][at] = at * 31 + i;
	signal(SIGCHLD, SIG_IGN);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	require(!setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	require(!bind(listener, (void *)&address, sizeof(address)));
	require(!listen(listener, 8));
	puts("ready");
	fflush(stdout);
	while ((connection = accept(listener, NULL, NULL)) >= 0) {
		setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (!fork()) {
			serve(connection, &delay);
			_exit(0);
		}
		close(connection);
	}
	return WORKLOAD_BROKEN;
}
