/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes read as a dump, for the targets that do so. */
#ifndef TA_FUZZ_DUMPS_H
#define TA_FUZZ_DUMPS_H

#include "support.h"

#include "traceanalyze/dump.h"
#include "traceanalyze/input.h"

/* The surest plugin, but for that of traces, which has targets of its own; NULL without one. */
const struct ta_input_ops *fuzz_choose(struct fuzz_run *run, const uint8_t *data, size_t size);

/* What became of an input. */
struct fuzz_outcome {
    enum ta_status status;
    uint64_t kept, dropped;
    size_t rows[TA_DUMP_COUNT];
    int64_t stages_ns, memory_bytes; /* sums over the rows, wrapping */
    double figures, samples;
    uint64_t findings; /* depends on counts of all codes of data quality */
};

/* Reads the bytes, looks at what was made of them, and hands it to the analyses. */
struct fuzz_outcome fuzz_read_dump(struct fuzz_run *run, const struct ta_input_ops *input,
                                   const uint8_t *data, size_t size);

#endif
