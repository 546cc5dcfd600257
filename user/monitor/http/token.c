/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the secret from a file, after checking the file's permissions. */
#include "monitor/http/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

/* Takes the line without its line ending; returns -EINVAL if it cannot be a token. */
static int take_line(struct token *token, const char *path, char *text, size_t length)
{
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	for (size_t i = 0; i < length; i++) {
		if (text[i] > 0x20 && text[i] < 0x7f)
			continue;
		log_error("--token-file %s: must be one line of printable characters", path);
		return -EINVAL;
	}
	if (length < TOKEN_MIN || length > TOKEN_MAX) {
		log_error("--token-file %s: has %s%d characters; a token has %d to %d", path,
			  length > TOKEN_MAX ? "more than " : "",
			  length > TOKEN_MAX ? TOKEN_MAX : (int)length, TOKEN_MIN, TOKEN_MAX);
		return -EINVAL;
	}
	memcpy(token->text, text, length);
	token->text[length] = '\0';
	token->length = length;
	return 0;
}

static int check_file(const char *path, const struct stat *file)
{
	if (!S_ISREG(file->st_mode)) {
		log_error("--token-file %s: is not a regular file", path);
		return -EINVAL;
	}
	if (file->st_uid && file->st_uid != geteuid()) {
		log_error("--token-file %s: belongs to another user", path);
		return -EPERM;
	}
	if (file->st_mode & 077) {
		log_error("--token-file %s: others can read or change it (mode %04o); use a file "
			  "that only you can read",
			  path, file->st_mode & 07777);
		return -EPERM;
	}
	return 0;
}

int token_read(struct token *token, const char *path)
{
	char text[TOKEN_MAX + 4]; /* line ending, and one more to detect a token that is too long */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err;
	struct stat file;
	ssize_t got;

	memset(token, 0, sizeof(*token));
	if (fd < 0 || fstat(fd, &file)) {
		err = -errno;
		log_error("--token-file %s: %s", path, strerror(-err));
		goto out;
	}
	err = check_file(path, &file);
	if (err)
		goto out;
	got = read(fd, text, sizeof(text));
	if (got < 0) {
		err = -errno;
		log_error("--token-file %s: %s", path, strerror(-err));
		goto out;
	}
	err = take_line(token, path, text, got);
	explicit_bzero(text, sizeof(text));
out:
	if (fd >= 0)
		close(fd);
	return err;
}

bool token_matches(const struct token *token, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	unsigned char differs = 0;
	size_t length;

	if (!token->length || !authorization ||
	    strncasecmp(authorization, scheme, sizeof(scheme) - 1))
		return false;
	authorization += sizeof(scheme) - 1;
	length = strlen(authorization);
	for (size_t i = 0; i < length; i++)
		differs |= authorization[i] ^ token->text[i % token->length];
	return !differs && length == token->length;
}
