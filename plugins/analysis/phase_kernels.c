/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.kernels: which kernels take the time of each phase of a diffusion.
 *
 * A kernel belongs to the phase of the call that launched it; one that no call launched, as of the
 * scheduler, to the stage that the device was in when it began. */
#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { RANK, PHASE, CLASS, KERNELS, TOTAL, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},     [PHASE] = {"phase", TA_FIELD_INT},
    [CLASS] = {"class", TA_FIELD_INT},    [KERNELS] = {"kernels", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"phases", fields, FIELDS}, {0}};

/* Rows may come from a saved summary. */
static const struct ta_bound bounds[] = {
    {0, PHASE, TA_GENERATION_PHASES}, {0, CLASS, TA_KERNEL_KIND_COUNT}, TA_BOUNDS_END};

/* ---- tables -------------------------------------------------------------------------------- */

enum { OF_RANK, OF_PHASE, OF_CLASS, OF_KERNELS, OF_TOTAL, OF_SHARE };

static const struct ta_column kernels_columns[] = {
    [OF_RANK] = TA_RANK_COLUMN,
    [OF_PHASE] = {"phase", "Phase", TA_TEXT,
                  .doc = "Phase of the program that launched the kernels"},
    [OF_CLASS] = {"class", "Class", TA_TEXT, .doc = "Kind of work, by kernel name"},
    [OF_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Number of executions"},
    [OF_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                  .doc = "Sum of kernel durations: work, not wall time"},
    [OF_SHARE] = {"share", "Share", TA_RATIO,
                  .doc = "Time of these kernels divided by the time of all kernels of the phase"},
};

static const struct ta_table_def kernels = {
    "phases.kernels",
    "Kernels by phase",
    TA_COLUMNS(kernels_columns),
    .doc = "One row per rank, phase and kernel class. A kernel belongs to the phase of the call "
           "that launched it; without a known launch, to the phase that the device was in.",
    .order = {&kernels_columns[OF_TOTAL], TA_DESCENDING},
    .tier = TA_TIER_DETAIL};

/* ---- map ----------------------------------------------------------------------------------- */

/* The time of a stage on devices. */
struct stretch {
    int64_t start, end;
    enum ta_generation_phase phase;
};

static int by_start(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static size_t list_stretches(const struct ta_generation *found, struct stretch *at)
{
    size_t n = 0;
    for (size_t i = 0; i < found->n_stages; i++)
        if (found->stages[i].time.activities > 0)
            at[n++] = (struct stretch){found->stages[i].time.gpu_start,
                                       found->stages[i].time.gpu_end, found->stages[i].phase};
    if (n)
        qsort(at, n, sizeof *at, by_start);
    return n;
}

/* The phase that began last of those that the device is in at `time`; TA_GENERATION_PHASES in none.
 */
static enum ta_generation_phase phase_at(const struct stretch *at, size_t n, int64_t time)
{
    size_t low = 0;
    for (size_t high = n; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (at[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low && time < at[low - 1].end ? at[low - 1].phase : TA_GENERATION_PHASES;
}

typedef int64_t sums[TA_GENERATION_PHASES + 1][TA_KERNEL_KIND_COUNT];

static void add_kernels(const struct ta_trace *trace, const struct ta_generation *found,
                        const struct stretch *at, size_t n, sums calls, sums total_ns)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_kernels names = ta_trace_kernels(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL)
            continue;
        const uint32_t call = found->call_of[i];
        const enum ta_generation_phase phase =
            call == UINT32_MAX ? phase_at(at, n, spans.ts[a->span]) : found->calls[call].phase;
        const enum ta_kernel_kind kind = names.at[a->kernel].facts.kind;
        calls[phase][kind]++;
        total_ns[phase][kind] = ta_add_sat(total_ns[phase][kind], spans.dur[a->span]);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    struct stretch *at = found ? calloc(found->n_stages + 1, sizeof *at) : NULL;
    if (!at)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    if (found->call_of) {
        sums calls = {{0}}, total_ns = {{0}};
        add_kernels(trace, found, at, list_stretches(found, at), calls, total_ns);
        const int64_t rank = ta_trace_rank(trace);
        for (int phase = 0; phase < TA_GENERATION_PHASES; phase++)
            for (int kind = 0; kind < TA_KERNEL_KIND_COUNT; kind++)
                if (calls[phase][kind]) {
                    int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(rank), ta_key_int(phase),
                                                  ta_key_int(kind));
                    ta_sum(&row[KERNELS], calls[phase][kind]);
                    ta_sum(&row[TOTAL], total_ns[phase][kind]);
                }
    }
    free(at);
    return TA_OK;
}

/* ---- finish -------------------------------------------------------------------------------- */

/* The kernels of one phase of a rank. */
static void add_phase(const struct ta_partial *of, size_t first, size_t end,
                      struct ta_section_builder *out)
{
    int64_t all = 0;
    for (size_t i = first; i < end; i++)
        ta_sum(&all, ta_partial_at(of, i)[TOTAL]);
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(of, i);
        const char *class = ta_kernel_kind_name((enum ta_kernel_kind)row[CLASS]);
        TA_ROW(out, kernels, [OF_RANK] = ta_int(row[RANK]),
               [OF_PHASE] = ta_text(ta_slice_of(ta_generation_phase_names[row[PHASE]])),
               [OF_CLASS] = ta_text(ta_slice_of(class)), [OF_KERNELS] = ta_int(row[KERNELS]),
               [OF_TOTAL] = ta_int(row[TOTAL]), [OF_SHARE] = ta_share(row[TOTAL], all));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    for (size_t first = 0, end; first < ta_partial_rows(merged[0]); first = end) {
        end = ta_partial_group_end(merged[0], first, PHASE);
        add_phase(merged[0], first, end, out);
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&kernels, NULL};

static const struct ta_analysis_ops ops = {.section = "phases",
                                           .place = 2,
                                           .bounds = bounds,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, phase_kernels, &ops, .title = "Kernels of phases",
          .summary = "Device time of each phase of a diffusion by class of kernel: phases.kernels",
          .version = "1");
