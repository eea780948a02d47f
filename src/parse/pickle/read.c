/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole file into memory, and into objects. */
#include "parse/pickle/object.h"

#include "traceanalyze/base.h"

/* Room after the last byte, so that numbers may be scanned in vectors. */
enum { PADDING = 128, FIRST_SIZE = 1 << 18 };

/* Grows with what was read, never with what a file claims. */
static enum ta_status load(struct ta_ctx *ctx, struct ta_objects *objects, struct ta_reader *reader)
{
    for (size_t room = FIRST_SIZE;; room *= 2) {
        char *grown = realloc(objects->bytes, room + PADDING);
        if (!grown)
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a file of more than %zu bytes",
                           objects->n_bytes);
        objects->bytes = grown;
        while (objects->n_bytes < room) {
            const size_t got =
                ta_reader_read(reader, grown + objects->n_bytes, room - objects->n_bytes);
            objects->n_bytes += got;
            if (got == 0) {
                memset(grown + objects->n_bytes, 0, PADDING);
                return TA_OK;
            }
        }
        if (room >= PICKLE_BYTES_MAX)
            return ta_fail(ctx, TA_ERR_INPUT, "The file is larger than 2 GiB");
    }
}

/* No pickle begins like a JSON document: "[" and "{" are no opcodes. */
static bool is_json(const struct ta_objects *objects)
{
    size_t at = 0;
    while (at < objects->n_bytes && memchr(" \t\r\n", objects->bytes[at], 4))
        at++;
    return at < objects->n_bytes && (objects->bytes[at] == '[' || objects->bytes[at] == '{');
}

struct ta_objects *ta_objects_read(struct ta_ctx *ctx, struct ta_reader *reader)
{
    struct ta_objects *objects = objects_new();
    enum ta_status status = objects
                                ? load(ctx, objects, reader)
                                : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the objects of a pickle");
    if (status == TA_OK)
        status = is_json(objects) ? objects_from_json(ctx, objects)
                                  : pickle_parse(ctx, objects, ta_reader_quality(reader));
    if (status == TA_OK)
        status = objects_check(ctx, objects);
    if (status == TA_OK)
        return objects;
    ta_objects_free(objects);
    return NULL;
}
