/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each rank does, as lists of operators; the two variants differ only in this file. */
#include "workload.h"

#include <stddef.h>

enum {
    TEXT_LAYERS = 4,
    DECODE_CHUNKS = 4,    /* the VAE decodes a block of latents in parts */
    WINDOW_BLOCKS = 6,    /* the KV cache keeps so many blocks, then it slides */
    CACHE_PERMILLE = 330, /* attention time added by each cached block */
    LATE_FACTOR = 2,      /* bytes of the late rank's conditioning against the others */
};

const char *const plant_names[PLANT_COUNT] = {
    [PLANT_NONE] = "none",
    [PLANT_UNFUSED_ATTENTION] = "unfused-attention",
    [PLANT_FP32] = "fp32",
    [PLANT_THIN_MATRIX] = "thin-matrix",
    [PLANT_THIN_VECTOR] = "thin-vector",
    [PLANT_ROW_VECTOR] = "row-vector",
    [PLANT_CASTS] = "casts",
    [PLANT_NARROW] = "narrow",
    [PLANT_ALLOCATION] = "allocation",
    [PLANT_SLOW_DISPATCH] = "slow-dispatch",
    [PLANT_SYNC] = "sync",
    [PLANT_VALUE_READ] = "value-read",
    [PLANT_PAGEABLE] = "pageable",
    [PLANT_SLOW_INPUT] = "slow-input",
    [PLANT_SLOW_LINK] = "slow-link",
    [PLANT_LOST_KERNELS] = "lost-kernels",
    [PLANT_CLOCK_SHIFT] = "clock-shift",
    [PLANT_BUFFERS] = "buffers",
};

static const int64_t weight_bytes = INT64_C(6881280);
static const int64_t cache_bytes = INT64_C(3594240);
static const int64_t chunk_bytes = INT64_C(1198080);

/* Operator lists; OP_LIST_END ends each. */
/* clang-format off */
static const uint8_t eager_before_attention[] = {
    OP_LAYER_NORM, OP_SCALE, OP_SHIFT, OP_LINEAR_QKV, OP_RMS_POW, OP_RMS_MEAN,
    OP_RMS_SCALE, OP_ROPE_MUL, OP_ROPE_CAT, OP_LIST_END,
};
static const uint8_t eager_after_attention[] = {
    OP_LINEAR_OUT, OP_GATE, OP_RESIDUAL, OP_LINEAR_CROSS, OP_ATTENTION_CROSS,
    OP_LINEAR_CROSS, OP_RESIDUAL, OP_LAYER_NORM, OP_SCALE, OP_SHIFT,
    OP_LINEAR_UP, OP_GELU, OP_LINEAR_DOWN, OP_GATE, OP_RESIDUAL,
    OP_LIST_END,
};
static const uint8_t eager_scheduler[] = {
    OP_SCHED_SUB, OP_SCHED_MUL, OP_SCHED_ADD, OP_SCHED_MUL, OP_SCHED_ADD, OP_LIST_END,
};
static const uint8_t fused_before_attention[] = {
    OP_FUSED_NORM, OP_LINEAR_QKV, OP_FUSED_RMS, OP_FUSED_ROPE, OP_LIST_END,
};
static const uint8_t fused_after_attention[] = {
    OP_LINEAR_OUT, OP_FUSED_RESIDUAL, OP_LINEAR_CROSS, OP_ATTENTION_CROSS, OP_LINEAR_CROSS,
    OP_RESIDUAL, OP_FUSED_NORM, OP_LINEAR_UP, OP_GELU, OP_LINEAR_DOWN,
    OP_FUSED_RESIDUAL, OP_LIST_END,
};
static const uint8_t fused_scheduler[] = { OP_FUSED_SCHEDULER, OP_LIST_END };
static const uint8_t text_layer[] = {
    OP_LINEAR_TEXT, OP_TEXT_SCORES, OP_SOFTMAX, OP_TEXT_SCORES, OP_LINEAR_TEXT,
    OP_TEXT_ADD, OP_LINEAR_TEXT, OP_TEXT_GELU, OP_LINEAR_TEXT, OP_TEXT_ADD,
    OP_LIST_END,
};
static const uint8_t decode_chunk[] = {
    OP_CONV_WIDE, OP_GROUP_NORM, OP_SILU, OP_CONV_WIDE, OP_GROUP_NORM, OP_SILU, OP_CONV_WIDE,
    OP_UPSAMPLE, OP_CONV_NARROW, OP_GROUP_NORM, OP_SILU, OP_CONV_NARROW, OP_UPSAMPLE,
    OP_CONV_NARROW, OP_GROUP_NORM, OP_SILU, OP_CONV_NARROW, OP_CLAMP, OP_TO_UINT8, OP_LIST_END,
};
static const uint8_t unfused_attention[] = {
    OP_TEXT_SCORES, OP_SOFTMAX, OP_TEXT_SCORES, OP_LIST_END,
};
static const uint8_t load_conditioning[] = { OP_LOAD_BATCH, OP_STACK, OP_LIST_END };
static const uint8_t preprocess_conditioning[] = {
    OP_LOAD_BATCH, OP_RESIZE_HOST, OP_RESIZE_HOST, OP_STACK, OP_LIST_END,
};
/* clang-format on */

struct job {
    const struct workload *load;
    struct timeline *timeline;
    workload_flush *flush;
    void *context;
    int block;
};

/* What runs in place of an operator. */
static enum op planted_op(enum plant plant, enum op op)
{
    if (plant == PLANT_FP32 && (op == OP_LINEAR_UP || op == OP_LINEAR_DOWN))
        return OP_LINEAR_FP32;
    return plant == PLANT_NARROW && op == OP_LINEAR_OUT ? OP_LINEAR_NARROW : op;
}

/* What runs after each projection, and how often. */
struct more {
    enum op op;
    int times;
};

static struct more planted_more(enum plant plant)
{
    static const struct more more[PLANT_COUNT] = {
        [PLANT_CASTS] = {OP_CAST, 2},
        [PLANT_THIN_MATRIX] = {OP_LINEAR_THIN_MATRIX, 6},
        [PLANT_THIN_VECTOR] = {OP_LINEAR_THIN_VECTOR, 6},
        [PLANT_ROW_VECTOR] = {OP_LINEAR_ROW_VECTOR, 6},
    };
    return more[plant];
}

static void run_ops(struct job *job, struct rank_clock *rank, const uint8_t *ops)
{
    for (; *ops != OP_LIST_END; ops++) {
        const enum op op = planted_op(job->load->plant, *ops);
        timeline_op(job->timeline, rank, op, 1000);
        const struct more more = planted_more(job->load->plant);
        for (int i = 0; *ops == OP_LINEAR_OUT && i < more.times; i++)
            timeline_op(job->timeline, rank, more.op, 1000);
    }
}

static void run_ops_on_all(struct job *job, const uint8_t *ops)
{
    for (int i = 0; i < job->load->ranks; i++)
        run_ops(job, &job->timeline->ranks[i], ops);
}

static void begin_on_all(struct job *job, const char *name, int number)
{
    for (int i = 0; i < job->load->ranks; i++)
        timeline_range_begin(&job->timeline->ranks[i], name, number);
}

static void end_on_all(struct job *job)
{
    for (int i = 0; i < job->load->ranks; i++)
        timeline_range_end(&job->timeline->ranks[i]);
}

static bool flush(struct job *job, bool end_of_block)
{
    return job->flush(job->context, job->timeline, end_of_block);
}

/* ---- conditioning and weights: where the variants differ most ----------------------------- */

/* Eager: from pageable memory on the compute stream, which has to wait for the bytes. */
static void upload_eager(struct job *job, struct rank_clock *rank, bool late)
{
    const struct copy timestep = {OP_COPY_TIMESTEP, COPY_HTOD_PAGEABLE, STREAM_COMPUTE, 8, true};
    timeline_copy(rank, &timestep);
    const struct copy weights = {OP_COPY_WEIGHTS, COPY_HTOD_PAGEABLE, STREAM_COMPUTE,
                                 weight_bytes * (late ? LATE_FACTOR : 1), true};
    timeline_copy(rank, &weights);
    if (late)
        run_ops(job, rank, preprocess_conditioning);
}

/* Optimized: the weights of the next step, pinned, on their own stream while the compute runs. */
static void upload_overlapped(struct rank_clock *rank)
{
    timeline_wait_stream(rank, STREAM_COMPUTE, STREAM_COPY);
    const struct copy timestep = {OP_COPY_TIMESTEP, COPY_HTOD_PINNED, STREAM_COPY, 8, false};
    timeline_copy(rank, &timestep);
    const struct copy weights = {OP_COPY_WEIGHTS, COPY_HTOD_PINNED, STREAM_COPY, weight_bytes,
                                 false};
    timeline_copy(rank, &weights);
}

/* As overlapped, but from pageable memory, and the compute stream has to wait for the bytes. */
static void upload_pageable(struct rank_clock *rank)
{
    const struct copy weights = {OP_COPY_WEIGHTS, COPY_HTOD_PAGEABLE, STREAM_COMPUTE, weight_bytes,
                                 false};
    timeline_copy(rank, &weights);
}

static void upload(struct job *job)
{
    for (int i = 0; i < job->load->ranks; i++) {
        struct rank_clock *rank = &job->timeline->ranks[i];
        for (int batch = 0; job->load->plant == PLANT_SLOW_INPUT && batch < 100; batch++)
            timeline_op(job->timeline, rank, OP_LOAD_BATCH, 1000);
        if (job->load->plant == PLANT_PAGEABLE)
            upload_pageable(rank);
        else if (job->load->optimized)
            upload_overlapped(rank);
        else
            upload_eager(job, rank, i == job->load->late_rank);
    }
}

/* ---- stages -------------------------------------------------------------------------------- */

/* The text encoder runs outside torch.no_grad(), so its operators have sequence numbers. */
static void encode_text(struct job *job)
{
    begin_on_all(job, "text_encode", -1);
    timeline_collective(job->timeline, COLLECTIVE_BROADCAST_PROMPT);
    for (int i = 0; i < job->load->ranks; i++) {
        struct rank_clock *rank = &job->timeline->ranks[i];
        rank->sequence = 0;
        timeline_op(job->timeline, rank, OP_EMBEDDING, 1000);
        for (int layer = 0; layer < TEXT_LAYERS; layer++)
            run_ops(job, rank, text_layer);
        rank->sequence = -1;
    }
    end_on_all(job);
    flush(job, false);
}

static int attention_permille(const struct job *job)
{
    const int cached = job->block < WINDOW_BLOCKS - 1 ? job->block : WINDOW_BLOCKS - 1;
    return 1000 + cached * CACHE_PERMILLE;
}

/* A DtoH copy of one number that the host waits for. */
static void read_item(struct rank_clock *rank)
{
    const struct copy item = {OP_ITEM, COPY_DTOH_PAGEABLE, STREAM_COMPUTE, 4, true};
    timeline_copy(rank, &item);
}

/* Eager code reads the end of the KV cache with .item(), in every layer. */
static void attend(struct job *job)
{
    const struct copy cache = {OP_COPY_CACHE, COPY_DTOD, STREAM_COMPUTE, cache_bytes, false};
    for (int i = 0; i < job->load->ranks; i++) {
        struct rank_clock *rank = &job->timeline->ranks[i];
        if (!job->load->optimized || job->load->plant == PLANT_VALUE_READ)
            read_item(rank);
        if (job->load->plant == PLANT_SYNC)
            timeline_synchronize(rank, STREAM_COMPUTE);
        timeline_copy(rank, &cache);
        const int permille = attention_permille(job);
        if (job->load->plant != PLANT_UNFUSED_ATTENTION) {
            timeline_op(job->timeline, rank, OP_ATTENTION, permille);
            continue;
        }
        for (const uint8_t *op = unfused_attention; *op != OP_LIST_END; op++)
            timeline_op(job->timeline, rank, *op, 3 * permille);
    }
}

/* Ulysses: tokens are split outside attention, heads inside it. */
static void run_layer(struct job *job)
{
    const bool fused = job->load->optimized;
    run_ops_on_all(job, fused ? fused_before_attention : eager_before_attention);
    timeline_collective(job->timeline, COLLECTIVE_QKV_TO_HEADS);
    attend(job);
    timeline_collective(job->timeline, COLLECTIVE_HEADS_TO_TOKENS);
    run_ops_on_all(job, fused ? fused_after_attention : eager_after_attention);
}

/* Eager code reads sigma with .item(), too. */
static void schedule_step(struct job *job)
{
    run_ops_on_all(job, job->load->optimized ? fused_scheduler : eager_scheduler);
    for (int i = 0; i < job->load->ranks; i++) {
        if (!job->load->optimized)
            read_item(&job->timeline->ranks[i]);
        if (job->load->plant == PLANT_ALLOCATION)
            timeline_malloc(&job->timeline->ranks[i], 20000000);
        timeline_watchdog(&job->timeline->ranks[i]);
    }
}

static void denoise(struct job *job)
{
    begin_on_all(job, "denoise_block_", job->block);
    for (int step = 0; step < job->load->steps; step++) {
        begin_on_all(job, "denoise_step_", step);
        upload(job);
        for (int layer = 0; layer < job->load->layers; layer++)
            run_layer(job);
        schedule_step(job);
        end_on_all(job);
        flush(job, false);
    }
    end_on_all(job);
}

/* Keeps the clean block as context for the next one; grows until the window is full. */
static void update_cache(struct job *job)
{
    const struct copy cache = {OP_COPY_CACHE, COPY_DTOD, STREAM_COMPUTE, 2 * cache_bytes, false};
    begin_on_all(job, "update_kv_cache", -1);
    for (int i = 0; i < job->load->ranks; i++) {
        struct rank_clock *rank = &job->timeline->ranks[i];
        if (job->block < WINDOW_BLOCKS)
            timeline_allocate(rank, job->load->layers * 2 * cache_bytes);
        for (int layer = 0; layer < job->load->layers; layer++)
            timeline_copy(rank, &cache);
    }
    end_on_all(job);
}

/* Each rank decodes its tile. Overlapped, the frames of a chunk leave while the next chunk is
 * computed. */
static void decode(struct job *job)
{
    const bool overlapped = job->load->optimized;
    const struct copy frames = {
        OP_COPY_FRAMES,
        overlapped ? COPY_DTOH_PINNED : COPY_DTOH_PAGEABLE,
        overlapped ? STREAM_COPY : STREAM_COMPUTE,
        chunk_bytes,
        !overlapped,
    };
    begin_on_all(job, "vae_decode", -1);
    timeline_collective(job->timeline, COLLECTIVE_GATHER_LATENTS);
    for (int i = 0; i < job->load->ranks; i++) {
        struct rank_clock *rank = &job->timeline->ranks[i];
        for (int chunk = 0; chunk < DECODE_CHUNKS; chunk++) {
            run_ops(job, rank, decode_chunk);
            if (overlapped)
                timeline_wait_stream(rank, STREAM_COPY, STREAM_COMPUTE);
            timeline_copy(rank, &frames);
        }
        timeline_synchronize(rank, overlapped ? STREAM_COPY : STREAM_COMPUTE);
    }
    end_on_all(job);
}

static void prepare(struct job *job)
{
    begin_on_all(job, "prepare_conditioning", -1);
    for (int i = 0; i < job->load->ranks; i++) {
        struct rank_clock *rank = &job->timeline->ranks[i];
        run_ops(job, rank, load_conditioning);
        for (int extra = 0; i == job->load->late_rank && extra < 3; extra++)
            run_ops(job, rank, preprocess_conditioning);
    }
    end_on_all(job);
}

static void plant_faults(const struct workload *workload, struct timeline *timeline)
{
    static const struct faults faults[PLANT_COUNT] = {
        [PLANT_SLOW_DISPATCH] = {.dispatch_ns = 90000},
        [PLANT_LOST_KERNELS] = {.lost_first = 60, .lost_of_10 = 7},
        [PLANT_CLOCK_SHIFT] = {.shift_ns = 400000},
        [PLANT_BUFFERS] = {.buffer_every = 64},
    };
    if (workload->plant == PLANT_SLOW_LINK)
        timeline->transfer_factor = 12;
    for (int i = 0; i < workload->ranks; i++)
        timeline->ranks[i].faults = faults[workload->plant];
}

void workload_run(const struct workload *workload, struct timeline *timeline,
                  workload_flush *receiver, void *context)
{
    struct job job = {workload, timeline, receiver, context, 0};
    bool more = true;
    plant_faults(workload, timeline);
    for (; more; job.block++) {
        begin_on_all(&job, "ProfilerStep#", job.block);
        if (job.block == 0)
            encode_text(&job);
        prepare(&job);
        denoise(&job);
        update_cache(&job);
        decode(&job);
        end_on_all(&job);
        for (int i = 0; i < workload->ranks; i++)
            timeline->ranks[i].buffer_full = true;
        more = flush(&job, true) && job.block + 1 < workload->blocks;
    }
}
