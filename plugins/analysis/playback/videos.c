/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traced.h"

#include <stdlib.h>

const struct ta_ref playback_reads[PLAYBACK_READS] = {
    [BLOCKS_RANK] = {"diffusion.blocks", "rank"},
    [BLOCKS_VIDEO] = {"diffusion.blocks", "video"},
    [BLOCKS_FRAMES] = {"diffusion.blocks", "frames"},
    [BLOCKS_TIME] = {"diffusion.blocks", "dur_ns"},
    [BLOCKS_END] = {"diffusion.blocks", "end_ns"},
    [VALUES_RANK] = {"throughput.values", "rank"},
    [VALUES_METRIC] = {"throughput.values", "metric"},
    [VALUES_BASIS] = {"throughput.values", "basis"},
    [VALUES_VALUE] = {"throughput.values", "value"},
    [STREAM_RANK] = {"streaming.by_rank", "rank"},
    [STREAM_FRAMES] = {"streaming.by_rank", "frames"},
    [STAGE_RANK] = {"stages.by_name", "rank"},
    [STAGE_NAME] = {"stages.by_name", "stage"},
    [STAGE_CALLS] = {"stages.by_name", "calls"},
    [STAGE_MEAN] = {"stages.by_name", "mean_ns"},
    [EVENT_RANK] = {"run.happenings", "rank"},
    [EVENT_NAME] = {"run.happenings", "name"},
    [EVENT_DATA] = {"run.happenings", "data"},
    [LOOP_RANK] = {"diffusion.loops", "rank"},
    [LOOP_VIDEOS] = {"diffusion.loops", "images"},
    [LOOP_BLOCKS] = {"diffusion.loops", "blocks"},
    [LOOP_FRAMES] = {"diffusion.loops", "frames"},
    [SIZES_RANK] = {"diffusion.tokens", "rank"},
    [SIZES_LATENTS] = {"diffusion.tokens", "latents"},
    [PART_RANK] = {"phases.stages", "rank"},
    [PART_PHASE] = {"phases.stages", "phase"},
    [PART_VIDEO] = {"phases.stages", "image"},
    [PART_GPU_START] = {"phases.stages", "gpu_start_ns"},
    [PART_GPU_TIME] = {"phases.stages", "gpu_dur_ns"},
    [PART_HOST_START] = {"phases.stages", "host_start_ns"},
    [PART_HOST_TIME] = {"phases.stages", "host_dur_ns"},
};

/* Of the records of a rank: blocks [first, end) of the table, and videos among them. */
struct part {
    const struct ta_refs *in;
    int64_t rank;
    size_t first, end;
    size_t n_videos;
};

static bool begins_video(const struct part *part, size_t row)
{
    return row == part->first || ta_ref_integer(part->in, BLOCKS_VIDEO, row) !=
                                     ta_ref_integer(part->in, BLOCKS_VIDEO, row - 1);
}

static size_t video_end(const struct part *part, size_t row)
{
    while (++row < part->end && !begins_video(part, row))
        ;
    return row;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The records tell the ratio where they also have the number of frames of the finished video. */

/* Ratios of the decoders that there are. */
enum { RATIO_MOST = 16 };

struct frames video_ratio(int64_t shown, int64_t recorded, int64_t n)
{
    if (shown >= recorded && recorded > 0 && shown % recorded == 0 &&
        shown / recorded <= RATIO_MOST)
        return (struct frames){shown / recorded, false};
    if (recorded > n && shown > n && (shown - n) % (recorded - n) == 0 &&
        (shown - n) / (recorded - n) <= RATIO_MOST)
        return (struct frames){(shown - n) / (recorded - n), true};
    return (struct frames){TA_MISSING, false};
}

static int64_t recorded_frames(const struct part *part, size_t first, size_t end)
{
    int64_t sum = 0;
    for (size_t i = first; i < end; i++)
        sum = ta_add_sat(sum, ta_ref_integer(part->in, BLOCKS_FRAMES, i));
    return sum;
}

/* Reads the numbers of "output_shape":[1,81,3,480,832]; returns how many there are. */
static size_t read_shape(struct ta_slice data, int64_t *shape, size_t most)
{
    static const char key[] = "\"output_shape\":[";
    size_t n = 0, at = 0;
    while (at < data.len && !ta_slice_starts(ta_slice_from(data, at), key))
        at++;
    for (at += sizeof key - 1; at < data.len && n < most; at++) {
        int64_t value = 0;
        size_t digits = 0;
        for (; at < data.len && digits < 9 && data.ptr[at] >= '0' && data.ptr[at] <= '9'; at++) {
            value = value * 10 + (data.ptr[at] - '0');
            digits++;
        }
        if (digits)
            shape[n++] = value;
        if (at >= data.len || (data.ptr[at] != ',' && data.ptr[at] != ' '))
            break;
    }
    return n;
}

enum { SHAPE_OF_VIDEOS = 5, CHANNELS_MOST = 4 };

/* By the shape of the finished video: number, frames and channels, or channels and frames. */
static struct frames ratio_of_shape(const struct part *part)
{
    const int64_t recorded = recorded_frames(part, part->first, video_end(part, part->first));
    for (size_t i = 0; i < ta_ref_rows(part->in, EVENT_RANK); i++) {
        int64_t shape[SHAPE_OF_VIDEOS];
        if (ta_ref_integer(part->in, EVENT_RANK, i) != part->rank ||
            !ta_ref_reads(part->in, EVENT_NAME, i, "generation_completed") ||
            read_shape(ta_ref_text(part->in, EVENT_DATA, i), shape, SHAPE_OF_VIDEOS) !=
                SHAPE_OF_VIDEOS)
            continue;
        return video_ratio(shape[1] > CHANNELS_MOST ? shape[1] : shape[2], recorded, 1);
    }
    return (struct frames){TA_MISSING, false};
}

/* By the frames that were streamed. */
static struct frames ratio_of_stream(const struct part *part)
{
    int64_t sent = TA_MISSING;
    for (size_t i = 0; i < ta_ref_rows(part->in, STREAM_RANK); i++)
        if (ta_ref_integer(part->in, STREAM_RANK, i) == part->rank)
            ta_sum(&sent, ta_ref_integer(part->in, STREAM_FRAMES, i));
    return sent == TA_MISSING ? (struct frames){TA_MISSING, false}
                              : video_ratio(sent, recorded_frames(part, part->first, part->end),
                                            (int64_t)part->n_videos);
}

static struct frames find_frames(const struct part *part, int64_t asked)
{
    if (asked > 0)
        return (struct frames){asked, false};
    const struct frames by_shape = ratio_of_shape(part);
    return by_shape.ratio != TA_MISSING ? by_shape : ratio_of_stream(part);
}

int64_t video_shown(struct frames frames, int64_t recorded, bool is_first)
{
    if (frames.ratio == TA_MISSING)
        return recorded;
    return is_first && frames.is_causal ? (recorded - 1) * frames.ratio + 1
                                        : recorded * frames.ratio;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Whether every block says its frames and when it ended. */
static bool is_complete(const struct part *part)
{
    for (size_t i = part->first; i < part->end; i++) {
        const int64_t frames = ta_ref_integer(part->in, BLOCKS_FRAMES, i);
        const int64_t dur = ta_ref_integer(part->in, BLOCKS_TIME, i);
        const int64_t end = ta_ref_integer(part->in, BLOCKS_END, i);
        if (frames == TA_MISSING || frames <= 0 || frames > VIDEO_FRAMES_MOST ||
            dur == TA_MISSING || dur <= 0 || end == TA_MISSING)
            return false;
        if (i > part->first && end < ta_ref_integer(part->in, BLOCKS_END, i - 1))
            return false;
    }
    return part->end > part->first;
}

/* From the start of the session to the end of the first block; TA_MISSING where that is not known.
 */
static int64_t first_block(const struct part *part)
{
    for (size_t i = 0; i < ta_ref_rows(part->in, VALUES_RANK); i++)
        if (ta_ref_integer(part->in, VALUES_RANK, i) == part->rank &&
            ta_ref_reads(part->in, VALUES_METRIC, i, "first_block_ns") &&
            ta_ref_reads(part->in, VALUES_BASIS, i, "wall"))
            return ta_whole(ta_ref_number(part->in, VALUES_VALUE, i, NAN));
    return TA_MISSING;
}

/* A decoder that runs after a block leaves at least this part of its time between blocks. */
#define GAP_OF_DECODING 0.5

static double median_gap(const struct part *part, double *gaps)
{
    size_t n = 0;
    for (size_t i = part->first + 1; i < part->end; i++)
        if (!begins_video(part, i))
            gaps[n++] = (double)(ta_ref_integer(part->in, BLOCKS_END, i) -
                                 ta_ref_integer(part->in, BLOCKS_TIME, i) -
                                 ta_ref_integer(part->in, BLOCKS_END, i - 1));
    ta_sort_numbers(gaps, n);
    return ta_quantile(gaps, n, 0.5);
}

/* What a call of the decoder takes that was called so often; NAN without one. */
static double decoder_mean(const struct part *part, int64_t calls)
{
    for (size_t i = 0; i < ta_ref_rows(part->in, STAGE_RANK); i++) {
        const struct ta_slice name = ta_ref_text(part->in, STAGE_NAME, i);
        const double mean = ta_ref_number(part->in, STAGE_MEAN, i, NAN);
        if (ta_ref_integer(part->in, STAGE_RANK, i) == part->rank &&
            ta_ref_integer(part->in, STAGE_CALLS, i) == calls && mean > 0 &&
            ta_slice_has_word(name, "vae") && ta_slice_has_word(name, "decod"))
            return mean;
    }
    return NAN;
}

/* When blocks are decoded: each after it, or all of a video together. */
static double decoding(const struct part *part, double *gaps, enum video_ready *ready)
{
    const int64_t n_blocks = (int64_t)(part->end - part->first);
    const int64_t n_videos = (int64_t)part->n_videos;
    const double of_block = n_blocks > n_videos ? decoder_mean(part, n_blocks) : NAN;
    *ready = READY_WITH_BLOCK;
    if (!isnan(of_block)) {
        /* It may also be part of the block, or run next to the one after it. */
        if (median_gap(part, gaps) >= GAP_OF_DECODING * of_block)
            *ready = READY_DECODED;
        return of_block;
    }
    const double of_video = decoder_mean(part, n_videos);
    if (!isnan(of_video))
        *ready = READY_WITH_VIDEO;
    return of_video;
}

/* ---- videos ---------------------------------------------------------------------------------- */

/* What holds for all videos of a rank. */
struct rank_facts {
    struct frames frames;
    int64_t first_block;
    double decode_ns;
    enum video_ready ready;
};

static void add_video(const struct part *part, const struct rank_facts *facts, size_t first,
                      size_t end, struct videos *out)
{
    struct video *video = &out->at[out->n];
    const struct ta_refs *in = part->in;
    const bool is_first = first == part->first;
    const int64_t starts =
        ta_ref_integer(in, BLOCKS_END, first) - ta_ref_integer(in, BLOCKS_TIME, first);
    *video = (struct video){
        .rank = part->rank,
        .number =
            out->n && out->at[out->n - 1].rank == part->rank ? out->at[out->n - 1].number + 1 : 0,
        .blocks = out->n ? out->at[out->n - 1].blocks + out->at[out->n - 1].n : out->blocks,
        .ends = out->n ? out->at[out->n - 1].ends + out->at[out->n - 1].n : out->ends,
        .n = end - first,
        .ratio = facts->frames.ratio,
        .decode_ns = facts->decode_ns,
        .origin = is_first && facts->first_block != TA_MISSING ? SINCE_SESSION : SINCE_FIRST_BLOCK,
        .ready = facts->ready};
    /* Ends are since the end of the first block of the rank. */
    const int64_t zero = video->origin == SINCE_SESSION ? -facts->first_block : starts;
    const int64_t last = ta_ref_integer(in, BLOCKS_END, end - 1);
    const int64_t decode = facts->ready == READY_WITH_BLOCK ? 0 : ta_whole(facts->decode_ns);
    video->begin_ns = starts - zero;
    for (size_t i = first; i < end; i++) {
        const int64_t of =
            facts->ready == READY_WITH_VIDEO ? last : ta_ref_integer(in, BLOCKS_END, i);
        struct ta_ready_block *block = &video->blocks[i - first];
        block->ready_ns = of - zero + decode;
        video->ends[i - first] = ta_ref_integer(in, BLOCKS_END, i) - zero;
        block->frames =
            video_shown(facts->frames, ta_ref_integer(in, BLOCKS_FRAMES, i), i == first);
        video->frames += block->frames;
    }
    out->n++;
}

static void add_videos(struct part *part, int64_t ratio, double *gaps, struct videos *out)
{
    for (size_t i = part->first; i < part->end; i++)
        part->n_videos += begins_video(part, i);
    if (!is_complete(part))
        return;
    struct rank_facts facts = {.frames = find_frames(part, ratio),
                               .first_block = first_block(part)};
    facts.decode_ns = decoding(part, gaps, &facts.ready);
    for (size_t first = part->first, end; first < part->end; first = end) {
        end = video_end(part, first);
        add_video(part, &facts, first, end, out);
    }
}

bool videos_find(const struct ta_refs *in, int64_t ratio, struct videos *out)
{
    const size_t n = ta_ref_rows(in, BLOCKS_RANK), room = n + ta_ref_rows(in, PART_RANK) + 1;
    double *gaps = calloc(n + 1, sizeof *gaps);
    *out = (struct videos){.at = calloc(room, sizeof *out->at),
                           .blocks = calloc(room, sizeof *out->blocks),
                           .ends = calloc(room, sizeof *out->ends)};
    const bool done = gaps && out->at && out->blocks && out->ends;
    for (size_t first = 0, end; done && first < n; first = end) {
        struct part part = {
            .in = in, .rank = ta_ref_integer(in, BLOCKS_RANK, first), .first = first};
        for (end = first + 1; end < n && ta_ref_integer(in, BLOCKS_RANK, end) == part.rank;)
            end++;
        part.end = end;
        add_videos(&part, ratio, gaps, out);
    }
    /* Records of a profiler of diffusion say more than the traces of the same run. */
    if (done && n == 0)
        traced_videos(in, out);
    free(gaps);
    return done;
}

void videos_free(struct videos *videos)
{
    free(videos->at);
    free(videos->blocks);
    free(videos->ends);
}

bool video_start_by_block(const struct video *video, double fps, double *start_ns)
{
    *start_ns = NAN;
    if (video->ready != READY_WITH_VIDEO || video->n < 2)
        return true;
    struct ta_ready_block *blocks = calloc(video->n, sizeof *blocks);
    if (!blocks)
        return false;
    int64_t done = 0;
    for (size_t j = 0; j < video->n; j++) {
        done += video->blocks[j].frames;
        const double decoded = video->decode_ns * (double)done / (double)video->frames;
        blocks[j] =
            (struct ta_ready_block){video->ends[j] + ta_whole(decoded), video->blocks[j].frames};
    }
    *start_ns = ta_stall_free_start(blocks, video->n, fps);
    free(blocks);
    return true;
}

double video_rate(const struct video *video)
{
    const int64_t last = video->blocks[video->n - 1].ready_ns;
    const int64_t first = video->blocks[0].ready_ns;
    /* With one block, or all at once, from the start of the first block on. */
    const bool is_one = video->n < 2 || last <= first;
    const int64_t ns = is_one ? last - video->begin_ns : last - first;
    const int64_t frames = is_one ? video->frames : video->frames - video->blocks[0].frames;
    return ns > 0 ? (double)frames * 1e9 / (double)ns : NAN;
}
