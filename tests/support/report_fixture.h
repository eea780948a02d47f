/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports in one call, by the fixture of the program, and what their tables hold. */
#ifndef TA_TEST_REPORT_FIXTURE_H
#define TA_TEST_REPORT_FIXTURE_H

#include "report/report.h"
#include "trace_fixture.h"

/* A report on one trace: the text of a whole file, or its events, each with a comma behind it and
 * single quotes in place of double ones. */
struct ta_report *report_on_text(const char *json);
struct ta_report *report_on_events(const char *events);

/* The integer in the first row whose text column `key` reads so; TA_MISSING when there is no such
 * table or row. */
int64_t report_number(const struct ta_report *report, const char *table, const char *key,
                      const char *text, const char *column);
/* The sum of an integer column over all rows; 0 without the table. */
int64_t report_sum(const struct ta_report *report, const char *table, const char *column);

/* A report by the whole pipeline, and the bytes of its report.json, which the caller frees. */
struct ta_report *report_of_run(const char *const *inputs, size_t n, unsigned jobs);
char *report_bytes(const char *const *inputs, size_t n, unsigned jobs, size_t *size);
/* The test fails, showing the first difference, unless both are the same; frees `bytes`. */
void assert_same_bytes(const char *expected, size_t n, char *bytes, size_t m);
/* The bytes are the same for 1, 2 and 8 threads, and whatever order the files of a folder were made
 * in, which `fill` lets depend on `turn`. */
void assert_same_for_all_jobs(void (*fill)(const char *root, size_t turn));

#endif
