/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The write side of a trace. */
#include "model/builder.h"

#include "model/backward.h"
#include "model/category.h"
#include "model/column.h"
#include "model/rank_rows.h"
#include "model/range.h"
#include "model/says.h"
#include "traceanalyze/analysis.h"
#include "traceanalyze/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool ta_builder_init(struct ta_builder *builder, struct ta_quality *quality, uint32_t needs,
                     const struct ta_slice *keys, size_t n_keys, size_t names_limit)
{
    *builder = (struct ta_builder){.quality = quality,
                                   .needs = needs,
                                   .keys = keys,
                                   .n_keys = n_keys,
                                   .last_track_key = UINT64_MAX,
                                   .first_ts = TA_MISSING,
                                   .last_ts = TA_MISSING,
                                   .rank = TA_MISSING,
                                   .world_size = TA_MISSING};
    for (const char *phase = TA_PHASES; *phase; phase++)
        builder->phase_at[(unsigned char)*phase] = (uint8_t)(phase - TA_PHASES + 1);
    struct ta_trace *trace = calloc(1, sizeof *trace);
    builder->trace = trace;
    for (size_t i = 0; i < n_keys && i < TA_RECORD_ARGS; i++) {
        const enum ta_range range = ta_range_of_arg(keys[i]);
        const bool any = range == TA_RANGE_ANY;
        builder->range_of[i].range = range;
        builder->range_of[i].least = any ? INT64_MIN : ta_range_least(range);
        builder->range_of[i].most = any ? INT64_MAX : ta_range_most(range);
    }
    if (!trace || !ta_strings_init(&trace->strings, names_limit))
        return false;
    trace->view.base_ns = TA_MISSING;
    trace->facts = ta_facts_new();
    trace->args = ta_arena_alloc(&trace->arena, (n_keys + 1) * sizeof *trace->args);
    if (!trace->facts || !trace->args)
        return false;
    trace->n_args = n_keys;
    for (size_t i = 0; i < n_keys; i++) {
        const char *copy = ta_arena_copy(&trace->arena, keys[i]);
        if (!copy)
            return false;
        trace->args[i].key = (struct ta_slice){copy, keys[i].len};
    }
    return true;
}

void ta_builder_free(struct ta_builder *builder)
{
    struct ta_store *store = builder->trace ? &builder->trace->store : NULL;
    ta_store_free(store, builder->edges.at); /* there is none without the trace */
    ta_store_free(store, builder->async_edges.at);
    ta_trace_free(builder->trace);
    ta_map_free(&builder->track_of);
    ta_map_free(&builder->category_of);
    ta_map_free(&builder->process_names);
    ta_map_free(&builder->process_labels);
    free(builder->devices.at);
    free(builder->products.at);
    free(builder->shares_stream);
    free(builder->track_device);
    kinds_free(&builder->kinds);
    ta_parts_free(builder);
}

bool ta_is_phase(char letter)
{
    return letter && strchr(TA_PHASES, letter);
}

/* ---- names ------------------------------------------------------------------------------- */

/* Names beyond the limit are pooled, so that totals stay right. */
static ta_str pool_name(struct ta_builder *builder)
{
    static const char other[] = "(other names)";
    ta_str id = TA_STR_ABSENT;
    ta_quality_add(builder->quality, TA_Q_LIMIT, TA_NO_OFFSET,
                   "Distinct names beyond the limit \"names\" (--limit names=…) are pooled as "
                   "\"%s\"",
                   other);
    struct ta_strings *strings = &builder->trace->strings;
    strings->limit++; /* room for this one name, the first time */
    if (ta_strings_intern(strings, ta_slice_of(other), &id) != TA_INTERN_OK)
        id = TA_STR_ABSENT;
    strings->limit--;
    return id;
}

ta_str ta_builder_string(struct ta_builder *builder, struct ta_slice text)
{
    ta_str id = TA_STR_ABSENT;
    const enum ta_intern done = ta_strings_intern(&builder->trace->strings, text, &id);
    if (done == TA_INTERN_OK)
        return id;
    if (done == TA_INTERN_FULL)
        return pool_name(builder);
    builder->track_of.failed = true;
    return TA_STR_ABSENT;
}

static enum ta_status no_memory(struct ta_ctx *ctx, const struct ta_builder *builder)
{
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the events of a trace: events=%" PRIu64,
                   builder->events);
}

uint32_t ta_builder_track(struct ta_builder *builder, ta_str pid, ta_str tid)
{
    const uint64_t key = (uint64_t)pid << 32 | tid;
    if (key == builder->last_track_key)
        return builder->last_track;
    struct ta_trace *trace = builder->trace;
    uint64_t *index = ta_map_at(&builder->track_of, key, trace->tracks.n);
    if (!index)
        return UINT32_MAX;
    if (*index == trace->tracks.n &&
        !ta_vec_push(&trace->tracks, (struct ta_track){.pid = pid, .tid = tid}))
        return UINT32_MAX;
    builder->last_track_key = key;
    return builder->last_track = (uint32_t)*index;
}

/* Index of a category; UINT32_MAX without memory. */
static uint32_t find_category(struct ta_builder *builder, ta_str name)
{
    struct ta_trace *trace = builder->trace;
    uint64_t *index = ta_map_at(&builder->category_of, name, trace->categories.n);
    if (!index)
        return UINT32_MAX;
    if (*index < trace->categories.n)
        return (uint32_t)*index;
    if (trace->categories.n == CATEGORIES_MAX) {
        ta_quality_add(builder->quality, TA_Q_LIMIT, TA_NO_OFFSET,
                       "More than %d categories: the rest is pooled with the last one",
                       CATEGORIES_MAX);
        *index = CATEGORIES_MAX - 1;
        return CATEGORIES_MAX - 1;
    }
    const struct ta_category category = {name, ta_category_classify(ta_trace_text(trace, name))};
    if (!ta_vec_push(&trace->categories, category))
        return UINT32_MAX;
    return (uint32_t)*index;
}

/* The same, with a few recent ones at hand: events come in turns of four or five categories. */
static inline uint32_t category_of(struct ta_builder *builder, ta_str name)
{
    struct recent_category *recent = &builder->recent[name % RECENT_CATEGORIES];
    if (!recent->known || recent->name != name) {
        const uint32_t cat = find_category(builder, name);
        if (cat == UINT32_MAX)
            return cat;
        *recent = (struct recent_category){name, (ta_cat)cat, true};
    }
    return recent->cat;
}

/* ---- ranges ------------------------------------------------------------------------------ */

/* Accounts for a number out of range, as written. */
static void reject(struct ta_builder *builder, enum ta_range range, struct ta_slice number,
                   uint64_t offset)
{
    char place[48] = "";
    if (offset != TA_NO_OFFSET)
        snprintf(place, sizeof place, ", at byte offset %" PRIu64, offset);
    ta_quality_add(builder->quality, TA_Q_BAD_NUMBER, offset,
                   "%s is not between %" PRId64 " and %" PRId64 ": %.*s, which counts as missing%s",
                   ta_range_what(range), ta_range_least(range), ta_range_most(range),
                   (int)(number.len < 80 ? number.len : 80), number.ptr, place);
}

int64_t ta_builder_number(struct ta_builder *builder, enum ta_range range, int64_t value,
                          uint64_t offset)
{
    char text[24];
    if (value == TA_MISSING || ta_range_has(range, value))
        return value;
    const int n = snprintf(text, sizeof text, "%" PRId64, value);
    reject(builder, range, (struct ta_slice){text, (size_t)n}, offset);
    return TA_MISSING;
}

double ta_builder_real(struct ta_builder *builder, enum ta_range range, double value,
                       uint64_t offset)
{
    char text[TA_UNIT_TEXT_MAX];
    if (isnan(value) || ta_range_has_real(range, value))
        return value;
    if (isinf(value))
        strcpy(text, "infinity");
    else
        ta_number_format(text, value);
    reject(builder, range, ta_slice_of(text), offset);
    return NAN;
}

/* Whether the numbers in a text are in range; thousands of kernels are launched alike. */
static bool ranged_text_fits(struct ta_builder *builder, const struct ta_event *event,
                             const struct ta_event_arg *arg)
{
    const enum ta_range range = builder->range_of[arg->key].range;
    const ta_str text = (ta_str)arg->value;
    if (text == TA_STR_ABSENT)
        return true;
    struct recent_ranged *recent =
        &builder->recent_ranged[(text * 31 + (unsigned)range) % RECENT_RANGED];
    if (recent->text != text || recent->range != range)
        *recent = (struct recent_ranged){
            text, range, ta_range_has_all(range, ta_trace_text(builder->trace, text))};
    if (!recent->fits)
        reject(builder, range, ta_trace_text(builder->trace, text), event->offset);
    return recent->fits;
}

/* Whether an argument may be believed. */
static inline bool arg_fits(struct ta_builder *builder, const struct ta_event *event,
                            const struct ta_event_arg *arg)
{
    if (arg->is_text)
        return builder->range_of[arg->key].range == TA_RANGE_ANY ||
               ranged_text_fits(builder, event, arg);
    return (arg->value >= builder->range_of[arg->key].least &&
            arg->value <= builder->range_of[arg->key].most) ||
           ta_builder_number(builder, builder->range_of[arg->key].range, arg->value,
                             event->offset) != TA_MISSING;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Which share of the input the rows are from; 0 when nobody knows. */
static inline double share_of(const struct ta_builder *builder)
{
    return builder->share ? *builder->share : 0;
}

static bool grow_spans(struct ta_builder *builder)
{
    struct span_columns *c = &builder->trace->spans;
    const struct column_ref columns[] = {COLUMN(c->ts), COLUMN(c->dur), COLUMN(c->name),
                                         COLUMN(c->cat), COLUMN(c->track)};
    return c->n < TA_NO_ROW - 1 &&
           columns_grow(&builder->trace->store, columns, 5, c->n, &c->max, share_of(builder));
}

static bool add_span(struct ta_builder *builder, const struct ta_event *event, uint32_t track,
                     ta_cat cat, int64_t dur)
{
    struct span_columns *c = &builder->trace->spans;
    if (c->n >= c->max && !grow_spans(builder))
        return false;
    const size_t row = c->n++;
    c->ts[row] = event->ts_ns;
    c->dur[row] = dur;
    c->name[row] = event->name;
    c->cat[row] = cat;
    c->track[row] = track;
    const bool is_of_sample =
        builder->trace->categories.at[cat].class == TA_CLASS_OP && event->offset < TA_SAMPLED_BYTES;
    for (size_t i = 0; i < event->n_args; i++) {
        const struct ta_event_arg *arg = &event->args[i];
        if (!is_of_sample && builder->sampled >> arg->key & 1)
            continue;
        if (!arg_fits(builder, event, arg))
            continue;
        struct arg_column *a = &builder->trace->args[arg->key];
        if (!arg_column_add(&builder->trace->store, a, (ta_row)row, arg->value, arg->is_text,
                            share_of(builder)))
            return false;
    }
    return true;
}

static bool add_complete(struct ta_builder *builder, const struct ta_event *event, uint32_t track,
                         ta_cat cat)
{
    int64_t dur = event->dur_ns;
    if (!event->has_dur) {
        ta_quality_add(builder->quality, TA_Q_UNFINISHED, event->offset,
                       "A complete event has no usable duration, at byte offset %" PRIu64,
                       event->offset);
        return true;
    }
    if (dur > TA_SPAN_LONGEST) {
        ta_quality_add(builder->quality, TA_Q_BAD_DURATION, event->offset,
                       "A duration of %" PRId64
                       " ns comes from an unset or wrapped end time, at byte offset %" PRIu64,
                       dur, event->offset);
        return true;
    }
    if (dur < 0) {
        ta_quality_add(builder->quality, TA_Q_NEGATIVE_DURATION, event->offset,
                       "A negative duration counts as 0, at byte offset %" PRIu64, event->offset);
        dur = 0;
    }
    return add_span(builder, event, track, cat, dur);
}

static bool add_edge(struct ta_builder *builder, const struct ta_event *event, uint32_t track,
                     ta_cat cat)
{
    struct pair_edge edge = {.ts = event->ts_ns,
                             .offset = event->offset,
                             .order = (uint32_t)builder->edges.n,
                             .track = track,
                             .row = TA_NO_ROW,
                             .name = event->name,
                             .cat = cat};
    if (event->phase == 'B') {
        /* The row keeps the begin's place in the file; it goes when no end is found. */
        edge.row = (ta_row)builder->trace->spans.n;
        if (!add_span(builder, event, track, cat, -1))
            return false;
    }
    return column_push(&builder->trace->store, &builder->edges, edge);
}

static bool add_async(struct ta_builder *builder, const struct ta_event *event, uint32_t track,
                      ta_cat cat)
{
    const uint32_t order = (uint32_t)builder->async_edges.n;
    return column_push(&builder->trace->store, &builder->async_edges,
                       (struct pair_edge){.ts = event->ts_ns,
                                          .offset = event->offset,
                                          .order = order,
                                          .track = track,
                                          .row = event->phase == 'b' ? 0 : TA_NO_ROW,
                                          .name = event->name,
                                          .id = ta_builder_string(builder, event->id),
                                          .cat = cat});
}

static bool add_instant(struct ta_builder *builder, const struct ta_event *event, uint32_t track,
                        ta_cat cat)
{
    struct instant_columns *c = &builder->trace->instants;
    const struct column_ref columns[] = {COLUMN(c->ts), COLUMN(c->name), COLUMN(c->cat),
                                         COLUMN(c->track)};
    if (!columns_grow(&builder->trace->store, columns, 4, c->n, &c->max, share_of(builder)))
        return false;
    c->ts[c->n] = event->ts_ns;
    c->name[c->n] = event->name;
    c->cat[c->n] = cat;
    c->track[c->n++] = track;
    return true;
}

static bool add_flow(struct ta_builder *builder, const struct ta_event *event, uint32_t track)
{
    struct flow_columns *c = &builder->trace->flows;
    const struct column_ref columns[] = {COLUMN(c->ts), COLUMN(c->name), COLUMN(c->id),
                                         COLUMN(c->track), COLUMN(c->phase)};
    if (!columns_grow(&builder->trace->store, columns, 5, c->n, &c->max, share_of(builder)))
        return false;
    c->ts[c->n] = event->ts_ns;
    c->name[c->n] = event->name;
    c->id[c->n] = ta_builder_string(builder, event->id);
    c->track[c->n] = track;
    c->phase[c->n++] = event->phase;
    return true;
}

static void note_zero(struct ta_builder *builder, const struct ta_event *event)
{
    struct ta_zero_times *zero = &builder->zero;
    if (event->phase == 'X' || event->phase == 'B') {
        zero->first = zero->spans ? zero->first : event->offset;
        zero->last = event->offset;
        zero->spans++;
    } else if (event->phase != 'E' && event->phase != 'e') {
        zero->others++;
    }
}

static void note_time(struct ta_builder *builder, const struct ta_event *event)
{
    if (!event->has_ts || event->phase == 'M')
        return;
    builder->timed += event->phase == 'X' || event->phase == 'B';
    if (event->ts_ns == 0) {
        note_zero(builder, event);
        return;
    }
    if (builder->first_ts == TA_MISSING || event->ts_ns < builder->first_ts)
        builder->first_ts = event->ts_ns;
    if (builder->last_ts == TA_MISSING || event->ts_ns > builder->last_ts)
        builder->last_ts = event->ts_ns;
}

/* Arrows that link what has no common number (normalize/arrows.c). */
static bool is_launch_flow(const struct ta_builder *builder, const struct ta_event *event)
{
    static const struct ta_slice categories[] = {
        {"HostToDevice", 12}, {"async_npu", 9}, {"cpu_to_cuda", 11}};
    const struct ta_slice category = ta_trace_text(builder->trace, event->category);
    for (size_t i = 0; i < TA_LENGTH(categories); i++)
        if (ta_slice_equal(category, categories[i]))
            return true;
    return false;
}

static bool needs_flow(const struct ta_builder *builder, const struct ta_event *event)
{
    return builder->needs & TA_NEED_FLOWS || is_launch_flow(builder, event) ||
           (builder->needs & TA_NEED_BACKWARD && event->name != TA_STR_ABSENT &&
            ta_is_backward_flow(ta_trace_text(builder->trace, event->name)));
}

/* Puts an event into the table of its phase, if anybody needs it. */
static bool add_row(struct ta_builder *builder, const struct ta_event *event, ta_cat cat)
{
    if (event->phase == 'M' || !event->has_ts)
        return true;
    const uint32_t track = ta_builder_track(builder, event->pid, event->tid);
    if (track == UINT32_MAX)
        return false;
    switch (event->phase) {
    case 'X':
        return add_complete(builder, event, track, cat);
    case 'B':
    case 'E':
        return add_edge(builder, event, track, cat);
    case 'i':
    case 'I':
    case 'N': /* an object is made, changed, and gone */
    case 'O':
    case 'D':
        return !(builder->needs & TA_NEED_INSTANTS) || add_instant(builder, event, track, cat);
    case 's':
    case 't':
    case 'f':
        return !needs_flow(builder, event) || add_flow(builder, event, track);
    case 'b':
    case 'e':
        return !(builder->needs & TA_NEED_ASYNCS) || add_async(builder, event, track, cat);
    default:
        return true; /* counted by kind, used by nobody */
    }
}

struct ta_row_counts ta_builder_rows(const struct ta_builder *builder)
{
    const struct ta_trace *trace = builder->trace;
    return (struct ta_row_counts){.spans = trace->spans.n,
                                  .edges = builder->edges.n,
                                  .asyncs = builder->async_edges.n,
                                  .counters = trace->counters.n,
                                  .instants = trace->instants.n,
                                  .flows = trace->flows.n};
}

enum ta_status ta_builder_add(struct ta_ctx *ctx, struct ta_builder *builder,
                              const struct ta_event *event)
{
    const uint8_t phase = builder->phase_at[(unsigned char)event->phase & 0x7f];
    if (phase == 0)
        return ta_fail(ctx, TA_ERR_INTERNAL, "Not a phase: %d", event->phase);
    const uint32_t cat = category_of(builder, event->category);
    if (cat == UINT32_MAX)
        return no_memory(ctx, builder);
    int64_t *counts = kinds_at(&builder->kinds, event->pid, (ta_cat)cat);
    if (!counts)
        return no_memory(ctx, builder);
    if (builder->kinds.list.n > builder->n_marked) /* a process is new */
        builder->kinds.list.at[builder->n_marked++].before = ta_builder_rows(builder);
    counts[phase - 1]++;
    builder->events++;
    note_time(builder, event);
    if (!add_row(builder, event, (ta_cat)cat) || builder->track_of.failed)
        return no_memory(ctx, builder);
    return TA_OK;
}

enum ta_status ta_builder_counter(struct ta_ctx *ctx, struct ta_builder *builder,
                                  const struct ta_event *event, ta_str series, double value)
{
    if (!(builder->needs & TA_NEED_COUNTERS) || !event->has_ts)
        return TA_OK;
    struct counter_columns *c = &builder->trace->counters;
    const uint32_t track = ta_builder_track(builder, event->pid, event->tid);
    const uint32_t place =
        track == UINT32_MAX ? UINT32_MAX : counter_list_at(&c->series, track, event->name, series);
    const struct column_ref columns[] = {COLUMN(c->ts), COLUMN(c->value), COLUMN(c->place)};
    if (place == UINT32_MAX || (c->n >= c->max && !columns_grow(&builder->trace->store, columns, 3,
                                                                c->n, &c->max, share_of(builder))))
        return no_memory(ctx, builder);
    c->ts[c->n] = event->ts_ns;
    c->value[c->n] = value;
    c->place[c->n++] = place;
    return TA_OK;
}

/* ---- facts ------------------------------------------------------------------------------- */

/* Of several names the last one counts. */
static enum ta_status name_process(struct ta_ctx *ctx, const struct ta_builder *builder,
                                   struct ta_map *names, ta_str pid, ta_str name)
{
    uint64_t *slot = ta_map_at(names, pid, name);
    if (!slot)
        return no_memory(ctx, builder);
    *slot = name;
    return TA_OK;
}

enum ta_status ta_builder_name_process(struct ta_ctx *ctx, struct ta_builder *builder, ta_str pid,
                                       ta_str name)
{
    return name_process(ctx, builder, &builder->process_names, pid, name);
}

enum ta_status ta_builder_label_process(struct ta_ctx *ctx, struct ta_builder *builder, ta_str pid,
                                        ta_str label)
{
    return name_process(ctx, builder, &builder->process_labels, pid, label);
}

enum ta_status ta_builder_name_thread(struct ta_ctx *ctx, struct ta_builder *builder, ta_str pid,
                                      ta_str tid, ta_str name)
{
    const uint32_t track = ta_builder_track(builder, pid, tid);
    if (track == UINT32_MAX)
        return no_memory(ctx, builder);
    builder->trace->tracks.at[track].thread_name = name;
    return TA_OK;
}

void ta_builder_count(struct ta_builder *builder, uint64_t kept, uint64_t repaired,
                      uint64_t dropped)
{
    builder->kept += kept;
    builder->repaired += repaired;
    builder->dropped += dropped;
}

void ta_builder_skipped(struct ta_builder *builder, uint64_t bytes)
{
    builder->bytes_skipped += bytes;
}

const struct ta_slice *ta_builder_keys(const struct ta_builder *builder, size_t *n)
{
    *n = builder->n_keys;
    return builder->keys;
}

/* Keeps what all devices share; -1 once they differ. */
static void keep_common(int64_t *kept, int64_t value)
{
    if (value > 0 && value <= INT32_MAX)
        *kept = *kept == 0 || *kept == value ? value : -1;
}

/* A number of the file itself, of which one out of range changes nothing. */
static void keep_number(struct ta_builder *builder, int64_t *kept, enum ta_range range,
                        int64_t value)
{
    value = ta_builder_number(builder, range, value, TA_NO_OFFSET);
    if (value != TA_MISSING)
        *kept = value;
}

void ta_builder_set(struct ta_builder *builder, enum ta_file_fact fact, int64_t value)
{
    switch (fact) {
    case TA_SAYS_RANK:
        keep_number(builder, &builder->rank, TA_RANGE_RANK, value);
        break;
    case TA_SAYS_WORLD_SIZE:
        keep_number(builder, &builder->world_size, TA_RANGE_WORLD_SIZE, value);
        break;
    case TA_SAYS_BASE_NS:
        keep_number(builder, &builder->trace->view.base_ns, TA_RANGE_TIME_NS, value);
        break;
    case TA_SAYS_MULTIPROCESSORS:
        keep_common(&builder->trace->units.multiprocessors, value);
        break;
    case TA_SAYS_THREADS:
        keep_common(&builder->trace->units.threads, value);
        break;
    case TA_SAYS_CUT:
        builder->truncated = value;
        break;
    }
}

void ta_builder_add_device(struct ta_builder *builder, struct ta_slice name)
{
    const char *copy = ta_arena_copy(&builder->trace->arena, name);
    if (!copy || !ta_vec_push(&builder->devices, copy))
        builder->track_of.failed = true;
}

void ta_builder_add_product(struct ta_builder *builder, struct ta_slice name)
{
    const char *copy = ta_arena_copy(&builder->trace->arena, name);
    if (!copy || !ta_vec_push(&builder->products, copy))
        builder->track_of.failed = true;
}

void ta_builder_describe_device(struct ta_builder *builder, const struct ta_device *device)
{
    struct ta_trace *trace = builder->trace;
    struct ta_device copy = *device;
    copy.name.ptr = ta_arena_copy(&trace->arena, device->name);
    if (!copy.name.ptr || !ta_vec_push(&trace->devices, copy))
        builder->track_of.failed = true;
}
