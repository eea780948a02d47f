/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manual pages of `traceanalyze help --man`.
 *
 * What the tables know they say: commands, options, limits, exit codes, plugins.  The rest of a
 * page is in src/cli/manual/<page>.txt, in the form that roff.h describes, with
 *
 *     what follows the DESCRIPTION of a command; or, of other pages, a line for NAME
 *     # --option
 *     more about an option than its line in the table
 *     # SECTION
 *     a section, in which a line @options, @commands, @limits, @exit-codes, @plugins or @settings
 *     stands for what the tables say. */
#ifndef TA_CLI_MANUAL_H
#define TA_CLI_MANUAL_H

#include "cli/cli.h"

struct ta_page {
    const char *name; /* "traceanalyze-report.1" */
    const char *text;
};

/* By name; ends with a row of NULL. */
extern const struct ta_page ta_pages[];

/* The page of a command ("report"), of a name ("config.5", "traceanalyze-config.5"), or for NULL of
 * the program. */
enum ta_status ta_page_choose(struct ta_ctx *ctx, const char *name,
                              const struct ta_page **page) TA_MUST_CHECK;

/* Writes a page as roff.  `registry` has the built-in plugins. */
void ta_page_put(struct ta_file *out, const struct ta_page *page,
                 const struct ta_registry *registry);

#endif
