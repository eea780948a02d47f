/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What -o and --format mean: which formats are written, and to what kind of place. */
#ifndef TA_CLI_PLACE_H
#define TA_CLI_PLACE_H

#include "traceanalyze/output.h"

/* One format that can be written. */
struct ta_format {
    const char *name, *extension;
    bool by_default;
    bool chosen; /* set by ta_place_choose() */
};

struct ta_place {
    enum ta_sink_kind kind;
    const char *path; /* NULL for standard output */
};

/* Makes the formats of a list those written by default. */
enum ta_status ta_place_default(struct ta_ctx *ctx, const char *list, struct ta_format *formats,
                                size_t n_formats) TA_MUST_CHECK;

/* Chooses among `formats` by the list given with --format (NULL: not given), else by the
 * extension of -o, else the defaults.  `single` says that each format makes one product, so that
 * it can go to a file or to standard output.  `folder` is the place without -o. */
enum ta_status ta_place_choose(struct ta_ctx *ctx, const char *list, const char *out,
                               const char *folder, bool single, struct ta_format *formats,
                               size_t n_formats, struct ta_place *place) TA_MUST_CHECK;

#endif
