/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.by_rank: how long each phase of a diffusion run takes on each rank. */
#include "partials.h"
#include "tables.h"

enum {
    PHASE_RANK,
    PHASE_PHASE,
    PHASE_SOURCE,
    PHASE_TIMES,
    PHASE_CALLS,
    PHASE_TIME,
    PHASE_SHARE,
    PHASE_BUSY,
    PHASE_IDLE,
    PHASE_HOST,
    PHASE_CALLS_HOST,
    PHASE_KERNELS
};
static const struct ta_column phases_by_rank_columns[] = {
    [PHASE_RANK] = TA_RANK_COLUMN,
    [PHASE_PHASE] = {"phase", "Phase", TA_TEXT, .read_as = TA_AS_PHASE,
                     .doc = "load, text encode, image encode, denoise, VAE decode or post-process; "
                            "unknown: the rest of the program's window"},
    [PHASE_SOURCE] = {"source", "Known from", TA_WORD, .role = TA_NOTE,
                      .doc = "How the phase was recognized: range, module, function or kernels"},
    [PHASE_TIMES] = {"times", "Occurrences", TA_COUNT, .doc = "How often the phase occurs"},
    [PHASE_CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_PHASE_CALLS,
                     .doc = "Model calls in the phase: calls of an encoder, passes of the denoiser "
                            "or calls of the decoder"},
    [PHASE_TIME] =
        {"time_ns", "Time", TA_NS, .read_as = TA_AS_PHASE_TIME, .better = TA_LOWER, .weight = 0.7,
         .doc = "From the first activity that the phase launched to the end of the last, plus host "
                "work of the phase while the device is in no phase; if several images are in the "
                "phase at once, the time counts once, and different phases may overlap"},
    [PHASE_SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the program's window"},
    [PHASE_BUSY] = {"gpu_busy_ns", "GPU busy", TA_NS, .better = TA_LOWER, .weight = 0.6,
                    .doc = "Time in which at least one activity of the phase runs"},
    [PHASE_IDLE] = {"gpu_idle_ns", "GPU idle", TA_NS, .better = TA_LOWER, .weight = 0.5,
                    .doc = "Time of the phase in which the device works on nothing of this phase"},
    [PHASE_HOST] =
        {"host_ns", "Host span", TA_NS, .better = TA_LOWER, .weight = 0.5,
         .doc =
             "From the start of the first call of the phase to the end of the last, on the host"},
    [PHASE_CALLS_HOST] = {"calls_host_ns", "Host time of calls", TA_NS, .better = TA_LOWER,
                          .weight = 0.3, .doc = "Sum of the host durations of the phase's calls"},
    [PHASE_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels launched in the phase"},
};

static const struct ta_chart_def waterfall = {
    .id = "stage-waterfall",
    .title = "Phases",
    .caption = "Time of each phase, split into GPU busy and idle.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&phases_by_rank_columns[PHASE_RANK], &phases_by_rank_columns[PHASE_PHASE]},
    .y = {{&phases_by_rank_columns[PHASE_BUSY], "GPU busy", TA_INK_COMPUTE},
          {&phases_by_rank_columns[PHASE_IDLE], "GPU idle, or the host alone", TA_INK_IDLE}},
};

/* As stages of the same role have it in pictures of dumps. */
static const struct ta_kind phase_inks[] = {
    {"denoise", "", TA_INK_SERIES_1},     {"VAE decode", "", TA_INK_SERIES_2},
    {"text encode", "", TA_INK_SERIES_3}, {"post-process", "", TA_INK_SERIES_4},
    {"load", "", TA_INK_SERIES_6},        {"image encode", "", TA_INK_SERIES_7},
    {"unknown", "", TA_INK_GRID},         {NULL, NULL, TA_INK_NONE},
};

/* With many phases on many ranks, a bar per phase and rank is unreadable. */
static const struct ta_chart_def waterfall_of_ranks = {
    .id = "stage-waterfall",
    .title = "Phases",
    .caption = "Time of each phase, by rank.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&phases_by_rank_columns[PHASE_RANK]},
    .y = {{&phases_by_rank_columns[PHASE_TIME]}},
    .group = &phases_by_rank_columns[PHASE_PHASE],
    .kinds = phase_inks,
};

const struct ta_table_def phases_by_rank = {
    "phases.by_rank", "Phases", TA_COLUMNS(phases_by_rank_columns),
    .doc = "One row per rank and phase of a program that generates images or videos, in their "
           "order, and the rest of the program's window. A phase is recognized by ranges of the "
           "program that name it, otherwise by calls of modules of a known kind, otherwise by "
           "functions with a known name; everything within a pass of the denoiser, and between its "
           "passes, is denoising. A rank that does not denoise has the phases that its ranges and "
           "modules name plainly, if another rank denoises. Chart `stage-waterfall`.",
    .brief = &(const struct ta_brief){
        .place = 256,
        .rows = 8,
        .first = {&phases_by_rank_columns[PHASE_TIME], &phases_by_rank_columns[PHASE_SHARE]},
        .never = {&phases_by_rank_columns[PHASE_SOURCE], &phases_by_rank_columns[PHASE_HOST],
                  &phases_by_rank_columns[PHASE_CALLS_HOST],
                  &phases_by_rank_columns[PHASE_KERNELS]}}};

/* Sums over the stages of one phase. */
struct sums {
    int64_t by, times, calls, time, busy, host, in_calls, kernels;
};

static void add_stage(struct sums *sums, const int64_t *row)
{
    sums->by = sums->times++ && sums->by < row[OF_BY] ? sums->by : row[OF_BY];
    ta_sum(&sums->calls, row[OF_CALLS]);
    ta_sum(&sums->time, row[OF_TIME]);
    ta_sum(&sums->busy, row[OF_GPU_BUSY]);
    ta_sum(&sums->host, row[OF_HOST_DUR]);
    ta_sum(&sums->in_calls, row[OF_CALLS_HOST]);
    ta_sum(&sums->kernels, row[OF_KERNELS]);
}

/* Adds the phases of one rank, in the order in which they first begin. */
static void add_phases_of_rank(const struct ta_partial *of, size_t first, size_t end,
                               int64_t window, int64_t covered, struct ta_section_builder *out)
{
    struct sums sums[TA_GENERATION_PHASES] = {0};
    int order[TA_GENERATION_PHASES], n = 0;
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(of, i);
        if (sums[row[OF_PHASE]].times == 0)
            order[n++] = (int)row[OF_PHASE];
        add_stage(&sums[row[OF_PHASE]], row);
    }
    const int64_t rank = ta_partial_at(of, first)[OF_RANK];
    for (int i = 0; i < n; i++) {
        struct sums *s = &sums[order[i]];
        s->busy = ta_min_i64(s->busy,
                             s->time); /* images denoised in turns may be busy at the same time */
        TA_ROW(out,
               phases_by_rank, [PHASE_RANK] = ta_int(rank), [PHASE_PHASE] = phase_cell(order[i]),
               [PHASE_SOURCE] = ta_string(ta_generation_by_words[s->by]),
               [PHASE_TIMES] = ta_int(s->times), [PHASE_CALLS] = ta_int(s->calls),
               [PHASE_TIME] = ta_int(s->time),
               [PHASE_SHARE] = window > 0 ? ta_num((double)s->time / (double)window) : ta_null(),
               [PHASE_BUSY] = ta_int(s->busy), [PHASE_IDLE] = ta_int(s->time - s->busy),
               [PHASE_HOST] = some(s->host), [PHASE_CALLS_HOST] = some(s->in_calls),
               [PHASE_KERNELS] = ta_int(s->kernels));
    }
    const int64_t rest = ta_max_i64(0, window - covered);
    if (window > 0)
        TA_ROW(
            out,
            phases_by_rank, [PHASE_RANK] = ta_int(rank), [PHASE_PHASE] = ta_text(TA_LIT("unknown")),
            [PHASE_SOURCE] = ta_null(), [PHASE_TIMES] = ta_null(), [PHASE_CALLS] = ta_null(),
            [PHASE_BUSY] = ta_null(), [PHASE_IDLE] = ta_null(), [PHASE_HOST] = ta_null(),
            [PHASE_CALLS_HOST] = ta_null(), [PHASE_KERNELS] = ta_null(),
            [PHASE_TIME] = ta_int(rest), [PHASE_SHARE] = ta_num((double)rest / (double)window));
}

void generation_add_phases(const struct ta_partial *stages, const struct ta_partial *runs,
                           struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(stages), n_runs = ta_partial_rows(runs);
    for (size_t first = 0, end, run = 0; first < n; first = end) {
        const int64_t rank = ta_partial_at(stages, first)[OF_RANK];
        end = ta_partial_group_end(stages, first, OF_RANK);
        while (run < n_runs && ta_partial_at(runs, run)[RUN_RANK] < rank)
            run++;
        int64_t window = 0, covered = 0; /* 0 if the rank has no run */
        for (; run < n_runs && ta_partial_at(runs, run)[RUN_RANK] == rank; run++) {
            ta_sum(&window, ta_partial_at(runs, run)[RUN_WINDOW]);
            ta_sum(&covered, ta_partial_at(runs, run)[RUN_COVERED]);
        }
        add_phases_of_rank(stages, first, end, window, covered, out);
    }
}

/* A single bar compares nothing. */
void generation_draw_phases(const struct ta_partial *stages, struct ta_section_builder *out)
{
    bool ranks = false, phases = false;
    for (size_t i = 1; i < ta_partial_rows(stages); i++) {
        ranks |= ta_partial_at(stages, i)[OF_RANK] != ta_partial_at(stages, 0)[OF_RANK];
        phases |= ta_partial_at(stages, i)[OF_PHASE] != ta_partial_at(stages, 0)[OF_PHASE];
    }
    if (phases)
        ta_draw(out, &phases_by_rank, ranks ? &waterfall_of_ranks : &waterfall);
}
