/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.loops: how the loops of a diffusion run nest, and how fast they are. */
#include "loop_line.h"
#include "partials.h"
#include "tables.h"

enum {
    LOOP_RANK,
    LOOP_DENOISER,
    LOOP_PERIOD,
    LOOP_RATE,
    LOOP_IMAGE_NS,
    LOOP_IMAGES_PER_S,
    LOOP_LINE,
    LOOP_FULL,
    LOOP_SOURCE,
    LOOP_IMAGES,
    LOOP_BLOCKS,
    LOOP_STEPS,
    LOOP_FORWARDS,
    LOOP_PER_STEP,
    LOOP_LAYERS,
    LOOP_CONFIDENCE,
    LOOP_WIDTH,
    LOOP_HEIGHT,
    LOOP_FRAMES,
    LOOP_BATCH,
    LOOP_GUIDANCE,
    LOOP_PROMPTS,
    LOOP_REQUESTS,
    LOOP_AT_ONCE
};
static const struct ta_column diffusion_loops_columns[] = {
    [LOOP_RANK] = TA_RANK_COLUMN,
    [LOOP_LINE] =
        {"loop", "Loop", TA_TEXT, .role = TA_NOTE,
         .doc =
             "Images with their size, blocks, steps per block, denoiser passes per step, layers"},
    [LOOP_SOURCE] = {"source", "Known from", TA_WORD, .role = TA_NOTE,
                     .doc = "How the loop was recognized: range, module, function or kernels"},
    [LOOP_DENOISER] = {"denoiser", "Denoiser", TA_TEXT, .role = TA_NOTE,
                       .doc = "Class of the denoiser module, or name of its range or function"},
    [LOOP_IMAGES] =
        {"images", "Images", TA_COUNT, .read_as = TA_AS_LOOP_IMAGES, .detail = true,
         .doc =
             "Number of images or videos. A new one begins with its prompt, or where the program "
             "marks a request; if it is denoised and decoded again without either, what the "
             "denoiser makes decides whether that is another image or the next block of a video"},
    [LOOP_BLOCKS] = {"blocks", "Blocks", TA_COUNT, .read_as = TA_AS_LOOP_BLOCKS, .detail = true,
                     .doc = "Parts that are denoised one after the other, with a decode or another "
                            "phase in between; one per image if parts cannot be told apart"},
    [LOOP_STEPS] = {"steps", "Steps", TA_COUNT, .read_as = TA_AS_LOOP_STEPS, .better = TA_LOWER,
                    .detail = true, .doc = "Denoising steps of all blocks of all images"},
    [LOOP_FORWARDS] = {"forwards", "Forwards", TA_COUNT, .read_as = TA_AS_LOOP_FORWARDS,
                       .better = TA_LOWER, .detail = true,
                       .doc = "Calls of the denoiser in these steps"},
    [LOOP_PER_STEP] = {"forwards_per_step", "Forwards per step", TA_COUNT,
                       .read_as = TA_AS_LOOP_PER_STEP, .better = TA_LOWER, .detail = true,
                       .doc =
                           "Calls of the denoiser per step: 2 means guidance (CFG) in two calls; "
                           "empty if steps differ"},
    [LOOP_LAYERS] = {"layers", "Layers", TA_COUNT, .read_as = TA_AS_LOOP_LAYERS, .detail = true,
                     .doc = "Self-attention calls per forward; empty without attention"},
    [LOOP_FULL] = {"full", "Full forwards", TA_COUNT, .read_as = TA_AS_LOOP_FULL,
                   .doc =
                       "Calls of the denoiser that launch the same kernels as the longest kind of "
                       "call; a cache or the program shortens the others"},
    [LOOP_PERIOD] = {"step_period_ns", "Step period", TA_NS_MEAN, .better = TA_LOWER,
                     .doc = "Mean time from the first kernel of a step to the first kernel of the "
                            "next step in the same block; host time if steps launched nothing"},
    [LOOP_RATE] = {"steps_per_s", "Steps/s", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
                   .doc = "Denoising steps per second: one divided by the step period"},
    [LOOP_IMAGE_NS] = {"image_ns", "Time/image", TA_NS_MEAN, .read_as = TA_AS_LOOP_IMAGE_TIME,
                       .better = TA_LOWER,
                       .doc =
                           "Program window divided by the number of images, if every image is "
                           "denoised and decoded in it; for a batch, the time of the whole batch"},
    [LOOP_IMAGES_PER_S] = {"images_per_s", "Images/s", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                           .better = TA_HIGHER,
                           .doc = "Images per second of the program window; a batch counts with "
                                  "all of its images if the shapes show how many"},
    [LOOP_CONFIDENCE] = {"confidence", "Confidence", TA_RATIO, .detail = true,
                         .doc = "How certain the recognition is: 1 if the program marks its steps, "
                                "less if only kernels show them"},
    [LOOP_WIDTH] = {"width", "Width", TA_TYPE_INTEGER, TA_UNIT_COUNT, .detail = true,
                    .role = TA_NOTE,
                    .doc = "Width of the image in pixels, from tensor shapes; empty if these were "
                           "not recorded or images differ"},
    [LOOP_HEIGHT] = {"height", "Height", TA_TYPE_INTEGER, TA_UNIT_COUNT, .detail = true,
                     .role = TA_NOTE,
                     .doc = "Height of the image in pixels, from tensor shapes; empty if these "
                            "were not recorded or images differ"},
    [LOOP_FRAMES] = {"frames", "Frames", TA_TYPE_INTEGER, TA_UNIT_COUNT, .detail = true,
                     .role = TA_NOTE,
                     .doc =
                         "Frames of the video, 1 for an image; empty if shapes were not recorded"},
    [LOOP_BATCH] = {"batch", "Batch", TA_TYPE_INTEGER, TA_UNIT_COUNT, .detail = true,
                    .role = TA_NOTE,
                    .doc = "Images or videos made together; empty if shapes were not recorded"},
    [LOOP_GUIDANCE] = {"guidance", "Guidance", TA_WORD, .detail = true, .role = TA_NOTE,
                       .doc =
                           "How the two guidance calls run: batched, sequential, none or unknown"},
    [LOOP_PROMPTS] = {"prompts", "Prompts", TA_COUNT, .detail = true,
                      .doc = "Prompts encoded for these images; empty if not known"},
    [LOOP_REQUESTS] = {"requests", "Requests", TA_COUNT, .detail = true,
                       .doc = "Requests that the program marks; empty if it marks none"},
    [LOOP_AT_ONCE] =
        {"at_once", "Concurrent requests", TA_COUNT, .detail = true,
         .doc = "Requests that are denoised in turns, step by step, as shown by ranges that number "
                "them or by their own threads or streams; 1 if one runs after the other; empty if "
                "nothing shows which request a step belongs to"},
};

const struct ta_table_def diffusion_loops = {
    "diffusion.loops", "Denoising loop", TA_COLUMNS(diffusion_loops_columns),
    .doc = "One row per rank that denoises: how its loops nest. Passes are ranges of the program "
           "that name the denoiser, otherwise calls of denoiser modules, otherwise functions, "
           "otherwise sequences of kernels that repeat. Passes with hardly anything launched "
           "between them are one step; a step ends with the kernels of the scheduler. Left out for "
           "training and for programs without a denoiser.",
    .brief = &(const struct ta_brief){
        .place = 255,
        .rows = 4,
        .remark = &diffusion_loops_columns[LOOP_LINE],
        .first = {&diffusion_loops_columns[LOOP_PERIOD], &diffusion_loops_columns[LOOP_RATE],
                  &diffusion_loops_columns[LOOP_IMAGE_NS],
                  &diffusion_loops_columns[LOOP_IMAGES_PER_S]},
        .together = {&diffusion_loops_columns[LOOP_WIDTH], &diffusion_loops_columns[LOOP_HEIGHT]},
        .never = {&diffusion_loops_columns[LOOP_SOURCE], &diffusion_loops_columns[LOOP_IMAGES],
                  &diffusion_loops_columns[LOOP_BLOCKS], &diffusion_loops_columns[LOOP_STEPS],
                  &diffusion_loops_columns[LOOP_FORWARDS], &diffusion_loops_columns[LOOP_PER_STEP],
                  &diffusion_loops_columns[LOOP_LAYERS],
                  &diffusion_loops_columns[LOOP_CONFIDENCE]}}};

static struct ta_cell rate(int64_t n, int64_t ns)
{
    return n > 0 && ns > 0 ? ta_num((double)n * 1e9 / (double)ns) : ta_null();
}

static struct ta_cell mean(int64_t ns, int64_t n)
{
    return n > 0 && ns > 0 ? ta_num((double)ns / (double)n) : ta_null();
}

const struct ta_ref generation_reads[SIZES_READS] = {
    [SIZES_RANK] = {"diffusion.tokens", "rank"},
    [SIZES_WIDTH] = {"diffusion.tokens", "width"},
    [SIZES_HEIGHT] = {"diffusion.tokens", "height"},
    [SIZES_FRAMES] = {"diffusion.tokens", "frames"},
    [SIZES_BATCH] = {"diffusion.tokens", "batch"},
    [SIZES_GUIDANCE] = {"diffusion.tokens", "guidance"}};

static struct made made_of(const struct ta_refs *in, int64_t rank)
{
    struct made made = {TA_MISSING, TA_MISSING, TA_MISSING, TA_MISSING, {"", 0}};
    size_t n = 0, at = 0;
    for (size_t i = 0; i < ta_ref_rows(in, SIZES_RANK); i++)
        if (ta_ref_integer(in, SIZES_RANK, i) == rank) {
            at = i;
            n++;
        }
    if (n != 1)
        return made;
    return (struct made){ta_ref_integer(in, SIZES_WIDTH, at), ta_ref_integer(in, SIZES_HEIGHT, at),
                         ta_ref_integer(in, SIZES_FRAMES, at), ta_ref_integer(in, SIZES_BATCH, at),
                         ta_ref_text(in, SIZES_GUIDANCE, at)};
}

static void add_loop(const struct ta_partial *runs, const int64_t *row, const struct made *made,
                     struct ta_section_builder *out)
{
    char line[400];
    generation_loop_line(line, sizeof line, row, made);
    const bool is_whole = row[RUN_COMPLETE] == row[RUN_IMAGES];
    const int64_t n = made->batch > 1 && made->batch < INT32_MAX && row[RUN_IMAGES] < INT32_MAX
                          ? row[RUN_IMAGES] * made->batch
                          : row[RUN_IMAGES];
    TA_ROW(
        out, diffusion_loops, [LOOP_RANK] = ta_int(row[RUN_RANK]), [LOOP_LINE] = ta_string(line),
        [LOOP_SOURCE] = ta_string(ta_generation_by_words[row[RUN_BY]]),
        [LOOP_DENOISER] = ta_text_or_null(ta_partial_text(runs, row, RUN_DENOISER)),
        [LOOP_IMAGES] = ta_int(row[RUN_IMAGES]), [LOOP_BLOCKS] = ta_int(row[RUN_BLOCKS]),
        [LOOP_STEPS] = ta_int(row[RUN_STEPS]), [LOOP_FORWARDS] = ta_int(row[RUN_FORWARDS]),
        [LOOP_PER_STEP] = some(row[RUN_PER_STEP]), [LOOP_LAYERS] = some(row[RUN_LAYERS]),
        [LOOP_FULL] = ta_int(row[RUN_FULL]),
        [LOOP_PERIOD] = mean(row[RUN_PERIODS_NS], row[RUN_PERIODS]),
        [LOOP_RATE] = rate(row[RUN_PERIODS], row[RUN_PERIODS_NS]),
        [LOOP_IMAGE_NS] = is_whole ? mean(row[RUN_WINDOW], row[RUN_IMAGES]) : ta_null(),
        [LOOP_IMAGES_PER_S] = is_whole ? rate(n, row[RUN_WINDOW]) : ta_null(),
        [LOOP_CONFIDENCE] = ta_num((double)row[RUN_CONFIDENCE] / 1e6),
        [LOOP_WIDTH] = ta_int(made->width), [LOOP_HEIGHT] = ta_int(made->height),
        [LOOP_FRAMES] = ta_int(made->frames), [LOOP_BATCH] = ta_int(made->batch),
        [LOOP_GUIDANCE] = ta_text_or_null(made->guidance), [LOOP_PROMPTS] = some(row[RUN_PROMPTS]),
        [LOOP_REQUESTS] = some(row[RUN_REQUESTS]), [LOOP_AT_ONCE] = some(row[RUN_AT_ONCE]));
}

bool generation_add_loops(const struct ta_partial *runs, const struct ta_refs *in,
                          struct ta_section_builder *out)
{
    bool is_diffusion = false;
    for (size_t i = 0; i < ta_partial_rows(runs); i++) {
        const int64_t *row = ta_partial_at(runs, i);
        if (row[RUN_BY] == TA_GENERATION_BY_NOTHING)
            continue;
        const struct made made = made_of(in, row[RUN_RANK]);
        add_loop(runs, row, &made, out);
        is_diffusion = true;
    }
    return is_diffusion;
}
