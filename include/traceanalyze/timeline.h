/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline of a run: what each thread and stream did when, packed small.
 *
 * A trace is gone once it is mapped, and its spans are too many for tables. So each trace yields
 * its slices in lanes, rows in which no two slices overlap: a start is the distance from the end of
 * the previous slice, and all numbers are varints, which makes 7 to 8 bytes a slice. It is only
 * made when an output of the run asks for it (struct ta_output_ops).
 *
 * Times are ns since the earliest span of the file, like the columns "…start_ns" of tables;
 * offset_ns of a file says where that is on the axis that all files share. */
#ifndef TRACEANALYZE_TIMELINE_H
#define TRACEANALYZE_TIMELINE_H

#include "chart.h"

TA_BEGIN_DECLS

/* What a slice is; it decides its color, the same one as in all charts.  What devices do comes
 * first. */
enum ta_slice_kind {
    TA_SLICE_GEMM,
    TA_SLICE_ATTENTION,
    TA_SLICE_CONV,
    TA_SLICE_POINTWISE,
    TA_SLICE_NORM, /* and softmax */
    TA_SLICE_FUSED,
    TA_SLICE_MOVE, /* copies by kernels, and indexing */
    TA_SLICE_REDUCE,
    TA_SLICE_KERNEL, /* another kernel that computes */
    TA_SLICE_COMM,
    TA_SLICE_MEMCPY,
    TA_SLICE_MEMSET,
    TA_SLICE_OP,
    TA_SLICE_RUNTIME,
    TA_SLICE_HOST,
    TA_SLICE_RANGE, /* annotations and windows */
    TA_SLICE_SYNC,
    TA_SLICE_PHASE, /* a phase, block or step of what the program does */
    TA_SLICE_KIND_COUNT
};

struct ta_slice_look {
    const char *title; /* "Copy" */
    enum ta_ink ink;
};

/* A constant. */
TA_API const struct ta_slice_look *ta_slice_look(enum ta_slice_kind kind);

/* Arguments of events that a slice shows. */
enum ta_timeline_arg {
    TA_ARG_TYPES,
    TA_ARG_GRID,
    TA_ARG_BLOCK,
    TA_ARG_BYTES,
    TA_ARG_DTYPE,
    TA_ARG_ELEMENTS,
    TA_ARG_GROUP,
    TA_TIMELINE_ARGS
};

struct ta_arg_look {
    const char *key;   /* as events have it: "Input type" */
    const char *title; /* "Types" */
};

/* A constant. */
static inline const struct ta_arg_look *ta_arg_look(enum ta_timeline_arg arg)
{
    static const struct ta_arg_look args[TA_TIMELINE_ARGS] = {
        [TA_ARG_TYPES] = {"Input type", "Types"},
        [TA_ARG_GRID] = {"grid", "Grid"},
        [TA_ARG_BLOCK] = {"block", "Block"},
        [TA_ARG_BYTES] = {"bytes", "Bytes"},
        [TA_ARG_DTYPE] = {"dtype", "Type"},
        [TA_ARG_ELEMENTS] = {"In msg nelems", "Elements in"},
        [TA_ARG_GROUP] = {"Process Group Ranks", "Ranks of the group"},
    };
    return &args[arg];
}

/* What slices of one name share. */
struct ta_timeline_label {
    struct ta_slice name, category, shapes; /* .ptr is NULL where not recorded */
    struct ta_slice
        brief; /* of a kernel: its name as people say it; .ptr is NULL where `name` is */
    struct ta_slice args[TA_TIMELINE_ARGS]; /* as written; .ptr is NULL where not recorded */
    enum ta_slice_kind kind;
};

/* Names beyond this many bytes are cut, and end in an ellipsis. */
#define TA_TIMELINE_NAME_MAX 512

/* Slices that were left out for their number are summed up in this many bins of equal width. */
#define TA_TIMELINE_BINS 8192

struct ta_timeline_lane {
    size_t n; /* slices */
    const unsigned char *bytes;
    size_t size;
    uint64_t n_left_out;
    const unsigned char *busy; /* of those left out: (varint: bins without any before it, byte:
                                  busy share of the bin in 1/255) again and again */
    size_t busy_size;
};

/* A thread, or a stream of a device. */
struct ta_timeline_track {
    const char *process, *thread; /* as the trace names them, "" where it does not */
    const char *pid, *tid;
    int64_t device;                       /* TA_MISSING: a thread of the host */
    bool has_launches;                    /* its slices say where they come from */
    bool only_waits;                      /* a thread that does nothing else */
    const struct ta_timeline_lane *lanes; /* top down */
    size_t n_lanes;
    uint64_t n_too_deep; /* slices below the lowest lane, left out without a sum */
};

/* Samples of one counter, by time; beyond a bound only those that change the picture. */
struct ta_timeline_counter {
    const char *process, *name, *series;
    enum ta_unit unit;
    const int64_t *ts_ns;
    const double *values;
    size_t n;
    uint64_t n_recorded;
};

/* What one file of the run holds. */
struct ta_timeline_file {
    int64_t rank;
    const char *path;
    int64_t offset_ns;
    int64_t clock_ns;            /* its time 0 on the clock of the trace; TA_MISSING of a dump */
    int64_t end_ns;              /* of its last slice or sample, on its own clock */
    uint64_t n_slices;           /* in the file */
    int64_t shortest_ns;         /* slices below it were left out; 0: none */
    const uint32_t *by_duration; /* slices in the lanes by class of duration, see below */
    const uint32_t *labels;      /* label of a slice → label of the timeline */
    const struct ta_timeline_track *tracks;
    size_t n_tracks;
    struct ta_timeline_track program; /* phases, blocks and steps of a diffusion, where the devices
                                         work on them; no lanes: none are known */
    const struct ta_timeline_counter *counters;
    size_t n_counters;
};

/* The clocks of ranks on the axis that they share. */
enum ta_timeline_clock {
    TA_TIMELINE_APART,         /* side by side: each file begins with its first span or sample */
    TA_TIMELINE_BY_DATES,      /* where the wall clocks of their hosts say */
    TA_TIMELINE_BY_COLLECTIVES /* where collectives.clocks says */
};

/* Files by rank, then by name. */
struct ta_timeline {
    const struct ta_timeline_label *labels;
    size_t n_labels;
    const struct ta_timeline_file *files;
    size_t n_files;
    enum ta_timeline_clock clock;
};

/* NULL when no output of the run asked for it, or nothing has a time. */
static inline const struct ta_timeline *ta_report_timeline(const struct ta_report *report)
{
    return ta_report_view(report)->timeline;
}

/* ---- durations in classes, eight to an octave ------------------------------------------------ */

enum { TA_DURATION_CLASSES = 64 * 8 };

static inline size_t ta_duration_class(int64_t dur_ns)
{
    if (dur_ns < 8)
        return (size_t)dur_ns;
    const unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)dur_ns);
    return (octave - 2) * 8 + ((size_t)(dur_ns >> (octave - 3)) & 7);
}

/* The least duration of a class. */
static inline int64_t ta_duration_class_start(size_t number)
{
    return number < 8 ? (int64_t)number : (int64_t)(8 + number % 8) << (number / 8 - 1);
}

/* ---- reading a lane ------------------------------------------------------------------------ */

struct ta_timeline_slice {
    int64_t start_ns, dur_ns;
    uint32_t label;        /* of the timeline */
    uint32_t launch_track; /* where the call is that launched it, or the operator whose backward
                              pass it is; UINT32_MAX: not known */
    int64_t delay_ns;      /* start_ns minus the start of that */
    int64_t correlation;   /* the id that it shares with that call; TA_MISSING without one */
};

struct ta_timeline_cursor {
    const unsigned char *at, *end;
    const uint32_t *labels;
    int64_t now_ns;      /* end of the slice before */
    int64_t correlation; /* the last one of the lane */
    bool has_launches;
};

/* Comes before the first slice of a lane. */
static inline struct ta_timeline_cursor ta_timeline_open(const struct ta_timeline_file *file,
                                                         const struct ta_timeline_track *track,
                                                         const struct ta_timeline_lane *lane)
{
    struct ta_timeline_cursor cursor = {lane->bytes, lane->bytes + lane->size, file->labels, 0,
                                        0,           track->has_launches};
    return cursor;
}

/* A varint: seven bits a byte, the lowest first.  Most take one. */
static inline uint64_t ta_varint_read(const unsigned char **at, const unsigned char *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return value;
}

/* Writes up to 10 bytes and returns how many. */
static inline size_t ta_varint_write(unsigned char *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (unsigned char)(value | 0x80);
    to[n++] = (unsigned char)value;
    return n;
}

/* Signed numbers near 0 as small unsigned ones. */
static inline uint64_t ta_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t ta_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ -(value & 1));
}

/* False after the last slice. */
static inline bool ta_timeline_next(struct ta_timeline_cursor *c, struct ta_timeline_slice *slice)
{
    if (c->at == c->end)
        return false;
    slice->start_ns = c->now_ns + (int64_t)ta_varint_read(&c->at, c->end);
    slice->dur_ns = (int64_t)ta_varint_read(&c->at, c->end);
    slice->label = c->labels[ta_varint_read(&c->at, c->end)];
    slice->launch_track = UINT32_MAX;
    slice->delay_ns = slice->correlation = TA_MISSING;
    const uint64_t launch = c->has_launches ? ta_varint_read(&c->at, c->end) : 0;
    if (launch) {
        slice->launch_track = (uint32_t)launch - 1;
        slice->delay_ns = ta_unzigzag(ta_varint_read(&c->at, c->end));
        const uint64_t change = ta_varint_read(&c->at, c->end);
        if (change)
            slice->correlation = c->correlation += ta_unzigzag(change - 1);
    }
    c->now_ns = slice->start_ns + slice->dur_ns;
    return true;
}

TA_END_DECLS

#endif
