/* SPDX-License-Identifier: GPL-3.0-or-later */
/* streaming.by_rank: frames that were sent and dropped, and what it took to encode and send them,
 * from the sums that the profiler keeps: single events are in no dump. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

enum { RANK, FILE_KEY, EVENTS, SENT, DROPPED, FPS, ENCODE, NETWORK, DROP_RATE, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},          [FILE_KEY] = {"file", TA_FIELD_FILE},
    [EVENTS] = {"events", TA_FIELD_MAX},       [SENT] = {"sent", TA_FIELD_MAX},
    [DROPPED] = {"dropped", TA_FIELD_MAX},     [FPS] = {"fps", TA_FIELD_MAX},
    [ENCODE] = {"encode", TA_FIELD_MAX},       [NETWORK] = {"network", TA_FIELD_MAX},
    [DROP_RATE] = {"drop_rate", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"streams", fields, FIELDS}, {0}};

/* Names of the figures of the group "streaming". */
static const struct {
    const char *name;
    int field;
} figures[] = {
    {"total_streaming_events", EVENTS},
    {"total_frames_streamed", SENT},
    {"total_dropped_frames", DROPPED},
    {"current_fps", FPS},
    {"avg_fps", FPS},
    {"avg_encoding_time_ns", ENCODE},
    {"avg_network_latency_ns", NETWORK},
    {"drop_rate_ratio", DROP_RATE},
};

enum {
    BY_RANK_RANK,
    BY_RANK_SESSION,
    BY_RANK_FRAMES,
    BY_RANK_DROPPED,
    BY_RANK_DROP_RATIO,
    BY_RANK_DROP_RATIO_REPORTED,
    BY_RANK_FPS,
    BY_RANK_ENCODE_MEAN,
    BY_RANK_NETWORK_MEAN,
    BY_RANK_EVENTS
};
static const struct ta_column by_rank_table_columns[] = {
    [BY_RANK_RANK] = TA_DUMP_RANK_COLUMN,
    [BY_RANK_SESSION] = {"session", "Session", TA_INTEGER, .role = TA_KEY,
                         .doc = "Number of the dump among the rank's dumps, starting at 0"},
    [BY_RANK_FRAMES] = {"frames", "Frames sent", TA_COUNT, .better = TA_HIGHER, .weight = 0.4,
                        .doc = "Frames streamed"},
    [BY_RANK_DROPPED] = {"dropped", "Dropped", TA_COUNT, .better = TA_LOWER, .weight = 0.4,
                         .doc = "Frames dropped"},
    [BY_RANK_DROP_RATIO] = {"drop_ratio", "Drop ratio", TA_RATIO, .better = TA_LOWER, .weight = 0.6,
                            .doc = "Dropped frames divided by sent and dropped frames"},
    [BY_RANK_DROP_RATIO_REPORTED] = {"drop_ratio_reported", "Drop ratio, as reported", TA_RATIO,
                                     .better = TA_LOWER,
                                     .doc = "Drop ratio as the profiler reports it"},
    [BY_RANK_FPS] = {"fps", "FPS as reported", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
                     .doc = "Frame rate as the profiler reports it: frames of the last events over "
                            "the time between them, which is one interval too short"},
    [BY_RANK_ENCODE_MEAN] = {"encode_mean_ns", "Encoding", TA_NS_MEAN, .better = TA_LOWER,
                             .doc = "Mean time to encode a batch of frames, as reported"},
    [BY_RANK_NETWORK_MEAN] = {"network_mean_ns", "Network", TA_NS_MEAN, .better = TA_LOWER,
                              .doc = "Mean network latency, as reported"},
    [BY_RANK_EVENTS] = {"events", "Events", TA_COUNT, .doc = "Batches of frames that were sent"},
};

static const struct ta_table_def by_rank_table = {
    "streaming.by_rank",
    "Streaming",
    TA_COLUMNS(by_rank_table_columns),
    .doc = "One row per dump in which frames were streamed.",
    .rank_words = "Streaming",
    .brief = &(const struct ta_brief){.place = 320, .rows = 4, .rows_are = "the first ranks"}};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_figure *rows = ta_trace_figure_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        if (!ta_slice_equal(ta_trace_text(trace, rows[i].group), TA_LIT("streaming")))
            continue;
        const struct ta_slice name = ta_trace_text(trace, rows[i].name);
        for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
            if (ta_slice_equal(name, ta_slice_of(figures[f].name)))
                TA_PARTIAL_ROW(out[0], ta_row_rank(trace, rows[i].rank), ta_row_file(trace))
        [figures[f].field] = ta_real_cell(rows[i].value);
    }
    return TA_OK;
}

static struct ta_cell count_cell(double value)
{
    return value >= 0 && value < 9e15 ? ta_int(ta_whole(round(value))) : ta_null();
}

static struct ta_cell ratio_cell(double value)
{
    return value >= 0 && value <= 1 ? ta_num(value) : ta_null();
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *streams = merged[0];

    int64_t session = 0;
    for (size_t i = 0; i < ta_partial_rows(streams); i++) {
        const int64_t *row = ta_partial_at(streams, i);
        session = i && row[RANK] == ta_partial_at(streams, i - 1)[RANK] ? session + 1 : 0;
        const double sent = ta_real_of(row[SENT]), dropped = ta_real_of(row[DROPPED]);
        const double batches = ta_real_of(row[EVENTS]);
        if (batches == 0 || (!(sent > 0) && !(dropped > 0) && !(ta_real_of(row[FPS]) > 0)))
            continue; /* nothing was streamed */
        TA_ROW(
            out,
            by_rank_table, [BY_RANK_RANK] = ta_int(row[RANK]), [BY_RANK_SESSION] = ta_int(session),
            [BY_RANK_FRAMES] = count_cell(sent), [BY_RANK_DROPPED] = count_cell(dropped),
            [BY_RANK_DROP_RATIO] = ratio_cell(dropped / (sent + dropped)),
            [BY_RANK_DROP_RATIO_REPORTED] = ratio_cell(ta_real_of(row[DROP_RATE])),
            [BY_RANK_FPS] = ta_num(ta_real_of(row[FPS])),
            [BY_RANK_ENCODE_MEAN] = ta_num(ta_real_of(row[ENCODE])),
            [BY_RANK_NETWORK_MEAN] = ta_num(ta_real_of(row[NETWORK])),
            [BY_RANK_EVENTS] = count_cell(batches));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank_table, NULL};

static const struct ta_analysis_ops ops = {
    .section = "streaming", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(
    analysis, streaming, &ops, .title = "Streaming",
    .summary = "Frames sent and dropped, encoding time and network latency: streaming.by_rank",
    .version = "1");
