/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an input plugin is given and what it must do: recognize a file by its first bytes, and
 * turn its bytes into rows of a builder. */
#ifndef TRACEANALYZE_INPUT_H
#define TRACEANALYZE_INPUT_H

#include "base.h"
#include "model.h"
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

struct ta_log_formats;

/* The first bytes of a file, after decompression. */
struct ta_probe {
    struct ta_slice head; /* at most TA_PROBE_SIZE bytes, byte order mark removed */
    bool whole;           /* the head is the whole file */
    const struct ta_log_formats *log_formats; /* of the run (log.h); NULL: none */
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

    /* Its files are Chrome traces, whose events `merge` passes on as text. */
    bool can_merge;
};

/* ==== ranges of numbers ======================================================================= */

/* What numbers of a profiler can be.  A number beyond was never measured: its field was not set, or
 * was written or damaged wrongly.  It counts as missing, and is accounted for as bad-number where
 * it is read, so that no analysis has to doubt what it finds. */

enum ta_range {
    TA_RANGE_RANK,
    TA_RANGE_WORLD_SIZE, /* ranks of a run, or of a group of them */
    TA_RANGE_DEVICE,     /* -1 is none, as Kineto writes it */
    TA_RANGE_UNITS,      /* multiprocessors, or threads of one */
    TA_RANGE_CAPABILITY, /* major or minor number of the architecture of a device */
    TA_RANGE_PERCENT,
    TA_RANGE_RATIO,
    TA_RANGE_LOAD,     /* ratio of a host that may count its cores one by one */
    TA_RANGE_GRID,     /* blocks of a launch, along one axis */
    TA_RANGE_BLOCK,    /* threads of a block, along one axis */
    TA_RANGE_PER_UNIT, /* blocks or warps of a launch for each multiprocessor */
    TA_RANGE_CELSIUS,
    TA_RANGE_WATT,
    TA_RANGE_HERTZ,
    TA_RANGE_BYTES,
    TA_RANGE_ELEMENTS,
    TA_RANGE_TIME_NS, /* since 1970, or of a clock of its own */
    TA_RANGE_FIGURE,  /* whatever a profiler worked out */
    TA_RANGE_COUNT,
    TA_RANGE_ANY = TA_RANGE_COUNT
};

/* ==== the builder ============================================================================= */

/* The write side of a trace: an input plugin adds rows, the core sorts, nests, links and
 * freezes them into a `const struct ta_trace` (model.h). */

struct ta_builder;

/* Interns text; equal texts give equal ids.  TA_STR_ABSENT when out of memory or when the limit
 * of distinct strings is reached (which is accounted for). */
TA_API ta_str ta_builder_string(struct ta_builder *builder, struct ta_slice text);

/* An argument whose key some analysis asked for (ta_builder_keys). */
struct ta_event_arg {
    uint8_t key;  /* index into ta_builder_keys() */
    bool is_text; /* `value` is a ta_str */
    int64_t value;
};

/* One event record as in the file. */
struct ta_event {
    char phase;           /* of the trace event format */
    bool has_ts, has_dur; /* a missing time is not 0 */
    int64_t ts_ns, dur_ns;
    ta_str name, category, pid, tid; /* texts as written; absent is TA_STR_ABSENT */
    struct ta_slice id; /* of flows and asynchronous spans; interned only when they are kept */
    uint64_t offset;    /* of the record, for accounts */
    const struct ta_event_arg *args;
    size_t n_args;
};

/* Adds an event.  Accounts for bad durations itself; the caller has dropped what cannot be an
 * event.  TA_ERR_NOMEM is the only failure. */
TA_API enum ta_status ta_builder_add(struct ta_ctx *ctx, struct ta_builder *builder,
                                     const struct ta_event *event) TA_MUST_CHECK;

/* One sample of a counter series. */
TA_API enum ta_status ta_builder_counter(struct ta_ctx *ctx, struct ta_builder *builder,
                                         const struct ta_event *event, ta_str series,
                                         double value) TA_MUST_CHECK;

/* Names from metadata events, for all threads of a process or for one. */
TA_API enum ta_status ta_builder_name_process(struct ta_ctx *ctx, struct ta_builder *builder,
                                              ta_str pid, ta_str name) TA_MUST_CHECK;
TA_API enum ta_status ta_builder_name_thread(struct ta_ctx *ctx, struct ta_builder *builder,
                                             ta_str pid, ta_str tid, ta_str name) TA_MUST_CHECK;

/* Counts events for the accounts: every record is kept or dropped, a repaired one is kept. */
TA_API void ta_builder_count(struct ta_builder *builder, uint64_t kept, uint64_t repaired,
                             uint64_t dropped);
TA_API void ta_builder_skipped(struct ta_builder *builder, uint64_t bytes);

/* Argument keys that enabled analyses want kept on spans and instants; fixed while reading. */
TA_API const struct ta_slice *ta_builder_keys(const struct ta_builder *builder, size_t *n);

/* A number of the input when it is within its range.  One that is not is accounted for as
 * bad-number at the offset, and is TA_MISSING, or NAN; so is one that is missing. */
TA_API int64_t ta_builder_number(struct ta_builder *builder, enum ta_range range, int64_t value,
                                 uint64_t offset);
TA_API double ta_builder_real(struct ta_builder *builder, enum ta_range range, double value,
                              uint64_t offset);

/* What a file says about itself. */
enum ta_file_fact {
    TA_SAYS_RANK,
    TA_SAYS_WORLD_SIZE,
    TA_SAYS_BASE_NS,         /* absolute time of ts 0, since 1970 */
    TA_SAYS_MULTIPROCESSORS, /* of a device; when devices differ it is not known */
    TA_SAYS_THREADS,         /* that a multiprocessor holds, likewise */
    TA_SAYS_CUT              /* 1: the file is truncated */
};

/* Each may be called again, the last call wins.  Numbers out of range are accounted for and change
 * nothing; arguments of events and rows of dumps are looked at in the same way when they are added.
 */
TA_API void ta_builder_set(struct ta_builder *builder, enum ta_file_fact fact, int64_t value);
/* Adds the name of a device, "NVIDIA H200". */
TA_API void ta_builder_add_device(struct ta_builder *builder, struct ta_slice name);
/* Adds what the file says of a device; the name is copied. */
TA_API void ta_builder_describe_device(struct ta_builder *builder, const struct ta_device *device);

TA_END_DECLS

#endif
