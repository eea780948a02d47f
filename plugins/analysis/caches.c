/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caches.by_name and caches.hits: lookups of the caches, and hits along the generated video. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

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

enum { COUNT_RANK, COUNT_CACHE, COUNT_HITS, COUNT_MISSES, COUNT_HIT_RATIO, COUNT_EVICTIONS };
static const struct ta_column by_name_columns[] = {
    [COUNT_RANK] = TA_DUMP_RANK_COLUMN,
    [COUNT_CACHE] = {"cache", "Cache", TA_TEXT,
                     .doc = "Name of the cache; \"cache\" if the dump gives none"},
    [COUNT_HITS] = {"hits", "Hits", TA_COUNT, .better = TA_HIGHER, .weight = 0.3,
                    .doc = "Lookups that the cache answered"},
    [COUNT_MISSES] =
        {"misses", "Misses", TA_COUNT, .better = TA_LOWER, .weight = 0.3,
         .doc = "Lookups that the cache could not answer; empty if only hits are recorded"},
    [COUNT_HIT_RATIO] = {"hit_ratio", "Hit ratio", TA_RATIO, .better = TA_HIGHER, .weight = 0.6,
                         .doc = "Hits divided by hits and misses"},
    [COUNT_EVICTIONS] = {"evictions", "Evictions", TA_COUNT, .better = TA_LOWER,
                         .doc = "Entries removed to make room for others"},
};

static const struct ta_chart_def count_chart = {
    .id = "cache-lookups",
    .title = "Cache lookups",
    .caption = "Hits and misses by cache and rank.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&by_name_columns[COUNT_RANK], &by_name_columns[COUNT_CACHE]},
    .y = {{&by_name_columns[COUNT_HITS], "Hits", TA_INK_COMPUTE},
          {&by_name_columns[COUNT_MISSES], "Misses", TA_INK_COMM}},
};

static const struct ta_table_def by_name = {
    "caches.by_name",
    "Caches",
    TA_COLUMNS(by_name_columns),
    .doc = "One row per rank and cache. Chart `cache-lookups`.",
    .chart = {&count_chart},
    .rank_words = "Cache",
    .brief =
        &(const struct ta_brief){.place = 380, .rows = 6, .largest = &by_name_columns[COUNT_HITS]}};

enum { HITS_RANK, HITS_INDEX, HITS_CACHE, HITS_VIDEO, HITS_FRAME, HITS_SO_FAR, HITS_DETAILS };
static const struct ta_column along_video_columns[] = {
    [HITS_RANK] = TA_DUMP_RANK_COLUMN,
    [HITS_INDEX] = {"index", "Order", TA_INTEGER, .role = TA_IN_SERIES,
                    .doc = "Position in the order of recording, from 0"},
    [HITS_CACHE] = {"cache", "Cache", TA_TEXT, .doc = "Name of the cache"},
    [HITS_VIDEO] = {"video_ns", "Video time", TA_NS,
                    .doc = "Position in the generated video (not wall-clock time)"},
    [HITS_FRAME] = {"frame", "Frame", TA_COUNT,
                    .doc = "Frame of the video at which the hit was recorded"},
    [HITS_SO_FAR] = {"hits_so_far", "Hits so far", TA_COUNT, .better = TA_HIGHER,
                     .doc = "Hits of this cache up to this one, inclusive"},
    [HITS_DETAILS] = {"details", "Details", TA_SENTENCE,
                      .doc = "What the cache reported about the hit"},
};

static const struct ta_chart_def hit_chart = {
    .id = "cache-hits",
    .title = "Cache hits over the video",
    .caption = "Cumulative cache hits over the time of the generated video. Misses are not "
               "recorded, so there is no hit ratio.",
    .kind = TA_CHART_LINES,
    .x = &along_video_columns[HITS_VIDEO],
    .y = {{&along_video_columns[HITS_SO_FAR], "Hits so far", TA_INK_SERIES_1}},
    .group = &along_video_columns[HITS_CACHE],
    .steps = true,
};

static const struct ta_table_def along_video = {
    "caches.hits",
    "Cache hits over the video",
    TA_COLUMNS(along_video_columns),
    .doc = "One row per hit that was recorded along the generated video. Chart `cache-hits`.",
    .tier = TA_TIER_POINTS,
    .chart = {&hit_chart}};

/* Takes the profiler's own counts if it recorded no lookups. */
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
        if (!are_counted) {
            /* If the profiler records single hits, nobody else counts them. */
            const struct ta_slice name = ta_trace_text(trace, hits[i].cache);
            ta_sum(&TA_PARTIAL_ROW(out[0], ta_row_rank(trace, hits[i].rank),
                                   ta_key_text(name.len ? name : TA_LIT("cache")))[HITS],
                   1);
        }
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

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    const struct ta_partial *counts = merged[0];
    for (size_t i = 0; i < ta_partial_rows(counts); i++) {
        const int64_t *row = ta_partial_at(counts, i);
        const bool known = row[HITS] >= 0 && row[MISSES] >= 0 && row[HITS] + row[MISSES] > 0;
        TA_ROW(out, by_name, [COUNT_RANK] = ta_int(row[RANK]),
               [COUNT_CACHE] = ta_text(ta_partial_text(counts, row, CACHE)),
               [COUNT_HITS] = count_cell(row[HITS]), [COUNT_MISSES] = count_cell(row[MISSES]),
               [COUNT_HIT_RATIO] =
                   known ? ta_num((double)row[HITS] / ((double)row[HITS] + (double)row[MISSES]))
                         : ta_null(),
               [COUNT_EVICTIONS] = count_cell(row[EVICTIONS]));
    }
    const struct ta_partial *hits = merged[1];
    struct ta_map seen = {0};
    int64_t index = 0;
    for (size_t i = 0; i < ta_partial_rows(hits); i++) {
        const int64_t *row = ta_partial_at(hits, i);
        index = i && ta_partial_at(hits, i - 1)[HIT_RANK] == row[HIT_RANK] ? index + 1 : 0;
        /* Hits of this cache of this rank before row i, counted in a map. */
        uint64_t *count =
            ta_map_at(&seen, (uint64_t)row[HIT_RANK] << 32 ^ (uint64_t)row[HIT_CACHE], 0);
        TA_ROW(out, along_video, [HITS_RANK] = ta_int(row[HIT_RANK]), [HITS_INDEX] = ta_int(index),
               [HITS_CACHE] = ta_text_or_null(ta_partial_text(hits, row, HIT_CACHE)),
               [HITS_VIDEO] = ta_int(row[VIDEO]), [HITS_FRAME] = count_cell(row[FRAME]),
               [HITS_SO_FAR] = ta_int(count ? (int64_t)++ * count : 0),
               [HITS_DETAILS] = ta_text_or_null(ta_partial_text(hits, row, DETAILS)));
    }
    const bool done = !seen.failed;
    ta_map_free(&seen);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot count the cache hits");
}

static const struct ta_table_def *const tables[] = {&by_name, &along_video, NULL};

static const struct ta_analysis_ops ops = {
    .section = "caches", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(
    analysis, caches, &ops, .title = "Caches",
    .summary = "Cache lookups, and hits along the generated video: caches.by_name, caches.hits",
    .version = "2");
