/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of a configuration file. */
#include "base/yaml/yaml.h"

#include "base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static enum ta_status fail_to_read(struct ta_ctx *ctx, const char *path, int error)
{
    return ta_fail(ctx, TA_ERR_USAGE, "Cannot read %s: %s", path, strerror(error));
}

/* Reads on in pieces, since a pipe has no size.  One byte beyond the limit says that it is
 * passed. */
static enum ta_status read_all(struct ta_ctx *ctx, struct ta_arena *arena, const char *path, int fd,
                               struct ta_slice *bytes)
{
    const uint64_t limit = ta_ctx_limit(ctx, TA_LIMIT_CONFIG_SIZE);
    size_t used = 0, room = 4096;
    char *text = ta_arena_alloc(arena, room);
    while (text) {
        const ssize_t n = read(fd, text + used, room - used);
        if (n < 0 && errno == EINTR && !ta_ctx_canceled(ctx))
            continue;
        if (n < 0)
            return fail_to_read(ctx, path, errno);
        if (n == 0) {
            *bytes = (struct ta_slice){text, used};
            return TA_OK;
        }
        used += (size_t)n;
        if (used > limit)
            return ta_fail(ctx, TA_ERR_USAGE,
                           "The configuration %s is larger than the limit config-size=%" PRIu64,
                           path, limit);
        if (used < room)
            continue;
        char *grown = ta_arena_alloc(arena, room * 2);
        if (grown)
            memcpy(grown, text, used);
        text = grown;
        room *= 2;
    }
    return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: configuration %s", path);
}

enum ta_status ta_config_file_read(struct ta_ctx *ctx, struct ta_arena *arena, const char *path,
                                   bool optional, struct ta_slice *bytes)
{
    /* A pipe that someone left in the working folder must not hold the program up. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | (optional ? O_NONBLOCK : 0));
    struct stat st;
    enum ta_status status = TA_OK;
    *bytes = (struct ta_slice){0};
    if (fd < 0) {
        const int error = errno;
        /* Also in a folder that this user may not look into there is none for this user. */
        const bool is_absent = error == ENOENT || error == ENOTDIR || stat(path, &st) != 0;
        return optional && is_absent ? TA_OK : fail_to_read(ctx, path, error);
    }
    if (fstat(fd, &st) != 0)
        status = fail_to_read(ctx, path, errno);
    else if (S_ISDIR(st.st_mode))
        status = fail_to_read(ctx, path, EISDIR);
    else if (optional && !S_ISREG(st.st_mode))
        status = ta_fail(ctx, TA_ERR_USAGE, "The configuration %s is no regular file", path);
    else
        status = read_all(ctx, arena, path, fd, bytes);
    close(fd);
    return status;
}
