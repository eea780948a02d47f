/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing bytes: buffered, complete, with the first error kept until the end. */
#include "render/file.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER_SIZE = 64 * 1024 };

bool ta_file_start(struct ta_file *file, int fd, bool foreign, char *path)
{
    *file = (struct ta_file){.path = path, .fd = fd, .foreign = foreign};
    file->buffer = malloc(BUFFER_SIZE);
    return file->buffer != NULL;
}

void ta_file_end(struct ta_file *file)
{
    if (file->fd >= 0 && !file->foreign)
        close(file->fd);
    file->fd = -1;
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

static void flush(struct ta_file *file)
{
    write_all(file, file->buffer, file->used);
    file->used = 0;
}

void ta_put(struct ta_file *out, struct ta_slice bytes)
{
    if (bytes.len > BUFFER_SIZE - out->used)
        flush(out);
    if (bytes.len > BUFFER_SIZE) {
        write_all(out, bytes.ptr, bytes.len);
    } else if (bytes.len) {
        memcpy(out->buffer + out->used, bytes.ptr, bytes.len);
        out->used += bytes.len;
    }
}

void ta_puts(struct ta_file *out, const char *text)
{
    ta_put(out, ta_slice_of(text));
}

void ta_putc(struct ta_file *out, char byte)
{
    if (out->used == BUFFER_SIZE)
        flush(out);
    out->buffer[out->used++] = byte;
}

void ta_putf(struct ta_file *out, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) {
        if (!out->error)
            out->error = ENOMEM;
        return;
    }
    ta_put(out, (struct ta_slice){text, (size_t)n});
    free(text);
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

enum ta_status ta_file_close(struct ta_ctx *ctx, struct ta_file *file)
{
    if (file->fd < 0)
        return ta_fail(ctx, TA_ERR_INTERNAL, "Product closed twice: path=\"%s\"", file->path);
    flush(file);
    if (!file->error && !file->foreign && !synchronize(file->fd))
        file->error = errno;
    bool closed = file->foreign ? probe_close(file->fd) : close(file->fd) == 0 || errno == EINTR;
    if (!closed && !file->error)
        file->error = errno;
    file->fd = -1;
    free(file->buffer);
    file->buffer = NULL;
    if (file->error)
        return ta_fail(ctx, TA_ERR_OUTPUT, "Cannot write: path=\"%s\", reason=%s", file->path,
                       strerror(file->error));
    file->complete = true;
    return TA_OK;
}
