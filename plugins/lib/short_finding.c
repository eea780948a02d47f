/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/short_finding.h"

#include <traceanalyze/table.h>

#include <stdio.h>
#include <string.h>

/* The full stop of the first sentence, where another one follows; NULL else. */
static const char *full_stop(const char *text)
{
    const char *end = text;
    while ((end = strstr(end, ". ")) != NULL && !(end[2] >= 'A' && end[2] <= 'Z'))
        end++;
    return end;
}

const char *ta_first_sentence(const char *text, char buffer[TA_SENTENCE_MAX], const char **rest)
{
    const char *end = full_stop(text);
    *rest = NULL;
    if (!end || (size_t)(end - text) + 2 > TA_SENTENCE_MAX)
        return text;
    *rest = end + 2;
    snprintf(buffer, TA_SENTENCE_MAX, "%.*s", (int)(end - text) + 1, text);
    return buffer;
}

size_t ta_sentences_within(const char *text, size_t most)
{
    size_t n = 0;
    for (const char *end; (end = full_stop(text + n)) != NULL; n = (size_t)(end - text) + 2)
        if (n > most / 2 && (size_t)(end - text) + 1 > most)
            return n - 1;
    return n <= most / 2 || strlen(text) <= most ? strlen(text) : n - 1;
}

/* What a rule is about, "Straggler"; NULL where the report does not know the rule. */
static const char *title_of(const struct ta_report *report, const char *rule,
                            char buffer[TA_SENTENCE_MAX])
{
    enum { RULE, TITLE };
    static const struct ta_ref reads[] = {
        [RULE] = {"findings.rules", "rule"}, [TITLE] = {"findings.rules", "title"}};
    struct ta_refs in;
    ta_refs_open(&in, report, reads, TA_LENGTH(reads));
    for (size_t row = 0; row < ta_ref_rows(&in, RULE); row++) {
        const struct ta_slice title = ta_ref_text(&in, TITLE, row);
        if (title.len && title.len < TA_SENTENCE_MAX && ta_ref_reads(&in, RULE, row, rule)) {
            snprintf(buffer, TA_SENTENCE_MAX, "%.*s", (int)title.len, title.ptr);
            return buffer;
        }
    }
    return NULL;
}

/* "Rank 2 is the straggler" of "Rank 2 is the straggler: waiting for it makes …"; NULL where the
 * title has no such beginning. */
static const char *beginning_of(const char *title, char buffer[TA_SENTENCE_MAX])
{
    static const char *const ends[] = {": ", ", which ", ", because "};
    size_t n = SIZE_MAX;
    for (size_t i = 0; i < TA_LENGTH(ends); i++) {
        const char *end = strstr(title, ends[i]);
        n = end && (size_t)(end - title) < n ? (size_t)(end - title) : n;
    }
    if (n == 0 || n >= TA_SENTENCE_MAX)
        return NULL;
    snprintf(buffer, TA_SENTENCE_MAX, "%.*s", (int)n, title);
    return buffer;
}

void ta_finding_shorten(struct ta_short_finding *out, const struct ta_report *report,
                        const struct ta_finding *finding)
{
    const char *headline = ta_report_verdict(report)->headline;
    const size_t n = strlen(finding->title);
    const bool is_said = headline && n && strncmp(headline, finding->title, n) == 0;
    const char *title = is_said ? beginning_of(finding->title, out->name) : NULL;
    if (is_said && !title)
        title = title_of(report, finding->rule, out->name);
    out->title = title ? title : finding->title;
    out->advice = finding->advice && *finding->advice ? finding->advice : NULL;
}
