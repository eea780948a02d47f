/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The read side: one rank's trace, frozen, as structures of arrays.
 *
 * Times are int64 nanoseconds on the clock of the file; ta_trace_origin() is the earliest start
 * of a span, and points in time of a report are relative to it.  Views are borrowed until the
 * trace is freed.  See docs/MODEL.md for who fills each column. */
#ifndef TRACEANALYZE_MODEL_H
#define TRACEANALYZE_MODEL_H

#include "base.h"

TA_BEGIN_DECLS

/* ==== sets of rows ============================================================================ */

/* A set of rows that says at once how many of them lie below one: the place of its value in a
 * column ordered by row.  A bit per row and a sum per 32 of them, so that it stays in the cache
 * where a list of places would not. */

struct ta_row_word {
    uint32_t bits, below;
};

/* Words that hold rows [0, n). */
static inline size_t ta_row_set_words(size_t n)
{
    return n / 32 + 1;
}

static inline uint32_t ta_row_set_count(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static inline void ta_row_set_add(struct ta_row_word *set, ta_row row)
{
    set[row / 32].bits |= UINT32_C(1) << row % 32;
}

/* Sums up a set to which all rows were added; returns how many there are. */
static inline uint32_t ta_row_set_sum(struct ta_row_word *set, size_t n_words)
{
    uint32_t n = 0;
    for (size_t i = 0; i < n_words; i++) {
        set[i].below = n;
        n += ta_row_set_count(set[i].bits);
    }
    return n;
}

static inline bool ta_row_set_has(const struct ta_row_word *set, ta_row row)
{
    return set[row / 32].bits >> row % 32 & 1;
}

/* How many rows of the set lie below `row`. */
static inline size_t ta_row_set_place(const struct ta_row_word *set, ta_row row)
{
    const struct ta_row_word *word = &set[row / 32];
    return word->below + ta_row_set_count(word->bits & ((UINT32_C(1) << row % 32) - 1));
}

/* ==== names of kernels ======================================================================== */

/* What the name of a kernel says of it; the table is src/model/kernel_names.def. */

enum ta_kernel_class {
    TA_KERNEL_COMPUTE, /* everything that is not known to move data between ranks */
    TA_KERNEL_COMM,    /* collectives and point-to-point transfers */
    TA_KERNEL_CLASS_COUNT
};

/* What a kernel does.  TA_KERNEL_COLLECTIVE holds all that ta_kernel_classify() calls
 * communication, and collectives that are fused with other work. */
enum ta_kernel_kind {
    TA_KERNEL_GEMM,
    TA_KERNEL_ATTENTION,
    TA_KERNEL_CONV,
    TA_KERNEL_NORM,
    TA_KERNEL_SOFTMAX,
    TA_KERNEL_ELEMENTWISE,
    TA_KERNEL_COPY, /* copies, casts, changes of layout, concatenation */
    TA_KERNEL_REDUCE,
    TA_KERNEL_INDEX, /* gather, scatter, embedding, sort, select */
    TA_KERNEL_RANDOM,
    TA_KERNEL_QUANT,
    TA_KERNEL_TRITON, /* made by a compiler of Triton programs; its name does not say more */
    TA_KERNEL_COLLECTIVE,
    TA_KERNEL_OTHER,
    TA_KERNEL_KIND_COUNT
};

/* Whether a name shows the use of a matrix unit (tensor core, MFMA). */
enum ta_matrix_unit { TA_MATRIX_ANY, TA_MATRIX_YES, TA_MATRIX_NO };

/* Type of the inputs of a product. */
enum ta_precision {
    TA_PRECISION_ANY, /* the name does not say */
    TA_PRECISION_FP64,
    TA_PRECISION_FP32,
    TA_PRECISION_TF32,
    TA_PRECISION_FP16,
    TA_PRECISION_BF16,
    TA_PRECISION_FP8,
    TA_PRECISION_INT8,
    TA_PRECISION_FP4,
    TA_PRECISION_COUNT
};

struct ta_kernel_facts {
#ifdef __cplusplus
    enum ta_kernel_class class_;
#else
    enum ta_kernel_class class;
#endif
    enum ta_kernel_kind kind;
    const char *family; /* library or algorithm, "" when the kind says it all; a constant */
    bool known;         /* false when no row of the table matches; the kind is "other" then */
    enum ta_matrix_unit matrix;  /* of products, convolutions and attention; else ANY */
    enum ta_precision precision; /* likewise */
};

/* "gemm", "attention", …, "comm", "other"; a constant. */
TA_API const char *ta_kernel_kind_name(enum ta_kernel_kind kind);

/* ==== intervals =============================================================================== */

/* Sets of half-open intervals [start, end) of integer nanoseconds. */

struct ta_interval {
    int64_t start, end;
};

/* Growable list; zero-initialize, free with ta_intervals_free(). */
struct ta_intervals {
    struct ta_interval *at;
    size_t n, max;
    bool failed; /* out of memory: what was added is incomplete */
};

/* Appends [start, end); empty intervals are left out. */
TA_API void ta_intervals_add(struct ta_intervals *set, int64_t start, int64_t end);
TA_API void ta_intervals_free(struct ta_intervals *set);

/* Turns any list into disjoint, ascending, non-touching intervals that cover the same points.
 * O(n) when already ordered by start, else O(n log n). */
TA_API void ta_intervals_unite(struct ta_intervals *set);

/* Total length; of a united set this is U(S). */
static inline int64_t ta_intervals_length(const struct ta_intervals *set)
{
    int64_t sum = 0;
    for (size_t i = 0; i < set->n; i++)
        sum += set->at[i].end - set->at[i].start;
    return sum;
}

/* Length of the part of `a` that `b` does not cover; both united.  O(n + m). */
TA_API int64_t ta_intervals_outside(const struct ta_intervals *a, const struct ta_intervals *b);

/* ==== the trace =============================================================================== */

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
    TA_CLASS_FLOW,       /* rows that only draw arrows */
    /* What was open when a graph was captured, at a replay of the graph: it launched the kernels,
     * but no thread spends time in it then, so it is no host span. */
    TA_CLASS_CAPTURED_OP,    /* an operator */
    TA_CLASS_CAPTURED_CALL,  /* a call of the runtime, of kernels that no operator launched */
    TA_CLASS_CAPTURED_MODULE /* a call of a module, or a range of the program */
};

static inline bool ta_class_is_device(enum ta_event_class c)
{
    return c == TA_CLASS_KERNEL || c == TA_CLASS_MEMCPY || c == TA_CLASS_MEMSET;
}

static inline bool ta_class_is_host(enum ta_event_class c)
{
    return c <= TA_CLASS_RUNTIME;
}

/* An operator that may have launched kernels, itself or when a graph was captured. */
static inline bool ta_class_is_op(enum ta_event_class c)
{
    return c == TA_CLASS_OP || c == TA_CLASS_CAPTURED_OP;
}

static inline bool ta_class_is_captured(enum ta_event_class c)
{
    return c >= TA_CLASS_CAPTURED_OP;
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
    const uint8_t *work;   /* enum ta_host_work of host spans; NULL unless an analysis has
                              set TA_NEED_HOST_WORK */
};

/* Device activities: spans of a device class, by (device, start, row). */
struct ta_activity {
    ta_row span;
    ta_row launch;   /* the runtime call with the same correlation id, or TA_NO_ROW */
    ta_row op;       /* the launching op: innermost operator open when the call started, the
                        call itself without one; TA_NO_ROW when not linked.  For a kernel of a
                        replayed graph whose capture is known: a row of a captured class */
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

/* A graph whose replays are in the trace, where some capture is known. */
struct ta_replayed {
    struct ta_slice name; /* of the range around its capture, empty without one */
    const char *file;     /* that the capture is in, empty: the same; NULL when none is known */
    const char *reason;   /* why not all of it is known, or NULL; a constant */
    bool shapes;          /* the capture has the shapes of the operators, too */
    int64_t nodes, replays, kernels, device_ns;
    int64_t mapped; /* kernels whose operator is known */
};

struct ta_replayed_graphs {
    size_t n;
    const struct ta_replayed *at;
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

/* What the file says of a device. */
struct ta_device {
    int64_t id;              /* TA_MISSING when it does not say */
    struct ta_slice name;    /* "NVIDIA H200"; empty when it does not say */
    int64_t multiprocessors; /* 0: not known */
    int64_t memory_bytes;    /* 0: not known */
    int64_t capability;      /* 10 × major + minor number of its architecture; 0: not known */
};

/* What the devices of the file have in common. */
struct ta_device_units {
    int64_t multiprocessors;
    int64_t threads; /* that a multiprocessor holds at a time */
};

/* Facts of the file: size on disk and inflated, records kept, path, format. */
struct ta_trace_file {
    const char *path, *format;
    uint64_t bytes, raw_bytes, events;
    uint64_t records; /* of a dump, which has no events; dropped ones count too */
    int64_t number;   /* while map() runs: unique per file, in the order of their names */
    bool
        is_counted; /* of several ranks of the file this is not the first: its bytes were counted */
};

/* ---- access ---------------------------------------------------------------------------- */

/* All tables of a trace but texts and arguments. */
struct ta_trace_view {
    /* While map() runs it is a placeholder that is unique per file, or per rank of a file that has
     * several: the rank may only be known once all files are read.  Put it into fields of kind
     * TA_FIELD_RANK alone. */
    int64_t rank;
    int64_t origin;  /* earliest start of a span */
    int64_t base_ns; /* absolute time of ts 0 since 1970, or TA_MISSING */
    struct ta_trace_file file;
    struct ta_device_units device_units; /* the same for all devices of the file, else 0 */
    struct ta_categories categories;
    struct ta_tracks tracks;
    struct ta_spans spans;
    struct ta_activities activities;
    struct ta_kernels kernels; /* the distinct ones of the activities */
    struct ta_replayed_graphs replayed;
    struct ta_counters counters;
    struct ta_instants instants;
    struct ta_flows flows;
    struct ta_asyncs asyncs;
    struct ta_kind_counts kind_counts;
};

/* It lives as long as the trace. */
TA_API const struct ta_trace_view *ta_trace_view(const struct ta_trace *trace);

/* The text of an interned string; empty for TA_STR_ABSENT. */
TA_API struct ta_slice ta_trace_text(const struct ta_trace *trace, ta_str id);
/* Number of interned strings; ids are below it. */
TA_API size_t ta_trace_string_count(const struct ta_trace *trace);

/* What is said of the device that activities name by this number: by its id, or, since profilers
 * number them in several ways, what is said of all of them.  NULL when the file does not say. */
TA_API const struct ta_device *ta_trace_device(const struct ta_trace *trace, int64_t id);

/* Members of the view. */
static inline int64_t ta_trace_rank(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->rank;
}

static inline int64_t ta_trace_origin(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->origin;
}

static inline int64_t ta_trace_base_ns(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->base_ns;
}

static inline struct ta_trace_file ta_trace_file(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->file;
}

static inline struct ta_device_units ta_trace_device_units(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->device_units;
}

static inline struct ta_categories ta_trace_categories(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->categories;
}

static inline struct ta_tracks ta_trace_tracks(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->tracks;
}

static inline struct ta_spans ta_trace_spans(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->spans;
}

static inline struct ta_activities ta_trace_activities(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->activities;
}

static inline struct ta_kernels ta_trace_kernels(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->kernels;
}

static inline struct ta_replayed_graphs ta_trace_replayed(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->replayed;
}

static inline struct ta_counters ta_trace_counters(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->counters;
}

static inline struct ta_instants ta_trace_instants(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->instants;
}

static inline struct ta_flows ta_trace_flows(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->flows;
}

static inline struct ta_asyncs ta_trace_asyncs(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->asyncs;
}

static inline struct ta_kind_counts ta_trace_kind_counts(const struct ta_trace *trace)
{
    return ta_trace_view(trace)->kind_counts;
}

/* Values of an argument that an enabled analysis named in needs_args or samples_op_args; empty when
 * none asked or no event has it. */
TA_API struct ta_args ta_trace_args(const struct ta_trace *trace, const char *key);
/* Place of the value at one row among all when they are few; `n` when it has none.  O(log n). */
static inline size_t ta_args_search(const struct ta_args *args, ta_row row)
{
    size_t low = 0, high = args->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (args->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < args->n && args->row[low] == row ? low : args->n;
}

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

/* ==== work of host threads ==================================================================== */

/* What a host thread does while a span is open, by its category and name; the table is
 * src/model/host.c. */

enum ta_host_work {
    TA_HOST_UNTRACED,   /* a range that only names a phase: what happens within is not recorded */
    TA_HOST_OPERATOR,   /* an operator of the framework: dispatch, shape checks, output tensors */
    TA_HOST_PYTHON,     /* a Python function */
    TA_HOST_LAUNCH,     /* puts work into a queue of the device: kernels, asynchronous copies */
    TA_HOST_GRAPH,      /* the same for a graph of many kernels */
    TA_HOST_CALL,       /* any other call of the runtime or driver */
    TA_HOST_SYNC,       /* waits for the device */
    TA_HOST_COPY,       /* a copy that returns when it is done */
    TA_HOST_ALLOCATE,   /* asks the driver for memory, or gives it back */
    TA_HOST_COMPILE,    /* compiles, tunes or loads code */
    TA_HOST_DATA,       /* loads data: data loaders, files */
    TA_HOST_COLLECTIVE, /* a collective of the host, such as gloo's */
    TA_HOST_PROFILER,   /* the profiler itself */
    TA_HOST_WORK_COUNT
};

/* The first row from `row` on that does this work; the number of spans without one.  Whoever looks
 * for rare work needs not look at each span.  Needs TA_NEED_HOST_WORK. */
static inline ta_row ta_host_next(const struct ta_spans *spans, size_t row, enum ta_host_work work)
{
    const void *found =
        row < spans->n ? memchr(spans->work + row, (int)work, spans->n - row) : NULL;
    return (ta_row)(found ? (size_t)((const uint8_t *)found - spans->work) : spans->n);
}

/* Copies smaller than this are reads of single values, .item() and the like: waits for a result,
 * not transfers. */
#define TA_HOST_VALUE_BYTES 1024

/* Whether the work says why a thread was late, whatever is nested in it: spans below it that only
 * show how it is done count as the same. */
static inline bool ta_host_is_cause(enum ta_host_work work)
{
    return work >= TA_HOST_SYNC;
}

/* Whether a span of this name marks a step; the number comes after it. */
#define TA_STEP_MARK "ProfilerStep#"

static inline bool ta_host_is_step(struct ta_slice name)
{
    const size_t n = sizeof TA_STEP_MARK - 1;
    return name.len >= n && memcmp(name.ptr, TA_STEP_MARK, n) == 0;
}

/* The number of the step that a span of this name marks; TA_MISSING when it marks none, or by
 * something else than up to 18 digits. */
static inline int64_t ta_host_step_number(struct ta_slice name)
{
    const size_t first = sizeof TA_STEP_MARK - 1;
    int64_t number = 0;
    if (!ta_host_is_step(name) || name.len == first || name.len > first + 18)
        return TA_MISSING;
    for (size_t i = first; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return TA_MISSING;
        number = number * 10 + (name.ptr[i] - '0');
    }
    return number;
}

/* The name of a span as a place of the program: step markers are one place. */
static inline struct ta_slice ta_host_place(struct ta_slice name)
{
    return ta_host_is_step(name) ? (struct ta_slice){name.ptr, sizeof TA_STEP_MARK - 2} : name;
}

/* Whether a span is a built-in function of Python, which has no place in a file; who calls it
 * has. */
static inline bool ta_host_is_builtin(struct ta_slice name)
{
    return name.len > 9 && memcmp(name.ptr, "<built-in", 9) == 0;
}

/* ==== what devices can do ===================================================================== */

/* What a device can do at most, by what the trace says of it.  The figures come from
 * src/hardware/devices.yaml and --hardware; a device that is in neither has none. */

/* Which unit, and the type of its inputs. */
enum ta_peak {
    TA_PEAK_FP64, /* vector unit */
    TA_PEAK_FP64_MATRIX,
    TA_PEAK_FP32, /* vector unit */
    TA_PEAK_FP32_MATRIX,
    TA_PEAK_TF32, /* matrix unit, as all that follow */
    TA_PEAK_FP16,
    TA_PEAK_BF16,
    TA_PEAK_FP8,
    TA_PEAK_INT8,
    TA_PEAK_FP4,
    TA_PEAK_COUNT
};

struct ta_hardware {
    const char *name, *source;
    double flop_per_s[TA_PEAK_COUNT]; /* dense; 0: not stated */
    double bytes_per_s;               /* of the memory; 0: not stated */
    double host_bytes_per_s;          /* of the link to the host, one direction; 0: not stated */
    double peer_bytes_per_s;          /* of that to another device */
    int64_t capability;               /* 10 × major + minor of its architecture; 0: not stated */
};

/* The peaks of a device.  NULL when they are not known; *why is then a constant that says what is
 * missing, as the end of a sentence.  A device without a name has the peaks of the only one
 * with its properties, which *why says then; else it is left as it was. */
TA_API const struct ta_hardware *ta_ctx_hardware(const struct ta_ctx *ctx,
                                                 const struct ta_device *device, const char **why);

TA_END_DECLS

#endif
