/* SPDX-License-Identifier: GPL-3.0-or-later */
/* streaming.by_rank: frames that were sent and dropped, and what it took to encode and send them,
 * from the sums that the profiler keeps: single events are in no dump. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

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

static const struct ta_column columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"session", "Session", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Number of the dump among those of the rank, from 0"},
    {"frames", "Frames sent", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_HIGHER, "Frames streamed"},
    {"dropped", "Dropped", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER, "Frames dropped"},
    {"drop_ratio", "Drop ratio", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Dropped over sent and dropped"},
    {"drop_ratio_reported", "As reported", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "The same as the profiler has it"},
    {"fps", "FPS as reported", TA_TYPE_NUMBER, TA_UNIT_PER_S, TA_HIGHER,
     "Frames of the last events over the time between them, which is one interval too short"},
    {"encode_mean_ns", "Encoding", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "Mean time to encode a batch of frames, as reported"},
    {"network_mean_ns", "Network", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "Mean latency of the network, as reported"},
    {"events", "Events", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Batches of frames"},
};

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
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *streams = merged[0];
    struct ta_table_builder *table =
        ta_add_table(out, "streaming.by_rank", "Streaming", columns, 10);
    int64_t session = 0;
    for (size_t i = 0; i < ta_partial_rows(streams); i++) {
        const int64_t *row = ta_partial_at(streams, i);
        session = i && row[RANK] == ta_partial_at(streams, i - 1)[RANK] ? session + 1 : 0;
        const double sent = ta_real_of(row[SENT]), dropped = ta_real_of(row[DROPPED]);
        const double batches = ta_real_of(row[EVENTS]);
        if (batches == 0 || (!(sent > 0) && !(dropped > 0) && !(ta_real_of(row[FPS]) > 0)))
            continue; /* nothing was streamed */
        TA_ROW(table, ta_int(row[RANK]), ta_int(session), count_cell(sent), count_cell(dropped),
               ratio_cell(dropped / (sent + dropped)), ratio_cell(ta_real_of(row[DROP_RATE])),
               ta_num(ta_real_of(row[FPS])), ta_num(ta_real_of(row[ENCODE])),
               ta_num(ta_real_of(row[NETWORK])), count_cell(batches));
    }
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "streaming", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, streaming, &ops, .title = "Streaming",
          .summary = "Frames sent and dropped, encoding and network: streaming.by_rank",
          .version = "1");
