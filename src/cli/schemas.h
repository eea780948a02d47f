/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The JSON schemas of schemas/, held in the program for `traceanalyze schema`. */
#ifndef TA_CLI_SCHEMAS_H
#define TA_CLI_SCHEMAS_H

#include <stddef.h>

struct ta_schema {
    const char *name; /* "report-1" */
    const char *text;
};

/* By name; ends with a row of NULL. */
extern const struct ta_schema ta_schemas[];

#endif
