/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each device does in each stretch of a program's window: every instant counts once. */
#include "picture.h"

struct sweep {
    const struct picture_stretches *stretches;
    int64_t now, until[PICTURE_WORK]; /* so far the activities of a class go on */
    size_t stretch;                   /* of `now` */
    enum picture_class idle;          /* what idle time is: before, between or after work */
    int64_t rank, device;
    struct ta_partial *out;
};

static const enum picture_class class_of_kind[TA_KERNEL_KIND_COUNT] = {
    [TA_KERNEL_GEMM] = PICTURE_GEMM,         [TA_KERNEL_ATTENTION] = PICTURE_ATTENTION,
    [TA_KERNEL_CONV] = PICTURE_CONV,         [TA_KERNEL_NORM] = PICTURE_POINTWISE,
    [TA_KERNEL_SOFTMAX] = PICTURE_POINTWISE, [TA_KERNEL_ELEMENTWISE] = PICTURE_POINTWISE,
    [TA_KERNEL_COPY] = PICTURE_POINTWISE,    [TA_KERNEL_REDUCE] = PICTURE_POINTWISE,
    [TA_KERNEL_INDEX] = PICTURE_POINTWISE,   [TA_KERNEL_RANDOM] = PICTURE_POINTWISE,
    [TA_KERNEL_QUANT] = PICTURE_POINTWISE,   [TA_KERNEL_TRITON] = PICTURE_POINTWISE,
    [TA_KERNEL_COLLECTIVE] = PICTURE_KERNEL, [TA_KERNEL_OTHER] = PICTURE_KERNEL,
};

static enum picture_class class_of(const struct ta_kernels *kernels, const struct ta_activity *a)
{
    if (a->kernel == TA_NO_KERNEL)
        return PICTURE_COPY;
    const struct ta_kernel_facts *facts = &kernels->at[a->kernel].facts;
    return facts->class == TA_KERNEL_COMM ? PICTURE_COMM : class_of_kind[facts->kind];
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
