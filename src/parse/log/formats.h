/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log plugins of a run, and which lines may be of which. */
#ifndef TA_PARSE_LOG_FORMATS_H
#define TA_PARSE_LOG_FORMATS_H

#include "base/needles.h"
#include "plugin/registry.h"
#include "traceanalyze/log.h"

enum { TA_LOG_FORMATS_MAX = 32 };

struct ta_log_formats {
    struct ta_log_format {
        const char *title;
        const struct ta_log_ops *ops;
    } at[TA_LOG_FORMATS_MAX];
    size_t n;
    struct ta_needles *marks; /* bit i: a mark of at[i]; bit TA_LOG_FORMATS_MAX + i: a part */
};

/* Lists the log plugins of a registry.  False without memory. */
bool ta_log_formats_init(struct ta_log_formats *formats,
                         const struct ta_registry *registry) TA_MUST_CHECK;
void ta_log_formats_free(struct ta_log_formats *formats);

#endif
