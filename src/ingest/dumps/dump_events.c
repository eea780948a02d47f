/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ingest/dumps/dumps.h"

#include "model/builder.h"
#include "normalize/normalize.h"
#include "analyze/timeline/samples.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Distinct names: of sessions, and numbers of blocks and steps. */
enum { NAMES_MOST = 1 << 16 };

struct events {
    struct ta_ctx *ctx;
    const struct ta_trace *dump;
    struct ta_builder builder;
    uint64_t n;
    enum ta_status status;
};

/* Adds a span on the track of its kind, unless it has no place in time. */
static void add(struct events *e, const char *track, int64_t rank, int64_t end_ns, int64_t dur_ns,
                struct ta_slice name)
{
    if (e->status != TA_OK || rank != TA_MISSING || end_ns == TA_MISSING || dur_ns == TA_MISSING ||
        dur_ns < 0 || end_ns < dur_ns)
        return;
    const ta_str name_of_track = ta_builder_string(&e->builder, ta_slice_of(track));
    const struct ta_event event = {.phase = 'X',
                                   .has_ts = true,
                                   .has_dur = true,
                                   .ts_ns = end_ns - dur_ns,
                                   .dur_ns = dur_ns,
                                   .name = ta_builder_string(&e->builder, name),
                                   .category = name_of_track,
                                   .pid = TA_STR_ABSENT,
                                   .tid = name_of_track,
                                   .offset = e->n++};
    e->status = ta_builder_add(e->ctx, &e->builder, &event);
    if (e->status == TA_OK)
        e->status = ta_builder_name_thread(e->ctx, &e->builder, event.pid, event.tid, event.tid);
}

/* "Block 3", or the word alone. */
static struct ta_slice numbered(char *buffer, size_t size, const char *word, int64_t number)
{
    const int n = number == TA_MISSING ? snprintf(buffer, size, "%s", word)
                                       : snprintf(buffer, size, "%s %" PRId64, word, number);
    return (struct ta_slice){buffer, (size_t)n};
}

/* They are ranges of time and no code of the host. */
static void finish(struct ta_trace *events, const struct ta_trace *dump)
{
    for (size_t i = 0; i < events->categories.n; i++)
        events->categories.at[i].class = TA_CLASS_ANNOTATION;
    events->view.origin = ta_min_i64(events->view.origin, ta_timeline_first_sample(dump));
}

enum ta_status ta_dump_events(struct ta_ctx *ctx, const struct ta_trace *dump,
                              struct ta_trace **events)
{
    struct ta_quality ignored; /* records of the dump are accounted for when they are read */
    struct events e = {.ctx = ctx, .dump = dump};
    *events = NULL;
    ta_quality_init(&ignored);
    if (ta_builder_init(&e.builder, &ignored, 0, NULL, 0, NAMES_MOST)) {
        ta_builder_set(&e.builder, TA_SAYS_BASE_NS, 0);
        char name[48];
        size_t n;
        const struct ta_session *sessions = ta_trace_session_rows(dump, &n);
        for (size_t i = 0; i < n; i++) {
            const struct ta_session *s = &sessions[i];
            const int64_t dur_ns = s->start_ns != TA_MISSING && s->end_ns != TA_MISSING
                                       ? s->end_ns - s->start_ns
                                       : TA_MISSING;
            add(&e, "Sessions", s->rank, s->end_ns, dur_ns,
                s->id == TA_STR_ABSENT ? TA_LIT("session") : ta_trace_text(dump, s->id));
        }
        const struct ta_diffusion_block *blocks = ta_trace_diffusion_block_rows(dump, &n);
        for (size_t i = 0; i < n; i++)
            add(&e, "Blocks", blocks[i].rank, blocks[i].end_ns, blocks[i].dur_ns,
                numbered(name, sizeof name, "block", blocks[i].block));
        const struct ta_diffusion_step *steps = ta_trace_diffusion_step_rows(dump, &n);
        for (size_t i = 0; i < n; i++)
            add(&e, "Denoising steps", steps[i].rank, steps[i].end_ns, steps[i].dur_ns,
                numbered(name, sizeof name, "step", steps[i].step));
    } else {
        e.status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a trace");
    }
    if (e.status == TA_OK && e.n)
        e.status = ta_normalize(ctx, &e.builder, events);
    if (e.status == TA_OK && *events)
        finish(*events, dump);
    ta_builder_free(&e.builder);
    ta_quality_free(&ignored);
    return e.status;
}
