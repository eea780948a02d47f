/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing bytes: buffered, complete, with the first error kept until the end. */
#include "base/write/file.h"

#include "base/deflate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A buffer, the first one of a draft, and what is usually enough for one ta_putf(). */
enum { BUFFER_SIZE = 64 * 1024, DRAFT_SIZE = 4 * 1024, LINE_SIZE = 1024 };

bool ta_file_start(struct ta_file *file, int fd, bool foreign, char *path)
{
    *file = (struct ta_file){.path = path, .fd = fd, .foreign = foreign};
    file->buffer = malloc(BUFFER_SIZE);
    file->room = BUFFER_SIZE;
    return file->buffer != NULL;
}

void ta_file_start_draft(struct ta_file *draft)
{
    *draft = (struct ta_file){.fd = -1, .is_draft = true};
}

void ta_file_end(struct ta_file *file)
{
    if (file->fd >= 0 && !file->foreign)
        close(file->fd);
    file->fd = -1;
    ta_deflater_free(file->gzip);
    file->gzip = NULL;
    free(file->buffer);
    file->buffer = NULL;
    free(file->path);
    file->path = NULL;
}

/* Someone may have given us a standard output that does not block. */
static bool wait_until_writable(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    return poll(&wait, 1, -1) > 0 || errno == EINTR;
}

static void write_all(struct ta_file *file, const char *bytes, size_t n)
{
    while (n && !file->error) {
        ssize_t written = write(file->fd, bytes, n);
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        } else if (written == 0) {
            file->error = ENOSPC; /* what POSIX leaves open; never seen on Linux */
        } else if (errno == EAGAIN) {
            if (!wait_until_writable(file->fd))
                file->error = errno;
        } else if (errno != EINTR) {
            file->error = errno;
        }
    }
}

/* Bytes as they were put: packs them or writes them. */
static void pass_on(struct ta_file *file, const char *bytes, size_t n)
{
    file->flushed += n;
    if (!file->gzip)
        write_all(file, bytes, n);
    else if (!file->error && !ta_deflater_put(file->gzip, (struct ta_slice){bytes, n}))
        file->error = ENOMEM;
}

static void flush(struct ta_file *file)
{
    pass_on(file, file->buffer, file->used);
    file->used = 0;
}

/* A draft without memory has failed, and what it holds is lost. */
static void widen(struct ta_file *draft, size_t n)
{
    const size_t wanted = draft->room * 2 + n + DRAFT_SIZE;
    char *grown = draft->error ? NULL : realloc(draft->buffer, wanted);
    if (grown) {
        draft->buffer = grown;
        draft->room = wanted;
    } else {
        draft->error = ENOMEM;
        draft->used = 0;
    }
}

/* Makes room for `n` bytes in the buffer, if it can have as many; says whether it has. */
static inline bool make_room(struct ta_file *file, size_t n)
{
    if (n <= file->room - file->used)
        return true;
    if (file->is_draft)
        widen(file, n);
    else
        flush(file);
    return n <= file->room - file->used;
}

void ta_put(struct ta_file *out, struct ta_slice bytes)
{
    if (!make_room(out, bytes.len)) {
        if (!out->is_draft)
            pass_on(out, bytes.ptr, bytes.len);
    } else if (bytes.len) {
        memcpy(out->buffer + out->used, bytes.ptr, bytes.len);
        out->used += bytes.len;
    }
}

void ta_file_take(struct ta_file *file, struct ta_file *draft)
{
    ta_put(file, (struct ta_slice){draft->buffer, draft->used});
    if (!file->error)
        file->error = draft->error;
    ta_file_end(draft);
}

static void write_packed(void *user, struct ta_slice packed)
{
    write_all(user, packed.ptr, packed.len);
}

void ta_file_pack(struct ta_ctx *ctx, struct ta_file *file, const char *comment)
{
    file->gzip = ta_deflater_new(ctx, comment, write_packed, file);
    if (!file->gzip)
        file->error = ENOMEM;
}

bool ta_file_can_patch(const struct ta_file *file)
{
    return !file->gzip && lseek(file->fd, 0, SEEK_CUR) >= 0;
}

void ta_file_patch(struct ta_file *file, uint64_t offset, struct ta_slice bytes)
{
    flush(file);
    while (bytes.len && !file->error) {
        const ssize_t written = pwrite(file->fd, bytes.ptr, bytes.len, (off_t)offset);
        if (written > 0) {
            bytes = ta_slice_from(bytes, (size_t)written);
            offset += (uint64_t)written;
        } else if (written == 0 || errno != EINTR) {
            file->error = written == 0 ? ENOSPC : errno;
        }
    }
}

uint64_t ta_file_bytes(const struct ta_file *file)
{
    return file->flushed + file->used;
}

void ta_putc(struct ta_file *out, char byte)
{
    if (make_room(out, 1))
        out->buffer[out->used++] = byte;
}

/* Straight into the buffer; text longer than that needs memory of its own. */
void ta_putf(struct ta_file *out, const char *format, ...)
{
    char *text;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const size_t room = make_room(out, LINE_SIZE) ? out->room - out->used : 0;
    const int n = vsnprintf(out->buffer + out->used, room, format, args);
    if (n >= 0 && (size_t)n < room) {
        out->used += (size_t)n;
    } else if (vasprintf(&text, format, again) >= 0) {
        ta_put(out, (struct ta_slice){text, (size_t)n});
        free(text);
    } else if (!out->error) {
        out->error = ENOMEM;
    }
    va_end(again);
    va_end(args);
}

/* Devices and pipes cannot be synchronized, which is no failure. */
static bool synchronize(int fd)
{
    while (fsync(fd) != 0)
        if (errno != EINTR)
            return errno == EINVAL || errno == EROFS || errno == ENOTSUP;
    return true;
}

/* Closing a copy lets a network file system report what it could not write. */
static bool probe_close(int fd)
{
    int copy = dup(fd);
    return copy < 0 || close(copy) == 0 || errno == EINTR;
}

enum ta_status ta_fail_path(struct ta_ctx *ctx, const char *what, const char *path)
{
    int reason = errno;
    return ta_fail(ctx, reason == ENOMEM ? TA_ERR_NOMEM : TA_ERR_OUTPUT,
                   "%s: path=\"%s\", reason=%s", what, path, strerror(reason));
}

static enum ta_status say_error(struct ta_ctx *ctx, const struct ta_file *file)
{
    errno = file->error;
    return ta_fail_path(ctx, "Cannot write", file->path);
}

/* Brings what was written to the disk, waits for it and closes. */
static void settle(struct ta_file *file)
{
    if (!file->error && !file->foreign && !synchronize(file->fd))
        file->error = errno;
    bool closed = file->foreign ? probe_close(file->fd) : close(file->fd) == 0 || errno == EINTR;
    if (!closed && !file->error)
        file->error = errno;
    file->fd = -1;
}

enum ta_status ta_file_close(struct ta_ctx *ctx, struct ta_file *file)
{
    if (file->is_draft && !file->complete) {
        file->complete = !file->error;
        return file->error ? say_error(ctx, file) : TA_OK;
    }
    if (file->fd < 0 || file->complete)
        return ta_fail(ctx, TA_ERR_INTERNAL, "Product closed twice: path=\"%s\"", file->path);
    flush(file);
    if (file->gzip && !file->error && !ta_deflater_end(file->gzip))
        file->error = ENOMEM;
    ta_deflater_free(file->gzip);
    file->gzip = NULL;
    free(file->buffer);
    file->buffer = NULL;
    if (!file->settles || file->error)
        settle(file);
    else /* where it cannot be begun, settling does it all */
        sync_file_range(file->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    file->complete = !file->error;
    return file->error ? say_error(ctx, file) : TA_OK;
}

enum ta_status ta_file_settle(struct ta_ctx *ctx, struct ta_file *file)
{
    if (file->complete && file->fd >= 0)
        settle(file);
    file->complete = !file->error;
    return file->error ? say_error(ctx, file) : TA_OK;
}
