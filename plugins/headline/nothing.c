/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why there is nothing, in the words of the first file that says so, which begin a sentence. */
#include <traceanalyze/headline.h>

#include <ctype.h>

/* What fits a sentence. */
enum { NAME_MOST = 60 };

/* Why there is nothing, in the words of the first file that says so, which begin a sentence. */
static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const struct ta_accounts *accounts = ta_report_accounts(in->report);
    for (size_t f = 0; f < accounts->n_files; f++)
        for (size_t i = 0; i < accounts->files[f].n_findings; i++) {
            const struct ta_quality_finding *finding = &accounts->files[f].findings[i];
            const struct ta_slice path = ta_slice_of(accounts->files[f].path);
            const struct ta_slice name = ta_line_name(line, path, NAME_MOST);
            if (finding->code != TA_Q_NO_EVENTS || !finding->text || !finding->text[0])
                continue;
            ta_say(line, "No timed events were recorded (%.*s: %c%s).", (int)name.len, name.ptr,
                   tolower((unsigned char)finding->text[0]), finding->text + 1);
            return;
        }
    if (!worst) /* which says what was */
        ta_say(line, "No timed events were recorded.");
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 10, .say = say, .alone = true};

TA_PLUGIN(headline, nothing, &ops, .title = "No figures", .summary = "Why there is no figure",
          .version = "1");
