/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries: what is kept of files once they are read, as text that can be saved, sent and merged.
 *
 * A summary holds the facts of its files, the records of dumps that wait for all files, and the
 * merged partials of the rest (docs/adr/0017-summaries.md). Everything that depends on other files,
 * ranks above all, is decided when all summaries of a run are together, so that a report from
 * summaries equals the report from the files, byte for byte. The text is JSON,
 * schemas/summary-1.schema.json; a saved one is gzip of it. */
#ifndef TA_SUMMARY_SUMMARY_H
#define TA_SUMMARY_SUMMARY_H

#include "analyze/analyze.h"
#include "analyze/summary/ingested.h"

/* How every summary begins, after its first brace. */
#define TA_SUMMARY_SCHEMA "\"schema\":\"traceanalyze.summary/1\""

/* ---- writing ------------------------------------------------------------------------------- */

/* What goes into one summary. */
struct ta_summary_scope {
    const char *version;             /* of this program */
    const char *title;               /* of a report, unless a user says another */
    const char *hardware;            /* --hardware, or NULL */
    const struct ta_quality *job;    /* what was noticed on the way to the files; NULL: nothing */
    const struct ta_ingested *files; /* all of the run: a placeholder is an index into them */
    size_t n_files;
    const size_t *chosen; /* those to write, ascending */
    size_t n_chosen;
    const struct ta_plan *plan;
    struct ta_partial_set *partials; /* of the chosen files alone */
};

/* Writes them; the caller frees text->bytes.at.  The partials are put in order, and stay mergeable.
 */
enum ta_status ta_summary_write(struct ta_ctx *ctx, const struct ta_summary_scope *scope,
                                struct ta_text *text) TA_MUST_CHECK;

/* The text as a gzip file, without date or name; the caller frees packed->bytes.at. */
enum ta_status ta_summary_pack(struct ta_ctx *ctx, struct ta_slice text,
                               struct ta_text *packed) TA_MUST_CHECK;

/* The text again, of what was packed here; the caller frees text->bytes.at. */
enum ta_status ta_summary_unpack(struct ta_ctx *ctx, struct ta_slice packed,
                                 struct ta_text *text) TA_MUST_CHECK;

/* ---- reading ------------------------------------------------------------------------------- */

/* Whether a file that begins so is a summary. */
bool ta_summary_is(struct ta_slice head);

/* What a summary says of its files; it is at its beginning. */
struct ta_summary_head {
    const char *title, *version; /* of the program that wrote it */
    struct ta_quality job;
    struct ta_ingested *files; /* without `source` … */
    struct ta_source *sources; /* … which says their names alone */
    size_t n_files;
};

/* Reads the head of a text of which `text` is the whole or the beginning; texts are copied into the
 * arena.  TA_ERR_INPUT when it is none, with *more when the beginning was too short to tell. */
enum ta_status ta_summary_read_head(struct ta_ctx *ctx, struct ta_slice text,
                                    struct ta_arena *arena, struct ta_summary_head *head,
                                    bool *more) TA_MUST_CHECK;
void ta_summary_head_free(struct ta_summary_head *head);

/* Adds the partials and records of a whole text to the run's: file i of the summary is
 * files[index_of[i]], whose facts are there. With TA_ERR_INPUT, which names the byte offset,
 * nothing was added. `plan` is the plan of the partials. */
enum ta_status ta_summary_merge(struct ta_ctx *ctx, struct ta_slice text, const size_t *index_of,
                                size_t n_files, struct ta_ingested *files,
                                const struct ta_plan *plan,
                                struct ta_partial_set *partials) TA_MUST_CHECK;

#endif
