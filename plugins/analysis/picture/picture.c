/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overview.picture: the run in one picture, drawn by what kind of run it is. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

const struct ta_kind picture_kinds[] = {
    [PICTURE_GEMM] = {"gemm", "GEMM", TA_INK_COMPUTE},
    [PICTURE_ATTENTION] = {"attention", "attention", TA_INK_ATTENTION},
    [PICTURE_CONV] = {"convolution", "convolution", TA_INK_CONV},
    [PICTURE_POINTWISE] = {"pointwise", "norm and pointwise", TA_INK_POINTWISE},
    [PICTURE_KERNEL] = {"kernels", "other kernels", TA_INK_KERNEL},
    [PICTURE_COMM] = {"communication", "communication", TA_INK_COMM},
    [PICTURE_COPY] = {"copies", "copies", TA_INK_MEMCPY},
    [PICTURE_LAUNCH] = {"launch", "idle, launches come late", TA_INK_IDLE},
    [PICTURE_SYNC] = {"sync", "idle, the host waited for the GPU", TA_INK_IDLE_SYNC},
    [PICTURE_INPUT] = {"input", "idle, waiting for data", TA_INK_IDLE_INPUT},
    [PICTURE_COMPUTATION] = {"host computation", "idle, the host computes", TA_INK_IDLE_COMPUTE},
    [PICTURE_ALLOCATION] = {"allocation", "idle, memory is allocated", TA_INK_IDLE_ALLOCATE},
    [PICTURE_SETUP] = {"setup", "idle, set-up or compilation", TA_INK_IDLE_SETUP},
    [PICTURE_HOST] = {"host", "idle, host work not recorded", TA_INK_IDLE_HOST},
    [PICTURE_QUEUED] = {"queued", "idle, queued work waits", TA_INK_IDLE_QUEUED},
    [PICTURE_UNKNOWN] = {"unknown", "idle, cause not recorded", TA_INK_IDLE_UNKNOWN},
    [PICTURE_BEFORE] = {"before", "idle, before the first kernel", TA_INK_IDLE_AROUND},
    [PICTURE_EARLIER] = {"earlier", "work from before the recording", TA_INK_IDLE_EARLIER},
    [PICTURE_AFTER] = {"after", "idle, after the last kernel", TA_INK_IDLE_AROUND},
    [PICTURE_UNSEEN] = {"unseen", "idle or not recorded", TA_INK_IDLE_UNKNOWN},
    [PICTURE_IDLE] = {"idle", "idle", TA_INK_IDLE},
    [PICTURE_COMPUTE] = {"compute", "compute", TA_INK_COMPUTE},
    [PICTURE_WAIT] = {"waiting", "waiting for other ranks", TA_INK_WAIT},
    [PICTURE_OPERATOR] = {"operators", "other operators", TA_INK_POINTWISE},
    [PICTURE_LOADING] = {"data loading", "data loading", TA_INK_RANGE},
    [PICTURE_REST] = {"rest", "outside operators", TA_INK_IDLE},
    [PICTURE_PHASE] = {"phase", "phase", TA_INK_BAND},
    [PICTURE_STAGE] = {"stage 1", "", TA_INK_SERIES_1},
    [PICTURE_STAGE + 1] = {"stage 2", "", TA_INK_SERIES_2},
    [PICTURE_STAGE + 2] = {"stage 3", "", TA_INK_SERIES_3},
    [PICTURE_STAGE + 3] = {"stage 4", "", TA_INK_SERIES_4},
    [PICTURE_STAGE + 4] = {"stage 5", "", TA_INK_SERIES_6},
    [PICTURE_STAGE + 5] = {"stage 6", "", TA_INK_SERIES_7},
    [PICTURE_STAGE_REST] = {"stages", "other stages", TA_INK_SERIES_5},
    [PICTURE_SESSION] = {"session", "session", TA_INK_COMPUTE},
    [PICTURE_OTHER] = {"other", "other", TA_INK_GRID},
    {NULL, NULL, TA_INK_NONE},
};

static const struct ta_ref reads[] = {
    [BOUND_NAME] = {"run.bound", "bound"},
    [BOUND_TOTAL] = {"run.bound", "total_ns"},
    [PART_RANK] = {"gpu_time.parts", "rank"},
    [PART_DEVICE] = {"gpu_time.parts", "device"},
    [PART_WINDOW] = {"gpu_time.parts", "window_ns"},
    [PART_COMPUTE] = {"gpu_time.parts", "compute_ns"},
    [PART_HIDDEN] = {"gpu_time.parts", "comm_hidden_ns"},
    [PART_COMM] = {"gpu_time.parts", "comm_exposed_ns"},
    [PART_COPY] = {"gpu_time.parts", "memcpy_exposed_ns"},
    [PART_OTHER] = {"gpu_time.parts", "other_ns"},
    [WAIT_RANK] = {"collectives.exposed", "rank"},
    [WAIT_NS] = {"collectives.exposed", "wait_ns"},
    [IDLE_OWNER] = {"gpu_idle.by_owner", "owner"},
    [IDLE_NS] = {"gpu_idle.by_owner", "total_ns"},
    [EDGE_EDGE] = {"gpu_idle.edges", "edge"},
    [EDGE_CAUSE] = {"gpu_idle.edges", "cause"},
    [EDGE_NS] = {"gpu_idle.edges", "total_ns"},
    [TRUST] = {.scalar = "trust_score"},
    [DAMAGE] = {"health.damage", "damage"},
    [DAMAGE_SHARE] = {"health.damage", "share"},
    [STAGE_RANK] = {"stages.by_name", "rank"},
    [STAGE_NAME] = {"stages.by_name", "stage"},
    [STAGE_TIME] = {"stages.by_name", "total_ns"},
    [STAGE_SHARE] = {"stages.by_name", "share"},
    [STAGE_SHARE_OF] = {"stages.by_name", "share_of"},
    [DERIVED_RANK] = {"stages.derived", "rank"},
    [DERIVED_NAME] = {"stages.derived", "stage"},
    [DERIVED_TIME] = {"stages.derived", "total_ns"},
    [DERIVED_SHARE] = {"stages.derived", "share"},
    [DERIVED_SHARE_OF] = {"stages.derived", "share_of"},
    [HOST_RANK] = {"run.host_time", "rank"},
    [HOST_CLASS] = {"run.host_time", "class"},
    [HOST_TIME] = {"run.host_time", "total_ns"},
    [FIGURE_RANK] = {"figures.reported", "rank"},
    [FIGURE_GROUP] = {"figures.reported", "group"},
    [FIGURE_NAME] = {"figures.reported", "figure"},
    [FIGURE_VALUE] = {"figures.reported", "value"},
    [LIMIT_RANK] = {"telemetry.limits", "rank"},
    [LIMIT_DEVICE] = {"telemetry.limits", "device"},
    [LIMIT_NAME] = {"telemetry.limits", "limit"},
    [LIMIT_SHARE] = {"telemetry.limits", "share"},
    [SAMPLE_RANK] = {"telemetry.timeline", "rank"},
    [SAMPLE_DEVICE] = {"telemetry.timeline", "device"},
    [SAMPLE_TIME] = {"telemetry.timeline", "time_ns"},
    [SAMPLE_CLOCK] = {"telemetry.timeline", "gpu_clock"},
    [SAMPLE_HEAT] = {"telemetry.timeline", "gpu_temperature"},
    [SAMPLE_POWER] = {"telemetry.timeline", "gpu_power"},
    [SAMPLE_MEMORY] = {"telemetry.timeline", "gpu_memory_used"},
    [SAMPLE_CAPPED] = {"telemetry.timeline", "gpu_power_cap"},
    [SAMPLE_SLOWED] = {"telemetry.timeline", "gpu_thermal_slowdown"},
    [LEVELS_BYTES] = {"memory.levels", "block_bytes"},
};

static const struct ta_field stretch_fields[STRETCH_FIELDS] = {
    [STRETCH_RANK] = {"rank", TA_FIELD_RANK},    [STRETCH_INDEX] = {"index", TA_FIELD_INT},
    [STRETCH_LENGTH] = {"length", TA_FIELD_MAX}, [STRETCH_PHASE] = {"phase", TA_FIELD_MAX},
    [STRETCH_STEP] = {"step", TA_FIELD_MAX},
};
static const struct ta_field time_fields[TIME_FIELDS] = {
    [TIME_RANK] = {"rank", TA_FIELD_RANK},  [TIME_DEVICE] = {"device", TA_FIELD_INT},
    [TIME_INDEX] = {"index", TA_FIELD_INT}, [TIME_CLASS] = {"class", TA_FIELD_INT},
    [TIME_NS] = {"ns", TA_FIELD_SUM},
};
static const struct ta_partial_def partials[] = {
    [PICTURE_STRETCHES] = {"stretches", stretch_fields, STRETCH_FIELDS},
    [PICTURE_TIMES] = {"times", time_fields, TIME_FIELDS},
    {0},
};
static const struct ta_bound bounds[] = {{PICTURE_TIMES, TIME_CLASS, PICTURE_CLASSES},
                                         TA_BOUNDS_END};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    if (ta_trace_activities(trace).n == 0)
        return TA_OK;
    struct picture_stretches stretches;
    if (!picture_stretches_find(trace, &stretches)) {
        free(stretches.at);
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot divide the window of a trace");
    }
    for (size_t i = 0; i < stretches.n; i++) {
        const struct picture_stretch *at = &stretches.at[i];
        int64_t *row = TA_PARTIAL_ROW(out[PICTURE_STRETCHES], ta_key_int(ta_trace_rank(trace)),
                                      ta_key_int((int64_t)i));
        ta_most(&row[STRETCH_LENGTH], at->end - at->start);
        ta_most(&row[STRETCH_PHASE], at->phase);
        ta_most(&row[STRETCH_STEP], at->step);
    }
    picture_sweep(trace, &stretches, out[PICTURE_TIMES]);
    /* Only pictures of phases draw causes by stretch. */
    const bool done = stretches.n < 2 || picture_causes(trace, &stretches, out[PICTURE_TIMES]);
    free(stretches.at);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot find the causes of idle time");
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { LANE, SEGMENT, START, LENGTH, CLASS, LABEL };
static const struct ta_column picture_columns[] = {
    [LANE] = {"lane", "Lane", TA_TEXT,
              .doc = "What the row of the picture shows: GPU, phases or one rank"},
    [SEGMENT] = {"segment", "Segment", TA_INTEGER, .role = TA_KEY,
                 .doc = "Number of the segment, starting at 1"},
    [START] =
        {"start_ns", "Start", TA_NS, .role = TA_IN_SERIES,
         .doc = "Where the segment begins on its lane: since the start of the window where a lane "
                "is in time order, else after the segments before it"},
    [LENGTH] =
        {"dur_ns", "Time", TA_NS,
         .doc = "Duration of the segment; the segments of a device's lane add up to the window"},
    [CLASS] = {"class", "Class", TA_TEXT, .doc = "What the time goes to"},
    [LABEL] = {"label", "Label", TA_TEXT, .role = TA_NOTE,
               .doc = "Text of the segment, with its share of the window unless it is a stage of "
                      "one of several ranks"},
};

#define CHART_OF(titled, captioned)                                                                \
    {                                                                                              \
        .id = "picture", .title = (titled), .caption = (captioned), .kind = TA_CHART_LANES,        \
        .label = {&picture_columns[LANE], &picture_columns[LABEL]}, .x = &picture_columns[START],  \
        .y = {{&picture_columns[LENGTH], "Time", TA_INK_COMPUTE}},                                 \
        .group = &picture_columns[CLASS], .kinds = picture_kinds                                   \
    }

static const struct ta_table_def picture = {
    "overview.picture",
    "The run in one picture",
    TA_COLUMNS(picture_columns),
    .doc =
        "One row per segment of the picture at the top of reports. One GPU: its window, split "
        "into what its kernels do, communication, copies, and idle time by cause. Diffusion: "
        "phases and steps in time order, and below each of them what the GPU does in it, and idle "
        "time between its first and last work by cause. Ranks: "
        "one lane each, with compute, waiting for other ranks, communication, copies and idle "
        "time by cause; of more than eight ranks, those that wait least and most. The host alone: "
        "what its "
        "operators compute, and collectives that none covers. Stages: those of each rank that do "
        "not enclose others, in one order; what does the same under several names is one. Only the "
        "phases of one GPU are in time order; the other segments are sorted by size. When several "
        "kinds of work run at "
        "once, the first of these counts: GEMM, attention, convolution, pointwise, other "
        "kernels, communication, copies. Chart `picture`.",
    .tier = TA_TIER_POINTS,
    .joining = TA_JOIN_NOT,
    .not_of_ranks = true};

static const struct {
    bool (*draw)(const struct picture *picture);
    struct ta_chart_def chart;
} pictures[] = {
    {picture_of_ranks,
     CHART_OF("Where each rank's time goes, by kind of work",
              "Each rank's window, split by what the time goes to; the parts are not in time "
              "order.")},
    {picture_of_diffusion,
     CHART_OF("Phases and steps in time order; GPU time by kind within each",
              "Phases and steps in time order; below each, what the GPU does "
              "in it, largest part first: where in it the GPU is idle is in the timeline.")},
    {picture_of_device, CHART_OF("Where the GPU's time goes, by kind of work",
                                 "The program's window as one bar: what the kernels do, "
                                 "largest part first, then idle time by cause.")},
    {picture_of_host,
     CHART_OF(
         "Where the host's time goes, by kind of work",
         "The program's window as one bar: what operators compute, collectives that no operator "
         "covers, and the rest. No device activity was recorded.")},
    {picture_of_stages, CHART_OF("Where the session's time goes, by stage",
                                 "The stages of each rank in one order. Stages that "
                                 "enclose others are left out. Of more than eight ranks the first "
                                 "are shown, and the one that takes longest.")},
    {picture_of_sessions,
     CHART_OF("The session of each rank",
              "How long the session of each rank takes; of more than eight ranks those that take "
              "longest.")},
};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    int64_t n = 0;
    bool failed = false;
    const struct picture drawn = {
        merged[PICTURE_STRETCHES], merged[PICTURE_TIMES], in, out, &n, &failed};
    bool is_drawn = false;
    for (size_t i = 0; i < TA_LENGTH(pictures) && !is_drawn; i++)
        if (pictures[i].draw(&drawn)) {
            ta_draw(out, &picture, &pictures[i].chart);
            is_drawn = true;
        }
    if (!is_drawn)
        picture_of_telemetry(&drawn);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot choose what a picture shows") : TA_OK;
}

/* ---- segments -------------------------------------------------------------------------------- */

void picture_add(const struct picture *to, const char *lane, int64_t start, int64_t length,
                 enum picture_class class, const char *label)
{
    if (length > 0)
        TA_ROW(to->out, picture, [LANE] = ta_string(lane), [SEGMENT] = ta_int(++*to->n),
               [START] = ta_int(start), [LENGTH] = ta_int(length),
               [CLASS] = ta_string(picture_kinds[class].value), [LABEL] = ta_string(label));
}

/* Where a class is on a lane: work, then idle time, between what is known of the ends. */
static int place_of(int class)
{
    if (class == PICTURE_BEFORE || class == PICTURE_EARLIER)
        return class == PICTURE_BEFORE ? 0 : 1;
    if (class == PICTURE_AFTER)
        return 4;
    return class < PICTURE_WORK ? 2 : 3;
}

/* Whether one class is before another: by place, size and number. */
static bool is_before(const int64_t times[PICTURE_CLASSES], int a, int b)
{
    if (place_of(a) != place_of(b))
        return place_of(a) < place_of(b);
    return times[a] != times[b] ? times[a] > times[b] : a < b;
}

/* The class next to `last`, which is -1 at the begin; -1 for none. */
static int next_class(const int64_t times[PICTURE_CLASSES], int last)
{
    int best = -1;
    for (int i = 0; i < PICTURE_CLASSES; i++)
        if (times[i] > 0 && (last < 0 || is_before(times, last, i)) &&
            (best < 0 || is_before(times, i, best)))
            best = i;
    return best;
}

int64_t picture_add_classes(const struct picture *to, const char *lane, int64_t start,
                            const int64_t times[PICTURE_CLASSES], int64_t whole)
{
    for (int class = -1; (class = next_class(times, class)) >= 0;) {
        char share[TA_UNIT_TEXT_MAX], label[2 * TA_UNIT_TEXT_MAX];
        snprintf(label, sizeof label, "%s %s", picture_kinds[class].label,
                 ta_unit_format(share, (double)times[class] / (double)whole, TA_UNIT_RATIO));
        picture_add(to, lane, start, times[class], (enum picture_class) class, label);
        start += times[class];
    }
    return start;
}

static const struct ta_table_def *const tables[] = {&picture, &picture_telemetry, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "overview",
                                           .place = 3,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .bounds = bounds,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, picture, &ops, .title = "The run in one picture",
          .summary = "Where the time of the run goes, as segments on lanes: overview.picture",
          .version = "1");
