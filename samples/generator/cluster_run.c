/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program of the ranks, made of segments between collectives, and what it is run for. */
#include "cluster_crew.h"

#include <stdlib.h>

enum {
    BLOCK_STEPS = 4,     /* denoising steps of a block */
    FAST_PERMILLE = 900, /* kernels of a pseudo-fast rank */
    LOST_OF_10 = 3,
    TRIAL_STEPS = 4,
};

const char *const cause_names[CAUSE_COUNT] = {"kernels",     "copy",      "host",     "sync",
                                              "pseudo-fast", "attention", "throttle", "pauses"};

static const uint8_t before_attention[] = {OP_FUSED_NORM, OP_LINEAR_QKV, OP_FUSED_ROPE,
                                           OP_LIST_END};
static const uint8_t after_attention[] = {OP_LINEAR_OUT, OP_LIST_END};
static const uint8_t before_sum[] = {OP_FUSED_RESIDUAL, OP_LINEAR_UP, OP_GELU, OP_LINEAR_DOWN,
                                     OP_LIST_END};
static const uint8_t after_sum[] = {OP_RESIDUAL, OP_LIST_END};

/* ---- faults -------------------------------------------------------------------------------- */

static const struct straggler *straggler_of(const struct crew *crew, int number)
{
    const struct cluster *cluster = crew->cluster;
    for (int i = 0; i < cluster->straggler_count; i++) {
        const struct straggler *straggler = &cluster->stragglers[i];
        if (straggler->rank == number && straggler->from_step <= crew->step)
            return straggler;
    }
    return NULL;
}

static bool is_late(const struct straggler *straggler, enum cause cause)
{
    return straggler && straggler->cause == cause;
}

static int kernel_permille(const struct crew *crew, int number)
{
    const struct straggler *straggler = straggler_of(crew, number);
    if (is_late(straggler, CAUSE_KERNELS))
        return 1000 + 10 * straggler->percent;
    if (is_late(straggler, CAUSE_THROTTLE))
        return crew->step / 2 % 2 ? 1000 + 20 * straggler->percent : 1000;
    return is_late(straggler, CAUSE_PSEUDO_FAST) ? FAST_PERMILLE : 1000;
}

static int attention_permille(const struct crew *crew, int number)
{
    const struct straggler *straggler = straggler_of(crew, number);
    return is_late(straggler, CAUSE_ATTENTION) ? 1000 + 10 * straggler->percent
                                               : kernel_permille(crew, number);
}

/* Faults draw no numbers, so a run without them is the same but for what they delay. */
static void plant_in_step(struct crew *crew, struct rank_clock *rank, int number)
{
    const struct straggler *straggler = straggler_of(crew, number);
    if (straggler == NULL)
        return;
    const struct rng before = rank->rng;
    const int64_t lost = crew->cluster->step_ns / 100 * straggler->percent;
    const struct copy copy = {OP_COPY_WEIGHTS, COPY_HTOD_PAGEABLE, STREAM_COMPUTE,
                              lost * copy_table[COPY_HTOD_PAGEABLE].bytes_per_us / 1000, true};
    if (straggler->cause == CAUSE_COPY)
        timeline_copy(rank, &copy);
    if (straggler->cause == CAUSE_HOST || straggler->cause == CAUSE_PSEUDO_FAST)
        rank->host += lost;
    if (straggler->cause == CAUSE_PAUSES && crew->step % 3 == 0)
        rank->host += 3 * lost;
    rank->rng = before;
}

static void plant_in_layer(struct crew *crew, struct rank_clock *rank, int number)
{
    const struct straggler *straggler = straggler_of(crew, number);
    if (!is_late(straggler, CAUSE_SYNC))
        return;
    const struct rng before = rank->rng;
    timeline_synchronize(rank, STREAM_COMPUTE);
    rank->host += crew->cluster->step_ns / 100 * straggler->percent / crew->cluster->layers;
    rank->rng = before;
}

/* ---- segments ------------------------------------------------------------------------------ */

typedef void segment(struct crew *crew, struct rank_clock *rank, int number, int argument);

static void run(struct crew *crew, segment *what, int argument)
{
    for (int i = 0; i < crew->count; i++) {
        struct rank_clock *rank = crew_enter(crew, i);
        what(crew, rank, crew->first + i, argument);
        crew_leave(crew, rank);
    }
}

static void run_ops(struct crew *crew, struct rank_clock *rank, int number, const uint8_t *ops)
{
    const int permille = kernel_permille(crew, number);
    for (; *ops != OP_LIST_END; ops++)
        timeline_op(&crew->timeline, rank, *ops, permille);
}

static void begin_step(struct crew *crew, struct rank_clock *rank, int number, int step)
{
    const struct copy timestep = {OP_COPY_TIMESTEP, COPY_HTOD_PINNED, STREAM_COMPUTE, 8, false};
    timeline_range_begin(rank, "ProfilerStep#", step);
    plant_in_step(crew, rank, number);
    timeline_copy(rank, &timestep);
}

static void project_in(struct crew *crew, struct rank_clock *rank, int number, int layer)
{
    (void)layer;
    plant_in_layer(crew, rank, number);
    run_ops(crew, rank, number, before_attention);
}

/* One round of ring attention, or all of attention. */
static void attend(struct crew *crew, struct rank_clock *rank, int number, int round)
{
    const int ring = crew->part->size[DIM_RING];
    if (round < ring)
        timeline_op(&crew->timeline, rank, OP_ATTENTION,
                    CLUSTER_WORK * attention_permille(crew, number) / ring);
}

static void project_out(struct crew *crew, struct rank_clock *rank, int number, int layer)
{
    (void)layer;
    run_ops(crew, rank, number, after_attention);
}

static void expand(struct crew *crew, struct rank_clock *rank, int number, int layer)
{
    (void)layer;
    run_ops(crew, rank, number, before_sum);
}

static void add_up(struct crew *crew, struct rank_clock *rank, int number, int layer)
{
    (void)layer;
    run_ops(crew, rank, number, after_sum);
}

static void schedule(struct crew *crew, struct rank_clock *rank, int number, int step)
{
    (void)step;
    timeline_op(&crew->timeline, rank, OP_FUSED_SCHEDULER, kernel_permille(crew, number));
}

/* The host reads whether to go on, so it is never more than a step ahead. */
static void end_step(struct crew *crew, struct rank_clock *rank, int number, int step)
{
    const struct copy item = {OP_ITEM, COPY_DTOH_PAGEABLE, STREAM_COMPUTE, 4, true};
    (void)number;
    timeline_copy(rank, &item);
    timeline_range_end(rank);
    if (crew->plan != NULL && timeline_end(rank) > crew->plan->step_end[step])
        crew->plan->step_end[step] = timeline_end(rank);
}

/* ---- the program --------------------------------------------------------------------------- */

static int longest_ring(const struct cluster *cluster)
{
    int longest = 1;
    for (int i = 0; i < cluster->part_count; i++) {
        const int ring = cluster->parts[i].size[DIM_RING];
        longest = ring > longest ? ring : longest;
    }
    return longest;
}

static void run_layer(struct crew *crew, int layer)
{
    const int ring = longest_ring(crew->cluster);
    run(crew, project_in, layer);
    crew_meet(crew, COLLECTIVE_QKV_TO_HEADS, 0);
    for (int round = 0; round < ring; round++) {
        run(crew, attend, round);
        for (int half = 0; round < ring - 1 && half < 2; half++)
            crew_meet(crew, COLLECTIVE_SEND, 2 * round + half);
    }
    crew_meet(crew, COLLECTIVE_HEADS_TO_TOKENS, 0);
    run(crew, project_out, layer);
    crew_meet(crew, COLLECTIVE_SUM_PARTS, 0);
    run(crew, expand, layer);
    crew_meet(crew, COLLECTIVE_SUM_PARTS, 0);
    run(crew, add_up, layer);
}

static void run_step(struct crew *crew, int step)
{
    crew->step = step;
    run(crew, begin_step, step);
    for (int layer = 0; layer < crew->cluster->layers; layer++)
        run_layer(crew, layer);
    crew_meet(crew, COLLECTIVE_GATHER_GUIDANCE, 0);
    run(crew, schedule, step);
    if ((step + 1) % BLOCK_STEPS == 0)
        crew_meet(crew, COLLECTIVE_GATHER_DATA, 0);
    crew_meet(crew, COLLECTIVE_AGREE, 0);
    run(crew, end_step, step);
}

static void run_steps(struct crew *crew, int steps, cluster_flush *flush, void *context)
{
    crew->step = -1;
    crew_meet(crew, COLLECTIVE_BROADCAST_PROMPT, 0);
    for (int step = 0; step < steps && !crew->failed; step++) {
        run_step(crew, step);
        struct batch *batch = &crew->timeline.ranks[0].batch;
        if (flush != NULL)
            flush(context, batch);
        batch->count = 0;
    }
}

/* ---- planning and recording ---------------------------------------------------------------- */

static bool begin(struct crew *crew, int first, int count)
{
    const struct cluster *cluster = crew->cluster;
    crew->first = first;
    crew->count = count;
    rng_seed(&crew->transfers, cluster->seed, UINT64_MAX);
    if (!timeline_init_some(&crew->timeline, first, count, cluster->seed))
        return false;
    for (int i = 0; i < count; i++) {
        if (cluster->facts[first + i].lost_kernels)
            crew->timeline.ranks[i].faults.lost_of_10 = LOST_OF_10;
    }
    return true;
}

static bool make_plan(const struct cluster *cluster, int steps, struct plan *plan, bool keep)
{
    enum { FIRST_SLOTS = 256 };
    const size_t ranks = (size_t)cluster->ranks;
    struct crew crew = {.cluster = cluster, .plan = plan, .capacity = FIRST_SLOTS};
    *plan = (struct plan){
        .ranks = cluster->ranks,
        .ends = keep ? calloc(FIRST_SLOTS * ranks, sizeof *plan->ends) : NULL,
        .waited = calloc(ranks, sizeof *plan->waited),
        .last = calloc(ranks, sizeof *plan->last),
        .joined = calloc(ranks, sizeof *plan->joined),
        .step_end = calloc((size_t)steps, sizeof *plan->step_end),
    };
    crew.arrivals = calloc(ranks, sizeof *crew.arrivals);
    bool done = begin(&crew, 0, cluster->ranks) && crew.arrivals && plan->waited && plan->last &&
                plan->joined && plan->step_end && (plan->ends || !keep);
    if (done)
        run_steps(&crew, steps, NULL, NULL);
    plan->slots = crew.slot;
    plan->start = crew.timeline.window_start;
    plan->end = done ? plan->step_end[steps - 1] : 0;
    if (crew.timeline.ranks != NULL)
        timeline_free(&crew.timeline);
    free(crew.scratch.events);
    free(crew.arrivals);
    return done && !crew.failed;
}

void plan_free(struct plan *plan)
{
    free(plan->ends);
    free(plan->waited);
    free(plan->last);
    free(plan->joined);
    free(plan->step_end);
}

/* A step of the cluster without faults, which their sizes refer to. */
static bool find_step(struct cluster *cluster)
{
    struct cluster sound = *cluster;
    struct plan trial;
    sound.straggler_count = sound.slow_link_count = 0;
    const bool done = make_plan(&sound, TRIAL_STEPS, &trial, false);
    if (done)
        cluster->step_ns =
            (trial.step_end[TRIAL_STEPS - 1] - trial.step_end[0]) / (TRIAL_STEPS - 1);
    plan_free(&trial);
    return done;
}

/* The run without one of the stragglers is so much shorter. */
static bool find_costs(struct cluster *cluster, int64_t end)
{
    bool done = true;
    for (int i = 0; done && i < cluster->straggler_count; i++) {
        struct cluster without = *cluster;
        struct plan trial;
        without.stragglers[i].percent = 0;
        without.stragglers[i].from_step = cluster->steps;
        done = make_plan(&without, cluster->steps, &trial, false);
        cluster->stragglers[i].cost = end - trial.end;
        plan_free(&trial);
    }
    return done;
}

bool cluster_plan(struct cluster *cluster, struct plan *plan)
{
    *plan = (struct plan){.ranks = 0};
    return find_step(cluster) && make_plan(cluster, cluster->steps, plan, true) &&
           find_costs(cluster, plan->end);
}

bool cluster_record(const struct cluster *cluster, const struct plan *plan, int rank,
                    cluster_flush *flush, void *context)
{
    struct crew crew = {.cluster = cluster, .known = plan};
    const bool done = begin(&crew, rank, 1);
    if (done)
        run_steps(&crew, cluster->steps, flush, context);
    if (crew.timeline.ranks != NULL)
        timeline_free(&crew.timeline);
    return done;
}
