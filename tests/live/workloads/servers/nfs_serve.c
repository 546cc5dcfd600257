// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An NFS version 3 server, with its MOUNT service, on one TCP port of 127.0.0.1. Its files are
 * 1 MiB, the same in each run. Prints "ready", answers each call DELAY_MS after it came, and
 * appends a line to LOG for each of NFS:
 *
 *   PROCEDURE FILEID OFFSET ASKED MOVED STATUS
 *
 * FILEID is of the file or directory that the handle names; OFFSET is -1 if the call has none.
 * Reads of "failing" get NFS3ERR_IO, of "stale" NFS3ERR_STALE; "die" kills the server, unanswered,
 * if it reads past the middle and is not called with "again".
 *
 *   nfs_serve PORT DELAY_MS LOG [again]
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "live.h"

#define FILE_BYTES (1 << 20)
#define MOVE_MAX (64 << 10) /* bytes of a read or write */
#define ROOT 1
#define FIRST 100
#define CONNECTIONS 8

enum { NFS_OK, NFSERR_NOENT = 2, NFSERR_IO = 5, NFSERR_STALE = 70, NFSERR_NOTSUPP = 10004 };
enum { PROGRAM_NFS = 100003, PROGRAM_MOUNT = 100005 };
enum { DATA, FAILING, STALE, DIE, MADE, NAMES };
static const char *const names[NAMES] = { "data", "failing", "stale", "die", "made" };

static char contents[NAMES][FILE_BYTES];
static uint64_t sizes[NAMES] = { FILE_BYTES, FILE_BYTES, FILE_BYTES, FILE_BYTES };
static bool exists[NAMES] = { true, true, true, true };
static uint32_t in[(MOVE_MAX + 65536) / 4], out[(MOVE_MAX + 65536) / 4];
static uint32_t *from, *to;
static struct timespec delay;
static FILE *log_file;
static bool again;

/* --- XDR --- */

static uint32_t get(void)
{
	return ntohl(*from++);
}

static uint64_t get_long(void)
{
	uint64_t high = get();

	return high << 32 | get();
}

static void put(uint32_t value)
{
	*to++ = htonl(value);
}

static void put_long(uint64_t value)
{
	put(value >> 32);
	put(value);
}

static const char *get_bytes(uint32_t *bytes)
{
	const char *at;

	*bytes = get();
	at = (const char *)from;
	from += (*bytes + 3) / 4;
	return at;
}

static void put_bytes(const void *data, uint32_t bytes)
{
	put(bytes);
	to[bytes / 4] = 0;
	memcpy(to, data, bytes);
	to += (bytes + 3) / 4;
}

static void put_handle(uint32_t id)
{
	put(8);
	put_long(id);
}

/* --- files --- */

/* Returns the number of a file; NAMES for others. */
static uint32_t number_of(uint32_t id)
{
	return id >= FIRST && id < FIRST + NAMES ? id - FIRST : NAMES;
}

static void put_attributes(uint32_t id)
{
	bool directory = id == ROOT;
	uint32_t number = number_of(id);
	uint64_t size = number < NAMES ? sizes[number] : 4096;

	put(directory ? 2 : 1);
	put(directory ? 0755 : 0644);
	put(1);
	put_long(0); /* owner and group */
	put_long(size);
	put_long(size);
	put_long(0);
	put_long(1);
	put_long(id);
	for (int i = 0; i < 3; i++)
		put_long(1ull << 32);
}

static void put_attributes_after(uint32_t id)
{
	put(1);
	put_attributes(id);
}

static void put_change(uint32_t id)
{
	put(0);
	put_attributes_after(id);
}

static uint32_t find(void)
{
	uint32_t bytes, number = 0;
	const char *name = get_bytes(&bytes);

	while (number < NAMES &&
	       (strlen(names[number]) != bytes || memcmp(name, names[number], bytes)))
		number++;
	return number;
}

/* --- calls --- */

struct answer {
	uint32_t status, asked, moved;
	int64_t offset;
};

static void serve_read(uint32_t id, struct answer *answer)
{
	uint32_t number = number_of(id);
	uint64_t left;

	answer->offset = get_long();
	answer->asked = get();
	require(number < NAMES && answer->asked <= MOVE_MAX);
	if (number == DIE && answer->offset >= FILE_BYTES / 2 && !again)
		_exit(0);
	answer->status = number == FAILING ? NFSERR_IO : number == STALE ? NFSERR_STALE : NFS_OK;
	put(answer->status);
	put_attributes_after(id);
	if (answer->status)
		return;
	left = sizes[number] > (uint64_t)answer->offset ? sizes[number] - answer->offset : 0;
	answer->moved = answer->asked < left ? answer->asked : left;
	put(answer->moved);
	put(answer->moved == left);
	put_bytes(contents[number] + answer->offset, answer->moved);
}

static void serve_write(uint32_t id, struct answer *answer)
{
	uint32_t number = number_of(id), bytes;
	const char *data;

	answer->offset = get_long();
	answer->asked = get();
	get(); /* stable */
	data = get_bytes(&bytes);
	require(number < NAMES && answer->offset + bytes <= FILE_BYTES);
	memcpy(contents[number] + answer->offset, data, bytes);
	if ((uint64_t)answer->offset + bytes > sizes[number])
		sizes[number] = answer->offset + bytes;
	answer->moved = bytes;
	put(NFS_OK);
	put_change(id);
	put(bytes);
	put(0); /* unstable: commit it */
	put_long(1);
}

static void serve_setattr(uint32_t id)
{
	for (int i = 0; i < 3; i++)
		if (get())
			get();
	if (get() && number_of(id) < NAMES)
		sizes[number_of(id)] = get_long();
	put(NFS_OK);
	put_change(id);
}

static void serve_name(uint32_t procedure, uint32_t id, struct answer *answer)
{
	uint32_t number = find();

	if (procedure == 8 && number < NAMES) /* create */
		exists[number] = true;
	answer->status = number < NAMES && exists[number] ? NFS_OK : NFSERR_NOENT;
	put(answer->status);
	if (procedure == 12) { /* remove */
		exists[number % NAMES] &= answer->status != NFS_OK;
		put_change(id);
		return;
	}
	if (!answer->status) {
		if (procedure == 8)
			put(1);
		put_handle(FIRST + number);
		put_attributes_after(FIRST + number);
	}
	if (procedure == 8)
		put_change(id);
	else
		put_attributes_after(id);
}

static void serve_readdir(uint32_t id)
{
	uint64_t cookie = get_long();

	put(NFS_OK);
	put_attributes_after(id);
	put_long(1);
	for (uint64_t number = cookie; number < NAMES; number++) {
		if (!exists[number])
			continue;
		put(1);
		put_long(FIRST + number);
		put_bytes(names[number], strlen(names[number]));
		put_long(number + 1);
	}
	put(0);
	put(1);
}

static void serve_facts(uint32_t procedure, uint32_t id)
{
	put(NFS_OK);
	put_attributes_after(id);
	if (procedure == 18) { /* fsstat */
		for (int i = 0; i < 6; i++)
			put_long(1 << 30);
		put(0);
	} else if (procedure == 19) { /* fsinfo */
		for (int i = 0; i < 7; i++)
			put(i == 2 || i == 5 ? 4096 : MOVE_MAX);
		put_long(1ull << 40);
		put_long(1);
		put(0x18); /* homogeneous, can set times */
	} else {	   /* pathconf */
		put(32);
		put(255);
		for (int i = 0; i < 4; i++)
			put(i != 2);
	}
}

static void serve_nfs(uint32_t procedure)
{
	struct answer answer = { .offset = -1 };
	uint32_t id;

	if (!procedure)
		return;
	get(); /* bytes of the handle */
	id = get_long();
	switch (procedure) {
	case 1:
		put(NFS_OK);
		put_attributes(id);
		break;
	case 2:
		serve_setattr(id);
		break;
	case 3:
	case 8:
	case 12:
		serve_name(procedure, id, &answer);
		break;
	case 4:
		put(NFS_OK);
		put_attributes_after(id);
		put(get());
		break;
	case 6:
		serve_read(id, &answer);
		break;
	case 7:
		serve_write(id, &answer);
		break;
	case 16:
		serve_readdir(id);
		break;
	case 18:
	case 19:
	case 20:
		serve_facts(procedure, id);
		break;
	case 21:
		put(NFS_OK);
		put_change(id);
		put_long(1);
		break;
	default:
		answer.status = NFSERR_NOTSUPP;
		put(answer.status);
		put_long(0);
	}
	fprintf(log_file, "%u %u %lld %u %u %u\n", procedure, id, (long long)answer.offset,
		answer.asked, answer.moved, answer.status);
	fflush(log_file);
}

static void serve_mount(uint32_t procedure)
{
	if (procedure != 1)
		return;
	put(0);
	put_handle(ROOT);
	put(1);
	put(1); /* AUTH_SYS */
}

/* --- connections --- */

static bool read_whole(int connection, void *data, size_t bytes)
{
	return recv(connection, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* Answers one call. Returns false if the connection is closed. */
static bool serve(int connection)
{
	uint32_t mark, xid, program, procedure, bytes;

	if (!read_whole(connection, &mark, sizeof(mark)))
		return false;
	mark = ntohl(mark);
	require(mark >> 31 && (mark & 0x7fffffff) <= sizeof(in));
	if (!read_whole(connection, in, mark & 0x7fffffff))
		return false;
	nanosleep(&delay, NULL);
	from = in;
	to = out + 1;
	xid = get();
	require(!get() && get() == 2);
	program = get();
	get(); /* version */
	procedure = get();
	for (int i = 0; i < 2; i++) { /* credential and verifier */
		get();
		get_bytes(&bytes);
	}
	put(xid);
	put(1);
	for (int i = 0; i < 4; i++)
		put(0);
	if (program == PROGRAM_NFS)
		serve_nfs(procedure);
	else if (program == PROGRAM_MOUNT)
		serve_mount(procedure);
	bytes = (char *)to - (char *)out;
	out[0] = htonl(1u << 31 | (bytes - 4));
	return send(connection, out, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct pollfd polled[CONNECTIONS] = { 0 };
	int count = 1, one = 1;

	require(argc == 4 || argc == 5);
	again = argc == 5;
	address.sin_port = htons(atoi(argv[1]));
	delay.tv_nsec = atoi(argv[2]) * 1000000l;
	log_file = fopen(argv[3], "a");
	require(log_file);
	for (int i = 0; i < NAMES; i++)
		for (size_t at = 0; at < FILE_BYTES; at++)
			contents[i][at] = at * 31 + i;
	polled[0] = (struct pollfd) { socket(AF_INET, SOCK_STREAM, 0), POLLIN, 0 };
	require(!setsockopt(polled[0].fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	require(!bind(polled[0].fd, (void *)&address, sizeof(address)));
	require(!listen(polled[0].fd, CONNECTIONS));
	puts("ready");
	fflush(stdout);
	for (;;) {
		require(poll(polled, count, -1) > 0);
		for (int i = count - 1; i > 0; i--)
			if (polled[i].revents && !serve(polled[i].fd)) {
				close(polled[i].fd);
				polled[i] = polled[--count];
			}
		if (!polled[0].revents)
			continue;
		require(count < CONNECTIONS);
		polled[count] = (struct pollfd) { accept(polled[0].fd, NULL, NULL), POLLIN, 0 };
		require(polled[count].fd >= 0);
		setsockopt(polled[count].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		count++;
	}
}
