/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distinguishing our own earlier products from everything else that may be in their place. */
#include "render/target.h"

#include "base/write/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Where the signature of an earlier product is looked for, from either end. */
enum { SIGNATURE_SPAN = 4096 };

static bool read_span(int fd, off_t from, char *bytes, size_t *n)
{
    *n = 0;
    while (*n < SIGNATURE_SPAN) {
        ssize_t got = pread(fd, bytes + *n, SIGNATURE_SPAN - *n, from + (off_t)*n);
        if (got < 0 && errno != EINTR)
            return false;
        if (got == 0)
            break;
        if (got > 0)
            *n += (size_t)got;
    }
    return true;
}

/* True when the file is one of ours: its beginning or its end holds the signature. */
static bool has_signature(int fd, off_t size, const char *signature)
{
    char bytes[SIGNATURE_SPAN];
    const off_t tail = size > SIGNATURE_SPAN ? size - SIGNATURE_SPAN : 0;
    for (int end = 0; end < 2; end++) {
        size_t n;
        if (!read_span(fd, end ? tail : 0, bytes, &n))
            return false;
        if (memmem(bytes, n, signature, strlen(signature)))
            return true;
    }
    return false;
}

static enum ta_target judge_regular(struct ta_ctx *ctx, const struct ta_folder *folder,
                                    const char *name, const char *path, const char *signature)
{
    int fd = openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        ta_fail_path(ctx, "Cannot look at the file to replace", path);
        if (fd >= 0)
            close(fd);
        return TA_TARGET_REFUSED;
    }
    bool ours = st.st_size == 0 || (*signature && has_signature(fd, st.st_size, signature));
    close(fd);
    if (!ours)
        ta_fail(ctx, TA_ERR_OUTPUT,
                "Not overwriting a file that is not ours: path=\"%s\", try another -o or remove "
                "the file",
                path);
    return ours ? TA_TARGET_REPLACED : TA_TARGET_REFUSED;
}

/* Links in /dev and /proc, such as /dev/stdout, are the kernel's names for open files. */
static bool holds_kernel_links(const struct ta_folder *folder)
{
    struct stat ours, dev;
    struct statfs fs;
    if (fstatfs(folder->fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
        return true;
    return fstat(folder->fd, &ours) == 0 && stat("/dev", &dev) == 0 && ours.st_dev == dev.st_dev &&
           ours.st_ino == dev.st_ino;
}

enum ta_target ta_target_judge(struct ta_ctx *ctx, const struct ta_folder *folder, const char *name,
                               const char *path, const char *signature)
{
    struct stat st;
    if (fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return TA_TARGET_FREE;
        ta_fail_path(ctx, "Cannot create", path);
        return TA_TARGET_REFUSED;
    }
    switch (st.st_mode & S_IFMT) {
    case S_IFDIR:
        ta_fail(ctx, TA_ERR_OUTPUT,
                "A folder is where an output file should go: path=\"%s\", try another -o", path);
        return TA_TARGET_REFUSED;
    case S_IFREG:
        return judge_regular(ctx, folder, name, path, signature);
    case S_IFLNK:
        return holds_kernel_links(folder) ? TA_TARGET_DIRECT : TA_TARGET_REPLACED;
    default:
        return TA_TARGET_DIRECT;
    }
}
