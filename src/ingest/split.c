/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One file on several threads. */
#include "ingest/split.h"

#include "base/quality.h"
#include "base/share.h"
#include "model/append.h"
#include "parse/json/walk.h"
#include "read/reader.h"

#include <stdlib.h>

/* Bytes of a part, in blocks of a reader: enough to make turns and joining cheap.  All parts that
 * are in memory share so many blocks. */
enum { PART_MOST = 4, PARTS_MOST = 24 };

static size_t part_size(size_t block, size_t n)
{
    const size_t share = PARTS_MOST / (n + TA_RELAY_SPARE);
    return block * (share < 1 ? 1 : share > PART_MOST ? PART_MOST : share);
}

/* What the threads of one file share. */
struct split {
    struct lane *lanes;
    const struct ta_input_ops *input;
    const struct ta_plan *plan;
    struct ta_relay *relay;
    size_t block;
    bool is_packed;
    /* Of the first part in the queue: */
    struct ta_split *split;
    uint64_t attempts; /* bytes scanned by failed attempts to resume */
    double share;      /* of the file, up to the end of the part */
    bool done;         /* the last part was added */
    enum ta_status status;
};

/* One thread, from part to part. */
struct lane {
    struct split *all;
    struct ta_part part;
    struct ta_ctx ctx;
    struct ta_reader *reader;
    struct ta_quality quality;
    struct ta_builder builder;
    struct ta_renaming ids; /* to the ids of the builder of all */
    size_t n_parts, n_passed;
};

/* ---- parts that fit together ----------------------------------------------------------------- */

/* Whether what a part has found is what reading in one go would have.  That nothing in it is an
 * event says nothing about the whole. */
static bool is_sure(const struct lane *lane, enum ta_status status)
{
    const struct ta_part *part = &lane->part;
    const uint64_t attempts = lane->all->attempts + part->attempts;
    return (status == TA_OK || status == TA_ERR_INPUT) && part->taken && !part->unsure &&
           (part->start == 0 || attempts <= part->start * WALK_RESUME_BUDGET);
}

/* Forgets that a part has no events. */
static void clear_account(struct ta_quality *quality, enum ta_quality_code code)
{
    free(quality->slots[code].text);
    quality->slots[code] = (struct ta_quality_slot){.count = 0};
}

/* Adds the first part to those before it; false when reading in parts is over. */
static bool add_part(struct lane *lane, enum ta_status status)
{
    struct split *all = lane->all;
    struct ta_builder *into = &all->split->builder;
    if (!is_sure(lane, status) || !ta_builder_fits(into, &lane->builder, &lane->ids)) {
        all->status = status == TA_ERR_NOMEM || status == TA_ERR_CANCELED ? status : TA_OK;
        return false;
    }
    all->share = lane->part.share;
    if (!ta_builder_append(into, &lane->builder, &lane->ids)) {
        all->status = TA_ERR_NOMEM;
        return false;
    }
    clear_account(&lane->quality, TA_Q_NO_EVENTS);
    ta_quality_merge(&all->split->quality, &lane->quality);
    ta_quality_free(&lane->quality);
    all->attempts += lane->part.attempts;
    all->done = !lane->part.reached;
    return true;
}

/* Whether there are events but metadata: if not, the whole will be judged in one go. */
static bool has_events(const struct ta_builder *builder)
{
    const size_t metadata = (size_t)(strchr(TA_PHASES, 'M') - TA_PHASES);
    uint64_t n = 0;
    for (size_t i = 0; i < builder->trace->categories.n; i++)
        n += (uint64_t)kinds_sum(&builder->kinds, (ta_cat)i, metadata);
    return builder->events > n;
}

/* ---- one thread ------------------------------------------------------------------------------ */

static bool make_builder(const struct split *all, const struct ta_ctx *ctx,
                         struct ta_builder *builder, struct ta_quality *quality)
{
    const struct ta_plan *plan = all->plan;
    if (!ta_builder_init(builder, quality, plan->needs, plan->keys, plan->n_keys,
                         (size_t)ta_ctx_limit(ctx, TA_LIMIT_NAMES)))
        return false;
    builder->sampled = plan->sampled;
    builder->trace->store.space = &ctx->shared->space;
    return true;
}

/* Reads one part; false when there is nothing more to do for this thread. */
static bool read_part(struct lane *lane)
{
    struct ta_relay *relay = lane->all->relay;
    const enum ta_status status = lane->all->input->read(&lane->ctx, lane->reader, &lane->builder);
    lane->n_parts++;
    if (!lane->part.taken) /* nothing was filled, and the turn would stay here */
        ta_relay_close(relay);
    if (!ta_relay_await(&lane->part)) {
        /* Forgets a part that was read in vain, with all names in it. */
        lane->n_passed++;
        ta_quality_free(&lane->quality);
        ta_renaming_free(&lane->ids);
        ta_builder_free(&lane->builder);
        return make_builder(lane->all, &lane->ctx, &lane->builder, &lane->quality);
    }
    if (!add_part(lane, status))
        return false;
    ta_relay_end(&lane->part);
    return true;
}

/* All parts that one thread reads. */
static enum ta_status read_parts(struct ta_ctx *ctx, size_t number, void *user)
{
    struct split *all = user;
    struct lane *lane = &all->lanes[number];
    struct ta_relay *relay = all->relay;
    *lane = (struct lane){.all = all};
    ta_ctx_init(&lane->ctx, ctx->shared);
    ta_quality_init(&lane->quality);
    lane->ctx.part = &lane->part;
    lane->reader = ta_reader_of_part(&lane->part, lane->all->block, &lane->quality);
    bool goes_on =
        make_builder(lane->all, &lane->ctx, &lane->builder, &lane->quality) && lane->reader;
    while (goes_on && ta_relay_begin(relay, &lane->part))
        goes_on = read_part(lane);
    if (!goes_on)
        ta_relay_close(relay);
    return TA_OK;
}

/* ---- all threads ----------------------------------------------------------------------------- */

static void close_lane(struct ta_ctx *ctx, struct lane *lane)
{
    const struct ta_lap filling = lane->part.filling;
    if (lane->all->is_packed) { /* what went into inflating is no part of reading then */
        struct ta_lap *const inflate = &ctx->times.stages[TA_STAGE_INFLATE],
                             *const read = &ctx->times.stages[TA_STAGE_READ];
        inflate->wall_ns += filling.wall_ns;
        inflate->cpu_ns += filling.cpu_ns;
        read->wall_ns -= filling.wall_ns;
        read->cpu_ns -= filling.cpu_ns;
    }
    lane->all->split->n_parts += lane->n_parts;
    lane->all->split->n_passed += lane->n_passed;
    walk_free_parked(lane->part.parked);
    ta_reader_close(lane->reader);
    ta_builder_free(&lane->builder);
    ta_renaming_free(&lane->ids);
    ta_quality_free(&lane->quality);
}

bool ta_split_read(struct ta_ctx *ctx, struct ta_reader *source, const struct ta_input_ops *input,
                   const struct ta_plan *plan, struct ta_split *split, enum ta_status *status)
{
    const size_t n = ctx->helpers < TA_SPLIT_MOST ? ctx->helpers + 1 : TA_SPLIT_MOST;
    *split = (struct ta_split){.n_parts = 0};
    *status = TA_OK;
    ta_quality_init(&split->quality);
    struct split all = {.input = input,
                        .plan = plan,
                        .block = ta_reader_block(source),
                        .is_packed = ta_reader_is_packed(source),
                        .split = split};
    struct lane *lanes = calloc(n, sizeof *lanes);
    all.relay = lanes ? ta_relay_new(source, n, part_size(all.block, n)) : NULL;
    const bool can_start = all.relay && make_builder(&all, ctx, &split->builder, &split->quality);
    split->builder.share = &all.share;
    all.lanes = lanes;
    if (can_start && ta_share_out(ctx, TA_STAGE_READ, n, read_parts, &all) == TA_OK)
        for (size_t i = 0; i < n; i++)
            close_lane(ctx, &lanes[i]);
    split->builder.share = NULL;
    ta_relay_free(all.relay);
    free(lanes);
    split->bytes = ta_reader_bytes(source);
    split->raw_bytes = ta_reader_raw_bytes(source);
    split->early = ta_reader_ended_early(source);
    if (all.status == TA_ERR_NOMEM)
        *status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the events of a trace: threads=%zu", n);
    else if (ta_ctx_canceled(ctx))
        *status = ta_fail(ctx, TA_ERR_CANCELED, "The run was canceled");
    if (all.done && *status == TA_OK && has_events(&split->builder))
        return true;
    ta_builder_free(&split->builder);
    ta_quality_free(&split->quality);
    return false;
}
