/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections that reports have, each with its chapter. */
#ifndef TA_REPORT_SECTIONS_H
#define TA_REPORT_SECTIONS_H

#include "traceanalyze/report.h"

/* The id of the section of findings. */
#define TA_SECTION_FINDINGS "findings"

/* "time" and "Where the time goes". */
const char *ta_chapter_id(enum ta_chapter chapter);
const char *ta_chapter_title(enum ta_chapter chapter);

/* Makes all known sections, so that their order does not depend on who fills them. */
void ta_sections_prepare(struct ta_report *report);

/* Ids and titles of the sections in that order; NULL after the last. */
const char *ta_section_id(size_t index);
const char *ta_section_title(size_t index);

/* The chapter that a section belongs to; TA_CHAPTER_MORE for an unknown id. */
enum ta_chapter ta_section_chapter(const char *id);

#endif
