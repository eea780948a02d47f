/* SPDX-License-Identifier: GPL-3.0-or-later */
/* playback.first_frames: what happens from the start of a session until the first frames of its
 * first video can be shown. */
#include <traceanalyze/analysis.h>

#include <math.h>

enum {
    VIDEO_RANK,
    VIDEO_NUMBER,
    VIDEO_FIRST,
    VIDEO_DECODE,
    VIDEO_READY,
    VIDEO_ORIGIN,
    BLOCKS_RANK,
    BLOCKS_VIDEO,
    BLOCKS_TIME,
    BLOCKS_END,
    STAGE_RANK,
    STAGE_NAME,
    STAGE_CALLS,
    STAGE_MEAN,
    STAGE_TOTAL
};
static const struct ta_ref reads[] = {
    [VIDEO_RANK] = {"playback.by_video", "rank"},
    [VIDEO_NUMBER] = {"playback.by_video", "video"},
    [VIDEO_FIRST] = {"playback.by_video", "first_ns"},
    [VIDEO_DECODE] = {"playback.by_video", "decode_ns"},
    [VIDEO_READY] = {"playback.by_video", "ready"},
    [VIDEO_ORIGIN] = {"playback.by_video", "origin"},
    [BLOCKS_RANK] = {"diffusion.blocks", "rank"},
    [BLOCKS_VIDEO] = {"diffusion.blocks", "video"},
    [BLOCKS_TIME] = {"diffusion.blocks", "dur_ns"},
    [BLOCKS_END] = {"diffusion.blocks", "end_ns"},
    [STAGE_RANK] = {"stages.by_name", "rank"},
    [STAGE_NAME] = {"stages.by_name", "stage"},
    [STAGE_CALLS] = {"stages.by_name", "calls"},
    [STAGE_MEAN] = {"stages.by_name", "mean_ns"},
    [STAGE_TOTAL] = {"stages.by_name", "total_ns"},
};

/* ---- table ----------------------------------------------------------------------------------- */

enum { PART_RANK, PART_NAME, PART_STAGE, PART_TIME, PART_SHARE };
static const struct ta_column parts_columns[] = {
    [PART_RANK] = TA_RANK_COLUMN_OF("Rank of the dump: the one whose first frames come last"),
    [PART_NAME] =
        {"part", "Part", TA_TEXT, .role = TA_KEY,
         .doc = "load, text encoding, denoising (of the first block, or of all blocks if the video "
                "is decoded as a whole), VAE decoding; other: time without a recorded stage"},
    [PART_STAGE] = {"stage", "Stage", TA_TEXT, .role = TA_KEY,
                    .doc = "Stage from which the time is known; empty for blocks and for other"},
    [PART_TIME] = {"time_ns", "Time", TA_NS, .better = TA_LOWER,
                   .doc = "Time that the part takes before the first frames"},
    [PART_SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the time until the first frames"},
};
static const struct ta_table_def parts = {
    "playback.first_frames",
    "Time to first frames",
    TA_COLUMNS(parts_columns),
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true,
    .doc = "What the time from the start of the session to the first frames of its first video "
           "consists of; the parts add up to it. For a stage that was called once per video, the "
           "mean of its calls is used, but at most what denoising and decoding leave.",
    .brief = &(const struct ta_brief){.place = 276, .rows = 6, .is_supplement = true}};

/* ---- parts ----------------------------------------------------------------------------------- */

/* Stages before denoising, by words of their names. */
static const struct {
    const char *part;
    const char *words[6];
} befores[] = {
    {"load", {"load", "init", NULL}},
    {"text encoding", {"text_enc", "text enc", "textenc", "encode_prompt", "prompt_enc", NULL}},
};

/* Among first videos whose times are counted from the start of the session, the one that comes
 * last. */
static size_t last_to_show(const struct ta_refs *in)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, VIDEO_RANK); i++)
        if (ta_ref_reads(in, VIDEO_ORIGIN, i, "session") &&
            (last == SIZE_MAX ||
             ta_ref_number(in, VIDEO_FIRST, i, 0) > ta_ref_number(in, VIDEO_FIRST, last, 0)))
            last = i;
    return last;
}

/* From the start of the first block to its end, or to the end of the last block of the video. */
static double denoising(const struct ta_refs *in, int64_t rank, bool whole)
{
    size_t first = 0;
    const size_t n = ta_ref_rows(in, BLOCKS_RANK);
    while (first < n && ta_ref_integer(in, BLOCKS_RANK, first) != rank)
        first++;
    size_t last = first;
    while (whole && last + 1 < n && ta_ref_integer(in, BLOCKS_RANK, last + 1) == rank &&
           ta_ref_integer(in, BLOCKS_VIDEO, last + 1) == ta_ref_integer(in, BLOCKS_VIDEO, first))
        last++;
    return ta_ref_number(in, BLOCKS_END, last, NAN) - ta_ref_number(in, BLOCKS_END, first, NAN) +
           ta_ref_number(in, BLOCKS_TIME, first, NAN);
}

static void add_part(struct ta_section_builder *out, int64_t rank, const char *part,
                     struct ta_slice stage, double ns, double total)
{
    if (ns >= 1)
        TA_ROW(out, parts, [PART_RANK] = ta_int(rank), [PART_NAME] = ta_string(part),
               [PART_STAGE] = ta_text_or_null(stage), [PART_TIME] = ta_int(ta_whole(ns)),
               [PART_SHARE] = ta_num(ns / total));
}

static double videos_of(const struct ta_refs *in, int64_t rank)
{
    double n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, VIDEO_RANK); i++)
        n += ta_ref_integer(in, VIDEO_RANK, i) == rank;
    return n;
}

/* Adds the stages of one kind; returns the rest of the time before denoising. */
static double add_stages(struct ta_section_builder *out, const struct ta_refs *in, int64_t rank,
                         size_t kind, double total, double left)
{
    for (size_t i = 0; i < ta_ref_rows(in, STAGE_RANK); i++) {
        const struct ta_slice name = ta_ref_text(in, STAGE_NAME, i);
        const double calls = ta_ref_number(in, STAGE_CALLS, i, NAN);
        if (ta_ref_integer(in, STAGE_RANK, i) != rank ||
            !ta_slice_has_any(name, befores[kind].words) ||
            !(calls <= fmax(videos_of(in, rank), 1)))
            continue;
        const double ns = fmin(ta_ref_number(in, calls > 1 ? STAGE_MEAN : STAGE_TOTAL, i, 0), left);
        add_part(out, rank, befores[kind].part, name, ns, total);
        left -= ns;
    }
    return left;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)merged;
    const size_t video = last_to_show(in);
    if (video == SIZE_MAX)
        return TA_OK;
    const int64_t rank = ta_ref_integer(in, VIDEO_RANK, video);
    const double total = ta_ref_number(in, VIDEO_FIRST, video, NAN);
    const bool whole = ta_ref_reads(in, VIDEO_READY, video, "with the video");
    const bool decodes = whole || ta_ref_reads(in, VIDEO_READY, video, "decoded");
    const double decode = decodes ? round(ta_ref_number(in, VIDEO_DECODE, video, 0)) : 0;
    const double denoise = denoising(in, rank, whole);
    double left = total - decode - denoise;
    if (!(left >= -1))
        return TA_OK; /* not known, or the records are contradictory */
    for (size_t kind = 0; kind < TA_LENGTH(befores); kind++)
        left = add_stages(out, in, rank, kind, total, fmax(left, 0));
    add_part(out, rank, "other", TA_LIT(""), left, total);
    add_part(out, rank, "denoising", TA_LIT(""), denoise, total);
    add_part(out, rank, "VAE decoding", TA_LIT(""), decode, total);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&parts, NULL};

static const struct ta_analysis_ops ops = {.section = "streaming",
                                           .place = 2,
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, first_frames, &ops, .title = "Time to first frames",
          .summary = "What happens until the first frames can be shown: playback.first_frames",
          .version = "1");
