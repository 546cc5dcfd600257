// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes every recorded system call, successfully and failing, from several processes and threads,
 * the same number of times in every run, so that strace can count them.
 *
 *   calls DIR [others]     DIR is empty; with `others` also calls on pipes, sockets and devices
 *   calls --again DIR      run by a child that execs
 *
 * Calls are made by number, so that the C library cannot substitute another. Recorded calls use no
 * malloc, no stdio and no waiting: the calls these make depend on addresses and timing.
 */
#include <signal.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "live.h"

#define BAD_FD 100000
#define BAD_ADDRESS ((void *)8)
#define PAGE 4096ul
#define THREADS 2

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

struct place {
	char dir[512];
	int dir_fd;
	char path[600]; /* the last result of in() */
};

/* The path of `name` in the worker's directory; valid until the next call. */
static const char *in(struct place *place, const char *name)
{
	snprintf(place->path, sizeof(place->path), "%s/%s", place->dir, name);
	return place->path;
}

static int make_file(struct place *place, const char *name, size_t length)
{
	static const char block[4096] = "some data";
	int fd = syscall(SYS_openat, place->dir_fd, name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	require(fd >= 0);
	for (size_t done = 0; done < length; done += sizeof(block))
		require(syscall(SYS_pwrite64, fd, block, sizeof(block), done) == sizeof(block));
	return fd;
}

static void do_opens(struct place *place)
{
	struct open_how how = { .flags = O_RDONLY };
	char long_name[300];
	int fd;

	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	fd = make_file(place, "opened", PAGE);
	syscall(SYS_close, fd);
	syscall(SYS_close, BAD_FD);
	syscall(SYS_close, -1);
	fd = syscall(SYS_openat, AT_FDCWD, in(place, "opened"), O_RDONLY);
	syscall(SYS_close, fd);
	fd = syscall(SYS_openat, place->dir_fd, "opened", O_PATH);
	syscall(SYS_fstat, fd, &(struct stat) { 0 });
	syscall(SYS_read, fd, long_name, 1);
	syscall(SYS_close, fd);
	syscall(SYS_openat, place->dir_fd, "missing", O_RDONLY);
	syscall(SYS_openat, place->dir_fd, "opened/below", O_RDONLY);
	syscall(SYS_openat, place->dir_fd, "opened", O_RDWR | O_CREAT | O_EXCL, 0644);
	syscall(SYS_openat, place->dir_fd, ".", O_WRONLY);
	syscall(SYS_openat, place->dir_fd, long_name, O_RDONLY);
	syscall(SYS_openat, BAD_FD, "opened", O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, BAD_ADDRESS, O_RDONLY);
	fd = syscall(SYS_openat2, place->dir_fd, "opened", &how, sizeof(how));
	syscall(SYS_close, fd);
	syscall(SYS_openat2, place->dir_fd, "missing", &how, sizeof(how));
	syscall(SYS_openat2, place->dir_fd, "opened", &how, 3);
#ifdef SYS_open
	fd = syscall(SYS_open, in(place, "opened"), O_RDONLY);
	syscall(SYS_close, fd);
	syscall(SYS_open, in(place, "missing"), O_RDONLY);
	fd = syscall(SYS_creat, in(place, "created"), 0600);
	syscall(SYS_close, fd);
	syscall(SYS_creat, place->dir, 0600);
#endif
}

static void do_reads(struct place *place)
{
	char a[100], b[200];
	struct iovec two[2] = { { a, sizeof(a) }, { b, sizeof(b) } };
	int fd = make_file(place, "read", 2 * PAGE);
	int only = syscall(SYS_openat, place->dir_fd, "read", O_WRONLY);
	int fds[] = { fd, fd, only, place->dir_fd, BAD_FD, -1 };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		syscall(SYS_read, fds[i], a, sizeof(a));
		syscall(SYS_pread64, fds[i], a, sizeof(a), 50l);
		syscall(SYS_readv, fds[i], two, 2);
		syscall(SYS_preadv, fds[i], two, 2, 7l, 0l);
		syscall(SYS_preadv2, fds[i], two, 2, 7l, 0l, 0);
		syscall(SYS_preadv2, fds[i], two, 2, -1l, -1l, 0);
	}
	syscall(SYS_read, fd, BAD_ADDRESS, 10);
	syscall(SYS_read, fd, a, 0);
	syscall(SYS_pread64, fd, a, sizeof(a), -5l);
	syscall(SYS_pread64, fd, a, sizeof(a), 2 * PAGE); /* end of file */
	syscall(SYS_readv, fd, two, -1);
	syscall(SYS_readv, fd, BAD_ADDRESS, 2);
	syscall(SYS_preadv2, fd, two, 2, 0l, 0l, 0x40000000);
	syscall(SYS_close, only);
	syscall(SYS_close, fd);
}

static void do_writes(struct place *place)
{
	char a[100] = "a", b[200] = "b";
	struct iovec two[2] = { { a, sizeof(a) }, { b, sizeof(b) } };
	int fd = make_file(place, "written", PAGE);
	int append = syscall(SYS_openat, place->dir_fd, "written", O_WRONLY | O_APPEND);
	int only = syscall(SYS_openat, place->dir_fd, "written", O_RDONLY);
	int fds[] = { fd, append, only, place->dir_fd, BAD_FD, -1 };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		syscall(SYS_write, fds[i], a, sizeof(a));
		syscall(SYS_pwrite64, fds[i], a, sizeof(a), 50l);
		syscall(SYS_writev, fds[i], two, 2);
		syscall(SYS_pwritev, fds[i], two, 2, 7l, 0l);
		syscall(SYS_pwritev2, fds[i], two, 2, 7l, 0l, 0);
		syscall(SYS_pwritev2, fds[i], two, 2, -1l, -1l, 0);
	}
	syscall(SYS_write, fd, BAD_ADDRESS, 10);
	syscall(SYS_write, fd, a, 0);
	syscall(SYS_pwrite64, fd, a, sizeof(a), -5l);
	syscall(SYS_close, only);
	syscall(SYS_close, append);
	syscall(SYS_close, fd);
}

static void do_looks(struct place *place)
{
	struct stat st;
	struct statx stx;
	char buffer[1024];
	int fd = make_file(place, "looked-at", PAGE);

	syscall(SYS_fstat, fd, &st);
	syscall(SYS_fstat, place->dir_fd, &st);
	syscall(SYS_fstat, BAD_FD, &st);
	syscall(SYS_fstat, fd, BAD_ADDRESS);
	syscall(SYS_newfstatat, place->dir_fd, "looked-at", &st, 0);
	syscall(SYS_newfstatat, place->dir_fd, "missing", &st, 0);
	syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH);
	syscall(SYS_newfstatat, BAD_FD, "looked-at", &st, 0);
	syscall(SYS_newfstatat, place->dir_fd, "looked-at", &st, 0x40000000);
	syscall(SYS_statx, place->dir_fd, "looked-at", 0, STATX_BASIC_STATS, &stx);
	syscall(SYS_statx, place->dir_fd, "missing", 0, STATX_BASIC_STATS, &stx);
	syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx);
	syscall(SYS_faccessat, place->dir_fd, "looked-at", R_OK);
	syscall(SYS_faccessat, place->dir_fd, "missing", R_OK);
	syscall(SYS_faccessat2, place->dir_fd, "looked-at", R_OK, 0);
	syscall(SYS_faccessat2, place->dir_fd, "missing", R_OK, AT_EACCESS);
	syscall(SYS_symlinkat, "looked-at", place->dir_fd, "link-to-it");
	syscall(SYS_readlinkat, place->dir_fd, "link-to-it", buffer, sizeof(buffer));
	syscall(SYS_readlinkat, place->dir_fd, "looked-at", buffer, sizeof(buffer));
	syscall(SYS_statfs, in(place, "looked-at"), &(struct statfs) { 0 });
	syscall(SYS_statfs, in(place, "missing"), &(struct statfs) { 0 });
	syscall(SYS_fstatfs, fd, &(struct statfs) { 0 });
	syscall(SYS_fstatfs, BAD_FD, &(struct statfs) { 0 });
	syscall(SYS_execve, in(place, "missing"), NULL, NULL);
	syscall(SYS_execve, in(place, "looked-at"), NULL, NULL); /* no execute permission */
	syscall(SYS_execveat, place->dir_fd, "missing", NULL, NULL, 0);
	syscall(SYS_getdents64, place->dir_fd, buffer, sizeof(buffer));
	syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
	syscall(SYS_getdents64, BAD_FD, buffer, sizeof(buffer));
#ifdef SYS_stat
	syscall(SYS_stat, in(place, "looked-at"), &st);
	syscall(SYS_stat, in(place, "missing"), &st);
	syscall(SYS_stat, BAD_ADDRESS, &st);
	syscall(SYS_lstat, in(place, "link-to-it"), &st);
	syscall(SYS_lstat, in(place, "missing"), &st);
	syscall(SYS_access, in(place, "looked-at"), R_OK);
	syscall(SYS_access, in(place, "missing"), R_OK);
	syscall(SYS_readlink, in(place, "link-to-it"), buffer, sizeof(buffer));
	syscall(SYS_readlink, in(place, "missing"), buffer, sizeof(buffer));
	syscall(SYS_getdents, place->dir_fd, buffer, sizeof(buffer));
	syscall(SYS_getdents, BAD_FD, buffer, sizeof(buffer));
#endif
	syscall(SYS_lseek, fd, 10l, SEEK_SET);
	syscall(SYS_lseek, fd, 0l, SEEK_END);
	syscall(SYS_lseek, fd, -1l, SEEK_SET);
	syscall(SYS_lseek, place->dir_fd, 0l, SEEK_SET);
	syscall(SYS_lseek, BAD_FD, 0l, SEEK_SET);
	syscall(SYS_close, fd);
}

/* Owner, permissions, times and attributes, of existing and missing files. */
static void do_inodes(struct place *place)
{
	const char *names[] = { "inode", "no-inode" }, *kind = "user.kind";
	int at = place->dir_fd, fds[] = { make_file(place, "inode", 0), BAD_FD };
	struct timespec times[2] = { { 1, 0 }, { 2, 0 } };
	char value[16] = "text";

	for (int i = 0; i < 2; i++) {
		const char *name = names[i];

		syscall(SYS_mknodat, at, "fifo", S_IFIFO | 0600, 0); /* the second time it exists */
		syscall(SYS_fchmod, fds[i], 0600);
		syscall(SYS_fchmodat, at, name, 0640);
		syscall(SYS_fchown, fds[i], -1, -1);
		syscall(SYS_fchownat, at, name, -1, -1, 0);
		syscall(SYS_fchownat, fds[i], "", -1, -1, AT_EMPTY_PATH);
		syscall(SYS_utimensat, at, name, times, 0);
		syscall(SYS_utimensat, fds[i], NULL, times, 0); /* like futimens */
		syscall(SYS_fsetxattr, fds[i], kind, value, 4ul, 0);
		syscall(SYS_fgetxattr, fds[i], kind, value, sizeof(value));
		syscall(SYS_flistxattr, fds[i], NULL, 0ul);
		syscall(SYS_fremovexattr, fds[i], kind);
		syscall(SYS_setxattr, in(place, name), kind, value, 4ul, 0);
		syscall(SYS_getxattr, in(place, name), kind, value, sizeof(value));
		syscall(SYS_listxattr, in(place, name), NULL, 0ul);
		syscall(SYS_removexattr, in(place, name), kind);
		syscall(SYS_lsetxattr, in(place, name), kind, value, 4ul, 0);
		syscall(SYS_lgetxattr, in(place, name), kind, value, sizeof(value));
		syscall(SYS_llistxattr, in(place, name), NULL, 0ul);
		syscall(SYS_lremovexattr, in(place, name), kind);
#ifdef SYS_chmod
		syscall(SYS_mknod, in(place, "pipe"), S_IFIFO | 0600, 0);
		syscall(SYS_chmod, in(place, name), 0600);
		syscall(SYS_chown, in(place, name), -1, -1);
		syscall(SYS_lchown, in(place, name), -1, -1);
		syscall(SYS_utime, in(place, name), NULL);
		syscall(SYS_utimes, in(place, name), NULL);
		syscall(SYS_futimesat, at, name, NULL);
#endif
	}
	syscall(SYS_close, fds[0]);
}

static void do_sizes_and_syncs(struct place *place)
{
	int fd = make_file(place, "sized", PAGE);
	int bad_ways[] = { BAD_FD, -1 };

	syscall(SYS_ftruncate, fd, 10 * PAGE);
	syscall(SYS_ftruncate, place->dir_fd, 0l);
	syscall(SYS_truncate, in(place, "sized"), 5 * PAGE);
	syscall(SYS_truncate, in(place, "missing"), 5 * PAGE);
	syscall(SYS_fallocate, fd, 0, 0l, 6 * PAGE);
	syscall(SYS_fallocate, fd, 0, -1l, PAGE);
	syscall(SYS_fadvise64, fd, 0l, 0l, POSIX_FADV_WILLNEED);
	syscall(SYS_fadvise64, fd, 0l, 0l, 77);
	syscall(SYS_readahead, fd, 0l, PAGE);
	syscall(SYS_sync_file_range, fd, 0l, PAGE, SYNC_FILE_RANGE_WRITE);
	syscall(SYS_sync_file_range, fd, -1l, PAGE, SYNC_FILE_RANGE_WRITE);
	syscall(SYS_fdatasync, fd);
	syscall(SYS_fsync, fd);
	syscall(SYS_fsync, place->dir_fd);
	syscall(SYS_syncfs, place->dir_fd);
	for (size_t i = 0; i < 2; i++) {
		syscall(SYS_ftruncate, bad_ways[i], 0l);
		syscall(SYS_fallocate, bad_ways[i], 0, 0l, PAGE);
		syscall(SYS_fadvise64, bad_ways[i], 0l, 0l, POSIX_FADV_WILLNEED);
		syscall(SYS_readahead, bad_ways[i], 0l, PAGE);
		syscall(SYS_sync_file_range, bad_ways[i], 0l, PAGE, SYNC_FILE_RANGE_WRITE);
		syscall(SYS_fdatasync, bad_ways[i]);
		syscall(SYS_fsync, bad_ways[i]);
		syscall(SYS_syncfs, bad_ways[i]);
	}
	syscall(SYS_close, fd);
}

static void do_maps(struct place *place)
{
	int fd = make_file(place, "mapped", 8 * PAGE);
	int only = syscall(SYS_openat, place->dir_fd, "mapped", O_RDONLY);
	long base = syscall(SYS_mmap, NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0l);
	long none = syscall(SYS_mmap, NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0l);
	long populated =
		syscall(SYS_mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0l);
	long moved;

	require(base > 0 && none > 0 && populated > 0);
	*(volatile char *)base = 1;
	syscall(SYS_mmap, NULL, PAGE, PROT_READ, MAP_SHARED, BAD_FD, 0l);
	syscall(SYS_mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, only, 0l);
	syscall(SYS_mmap, NULL, 0ul, PROT_READ, MAP_SHARED, fd, 0l);
	syscall(SYS_mmap, NULL, PAGE, PROT_READ, MAP_SHARED, place->dir_fd, 0l);
	syscall(SYS_madvise, base, 8 * PAGE, MADV_WILLNEED);
	syscall(SYS_madvise, base, 8 * PAGE, MADV_POPULATE_READ);
	syscall(SYS_madvise, base, 8 * PAGE, 9999);
	syscall(SYS_madvise, none, PAGE, MADV_DONTNEED);
	syscall(SYS_mlock, base, PAGE);
	syscall(SYS_mlock, none, PAGE);
	syscall(SYS_mlock2, base + PAGE, PAGE, 0);
	syscall(SYS_mlock2, base + PAGE, PAGE, 0x40);
	syscall(SYS_msync, base, PAGE, MS_ASYNC);
	syscall(SYS_msync, base, PAGE, MS_SYNC);
	syscall(SYS_msync, base + 1, PAGE, MS_SYNC);
	syscall(SYS_munmap, base, 8 * PAGE);
	moved = syscall(SYS_mremap, populated, PAGE, 4 * PAGE, MREMAP_MAYMOVE);
	require(moved > 0);
	syscall(SYS_mremap, moved + 1, PAGE, PAGE, 0);
	syscall(SYS_munmap, moved, 4 * PAGE);
	syscall(SYS_munmap, moved + 1, PAGE);
	syscall(SYS_munmap, none, PAGE);
	syscall(SYS_close, only);
	syscall(SYS_close, fd);
}

static void do_transfers(struct place *place)
{
	int from = make_file(place, "from", 4 * PAGE), to = make_file(place, "to", 0);
	long in_at = 0, out_at = 0;
	int ends[2];

	require(pipe(ends) == 0);
	syscall(SYS_sendfile, to, from, NULL, PAGE);
	syscall(SYS_sendfile, to, BAD_FD, NULL, PAGE);
	syscall(SYS_sendfile, BAD_FD, from, NULL, PAGE);
	syscall(SYS_copy_file_range, from, &in_at, to, &out_at, PAGE, 0);
	syscall(SYS_copy_file_range, BAD_FD, NULL, to, NULL, PAGE, 0);
	syscall(SYS_copy_file_range, from, NULL, BAD_FD, NULL, PAGE, 0);
	syscall(SYS_copy_file_range, from, NULL, to, NULL, PAGE, 4);
	syscall(SYS_splice, from, &in_at, ends[1], NULL, 100ul, 0);
	syscall(SYS_splice, ends[0], NULL, to, &out_at, 100ul, 0);
	syscall(SYS_splice, from, NULL, to, NULL, PAGE, 0); /* neither is a pipe: EINVAL */
	syscall(SYS_splice, BAD_FD, NULL, to, NULL, PAGE, 0);
	syscall(SYS_close, to);
	syscall(SYS_close, from);
}

/* Locks that never block, and copies that share blocks where the file system supports it. */
static void do_locks(struct place *place)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10 };
	int fd = make_file(place, "locked", PAGE), other = make_file(place, "copied", 0);
	struct file_clone_range range = { .src_fd = fd };
	int fds[] = { fd, BAD_FD };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		syscall(SYS_flock, fds[i], LOCK_EX);
		syscall(SYS_flock, fds[i], LOCK_UN);
		lock.l_pid = 0;
		lock.l_type = F_WRLCK;
		syscall(SYS_fcntl, fds[i], F_SETLKW, &lock);
		syscall(SYS_fcntl, fds[i], F_GETLK, &lock);
		lock.l_type = F_UNLCK;
		syscall(SYS_fcntl, fds[i], F_SETLK, &lock);
		lock.l_pid = 0;
		lock.l_type = F_RDLCK;
		syscall(SYS_fcntl, fds[i], F_OFD_SETLKW, &lock);
		syscall(SYS_fcntl, fds[i], F_OFD_SETLK, &lock);
		syscall(SYS_fcntl, fds[i], F_OFD_GETLK, &lock);
		syscall(SYS_fcntl, fds[i], F_GETFD); /* not a recorded command */
		syscall(SYS_fcntl, fds[i], F_GETFL);
		syscall(SYS_ioctl, other, FICLONE, fds[i]);
		syscall(SYS_ioctl, fds[i], FS_IOC_GETFLAGS, &(int) { 0 });
		range.src_fd = fds[i];
		syscall(SYS_ioctl, other, FICLONERANGE, &range);
		syscall(SYS_ioctl, fds[i], FIDEDUPERANGE, BAD_ADDRESS);
	}
	syscall(SYS_fcntl, fd, F_SETLK, BAD_ADDRESS);
	syscall(SYS_close, other);
	syscall(SYS_close, fd);
}

static void do_names(struct place *place)
{
	int at = place->dir_fd;
	char other[600];

	syscall(SYS_mkdirat, at, "sub", 0755);
	syscall(SYS_mkdirat, at, "sub", 0755);
	syscall(SYS_mkdirat, BAD_FD, "sub", 0755);
	syscall(SYS_close, make_file(place, "one", 0));
	syscall(SYS_close, make_file(place, "two", 0));
	syscall(SYS_renameat, at, "one", at, "sub/one");
	syscall(SYS_renameat, at, "one", at, "sub/one");
	syscall(SYS_renameat2, at, "two", at, "sub/one", 1u); /* RENAME_NOREPLACE: EEXIST */
	syscall(SYS_renameat2, at, "two", at, "sub/one", 2u); /* RENAME_EXCHANGE */
	syscall(SYS_unlinkat, at, "sub", AT_REMOVEDIR);	      /* not empty */
	syscall(SYS_unlinkat, at, "sub/one", 0);
	syscall(SYS_unlinkat, at, "sub/one", 0);
	syscall(SYS_unlinkat, at, "sub", AT_REMOVEDIR);
	snprintf(other, sizeof(other), "%s/three", place->dir);
#ifdef SYS_rename
	syscall(SYS_rename, in(place, "two"), other);
	syscall(SYS_rename, in(place, "two"), other);
	syscall(SYS_link, other, in(place, "hard"));
	syscall(SYS_link, other, in(place, "hard"));
	syscall(SYS_symlink, "three", in(place, "soft"));
	syscall(SYS_symlink, "three", in(place, "soft"));
	syscall(SYS_unlink, in(place, "hard"));
	syscall(SYS_unlink, in(place, "hard"));
	syscall(SYS_mkdir, in(place, "dir"), 0755);
	syscall(SYS_mkdir, in(place, "dir"), 0755);
	syscall(SYS_rmdir, in(place, "dir"));
	syscall(SYS_rmdir, in(place, "dir"));
	syscall(SYS_rmdir, in(place, "three"));
#endif
}

/* Calls on anything but files, directories and block devices: not recorded by default. */
static void do_others(void)
{
	char a[64] = "x";
	struct iovec one = { a, sizeof(a) };
	struct stat st;
	int ends[2], pair[2];
	int zero = syscall(SYS_openat, AT_FDCWD, "/dev/zero", O_RDWR);

	require(zero >= 0 && pipe(ends) == 0 && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	syscall(SYS_read, zero, a, sizeof(a));
	syscall(SYS_pread64, zero, a, sizeof(a), 10l);
	syscall(SYS_write, zero, a, sizeof(a));
	syscall(SYS_lseek, zero, 0l, SEEK_SET);
	syscall(SYS_fstat, zero, &st);
	syscall(SYS_write, ends[1], a, sizeof(a));
	syscall(SYS_readv, ends[0], &one, 1);
	syscall(SYS_pread64, ends[0], a, 1, 0l); /* ESPIPE */
	syscall(SYS_lseek, ends[0], 0l, SEEK_SET);
	syscall(SYS_writev, pair[0], &one, 1);
	syscall(SYS_read, pair[1], a, sizeof(a));
	syscall(SYS_fstat, pair[0], &st);
	syscall(SYS_fsync, pair[0]);
	syscall(SYS_ftruncate, ends[0], 0l);
	for (int i = 0; i < 2; i++) {
		syscall(SYS_close, ends[i]);
		syscall(SYS_close, pair[i]);
	}
	syscall(SYS_close, zero);
}

static bool with_others;

static void *work(void *argument)
{
	struct place *place = argument;

	require(syscall(SYS_mkdirat, AT_FDCWD, place->dir, 0755) == 0);
	place->dir_fd = syscall(SYS_openat, AT_FDCWD, place->dir, O_RDONLY | O_DIRECTORY);
	require(place->dir_fd >= 0);
	do_opens(place);
	do_reads(place);
	do_writes(place);
	do_looks(place);
	do_inodes(place);
	do_sizes_and_syncs(place);
	do_maps(place);
	do_transfers(place);
	do_locks(place);
	do_names(place);
	if (with_others)
		do_others();
	syscall(SYS_close, place->dir_fd);
	return NULL;
}

/* A process's own work, with that of its threads at the same time. */
static void work_in_threads(const char *dir, const char *name)
{
	struct place places[THREADS + 1];
	pthread_t threads[THREADS];

	for (int i = 0; i <= THREADS; i++)
		snprintf(places[i].dir, sizeof(places[i].dir), "%s/%s-%d", dir, name, i);
	for (int i = 0; i < THREADS; i++)
		require(!pthread_create(&threads[i], NULL, work, &places[i]));
	work(&places[THREADS]);
	for (int i = 0; i < THREADS; i++)
		require(!pthread_join(threads[i], NULL));
}

static void wait_for(pid_t pid)
{
	int status;

	require(waitpid(pid, &status, 0) == pid && status == 0);
}

/* A tracer receives a child's SIGCHLD even if it is ignored; the interrupted call then restarts,
 * and strace would count it twice.
 */
static void block_child_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	require(!sigprocmask(SIG_BLOCK, &set, NULL));
}

int main(int argc, char **argv)
{
	pid_t forked, execed;

	block_child_signal();
	if (argc == 3 && !strcmp(argv[1], "--again")) {
		work_in_threads(argv[2], "execed");
		_exit(0);
	}
	require(argc == 2 || (argc == 3 && !strcmp(argv[2], "others")));
	with_others = argc == 3;
	forked = fork();
	if (forked == 0) {
		work_in_threads(argv[1], "forked");
		_exit(0);
	}
	execed = vfork();
	if (execed == 0) {
		execl("/proc/self/exe", "calls", "--again", argv[1], (char *)NULL);
		_exit(WORKLOAD_BROKEN);
	}
	work_in_threads(argv[1], "first");
	wait_for(forked);
	wait_for(execed);
	_exit(0);
}
