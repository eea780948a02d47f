/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which paths code may be loaded from. */
#include "plugin/registry_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether someone other than root and this user could change the file that `fd` refers to. The
 * sticky bit of /tmp does not help: it keeps others from removing files, not from putting some
 * there. */
static const char *distrust(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return strerror(errno);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return "it belongs to another user";
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return st.st_mode & S_ISVTX ? "everybody may write to it"
                                    : "others may write to it (chmod go-w)";
    return NULL;
}

/* Opens the next component of a real path below `parent`, which it closes. */
static int open_below(int parent, const char *name, bool last)
{
    int flags = O_CLOEXEC | O_NOFOLLOW | (last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY);
    int fd = openat(parent, name, flags);
    int error = errno;
    close(parent);
    errno = error;
    return fd;
}

/* Walks down from / through descriptors: what has been checked cannot be exchanged meanwhile. */
static enum ta_status walk(struct ta_ctx *ctx, const char *path, char *real, int *fd)
{
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (char *name = real + 1, *slash; at >= 0 && *name; name = slash + 1) {
        slash = strchrnul(name, '/');
        bool last = !*slash;
        *slash = '\0';
        at = open_below(at, name, last);
        const char *reason = at < 0 ? NULL : distrust(at);
        if (reason) {
            close(at);
            return ta_fail(ctx, TA_ERR_PLUGIN,
                           "Plugins are not loaded from an untrusted place: path=%s: %s: %s", path,
                           real, reason);
        }
        if (last)
            break;
        *slash = '/';
    }
    if (at < 0)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Cannot open plugin: path=%s: %s", path,
                       strerror(errno));
    *fd = at;
    return TA_OK;
}

enum ta_status ta_trusted_open(struct ta_ctx *ctx, const char *path, int *fd)
{
    char *real = realpath(path, NULL);
    if (!real)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Cannot open plugin: path=%s: %s", path,
                       strerror(errno));
    enum ta_status status = walk(ctx, path, real, fd);
    free(real);
    return status;
}
