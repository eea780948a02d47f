/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One file on several threads. */
#include "split.h"

#include "base/quality.h"
#include "model/append.h"
#include "parse/part.h"
#include "parse/walk.h"
#include "read/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A brace is looked for so far behind a place, which some long text may fill. */
enum { BLOCK = 64 * 1024, SEARCH_BLOCKS = 64 };

/* ---- where to cut ---------------------------------------------------------------------------- */

/* Whether the file is plain JSON from its first byte on, which bracket opens it. */
static bool opens_plain(int fd, bool *in_object)
{
    char head[256];
    const ssize_t got = pread(fd, head, sizeof head, 0);
    ssize_t at = 0;
    while (at < got && head[at] && strchr(" \t\r\n", head[at]))
        at++;
    if (at + 1 >= got || (head[at] != '{' && head[at] != '[') || !head[at + 1])
        return false;
    *in_object = head[at] == '{';
    return true;
}

/* The first opening brace at or behind a place; UINT64_MAX when there is none near. */
static uint64_t find_brace(int fd, uint64_t place)
{
    char block[BLOCK];
    for (int i = 0; i < SEARCH_BLOCKS; i++, place += sizeof block) {
        const ssize_t got = pread(fd, block, sizeof block, (off_t)place);
        const char *brace = got > 0 ? memchr(block, '{', (size_t)got) : NULL;
        if (brace)
            return place + (uint64_t)(brace - block);
        if (got <= 0)
            break;
    }
    return UINT64_MAX;
}

struct ta_split_plan ta_split_plan(int fd, const uint64_t *places, size_t n)
{
    struct ta_split_plan plan = {.fd = fd};
    uint64_t last = 0;
    if (!opens_plain(fd, &plan.in_object))
        return plan;
    for (size_t i = 0; i < n && plan.n_cuts < TA_SPLIT_MOST - 1; i++) {
        const uint64_t cut = find_brace(fd, places[i]);
        if (cut < UINT64_MAX && cut > last)
            plan.cuts[plan.n_cuts++] = last = cut;
    }
    return plan;
}

/* ---- one part -------------------------------------------------------------------------------- */

struct reading {
    struct ta_part *part;
    const struct ta_input_ops *input;
    const struct ta_plan *plan;
    int fd;
    pthread_t thread;
    bool started;
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_builder builder;
    enum ta_status status;
    uint64_t bytes, raw_bytes; /* from the cut on */
    bool early;
};

/* A descriptor of the same file with a place of its own, at the cut. */
static int reopen(int fd, uint64_t cut)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int own = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (own >= 0 && lseek(own, (off_t)cut, SEEK_SET) < 0) {
        close(own);
        return -1;
    }
    return own;
}

static enum ta_status read_rows(struct reading *r, int fd)
{
    r->builder.trace->store.space = &r->ctx.shared->space;
    struct ta_reader *reader = ta_reader_open(&r->ctx, NULL, fd, &r->quality);
    if (!reader)
        return r->ctx.status;
    const enum ta_status status = r->input->read(&r->ctx, reader, &r->builder);
    r->bytes = ta_reader_bytes(reader);
    r->raw_bytes = ta_reader_raw_bytes(reader);
    r->early = ta_reader_ended_early(reader);
    ta_reader_close(reader);
    return status;
}

static void *read_part(void *argument)
{
    struct reading *r = argument;
    const struct ta_plan *plan = r->plan;
    ta_times_start(&r->ctx.times);
    r->ctx.part = r->part;
    r->status = TA_ERR_NOMEM;
    const int fd = reopen(r->fd, r->part->cut);
    if (fd < 0)
        r->part->unsure = true;
    else if (ta_builder_init(&r->builder, &r->quality, plan->needs, plan->keys, plan->n_keys,
                             (size_t)ta_ctx_limit(&r->ctx, TA_LIMIT_NAMES)))
        r->status = read_rows(r, fd);
    else
        close(fd);
    if (r->part->cut > 0) /* for an input that has no walk, or failed before it */
        ta_part_announce(r->part, TA_PART_NONE);
    ta_times_lap(&r->ctx.times, TA_STAGE_READ);
    return NULL;
}

/* ---- parts that fit together ----------------------------------------------------------------- */

/* Whether what a part has found is what reading in one go would have; `attempts` bytes were scanned
 * by attempts to resume before it.  Whether there are events at all only the whole can tell, so a
 * part must have some. */
static bool is_sure(const struct reading *r, uint64_t attempts)
{
    const struct ta_part *part = r->part;
    return r->status == TA_OK && part->taken && !part->unsure && !r->early &&
           ta_quality_count(&r->quality, TA_Q_NO_EVENTS) == 0 &&
           (part->cut == 0 || attempts + part->attempts <= part->cut * WALK_RESUME_BUDGET);
}

/* Adds one part to the first, which holds those before it. */
static bool add_part(struct reading *first, struct reading *r, enum ta_status *status)
{
    if (!ta_builder_fits(&first->builder, &r->builder))
        return false;
    if (!ta_builder_append(&first->builder, &r->builder)) {
        *status = TA_ERR_NOMEM;
        return false;
    }
    ta_builder_free(&r->builder);
    r->builder = (struct ta_builder){.trace = NULL};
    ta_quality_merge(&first->quality, &r->quality);
    return true;
}

/* Follows the parts from the first to the one that came to the end of the file. */
static bool join_parts(struct ta_part *parts, struct reading *readings, struct ta_split *split,
                       enum ta_status *status)
{
    uint64_t attempts = 0;
    struct reading *first = readings, *r = first;
    for (split->n_used = 1; is_sure(r, attempts); split->n_used++) {
        if (r != first && !add_part(first, r, status))
            return false;
        attempts += r->part->attempts;
        if (!r->part->reached) {
            split->bytes = r->part->cut + r->bytes;
            split->raw_bytes = r->part->cut + r->raw_bytes;
            return true;
        }
        r = &readings[r->part->reached - parts];
    }
    *status = r->status == TA_ERR_NOMEM && !r->part->unsure ? TA_ERR_NOMEM : TA_OK;
    return false;
}

static void start_all(struct reading *readings, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct reading *r = &readings[i];
        r->started = pthread_create(&r->thread, NULL, read_part, r) == 0;
        if (!r->started) /* the part before reads on */
            ta_part_announce(r->part, TA_PART_NONE);
    }
    read_part(&readings[0]);
    for (size_t i = 1; i < n; i++)
        if (readings[i].started)
            pthread_join(readings[i].thread, NULL);
}

/* Moves the result of the first part, which holds all, to where it belongs; forgets the others. */
static void finish(struct ta_ctx *ctx, struct reading *readings, size_t n, bool done,
                   struct ta_split *split)
{
    uint64_t counted = 0;
    if (done) {
        split->builder = readings[0].builder;
        split->quality = readings[0].quality;
        split->builder.quality = &split->quality;
    }
    for (size_t i = 0; i < n; i++) {
        counted += readings[i].bytes;
        if (readings[i].started)
            ta_times_add(&ctx->times, &readings[i].ctx.times);
        if (done && i == 0)
            continue;
        ta_builder_free(&readings[i].builder);
        ta_quality_free(&readings[i].quality);
    }
    /* Parts overlap; the progress shall not know. */
    atomic_fetch_add_explicit(&ctx->shared->read, (done ? split->bytes : 0) - counted,
                              memory_order_relaxed);
}

bool ta_split_read(struct ta_ctx *ctx, const struct ta_input_ops *input, const struct ta_plan *plan,
                   const struct ta_split_plan *cuts, struct ta_split *split, enum ta_status *status)
{
    const size_t n = cuts->n_cuts + 1;
    struct ta_part_board board;
    struct ta_part *parts = calloc(n, sizeof *parts);
    struct reading *readings = calloc(n, sizeof *readings);
    bool done = false;
    *split = (struct ta_split){.n_used = 0};
    *status = TA_OK;
    if (parts && readings && ta_part_board_init(&board)) {
        ta_parts_init(parts, n, &board, cuts->cuts);
        for (size_t i = 0; i < n; i++) {
            parts[i].in_object = cuts->in_object;
            readings[i] =
                (struct reading){.part = &parts[i], .input = input, .plan = plan, .fd = cuts->fd};
            ta_ctx_init(&readings[i].ctx, ctx->shared);
            ta_quality_init(&readings[i].quality);
        }
        start_all(readings, n);
        done = join_parts(parts, readings, split, status) && !ta_ctx_canceled(ctx);
        finish(ctx, readings, n, done, split);
        ta_part_board_free(&board);
    }
    if (*status == TA_ERR_NOMEM)
        ta_fail(ctx, *status, "Cannot hold the events of a trace: parts=%zu", n);
    else if (ta_ctx_canceled(ctx))
        *status = ta_fail(ctx, TA_ERR_CANCELED, "The run was canceled");
    free(parts);
    free(readings);
    return done;
}
