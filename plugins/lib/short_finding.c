/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/short_finding.h"

#include <stdio.h>
#include <string.h>

const char *ta_first_sentence(const char *text, char buffer[TA_SENTENCE_MAX], const char **rest)
{
    const char *end = text;
    while ((end = strstr(end, ". ")) != NULL && !(end[2] >= 'A' && end[2] <= 'Z'))
        end++;
    *rest = NULL;
    if (!end || (size_t)(end - text) + 2 > TA_SENTENCE_MAX)
        return text;
    *rest = end + 2;
    snprintf(buffer, TA_SENTENCE_MAX, "%.*s", (int)(end - text) + 1, text);
    return buffer;
}

void ta_finding_shorten(struct ta_short_finding *out, const struct ta_report *report,
                        const struct ta_finding *finding)
{
    const char *headline = ta_report_verdict(report)->headline;
    const size_t n = strlen(finding->title);
    const bool is_said = headline && n && strncmp(headline, finding->title, n) == 0;
    out->title = is_said ? "The finding above" : finding->title;
    out->advice = finding->advice && *finding->advice ? finding->advice : NULL;
}
