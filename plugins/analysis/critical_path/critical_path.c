/* SPDX-License-Identifier: GPL-3.0-or-later */
/* critical_path.by_class, critical_path.by_name, critical_path.by_rank: what the length of the
 * run consists of. */
#include "path.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

/* ---- table ----------------------------------------------------------------------------------- */

enum { PARTIAL_CLASSES, PARTIAL_NAMES, PARTIAL_EDGES };
enum { CLASS_RANK, CLASS_CLASS, CLASS_PIECES, CLASS_TOTAL };
enum { NAME_CLASS, NAME_NAME, NAME_PIECES, NAME_TOTAL };
enum { EDGE_RANK, EDGE_KNOWN, EDGE_LIKELY, EDGE_WINDOW };

static const struct ta_field class_fields[] = {
    [CLASS_RANK] = {"rank", TA_FIELD_RANK},
    [CLASS_CLASS] = {"class", TA_FIELD_TEXT},
    [CLASS_PIECES] = {"pieces", TA_FIELD_SUM},
    [CLASS_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field name_fields[] = {
    [NAME_CLASS] = {"class", TA_FIELD_TEXT},
    [NAME_NAME] = {"name", TA_FIELD_TEXT},
    [NAME_PIECES] = {"pieces", TA_FIELD_SUM},
    [NAME_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field edge_fields[] = {
    [EDGE_RANK] = {"rank", TA_FIELD_RANK},
    [EDGE_KNOWN] = {"known", TA_FIELD_SUM},
    [EDGE_LIKELY] = {"likely", TA_FIELD_SUM},
    [EDGE_WINDOW] = {"window_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_CLASSES] = {"classes", class_fields, 4},
    [PARTIAL_NAMES] = {"names", name_fields, 4},
    [PARTIAL_EDGES] = {"edges", edge_fields, 4},
    {0},
};

/* The first columns are the fields of the partials; one more follows. */
enum { CLASS_SHARE = CLASS_TOTAL + 1, NAME_SHARE = NAME_TOTAL + 1 };

static const struct ta_column by_class_columns[] = {
    [CLASS_RANK] = TA_RANK_COLUMN,
    [CLASS_CLASS] = {"class", "Class", TA_TEXT, .read_as = TA_AS_PATH_CLASS,
                     .doc = "What the path goes through: work of the device, work of the host, or "
                            "the delay between them"},
    [CLASS_PIECES] = {"pieces", "Segments", TA_COUNT,
                      .doc = "Number of segments of the path in this class"},
    [CLASS_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .read_as = TA_AS_PATH_TIME,
                     .doc = "Time on the path; the classes of a rank add up to its window"},
    [CLASS_SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the rank's window"},
};

static const struct ta_table_def by_class = {
    "critical_path.by_class",
    "Critical path by class",
    TA_COLUMNS(by_class_columns),
    .doc =
        "The chain of work and waits that ends with the last activity of a rank's devices and "
        "covers their whole window. It is followed backwards: from an activity to what ended last "
        "before it, which is the activity before it on its stream, the call that launched it, or "
        "work of another stream that it waited for; along host threads span by span, and if a "
        "thread did nothing, to the thread that was active last; from a wait of the host to the "
        "activity that it waited for. If the host was ahead, that is, at a launch whose activity "
        "had to queue for more than 20 µs, or if nothing was recorded of the host for 100 µs while "
        "the device worked, the path follows the device. Speeding up what is not on the path saves "
        "nothing; speeding up what is on it saves at most the distance to the next best "
        "path.\n\nOne row per rank and class: `compute`, `communication`, `copy` on the device; "
        "`operator dispatch`, `python`, `runtime calls`, `setup` (allocation, compiling), `input` "
        "(data loading, collectives on the host), `return from wait`, `host untraced` on the host; "
        "between them `launch latency`, `queued, same stream`, `queued, dependency`, `unknown`.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_class_columns[CLASS_TOTAL], TA_DESCENDING}};

static const struct ta_column by_name_columns[] = {
    [NAME_CLASS] = {"class", "Class", TA_TEXT,
                    .doc = "What the path goes through: work of the device, work of the host, or "
                           "the delay between them"},
    [NAME_NAME] =
        {"name", "Name", TA_TEXT,
         .doc = "Kernel, operator, function or call; for time in a queue, the activity that waits"},
    [NAME_PIECES] = {"pieces", "Segments", TA_COUNT,
                     .doc = "Number of segments of the path with this class and name"},
    [NAME_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                    .doc = "Time on the path, all ranks"},
    [NAME_SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the paths of all ranks"},
};

static const struct ta_table_def by_name = {
    "critical_path.by_name",
    "Critical path by name",
    TA_COLUMNS(by_name_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per class and name on the path, all ranks.",
    .order = {&by_name_columns[NAME_TOTAL], TA_DESCENDING}};

enum { BY_RANK_RANK, BY_RANK_WINDOW, BY_RANK_KNOWN, BY_RANK_LIKELY, BY_RANK_COVERAGE };
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_WINDOW] =
        {"window_ns", "Length", TA_NS, .better = TA_LOWER,
         .doc =
             "Length of the path: from the first to the last activity of all devices of the rank"},
    [BY_RANK_KNOWN] =
        {"known", "Known steps", TA_COUNT, .better = TA_HIGHER,
         .doc = "Steps along the path that the trace proves: launches, order on a stream, waits"},
    [BY_RANK_LIKELY] = {"likely", "Likely steps", TA_COUNT, .better = TA_LOWER,
                        .doc = "Steps to the activity that happened to end last, without a record "
                               "that it was waited for"},
    [BY_RANK_COVERAGE] = {"coverage", "Known %", TA_RATIO, .better = TA_HIGHER,
                          .doc = "Known steps divided by all steps"},
};

static const struct ta_table_def by_rank = {
    "critical_path.by_rank", "Critical path by rank", TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank with device activities: the length of the path, and how much of it is "
           "known.",
    .tier = TA_TIER_DETAIL};

/* ---- map ----------------------------------------------------------------------------------- */

struct sum {
    int64_t pieces, ns;
};

/* Rows of a name: the path meets an activity as work and, before that, as work that waits for one
 * reason or another.  A kernel has two or three of these rows. */
enum { AS_WORK, AS_LATENCY, AS_FRONT_END, AS_DEPENDENCY, WAYS };

struct name_rows {
    enum path_class work; /* the class of the first row */
    int64_t *rows[WAYS];  /* NULL before the first piece */
};

struct collector {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *const *out;
    struct ta_map names;      /* rows of the partial by class and name */
    struct name_rows *places; /* by name, the most recent ones */
    struct sum classes[PATH_CLASSES];
};

static int way_of(enum path_class class)
{
    return class == PATH_LATENCY      ? AS_LATENCY
           : class == PATH_FRONT_END  ? AS_FRONT_END
           : class == PATH_DEPENDENCY ? AS_DEPENDENCY
                                      : AS_WORK;
}

/* The row of a class and a name. */
static int64_t *row_of(struct collector *c, enum path_class class, ta_str name)
{
    struct name_rows *place = &c->places[name];
    int64_t **row = &place->rows[way_of(class)];
    if (row == &place->rows[AS_WORK] && place->work != class) {
        place->work = class;
        *row = NULL;
    }
    if (*row)
        return *row;
    const struct ta_key keys[] = {ta_key_text(ta_slice_of(path_class_name(class))),
                                  ta_key_text(ta_host_place(ta_trace_text(c->trace, name)))};
    *row = ta_partial_cached(c->out[PARTIAL_NAMES], &c->names, (uint64_t) class << 32 | name, keys);
    return *row;
}

static void take_piece(void *user, enum path_class class, ta_row row, int64_t ns)
{
    struct collector *c = user;
    const ta_str name = row == TA_NO_ROW ? TA_STR_ABSENT : c->spans.name[row];
    int64_t *cells = row_of(c, class, name);
    ta_sum(&cells[NAME_PIECES], 1);
    ta_sum(&cells[NAME_TOTAL], ns);
    c->classes[class].pieces++;
    c->classes[class].ns = ta_add_sat(c->classes[class].ns, ns);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct collector c = {
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .out = out,
        .places = calloc(ta_trace_string_count(trace) + 1, sizeof *c.places),
    };
    struct path path = {.trace = trace, .take = take_piece, .user = &c};
    const bool done = c.places && path_follow(&path) && !c.names.failed;
    ta_map_free(&c.names);
    free(c.places);
    if (!done)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot follow the critical path of a trace");
    int64_t total = 0;
    for (int class = 0; class < PATH_CLASSES; class ++) {
        const struct sum *sum = &c.classes[class];
        if (sum->pieces == 0)
            continue;
        int64_t *cells =
            TA_PARTIAL_ROW(c.out[PARTIAL_CLASSES], ta_key_int(ta_trace_rank(c.trace)),
                           ta_key_text(ta_slice_of(path_class_name((enum path_class) class))));
        ta_sum(&cells[CLASS_PIECES], sum->pieces);
        ta_sum(&cells[CLASS_TOTAL], sum->ns);
        total = ta_add_sat(total, sum->ns);
    }
    if (total > 0) {
        int64_t *row = TA_PARTIAL_ROW(out[PARTIAL_EDGES], ta_key_int(ta_trace_rank(trace)));
        ta_sum(&row[EDGE_KNOWN], path.edges.known);
        ta_sum(&row[EDGE_LIKELY], path.edges.likely);
        ta_sum(&row[EDGE_WINDOW], total);
    }
    return TA_OK;
}

/* ---- finish -------------------------------------------------------------------------------- */

/* The window of a rank is the length of its path; both lists are in the order of ranks. */
static void add_classes(const struct ta_partial *classes, const struct ta_partial *edges,
                        struct ta_section_builder *out)
{
    size_t edge = 0;
    for (size_t i = 0; i < ta_partial_rows(classes); i++) {
        const int64_t *row = ta_partial_at(classes, i);
        while (edge < ta_partial_rows(edges) &&
               ta_partial_at(edges, edge)[EDGE_RANK] < row[CLASS_RANK])
            edge++;
        const bool is_there = edge < ta_partial_rows(edges) &&
                              ta_partial_at(edges, edge)[EDGE_RANK] == row[CLASS_RANK];
        TA_ROW(out, by_class, [CLASS_RANK] = ta_int(row[CLASS_RANK]),
               [CLASS_CLASS] = ta_text(ta_partial_text(classes, row, CLASS_CLASS)),
               [CLASS_PIECES] = ta_int(row[CLASS_PIECES]), [CLASS_TOTAL] = ta_int(row[CLASS_TOTAL]),
               [CLASS_SHARE] =
                   is_there ? ta_share(row[CLASS_TOTAL], ta_partial_at(edges, edge)[EDGE_WINDOW])
                            : ta_null());
    }
}

static void add_names(const struct ta_partial *names, struct ta_section_builder *out)
{
    double total = 0;
    for (size_t i = 0; i < ta_partial_rows(names); i++)
        total += (double)ta_partial_at(names, i)[NAME_TOTAL];
    for (size_t i = 0; i < ta_partial_rows(names); i++) {
        const int64_t *row = ta_partial_at(names, i);
        const struct ta_slice name = ta_partial_text(names, row, NAME_NAME);
        TA_ROW(out, by_name, [NAME_CLASS] = ta_text(ta_partial_text(names, row, NAME_CLASS)),
               [NAME_NAME] = name.len ? ta_text(name) : ta_null(),
               [NAME_PIECES] = ta_int(row[NAME_PIECES]), [NAME_TOTAL] = ta_int(row[NAME_TOTAL]),
               [NAME_SHARE] = ta_num((double)row[NAME_TOTAL] / total));
    }
}

static void add_ranks(const struct ta_partial *edges, struct ta_section_builder *out)
{
    for (size_t i = 0; i < ta_partial_rows(edges); i++) {
        const int64_t *row = ta_partial_at(edges, i);
        const double steps = (double)row[EDGE_KNOWN] + (double)row[EDGE_LIKELY];
        TA_ROW(
            out, by_rank, [BY_RANK_RANK] = ta_int(row[EDGE_RANK]),
            [BY_RANK_WINDOW] = ta_int(row[EDGE_WINDOW]), [BY_RANK_KNOWN] = ta_int(row[EDGE_KNOWN]),
            [BY_RANK_LIKELY] = ta_int(row[EDGE_LIKELY]),
            [BY_RANK_COVERAGE] = steps > 0 ? ta_num((double)row[EDGE_KNOWN] / steps) : ta_null());
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    add_classes(merged[PARTIAL_CLASSES], merged[PARTIAL_EDGES], out);
    add_names(merged[PARTIAL_NAMES], out);
    add_ranks(merged[PARTIAL_EDGES], out);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_class, &by_name, &by_rank, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "critical_path",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, critical_path, &ops, .title = "Critical path",
          .summary = "What the length of the run consists of: critical_path.by_class",
          .version = "1");
