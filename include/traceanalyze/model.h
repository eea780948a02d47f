/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The read side: one rank's trace, frozen, as structures of arrays.
 *
 * Times are int64 nanoseconds on the clock of the file; ta_trace_origin() is the earliest start
 * of a span, and points in time of a report are relative to it.  Views are borrowed until the
 * trace is freed.  See docs/MODEL.md for who fills each column. */
#ifndef TRACEANALYZE_MODEL_H
#define TRACEANALYZE_MODEL_H

#include "base.h"
#include "kernel.h"
#include "row_set.h"

TA_BEGIN_DECLS

struct ta_trace;

/* ---- categories ------------------------------------------------------------------------ */

/* What a category means, whatever the vendor and year call it; the table is
 * model/category.c. */
enum ta_event_class {
    TA_CLASS_HOST,       /* any other span: something a host thread did */
    TA_CLASS_OP,         /* cpu_op, Operator: an operator; also a host span */
    TA_CLASS_RUNTIME,    /* …runtime, …driver: a call that may launch work; also a host span */
    TA_CLASS_KERNEL,     /* device activity */
    TA_CLASS_MEMCPY,     /* device activity */
    TA_CLASS_MEMSET,     /* device activity */
    TA_CLASS_ANNOTATION, /* ranges projected on the device, and the recording window */
    TA_CLASS_SYNC,       /* synchronization rows of the device */
    TA_CLASS_FLOW        /* rows that only draw arrows */
};

static inline bool ta_class_is_device(enum ta_event_class c)
{
    return c == TA_CLASS_KERNEL || c == TA_CLASS_MEMCPY || c == TA_CLASS_MEMSET;
}

static inline bool ta_class_is_host(enum ta_event_class c)
{
    return c <= TA_CLASS_RUNTIME;
}

/* Index of a category of the trace. */
typedef uint16_t ta_cat;

struct ta_category {
    ta_str name; /* as written; TA_STR_ABSENT when events have none */
#ifdef __cplusplus
    enum ta_event_class class_;
#else
    enum ta_event_class class;
#endif
};

struct ta_categories {
    size_t n;
    const struct ta_category *at;
};

/* ---- tables ---------------------------------------------------------------------------- */

/* A process and thread, or a device and stream, identified by the texts of pid and tid. */
struct ta_track {
    ta_str pid, tid;
    ta_str process_name, thread_name; /* from metadata events */
    ta_row first, n;                  /* its spans are rows [first, first + n) */
};

struct ta_tracks {
    size_t n;
    const struct ta_track *at;
};

/* Spans: complete events and matched begin/end pairs, ordered by (track, start, longer first,
 * place in the file).  Depth, parent and self time are filled for host spans. */
struct ta_spans {
    size_t n;
    const int64_t *ts, *dur; /* ns; dur >= 0, ts + dur does not overflow */
    const int64_t *self;     /* ns during which the span was the innermost of its thread */
    const ta_str *name;
    const ta_cat *cat;
    const uint32_t *track;
    const ta_row *parent;  /* innermost host span that was open at the start, or TA_NO_ROW */
    const uint16_t *depth; /* number of ancestors, at most UINT16_MAX */
    const uint8_t *work;   /* enum ta_host_work (host.h) of host spans; NULL unless an analysis has
                              set TA_NEED_HOST_WORK */
};

/* Device activities: spans of a device class, by (device, start, row). */
struct ta_activity {
    ta_row span;
    ta_row launch;   /* the runtime call with the same correlation id, or TA_NO_ROW */
    ta_row op;       /* the launching op: innermost operator open when the call started, the
                        call itself without one; TA_NO_ROW when not linked */
    uint32_t kernel; /* index into the kernels, or TA_NO_KERNEL for copies and memory sets */
    int64_t device;  /* TA_MISSING when the trace does not name it */
};

struct ta_activities {
    size_t n;
    const struct ta_activity *at;
};

/* The end of the activities of one device, which are next to each other, from the first of them on;
 * mostly it is the end of all. */
static inline size_t ta_device_end(const struct ta_activities *activities, size_t first)
{
    const struct ta_activity *const at = activities->at;
    size_t end = activities->n;
    if (at[end - 1].device != at[first].device)
        for (end = first + 1; at[end].device == at[first].device;)
            end++;
    return end;
}

/* How many of the hundred parts of a device's window are one from the start: of a trace that alone
 * has more devices than any machine tables over time would fold that many anyway. */
static inline int ta_parts_as_one(const struct ta_activities *activities)
{
    enum { DEVICES_MOST = 1024, DEVICES_A_PART = 250 };
    size_t n = 0;
    for (size_t from = 0; from < activities->n; from = ta_device_end(activities, from))
        n++;
    return n > DEVICES_MOST ? 1 + (int)(n / DEVICES_A_PART) : 1;
}

/* A kernel by its name, with what the name says; in order of the first activity. */
struct ta_kernel {
    ta_str name;
    struct ta_kernel_facts facts;
};

#define TA_NO_KERNEL UINT32_MAX

/* A device takes no longer than this to begin queued work that waits for nothing else; an
 * assumption, since traces do not hold what a stream waits for. */
#define TA_FRONT_END_NS INT64_C(20000)

struct ta_kernels {
    size_t n;
    const struct ta_kernel *at;
};

/* One series of a counter. */
struct ta_counter_series {
    uint32_t track;
    ta_str name, series;
    size_t first, n; /* its samples are [first, first + n), by time */
};

/* Counter samples by (track, name, series, time). */
struct ta_counters {
    size_t n;
    const int64_t *ts;
    const double *value;
    size_t n_series;
    const struct ta_counter_series *series;
};

/* Begins the names of the counters of torch's allocator; the number of the device follows. */
#define TA_MEMORY_COUNTER "Memory of device "

/* Instants (phases i, I; N, O, D of objects) by file order. */
struct ta_instants {
    size_t n;
    const int64_t *ts;
    const ta_str *name;
    const ta_cat *cat;
    const uint32_t *track;
};

/* Flow events (phases s, t, f) by file order. */
struct ta_flows {
    size_t n;
    const int64_t *ts;
    const ta_str *name, *id;
    const uint32_t *track;
    const char *phase;
};

/* Asynchronous spans: begin and end matched by category, id and name. */
struct ta_asyncs {
    size_t n;
    const int64_t *ts, *dur;
    const ta_str *name, *id;
    const ta_cat *cat;
};

/* Number of event records by phase and category. */
struct ta_kind_count {
    char phase;
    ta_cat cat;
    int64_t count;
};

struct ta_kind_counts {
    size_t n;
    const struct ta_kind_count *at;
};

/* Values of one argument key on spans, by ascending row; sparse.  ta_args_value() and
 * ta_args_is_text() know which of the lists there are. */
struct ta_args {
    size_t n;
    const ta_row *row;
    const int32_t *narrow; /* the values when all fit, or */
    const int64_t *wide;
    const bool *is_text; /* NULL when all are texts or none is, and then: */
    bool all_text;
    const struct ta_row_word *places; /* of all rows of the trace, when they are many */
};

/* Value number i; a ta_str when it is a text. */
static inline int64_t ta_args_value(const struct ta_args *args, size_t i)
{
    return args->wide ? args->wide[i] : args->narrow[i];
}

static inline bool ta_args_is_text(const struct ta_args *args, size_t i)
{
    return args->is_text ? args->is_text[i] : args->all_text;
}

/* ---- access ---------------------------------------------------------------------------- */

/* Rank of the trace.  While map() runs it is a placeholder that is unique per file: the rank may
 * only be known once all files are read.  Put it into fields of kind TA_FIELD_RANK alone. */
TA_API int64_t ta_trace_rank(const struct ta_trace *trace);

TA_API int64_t ta_trace_origin(const struct ta_trace *trace);
/* Absolute time of ts 0 in ns since 1970, or TA_MISSING. */
TA_API int64_t ta_trace_base_ns(const struct ta_trace *trace);

TA_API struct ta_slice ta_trace_text(const struct ta_trace *trace, ta_str id);
/* Number of interned strings; ids are below it. */
TA_API size_t ta_trace_string_count(const struct ta_trace *trace);

TA_API struct ta_categories ta_trace_categories(const struct ta_trace *trace);
TA_API struct ta_tracks ta_trace_tracks(const struct ta_trace *trace);
TA_API struct ta_spans ta_trace_spans(const struct ta_trace *trace);
TA_API struct ta_activities ta_trace_activities(const struct ta_trace *trace);
/* The distinct kernels of the activities. */
TA_API struct ta_kernels ta_trace_kernels(const struct ta_trace *trace);
TA_API struct ta_counters ta_trace_counters(const struct ta_trace *trace);
TA_API struct ta_instants ta_trace_instants(const struct ta_trace *trace);
TA_API struct ta_flows ta_trace_flows(const struct ta_trace *trace);
TA_API struct ta_asyncs ta_trace_asyncs(const struct ta_trace *trace);
TA_API struct ta_kind_counts ta_trace_kind_counts(const struct ta_trace *trace);

/* Values of an argument that an enabled analysis named in needs_args or samples_op_args; empty when
 * none asked or no event has it. */
TA_API struct ta_args ta_trace_args(const struct ta_trace *trace, const char *key);
/* Place of the value at one row among all when they are few; `n` when it has none.  O(log n). */
TA_API size_t ta_args_search(const struct ta_args *args, ta_row row);

/* The same, O(1) when they are many.  Arguments with the same `row` have theirs at the same places.
 */
static inline size_t ta_args_place(const struct ta_args *args, ta_row row)
{
    if (args->n == 0 || row > args->row[args->n - 1])
        return args->n;
    if (!args->places)
        return ta_args_search(args, row);
    return ta_row_set_has(args->places, row) ? ta_row_set_place(args->places, row) : args->n;
}

/* The value at one row; false when it has none. */
static inline bool ta_args_find(const struct ta_args *args, ta_row row, int64_t *value)
{
    const size_t at = ta_args_place(args, row);
    if (at == args->n || ta_args_is_text(args, at))
        return false;
    *value = ta_args_value(args, at);
    return true;
}

/* The text at one row, lists as written; TA_STR_ABSENT when it has none. */
static inline ta_str ta_args_text(const struct ta_args *args, ta_row row)
{
    const size_t at = ta_args_place(args, row);
    return at < args->n && ta_args_is_text(args, at) ? (ta_str)ta_args_value(args, at)
                                                     : TA_STR_ABSENT;
}

/* A list, "[[2, 3], []]", the same however the file spaces it, as keys need it; `out` holds twice
 * the length of the text. */
static inline struct ta_slice ta_list_tidy(struct ta_slice text, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
            continue;
        out[n++] = c;
        if (c == ',')
            out[n++] = ' ';
    }
    return (struct ta_slice){out, n};
}

/* What the file says of a device. */
struct ta_device {
    int64_t id;              /* TA_MISSING when it does not say */
    struct ta_slice name;    /* "NVIDIA H200"; empty when it does not say */
    int64_t multiprocessors; /* 0: not known */
    int64_t memory_bytes;    /* 0: not known */
};

struct ta_devices {
    size_t n;
    const struct ta_device *at;
};

/* In the order of the file. */
TA_API struct ta_devices ta_trace_devices(const struct ta_trace *trace);
/* What is said of the device that activities name by this number: by its id, or, since profilers
 * number them in several ways, what is said of all of them.  NULL when the file does not say. */
TA_API const struct ta_device *ta_trace_device(const struct ta_trace *trace, int64_t id);

/* What the devices of the file have in common. */
struct ta_device_units {
    int64_t multiprocessors;
    int64_t threads; /* that a multiprocessor holds at a time */
};

/* The same for all devices of the file, else 0. */
TA_API struct ta_device_units ta_trace_device_units(const struct ta_trace *trace);

/* Facts of the file: size on disk and inflated, records kept, path, format. */
struct ta_trace_file {
    const char *path, *format;
    uint64_t bytes, raw_bytes, events;
    uint64_t records; /* of a dump, which has no events; dropped ones count too */
};

TA_API struct ta_trace_file ta_trace_file(const struct ta_trace *trace);

TA_END_DECLS

#endif
