/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzz targets share: a silent run, inputs in memory, and checks that stop the fuzzer. */
#ifndef TA_FUZZ_SUPPORT_H
#define TA_FUZZ_SUPPORT_H

#include "base/context.h"
#include "plugin/registry.h"
#include "read/reader.h"
#include "traceanalyze/report.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken property is a find like any crash. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

struct fuzz_run {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_registry *registry; /* the built-in plugins */
};

/* The run that all inputs share, with limits that keep one input fast; its context is fresh. */
struct fuzz_run *fuzz_begin(void);

/* A file in memory with these bytes, positioned at its start. */
int fuzz_file(const void *data, size_t size);

/* All bytes of a file in memory and a NUL after them; free() it. */
char *fuzz_contents(int fd, size_t *size);

/* What an output writes of a report, as fuzz_contents() gives it. */
char *fuzz_render(struct fuzz_run *run, const char *id, const struct ta_report *report,
                  size_t *size);

#endif
