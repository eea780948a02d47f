/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Advances the host threads and GPU streams and records what a profiler would have seen. */
#include "timeline.h"

#include <stdlib.h>

/* Costs on the host in ns, of an eager PyTorch loop that is being profiled. */
enum {
    PYTHON_GAP = 11800, /* interpreter and module code between two operators */
    LEVEL_ENTER = 950,  /* dispatcher, per nested operator */
    LEVEL_LEAVE = 520,
    LAUNCH_CALL = 3900,
    EVENT_API_CALL = 850, /* recording, waiting for and querying an event */
    COPY_CALL = 5200,
    SYNC_RETURN = 2600,      /* from the end on the device to the return of the wait */
    COMMS_SETUP = 9500,      /* ProcessGroupNCCL before it launches */
    BUFFER_REQUEST = 380000, /* the profiler allocates an activity buffer */
    HOST_JITTER = 160,       /* permille */
};

/* Times on the device in ns. */
enum {
    LAUNCH_LATENCY = 1700, /* end of the call to start of the kernel on an idle stream */
    STREAM_GAP = 850,      /* between kernels that were queued */
    COPY_SETUP = 1300,
    KERNEL_JITTER = 25, /* permille */
};

static const int64_t memory_weights = INT64_C(14326693888);
static const int64_t window_origin = TIMELINE_ORIGIN;

/* A slow host is slow in all it does; now and then the scheduler takes the core away. */
static int64_t host_cost(struct rank_clock *rank, int64_t ns)
{
    const int64_t usual = rng_jitter(&rank->rng, ns, HOST_JITTER) * rank->host_permille / 1000;
    if (rng_below(&rank->rng, 900) != 0)
        return usual;
    return usual + 12000 + rng_below(&rank->rng, 45000);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool timeline_init_some(struct timeline *timeline, int first, int ranks, uint64_t seed)
{
    *timeline = (struct timeline){
        .ranks = calloc((size_t)ranks, sizeof *timeline->ranks),
        .rank_count = ranks,
        .kernel_permille = 4000 / ranks,
        .transfer_factor = 1,
        .window_start = window_origin,
    };
    if (timeline->ranks == NULL)
        return false;
    rng_seed(&timeline->shared, seed, UINT64_MAX);
    for (int i = 0; i < ranks; i++) {
        struct rank_clock *rank = &timeline->ranks[i];
        rng_seed(&rank->rng, seed, (uint64_t)(first + i));
        rank->host = window_origin + 700000 + rng_below(&rank->rng, 250000);
        rank->host_permille = 1000;
        rank->allocated = memory_weights;
        rank->sequence = -1;
        rank->external_ids = 1024;
        rank->correlations = 52000 + rng_below(&rank->rng, 9000);
        rank->buffer_full = true;
    }
    return true;
}

bool timeline_init(struct timeline *timeline, int ranks, uint64_t seed, int late_rank)
{
    if (!timeline_init_some(timeline, 0, ranks, seed))
        return false;
    if (late_rank >= 0)
        timeline->ranks[late_rank].host_permille = 1120;
    return true;
}

void timeline_free(struct timeline *timeline)
{
    for (int i = 0; i < timeline->rank_count; i++)
        free(timeline->ranks[i].batch.events);
    free(timeline->ranks);
}

/* Python code between two operators. */
static void run_python(struct rank_clock *rank, int64_t ns)
{
    rank->host += host_cost(rank, ns);
}

int64_t timeline_end(const struct rank_clock *rank)
{
    int64_t end = rank->host;
    for (int i = 0; i < STREAM_COUNT; i++)
        end = later(end, rank->ready[i]);
    return end;
}

/* ---- operators --------------------------------------------------------------------------- */

static size_t open_level(struct rank_clock *rank, enum event_kind kind, int detail, int level)
{
    struct event *event = batch_add(&rank->batch);
    event->kind = (uint8_t)kind;
    event->detail = (uint8_t)detail;
    event->level = (uint8_t)level;
    event->start = rank->host;
    event->external_id = ++rank->external_ids;
    event->index = rank->indices++;
    if (kind == EVENT_OP)
        event->sequence = rank->sequence;
    rank->op_external[rank->op_count++] = event->external_id;
    rank->host += host_cost(rank, LEVEL_ENTER);
    return rank->batch.count - 1;
}

static void close_level(struct rank_clock *rank, size_t at)
{
    rank->host += host_cost(rank, LEVEL_LEAVE);
    struct event *event = &rank->batch.events[at];
    event->duration = rank->host - event->start;
    rank->op_count--;
}

/* Operators never span a batch, so the places of the open ones stay valid. */
struct open_op {
    size_t places[OP_LEVELS];
    int levels;
};

static struct open_op open_op(struct rank_clock *rank, enum op op)
{
    const struct op_desc *desc = &op_table[op];
    struct open_op open = {.levels = 0};
    run_python(rank, PYTHON_GAP);
    while (open.levels < OP_LEVELS && desc->levels[open.levels].name != NULL) {
        open.places[open.levels] = open_level(rank, EVENT_OP, (int)op, open.levels);
        open.levels++;
    }
    if (desc->host_ns + rank->faults.dispatch_ns != 0)
        rank->host += host_cost(rank, desc->host_ns + rank->faults.dispatch_ns);
    return open;
}

static void close_op(struct rank_clock *rank, const struct open_op *open)
{
    for (int level = open->levels; level > 0; level--)
        close_level(rank, open->places[level - 1]);
    if (rank->sequence >= 0)
        rank->sequence++;
}

/* ---- calls and device activities --------------------------------------------------------- */

/* Returns the correlation id that ties the call to its device activity. */
static uint32_t record_call(struct rank_clock *rank, enum api api, int64_t start, int64_t end)
{
    struct event *event = batch_add(&rank->batch);
    event->kind = EVENT_CALL;
    event->detail = (uint8_t)api;
    event->start = start;
    event->duration = end - start;
    event->external_id = rank->op_count > 0 ? rank->op_external[rank->op_count - 1] : 0;
    event->correlation = ++rank->correlations;
    return event->correlation;
}

static uint32_t host_call(struct rank_clock *rank, enum api api, int64_t ns)
{
    const int64_t start = rank->host;
    rank->host += host_cost(rank, ns);
    const uint32_t correlation = record_call(rank, api, start, rank->host);
    rank->host += 110;
    return correlation;
}

/* The driver makes the host wait when too many launches are queued. */
static void launch_call(struct rank_clock *rank, enum api api)
{
    const int64_t start = rank->host;
    const int64_t oldest = rank->queue[rank->launches % LAUNCH_QUEUE];
    rank->host = later(rank->host + host_cost(rank, LAUNCH_CALL), oldest);
    const uint32_t every = rank->faults.buffer_every;
    if (rank->buffer_full || (every != 0 && rank->launches % every == 0)) {
        struct event *event = batch_add(&rank->batch);
        event->kind = EVENT_OVERHEAD;
        event->name = "Activity Buffer Request";
        event->start = start + 1200;
        event->duration = host_cost(rank, BUFFER_REQUEST);
        rank->host = later(rank->host, event->start + event->duration + 900);
        rank->buffer_full = false;
    }
    record_call(rank, api, start, rank->host);
}

static void queue_start(struct rank_clock *rank, int64_t start)
{
    rank->queue[rank->launches++ % LAUNCH_QUEUE] = start;
}

static int64_t earliest_start(struct rank_clock *rank, enum stream stream)
{
    const int64_t launched = rank->host + rng_jitter(&rank->rng, LAUNCH_LATENCY, 120);
    return later(launched, rank->ready[stream] + rng_jitter(&rank->rng, STREAM_GAP, 120));
}

/* Extends the projections of the open ranges and the work of the stream. */
static void occupy_stream(struct rank_clock *rank, enum stream stream, int64_t start, int64_t end)
{
    rank->ready[stream] = later(rank->ready[stream], end);
    for (int i = 0; i < rank->range_count; i++) {
        struct range *range = &rank->ranges[i];
        if (range->last[stream] == 0)
            range->first[stream] = start;
        range->last[stream] = later(range->last[stream], end);
    }
}

/* The activity that the last recorded call has started. */
static struct event *add_activity(struct rank_clock *rank, enum event_kind kind, int detail,
                                  enum stream stream)
{
    const struct event *call = &rank->batch.events[rank->batch.count - 1];
    const uint32_t external_id = call->external_id;
    const uint32_t correlation = call->correlation;
    struct event *event = batch_add(&rank->batch);
    event->kind = (uint8_t)kind;
    event->detail = (uint8_t)detail;
    event->track = stream_number[stream];
    event->external_id = external_id;
    event->correlation = correlation;
    return event;
}

static bool is_lost(struct rank_clock *rank)
{
    const uint32_t number = rank->kernels++;
    return number < rank->faults.lost_first || number % 10 < rank->faults.lost_of_10;
}

static void launch_kernel(struct rank_clock *rank, enum kernel kernel, int64_t duration)
{
    launch_call(rank, kernel_table[kernel].launched_by);
    const int64_t start = earliest_start(rank, STREAM_COMPUTE);
    struct event *event = add_activity(rank, EVENT_KERNEL, (int)kernel, STREAM_COMPUTE);
    event->start = start;
    event->duration = rng_jitter(&rank->rng, duration, KERNEL_JITTER);
    const int64_t end = start + event->duration;
    event->start -= rank->faults.shift_ns;
    if (is_lost(rank))
        rank->batch.count--;
    queue_start(rank, start);
    occupy_stream(rank, STREAM_COMPUTE, start, end);
}

void timeline_malloc(struct rank_clock *rank, int64_t ns)
{
    host_call(rank, API_MALLOC, ns);
}

void timeline_allocate(struct rank_clock *rank, int64_t bytes)
{
    rank->allocated += bytes;
    struct event *event = batch_add(&rank->batch);
    event->kind = EVENT_MEMORY;
    event->start = rank->host;
    event->value = bytes;
    event->total = rank->allocated;
    event->index = rank->indices++;
    rank->host += 140;
}

void timeline_op(struct timeline *timeline, struct rank_clock *rank, enum op op, int permille)
{
    const struct op_desc *desc = &op_table[op];
    const struct open_op open = open_op(rank, op);
    if (desc->output_bytes != 0)
        timeline_allocate(rank, desc->output_bytes);
    for (int i = 0; i < OP_KERNELS && desc->kernels[i] != KERNEL_NONE; i++) {
        const int64_t usual = kernel_table[desc->kernels[i]].mean_ns * timeline->kernel_permille;
        launch_kernel(rank, desc->kernels[i], later(usual / 1000 * permille / 1000, 1400));
    }
    close_op(rank, &open);
    if (desc->output_bytes != 0)
        timeline_allocate(rank, -desc->output_bytes);
}

/* ---- copies and waiting ------------------------------------------------------------------ */

void timeline_synchronize(struct rank_clock *rank, enum stream stream)
{
    const int64_t start = rank->host;
    const int64_t done = rank->ready[stream] + SYNC_RETURN;
    rank->host = later(start + host_cost(rank, EVENT_API_CALL), done);
    const enum api api = stream == STREAM_COPY ? API_EVENT_SYNCHRONIZE : API_STREAM_SYNCHRONIZE;
    record_call(rank, api, start, rank->host);
    rank->host += 150;
}

void timeline_wait_stream(struct rank_clock *rank, enum stream stream, enum stream after)
{
    host_call(rank, API_EVENT_RECORD, EVENT_API_CALL);
    host_call(rank, API_STREAM_WAIT_EVENT, EVENT_API_CALL);
    rank->ready[stream] = later(rank->ready[stream], rank->ready[after]);
}

void timeline_copy(struct rank_clock *rank, const struct copy *copy)
{
    const struct open_op open = open_op(rank, copy->op);
    const int64_t called = rank->host;
    rank->host += host_cost(rank, COPY_CALL);
    const int64_t start = earliest_start(rank, copy->stream);
    const int64_t usual = COPY_SETUP + copy->bytes * 1000 / copy_table[copy->kind].bytes_per_us;
    const int64_t duration = rng_jitter(&rank->rng, usual, 2 * KERNEL_JITTER);
    /* From pageable memory the call itself returns when the last staging buffer is on its way. */
    if (copy->kind == COPY_HTOD_PAGEABLE && copy->bytes > 65536)
        rank->host = later(rank->host, start + duration + 700);
    record_call(rank, API_MEMCPY_ASYNC, called, rank->host);
    rank->host += 160;
    struct event *event = add_activity(rank, EVENT_COPY, (int)copy->kind, copy->stream);
    event->start = start;
    event->duration = duration;
    event->value = copy->bytes;
    occupy_stream(rank, copy->stream, start, start + duration);
    if (copy->synchronize)
        timeline_synchronize(rank, copy->stream);
    close_op(rank, &open);
}

void timeline_watchdog(struct rank_clock *rank)
{
    const int64_t start = rank->host - 9000 - rng_below(&rank->rng, 60000);
    record_call(rank, API_EVENT_QUERY, start, start + 900 + rng_below(&rank->rng, 1400));
    struct event *event = &rank->batch.events[rank->batch.count - 1];
    event->external_id = 0;
    event->track = THREAD_WATCHDOG;
}

/* ---- ranges ------------------------------------------------------------------------------ */

static struct event *add_range(struct rank_clock *rank, enum event_kind kind, const char *name,
                               int number, uint32_t external_id)
{
    struct event *event = batch_add(&rank->batch);
    event->kind = (uint8_t)kind;
    event->name = name;
    event->number = number;
    event->external_id = external_id;
    return event;
}

/* Kineto starts a projection 1 ns before its first kernel and ends it 1 ns after its last. */
static void project(struct rank_clock *rank, const struct range *range, enum stream stream)
{
    struct event *event =
        add_range(rank, EVENT_GPU_RANGE, range->name, range->number, range->external_id);
    event->track = stream_number[stream];
    event->start = range->first[stream] - 1;
    event->duration = range->last[stream] - range->first[stream] + 2;
}

void timeline_range_begin(struct rank_clock *rank, const char *name, int number)
{
    rank->host += host_cost(rank, 2 * LEVEL_ENTER);
    rank->ranges[rank->range_count++] = (struct range){
        .start = rank->host,
        .name = name,
        .number = number,
        .external_id = ++rank->external_ids,
        .index = rank->indices++,
    };
    rank->host += host_cost(rank, LEVEL_ENTER);
}

void timeline_range_end(struct rank_clock *rank)
{
    rank->host += host_cost(rank, LEVEL_LEAVE);
    const struct range *range = &rank->ranges[--rank->range_count];
    struct event *event =
        add_range(rank, EVENT_RANGE, range->name, range->number, range->external_id);
    event->start = range->start;
    event->duration = rank->host - range->start;
    event->index = range->index;
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        if (range->last[stream] != 0)
            project(rank, range, (enum stream)stream);
    }
    rank->host += 300;
}

/* ---- collectives ------------------------------------------------------------------------- */

/* The launch of the NCCL kernel, inside the range that ProcessGroupNCCL opens around it. */
static void launch_collective(struct rank_clock *rank, const struct collective_desc *desc)
{
    const uint32_t range_id = ++rank->external_ids;
    const uint32_t range_index = rank->indices++;
    const int64_t range_start = rank->host;
    rank->host += host_cost(rank, LEVEL_ENTER);
    timeline_wait_stream(rank, STREAM_NCCL, STREAM_COMPUTE);
    launch_call(rank, kernel_table[desc->kernel].launched_by);
    const struct event *call = &rank->batch.events[rank->batch.count - 1];
    rank->pending = (struct pending_collective){
        .arrival = earliest_start(rank, STREAM_NCCL),
        .correlation = call->correlation,
        .external_id = call->external_id,
        .range_id = range_id,
    };
    queue_start(rank, rank->pending.arrival);
    rank->host += host_cost(rank, LEVEL_LEAVE);
    struct event *range = add_range(rank, EVENT_RANGE, desc->range, -1, range_id);
    range->start = range_start;
    range->duration = rank->host - range_start;
    range->index = range_index;
}

void timeline_join(struct rank_clock *rank, enum collective collective)
{
    const struct collective_desc *desc = &collective_table[collective];
    const struct open_op open = open_op(rank, desc->op);
    const size_t comms = open_level(rank, EVENT_COMMS_OP, (int)collective, open.levels);
    rank->batch.events[comms].value = ++rank->collectives[desc->dimension];
    rank->host += host_cost(rank, COMMS_SETUP);
    launch_collective(rank, desc);
    rank->host += host_cost(rank, COMMS_SETUP / 4);
    close_level(rank, comms);
    close_op(rank, &open);
    host_call(rank, API_STREAM_WAIT_EVENT, EVENT_API_CALL);
}

void timeline_leave(struct rank_clock *rank, enum collective collective, int64_t end)
{
    const struct collective_desc *desc = &collective_table[collective];
    const struct pending_collective *pending = &rank->pending;
    struct event *event = batch_add(&rank->batch);
    event->kind = EVENT_COLLECTIVE;
    event->detail = (uint8_t)collective;
    event->track = stream_number[STREAM_NCCL];
    event->external_id = pending->external_id;
    event->correlation = pending->correlation;
    event->start = pending->arrival;
    event->duration = end - pending->arrival;
    event->value = rank->collectives[desc->dimension];
    occupy_stream(rank, STREAM_NCCL, pending->arrival, end);
    rank->ready[STREAM_COMPUTE] = later(rank->ready[STREAM_COMPUTE], end);
    const struct range range = {
        .name = desc->range,
        .number = -1,
        .external_id = pending->range_id,
        .first[STREAM_NCCL] = pending->arrival,
        .last[STREAM_NCCL] = end,
    };
    project(rank, &range, STREAM_NCCL);
}

void timeline_collective(struct timeline *timeline, enum collective collective)
{
    const struct collective_desc *desc = &collective_table[collective];
    struct rank_clock *last = &timeline->ranks[0];
    for (int i = 0; i < timeline->rank_count; i++) {
        struct rank_clock *rank = &timeline->ranks[i];
        timeline_join(rank, collective);
        if (rank->pending.arrival > last->pending.arrival)
            last = rank;
    }
    const int64_t end =
        last->pending.arrival +
        rng_jitter(&timeline->shared, desc->transfer_ns * timeline->transfer_factor, 40);
    for (int i = 0; i < timeline->rank_count; i++)
        timeline_leave(&timeline->ranks[i], collective, end);
    last->last_arrivals++;
    timeline->collective_count++;
}
