/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects that contain themselves, and objects nested too deep. */
#include "parse/pickle/object.h"

#include "traceanalyze/base.h"

#include <inttypes.h>

/* A height above the limit is not needed, and the field has 16 bits. */
#define LEVELS_MAX UINT16_MAX
/* `height` of a container whose items are being looked at. */
#define OPEN UINT16_MAX

/* A container on the way from the root, and its item that is next. */
struct level {
    ta_object object;
    uint32_t next;
};

/* Each container is looked at once, however often it is shared: what is known of it then is how
 * many levels it has. */
struct check {
    struct ta_ctx *ctx;
    struct ta_objects *objects;
    struct level *levels;
    size_t n, limit;
};

static enum ta_status enter(struct check *c, ta_object id)
{
    struct object *object = &c->objects->all.at[id];
    if (!is_container(object))
        return TA_OK;
    if (object->height == OPEN)
        return ta_fail(c->ctx, TA_ERR_INPUT, "An object contains itself, at byte offset %" PRIu32,
                       object->offset);
    if (c->n + (object->height ? object->height : 1) > c->limit)
        return ta_fail(
            c->ctx, TA_ERR_INPUT,
            "Objects are nested deeper than the limit \"pickle-depth\": limit=%zu, at byte "
            "offset %" PRIu32,
            c->limit, object->offset);
    if (object->height == 0) {
        object->height = OPEN;
        c->levels[c->n++] = (struct level){id, 0};
    }
    return TA_OK;
}

/* All items have been looked at: a container is one level more than the highest of them. */
static void leave(struct check *c)
{
    struct object *object = &c->objects->all.at[c->levels[--c->n].object];
    uint16_t most = 0;
    for (uint32_t i = 0; i < object->n; i++) {
        const struct object *item = &c->objects->all.at[object->items[i]];
        if (is_container(item) && item->height > most)
            most = item->height;
    }
    object->height = (uint16_t)(most + 1);
}

enum ta_status objects_check(struct ta_ctx *ctx, struct ta_objects *objects)
{
    const uint64_t limit = ta_ctx_limit(ctx, TA_LIMIT_PICKLE_DEPTH);
    struct check c = {.ctx = ctx, .objects = objects, .limit = LEVELS_MAX - 1};
    if (limit < c.limit)
        c.limit = (size_t)limit;
    c.levels = calloc(c.limit + 1, sizeof *c.levels);
    if (!c.levels)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the objects of a pickle");
    enum ta_status status = enter(&c, objects->root);
    while (status == TA_OK && c.n) {
        struct level *level = &c.levels[c.n - 1];
        const struct object *object = &objects->all.at[level->object];
        if (level->next < object->n)
            status = enter(&c, object->items[level->next++]);
        else
            leave(&c);
    }
    free(c.levels);
    return status;
}
