/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result model: everything a report says, as data.
 *
 * A report has sections, a section has items; an item is a scalar, a table or a finding.
 * A series, a histogram or a heat map is a table with a chart (chart.h).  Renderers only
 * draw what is here.  A report owns all its memory: strings given to the functions below are
 * copied, pointers handed out live until ta_report_free().
 *
 * Building never fails in the middle: when memory runs out the report remembers it, further
 * calls do nothing useful but are safe, and ta_report_freeze() says TA_ERR_NOMEM once. */
#ifndef TRACEANALYZE_REPORT_H
#define TRACEANALYZE_REPORT_H

#include "base.h"
#include "cell.h"
#include "quality.h"
#include "reading.h"

TA_BEGIN_DECLS

/* ---- items --------------------------------------------------------------------------- */

/* What a column is to those who read a table that they do not know. */
enum ta_role {
    TA_FIGURE,        /* a value of the row: one of numbers is compared between ranks */
    TA_KEY,           /* whose the values of the row are: a name, a stage, a metric */
    TA_RANK,          /* a key: the rank */
    TA_DEVICE,        /* a key: the device of the rank */
    TA_UNIT_OF_ROW,   /* the unit of the values of the row, for programs */
    TA_BETTER_OF_ROW, /* which of two values of the row is better, by ta_polarity_name() */
    TA_IN_SERIES,     /* which of a series the row is, such as a step or a time */
    TA_NOTE           /* names or explains something and is not compared, such as a path */
};

/* What becomes of the values of equal rows of several parts of a run (TA_JOIN_SUMS). */
enum ta_over_ranks {
    TA_OVER_SUM, /* their sum, of integers */
    TA_OVER_LEAST,
    TA_OVER_MOST,
    TA_OVER_CALLS,     /* the sum, which says how many values there are */
    TA_OVER_TIME,      /* the sum, of so many values */
    TA_OVER_SELF,      /* the sum, and what shares are of where the table has it */
    TA_OVER_MEAN,      /* mean of all values */
    TA_OVER_DEVIATION, /* their standard deviation */
    TA_OVER_SHARE      /* share of the sum of all rows */
};

/* How a column takes its cells from another table, where that has several rows for one. */
enum ta_joint_way {
    TA_JOINT_FIRST, /* the cell of the first of them: of tables in order, of what matters most */
    TA_JOINT_SUM,   /* the sum of theirs, of integers */
    TA_JOINT_COUNT  /* how many they are; of no column */
};

/* The column of another table that a column repeats, for the same name, rank or device.  The core
 * fills it when all tables are there; the analysis that has the table leaves its cells out. */
struct ta_joint {
    const char *table, *column; /* NULL: a column of its own */
    enum ta_joint_way way;
};

struct ta_column {
    const char *key;   /* stable name in report.json */
    const char *title; /* column head */
    enum ta_type type; /* with the unit: TA_COUNT, TA_NS … of table.h */
    enum ta_unit unit;
    enum ta_polarity better; /* which of two values */
    const char *doc;         /* one sentence: what it is and how it is computed */
    enum ta_role role;
    double weight;           /* how much a difference between ranks matters, 0 to 1; 0: little */
    bool detail;             /* for a closer look: what other columns are worked out of */
    bool is_ratio_of_change; /* says the same as the change next to it, which pages show */
    enum ta_reading read_as;
    enum ta_over_ranks over_ranks;
    struct ta_joint from; /* of a table with joined_by (table.h) */
    /* Where it is 0 in every row, that is an answer if the column with this key is not: of a part,
     * its whole.  Its own key: always.  NULL: it means that there is nothing of the kind. */
    const char *zero_of;
};

static inline bool ta_column_is_number(const struct ta_column *column)
{
    return column->type == TA_TYPE_INTEGER || column->type == TA_TYPE_NUMBER;
}

struct ta_chart;
struct ta_table_def;

struct ta_table {
    const char *id, *title;
    const struct ta_table_def *def; /* its declaration (table.h); NULL when nothing declares it */
    const struct ta_column *columns;
    size_t n_columns, n_rows;
    const struct ta_cell *cells;  /* row after row, n_columns each */
    const struct ta_chart *chart; /* NULL when the table is not drawn; more follow in ->next */
    size_t n_left_out; /* rows that were not in the page this report was read from; else 0 */
};

struct ta_scalar {
    const char *id, *title;
    struct ta_cell value;
    enum ta_unit unit;
    enum ta_polarity polarity;
    const char *note; /* or NULL */
};

enum ta_severity { TA_INFO, TA_LOW, TA_MEDIUM, TA_HIGH, TA_CRITICAL };

/* The cell of a table that a finding rests on. */
struct ta_evidence {
    const char *table, *column;
    struct ta_cell row; /* key of the row: its first cell */
    struct ta_cell value;
    enum ta_unit unit;
};

/* What a saving is time of. */
enum ta_gain {
    TA_GAIN_RUN,    /* of the run, or of the rank of the first evidence: the core takes into account
                       what the others wait for it */
    TA_GAIN_DEVICE, /* kernels of a device: it shortens the run only as far as they are on its
                       critical path, which the core takes into account */
    TA_GAIN_RANKS   /* of all ranks together: they wait for each other */
};

/* What a finding is about, where others may be about the same: those are told as one. */
enum ta_effect {
    TA_EFFECT_OTHER,
    TA_EFFECT_LATE_RANK,     /* `rank` is slower than the others */
    TA_EFFECT_SLOWED_DEVICE, /* the GPU of `rank` runs below its clock */
    TA_EFFECT_HOST_COPY,     /* copies from or to the host hold up */
    TA_EFFECT_CACHED_STEP    /* steps that a cache answers take longer than what it keeps */
};

/* What is wrong, why, what to do and what that brings: three sentences and a range of time. */
struct ta_finding {
    const char *id, *rule;
    const char *title;   /* what is wrong, cause first, with its share of the run; no full stop */
    const char *why;     /* a sentence: where it comes from, where a programmer acts; or NULL */
    const char *advice;  /* what to do on this device and framework */
    const char *details; /* conditions, exceptions, other places, for who wants more; or NULL */
    /* Of a rule without a saving, or of a run without a window of devices.  With both, anything
     * above TA_INFO is graded by confidence × mean saving, over the window: what ranks findings. */
    enum ta_severity severity;
    const struct ta_evidence *evidence;
    size_t n_evidence;
    int64_t saving_low_ns, saving_high_ns; /* both TA_MISSING when it cannot be estimated */
    enum ta_gain gain;
    double saving_low_share, saving_high_share; /* of the run, set by the core; 0 when not known */
    double confidence;                          /* 0…1 */
    const char *threshold;                      /* the predicate that fired, as text */
    /* What of its time recording explains, as estimated and at most, from recording.explained. */
    int64_t recorder_ns, recorder_most_ns;
    /* Time of denoising steps of which it saves a share; of several such savings each is a share of
     * what the others leave.  0: of none. */
    int64_t steps_ns;
    enum ta_effect effect;
    int64_t rank; /* that the effect is of */
    int64_t
        needed_ns; /* what the run has to save to reach the goal that it misses; 0: it has none */
    bool
        about_input; /* it says what the input is worth, and is no less sure where that is little */
    bool is_only;    /* of such an input all findings but those about it are left out */
};

enum ta_item_kind { TA_ITEM_SCALAR, TA_ITEM_TABLE, TA_ITEM_FINDING };

struct ta_item {
    enum ta_item_kind kind;
    union {
        const struct ta_scalar *scalar;
        const struct ta_table *table;
        const struct ta_finding *finding;
    };
};

/* The chapters in which outputs tell a report, in their order.  A section belongs to one by its id,
 * so that reports of earlier versions are told in the same order; the timeline is the only one
 * without sections. */
enum ta_chapter {
    TA_CHAPTER_FINDINGS, /* with gates, and what a comparison found */
    TA_CHAPTER_TIMELINE,
    TA_CHAPTER_TIME,
    TA_CHAPTER_IDLE,
    TA_CHAPTER_STEPS,
    TA_CHAPTER_MEMORY,
    TA_CHAPTER_RANKS,
    TA_CHAPTER_CALL_TREE,
    TA_CHAPTER_MORE,     /* sections of loaded plugins */
    TA_CHAPTER_APPENDIX, /* what was read and how good it is; outputs add all tables of details */
    TA_CHAPTERS
};

struct ta_section {
    const char *id, *title;
    const struct ta_item *items;
    size_t n_items;
    const char *summary; /* one line on what its items come to, or NULL */
    const char *missing; /* one line on what the input lacked, or NULL */
    enum ta_chapter chapter;
};

/* ---- reading a report ---------------------------------------------------------------- */

struct ta_report;
struct ta_timeline;

/* What a report is of. */
enum ta_report_kind {
    TA_REPORT_RUN, /* one run, however many files it has */
    TA_REPORT_DIFF /* two sides, each of one run or several */
};

struct ta_run_info {
    const char *title;
    const int64_t *ranks; /* ascending */
    size_t n_ranks;
    int64_t world_size;  /* TA_MISSING when no file says */
    const char *devices; /* distinct device names, "2× NVIDIA H200", or "" */
    bool has_dumps;      /* while a run is analyzed: some files are dumps, not traces, so that what
                            traces lack is no news; false in a report that is read again */
};

/* Whether the devices are AMD's, which have matrix cores where others have tensor cores. */
static inline bool ta_run_is_amd(const struct ta_run_info *run)
{
    return strstr(run->devices, "AMD") || strstr(run->devices, "Instinct") ||
           strstr(run->devices, "Radeon");
}

/* Figures of a first screen. */
enum { TA_FIGURES_MOST = 6 };

struct ta_verdict {
    const char *headline;                 /* one sentence */
    const char *bottleneck;               /* id of a finding, or NULL */
    const char *figures[TA_FIGURES_MOST]; /* ids of the scalars of the first screen, in order */
    size_t n_figures;                     /* 0: nobody chose any */
};

/* All that a report says. */
struct ta_report_view {
    enum ta_report_kind kind;
    struct ta_run_info run;
    struct ta_verdict verdict;
    struct ta_accounts accounts;
    const struct ta_section **sections; /* by chapter; known when the report is complete */
    size_t n_sections;
    const struct ta_timeline *timeline; /* ta_report_timeline() */
};

/* It lives as long as the report. */
TA_API const struct ta_report_view *ta_report_view(const struct ta_report *report);

/* Whether it is of a run or of a comparison. */
static inline enum ta_report_kind ta_report_kind(const struct ta_report *report)
{
    return ta_report_view(report)->kind;
}

static inline const struct ta_run_info *ta_report_run(const struct ta_report *report)
{
    return &ta_report_view(report)->run;
}

static inline const struct ta_verdict *ta_report_verdict(const struct ta_report *report)
{
    return &ta_report_view(report)->verdict;
}

static inline const struct ta_accounts *ta_report_accounts(const struct ta_report *report)
{
    return &ta_report_view(report)->accounts;
}

static inline size_t ta_report_section_count(const struct ta_report *report)
{
    return ta_report_view(report)->n_sections;
}

static inline const struct ta_section *ta_report_section(const struct ta_report *report,
                                                         size_t index)
{
    return ta_report_view(report)->sections[index];
}

/* The scalars of the first screen, in order: those chosen for this kind of run, else the first that
 * people are shown.  Returns how many. */
TA_API size_t ta_report_figures(const struct ta_report *report,
                                const struct ta_scalar *figures[TA_FIGURES_MOST]);

/* Finds a table by id; NULL when the report has none. */
TA_API const struct ta_table *ta_report_table(const struct ta_report *report, const char *id);
/* Whether people are shown a figure: not a cost of nothing, such as 0 % of exposed communication
 * where there is none, and not a count of nothing.  That nothing is used is news, such as idle
 * tensor cores, and so is that nothing changed. */
TA_API bool ta_scalar_is_shown(const struct ta_report *report, const struct ta_scalar *scalar);

/* A walk over the items of a report; it starts as {0}. */
struct ta_walk {
    size_t section, item; /* the section it is in, and the next of its items */
};

/* The next item of a kind, whichever section it is in; NULL after the last. */
static inline const struct ta_item *ta_report_next(const struct ta_report *report,
                                                   enum ta_item_kind kind, struct ta_walk *walk)
{
    for (; walk->section < ta_report_section_count(report); walk->section++, walk->item = 0) {
        const struct ta_section *section = ta_report_section(report, walk->section);
        while (walk->item < section->n_items)
            if (section->items[walk->item++].kind == kind)
                return &section->items[walk->item - 1];
    }
    return NULL;
}

/* Column number of a key, or SIZE_MAX. */
static inline size_t ta_table_column(const struct ta_table *table, const char *key)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].key, key) == 0)
            return i;
    return SIZE_MAX;
}

/* Unit of a cell: the unit of its column; where a table of values of many kinds has a text column
 * "unit" and the column has no unit, the unit of its row. */
TA_API enum ta_unit ta_table_unit(const struct ta_table *table, size_t row, size_t column);

/* Both. */
TA_API bool ta_column_is_useful(const struct ta_table *table, size_t column);

static inline const struct ta_cell *ta_table_cell(const struct ta_table *table, size_t row,
                                                  size_t column)
{
    return &table->cells[row * table->n_columns + column];
}

/* The integer of a cell; TA_MISSING without a table, a column or an integer in it. */
static inline int64_t ta_table_integer(const struct ta_table *table, size_t row, size_t column)
{
    if (!table || column == SIZE_MAX || ta_table_cell(table, row, column)->kind != TA_CELL_INT)
        return TA_MISSING;
    return ta_table_cell(table, row, column)->i;
}

/* The row of `table` that has these two cells first, such as rank and device; SIZE_MAX when there
 * is none.  The search begins at `from`: looking for row after row of a table in the same order,
 * with the one after the last find, is quick. */
static inline size_t ta_table_row_of(const struct ta_table *table, size_t from,
                                     const struct ta_cell *first, const struct ta_cell *second)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const size_t row = (from + i) % table->n_rows;
        if (ta_cell_equal(ta_table_cell(table, row, 0), first) &&
            ta_cell_equal(ta_table_cell(table, row, 1), second))
            return row;
    }
    return SIZE_MAX;
}

/* The number in a column of a row; `otherwise` without such a column or a number in it. */
static inline double ta_row_number(const struct ta_table *table, size_t row, const char *column,
                                   double otherwise)
{
    const size_t at = ta_table_column(table, column);
    return at == SIZE_MAX ? otherwise : ta_cell_number(ta_table_cell(table, row, at), otherwise);
}

/* The integer in a column of a row; TA_MISSING without such a column or an integer in it. */
static inline int64_t ta_row_integer(const struct ta_table *table, size_t row, const char *column)
{
    const size_t at = ta_table_column(table, column);
    if (at == SIZE_MAX || ta_table_cell(table, row, at)->kind != TA_CELL_INT)
        return TA_MISSING;
    return ta_table_cell(table, row, at)->i;
}

/* The text in a column of a row; empty without such a column or a text in it. */
static inline struct ta_slice ta_row_text(const struct ta_table *table, size_t row,
                                          const char *column)
{
    const size_t at = ta_table_column(table, column);
    if (at == SIZE_MAX || ta_table_cell(table, row, at)->kind != TA_CELL_TEXT)
        return TA_LIT("");
    return ta_table_cell(table, row, at)->text;
}

/* Whether a column of a row holds this text, which is not empty. */
static inline bool ta_row_reads(const struct ta_table *table, size_t row, const char *column,
                                const char *text)
{
    return ta_slice_equal(ta_row_text(table, row, column), ta_slice_of(text));
}

/* ---- building a report --------------------------------------------------------------- */

/* Where an analysis puts its items; handed to finish() by the core. */
struct ta_section_builder;
struct ta_table_builder;

/* Says in one line what the input lacked, when an analysis has nothing to show. */
TA_API void ta_add_missing(struct ta_section_builder *section, const char *format, ...)
    TA_PRINTF(2, 3);

/* Adds one row of exactly n_columns cells; texts are copied. */
TA_API void ta_add_row(struct ta_table_builder *table, const struct ta_cell *cells);

/* TA_CELLS(table, ta_text(name), ta_int(calls), …) */
#define TA_CELLS(table, ...) ta_add_row((table), (const struct ta_cell[]){__VA_ARGS__})

TA_END_DECLS

#endif
