/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a console share: marks, pieces of a line, and where the reader is. */
#ifndef INFERIX_CONSOLE_H
#define INFERIX_CONSOLE_H

#include "lib/inferix.h"
#include "base/convert.h"

/* ---- marks ---------------------------------------------------------------------------------- */

#define METRICS "=== Profiling Metrics ("
#define SESSION "Profiling session '"
#define PIPELINE "Profiling results:"
#define ELAPSED "Time Elapsed: ["
#define AGGREGATION "=== Aggregation Summary ==="
#define DIFFUSION "Diffusion Analysis:"
#define BLOCKS "Block Analysis:"
#define STREAMING "Streaming Performance Summary:"
#define EXTRACT "Extracting streaming metrics..."

/* ---- the reader ----------------------------------------------------------------------------- */

/* What the lines that follow belong to. */
enum part {
    NOTHING,
    OF_DIFFUSION,
    OF_BLOCKS,
    OF_STREAMING,
    OF_PIPELINE,
    OF_AGGREGATION,
    OF_EXTRACT
};

/* Lines of one process: a console may hold several ranks' lines. */
struct stream {
    int64_t rank; /* as its lines begin; TA_MISSING when they do not say */
    enum part part;
    uint64_t used; /* the last line that the part had something of */
    bool saw_cpu;
};

/* A run of the program, as the lines of its session say, or the lines of its pipeline. */
struct run {
    int64_t rank;
    char *id;              /* NULL without a session */
    uint64_t began, ended; /* lines; UINT64_MAX: not seen, or not yet */
    bool was_started;      /* its start was printed, not only readings */
    int64_t dur_ns;        /* of the session; TA_MISSING when it was not said */
    int64_t inside_ns;     /* "Total time" of the pipelines that ran in it */
    size_t pipelines;
    bool is_of_another; /* another run replaces it */
};

struct console {
    struct inferix in;
    struct ta_slice line; /* without its rank */
    uint64_t line_number, offset;
    struct stream *streams;
    size_t n_streams, max_streams, stream; /* the one of the line */
    struct run *runs;                      /* in the order in which they were first named */
    size_t n_runs, max_runs;
    size_t session;  /* the run that was named last; SIZE_MAX before */
    bool is_ours;    /* the line, even where no record comes of it yet */
    char first[128]; /* the first line that gave anything */
    size_t first_len;
};

static inline struct stream *console_stream(const struct console *c)
{
    return &c->streams[c->stream];
}

/* Each takes from the line what it knows, and nothing where it knows nothing. */
void console_take_readings(struct console *c);
void console_take_session(struct console *c);
void console_take_figure(struct console *c);
void console_take_aggregate(struct console *c);
void console_take_pipeline(struct console *c);
void console_take_elapsed(struct console *c);

/* A pipeline is done that took so long. */
void console_take_total(struct console *c, int64_t dur_ns);
/* Adds the sessions, once all lines are read. */
void console_add_sessions(struct console *c);

/* ---- pieces of a line ----------------------------------------------------------------------- */

/* Moves past the mark when it is in the text. */
static inline bool console_behind(struct ta_slice *text, const char *mark)
{
    const size_t n = strlen(mark);
    const char *at = text->len ? memmem(text->ptr, text->len, mark, n) : NULL;
    if (!at)
        return false;
    text->len -= (size_t)(at - text->ptr) + n;
    text->ptr = at + n;
    return true;
}

/* What comes before the mark, and moves past it. */
static inline bool console_before(struct ta_slice *text, const char *mark, struct ta_slice *part)
{
    const char *const start = text->ptr;
    if (!console_behind(text, mark))
        return false;
    *part = (struct ta_slice){start, (size_t)(text->ptr - start) - strlen(mark)};
    return true;
}

/* The number that the text begins with, after blanks; empty without one. */
static inline struct ta_slice console_number_at(struct ta_slice text)
{
    while (text.len && *text.ptr == ' ') {
        text.ptr++;
        text.len--;
    }
    size_t n = text.len && *text.ptr == '-';
    while (n < text.len && memchr("0123456789.", text.ptr[n], 11))
        n++;
    return (struct ta_slice){text.ptr, n};
}

/* Moves past the mark and gives the number there. */
static inline double console_number_behind(struct ta_slice *text, const char *mark)
{
    return console_behind(text, mark) ? ta_text_double(console_number_at(*text)) : (double)NAN;
}

static inline double console_mib_behind(struct ta_slice *text, const char *mark)
{
    return console_behind(text, mark) ? inferix_bytes(ta_text_mib(console_number_at(*text)))
                                      : (double)NAN;
}

#endif
