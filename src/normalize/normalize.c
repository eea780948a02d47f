/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps from a builder to a frozen trace, in order. */
#include "normalize/normalize.h"

#include "base/share.h"
#include "model/range.h"
#include "traceanalyze/analysis.h"

#include <inttypes.h>

static void apply_process_names(struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    for (size_t t = 0; t < trace->tracks.n; t++) {
        const uint64_t *name = ta_map_find(&builder->process_names, trace->tracks.at[t].pid);
        if (name)
            trace->tracks.at[t].process_name = (ta_str)*name;
    }
}

static bool list_kinds(struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    for (size_t cat = 0; cat < trace->categories.n; cat++) {
        for (size_t phase = 0; phase < sizeof TA_PHASES - 1; phase++) {
            const int64_t count = kinds_sum(&builder->kinds, (ta_cat)cat, phase);
            if (count && !ta_vec_push(&trace->kinds,
                                      (struct ta_kind_count){TA_PHASES[phase], (ta_cat)cat, count}))
                return false;
        }
    }
    return true;
}

static void set_origin(struct ta_trace *trace)
{
    const struct span_columns *c = &trace->spans;
    int64_t origin = TA_MISSING;
    for (size_t t = 0; t < trace->tracks.n; t++) {
        const struct ta_track *track = &trace->tracks.at[t];
        if (track->n && (origin == TA_MISSING || c->ts[track->first] < origin))
            origin = c->ts[track->first];
    }
    trace->view.origin = origin == TA_MISSING ? 0 : origin;
}

/* With the date that the clock is said to begin at, times are dates: without such a date when these
 * cannot be. */
static void check_base(struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    if (trace->view.base_ns == TA_MISSING || builder->first_ts == TA_MISSING ||
        (ta_range_has(TA_RANGE_TIME_NS, ta_add_sat(trace->view.base_ns, builder->first_ts)) &&
         ta_range_has(TA_RANGE_TIME_NS, ta_add_sat(trace->view.base_ns, builder->last_ts))))
        return;
    ta_quality_add(builder->quality, TA_Q_BAD_NUMBER, TA_NO_OFFSET,
                   "The times of the events are no dates from baseTimeNanoseconds %" PRId64
                   " on, which counts as missing",
                   trace->view.base_ns);
    trace->view.base_ns = TA_MISSING;
}

/* Whose runtime the host called, by the prefix of the first call. */
static const char *vendor_of(const struct ta_trace *trace)
{
    static const struct {
        const char *prefix, *vendor;
    } vendors[] = {{"hip", "ROCm"}, {"cu", "CUDA"},          {"mtia", "MTIA"},   {"ze", "XPU"},
                   {"ur", "XPU"},   {"AscendCL@", "Ascend"}, {"Node@", "Ascend"}};
    const struct span_columns *c = &trace->spans;
    for (size_t row = 0; row < c->n; row++) {
        if (trace->categories.at[c->cat[row]].class != TA_CLASS_RUNTIME)
            continue;
        const struct ta_slice name = ta_trace_text(trace, c->name[row]);
        for (size_t v = 0; v < sizeof vendors / sizeof *vendors; v++)
            if (name.len > strlen(vendors[v].prefix) && ta_slice_starts(name, vendors[v].prefix))
                return vendors[v].vendor;
    }
    return NULL;
}

/* ---- steps on ordered rows, which do not need each other ------------------------------------- */

enum { NEST, LINK_ACTIVITIES, CLASSIFY_HOSTS, SORT_OTHERS, STEPS };

/* What they share. */
struct linking {
    struct ta_builder *builder;
    uint64_t crossing;
};

static enum ta_status do_step(struct ta_ctx *ctx, size_t i, void *user)
{
    struct linking *linking = user;
    struct ta_builder *builder = linking->builder;
    struct ta_trace *trace = builder->trace;
    bool done = true;
    if (i == NEST)
        done = ta_nest_spans(trace, &linking->crossing);
    else if (i == LINK_ACTIVITIES)
        done = ta_clip_overlong(builder) && ta_link_operators(trace) && ta_list_kernels(trace);
    else if (i == CLASSIFY_HOSTS)
        done = !(builder->needs & TA_NEED_HOST_WORK) || ta_classify_hosts(trace);
    else
        done = ta_sort_counters(trace) && list_kinds(builder);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot link the spans of a trace");
}

/* What was captured in the same trace comes first. */
static bool map_replays(const struct ta_builder *builder)
{
    struct ta_trace *trace = builder->trace;
    struct ta_captures own = {.process = TA_MISSING, .rank = builder->rank};
    const bool done = ta_captures_take(&own, trace, NULL) && ta_map_replays(builder, &own);
    ta_captures_free(&own);
    ta_trace_show(trace);
    return done;
}

/* ---- all of it ------------------------------------------------------------------------------ */

enum ta_status ta_normalize(struct ta_ctx *ctx, struct ta_builder *builder, struct ta_trace **trace)
{
    struct ta_trace *made = builder->trace;
    struct linking linking = {.builder = builder};
    if (!ta_pair_spans(builder) || !ta_pair_asyncs(builder) ||
        !ta_classify_device_tracks(builder) || !ta_drop_untimed(builder) ||
        !ta_link_and_sort(ctx, builder) ||
        ta_share_out(ctx, TA_STAGE_NORMALIZE, STEPS, do_step, &linking) != TA_OK)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the events of a trace: spans=%zu",
                       made->spans.n);
    if (linking.crossing)
        ta_quality_add_many(builder->quality, TA_Q_OVERLAP, linking.crossing, TA_NO_OFFSET,
                            TA_NO_OFFSET,
                            "Spans cross the end of the span around them by more than 1 µs");
    check_base(builder);
    apply_process_names(builder);
    if (builder->rank == TA_MISSING)
        builder->rank = ta_rank_of_processes(made);
    set_origin(made);
    made->damage.spans = (int64_t)builder->timed;
    builder->vendor = vendor_of(made);
    made->view.file.events = builder->events;
    made->view.file.records = builder->events ? 0 : builder->kept + builder->dropped;
    ta_trace_show(made);
    if (!map_replays(builder))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot map the replays of graphs");
    builder->trace = NULL;
    *trace = made;
    return TA_OK;
}
