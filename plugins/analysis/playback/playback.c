/* SPDX-License-Identifier: GPL-3.0-or-later */
/* playback.by_video, playback.by_rate, playback.by_buffer, playback.buffer, playback.pacing: from
 * when on a video can be watched while it is being made, and how evenly its blocks come. */
#include "videos.h"

#include <stdlib.h>

enum { FPS, RATIO };

static const struct ta_option options[] = {
    [FPS] = {"fps", TA_OPTION_NUMBER, 16, 1, 1000, TA_OPTION_PLAIN,
             "Frames per second at which videos are played"},
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 0, 0, 64, TA_OPTION_PLAIN,
               "Frames of the video per recorded frame, if blocks are recorded in latent frames; "
               "0: as the records say"},
    TA_OPTIONS_END,
};

/* ---- tables ---------------------------------------------------------------------------------- */

enum {
    VIDEO_RANK,
    VIDEO_NUMBER,
    VIDEO_BLOCKS,
    VIDEO_FRAMES,
    VIDEO_RATIO,
    VIDEO_RATE,
    VIDEO_PLAYBACK,
    VIDEO_FACTOR,
    VIDEO_FIRST,
    VIDEO_WAIT,
    VIDEO_BY_BLOCK,
    VIDEO_BUFFER,
    VIDEO_STALLS,
    VIDEO_STALLED,
    VIDEO_LONGEST,
    VIDEO_MOST,
    VIDEO_DECODE,
    VIDEO_READY,
    VIDEO_ORIGIN
};
static const struct ta_column by_video_columns[] = {
    [VIDEO_RANK] = TA_DUMP_RANK_COLUMN,
    [VIDEO_NUMBER] = {"video", "Video", TA_INTEGER, .role = TA_KEY,
                      .doc = "Number of the video on its rank, starting at 0; a new one starts "
                             "where block numbers start over"},
    [VIDEO_BLOCKS] = {"blocks", "Blocks", TA_COUNT, .doc = "Blocks of the video"},
    [VIDEO_FRAMES] = {"frames", "Frames", TA_COUNT, .doc = "Frames of the video as shown"},
    [VIDEO_RATIO] =
        {"ratio", "Per latent", TA_INTEGER,
         .doc = "Frames shown per recorded (latent) frame, from the shape of the finished video or "
                "the streamed frames; in a trace, from the shapes of the denoiser and the decoder; "
                "empty if unknown, in which case recorded frames count as frames of the video"},
    [VIDEO_RATE] =
        {"rate", "Generation rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
         .weight = 0.9,
         .doc = "Frames made per second, from the first block that is ready to the last; for one "
                "block, or blocks that are ready together, from the start of the first block"},
    [VIDEO_PLAYBACK] = {"playback", "Playback rate", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                        .doc = "Frames played per second: `--playback-fps`"},
    [VIDEO_FACTOR] =
        {"real_time_factor", "Real-time factor", TA_NUMBER, .better = TA_LOWER,
         .doc = "Playback rate over generation rate: at most 1 if the video is made in real time"},
    [VIDEO_FIRST] = {"first_ns", "First frames", TA_NS, .better = TA_LOWER, .weight = 0.6,
                     .doc = "Time until the first block can be shown, since the time origin"},
    [VIDEO_WAIT] = {"wait_ns", "Stall-free start", TA_NS, .better = TA_LOWER, .weight = 0.9,
                    .doc =
                        "Earliest start of playback that never stalls, since the time origin: the "
                        "largest of (time a block is ready − frames before it / playback rate)"},
    [VIDEO_BY_BLOCK] = {"by_block_ns", "If decoded block by block", TA_NS, .better = TA_LOWER,
                        .doc = "Stall-free start of a video that is decoded as a whole, if instead "
                               "each block were decoded when done, with its share (by frames) of "
                               "the decoding time, delaying the blocks after it"},
    [VIDEO_BUFFER] = {"buffer_frames", "Buffer", TA_COUNT,
                      .doc = "Frames that are ready at the stall-free start"},
    [VIDEO_STALLS] =
        {"stalls", "Stalls", TA_COUNT, .better = TA_LOWER,
         .doc = "Times that playback starting with the first frames has to wait for a block"},
    [VIDEO_STALLED] = {"stalled_ns", "Stalled", TA_NS, .better = TA_LOWER,
                       .doc = "Total time of these stalls"},
    [VIDEO_LONGEST] = {"longest_ns", "Longest stall", TA_NS, .better = TA_LOWER,
                       .doc = "Longest of these stalls"},
    [VIDEO_MOST] = {"smooth_rate", "Max stall-free rate", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                    .better = TA_HIGHER,
                    .doc = "Highest playback rate without a stall when playback starts with the "
                           "first frames; empty if all blocks are ready by then"},
    [VIDEO_DECODE] = {"decode_ns", "Decoding", TA_NS_MEAN, .better = TA_LOWER,
                      .doc = "Mean time per call of the VAE decoder"},
    [VIDEO_READY] = {"ready", "Ready at", TA_TEXT,
                     .doc = "When the frames of a block can be shown. with the block: no later "
                            "decoding was recorded; decoded: one decoder call later; with the "
                            "video: when all of it is decoded"},
    [VIDEO_ORIGIN] = {"origin", "Time origin", TA_TEXT,
                      .doc = "What times are measured from: the start of the session for its first "
                             "video, otherwise the start of the first block"},
};

static const struct ta_table_def by_video = {
    "playback.by_video",
    "Playback during generation",
    TA_COLUMNS(by_video_columns),
    .doc = "One row per video of a rank if all its blocks state their frames and when they were "
           "done. A player shows the frames of block j from its start + (frames before j)/rate on, "
           "so it never stalls if each block is ready by then. In a trace: videos that are "
           "denoised and decoded block by block, if operator shapes say how many frames a video "
           "has; a block is ready at the end of its stage in `phases.stages`, and the first block "
           "of a causal decoder has fewer frames.",
    .rank_words = "Playback",
    .brief = &(const struct ta_brief){
        .place = 275,
        .rows = 4,
        .largest = &by_video_columns[VIDEO_WAIT],
        .first = {&by_video_columns[VIDEO_RATE], &by_video_columns[VIDEO_PLAYBACK],
                  &by_video_columns[VIDEO_FIRST], &by_video_columns[VIDEO_WAIT],
                  &by_video_columns[VIDEO_STALLS], &by_video_columns[VIDEO_STALLED]},
        .never = {&by_video_columns[VIDEO_ORIGIN], &by_video_columns[VIDEO_DECODE],
                  &by_video_columns[VIDEO_FACTOR]}}};

enum { RATE_RANK, RATE_VIDEO, RATE_FPS, RATE_WAIT, RATE_STALLS, RATE_STALLED, RATE_LONGEST };
static const struct ta_column by_rate_columns[] = {
    [RATE_RANK] = TA_DUMP_RANK_COLUMN,
    [RATE_VIDEO] = {"video", "Video", TA_INTEGER, .role = TA_KEY,
                    .doc = "Number of the video on its rank"},
    [RATE_FPS] = {"playback", "Playback rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, .role = TA_KEY,
                  .doc = "Frames played per second"},
    [RATE_WAIT] = {"wait_ns", "Stall-free start", TA_NS, .better = TA_LOWER,
                   .doc = "Earliest start of playback that never stalls, since the time origin"},
    [RATE_STALLS] = {"stalls", "Stalls", TA_COUNT, .better = TA_LOWER,
                     .doc = "Stalls when playback starts with the first frames"},
    [RATE_STALLED] = {"stalled_ns", "Stalled", TA_NS, .better = TA_LOWER,
                      .doc = "Total time of these stalls"},
    [RATE_LONGEST] = {"longest_ns", "Longest stall", TA_NS, .better = TA_LOWER,
                      .doc = "Longest of these stalls"},
};
static const struct ta_table_def by_rate = {
    "playback.by_rate",
    "Playback at other rates",
    TA_COLUMNS(by_rate_columns),
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true,
    .doc = "The video with the latest stall-free start, played at 8 to 30 frames per second. The "
           "time origin is the one in `playback.by_video`."};

enum {
    BY_BUFFER_RANK,
    BY_BUFFER_VIDEO,
    BY_BUFFER_BLOCKS,
    BY_BUFFER_FRAMES,
    BY_BUFFER_START,
    BY_BUFFER_MOST
};
static const struct ta_column by_buffer_columns[] = {
    [BY_BUFFER_RANK] = TA_DUMP_RANK_COLUMN,
    [BY_BUFFER_VIDEO] = {"video", "Video", TA_INTEGER, .role = TA_KEY,
                         .doc = "Number of the video on its rank"},
    [BY_BUFFER_BLOCKS] = {"blocks", "Blocks", TA_INTEGER, .role = TA_KEY,
                          .doc = "Blocks that are ready when playback starts"},
    [BY_BUFFER_FRAMES] = {"frames", "Frames", TA_COUNT, .doc = "Frames of these blocks"},
    [BY_BUFFER_START] = {"start_ns", "Starts at", TA_NS,
                         .doc = "When the last of these blocks is ready"},
    [BY_BUFFER_MOST] =
        {"smooth_rate", "Max stall-free rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
         .doc = "Highest playback rate without a stall; empty if all blocks are ready by then"},
};
static const struct ta_table_def by_buffer = {
    "playback.by_buffer",
    "Playback rate by buffer",
    TA_COLUMNS(by_buffer_columns),
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true,
    .doc = "How fast the same video can play without a stall if playback waits for more blocks: "
           "one row per number of blocks, up to 32."};

enum { BUFFER_RANK, BUFFER_VIDEO, BUFFER_TIME, BUFFER_SMOOTH, BUFFER_EARLY };
static const struct ta_column buffer_columns[] = {
    [BUFFER_RANK] = TA_DUMP_RANK_COLUMN,
    [BUFFER_VIDEO] = {"video", "Video", TA_INTEGER, .role = TA_IN_SERIES,
                      .doc = "Number of the video on its rank"},
    [BUFFER_TIME] = {"time_ns", "Time", TA_NS, .role = TA_IN_SERIES,
                     .doc = "Time since the video's time origin"},
    [BUFFER_SMOOTH] = {"smooth_frames", "Buffer, stall-free start", TA_NUMBER,
                       .doc = "Frames ready but not yet shown, if playback starts as early as it "
                              "can without a stall"},
    [BUFFER_EARLY] = {"early_frames", "Buffer, immediate start", TA_NUMBER,
                      .doc = "Frames ready but not yet shown, if playback starts with the first "
                             "frames; it stalls at 0"},
};

static const struct ta_chart_def playability = {
    .id = "playability",
    .title = "Frames in the playback buffer",
    .caption = "Frames ready but not yet shown, for the video with the latest stall-free start: "
               "playback that starts as early as it can without a stall, and playback that starts "
               "with the first frames and stalls where its line is at 0.",
    .kind = TA_CHART_LINES,
    .x = &buffer_columns[BUFFER_TIME],
    .y = {{&buffer_columns[BUFFER_SMOOTH], "start without a stall", TA_INK_SERIES_1},
          {&buffer_columns[BUFFER_EARLY], "start with the first frames", TA_INK_SERIES_2}},
};

static const struct ta_table_def buffer = {
    "playback.buffer",
    "Playback buffer",
    TA_COLUMNS(buffer_columns),
    .tier = TA_TIER_POINTS,
    .not_of_ranks = true,
    .chart = {&playability},
    .doc = "Points of the chart `playability`: the buffer of a player before and after each block "
           "becomes ready, and where a stall begins or ends. For a video with more than 256 "
           "blocks, the first 256."};

enum { PACE_RANK, PACE_VIDEO, PACE_COUNT, PACE_P50, PACE_P95, PACE_P99, PACE_MAX, PACE_LOW };
static const struct ta_column pacing_columns[] = {
    [PACE_RANK] = TA_DUMP_RANK_COLUMN,
    [PACE_VIDEO] = {"video", "Video", TA_INTEGER, .role = TA_KEY,
                    .doc = "Number of the video on its rank"},
    [PACE_COUNT] = {"intervals", "Intervals", TA_COUNT,
                    .doc = "Intervals between blocks becoming ready; each is divided by the frames "
                           "of the later block"},
    [PACE_P50] = {"frame_p50_ns", "Frame p50", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.6,
                  .doc = "Median time per frame"},
    [PACE_P95] = {"frame_p95_ns", "Frame p95", TA_NS_MEAN, .better = TA_LOWER,
                  .doc =
                      "95th percentile of the time per frame (type 7); empty below 20 intervals"},
    [PACE_P99] = {"frame_p99_ns", "Frame p99", TA_NS_MEAN, .better = TA_LOWER,
                  .doc =
                      "99th percentile of the time per frame (type 7); empty below 20 intervals"},
    [PACE_MAX] = {"frame_max_ns", "Frame max", TA_NS_MEAN, .better = TA_LOWER,
                  .doc = "Longest time per frame"},
    [PACE_LOW] = {"low_rate", "1 % low", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
                  .doc = "Frames per second at the 99th percentile of the time per frame; below 20 "
                         "intervals, at the longest"},
};
static const struct ta_table_def pacing = {
    "playback.pacing",
    "Block pacing",
    TA_COLUMNS(pacing_columns),
    .tier = TA_TIER_DETAIL,
    .rank_words = "Pace",
    .doc = "How evenly blocks become ready: one row per video with several blocks that do not all "
           "become ready at once."};

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *const origins[] = {
    [SINCE_SESSION] = "session", [SINCE_FIRST_BLOCK] = "first block"};
static const char *const readies[] = {[READY_WITH_BLOCK] = "with the block",
                                      [READY_DECODED] = "decoded",
                                      [READY_WITH_VIDEO] = "with the video"};

/* Times are at most what fits; a start lies within half a nanosecond of the real number. */
static int64_t rounded(double ns)
{
    return ta_whole(round(ns));
}

static int64_t frames_ready(const struct video *video, double at_ns)
{
    int64_t frames = 0;
    for (size_t j = 0; j < video->n; j++)
        if ((double)video->blocks[j].ready_ns <= at_ns + 0.5)
            frames += video->blocks[j].frames;
    return frames;
}

/* False without memory. */
static bool add_video(struct ta_section_builder *out, const struct video *video, double fps)
{
    double by_block;
    if (!video_start_by_block(video, fps, &by_block))
        return false;
    const double start = ta_stall_free_start(video->blocks, video->n, fps);
    const double first = (double)video->blocks[0].ready_ns;
    const struct ta_playing early = ta_play(video->blocks, video->n, fps, first, NULL);
    const double rate = video_rate(video);
    TA_ROW(
        out, by_video, [VIDEO_RANK] = ta_int(video->rank), [VIDEO_NUMBER] = ta_int(video->number),
        [VIDEO_BLOCKS] = ta_count(video->n), [VIDEO_FRAMES] = ta_int(video->frames),
        [VIDEO_RATIO] = ta_int(video->ratio), [VIDEO_RATE] = ta_num(rate),
        [VIDEO_PLAYBACK] = ta_num(fps), [VIDEO_FACTOR] = ta_num(fps / rate),
        [VIDEO_FIRST] = ta_int(video->blocks[0].ready_ns), [VIDEO_WAIT] = ta_int(rounded(start)),
        [VIDEO_BY_BLOCK] = ta_int(rounded(by_block)),
        [VIDEO_BUFFER] = ta_int(frames_ready(video, start)),
        [VIDEO_STALLS] = ta_count(early.stalls),
        [VIDEO_STALLED] = ta_int(rounded(early.stalled_ns)),
        [VIDEO_LONGEST] = ta_int(rounded(early.longest_ns)),
        [VIDEO_MOST] = ta_num(ta_stall_free_rate(video->blocks, video->n, first)),
        [VIDEO_DECODE] = ta_num(video->decode_ns), [VIDEO_READY] = ta_string(readies[video->ready]),
        [VIDEO_ORIGIN] = ta_string(origins[video->origin]));
    return true;
}

static void add_rates(struct ta_section_builder *out, const struct video *video)
{
    static const double rates[] = {8, 10, 12, 14, 15, 16, 18, 20, 24, 25, 30};
    for (size_t i = 0; i < TA_LENGTH(rates); i++) {
        const struct ta_playing early =
            ta_play(video->blocks, video->n, rates[i], (double)video->blocks[0].ready_ns, NULL);
        TA_ROW(out, by_rate, [RATE_RANK] = ta_int(video->rank),
               [RATE_VIDEO] = ta_int(video->number), [RATE_FPS] = ta_num(rates[i]),
               [RATE_WAIT] =
                   ta_int(rounded(ta_stall_free_start(video->blocks, video->n, rates[i]))),
               [RATE_STALLS] = ta_count(early.stalls),
               [RATE_STALLED] = ta_int(rounded(early.stalled_ns)),
               [RATE_LONGEST] = ta_int(rounded(early.longest_ns)));
    }
}

enum { BUFFERS_MOST = 32, DRAWN_MOST = 256, PACED_LEAST = 20 };

static void add_buffers(struct ta_section_builder *out, const struct video *video)
{
    int64_t frames = 0;
    for (size_t j = 0; j < video->n && j < BUFFERS_MOST; j++) {
        const int64_t start = video->blocks[j].ready_ns;
        frames += video->blocks[j].frames;
        TA_ROW(out, by_buffer, [BY_BUFFER_RANK] = ta_int(video->rank),
               [BY_BUFFER_VIDEO] = ta_int(video->number), [BY_BUFFER_BLOCKS] = ta_count(j + 1),
               [BY_BUFFER_FRAMES] = ta_int(frames), [BY_BUFFER_START] = ta_int(start),
               [BY_BUFFER_MOST] =
                   ta_num(ta_stall_free_rate(video->blocks, video->n, (double)start)));
    }
}

/* ---- buffer ---------------------------------------------------------------------------------- */

/* Two players of the first blocks of a video. */
struct players {
    const struct video *video;
    size_t n;
    double fps;
    double
        *shown[2]; /* when each block begins to show, started in time and with the first frames */
};

/* Frames that are ready at a moment and not shown; `after`: with a block that becomes ready just
 * then. */
static double buffered(const struct players *players, int which, double at, bool after)
{
    double frames = 0;
    for (size_t j = 0; j < players->n; j++) {
        const struct ta_ready_block *block = &players->video->blocks[j];
        const double since = (double)block->ready_ns - at;
        if (since < 0 || (after && since <= 0))
            frames += (double)block->frames;
        const double shown = (at - players->shown[which][j]) * players->fps / 1e9;
        frames -= fmin((double)block->frames, fmax(shown, 0));
    }
    return fmax(frames, 0);
}

static void add_point(struct ta_section_builder *out, const struct players *players, double at,
                      bool after)
{
    TA_ROW(out, buffer, [BUFFER_RANK] = ta_int(players->video->rank),
           [BUFFER_VIDEO] = ta_int(players->video->number), [BUFFER_TIME] = ta_int(rounded(at)),
           [BUFFER_SMOOTH] = ta_num(buffered(players, 0, at, after)),
           [BUFFER_EARLY] = ta_num(buffered(players, 1, at, after)));
}

static void add_buffer(struct ta_section_builder *out, const struct players *players,
                       double *moments)
{
    const struct ta_ready_block *blocks = players->video->blocks;
    size_t n = 0;
    moments[n++] = 0;
    for (size_t j = 0; j < players->n; j++) {
        moments[n++] = (double)blocks[j].ready_ns;
        for (int which = 0; which < 2; which++) {
            moments[n++] = players->shown[which][j];
            moments[n++] = players->shown[which][j] + (double)blocks[j].frames * 1e9 / players->fps;
        }
    }
    ta_sort_numbers(moments, n);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && moments[i] - moments[i - 1] < 1)
            continue;
        add_point(out, players, moments[i], false);
        if (buffered(players, 0, moments[i], true) > buffered(players, 0, moments[i], false))
            add_point(out, players, moments[i], true);
    }
}

/* False without memory. */
static bool draw_buffer(struct ta_section_builder *out, const struct video *video, double fps)
{
    const size_t n = video->n < DRAWN_MOST ? video->n : DRAWN_MOST;
    double *moments = calloc(5 * n + 1, sizeof *moments);
    double *shown = calloc(2 * n, sizeof *shown);
    const bool done = moments && shown;
    if (done) {
        const struct players players = {video, n, fps, {shown, shown + n}};
        ta_play(video->blocks, n, fps, ta_stall_free_start(video->blocks, video->n, fps), shown);
        ta_play(video->blocks, n, fps, (double)video->blocks[0].ready_ns, shown + n);
        add_buffer(out, &players, moments);
    }
    free(moments);
    free(shown);
    return done;
}

/* ---- pace ------------------------------------------------------------------------------------ */

/* False without memory. */
static bool add_pace(struct ta_section_builder *out, const struct video *video)
{
    const size_t n = video->n - 1;
    if (n == 0 || video->ready == READY_WITH_VIDEO)
        return true;
    double *frame = calloc(n, sizeof *frame);
    if (!frame)
        return false;
    for (size_t j = 0; j < n; j++)
        frame[j] = (double)(video->blocks[j + 1].ready_ns - video->blocks[j].ready_ns) /
                   (double)video->blocks[j + 1].frames;
    ta_sort_numbers(frame, n);
    const bool many = n >= PACED_LEAST;
    const double p99 = ta_quantile(frame, n, 0.99), longest = frame[n - 1];
    TA_ROW(out, pacing, [PACE_RANK] = ta_int(video->rank), [PACE_VIDEO] = ta_int(video->number),
           [PACE_COUNT] = ta_count(n), [PACE_P50] = ta_num(ta_quantile(frame, n, 0.5)),
           [PACE_P95] = many ? ta_num(ta_quantile(frame, n, 0.95)) : ta_null(),
           [PACE_P99] = many ? ta_num(p99) : ta_null(), [PACE_MAX] = ta_num(longest),
           [PACE_LOW] = ta_num(1e9 / (many ? p99 : longest)));
    free(frame);
    return true;
}

/* ---- finish ---------------------------------------------------------------------------------- */

/* The video that has to be waited for longest, the first of equals; not one that is ready all at
 * once, of which there is nothing to choose. */
static const struct video *worst_of(const struct videos *videos, double fps)
{
    const struct video *worst = NULL;
    double longest = NAN;
    for (size_t i = 0; i < videos->n; i++) {
        const double wait = ta_stall_free_start(videos->at[i].blocks, videos->at[i].n, fps);
        if (videos->at[i].ready != READY_WITH_VIDEO && videos->at[i].n > 1 &&
            (!worst || wait > longest)) {
            worst = &videos->at[i];
            longest = wait;
        }
    }
    return worst;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const double fps = ta_ctx_option(ctx, FPS);
    struct videos videos;
    bool done = videos_find(in, ta_whole(ta_ctx_option(ctx, RATIO)), &videos);
    for (size_t i = 0; done && i < videos.n; i++) {
        done = add_video(out, &videos.at[i], fps) && add_pace(out, &videos.at[i]);
    }
    const struct video *worst = done ? worst_of(&videos, fps) : NULL;
    if (worst) {
        add_rates(out, worst);
        add_buffers(out, worst);
        done = draw_buffer(out, worst, fps);
    }
    videos_free(&videos);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the blocks of the videos");
}

static const struct ta_table_def *const tables[] = {&by_video,  &pacing, &by_rate,
                                                    &by_buffer, &buffer, NULL};

static const struct ta_analysis_ops ops = {.section = "streaming",
                                           .place = 1,
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           .reads = playback_reads,
                                           .n_reads = PLAYBACK_READS};

TA_PLUGIN(analysis, playback, &ops, .title = "Playback",
          .summary = "When videos can be watched while they are generated: playback.by_video, "
                     "playback.by_rate, playback.by_buffer, playback.buffer, playback.pacing",
          .version = "1", .options = options);
