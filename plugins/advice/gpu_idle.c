/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle devices, for reasons that no other rule is about. */
#include "lib/gaps.h"
#include "lib/recorder.h"
#include "recommend/rule.h"

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] =
        {"threshold", TA_OPTION_NUMBER, 0.15, 0, 1, TA_OPTION_RATIO,
         "Share of the window, idle for reasons without a rule of their own, from which the rule "
         "fires"},
    TA_OPTIONS_END,
};

enum {
    IDLE,
    RANK,
    HOST,
    SETUP,
    QUEUED,
    UNKNOWN,
    CAUSE,
    CAUSE_TIME,
    PHASE,
    PHASE_IDLE,
    WINDOW,
    RECORDER,
    GAPS = RECORDER + 3
};

static const struct ta_ref reads[] = {
    [IDLE] = {"gpu_idle.by_rank", "idle_ns"},
    [RANK] = {"gpu_idle.by_rank", "rank"},
    [HOST] = {"gpu_idle.by_rank", "host_ns"},
    [SETUP] = {"gpu_idle.by_rank", "setup_ns"},
    [QUEUED] = {"gpu_idle.by_rank", "queued_ns"},
    [UNKNOWN] = {"gpu_idle.by_rank", "unknown_ns"},
    [CAUSE] = {"gpu_idle.by_cause", "cause"},
    [CAUSE_TIME] = {"gpu_idle.by_cause", "total_ns"},
    [PHASE] = {"interruptions.by_call", "phase"},
    [PHASE_IDLE] = {"interruptions.by_call", "idle_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    RECORDER_READS(RECORDER),
    GAPS_READS(GAPS),
};

/* The device with the largest share of such time in its window. */
static bool find_worst(const struct ta_refs *in, struct ta_place *worst, struct ta_place *window)
{
    static const struct ta_look steady = {.cells = PHASE_IDLE, .where = {{PHASE, "steady"}}};
    /* The device may have worked: no idle time that is known. */
    static const struct ta_look unknown[] = {
        {.cells = CAUSE_TIME, .where = {{CAUSE, "kernels not recorded"}}},
        {.cells = CAUSE_TIME, .where = {{CAUSE, "out of order"}}},
        {.cells = CAUSE_TIME, .where = {{CAUSE, "began before the recording"}}},
    };
    static const struct ta_look window_look = {.cells = WINDOW};
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, IDLE); row++) {
        struct ta_place place = ta_place_at(in, IDLE, row), whole;
        if (!place.table)
            continue;
        /* Idle time of a device that no rule of its own is about: neither handing out work, nor
         * waits, nor data, nor allocation and compilation after the warm-up. */
        const int64_t rank = ta_ref_integer(in, RANK, row);
        double setup = ta_ref_number(in, SETUP, row, 0);
        double total = ta_ref_number(in, HOST, row, 0) + setup + ta_ref_number(in, QUEUED, row, 0) +
                       ta_ref_number(in, UNKNOWN, row, 0);
        if (rank != TA_MISSING) {
            const double ruled = fmin(setup, ta_look_sum(in, &steady, rank));
            setup -= ruled;
            total -= ruled;
        }
        for (size_t i = 0; i < TA_LENGTH(unknown); i++) {
            struct ta_place lost;
            total -= ta_look_same(in, &unknown[i], &place, &lost) ? lost.value : 0;
        }
        place.value = total;
        if (!ta_look_same(in, &window_look, &place, &whole) || whole.value <= 0 ||
            place.value / whole.value <= most)
            continue;
        most = place.value / whole.value;
        *worst = place;
        *window = whole;
    }
    return most > 0;
}

/* The causes that the rule is about, with what to do. */
static const struct {
    const char *cause, *advice;
} causes[] = {
    {"host untraced", "Nothing was recorded of the host meanwhile: record again with "
                      "with_stack=True, or with ranges around the phases of the program."},
    {"memory allocation", "The driver gives out memory: run a few steps before the recording, and "
                          "keep tensors of a size, so that the allocator has what it needs."},
    {"compilation", "Code is compiled or loaded: run a few steps before the recording."},
    {"first call", "First calls load code and set libraries up, once: run a few steps before the "
                   "recording, so that it shows what lasts."},
    {"within a graph", "Each kernel of a graph starts about a microsecond after the one that it "
                       "depends on: fuse short kernels. Longer gaps are waits of its streams for "
                       "each other."},
    {"queued, same stream", "Work was queued and began late: look at what its stream waits for."},
    {"queued, dependency", "Work was queued and waited for other work: look at what its stream "
                           "waits for, and at other devices."},
    {"launch not recorded", "Record host and device together: activities=[CPU, CUDA], and all "
                            "threads."},
    {"late start", "The device began long after it could: other processes may use it, or work that "
                   "was not recorded, such as what was launched before the recording."},
    {"profiler", "The profiler held the program up: record without stacks and memory."},
};

/* The largest of its causes, an index of `causes`, and its time; SIZE_MAX when it is not known. */
static size_t cause_of(const struct ta_refs *in, const struct ta_place *place, double *time)
{
    size_t most = SIZE_MAX;
    double value = 0;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        const struct ta_look look = {.cells = CAUSE_TIME, .where = {{CAUSE, causes[i].cause}}};
        struct ta_place same;
        if (ta_look_same(in, &look, place, &same) && same.value > value) {
            value = same.value;
            most = i;
        }
    }
    *time = value;
    return most;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place idle, window;
    if (!find_worst(in, &idle, &window) || idle.value / window.value <= threshold)
        return TA_OK;
    const double share = idle.value / window.value;
    double time = 0;
    const size_t cause = cause_of(in, &idle, &time);
    const char *most =
        cause == SIZE_MAX
            ? ""
            : ta_advice_printf(advice, ", %s of it for \"%s\"",
                               ta_advice_number(advice, fmin(time, idle.value), TA_UNIT_NS),
                               causes[cause].cause);
    const char *names[TA_LENGTH(causes)];
    for (size_t i = 0; i < TA_LENGTH(causes); i++)
        names[i] = causes[i].cause;
    const struct ta_gaps_asked asked = {GAPS, idle, idle.value, names, TA_LENGTH(names)};
    const struct ta_gaps gaps = ta_gaps_find(in, &asked);
    const struct ta_recorded untraced = ta_recorder_of(in, RECORDER, "host untraced", &idle, 1);
    const struct ta_recorded queued = ta_recorder_of(in, RECORDER, "queued", &idle, 1);
    const struct ta_evidence evidence[] = {ta_place_evidence(&idle), ta_place_evidence(&window),
                                           ta_place_evidence(gaps.n ? &gaps.longest : &window)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "gpu-idle",
            .rule = "gpu_idle",
            .title = ta_advice_printf(advice, "The GPU%s idles %s of the program's window (%s%s)",
                                      ta_place_owner(advice, in->report, &idle),
                                      ta_advice_number(advice, share, TA_UNIT_RATIO),
                                      ta_advice_number(advice, idle.value, TA_UNIT_NS), most),
            .advice = ta_advice_printf(
                advice,
                "%s%s%sIdle time that findings of their own are about is left out. "
                "gpu_idle.longest lists the gaps one by one.",
                ta_gaps_sentence(in, advice, &asked, &gaps),
                cause == SIZE_MAX ? "" : causes[cause].advice, cause == SIZE_MAX ? "" : " "),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = gaps.n ? 3 : 2,
            .saving_low_ns = 0,
            .saving_high_ns = ta_whole(idle.value),
            .recorder_ns = untraced.ns + queued.ns,
            .recorder_most_ns = untraced.most_ns + queued.most_ns,
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "such idle share of the window > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, gpu_idle, &ops, .title = "Low GPU busy share",
          .summary = "Fires when a device idles for reasons without a rule of their own",
          .version = "1", .options = options);
