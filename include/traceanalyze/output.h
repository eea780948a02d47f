/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an output plugin writes through: files that appear whole or not at all, and one
 * escaping writer per context.
 *
 * A sink is the place given with -o.  Each file is written to a temporary file next to
 * its target and all are renamed together after the last output has succeeded, report.json
 * last.  Errors are sticky: write on, the first failure is reported when the file is closed. */
#ifndef TRACEANALYZE_OUTPUT_H
#define TRACEANALYZE_OUTPUT_H

#include "base.h"
#include "report.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

TA_BEGIN_DECLS

struct ta_sink;
struct ta_file;

/* ---- places ---------------------------------------------------------------------------- */

/* A kind of place. */
enum ta_sink_kind {
    TA_SINK_FOLDER, /* products by their own names below `path`, which is made if missing */
    TA_SINK_FILE,   /* the one product goes to exactly `path` */
    TA_SINK_APPEND, /* the one product is added to the end of the file at `path`, which is no link
                     */
    TA_SINK_STDOUT, /* the one product goes to standard output, written directly */
    TA_SINK_STDERR, /* the same to standard error */
    TA_SINK_MEMORY  /* the one product stays in memory: ta_sink_take() */
};

/* Prepares a place; nothing is created yet.  NULL after ta_fail(). */
TA_API struct ta_sink *ta_sink_new(struct ta_ctx *ctx, enum ta_sink_kind kind,
                                   const char *path) TA_MUST_CHECK;

/* fsync and rename everything into place, report.json last of all, in several places at once.  On
 * failure nothing of this run remains and earlier products are as they were. */
TA_API enum ta_status ta_sinks_commit(struct ta_ctx *ctx, struct ta_sink *const *sinks,
                                      size_t n) TA_MUST_CHECK;

TA_MUST_CHECK static inline enum ta_status ta_sink_commit(struct ta_ctx *ctx, struct ta_sink *sink)
{
    return ta_sinks_commit(ctx, &sink, 1);
}

/* Fails where nothing can be put there, as far as that can be told beforehand: so that nobody waits
 * for a run that has nowhere to go. */
TA_API enum ta_status ta_sink_check(struct ta_ctx *ctx, enum ta_sink_kind kind,
                                    const char *path) TA_MUST_CHECK;

/* Removes what was not committed, and folders this sink made that are empty. */
TA_API void ta_sink_free(struct ta_sink *sink);

/* ---- files ----------------------------------------------------------------------------- */

/* Opens a product such as "report.html" or "tables/ops.by_name.csv" below the place of the
 * sink (or the one file, or standard output, that the user asked for).  The name comes from
 * fixed tables, never from data.  `signature` is a text within the first or last 4 KiB of
 * every such file that we write: an existing file without it belongs to someone else and is
 * refused.  NULL after ta_fail(). */
TA_API struct ta_file *ta_sink_open(struct ta_ctx *ctx, struct ta_sink *sink, const char *name,
                                    const char *signature) TA_MUST_CHECK;

/* True when the sink takes exactly one product: an output of many files writes one instead. */
TA_API bool ta_sink_is_single(const struct ta_sink *sink);

/* The product of a report in a format: "report." or "diff." and the extension. */
TA_API struct ta_file *ta_sink_open_report(struct ta_ctx *ctx, struct ta_sink *sink,
                                           const struct ta_report *report, const char *extension,
                                           const char *signature);

/* Flushes and closes; the file gets its final name when the whole run has succeeded. */
TA_API enum ta_status ta_file_close(struct ta_ctx *ctx, struct ta_file *file) TA_MUST_CHECK;

/* Bytes as they are. */
TA_API void ta_put(struct ta_file *out, struct ta_slice bytes);
static inline void ta_puts(struct ta_file *out, const char *text)
{
    ta_put(out, ta_slice_of(text));
}
TA_API void ta_putc(struct ta_file *out, char byte);
/* Only for formats whose arguments are numbers or constants of ours. */
TA_API void ta_putf(struct ta_file *out, const char *format, ...) TA_PRINTF(2, 3);

/* ---- one writer per context ---------------------------------------------------------- */
/* All of them make valid UTF-8: bad bytes become U+FFFD. */

/* A JSON string with its quotes.  With `in_script` also < > & and U+2028/9 are escaped, so it
 * can be inside <script>. */
TA_API void ta_put_json(struct ta_file *out, struct ta_slice text, bool in_script);
/* A JSON value of a cell: null, string, integer, shortest double, boolean. */
TA_API void ta_put_json_cell(struct ta_file *out, const struct ta_cell *cell, bool in_script);
/* Text or quoted attribute of HTML and SVG; control and bidirectional characters become visible
 * escapes such as \u202e. */
TA_API void ta_put_html(struct ta_file *out, struct ta_slice text);
/* One cell of RFC 4180; a text that a spreadsheet would run gets a leading apostrophe. */
TA_API void ta_put_csv(struct ta_file *out, const struct ta_cell *cell);
/* Text of Markdown in a line of its own or a table cell: nothing in it is markup, HTML or a link.
 */
TA_API void ta_put_markdown_text(struct ta_file *out, struct ta_slice text);
/* Text or quoted attribute of XML 1.0: control characters are shown as escapes, and what XML cannot
 * hold is left out. */
TA_API void ta_put_xml(struct ta_file *out, struct ta_slice text);
/* Text for a terminal, cut in the middle to `width` columns (0: not cut) and padded when `pad`:
 * < 0 to the left, > 0 to the right. */
TA_API void ta_put_terminal(struct ta_file *out, struct ta_slice text, size_t width, int pad);
/* Columns a text takes on a terminal after escaping. */
TA_API size_t ta_terminal_width(struct ta_slice text);

/* Formats a cell for people with the unit of its column; texts are returned as they are and
 * must still be escaped.  The result is `buffer` or the text of the cell; "" for null. */
TA_API struct ta_slice ta_cell_text(const struct ta_cell *cell, enum ta_unit unit,
                                    char buffer[TA_UNIT_TEXT_MAX]);

/* Room for the text of a word. */
#define TA_WORD_TEXT_MAX 128

/* A cell of a table as people read it: its value with its unit, its word, or its text as it is,
 * which must still be escaped; "" for null. */
TA_API struct ta_slice ta_table_text(const struct ta_table *table, size_t row, size_t column,
                                     char buffer[TA_WORD_TEXT_MAX]);

/* What the counts of the accounts are of: "events", or "records" as soon as a file is a dump, whose
 * records are no events; a constant. */
static inline const char *ta_accounts_noun(const struct ta_accounts *accounts, bool one)
{
    for (size_t i = 0; i < accounts->n_files; i++)
        if (accounts->files[i].is_dump)
            return one ? "record" : "records";
    return one ? "event" : "events";
}

/* Evidence as people read it, "Memory by rank · rank 0 · Gap at peak: 24.3 %", cut to `size` bytes;
 * names in it must still be escaped. */
TA_API void ta_evidence_text(const struct ta_report *report, const struct ta_evidence *evidence,
                             char *text, size_t size);

enum { TA_SAVING_TEXT_MAX = 3 * TA_UNIT_TEXT_MAX + 32 };

/* "8.0 to 17 % of the run"; "" where the share is not known, or too small to say. */
static inline const char *ta_saving_share_text(const struct ta_finding *finding,
                                               char text[TA_SAVING_TEXT_MAX])
{
    char low[32], high[32];
    const double least = 100 * finding->saving_low_share, most = 100 * finding->saving_high_share;
    *text = '\0';
    snprintf(low, sizeof low, "%.*f", least < 9.95, least);
    snprintf(high, sizeof high, "%.*f", most < 9.95, most);
    if (most >= 0.1 && least >= 0.05 && strcmp(low, high) != 0)
        snprintf(text, TA_SAVING_TEXT_MAX, "%s to %s %% of the run", low, high);
    else if (most >= 0.1)
        snprintf(text, TA_SAVING_TEXT_MAX, "%s %% of the run", high);
    return text;
}

/* "96.0 ms to 207 ms (8.0 to 17 % of the run)", "up to 207 ms"; "" without a saving. */
static inline const char *ta_saving_text(const struct ta_finding *finding,
                                         char text[TA_SAVING_TEXT_MAX])
{
    char low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX], share[TA_SAVING_TEXT_MAX];
    *text = '\0';
    if (finding->saving_high_ns == TA_MISSING)
        return text;
    ta_unit_format(high, (double)finding->saving_high_ns, TA_UNIT_NS);
    ta_unit_format(low, (double)finding->saving_low_ns, TA_UNIT_NS);
    ta_saving_share_text(finding, share);
    const bool is_range = finding->saving_low_ns > 0 && strcmp(low, high) != 0;
    snprintf(text, TA_SAVING_TEXT_MAX, "%s to %s%s%s%s", is_range ? low : "up", high,
             *share ? " (" : "", share, *share ? ")" : "");
    return text;
}

/* "info" … "critical"; a constant. */
static inline const char *ta_severity_name(enum ta_severity severity)
{
    static const char *const names[] = {"info", "low", "medium", "high", "critical"};
    return names[severity];
}

/* ---- settings that all outputs share --------------------------------------------------- */

/* How much of the timeline a page holds. */
enum ta_timeline_mode {
    TA_TIMELINE_AUTO, /* all that fits into the page, else the longest in half of it */
    TA_TIMELINE_FULL, /* every slice, whatever the page becomes */
    TA_TIMELINE_LOD,  /* no slice that is too short to be seen on the whole */
    TA_TIMELINE_NONE
};

struct ta_render_options {
    uint32_t top;      /* rows drawn of a long table (--top); report.json holds all */
    uint32_t columns;  /* width of the terminal */
    bool color;        /* the terminal takes colors */
    bool full_text;    /* text for terminals with all tables and evidence, else on one screen */
    bool letter;       /* --paper=letter, else A4 */
    bool full_paper;   /* --paper-detail=full: every table, else the story in a few pages */
    const char *theme; /* "auto", "light" or "dark" */
    int64_t date_s;    /* date of the products: SOURCE_DATE_EPOCH or the date of the newest input */
    const char *version; /* of traceanalyze */
    enum ta_timeline_mode timeline;
    uint64_t max_html_size;  /* bytes of report.html */
    bool split_assets;       /* --assets=split: style and script in files next to the page */
    const char *const *runs; /* of a report that lists several: their names, by which their folders
                                are called; ends with NULL, or NULL */
};

struct ta_output_ops {
    const char *extension; /* "html": `-o x.html` asks for this output alone */
    bool by_default;       /* part of `report` without --format */
    enum ta_status (*write)(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink);
    bool needs_timeline;        /* reads ta_report_timeline() */
    const struct ta_ref *reads; /* TA_READS() */
    size_t n_reads;
};

TA_END_DECLS

#endif
