/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of the core share: traces from texts in memory, through the real reader and
 * plugin, and reports from them; findings by code and offset; seeded numbers; slow oracles. */
#ifndef TA_TEST_TRACE_FIXTURE_H
#define TA_TEST_TRACE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "parse/log/formats.h"
#include "analyze/analyze.h"
#include "base/context.h"
#include "base/quality.h"
#include "files.h"
#include "model/builder.h"
#include "traceanalyze/input.h"

/* ---- a run ---------------------------------------------------------------------------- */

struct fixture {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_registry *registry;
    struct ta_log_formats log_formats;
    struct ta_plan plan; /* all analyses; tests may add to `plan.needs` */
    bool drops_args;     /* arguments that no analysis wants go as they do in the program */
};

void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f);

/* One for all tests of a program, and what opens and closes it around a test or a group. */
extern struct fixture fixture;
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Bytes that ta_reader_read() hands out at most per call, in every test that links this file;
 * 0 is no bound.  Set it back: it is global. */
extern size_t fixture_chunk;

/* ---- traces --------------------------------------------------------------------------- */

/* What became of one file, read by the plugin chrome_json unless said otherwise. */
struct reading {
    struct ta_quality quality;
    struct ta_trace *trace; /* NULL when it was refused */
    enum ta_status status;  /* of the plugin */
    bool early, truncated;  /* the stream, the document */
    uint64_t kept, repaired, dropped, skipped;
    int64_t rank, world_size; /* as the file says, or TA_MISSING */
    const char *vendor;
};

/* Reads bytes as a file holds them, gzip or not, and normalizes. */
void fixture_read(struct fixture *f, const void *bytes, size_t size, struct reading *r);
/* The same without normalizing: for tests of reading that run very often. */
void fixture_scan(struct fixture *f, const void *bytes, size_t size, struct reading *r);
void fixture_read_text(struct fixture *f, const char *text, struct reading *r);
/* Reads events, each with a comma behind it and with ' for ". */
void fixture_read_events(struct fixture *f, const char *events, struct reading *r);
/* Reads with the input plugin of this id. */
void fixture_read_as(struct fixture *f, const char *input, const void *bytes, size_t size,
                     struct reading *r);
/* How sure that plugin is of a file. */
int fixture_sniff(struct fixture *f, const char *input, const void *bytes, size_t size);
void reading_free(struct reading *r);

/* A report on traces, ranks 0, 1, … in their order, as the pipeline makes it but without files. */
struct ta_report *fixture_report(struct fixture *f, struct reading *readings, size_t n);
/* The same from a set of partials, which is used up. */
struct ta_report *fixture_finish(struct fixture *f, struct ta_partial_set *set, size_t n_ranks);

/* What an output that takes a single file writes of a report; the caller frees it. */
char *fixture_render(struct fixture *f, const struct ta_report *report, const char *output,
                     size_t *size);

/* ---- findings ------------------------------------------------------------------------- */

/* The code was accounted `count` times, the first time at `offset`. */
#define assert_finding(quality, code, count, offset)                                               \
    check_finding((quality), (code), (count), (offset), __FILE__, __LINE__)
void check_finding(const struct ta_quality *quality, enum ta_quality_code code, uint64_t count,
                   uint64_t offset, const char *file, int line);

/* No finding but of these codes; the list ends with TA_Q_COUNT. */
#define assert_no_finding_but(quality, ...)                                                        \
    check_no_finding_but((quality), (const enum ta_quality_code[]){__VA_ARGS__, TA_Q_COUNT},       \
                         __FILE__, __LINE__)
#define assert_no_finding(quality)                                                                 \
    check_no_finding_but((quality), (const enum ta_quality_code[]){TA_Q_COUNT}, __FILE__, __LINE__)
void check_no_finding_but(const struct ta_quality *quality, const enum ta_quality_code *codes,
                          const char *file, int line);

/* ---- texts and numbers ---------------------------------------------------------------- */

struct text {
    char *at;
    size_t n, max;
};

void text_add(struct text *text, const char *format, ...) TA_PRINTF(2, 3);
void text_put(struct text *text, const void *bytes, size_t size);
void text_free(struct text *text);

/* xorshift64*: the same numbers everywhere. */
struct rng {
    uint64_t state;
};

uint64_t rng_next(struct rng *rng);
/* A number in 0 … n − 1. */
uint64_t rng_below(struct rng *rng, uint64_t n);
/* Changes up to three bytes and cuts the end off half of the time; gives the new size. */
size_t rng_damage(struct rng *rng, char *bytes, size_t n);

/* ---- traces from nothing -------------------------------------------------------------- */

/* A Kineto trace of about `n_events` events with operators, runtime calls, kernels, copies, steps
 * and metadata: the same text for the same seed.  `layout`: 0 one event per few lines as Kineto
 * writes it, 1 indented JSON, 2 all on one line. */
void fixture_trace_text(struct text *out, uint64_t seed, size_t n_events, int layout, int64_t rank);

/* ---- oracles: slow, and plain to see that they are right ----------------------------- */

struct oracle_span {
    int64_t self;
    ta_row parent;
    uint16_t depth;
};

/* Self time, parent and depth of all spans of a trace; quadratic. */
struct oracle_span *oracle_nesting(const struct ta_trace *trace);

/* The launching operator of a runtime call; linear. */
ta_row oracle_operator(const struct ta_trace *trace, ta_row call);

#endif
