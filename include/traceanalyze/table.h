/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as they are declared, and references to them as readers declare them.
 *
 * A table is declared once, by the analysis that fills it: its columns, what they mean, and how
 * others treat it are all in one struct ta_table_def.  The columns of a table `small` are an
 * array `small_columns`, indexed by an enumeration:
 *
 *     enum { RANK, KERNELS, SHARE };
 *     static const struct ta_column small_columns[] = {
 *         [RANK] = TA_RANK_COLUMN,
 *         [KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels executed"},
 *         [SHARE] = {"small_share", "Small", TA_RATIO, .better = TA_LOWER,
 *                    .doc = "Small kernels over all kernels"},
 *     };
 *     static const struct ta_table_def small = {"kernels.small", "Small kernels",
 *                                               TA_COLUMNS(small_columns)};
 *     TA_ROW(out, small, [RANK] = ta_int(rank), [KERNELS] = ta_int(n), [SHARE] = ta_num(share));
 *
 * Who reads a table names it, with the column, in a list of references.  The list is checked when
 * the program starts: a reference that no declaration answers is refused, with both names. */
#ifndef TRACEANALYZE_TABLE_H
#define TRACEANALYZE_TABLE_H

#include "chart.h"
#include "report.h"
#include "stat.h"

TA_BEGIN_DECLS

/* ---- columns --------------------------------------------------------------------------- */

/* What the cells of a column are: type and unit, in the braces of a struct ta_column. */
#define TA_TEXT TA_TYPE_STRING, TA_UNIT_NONE
#define TA_WORD TA_TYPE_WORD, TA_UNIT_NONE
#define TA_ID TA_TYPE_ID, TA_UNIT_NONE
#define TA_SENTENCE TA_TYPE_SENTENCE, TA_UNIT_NONE
#define TA_FLAG TA_TYPE_BOOLEAN, TA_UNIT_NONE
#define TA_INTEGER TA_TYPE_INTEGER, TA_UNIT_NONE
#define TA_NUMBER TA_TYPE_NUMBER, TA_UNIT_NONE
#define TA_COUNT TA_TYPE_INTEGER, TA_UNIT_COUNT
#define TA_NS TA_TYPE_INTEGER, TA_UNIT_NS
#define TA_NS_MEAN TA_TYPE_NUMBER, TA_UNIT_NS
#define TA_BYTES TA_TYPE_INTEGER, TA_UNIT_BYTES
#define TA_BYTES_MEAN TA_TYPE_NUMBER, TA_UNIT_BYTES
#define TA_RATIO TA_TYPE_NUMBER, TA_UNIT_RATIO

/* ---- charts ---------------------------------------------------------------------------- */

/* How a declared table is drawn: a struct ta_chart (chart.h) that names columns by their place in
 * the array of columns of its table, &small_columns[RANK], so that a mistyped one does not compile.
 * Members mean what the members of struct ta_chart mean; columns may be NULL where names may. */
struct ta_chart_def {
    const char *id, *title, *caption;
    enum ta_chart_kind kind;
    const struct ta_column *label[TA_CHART_LABELS];
    const struct ta_column *x;
    struct {
        const struct ta_column *column;
        const char *label;
        enum ta_ink ink;
    } y[TA_CHART_SERIES_MAX];
    const struct ta_column *group, *size;
    struct {
        const struct ta_column *level, *slope, *name;
    } roof;
    const struct ta_kind *kinds;
    bool log_x, log_y;
    uint32_t top;
    int64_t whole;
    bool steps;
    const struct ta_column *band;
    const struct ta_column *with, *without;
};

/* ---- declarations ---------------------------------------------------------------------- */

struct ta_ref;
struct ta_refs;

#define TA_LENGTH(array) (sizeof(array) / sizeof *(array))

/* Columns of a table, in the braces of a struct ta_table_def. */
#define TA_COLUMNS(array) .columns = (array), .n_columns = TA_LENGTH(array)

/* How much a reader wants to see of a table. */
enum ta_tier {
    TA_TIER_ANSWER,  /* answers the question of its chapter: shown there */
    TA_TIER_DETAIL,  /* to look things up in: breaks another table down, or records what was read;
                        it is in the appendix */
    TA_TIER_CHART,   /* its chart answers, and is shown there; the table itself is a detail */
    TA_TIER_POINTS,  /* the points of its chart: people see the chart, where there is one, with its
                        data */
    TA_TIER_INTERNAL /* for other analyses alone: no output shows it */
};

enum ta_direction { TA_ASCENDING, TA_DESCENDING };

/* What durations are of.  Runs are compared by the first of these that both have. */
enum ta_sampled {
    TA_SAMPLED_NOTHING,
    TA_SAMPLED_STEPS,
    TA_SAMPLED_DENOISING, /* steps of a diffusion process */
    TA_SAMPLED_BLOCKS,    /* blocks of frames */
    TA_SAMPLED_COUNT
};

#define TA_SAMPLED_COLUMNS 2

/* The figures of a run that a table has, which runs are compared by and gates are set on. */
struct ta_figures {
    /* Its rows are durations in time order, the rows of a rank together. The first of these columns
     * that has values counts: its median, 95th percentile, largest value and mean. */
    enum ta_sampled sampled;
    const struct ta_column *duration[TA_SAMPLED_COLUMNS];
    const struct ta_column *set_up; /* not null for those that set the run up; or NULL */
    /* Its rows are rates and latencies, each a figure "metric@basis" with the unit of its row. */
    const struct ta_column *metric, *basis, *value;
    bool tell_speed; /* its times say how long the run takes: a regression is one of them, too */
    /* Metrics that it can have: a gate on one is no mistake where the input does not have it.  On
     * which basis one is meant by its name alone: the first of these that there is; without such a
     * list bases are names of the input, and the first row is meant.  Both end with NULL. */
    const char *const *metrics, *const *bases;
};

#define TA_BRIEF_COLUMNS 8
#define TA_BRIEF_WORDS 20

/* What the terminal shows of a table: of those that say so, in the order of `place`.  Columns are
 * columns of the table. */
struct ta_brief {
    int place;
    uint32_t rows;                   /* at most */
    const struct ta_column *largest; /* with more rows, those with the largest values of it */
    const char *rows_are;            /* else what the rows are that are shown: "the first ranks" */
    const struct ta_column *first[TA_BRIEF_COLUMNS];    /* have room before all others */
    const struct ta_column *together[TA_BRIEF_COLUMNS]; /* all of them are shown, or none */
    const struct ta_column *never[TA_BRIEF_COLUMNS];    /* not shown: they say nothing new */
    bool whole_names;                  /* names have room before all other columns */
    const struct ta_column *remark;    /* shown below the row where it has no room in it */
    /* Rows that are not shown: those whose cell in `column` is one of `words`, or begins with one
     * of `tables` and a point ("copies.bandwidth"); and those with 0 in `nonzero`. */
    struct {
        const struct ta_column *column;
        const char *words[TA_BRIEF_WORDS], *tables[TA_BRIEF_WORDS];
    } hidden;
    const struct ta_column *nonzero;
    /* The other name of what has two, which are shown as one: "old → new"; and how they were
     * matched, where a name that is the same but for its numbers reads "normalized". */
    struct {
        const struct ta_column *name, *method;
    } renamed;
    /* When it is shown. */
    uint32_t least_rows; /* with so many rows */
    const char *unless;  /* without this table in the report; NULL: always */
    bool alone;          /* only where none of the other tables says what the run did */
    bool is_supplement;  /* it does not say what the run did */
    bool (*applies)(const struct ta_refs *in); /* by what `reads` has; NULL: always */
    const struct ta_ref *reads;                /* TA_READS() */
    size_t n_reads;
};

/* Where summary.md, for pull requests and jobs, shows a table. */
enum ta_digest_part {
    TA_DIGEST_OUTCOME, /* first of all */
    TA_DIGEST_FIGURES, /* in place of the key figures of a single run */
    TA_DIGEST_CHANGES  /* after such figures, where readers open it */
};

/* What it shows of the table; tables of one part have the order of their briefs. */
struct ta_digest {
    enum ta_digest_part part;
    const char *title;
    uint32_t rows; /* at most; 0: all but those that the brief hides */
    const struct ta_column *columns[TA_BRIEF_COLUMNS]; /* the first one names the row */
    /* A ratio of two numbers, with the ends of its interval, of a column that is the change. */
    const struct ta_column *change, *low, *high;
};

#define TA_TABLE_CHARTS 4
#define TA_JOINT_KEYS 3

struct ta_table_def {
    const char *id, *title;
    const struct ta_column *columns;
    size_t n_columns;
    const char *doc; /* paragraphs of Markdown for docs/RESULTS.md: what a row is, how its figures
                        are found, what they add up to; or NULL */
    enum ta_tier tier;
    bool of_several; /* an answer that says nothing beyond key figures where it has one row */
    const struct ta_chart_def *chart[TA_TABLE_CHARTS]; /* drawn whenever it has rows */
    struct {
        const struct ta_column *by; /* NULL: rows keep the order of adding */
        enum ta_direction direction;
        const struct ta_column *within; /* by it in each of these, which ascend: in each rank; or
                                           NULL */
    } order;
    /* The columns whose cells, where another table has a column of the same key, say which of its
     * rows belong to a row: columns with `from` repeat what those rows say.  So tables that answer
     * one question are read as one. */
    const struct ta_column *joined_by[TA_JOINT_KEYS];
    /* Rows of the table that reports of several parts of a run make together. */
    enum ta_joining {
        TA_JOIN_ROWS, /* row after row, where it has a column of ranks; else of no part */
        TA_JOIN_SUMS, /* rows of equal names become one, whose numbers add up */
        TA_JOIN_NOT   /* none: it compares the ranks of a run, and is made anew where it can be */
    } joining;
    bool has_run_rows; /* a row without a rank is for the whole run, so a part of the run has none
                          joined */
    const struct ta_figures *figures; /* NULL: none but what readers make of it */
    const struct ta_brief *brief;     /* NULL: the terminal leaves it to the other outputs */
    const struct ta_digest *digest;   /* NULL: so does summary.md; else it has a brief */
    /* How ranks are compared in a table that has a column of them: row by row of equal keys, which
     * are the columns with the roles TA_KEY and TA_DEVICE and the texts that have no role. */
    bool not_of_ranks;   /* they are not: rows say what happened when, where or why */
    bool parts_of_whole; /* rows of other keys are parts of one whole: a difference counts against
                            the largest of them, so that a short stage is never a large one */
    const char *rank_words; /* what a figure of a rank is of, before its keys: "GPU time"; NULL: the
                               title of the table; "": the keys say it */
};

/* The tier of a table; one that nothing declares answers a question. */
static inline enum ta_tier ta_table_tier(const struct ta_table *table)
{
    return table->def ? table->def->tier : TA_TIER_ANSWER;
}

/* Whether outputs show a table of a section in its chapter; else it is in the appendix, or
 * below its chart. */
static inline bool ta_table_is_open(const struct ta_section *section, const struct ta_table *table)
{
    const bool repeats = table->def && table->def->of_several && table->n_rows == 1;
    return ta_table_tier(table) == TA_TIER_ANSWER && !repeats &&
           section->chapter != TA_CHAPTER_APPENDIX;
}

/* Whether people see its chart in the chapter of its section, while the table is in the appendix.
 */
static inline bool ta_table_is_charted(const struct ta_section *section,
                                       const struct ta_table *table)
{
    return ta_table_tier(table) == TA_TIER_CHART && table->chart &&
           section->chapter != TA_CHAPTER_APPENDIX;
}

/* Whether people see its chart instead of it. */
static inline bool ta_table_is_points(const struct ta_table *table)
{
    return table->def && table->def->tier == TA_TIER_POINTS && table->chart;
}

/* Adds a row to the table `def`, one of those that the running analysis declares.  Each column of
 * the table gets a cell by its enumerator; one that is not named is refused when the row is added,
 * and one that the table does not have does not compile. */
#define TA_ROW(section, def, ...)                                                                  \
    ta_add_row(ta_rows((section), &(def)),                                                         \
               (const struct ta_cell[TA_LENGTH(def##_columns)]){__VA_ARGS__})

/* The rows of a declared table, to sort or to draw them by hand.  Of a table that the running
 * analysis does not declare the report is refused later. */
TA_API struct ta_table_builder *ta_rows(struct ta_section_builder *section,
                                        const struct ta_table_def *def);

/* Draws a declared table by hand, where what it holds decides whether a chart says something. */
TA_API void ta_draw(struct ta_section_builder *section, const struct ta_table_def *def,
                    const struct ta_chart_def *chart);

/* Orders the rows by a column of the table, missing values last; ties by all columns from the left.
 */
TA_API void ta_order_rows(struct ta_section_builder *section, const struct ta_table_def *def,
                          const struct ta_column *column, enum ta_direction direction);

/* ---- scalars --------------------------------------------------------------------------- */

/* A figure of the run as a whole.  Runs are compared by it, and gates are set on it by its id. */
struct ta_scalar_def {
    const char *id, *title;
    enum ta_unit unit;
    enum ta_polarity better;
    const char *doc;
    enum ta_reading read_as;
    const char *gate;  /* what gates may call it, too; or NULL */
    bool not_compared; /* a hint, no figure of what a run did */
};

/* Scalars of an analysis, in the braces of its callbacks. */
#define TA_SCALARS(array) .scalars = (array), .n_scalars = TA_LENGTH(array)

/* Sets a scalar that the running analysis declares; title and note replace the declared ones where
 * the data decides them, NULL keeps them. One that it does not declare is refused. */
TA_API void ta_word_scalar(struct ta_section_builder *section, const struct ta_scalar_def *def,
                           struct ta_cell value, const char *title, const char *doc);

static inline void ta_set_scalar(struct ta_section_builder *section,
                                 const struct ta_scalar_def *def, struct ta_cell value)
{
    ta_word_scalar(section, def, value, NULL, NULL);
}

/* ---- references ------------------------------------------------------------------------ */

/* A column of a declared table, `column` NULL is the table as a whole; or a declared scalar. */
struct ta_ref {
    const char *table, *column, *scalar;
};

#define TA_REFS_MAX 192

/* A list of references, in the braces of the callbacks of a plugin. */
#define TA_READS(array) .reads = (array), .n_reads = TA_LENGTH(array)

/* The references of one reader, resolved in one report.  Readers name them by their places in the
 * list.  A report need not have all tables that are declared, and one of an earlier version not all
 * their columns: then rows are 0, numbers are those given for the case, and texts are empty. */
struct ta_ranks;
struct ta_steps;
struct ta_refs {
    const struct ta_report *report;
    const struct ta_ranks *ranks; /* of an analysis that sets `needs_ranks`, else NULL */
    const struct ta_steps *steps; /* of one that sets `needs_steps` */
    const struct ta_ref *list;
    size_t n;
    struct ta_ref_place {
        const struct ta_table *table;   /* NULL: the report has none */
        size_t column;                  /* SIZE_MAX: the table has none, or it is a whole table */
        const struct ta_scalar *scalar; /* NULL: the report has none */
        size_t rank, device; /* columns of the table that say whose a row is, or SIZE_MAX */
    } places[TA_REFS_MAX];
};

/* Resolves a list of references in a report. */
TA_API void ta_refs_open(struct ta_refs *refs, const struct ta_report *report,
                         const struct ta_ref *list, size_t n);

static inline const struct ta_table *ta_ref_table(const struct ta_refs *in, size_t ref)
{
    return in->places[ref].table;
}

static inline size_t ta_ref_rows(const struct ta_refs *in, size_t ref)
{
    return in->places[ref].table ? in->places[ref].table->n_rows : 0;
}

/* Whether the report has the table and the column, or the scalar. */
static inline bool ta_ref_exists(const struct ta_refs *in, size_t ref)
{
    if (in->list[ref].scalar)
        return in->places[ref].scalar;
    return in->places[ref].table && (in->places[ref].column != SIZE_MAX || !in->list[ref].column);
}

/* Place of the column in its table, or SIZE_MAX. */
static inline size_t ta_ref_column(const struct ta_refs *in, size_t ref)
{
    return in->places[ref].column;
}

/* The cell of a row, or the value of a scalar; a null one where there is none. */
static inline const struct ta_cell *ta_ref_cell(const struct ta_refs *in, size_t ref, size_t row)
{
    static const struct ta_cell none = {.kind = TA_CELL_NULL};
    const struct ta_table *table = in->places[ref].table;
    const size_t column = in->places[ref].column;
    if (in->places[ref].scalar)
        return &in->places[ref].scalar->value;
    return table && column != SIZE_MAX ? ta_table_cell(table, row, column) : &none;
}

/* The number of a row; `otherwise` without one. */
static inline double ta_ref_number(const struct ta_refs *in, size_t ref, size_t row,
                                   double otherwise)
{
    return ta_cell_number(ta_ref_cell(in, ref, row), otherwise);
}

/* The value of a scalar; `otherwise` without one. */
static inline double ta_ref_scalar(const struct ta_refs *in, size_t ref, double otherwise)
{
    return ta_ref_number(in, ref, 0, otherwise);
}

/* The integer of a row; TA_MISSING without one. */
static inline int64_t ta_ref_integer(const struct ta_refs *in, size_t ref, size_t row)
{
    const struct ta_cell *cell = ta_ref_cell(in, ref, row);
    return cell->kind == TA_CELL_INT ? cell->i : TA_MISSING;
}

/* The rank, or the device, that a row is of, in the table of any reference; TA_MISSING without one.
 */
static inline int64_t ta_ref_rank(const struct ta_refs *in, size_t ref, size_t row)
{
    return ta_table_integer(in->places[ref].table, row, in->places[ref].rank);
}

static inline int64_t ta_ref_device(const struct ta_refs *in, size_t ref, size_t row)
{
    return ta_table_integer(in->places[ref].table, row, in->places[ref].device);
}

/* The text of a row; empty without one. */
static inline struct ta_slice ta_ref_text(const struct ta_refs *in, size_t ref, size_t row)
{
    const struct ta_cell *cell = ta_ref_cell(in, ref, row);
    return cell->kind == TA_CELL_TEXT ? cell->text : TA_LIT("");
}

/* The row with the largest number of a column, the first of equals; SIZE_MAX without any. */
static inline size_t ta_ref_largest(const struct ta_refs *in, size_t ref)
{
    size_t most = SIZE_MAX;
    double largest = 0;
    for (size_t row = 0; row < ta_ref_rows(in, ref); row++) {
        const struct ta_cell *cell = ta_ref_cell(in, ref, row);
        const double value = ta_cell_number(cell, largest);
        if ((cell->kind == TA_CELL_INT || cell->kind == TA_CELL_NUM) &&
            (most == SIZE_MAX || value > largest)) {
            most = row;
            largest = value;
        }
    }
    return most;
}

/* Whether a row holds this text, which is not empty. */
static inline bool ta_ref_reads(const struct ta_refs *in, size_t ref, size_t row, const char *text)
{
    return ta_slice_equal(ta_ref_text(in, ref, row), ta_slice_of(text));
}

/* ==== columns that many tables have =========================================================== */

/* Columns that many tables have, and their cells. */

/* clang-format off */

/* ---- whose row it is --------------------------------------------------------------------- */

#define TA_RANK_COLUMN_OF(what) \
    {"rank", "Rank", TA_INTEGER, .role = TA_RANK, .doc = what}
#define TA_DEVICE_COLUMN_OF(what) \
    {"device", "Device", TA_INTEGER, .role = TA_DEVICE, .doc = what}

/* Of traces, and of the dumps of other profilers. */
#define TA_RANK_COLUMN TA_RANK_COLUMN_OF("Rank of the trace")
#define TA_DUMP_RANK_COLUMN TA_RANK_COLUMN_OF("Rank of the dump")
#define TA_DEVICE_COLUMN \
    TA_DEVICE_COLUMN_OF("Device number as recorded; empty if the trace does not say")

/* ---- statistics --------------------------------------------------------------------------- */

/* How a distribution of durations spreads: seven columns from enumerator `mean` on. */
#define TA_SPREAD_COLUMNS(mean) \
    [(mean)] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, \
                .over_ranks = TA_OVER_MEAN, .doc = "Mean duration"}, \
    [(mean) + 1] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .over_ranks = TA_OVER_LEAST, \
                    .detail = true, \
                    .doc = "Shortest duration"}, \
    [(mean) + 2] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .over_ranks = TA_OVER_MOST, \
                    .detail = true, \
                    .doc = "Longest duration"}, \
    [(mean) + 3] = {"stddev_ns", "Std dev", TA_NS_MEAN, .better = TA_LOWER, \
                    .over_ranks = TA_OVER_DEVIATION, .detail = true, \
                    .doc = "Sample standard deviation of the durations; empty for a single call"}, \
    [(mean) + 4] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER, .doc = "Median duration"}, \
    [(mean) + 5] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER, .detail = true, \
                    .doc = "95th percentile of the durations (type 7)"}, \
    [(mean) + 6] = {"p99_ns", "p99", TA_NS_MEAN, .better = TA_LOWER, .detail = true, \
                    .doc = "99th percentile of the durations (type 7)"}

/* How many columns these are: the enumerator after `mean` is mean + TA_SPREAD. */
#define TA_SPREAD 7

/* clang-format on */

/* The cells of these columns in a TA_ROW(), whose first is `mean`. */
#define TA_SPREAD_CELLS(mean, dist)                                                                \
    [(mean)] = ta_num(ta_dist_mean(dist)), [(mean) + 1] = ta_int(ta_dist_min(dist)),               \
    [(mean) + 2] = ta_int(ta_dist_max(dist)), [(mean) + 3] = ta_num(ta_dist_stddev(dist)),         \
    [(mean) + 4] = ta_num(ta_dist_quantile((dist), 50)),                                           \
    [(mean) + 5] = ta_num(ta_dist_quantile((dist), 95)),                                           \
    [(mean) + 6] = ta_num(ta_dist_quantile((dist), 99))

/* A share as a cell: null when the whole is 0 or missing. */
static inline struct ta_cell ta_share(int64_t part, int64_t whole)
{
    return part == TA_MISSING || whole <= 0 ? ta_null() : ta_num((double)part / (double)whole);
}

TA_END_DECLS

#endif
