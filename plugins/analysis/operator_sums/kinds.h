/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rows of a profiler's table are, so that nothing is added up twice. */
#ifndef TA_ANALYSIS_OPERATOR_KINDS_H
#define TA_ANALYSIS_OPERATOR_KINDS_H

#include <traceanalyze/dump.h>

enum kind {
    KIND_OPERATOR,
    KIND_CALL,       /* of the runtime or driver of the device */
    KIND_WAIT,       /* a call that waits for the device */
    KIND_KERNEL,     /* also copies and sets */
    KIND_ANNOTATION, /* a range that the program or torch named */
    KINDS,
    KIND_TWIN = KINDS /* a range of the device that the host's row of the same name includes */
};

/* "operator", "call", …; none for a twin. */
const char *kind_word(enum kind kind);

/* The rows of one recording, which its total follows; `total` is NULL where none was printed. */
struct recording {
    const struct ta_trace *trace;
    const struct ta_operator_sum *rows, *total;
    size_t n;
};

/* The recording that begins with this row of `n`; false after the last one. */
bool recording_next(const struct ta_trace *trace, const struct ta_operator_sum *rows, size_t n,
                    size_t *at, struct recording *out);

/* The kind of each row, in `kinds`; false without memory. */
bool recording_kinds(const struct recording *recording, unsigned char *kinds);

/* Time that the device worked, in its kernels; TA_MISSING where the rows alone have to tell. */
int64_t recording_device_ns(const struct recording *recording, const unsigned char *kinds);

#endif
