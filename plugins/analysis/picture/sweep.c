/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each device does in each stretch of a program's window: every instant counts once. */
#include "model/families.h"
#include "picture.h"

struct sweep {
    const struct picture_stretches *stretches;
    int64_t now, until[PICTURE_WORK]; /* so far the activities of a class go on */
    size_t stretch;                   /* of `now` */
    enum picture_class idle;          /* what idle time is: before, between or after work */
    int64_t rank, device;
    struct ta_partial *out;
};

static enum picture_class class_of_slice(enum ta_slice_kind slice)
{
    switch (slice) {
    case TA_SLICE_GEMM:
        return PICTURE_GEMM;
    case TA_SLICE_ATTENTION:
        return PICTURE_ATTENTION;
    case TA_SLICE_CONV:
        return PICTURE_CONV;
    case TA_SLICE_POINTWISE:
    case TA_SLICE_NORM:
    case TA_SLICE_FUSED:
    case TA_SLICE_MOVE:
    case TA_SLICE_REDUCE:
        return PICTURE_POINTWISE;
    default:
        return PICTURE_KERNEL;
    }
}

static enum picture_class class_of(const struct ta_kernels *kernels, const struct ta_activity *a)
{
    if (a->kernel == TA_NO_KERNEL)
        return PICTURE_COPY;
    const struct ta_kernel_facts *facts = &kernels->at[a->kernel].facts;
    return facts->class == TA_KERNEL_COMM ? PICTURE_COMM
                                          : class_of_slice(ta_kernel_family(facts->kind)->slice);
}

/* Gives [now, to) to a class, stretch by stretch. */
static void give(struct sweep *s, int64_t to, int class)
{
    while (s->now < to && s->stretch < s->stretches->n) {
        const int64_t end = ta_min_i64(to, s->stretches->at[s->stretch].end);
        int64_t *row = TA_PARTIAL_ROW(s->out, ta_key_int(s->rank), ta_key_int(s->device),
                                      ta_key_int((int64_t)s->stretch), ta_key_int(class));
        ta_sum(&row[TIME_NS], end - s->now);
        s->now = end;
        if (end == s->stretches->at[s->stretch].end)
            s->stretch++;
    }
    s->now = ta_max_i64(s->now, to);
}

/* Goes on to `to`: before it no other activity begins than those that are known. */
static void go_on(struct sweep *s, int64_t to)
{
    while (s->now < to) {
        int class = 0;
        while (class < PICTURE_WORK && s->until[class] <= s->now)
            class ++;
        int64_t next = class < PICTURE_WORK ? ta_min_i64(to, s->until[class]) : to;
        give(s, next, class < PICTURE_WORK ? class : (int)s->idle);
    }
}

void picture_sweep(const struct ta_trace *trace, const struct picture_stretches *stretches,
                   struct ta_partial *times)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    for (size_t i = 0, end; i < activities.n && stretches->n; i = end) {
        end = ta_device_end(&activities, i);
        const int64_t window_end = stretches->at[stretches->n - 1].end;
        struct sweep sweep = {.stretches = stretches,
                              .now = stretches->at[0].start,
                              .idle = PICTURE_BEFORE,
                              .rank = ta_trace_rank(trace),
                              .device = activities.at[i].device,
                              .out = times};
        for (int class = 0; class < PICTURE_WORK; class ++)
            sweep.until[class] = sweep.now;
        for (size_t k = i; k < end; k++) {
            const struct ta_activity *a = &activities.at[k];
            const int64_t start = spans.ts[a->span];
            const enum picture_class class = class_of(&kernels, a);
            go_on(&sweep, start);
            sweep.idle = PICTURE_IDLE;
            sweep.until[class] = ta_max_i64(sweep.until[class], start + spans.dur[a->span]);
        }
        for (int class = 0; class < PICTURE_WORK; class ++)
            go_on(&sweep, ta_min_i64(sweep.until[class], window_end));
        sweep.idle = PICTURE_AFTER;
        go_on(&sweep, window_end);
    }
}
