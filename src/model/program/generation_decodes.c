/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decoding that no mark names, between marked passes of the denoiser or after the last of them:
 * many convolutions and next to no attention.  It ends a block of a video, or an image. */
#include "model/program/generation_marks.h"

#include <stdlib.h>

/* What is launched after a pass, on its thread, before the next call there. */
struct gap {
    int64_t first, last;  /* on the host: start of the first convolution, end of the last */
    int64_t conv, matrix; /* ns of convolutions; of GEMMs and attention */
    size_t convolutions, attentions;
};

/* The outermost operator of a convolution: what it launches for bias and layout is the decoder's.
 */
static struct ta_interval outermost(const struct generation_finding *f, ta_row row)
{
    for (ta_row parent = f->spans.parent[row];
         parent != TA_NO_ROW &&
         ta_slice_starts(ta_trace_text(f->trace, f->spans.name[parent]), "aten::");
         parent = f->spans.parent[row])
        row = parent;
    return (struct ta_interval){f->spans.ts[row], f->spans.ts[row] + f->spans.dur[row]};
}

static void add_convolution(const struct generation_finding *f, const struct ta_activity *a,
                            struct gap *gap)
{
    const ta_row launch = a->launch, op = a->op == TA_NO_ROW ? launch : a->op;
    const struct ta_interval around =
        f->spans.track[op] == f->spans.track[launch]
            ? outermost(f, op)
            : (struct ta_interval){f->spans.ts[launch], f->spans.ts[launch] + f->spans.dur[launch]};
    gap->first = gap->convolutions ? ta_min_i64(gap->first, around.start) : around.start;
    gap->last = gap->convolutions ? ta_max_i64(gap->last, around.end) : around.end;
    gap->conv = ta_add_sat(gap->conv, f->spans.dur[a->span]);
    gap->convolutions++;
}

static void fill_gaps(const struct generation_finding *f, const uint32_t *after, struct gap *gaps)
{
    const struct ta_activities activities = ta_trace_activities(f->trace);
    const struct ta_kernels kernels = ta_trace_kernels(f->trace);
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (after[i] == UINT32_MAX || a->kernel == TA_NO_KERNEL)
            continue;
        struct gap *gap = &gaps[after[i]];
        const enum ta_kernel_kind kind = kernels.at[a->kernel].facts.kind;
        if (kind == TA_KERNEL_CONV)
            add_convolution(f, a, gap);
        gap->attentions += kind == TA_KERNEL_ATTENTION;
        if (kind == TA_KERNEL_ATTENTION || kind == TA_KERNEL_GEMM)
            gap->matrix = ta_add_sat(gap->matrix, f->spans.dur[a->span]);
    }
}

/* Another network of convolutions, such as one that steers the denoiser, attends in most of its
 * blocks. */
static bool is_decode(const struct gap *gap)
{
    enum { CONVOLUTIONS_LEAST = 8 };
    return gap->convolutions >= CONVOLUTIONS_LEAST && gap->conv > gap->matrix &&
           gap->convolutions >= TA_DECODE_CONVOLUTIONS_LEAST * gap->attentions;
}

static void add_decodes(struct generation_finding *f, const struct gap *gaps, size_t n)
{
    for (size_t i = 0; i < n && !f->failed; i++) {
        if (f->calls.at[i].phase != TA_GENERATION_DENOISE || !is_decode(&gaps[i]))
            continue;
        const struct ta_generation_call call = {
            .phase = TA_GENERATION_VAE_DECODE,
            .by = TA_GENERATION_BY_KERNELS,
            .mark = TA_NO_ROW,
            .track = f->calls.at[i].track,
            .step = SIZE_MAX,
            .time = {.host_start = ta_max_i64(gaps[i].first, f->calls.at[i].time.host_end),
                     .host_end = gaps[i].last,
                     .gpu_start = TA_MISSING,
                     .gpu_end = TA_MISSING,
                     .gpu_busy = TA_MISSING}};
        f->failed |= !ta_vec_push(&f->calls, call);
    }
}

bool generation_add_decodes(struct generation_finding *f)
{
    const size_t n = f->calls.n;
    for (size_t i = 0; i < n; i++)
        if (f->calls.at[i].phase == TA_GENERATION_VAE_DECODE)
            return true;
    uint32_t *after = malloc((ta_trace_activities(f->trace).n + 1) * sizeof *after);
    struct gap *gaps = calloc(n + 1, sizeof *gaps);
    free(f->found->call_of);
    f->found->call_of = NULL;
    const bool done = after && gaps && generation_time_calls(f->trace, f->found, NULL, after);
    if (done) {
        fill_gaps(f, after, gaps);
        add_decodes(f, gaps, n);
    }
    free(after);
    free(gaps);
    return done && !f->failed;
}
