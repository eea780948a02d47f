/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the allocator of one trace to partials. */
#include "levels.h"
#include "model/allocator.h"
#include "replay.h"
#include "site.h"
#include "tables.h"

#include <stdlib.h>

#define KIB UINT64_C(1024)

/* Requests up to 1 MiB live in small segments; from 10 MiB on a request has a segment of its own
 * size. */
const struct size_class memory_size_classes[SIZE_CLASSES] = {
    {4 * KIB, "to 4 KiB"},         {64 * KIB, "to 64 KiB"},         {KIB * KIB, "to 1 MiB"},
    {10 * KIB * KIB, "to 10 MiB"}, {100 * KIB * KIB, "to 100 MiB"}, {KIB * KIB * KIB, "to 1 GiB"},
    {UINT64_MAX, "above 1 GiB"},
};

/* One device of one trace on its way into the partials. */
struct device {
    const struct ta_trace *trace;
    const struct ta_allocator *allocator;
    struct ta_partial *const *out;
    struct ta_slice label;
    struct ta_slice *sites; /* by stack; a NULL address: not looked at yet */
    int64_t *phases;        /* likewise; of stacks that were looked at */
    int64_t id;
    struct device_state state;
    bool failed;
};

static int64_t bytes_of(uint64_t bytes)
{
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* The row of a device, with one more key where the partial has one. */
static int64_t *row_of(const struct device *d, enum partial partial, struct ta_key key)
{
    return TA_PARTIAL_ROW(d->out[partial], ta_row_rank(d->trace, TA_MISSING), ta_row_file(d->trace),
                          ta_key_int(d->id), ta_key_text(d->label), key);
}

static const struct ta_key no_key;

/* ---- sites and classes of sizes ------------------------------------------------------------ */

static struct ta_slice site_text(const struct device *d, uint32_t frames, bool known)
{
    if (!known)
        return TA_LIT("(allocated before the history)");
    if (frames >= d->allocator->n_stacks)
        return TA_LIT("(no frames)");
    struct ta_slice *site = &d->sites[frames];
    if (!site->ptr) {
        *site = site_of(d->trace, &d->allocator->stacks[frames]);
        d->phases[frames] = phase_of(d->trace, &d->allocator->stacks[frames]);
    }
    if (!site->len)
        *site = TA_LIT("(no frames)");
    return *site;
}

static int64_t class_of(uint64_t size)
{
    int64_t class = 0;
    while (size > memory_size_classes[class].most)
        class ++;
    return class;
}

/* After its site is known. */
static int64_t phase_at(const struct device *d, uint32_t frames, bool known)
{
    return known && frames < d->allocator->n_stacks ? d->phases[frames] : PHASE_UNKNOWN;
}

/* Adds a block to the rows of its site, its class and its phase: `count` counts them, the field
 * after it adds up `bytes`. */
static void add_block(const struct device *d, const struct live_block *block, int count,
                      uint64_t bytes)
{
    const struct ta_slice site = site_text(d, block->frames, block->known);
    int64_t *rows[] = {row_of(d, SITES, ta_key_text(site)),
                       row_of(d, CLASSES, ta_key_int(class_of(block->requested))),
                       row_of(d, PHASES, ta_key_int(phase_at(d, block->frames, block->known)))};
    for (size_t i = 0; i < TA_LENGTH(rows); i++) {
        ta_sum(&rows[i][count], 1);
        ta_sum(&rows[i][count + 1], bytes_of(bytes));
        if (count == PEAK_BLOCKS)
            ta_sum(&rows[i][PEAK_SIZE], bytes_of(block->size));
    }
}

static void add_live(struct device *d, const struct live_set *live, int count)
{
    d->failed |= live->failed;
    for (size_t i = 0; i < live->n && !live->failed; i++)
        if (!live->at[i].gone)
            add_block(d, &live->at[i], count, live->at[i].requested);
}

static void collect_blocks(struct device *d, const struct replay *r)
{
    struct live_set live;
    replay_unfreed(r, &live);
    const bool has_history = r->n > 0;
    for (size_t s = 0; s < d->state.n_segments; s++)
        for (size_t b = 0; b < d->state.segments[s]->n; b++) {
            const struct ta_alloc_block *block = &d->state.blocks[d->state.segments[s]->first + b];
            if (block->state != TA_BLOCK_ALLOCATED)
                continue;
            struct live_block held = live_of_state(block, has_history);
            held.known |= live_find(&live, block->address) != NULL;
            add_block(d, &held, HELD_BLOCKS, held.size);
        }
    add_live(d, &live, UNFREED_BLOCKS);
    live_free(&live);
    if (r->n == 0)
        return;
    for (size_t i = 0; i < r->n; i++) {
        const struct ta_alloc_event *event = &r->events[i];
        if (event->action == TA_ALLOC_ALLOC)
            add_block(d,
                      &(struct live_block){
                          .requested = event->size, .frames = event->frames, .known = true},
                      ALLOCATIONS, event->size);
    }
    replay_live_at(r, r->peak_at, &live);
    add_live(d, &live, PEAK_BLOCKS);
    live_free(&live);
}

/* ---- churn --------------------------------------------------------------------------------- */

static void count_entry(const struct ta_alloc_event *event, int64_t *row)
{
    const int64_t size = bytes_of(event->size);
    switch (event->action) {
    case TA_ALLOC_ALLOC:
        ta_sum(&row[ALLOCS], 1);
        ta_sum(&row[ALLOC_BYTES], size);
        ta_sum(&row[SMALL_ALLOCS], event->size < KIB * KIB);
        break;
    case TA_ALLOC_FREE_COMPLETED:
        ta_sum(&row[FREES], 1);
        ta_sum(&row[FREED_BYTES], size);
        break;
    case TA_ALLOC_SEGMENT_ALLOC:
    case TA_ALLOC_SEGMENT_MAP:
        ta_sum(&row[SEGMENT_ALLOCS], 1);
        ta_sum(&row[SEGMENT_BYTES], size);
        break;
    case TA_ALLOC_SEGMENT_FREE:
    case TA_ALLOC_SEGMENT_UNMAP:
        ta_sum(&row[SEGMENT_FREES], 1);
        break;
    case TA_ALLOC_OOM:
        ta_sum(&row[OOMS], 1);
        break;
    default:
        break;
    }
}

/* ---- levels -------------------------------------------------------------------------------- */

static struct ta_slice level_site_text(void *user, uint32_t frames, bool known)
{
    return site_text(user, frames, known);
}

/* What each site holds at the highest moment of each stretch. */
static void collect_levels(struct device *d, const struct replay *r, size_t step)
{
    struct levels levels = levels_of(r, step, level_site_text, d);
    d->failed |= levels.failed;
    for (size_t s = 0; s < levels.n && !levels.failed; s++) {
        int64_t *row = row_of(d, TIMELINE, ta_key_int((int64_t)s));
        for (int i = 0; i < LEVELS; i++)
            ta_most(&row[FIRST_LEVEL + i], levels.bytes[s][i]);
    }
    for (int i = 0; i < LEVELS && !levels.failed; i++)
        if (levels.names[i].len) {
            int64_t *row =
                TA_PARTIAL_ROW(d->out[LEVEL_SITES], ta_row_rank(d->trace, TA_MISSING),
                               ta_row_file(d->trace), ta_key_int(d->id), ta_key_text(d->label),
                               ta_key_int(i), ta_key_text(levels.names[i]));
            ta_most(&row[LEVEL_NAMED], 1);
        }
    levels_free(&levels);
}

static void collect_churn(struct device *d, const struct replay *r)
{
    int64_t *row = row_of(d, CHURN, no_key);
    for (int field = ENTRIES; field < DURATION; field++)
        ta_sum(&row[field], 0);
    for (size_t i = 0; i < r->n; i++)
        count_entry(&r->events[i], row);
    struct live_set live;
    replay_unfreed(r, &live);
    for (size_t i = 0; i < live.n; i++) {
        ta_sum(&row[UNFREED], !live.at[i].gone);
        ta_sum(&row[UNFREED_SIZE], live.at[i].gone ? 0 : bytes_of(live.at[i].requested));
    }
    d->failed |= live.failed;
    live_free(&live);
    ta_sum(&row[ENTRIES], (int64_t)r->n);
    /* The driver had no memory, so the allocator gave all that was free back and asked again:
     * segments are freed and the next entry allocates one. */
    int64_t retries = 0;
    for (size_t i = 1; i < r->n; i++)
        retries += r->events[i - 1].action == TA_ALLOC_SEGMENT_FREE &&
                   r->events[i].action == TA_ALLOC_SEGMENT_ALLOC;
    ta_sum(&row[RETRIES], retries);
    row[DURATION] = r->first_ns == TA_MISSING ? TA_MISSING : r->last_ns - r->first_ns;
    row[START_REQUESTED] = r->start.requested;
    row[START_ALLOCATED] = r->start.allocated;
    row[PEAK_REQUESTED] = r->peak.requested;
    row[PEAK_REQUESTED_ACTIVE] = r->peak.requested_active;
    row[PEAK_ALLOCATED] = r->peak.allocated;
    row[PEAK_RESERVED] = r->peak.reserved;
    row[ALLOCATED_AT_RESERVED] = r->at_reserved_peak.allocated;
}

static void collect_failures(const struct device *d, const struct replay *r)
{
    struct ta_levels levels = r->start;
    int64_t n = 0;
    for (size_t i = 0; i < r->n && n < FAILURES_MAX; i++) {
        const struct ta_alloc_event *event = &r->events[i];
        ta_levels_step(event, &levels);
        if (event->action != TA_ALLOC_OOM)
            continue;
        int64_t *row =
            TA_PARTIAL_ROW(d->out[FAILURES], ta_row_rank(d->trace, TA_MISSING),
                           ta_row_file(d->trace), ta_key_int(d->id), ta_key_text(d->label),
                           ta_key_int(n++), ta_key_text(site_text(d, event->frames, true)));
        row[FAIL_TIME] = event->time_ns == TA_MISSING ? TA_MISSING : event->time_ns - r->first_ns;
        row[WANTED] = bytes_of(event->size);
        row[DEVICE_FREE] = bytes_of(event->address);
        row[FAIL_ALLOCATED] = levels.allocated;
        row[FAIL_RESERVED] = levels.reserved;
    }
}

/* What the errors of a log say. */
static void collect_errors(const struct device *d)
{
    size_t n;
    const struct ta_failed_allocation *errors = ta_trace_failed_allocation_rows(d->trace, &n);
    for (size_t i = 0; i < n && i < FAILURES_MAX; i++) {
        const struct ta_slice place = ta_trace_text(d->trace, errors[i].place);
        int64_t *row = TA_PARTIAL_ROW(d->out[FAILURES], ta_row_rank(d->trace, errors[i].rank),
                                      ta_row_file(d->trace), ta_key_int(errors[i].device),
                                      ta_key_text(d->label), ta_key_int((int64_t)i),
                                      ta_key_text(place.len ? place : TA_LIT("(no frames)")));
        row[WANTED] = errors[i].wanted_bytes;
        row[DEVICE_FREE] = errors[i].free_bytes;
        row[DEVICE_TOTAL] = errors[i].total_bytes;
        if (errors[i].total_bytes != TA_MISSING && errors[i].free_bytes != TA_MISSING &&
            errors[i].process_bytes != TA_MISSING)
            row[OTHERS] = ta_max_i64(
                errors[i].total_bytes - errors[i].free_bytes - errors[i].process_bytes, 0);
        row[FAIL_ALLOCATED] = errors[i].allocated_bytes;
        if (errors[i].allocated_bytes != TA_MISSING && errors[i].unused_bytes != TA_MISSING)
            row[FAIL_RESERVED] = errors[i].allocated_bytes + errors[i].unused_bytes;
    }
}

/* ---- devices ------------------------------------------------------------------------------- */

static void collect_device(struct device *d)
{
    const struct replay r = replay_make(&d->state);
    if (d->state.n_segments != 0) {
        int64_t *cells = row_of(d, STATES, no_key);
        for (int field = SEGMENTS; field < STATE_FIELDS; field++)
            ta_sum(&cells[field], 0); /* a state says so when there is none of a kind */
        for (size_t s = 0; s < d->state.n_segments; s++) {
            const struct ta_alloc_segment *segment = d->state.segments[s];
            ta_sum(&cells[SEGMENTS], 1);
            ta_sum(&cells[STATE_RESERVED], bytes_of(segment->total));
            for (size_t b = segment->first; b < segment->first + segment->n; b++) {
                const struct ta_alloc_block *block = &d->allocator->blocks[b];
                const int64_t size = bytes_of(block->size);
                ta_sum(&cells[BLOCKS], 1);
                if (block->state == TA_BLOCK_INACTIVE) {
                    ta_sum(&cells[FREE], size);
                    ta_sum(&cells[SPLIT], segment->n > 1 ? size : 0);
                    ta_most(&cells[LARGEST_FREE], size);
                    continue;
                }
                ta_sum(&cells[REQUESTED], bytes_of(block->requested));
                ta_sum(&cells[block->state == TA_BLOCK_ALLOCATED ? STATE_ALLOCATED : PENDING],
                       size);
            }
        }
    }
    collect_blocks(d, &r);
    if (r.n == 0)
        return;
    /* The largest levels of each stretch: the level before it, and those after its entries. */
    struct ta_levels levels = r.start;
    const size_t step = r.n / STRETCHES + 1;
    for (size_t first = 0; first < r.n; first += step) {
        int64_t *row = row_of(d, TIMELINE, ta_key_int((int64_t)(first / step)));
        const int64_t time_ns = r.events[first].time_ns;
        row[ENTRY] = (int64_t)first;
        row[TIME] = time_ns == TA_MISSING ? TA_MISSING : time_ns - r.first_ns;
        for (size_t i = first; i <= r.n && i <= first + step; i++) {
            ta_most(&row[REQUESTED_LEVEL], levels.requested);
            ta_most(&row[REQUESTED_ACTIVE], levels.requested_active);
            ta_most(&row[BLOCK_LEVEL], levels.allocated);
            ta_most(&row[RESERVED], levels.reserved);
            if (i < r.n && i < first + step)
                ta_levels_step(&r.events[i], &levels);
        }
    }
    collect_levels(d, &r, step);
    collect_churn(d, &r);
    collect_failures(d, &r);
}

/* By device, then by place in the file. */
static int by_device(const void *left, const void *right)
{
    const struct ta_alloc_segment *const *a = left, *const *b = right;
    if ((*a)->device != (*b)->device)
        return (*a)->device < (*b)->device ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

enum ta_status memory_collect(struct ta_ctx *ctx, const struct ta_trace *trace,
                              struct ta_partial *const *out)
{
    const struct ta_allocator *a = ta_trace_allocator(trace);
    struct device d = {
        .trace = trace, .allocator = a, .out = out, .label = ta_row_file_label(trace)};
    collect_errors(&d);
    if (!a)
        return TA_OK;
    const struct ta_alloc_segment **segments = calloc(a->n_segments + 1, sizeof *segments);
    d.sites = calloc(a->n_stacks + 1, sizeof *d.sites);
    d.phases = calloc(a->n_stacks + 1, sizeof *d.phases);
    d.failed = !segments || !d.sites || !d.phases;
    if (!d.failed) {
        for (size_t i = 0; i < a->n_segments; i++)
            segments[i] = &a->segments[i];
        qsort(segments, a->n_segments, sizeof *segments, by_device);
        /* Both lists stand by device, so each is gone through once, however many devices a file
         * names. */
        const struct ta_allocator *activity = d.allocator;
        for (size_t s = 0, e = 0; s < activity->n_segments || e < activity->n_events;) {
            const bool has_segment = s < activity->n_segments, has_event = e < activity->n_events;
            const bool segment_first =
                has_segment && (!has_event || segments[s]->device <= activity->events[e].device);
            d.id = segment_first ? segments[s]->device : activity->events[e].device;
            d.state = (struct device_state){.blocks = activity->blocks,
                                            .segments = segments + s,
                                            .events = activity->events + e};
            for (; s < activity->n_segments && segments[s]->device == d.id; s++)
                d.state.n_segments++;
            for (; e < activity->n_events && activity->events[e].device == d.id; e++)
                d.state.n_events++;
            collect_device(&d);
        }
    }
    free(segments);
    free(d.sites);
    free(d.phases);
    return d.failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot replay the history of an allocator")
                    : TA_OK;
}
