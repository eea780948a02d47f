/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of a file as they lie on disk, for the codecs. */
#include "read/raw.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

bool ta_raw_open(struct ta_raw *raw, int fd, const atomic_int *canceled)
{
    struct stat st;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    const bool is_file = at >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    *raw = (struct ta_raw){.fd = fd,
                           .buffer = calloc(1, TA_RAW_KEPT + TA_RAW_BUFFER),
                           .at = TA_RAW_KEPT,
                           .end = TA_RAW_KEPT,
                           .start = at,
                           .size = is_file && st.st_size > at ? (uint64_t)(st.st_size - at) : 0,
                           .canceled = canceled};
    return raw->buffer != NULL;
}

void ta_raw_close(struct ta_raw *raw)
{
    close(raw->fd);
    free(raw->buffer);
}

size_t ta_raw_read(struct ta_raw *raw, void *out, size_t max)
{
    if (raw->eof || raw->error || atomic_load_explicit(raw->canceled, memory_order_relaxed))
        return 0;
    ssize_t got;
    do {
        got = read(raw->fd, out, max);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        raw->error = errno;
    raw->eof = got == 0;
    return got > 0 ? (size_t)got : 0;
}

bool ta_raw_fill(struct ta_raw *raw)
{
    unsigned char kept[TA_RAW_KEPT];
    memcpy(kept, raw->buffer + raw->end - TA_RAW_KEPT, TA_RAW_KEPT);
    const size_t got = ta_raw_read(raw, raw->buffer + TA_RAW_KEPT, TA_RAW_BUFFER);
    if (got == 0)
        return false;
    memcpy(raw->buffer, kept, TA_RAW_KEPT);
    raw->at = TA_RAW_KEPT;
    raw->end = TA_RAW_KEPT + got;
    return true;
}

bool ta_raw_seek(struct ta_raw *raw, uint64_t offset)
{
    if (!ta_raw_can_seek(raw) || raw->error ||
        lseek(raw->fd, raw->start + (off_t)offset, SEEK_SET) < 0)
        return false;
    raw->at = raw->end;
    raw->consumed = offset;
    raw->eof = false;
    return true;
}
