/* SPDX-License-Identifier: GPL-3.0-or-later */
/* copies.by_direction and copies.by_memory: what moved between host and devices, and how fast. */
#include <traceanalyze/analysis.h>

#include <ctype.h>
#include <strings.h>

enum { RANK, WHAT, COUNT, BYTES, TOTAL, SIZED_NS, FIELDS };

/* Both tables have the same values; `what` is the direction or the kinds of memory. */
static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [WHAT] = {"what", TA_FIELD_TEXT},
    [COUNT] = {"count", TA_FIELD_SUM},
    [BYTES] = {"bytes", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [SIZED_NS] = {"sized_ns", TA_FIELD_SUM}, /* time of the copies that say their bytes */
};

static const struct ta_partial_def partials[] = {
    {"directions", fields, FIELDS}, {"memories", fields, FIELDS}, {0}};

#define COLUMNS(key, title, doc)                                                                   \
    {                                                                                              \
        {"rank", "Rank", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, "Rank of the trace"},          \
            {key, title, TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, doc},                           \
            {"count", "Copies", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER, "Number of copies"},     \
            {"bytes",       "Bytes",  TA_TYPE_INTEGER,                                             \
             TA_UNIT_BYTES, TA_LOWER, "Bytes of the copies that say so"},                          \
            {"total_ns", "Total",  TA_TYPE_INTEGER,                                                \
             TA_UNIT_NS, TA_LOWER, "Sum of durations: work, not wall time"},                       \
            {"bandwidth",    "Bandwidth",                                                          \
             TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,                                                  \
             TA_HIGHER,      "Bytes over the time of the copies that say their bytes"},            \
    }

static const struct ta_column direction_columns[] =
    COLUMNS("direction", "Direction",
            "HtoD host to device, DtoH back, DtoD within or between devices, PtoP peer to peer");
static const struct ta_column memory_columns[] =
    COLUMNS("memory", "Memory", "Kinds of memory at both ends, as the profiler names them");

static const struct ta_chart chart = {
    .id = "copy-bandwidth",
    .title = "Copy bandwidth",
    .caption = "Bytes over copy time by rank and direction; small copies are bound by latency.",
    .kind = TA_CHART_BARS,
    .label = {"rank", "direction"},
    .y = {{"bandwidth", "Bandwidth", TA_INK_MEMCPY}},
    .group = "direction",
};

/* Direction by name, letter case and punctuation ignored: CUDA writes "Memcpy HtoD (…)", ROCm
 * "CopyHostToDevice", rocprof "MEMORY_COPY_DEVICE_TO_DEVICE". */
static struct ta_slice direction_of(struct ta_slice name)
{
    static const struct {
        const char *direction, *brief, *full;
    } directions[] = {
        {"HtoD", "htod", "hosttodevice"}, {"DtoH", "dtoh", "devicetohost"},
        {"PtoP", "ptop", "peertopeer"},   {"DtoD", "dtod", "devicetodevice"},
        {"HtoH", "htoh", "hosttohost"},
    };
    char letters[128];
    size_t n = 0;
    for (size_t i = 0; i < name.len && n < sizeof letters; i++)
        if (isalpha((unsigned char)name.ptr[i]))
            letters[n++] = (char)tolower((unsigned char)name.ptr[i]);
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (memmem(letters, n, directions[i].brief, 4) ||
            memmem(letters, n, directions[i].full, strlen(directions[i].full)))
            return ta_slice_of(directions[i].direction);
    return TA_LIT("other");
}

/* "Pageable -> Device" of "Memcpy HtoD (Pageable -> Device)"; the whole name without brackets. */
static struct ta_slice memory_of(struct ta_slice name)
{
    const char *open = memchr(name.ptr, '(', name.len);
    if (!open || name.ptr[name.len - 1] != ')')
        return name;
    return (struct ta_slice){open + 1, (size_t)(name.ptr + name.len - 1 - (open + 1))};
}

/* One of the tables while a trace is mapped. */
struct copies {
    struct ta_partial *out;
    struct ta_slice (*what)(struct ta_slice name); /* direction_of() or memory_of() */
    struct ta_map rows;                            /* by name of the copy */
};

/* The row of a copy; its name is taken apart the first time it is met. */
static int64_t *row_of(struct copies *copies, const struct ta_trace *trace, ta_str name)
{
    const uint64_t *known = ta_map_find(&copies->rows, name);
    if (known)
        return (int64_t *)(uintptr_t)*known;
    const struct ta_slice what = copies->what(ta_trace_text(trace, name));
    return ta_partial_cached(
        copies->out, &copies->rows, name,
        (const struct ta_key[]){ta_key_int(ta_trace_rank(trace)), ta_key_text(what)});
}

static void add_copy(int64_t *row, int64_t dur, int64_t bytes)
{
    ta_sum(&row[COUNT], 1);
    ta_sum(&row[TOTAL], dur);
    ta_sum(&row[BYTES], bytes);
    if (bytes != TA_MISSING)
        ta_sum(&row[SIZED_NS], dur);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_args sizes = ta_trace_args(trace, "bytes");
    struct copies directions = {.out = out[0], .what = direction_of};
    struct copies memories = {.out = out[1], .what = memory_of};
    for (size_t i = 0; i < activities.n; i++) {
        const ta_row span = activities.at[i].span;
        if (categories.at[s.cat[span]].class != TA_CLASS_MEMCPY)
            continue;
        int64_t bytes = TA_MISSING;
        ta_args_find(&sizes, span, &bytes);
        add_copy(row_of(&directions, trace, s.name[span]), s.dur[span], bytes);
        add_copy(row_of(&memories, trace, s.name[span]), s.dur[span], bytes);
    }
    ta_map_free(&directions.rows);
    ta_map_free(&memories.rows);
    return TA_OK;
}

static void add_rows(struct ta_table_builder *table, const struct ta_partial *copies)
{
    for (size_t i = 0; i < ta_partial_rows(copies); i++) {
        const int64_t *row = ta_partial_at(copies, i);
        const bool sized = row[BYTES] != TA_MISSING && row[SIZED_NS] > 0;
        TA_ROW(table, ta_int(row[RANK]), ta_text(ta_partial_text(copies, row, WHAT)),
               ta_int(row[COUNT]), ta_int(row[BYTES]), ta_int(row[TOTAL]),
               sized ? ta_num((double)row[BYTES] * 1e9 / (double)row[SIZED_NS]) : ta_null());
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    struct ta_table_builder *table =
        ta_add_table(out, "copies.by_direction", "Copies by direction", direction_columns, 6);
    add_rows(table, merged[0]);
    ta_add_chart(table, &chart);
    add_rows(ta_add_table(out, "copies.by_memory", "Copies by kind of memory", memory_columns, 6),
             merged[1]);
    return TA_OK;
}

static const char *const needs_args[] = {"bytes", NULL};

static const struct ta_analysis_ops ops = {.needs_args = needs_args,
                                           .section = "copies",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish};

TA_PLUGIN(analysis, copies, &ops, .title = "Copies",
          .summary = "Memory copies by direction and kind of memory: copies.by_direction, "
                     "copies.by_memory",
          .version = "1");
