/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What became of one file, however it was read: by the program's reader in one of its
 * configurations, or by the slow one. */
#ifndef TA_ORACLE_READING_H
#define TA_ORACLE_READING_H

#include "trace_fixture.h"

struct outcome {
    struct ta_quality quality;
    struct ta_trace *trace; /* NULL when the file was refused */
    enum ta_status status;
    bool early, truncated; /* the stream, the document */
    uint64_t kept, repaired, dropped, skipped;
    int64_t first_ts, last_ts, rank, world_size;
    const char *vendor;
    char *devices, *causes; /* malloc'd: names that end with a newline; why it was refused */
};

/* How the program's reader is to work. */
struct config {
    const char *cpu;
    size_t block;         /* 0: its own */
    const char *inflater; /* NULL: its own */
    bool ahead;
};

/* All tables of the model, and arguments of every kind. */
enum { ORACLE_KEYS = 14 };
extern const struct ta_slice oracle_keys[ORACLE_KEYS];

/* Reads a file, gzip or not, as a worker of src/ingest/ingest.c does. */
void outcome_read(struct fixture *f, const char *path, const struct config *config,
                  struct outcome *out);
/* Normalizes what was built and takes all facts; `status` is that of reading. */
void outcome_take(struct ta_ctx *ctx, struct ta_builder *builder, enum ta_status status,
                  struct outcome *out);
void outcome_free(struct outcome *out);

/* Whether the scanner can be told to work like this here. */
bool config_exists(struct fixture *f, const char *cpu);

/* "cpu=avx2 block=61 inflater=zlib ahead". */
const char *config_text(const struct config *config, char *text, size_t max);

#endif
