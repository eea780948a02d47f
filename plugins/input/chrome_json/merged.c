/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `merge` says of the traces that it put into the file: their ranks and clocks at its
 * beginning, and at its end what else each of them said of itself. */
#include "chrome_json.h"
#include "model/rank_rows.h"
#include "parse/json/values.h"

/* Ranks of a file at most; a file with more of them is read by the names of its processes. */
enum { PARTS_MOST = 4096 };

/* One trace as the file describes it. */
struct described {
    struct reading *reading;
    int64_t rank;
    struct ta_clock_shift clock;
    struct ta_slice file;
    char file_text[512];
};

static bool each_fact(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct described *d = user;
    const struct ta_slice name = ta_json_text(d->reading->json, key);
    int64_t number;
    if (ta_slice_equal(name, TA_LIT("file"))) {
        const struct ta_slice file = ta_json_text(d->reading->json, value);
        const size_t n = file.len < sizeof d->file_text ? file.len : sizeof d->file_text - 1;
        memcpy(d->file_text, file.ptr, n);
        d->file = (struct ta_slice){d->file_text, n};
        return true;
    }
    if (!ta_token_integer(value, &number))
        return true;
    if (ta_slice_equal(name, TA_LIT("rank")))
        d->rank = number;
    else if (ta_slice_equal(name, TA_LIT("offset_ns")))
        d->clock.offset_ns = number;
    else if (ta_slice_equal(name, TA_LIT("drift_ppt")))
        d->clock.drift_ppt = number;
    else if (ta_slice_equal(name, TA_LIT("origin_ns")))
        d->clock.origin_ns = number;
    return true;
}

static enum ta_status no_memory(struct reading *r)
{
    return ta_fail(r->ctx, TA_ERR_NOMEM, "Cannot hold the ranks of a merged file");
}

static bool each_trace(void *user, const struct ta_token *token)
{
    struct reading *r = user;
    struct described d = {.reading = r, .rank = TA_MISSING};
    ta_json_members(r->json, token, each_fact, &d);
    if (d.rank < 0 || d.rank > INT32_MAX || r->builder->parts.n == PARTS_MOST)
        return false;
    struct ta_rank_rows *part = ta_builder_add_part(r->builder, d.rank);
    if (part) {
        part->clock = d.clock;
        part->file = ta_arena_copy(&r->builder->trace->arena, d.file);
    }
    if (!part || !part->file)
        r->status = no_memory(r);
    return r->status == TA_OK;
}

static bool each_of_merge(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct reading *r = user;
    if (r->builder->parts.n == 0 && ta_slice_equal(ta_json_text(r->json, key), TA_LIT("traces")))
        ta_json_elements(r->json, value, each_trace, r);
    return r->status == TA_OK;
}

void chrome_take_merge(struct reading *r, const struct ta_token *value)
{
    ta_json_members(r->json, value, each_of_merge, r);
}

/* ---- what a trace says of itself ------------------------------------------------------------- */

struct saying {
    struct reading *reading;
    int64_t *more_metadata;
};

static bool each_said(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct saying *saying = user;
    struct reading *r = saying->reading;
    const struct ta_slice name = ta_json_text(r->json, key);
    int64_t number;
    if (ta_slice_equal(name, TA_LIT("places_read")) && ta_token_integer(value, &number))
        *saying->more_metadata += number;
    else if (ta_slice_equal(name, TA_LIT("places_written")) && ta_token_integer(value, &number))
        *saying->more_metadata -= number;
    else
        chrome_take_fact(r, name, value);
    return r->status == TA_OK;
}

void chrome_take_merged(struct reading *r, struct ta_slice place, const struct ta_token *value)
{
    struct ta_builder *all = r->builder;
    size_t i = 0;
    for (size_t at = 0; at < place.len && i < PARTS_MOST; at++)
        i = place.ptr[at] < '0' || place.ptr[at] > '9' ? PARTS_MOST
                                                       : 10 * i + (size_t)(place.ptr[at] - '0');
    if (i >= PARTS_MOST)
        return;
    /* The list of traces may have been read by another thread. */
    while (r->status == TA_OK && all->parts.n <= i)
        if (!ta_builder_add_part(all, TA_MISSING))
            r->status = no_memory(r);
    if (r->status != TA_OK)
        return;
    struct ta_rank_rows *part = &all->parts.at[i];
    part->keeps_clock = true;
    r->builder = part->builder;
    ta_json_members(r->json, value, each_said, &(struct saying){r, &part->more_metadata});
    r->builder = all;
}
