/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an input plugin is given and what it must do: recognize a file by its first bytes, and
 * turn its bytes into rows of a builder. */
#ifndef TRACEANALYZE_INPUT_H
#define TRACEANALYZE_INPUT_H

#include "context.h"
#include "quality.h"

TA_BEGIN_DECLS

struct ta_builder;

/* A file as a stream of bytes, already inflated and in UTF-8. */
struct ta_reader;

/* Fills `buffer` with up to `max` bytes and returns how many; 0 is the end.  Damage below (a cut
 * gzip stream, a checksum, a limit) ends the stream and is in the accounts: this call
 * cannot fail. */
TA_API size_t ta_reader_read(struct ta_reader *reader, char *buffer, size_t max);

/* Whether the stream ended before its own end mark: cut, corrupt, or stopped by a limit. */
TA_API bool ta_reader_ended_early(const struct ta_reader *reader);

/* The accounts of the file that is read. */
TA_API struct ta_quality *ta_reader_quality(struct ta_reader *reader);

/* The first bytes of a file, after decompression. */
struct ta_probe {
    struct ta_slice head; /* at most TA_PROBE_SIZE bytes, byte order mark removed */
    bool whole;           /* the head is the whole file */
};

#define TA_PROBE_SIZE 65536

/* The first bytes once more, for a plugin that reads several kinds of files; before the first
 * ta_reader_read(). */
TA_API struct ta_probe ta_reader_probe(struct ta_reader *reader);

struct ta_input_ops {
    /* How probable it is that the plugin can read the file, from content alone: 100 magic bytes,
     * 80 mandatory keys seen, 40 plausible syntax, 0 not mine.  A tie between plugins is an
     * error that asks for --input. */
    int (*sniff)(const struct ta_probe *probe);

    /* Reads the whole stream into the builder.  Bad input is accounted for and skipped, never a
     * failure; TA_ERR_INPUT with ta_fail() when nothing of the file can be used. */
    enum ta_status (*read)(struct ta_ctx *ctx, struct ta_reader *reader,
                           struct ta_builder *builder);

    /* The rows come from one array of records, read with ta_json_next(), and what a record adds
     * does not depend on those before it: several threads may read a large file, each a part. */
    bool reads_parts;

    /* What it reads are traces, of all that a tracer records: what one lacks is worth saying. */
    bool reads_traces;
};

TA_END_DECLS

#endif
