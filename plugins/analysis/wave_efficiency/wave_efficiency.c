/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.waves and kernels.occupancy: how well the blocks of a kernel fill the multiprocessors of
 * its device.
 *
 * A device runs `resident` blocks per multiprocessor at a time. A kernel with more blocks runs in
 * waves, the last of which is mostly not full: of w waves it takes the time of ceil(w). A kernel
 * with fewer blocks than multiprocessors leaves some of these without work. In between, each has
 * work, and nothing is counted as lost. Kernels that fetch their work themselves are left out. */
#include "wave_efficiency.h"

#include <math.h>
#include <stdlib.h>

enum { NAME, CALLS, TOTAL, KNOWN_CALLS, KNOWN_NS, LOST_NS, UNDER, UNDER_NS, WAVES, BLOCKS, FIELDS };
enum { ALL_KEY, ALL_NS, ALL_FIELDS };

static const struct ta_field fields[FIELDS] = {
    [NAME] = {"name", TA_FIELD_TEXT},        [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},    [KNOWN_CALLS] = {"known", TA_FIELD_SUM},
    [KNOWN_NS] = {"known_ns", TA_FIELD_SUM}, [LOST_NS] = {"lost_ns", TA_FIELD_SUM},
    [UNDER] = {"under", TA_FIELD_SUM},       [UNDER_NS] = {"under_ns", TA_FIELD_SUM},
    [WAVES] = {"milliwaves", TA_FIELD_DIST}, [BLOCKS] = {"blocks", TA_FIELD_DIST},
};

static const struct ta_field all_fields[ALL_FIELDS] = {
    [ALL_KEY] = {"all", TA_FIELD_INT}, [ALL_NS] = {"total_ns", TA_FIELD_SUM}};

static const struct ta_partial_def partials[] = {{"kernels", fields, FIELDS},
                                                 {"all", all_fields, ALL_FIELDS},
                                                 {"devices", occupancy_fields, OCCUPANCY_FIELDS},
                                                 {0}};

enum {
    KERNEL_NAME,
    KERNEL_CALLS,
    KERNEL_TOTAL,
    KERNEL_SHARE,
    KERNEL_BLOCKS,
    KERNEL_WAVES,
    KERNEL_EFFICIENCY,
    KERNEL_LOST,
    KERNEL_UNDERFILLED,
    KERNEL_UNDERFILLED_NS,
    KERNEL_KNOWN
};
static const struct ta_column by_kernel_columns[] = {
    [KERNEL_NAME] = {"name", "Kernel", TA_TEXT, .doc = "Name of the kernel"},
    [KERNEL_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of executions"},
    [KERNEL_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                      .doc = "Sum of durations, all ranks"},
    [KERNEL_SHARE] = {"share", "Share", TA_RATIO, .doc = "Total over the total of all kernels"},
    [KERNEL_BLOCKS] = {"blocks_p50", "Blocks p50", TA_NUMBER,
                       .doc = "Median number of thread blocks"},
    [KERNEL_WAVES] = {"waves_p50", "Waves p50", TA_NUMBER,
                      .doc = "Median of blocks over what the device holds at a time; below 1 over "
                             "its multiprocessors"},
    [KERNEL_EFFICIENCY] = {"efficiency", "Efficiency", TA_RATIO, .better = TA_HIGHER,
                           .doc = "1 minus lost over the time of the executions for which it is "
                                  "known; none when those are less than half"},
    [KERNEL_LOST] = {"lost_ns", "Lost", TA_NS, .better = TA_LOWER,
                     .doc = "Time during which multiprocessors had no block: in the last wave, or "
                            "because there were fewer blocks than multiprocessors"},
    [KERNEL_UNDERFILLED] = {"underfilled", "Underfilled", TA_COUNT, .better = TA_LOWER,
                            .doc =
                                "Executions with fewer blocks than the device has multiprocessors"},
    [KERNEL_UNDERFILLED_NS] = {"underfilled_ns", "Time underfilled", TA_NS, .better = TA_LOWER,
                               .doc = "Sum of the durations of these"},
    [KERNEL_KNOWN] =
        {"known_ns", "Time known", TA_NS,
         .doc = "Time of the executions for which the efficiency is known: blocks, number of "
                "multiprocessors and, with more blocks than those, the occupancy were recorded"},
};

static const struct ta_table_def by_kernel = {
    "kernels.waves",
    "Wave efficiency",
    TA_COLUMNS(by_kernel_columns),
    .doc = "One row per kernel that records its grid. A device holds so many blocks at a time; "
           "what is left over runs in a last wave that is mostly not full, and with fewer "
           "blocks than multiprocessors some of these have no work. Occupancy is recorded on "
           "NVIDIA only: elsewhere just the second is known. Kernels that fetch their work "
           "themselves (\"persistent\") are left out.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_kernel_columns[KERNEL_LOST], TA_DESCENDING}};

/* ---- map ------------------------------------------------------------------------------------- */

static bool is_persistent(const struct ta_trace *trace, const struct ta_kernel *kernel)
{
    static const char *const words[] = {
        "persistent",          "Persistent",       "nvjet",  "stream_k",  "StreamK",     "streamk",
        "GmmaWarpSpecialized", "FlashAttnFwdSm90", "sm100f", "deep_gemm", "cooperative", "_SK3_"};
    const struct ta_slice name = ta_trace_text(trace, kernel->name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(name.ptr, name.len, words[i], strlen(words[i])))
            return true;
    return kernel->facts.kind == TA_KERNEL_COLLECTIVE;
}

/* Of one kernel; its row takes the figures when all are added up. */
struct sums {
    int64_t *row; /* NULL for kernels that are left out */
    struct ta_dist *waves, *blocks;
    int64_t calls, total, known, known_ns, lost, under, under_ns;
};

static void add(struct sums *sums, int64_t dur, const struct filling *filling)
{
    sums->calls++;
    sums->total = ta_add_sat(sums->total, dur);
    if (filling->blocks != TA_MISSING)
        ta_dist_add(sums->blocks, filling->blocks);
    if (!filling->is_known)
        return;
    sums->known++;
    sums->known_ns = ta_add_sat(sums->known_ns, dur);
    if (filling->lost != 0)
        sums->lost = ta_add_sat(sums->lost, ta_whole(nearbyint(filling->lost * (double)dur)));
    if (filling->is_under) {
        sums->under++;
        sums->under_ns = ta_add_sat(sums->under_ns, dur);
    }
    if (filling->milliwaves != TA_MISSING)
        ta_dist_add(sums->waves, filling->milliwaves);
}

static void put_sums(const struct sums *sums)
{
    if (!sums->row || sums->calls == 0)
        return;
    ta_sum(&sums->row[CALLS], sums->calls);
    ta_sum(&sums->row[TOTAL], sums->total);
    if (sums->known == 0)
        return;
    ta_sum(&sums->row[KNOWN_CALLS], sums->known);
    ta_sum(&sums->row[KNOWN_NS], sums->known_ns);
    ta_sum(&sums->row[LOST_NS], sums->lost);
    ta_sum(&sums->row[UNDER], sums->under);
    ta_sum(&sums->row[UNDER_NS], sums->under_ns);
}

static void meet_kernels(const struct ta_trace *trace, struct ta_partial *out, struct sums *sums)
{
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    for (size_t k = 0; k < kernels.n; k++) {
        if (is_persistent(trace, &kernels.at[k]))
            continue;
        sums[k].row = TA_PARTIAL_ROW(out, ta_key_text(ta_trace_text(trace, kernels.at[k].name)));
        sums[k].waves = ta_partial_dist(out, sums[k].row, WAVES);
        sums[k].blocks = ta_partial_dist(out, sums[k].row, BLOCKS);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    if (kernels.n == 0 || ta_trace_args(trace, "grid").n == 0)
        return TA_OK;
    struct sums *sums = calloc(kernels.n, sizeof *sums);
    struct numbers *numbers = calloc(1, sizeof *numbers);
    const bool done = sums && numbers;
    if (done) {
        struct occupancy occupancy = {
            .trace = trace, .spans = ta_trace_spans(trace), .out = out[2]};
        numbers_open(numbers, trace);
        meet_kernels(trace, out[0], sums);
        const struct ta_activities activities = ta_trace_activities(trace);
        const struct ta_spans s = ta_trace_spans(trace);
        int64_t all_ns = 0;
        for (size_t i = 0; i < activities.n; i++) {
            const struct ta_activity *a = &activities.at[i];
            if (a->kernel == TA_NO_KERNEL) {
                occupancy_take(&occupancy, a, NULL);
                continue;
            }
            const struct filling *filling = numbers_filling(numbers, a->span);
            occupancy_take(&occupancy, a, filling);
            all_ns = ta_add_sat(all_ns, s.dur[a->span]);
            if (sums[a->kernel].row)
                add(&sums[a->kernel], s.dur[a->span], filling);
        }
        occupancy_end(&occupancy);
        ta_sum(&TA_PARTIAL_ROW(out[1], ta_key_int(0))[ALL_NS], all_ns);
        for (size_t k = 0; k < kernels.n; k++)
            put_sums(&sums[k]);
    }
    free(numbers);
    free(sums);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up waves");
}

/* ---- table --------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    int64_t all = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++)
        all = ta_add_sat(all, ta_partial_at(merged[1], i)[ALL_NS]);
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        if (row[CALLS] != TA_MISSING && ta_partial_dist_at(merged[0], row, BLOCKS)) {
            const struct ta_partial *kernels = merged[0];
            const struct ta_dist *waves = ta_partial_dist_at(kernels, row, WAVES);
            const struct ta_dist *blocks = ta_partial_dist_at(kernels, row, BLOCKS);
            const bool some = row[KNOWN_NS] != TA_MISSING;
            const bool known = some && row[KNOWN_NS] >= row[TOTAL] / 2;
            TA_ROW(out, by_kernel, [KERNEL_NAME] = ta_text(ta_partial_text(kernels, row, NAME)),
                   [KERNEL_CALLS] = ta_int(row[CALLS]), [KERNEL_TOTAL] = ta_int(row[TOTAL]),
                   [KERNEL_SHARE] = ta_share(row[TOTAL], all),
                   [KERNEL_BLOCKS] = blocks ? ta_num(ta_dist_quantile(blocks, 50)) : ta_null(),
                   [KERNEL_WAVES] =
                       waves && known ? ta_num(ta_dist_quantile(waves, 50) / 1000) : ta_null(),
                   [KERNEL_EFFICIENCY] =
                       known ? ta_share(row[KNOWN_NS] - row[LOST_NS], row[KNOWN_NS]) : ta_null(),
                   [KERNEL_LOST] = ta_int(row[LOST_NS]), [KERNEL_UNDERFILLED] = ta_int(row[UNDER]),
                   [KERNEL_UNDERFILLED_NS] = ta_int(row[UNDER_NS]),
                   [KERNEL_KNOWN] = ta_int(some ? row[KNOWN_NS] : 0));
        }
    }
    occupancy_add(merged[2], out);
    return TA_OK;
}

static const char *const needs_args[] = {"grid", "block", "blocks per SM",
                                         "est. achieved occupancy %", NULL};
static const char *const behind[] = {"compiled", NULL};

static const struct ta_table_def *const tables[] = {&by_kernel, &wave_occupancy, NULL};

static const struct ta_analysis_ops ops = {.needs_args = needs_args,
                                           .behind = behind,
                                           .section = "kernels",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, wave_efficiency, &ops, .title = "Wave efficiency",
    .summary = "How well the blocks of kernels fill the device: kernels.waves, kernels.occupancy",
    .version = "1");
