/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "discover/look.h"

#include "base/quality.h"

#include <fcntl.h>
#include <unistd.h>

static bool read_at(int fd, unsigned char *bytes, size_t n, off_t offset)
{
    bool done = false;
    for (int tries = 0; !done && tries < TA_LOOK_TRIES; tries++)
        done = pread(fd, bytes, n, offset) == (ssize_t)n;
    return done;
}

bool ta_look_length(const struct ta_source *source, uint32_t *length)
{
    *length = (uint32_t)source->size;
    if (!source->path || source->refusal || source->size == 0)
        return false;
    int fd = -1;
    for (int tries = 0; fd < 0 && tries < TA_LOOK_TRIES; tries++)
        fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    unsigned char magic[2] = {0}, tail[4] = {0};
    bool known = read_at(fd, magic, 2, 0);
    if (known && magic[0] == 0x1f && magic[1] == 0x8b) {
        known = source->size > 18 && read_at(fd, tail, 4, (off_t)source->size - 4);
        *length = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 |
                  (uint32_t)tail[3] << 24;
    }
    close(fd);
    return known;
}

struct ta_reader *ta_look_open(struct ta_ctx *ctx, const char *path, struct ta_quality *ignored,
                               bool *failed)
{
    struct ta_reader *reader = NULL;
    ta_quality_init(ignored);
    for (int tries = 0; !reader && !*failed && tries < TA_LOOK_TRIES; tries++) {
        reader = ta_reader_open(ctx, path, -1, ignored);
        *failed = !reader && ta_ctx_status(ctx) == TA_ERR_NOMEM;
    }
    return reader;
}

void ta_look_close(struct ta_reader *reader, struct ta_quality *ignored)
{
    if (reader)
        ta_reader_uncount(reader);
    ta_reader_close(reader);
    ta_quality_free(ignored);
}

bool ta_look_ended_early(const struct ta_quality *ignored)
{
    return ta_quality_count(ignored, TA_Q_TRUNCATED) > 0;
}
