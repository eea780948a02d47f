/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of Diffulex's files share. */
#ifndef TA_INPUT_DIFFULEX_H
#define TA_INPUT_DIFFULEX_H

#include "lib/rows.h"
#include "parse/text/csv.h"

#include <traceanalyze/document.h>

struct reading {
    struct ta_ctx *ctx;
    struct ta_reader *reader;
    struct ta_builder *builder;
    struct ta_quality *quality;
    uint64_t kept, dropped; /* records, of JSON and text */
    enum ta_status status;
};

/* ---- files ---------------------------------------------------------------------------------- */

enum ta_status dx_read_document(struct reading *r); /* all that is JSON */
enum ta_status dx_read_tables(struct reading *r);   /* all that is CSV */
enum ta_status dx_read_summary(struct reading *r);  /* sections as text */
enum ta_status dx_read_markdown(struct reading *r); /* merged operators as Markdown */

/* Confidence that a text holds such a file. */
int dx_sniff_document(struct ta_slice head);
int dx_sniff_tables(struct ta_slice head);
int dx_sniff_summary(struct ta_slice head);
int dx_sniff_markdown(struct ta_slice head);

bool dx_holds(struct ta_slice text, const char *what);
struct ta_slice dx_skip_blanks(struct ta_slice text);

/* ---- sections ------------------------------------------------------------------------------- */

/* A section of the profiler.  What is not recorded is TA_MISSING or NAN. */
struct section {
    struct ta_slice name;
    int64_t dur_ns, tokens;
    double seconds;      /* the duration as it is written */
    double tokens_per_s; /* over the duration that was given with the tokens */
    double gpu_change;   /* ratio: utilization at the end minus that at the start */
    int64_t memory_change;
};

/* The sections of a file become a fingerprint by which copies find each other: the durations with
 * the four decimals that the text prints. */
struct sections {
    struct reading *r;
    uint64_t fingerprint;
};

void dx_sections_begin(struct sections *s, struct reading *r);
void dx_sections_add(struct sections *s, const struct section *section);
/* A custom metric of a section: a figure when it is a number, else a tag; NaN is neither. */
void dx_sections_metric(struct sections *s, struct ta_slice name, struct ta_slice key,
                        struct ta_slice value);
void dx_sections_tag(struct sections *s, struct ta_slice name, struct ta_slice key,
                     struct ta_slice value);
/* What the profiler says of all sections; 0 tokens per second is "not recorded". */
void dx_sections_total(struct sections *s, double tokens_per_s);
void dx_sections_end(struct sections *s, enum ta_exactness exactness);

/* "section/key", interned. */
ta_str dx_join(struct reading *r, struct ta_slice section, struct ta_slice key);
void dx_add_figure(struct reading *r, ta_str name, const char *group, double value,
                   enum ta_unit unit);

/* ---- operators ------------------------------------------------------------------------------ */

/* Operators wait for the end of the file, since only then is it known whether there was a device
 * at all. */
struct operator_row {
    struct ta_operator_sum sum;
    ta_str profile; /* where rows of several profiles are merged */
    bool is_marker; /* a range that Diffulex itself opened */
};

struct operators {
    struct reading *r;
    struct operator_row *at;
    size_t n, max;
    bool any_device, all_markers;
};

void dx_operators_begin(struct operators *o, struct reading *r);
void dx_operators_add(struct operators *o, const struct operator_row *row);
void dx_operators_end(struct operators *o, enum ta_exactness exactness);
/* The same for rows of several profiles: all of them, or a choice. */
void dx_operators_merged(struct operators *o, bool are_all);
/* The rank in a profile's name, "….rank2"; TA_MISSING without one. */
int64_t dx_rank_of_profile(struct ta_slice profile);

#endif
