/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions that reports of one run and of two share: errors, GPU samples. */
#include "command/report_request.h"

#include <errno.h>

#include "base/log.h"
#include "command/common/command.h"

int report_failed(int status, const struct trace_error *error)
{
	log_error("%s", error->text[0] ? error->text : strerror(-status));
	return status == -ERANGE || status == -ESRCH || status == -ENOTSUP ? EXIT_USAGE
									   : EXIT_FAILED;
}

int report_read_gpu(struct gpu *gpu, const char *path)
{
	struct trace_error error = { "" };
	int status = gpu_read(gpu, path, &error);

	if (!status)
		return 0;
	log_error("%s", error.text);
	return status == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
}
