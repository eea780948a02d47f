/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Videos in traces: blocks that are denoised and then decoded, one after the other, and the frames
 * that shapes of the decoder show. */
#include "traced.h"

/* What a trace says of the videos of a rank. */
struct made {
    int64_t blocks;          /* of one video */
    int64_t frames;          /* of one video */
    int64_t latents;         /* frames of a block as they are denoised; TA_MISSING: not known */
    struct frames frames_by; /* how many of the video each of these is */
};

/* The only row of a rank; SIZE_MAX where it has none or several. */
static size_t only_row(const struct ta_refs *in, size_t ranks, int64_t rank)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, ranks); i++) {
        if (ta_ref_integer(in, ranks, i) != rank)
            continue;
        if (found != SIZE_MAX)
            return SIZE_MAX;
        found = i;
    }
    return found;
}

/* The second of four numbers: "16×3×60×104" are channels, frames, height and width. */
static int64_t read_latents(struct ta_slice text)
{
    int64_t numbers[4] = {0};
    size_t n = 0;
    for (size_t at = 0; at < text.len && n < TA_LENGTH(numbers); n++) {
        for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++)
            numbers[n] = numbers[n] < INT32_MAX ? numbers[n] * 10 + (text.ptr[at] - '0') : 0;
        while (at < text.len && (text.ptr[at] < '0' || text.ptr[at] > '9'))
            at++;
    }
    return n == TA_LENGTH(numbers) && numbers[1] > 0 ? numbers[1] : TA_MISSING;
}

/* A single image has one frame, and is no video however often it is decoded. */
static bool find_made(const struct ta_refs *in, int64_t rank, struct made *made)
{
    const size_t loop = only_row(in, LOOP_RANK, rank), sizes = only_row(in, SIZES_RANK, rank);
    if (loop == SIZE_MAX || sizes == SIZE_MAX)
        return false;
    const int64_t videos = ta_ref_integer(in, LOOP_VIDEOS, loop);
    const int64_t blocks = ta_ref_integer(in, LOOP_BLOCKS, loop);
    made->frames = ta_ref_integer(in, LOOP_FRAMES, loop);
    if (videos < 1 || blocks <= videos || blocks % videos || made->frames == TA_MISSING)
        return false;
    made->blocks = blocks / videos;
    made->latents = read_latents(ta_ref_text(in, SIZES_LATENTS, sizes));
    if (made->frames <= made->blocks || made->frames > VIDEO_FRAMES_MOST)
        return false;
    made->frames_by = (struct frames){TA_MISSING, false};
    if (made->latents != TA_MISSING && made->latents <= VIDEO_FRAMES_MOST)
        made->frames_by = video_ratio(made->frames, made->latents * made->blocks, 1);
    return made->frames_by.ratio != TA_MISSING || made->frames % made->blocks == 0;
}

static int64_t frames_of_block(const struct made *made, bool is_first)
{
    return made->frames_by.ratio == TA_MISSING
               ? made->frames / made->blocks
               : video_shown(made->frames_by, made->latents, is_first);
}

/* On devices, which are done long after the host, else on the host; false where neither is known.
 */
static bool stage_time(const struct ta_refs *in, size_t row, struct ta_interval *time)
{
    const bool on_gpu = ta_ref_integer(in, PART_GPU_START, row) != TA_MISSING;
    const int64_t start = ta_ref_integer(in, on_gpu ? PART_GPU_START : PART_HOST_START, row);
    const int64_t dur = ta_ref_integer(in, on_gpu ? PART_GPU_TIME : PART_HOST_TIME, row);
    if (start == TA_MISSING || dur == TA_MISSING)
        return false;
    *time = (struct ta_interval){start, start + dur};
    return true;
}

/* Adds a block that is denoised and decoded; the first one says what times are since. */
static bool add_block(const struct made *made, struct ta_interval denoised,
                      struct ta_interval decoded, int64_t *zero, struct video *video)
{
    if (video->n == (size_t)made->blocks)
        return false;
    if (video->n == 0)
        *zero = denoised.start;
    struct ta_ready_block *block = &video->blocks[video->n];
    *block = (struct ta_ready_block){decoded.end - *zero, frames_of_block(made, video->n == 0)};
    if (video->n > 0 && block->ready_ns < block[-1].ready_ns)
        return false;
    video->ends[video->n++] = denoised.end - *zero;
    video->frames += block->frames;
    video->decode_ns += (double)(decoded.end - decoded.start);
    return true;
}

/* Stages [first, end) of one video; false where these are not its blocks one after the other. */
static bool read_video(const struct ta_refs *in, const struct made *made, size_t first, size_t end,
                       struct video *video)
{
    struct ta_interval denoised = {0}, time;
    bool is_denoised = false;
    int64_t zero = 0;
    for (size_t i = first; i < end; i++) {
        const bool is_denoise = ta_ref_reads(in, PART_PHASE, i, "denoise");
        if (!is_denoise && !ta_ref_reads(in, PART_PHASE, i, "VAE decode"))
            continue;
        if (is_denoise == is_denoised || !stage_time(in, i, &time))
            return false;
        if (is_denoise)
            denoised = time;
        else if (!add_block(made, denoised, time, &zero, video))
            return false;
        is_denoised = is_denoise;
    }
    video->decode_ns /= (double)video->n;
    return video->n == (size_t)made->blocks && !is_denoised;
}

static bool is_same_video(const struct ta_refs *in, size_t a, size_t b)
{
    return ta_ref_integer(in, PART_RANK, a) == ta_ref_integer(in, PART_RANK, b) &&
           ta_ref_integer(in, PART_VIDEO, a) == ta_ref_integer(in, PART_VIDEO, b);
}

static void add_video(const struct ta_refs *in, size_t first, size_t end, struct videos *out)
{
    const int64_t rank = ta_ref_integer(in, PART_RANK, first);
    const struct video *before = out->n ? &out->at[out->n - 1] : NULL;
    struct made made;
    if (ta_ref_integer(in, PART_VIDEO, first) == TA_MISSING || !find_made(in, rank, &made))
        return;
    struct video *video = &out->at[out->n];
    *video = (struct video){.rank = rank,
                            .number = before && before->rank == rank ? before->number + 1 : 0,
                            .blocks = before ? before->blocks + before->n : out->blocks,
                            .ends = before ? before->ends + before->n : out->ends,
                            .ratio = made.frames_by.ratio,
                            .origin = SINCE_FIRST_BLOCK,
                            .ready = READY_DECODED};
    out->n += read_video(in, &made, first, end, video);
}

void traced_videos(const struct ta_refs *in, struct videos *out)
{
    const size_t n = ta_ref_rows(in, PART_RANK);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && is_same_video(in, first, end);)
            end++;
        add_video(in, first, end, out);
    }
}
