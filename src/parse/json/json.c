/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of records of traceanalyze/document.h: making it, the machine of walk.h, and access to
 * its tokens. */
#include "parse/json/values.h"
#include "traceanalyze/document.h"

#include "base/context.h"
#include "base/quality.h"
#include "parse/json/walk.h"

#include <stdlib.h>

/* ---- making -------------------------------------------------------------------------------- */

static struct ta_json *make(struct ta_ctx *ctx, struct ta_reader *reader)
{
    const size_t depth = (size_t)ta_ctx_limit(ctx, TA_LIMIT_DEPTH);
    struct ta_json *json = calloc(1, sizeof *json);
    struct ta_json_state *st = calloc(1, sizeof *st);
    if (json && st) {
        json->state = st;
        st->scan = (struct scan){.stack = calloc(depth / 64 + 1, sizeof *st->scan.stack),
                                 .stack_limit = depth,
                                 .string_limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_STRING),
                                 .number_limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_NUMBER)};
        st->event_limit = ta_ctx_limit(ctx, TA_LIMIT_EVENT);
        walk_set_usual(st, ",{", 1);
        if (st->scan.stack && layout_init(&st->layout, ctx->shared->cpu, st->scan.number_limit) &&
            window_init(&st->window, reader, (size_t)st->event_limit))
            return json;
        layout_free(&st->layout);
        free(st->scan.stack);
    }
    free(json);
    free(st);
    return NULL;
}

/* What the walk over a part before has left; what was learned there stays known. */
static struct ta_json *take_parked(struct ta_part *part, struct ta_reader *reader)
{
    struct ta_json *json = part->parked;
    struct ta_json_state *st = json->state;
    part->parked = NULL;
    json->saw_array = json->saw_document = false;
    json->truncated = json->unclosed = false;
    json->bytes_skipped = 0;
    window_restart(&st->window, reader, 0);
    st->scan.notes = 0;
    st->place = PLACE_BETWEEN;
    st->first = st->fresh = st->lines = st->opened = st->beyond = false;
    st->document_start = 0;
    return json;
}

/* Begins where the stream does, or between two records of the one array, as a part guesses. */
static void begin(struct ta_json *json, struct ta_part *part)
{
    struct ta_json_state *st = json->state;
    const bool guesses = part->start > 0;
    st->part = part;
    part->taken = true;
    part->find = walk_find_cut;
    part->json = json;
    st->window.base = st->last_end = part->start;
    st->documents = guesses;
    st->in_object = guesses && part->in_object;
    st->comma = guesses;
    json->saw_document = json->saw_array = guesses;
    if (guesses)
        st->place = PLACE_RECORDS;
}

struct ta_json *ta_json_new(struct ta_ctx *ctx, struct ta_reader *reader,
                            const struct ta_record_schema *schema)
{
    struct ta_part *part = ctx->part;
    struct ta_json *json = part && part->parked ? take_parked(part, reader) : make(ctx, reader);
    if (!json)
        return NULL;
    struct ta_json_state *st = json->state;
    st->quality = ta_reader_quality(reader);
    record_keys_init(&st->keys, schema);
    st->everything = (struct ta_part){.border = UINT64_MAX};
    begin(json, part ? part : &st->everything);
    return json;
}

void walk_free_parked(struct ta_json *json)
{
    if (!json)
        return;
    window_free(&json->state->window);
    layout_free(&json->state->layout);
    free(json->state->scan.stack);
    free(json->state->text);
    free(json->state);
    free(json);
}

void ta_json_free(struct ta_json *json)
{
    if (json && json->state->part->relay)
        json->state->part->parked = json;
    else
        walk_free_parked(json);
}

/* ---- the machine --------------------------------------------------------------------------- */

/* One step from a place other than RECORDS. */
static bool walk_on(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    /* Outside the array no part can begin, so the walk only learns that it has passed some; at the
     * end of the input, all that are left. */
    if (walk_here(st) >= ta_part_border(st->part) &&
        ta_part_at_border(st->part, walk_here(st), false))
        st->place = PLACE_DONE;
    switch (st->place) {
    case PLACE_BETWEEN:
        if (!walk_open_document(json))
            st->place = PLACE_DONE;
        return false;
    case PLACE_LINE:
        walk_take_record(json);
        st->place = PLACE_BETWEEN;
        *item = TA_JSON_RECORD;
        return true;
    case PLACE_MEMBERS:
        return walk_next_member(json, item);
    case PLACE_LOST:
        return walk_resume(json, item);
    default:
        *item = TA_JSON_END;
        return true;
    }
}

enum ta_status ta_json_next(struct ta_ctx *ctx, struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    for (bool have = false; !have;) {
        have = st->place == PLACE_RECORDS ? walk_next_element(json, item) : walk_on(json, item);
        if (st->window.failed)
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot grow the window of a file: bytes=%zu",
                           st->window.capacity * 2);
    }
    ta_quality_set_place(st->quality,
                         *item == TA_JSON_RECORD ? json->record.offset : json->member.offset);
    return TA_OK;
}

/* ---- tokens -------------------------------------------------------------------------------- */

struct ta_slice ta_json_text(struct ta_json *json, const struct ta_token *token)
{
    struct ta_json_state *st = json->state;
    const struct ta_slice raw = {token->ptr, token->len};
    if (token->type != TA_TOKEN_STRING || token->plain)
        return raw;
    const size_t most = record_text_max(token->len, st->scan.string_limit);
    if (st->text_max < most) {
        char *grown = realloc(st->text, most);
        if (!grown) {
            st->window.failed = true;
            return (struct ta_slice){"", 0};
        }
        st->text = grown;
        st->text_max = most;
    }
    return record_decode(raw, st->scan.string_limit, st->text);
}

void ta_json_members(struct ta_json *json, const struct ta_token *object,
                     bool (*each)(void *user, const struct ta_token *key,
                                  const struct ta_token *value),
                     void *user)
{
    if (object->type != TA_TOKEN_OBJECT)
        return;
    struct scan scan = json->state->scan;
    scan.p = object->ptr + 1;
    scan.end = object->ptr + object->len;
    for (bool first = true; scan_separator(&scan, first, '}') == SCAN_OK && *scan.p == '"';
         first = false) {
        struct ta_token key, value;
        if (scan_string(&scan, &key) != SCAN_OK || scan_colon(&scan) != SCAN_OK ||
            scan_value(&scan, &value) != SCAN_OK || !each(user, &key, &value))
            return;
    }
}

void ta_json_elements(struct ta_json *json, const struct ta_token *array,
                      bool (*each)(void *user, const struct ta_token *element), void *user)
{
    if (array->type != TA_TOKEN_ARRAY)
        return;
    struct scan scan = json->state->scan;
    scan.p = array->ptr + 1;
    scan.end = array->ptr + array->len;
    for (bool first = true; scan_separator(&scan, first, ']') == SCAN_OK && *scan.p != ']';
         first = false) {
        struct ta_token element;
        if (scan_value(&scan, &element) != SCAN_OK || !each(user, &element))
            return;
    }
}
