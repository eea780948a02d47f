/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caches.by_name and caches.hits: lookups of the caches, and hits along the generated video. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

enum { RANK, CACHE, HITS, MISSES, EVICTIONS, COUNT_FIELDS };
enum { HIT_RANK, FILE_KEY, ORDER, HIT_CACHE, DETAILS, VIDEO, FRAME, HIT_FIELDS };

static const struct ta_field count_fields[COUNT_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},          [CACHE] = {"cache", TA_FIELD_TEXT},
    [HITS] = {"hits", TA_FIELD_SUM},           [MISSES] = {"misses", TA_FIELD_SUM},
    [EVICTIONS] = {"evictions", TA_FIELD_SUM},
};

static const struct ta_field hit_fields[HIT_FIELDS] = {
    [HIT_RANK] = {"rank", TA_FIELD_RANK},   [FILE_KEY] = {"file", TA_FIELD_FILE},
    [ORDER] = {"order", TA_FIELD_INT},      [HIT_CACHE] = {"cache", TA_FIELD_TEXT},
    [DETAILS] = {"details", TA_FIELD_TEXT}, [VIDEO] = {"video_ns", TA_FIELD_MAX},
    [FRAME] = {"frame", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    {"counts", count_fields, COUNT_FIELDS}, {"hits", hit_fields, HIT_FIELDS}, {0}};

static const struct ta_column count_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"cache", "Cache", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Name of the cache; cache when the dump has none"},
    {"hits", "Hits", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_HIGHER, "Lookups that were answered"},
    {"misses", "Misses", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER,
     "Lookups that were not; none where only hits are recorded"},
    {"hit_ratio", "Hit ratio", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_HIGHER,
     "Hits over hits and misses; evictions are no lookups"},
    {"evictions", "Evictions", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER,
     "Entries that made room for others"},
};

static const struct ta_column hit_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"index", "Index", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Place in the order of recording, from 0"},
    {"cache", "Cache", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the cache"},
    {"video_ns", "Video time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "Place in the generated video, no wall-clock time"},
    {"frame", "Frame", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Frame of the video"},
    {"hits_so_far", "Hits so far", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_HIGHER,
     "Hits of this cache up to here, this one included"},
    {"details", "Details", TA_TYPE_SENTENCE, TA_UNIT_NONE, TA_NEUTRAL, "What the cache reported"},
};

static const struct ta_chart count_chart = {
    .id = "cache",
    .title = "Cache lookups",
    .caption = "Hits and misses of each cache and rank.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"rank", "cache"},
    .y = {{"hits", "Hits", TA_INK_COMPUTE}, {"misses", "Misses", TA_INK_COMM}},
};

static const struct ta_chart hit_chart = {
    .id = "cache-hits",
    .title = "Cache hits along the video",
    .caption = "Hits of each cache so far, over the time of the generated video. Misses are not "
               "recorded, so there is no hit ratio.",
    .kind = TA_CHART_LINES,
    .x = "video_ns",
    .y = {{"hits_so_far", "Hits so far", TA_INK_SERIES_1}},
    .group = "cache",
};

/* Where no lookup is recorded, what the profiler itself counted. */
static void take_reported(const struct ta_trace *trace, struct ta_partial *out)
{
    static const struct {
        const char *name;
        int field;
    } counts[] = {{"hits", HITS}, {"misses", MISSES}, {"evictions", EVICTIONS}};
    size_t n;
    const struct ta_figure *figures = ta_trace_figure_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_slice name = ta_trace_text(trace, figures[i].name);
        if (!ta_slice_equal(ta_trace_text(trace, figures[i].group), TA_LIT("cache")) ||
            !(figures[i].value >= 0 && figures[i].value < 0x1p53))
            continue;
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            if (ta_slice_equal(name, ta_slice_of(counts[k].name)))
                ta_sum(&TA_PARTIAL_ROW(out, ta_row_rank(trace, figures[i].rank),
                                       ta_key_text(TA_LIT("cache")))[counts[k].field],
                       ta_whole(figures[i].value));
    }
}

/* Where a profiler records hits one by one, nobody counts them but us. */
static void count_recorded(const struct ta_trace *trace, const struct ta_cache_hit *hit,
                           struct ta_partial *out)
{
    const struct ta_slice name = ta_trace_text(trace, hit->cache);
    ta_sum(&TA_PARTIAL_ROW(out, ta_row_rank(trace, hit->rank),
                           ta_key_text(name.len ? name : TA_LIT("cache")))[HITS],
           1);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_cache_count *counts = ta_trace_cache_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        struct ta_slice name = ta_trace_text(trace, counts[i].cache);
        name = name.len ? name : TA_LIT("cache");
        int64_t *row =
            TA_PARTIAL_ROW(out[0], ta_row_rank(trace, counts[i].rank), ta_key_text(name));
        ta_sum(&row[HITS], counts[i].hits);
        ta_sum(&row[MISSES], counts[i].misses);
        ta_sum(&row[EVICTIONS], counts[i].evictions);
    }
    const bool are_counted = n > 0;
    if (!are_counted)
        take_reported(trace, out[0]);
    const struct ta_cache_hit *hits = ta_trace_cache_hit_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        if (!are_counted)
            count_recorded(trace, &hits[i], out[0]);
        int64_t *row =
            TA_PARTIAL_ROW(out[1], ta_row_rank(trace, hits[i].rank), ta_row_file(trace),
                           ta_key_int((int64_t)i), ta_key_text(ta_trace_text(trace, hits[i].cache)),
                           ta_key_text(ta_trace_text(trace, hits[i].details)));
        row[VIDEO] = hits[i].video_ns;
        row[FRAME] = hits[i].frame;
    }
    return TA_OK;
}

static struct ta_cell count_cell(int64_t count)
{
    return count < 0 ? ta_null() : ta_int(count);
}

static void add_counts(struct ta_section_builder *out, const struct ta_partial *counts)
{
    struct ta_table_builder *table =
        ta_add_table(out, "caches.by_name", "Caches", count_columns, 6);
    for (size_t i = 0; i < ta_partial_rows(counts); i++) {
        const int64_t *row = ta_partial_at(counts, i);
        const bool known = row[HITS] >= 0 && row[MISSES] >= 0 && row[HITS] + row[MISSES] > 0;
        TA_ROW(table, ta_int(row[RANK]), ta_text(ta_partial_text(counts, row, CACHE)),
               count_cell(row[HITS]), count_cell(row[MISSES]),
               known ? ta_num((double)row[HITS] / ((double)row[HITS] + (double)row[MISSES]))
                     : ta_null(),
               count_cell(row[EVICTIONS]));
    }
    ta_add_chart(table, &count_chart);
}

/* How often this cache of this rank hit before row i, counted by a map of its texts. */
static int64_t count_hit(struct ta_map *seen, const int64_t *row)
{
    uint64_t *count = ta_map_at(seen, (uint64_t)row[HIT_RANK] << 32 ^ (uint64_t)row[HIT_CACHE], 0);
    return count ? (int64_t)++ * count : 0;
}

static bool add_hits(struct ta_section_builder *out, const struct ta_partial *hits)
{
    struct ta_table_builder *table =
        ta_add_table(out, "caches.hits", "Cache hits along the video", hit_columns, 7);
    struct ta_map seen = {0};
    int64_t index = 0;
    for (size_t i = 0; i < ta_partial_rows(hits); i++) {
        const int64_t *row = ta_partial_at(hits, i);
        index = i && ta_partial_at(hits, i - 1)[HIT_RANK] == row[HIT_RANK] ? index + 1 : 0;
        TA_ROW(table, ta_int(row[HIT_RANK]), ta_int(index),
               ta_text_or_null(ta_partial_text(hits, row, HIT_CACHE)), ta_int(row[VIDEO]),
               count_cell(row[FRAME]), ta_int(count_hit(&seen, row)),
               ta_text_or_null(ta_partial_text(hits, row, DETAILS)));
    }
    ta_add_chart(table, &hit_chart);
    const bool done = !seen.failed;
    ta_map_free(&seen);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)prior;
    add_counts(out, merged[0]);
    return add_hits(out, merged[1]) ? TA_OK
                                    : ta_fail(ctx, TA_ERR_NOMEM, "Cannot count the cache hits");
}

static const struct ta_analysis_ops ops = {
    .section = "caches", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, caches, &ops, .title = "Caches",
          .summary = "Lookups of caches, and hits along the generated video: caches.by_name, "
                     "caches.hits",
          .version = "2");
