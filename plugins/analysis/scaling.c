/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scaling.by_world_size: how much faster more GPUs are, from sessions of different world sizes. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <math.h>
#include <stdlib.h>

enum { MODEL, WORLD, SHARING, RANK, FRAMES, BLOCKS, STEPS, TIME, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [MODEL] = {"model", TA_FIELD_TEXT},
    [WORLD] = {"world_size", TA_FIELD_INT},
    [SHARING] = {"ranks_per_block", TA_FIELD_INT},
    [RANK] = {"rank", TA_FIELD_RANK},
    [FRAMES] = {"frames", TA_FIELD_SUM},
    [BLOCKS] = {"blocks", TA_FIELD_SUM},
    [STEPS] = {"steps", TA_FIELD_SUM},
    [TIME] = {"time", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"ranks", fields, FIELDS}, {0}};

enum { COLUMNS = 10 };

enum {
    BY_WORLD_SIZE_MODEL,
    BY_WORLD_SIZE_WORLD_SIZE,
    BY_WORLD_SIZE_RANKS_PER_BLOCK,
    BY_WORLD_SIZE_RANKS,
    BY_WORLD_SIZE_FRAMES_PER_BLOCK,
    BY_WORLD_SIZE_STEPS_PER_BLOCK,
    BY_WORLD_SIZE_FPS,
    BY_WORLD_SIZE_BASE_WORLD_SIZE,
    BY_WORLD_SIZE_SPEEDUP,
    BY_WORLD_SIZE_EFFICIENCY
};
static const struct ta_column by_world_size_columns[] = {
    [BY_WORLD_SIZE_MODEL] = {"model", "Model", TA_TEXT, .doc = "Model, from the session's tags"},
    [BY_WORLD_SIZE_WORLD_SIZE] = {"world_size", "World size", TA_COUNT,
                                  .doc = "GPUs of the session, from its tags"},
    [BY_WORLD_SIZE_RANKS_PER_BLOCK] =
        {"ranks_per_block", "Ranks per block", TA_COUNT,
         .doc = "Ranks that work on the same block: Ulysses size times ring size"},
    [BY_WORLD_SIZE_RANKS] = {"ranks", "Recorded ranks", TA_COUNT,
                             .doc = "Ranks whose blocks were recorded"},
    [BY_WORLD_SIZE_FRAMES_PER_BLOCK] = {"frames_per_block", "Frames per block", TA_NUMBER,
                                        .doc = "Mean frames per block"},
    [BY_WORLD_SIZE_STEPS_PER_BLOCK] = {"steps_per_block", "Steps per block", TA_NUMBER,
                                       .doc = "Denoising steps over blocks"},
    [BY_WORLD_SIZE_FPS] = {"fps", "FPS", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
                           .doc = "Frames over the time of their blocks, all ranks together; the "
                                  "ranks that share a block count once"},
    [BY_WORLD_SIZE_BASE_WORLD_SIZE] =
        {"base_world_size", "Compared with", TA_COUNT,
         .doc = "Smallest world size with the same model, frames per block and steps per block"},
    [BY_WORLD_SIZE_SPEEDUP] = {"speedup", "Speed-up", TA_NUMBER, .better = TA_HIGHER,
                               .doc = "FPS over the FPS of the smallest world size"},
    [BY_WORLD_SIZE_EFFICIENCY] =
        {"efficiency", "Efficiency", TA_RATIO, .better = TA_HIGHER,
         .doc = "Speed-up divided by the factor by which the number of GPUs grows"},
};

static const struct ta_table_def by_world_size = {
    "scaling.by_world_size", "Scaling", TA_COLUMNS(by_world_size_columns),
    .doc = "One row per model, world size and number of ranks per block, if a run has sessions of "
           "several world sizes according to their tags. Sessions are compared if model, frames "
           "and steps per block are the same. Ranks that were not recorded count like the others."};

/* ---- map ------------------------------------------------------------------------------------ */

static struct ta_slice tag(const struct ta_trace *trace, const char *key)
{
    size_t n;
    const struct ta_tag *tags = ta_trace_tag_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        if (tags[i].value != TA_STR_ABSENT &&
            ta_slice_equal(ta_trace_text(trace, tags[i].key), ta_slice_of(key)))
            return ta_trace_text(trace, tags[i].value);
    return (struct ta_slice){"", 0};
}

/* A positive number below a million; TA_MISSING. */
static int64_t number(struct ta_slice text)
{
    int64_t value = 0;
    if (text.len == 0 || text.len > 6)
        return TA_MISSING;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return TA_MISSING;
        value = 10 * value + (text.ptr[i] - '0');
    }
    return value > 0 ? value : TA_MISSING;
}

/* Without both sizes nobody knows whether several ranks make one video or several. */
static int64_t sharing(const struct ta_trace *trace, int64_t world)
{
    const int64_t ulysses = number(tag(trace, "ulysses_size"));
    const int64_t ring = number(tag(trace, "ring_size"));
    if (world == 1)
        return 1;
    if (ulysses == TA_MISSING || ring == TA_MISSING || world % (ulysses * ring) != 0)
        return TA_MISSING;
    return ulysses * ring;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n, n_steps;
    const struct ta_diffusion_block *blocks = ta_trace_diffusion_block_rows(trace, &n);
    const struct ta_diffusion_step *steps = ta_trace_diffusion_step_rows(trace, &n_steps);
    const int64_t world = number(tag(trace, "world_size"));
    const int64_t sharers = world == TA_MISSING ? TA_MISSING : sharing(trace, world);
    if (sharers == TA_MISSING)
        return TA_OK;
    const struct ta_key model = ta_key_text(tag(trace, "model"));
    for (size_t i = 0; i < n; i++) {
        if (blocks[i].frames == TA_MISSING || blocks[i].dur_ns == TA_MISSING)
            continue;
        int64_t *row = TA_PARTIAL_ROW(out[0], model, ta_key_int(world), ta_key_int(sharers),
                                      ta_row_rank(trace, blocks[i].rank));
        ta_sum(&row[FRAMES], blocks[i].frames);
        ta_sum(&row[TIME], blocks[i].dur_ns);
        ta_sum(&row[BLOCKS], 1);
    }
    for (size_t i = 0; n && i < n_steps; i++)
        ta_sum(&TA_PARTIAL_ROW(out[0], model, ta_key_int(world), ta_key_int(sharers),
                               ta_row_rank(trace, steps[i].rank))[STEPS],
               1);
    return TA_OK;
}

/* ---- finish --------------------------------------------------------------------------------- */

/* All ranks of one world size. */
struct group {
    struct ta_slice model;
    int64_t world, sharers, ranks;
    double frames_per_block, steps_per_block, fps;
};

/* Sums up the rows from `first` on; returns the first row after them. */
static size_t sum_up(const struct ta_partial *ranks, size_t first, struct group *group)
{
    const int64_t *head = ta_partial_at(ranks, first);
    double frames = 0, blocks = 0, steps = 0, fps = 0;
    const size_t end = ta_partial_group_end(ranks, first, SHARING);
    *group = (struct group){.model = ta_partial_text(ranks, head, MODEL),
                            .world = head[WORLD],
                            .sharers = head[SHARING]};
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(ranks, i);
        if (row[TIME] == TA_MISSING || row[TIME] <= 0)
            continue;
        frames += (double)row[FRAMES];
        blocks += (double)row[BLOCKS];
        steps += row[STEPS] == TA_MISSING ? 0 : (double)row[STEPS];
        fps += (double)row[FRAMES] / (double)row[TIME] * 1e9;
        group->ranks++;
    }
    /* Ranks that were not seen are taken to be like the others. */
    group->fps = fps / (double)group->ranks * (double)group->world / (double)group->sharers;
    group->frames_per_block = frames / blocks;
    group->steps_per_block = steps > 0 ? steps / blocks : NAN;
    return end;
}

static bool is_close(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 0.01 * fabs(b);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    const size_t n_rows = ta_partial_rows(merged[0]);
    struct group *groups = calloc(n_rows + 1, sizeof *groups);

    size_t n = 0;
    if (!groups)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: world sizes");
    for (size_t row = 0; row < n_rows;) {
        row = sum_up(merged[0], row, &groups[n]);
        n += groups[n].ranks > 0;
    }
    /* A single world size scales to nothing. */
    for (size_t i = 0; n > 1 && i < n; i++) {
        const struct group *g = &groups[i];
        /* The group of the smallest world size that does the same work. */
        const struct group *of = &groups[i];
        const struct group *base = NULL;
        for (size_t k = 0; k < n; k++)
            if (groups[k].world < of->world && groups[k].fps > 0 &&
                ta_slice_equal(groups[k].model, of->model) &&
                is_close(groups[k].frames_per_block, of->frames_per_block) &&
                is_close(groups[k].steps_per_block, of->steps_per_block) &&
                (!base || groups[k].world < base->world))
                base = &groups[k];
        const double speedup = base ? g->fps / base->fps : NAN;
        TA_ROW(out, by_world_size, [BY_WORLD_SIZE_MODEL] = ta_text_or_null(g->model),
               [BY_WORLD_SIZE_WORLD_SIZE] = ta_int(g->world),
               [BY_WORLD_SIZE_RANKS_PER_BLOCK] = ta_int(g->sharers),
               [BY_WORLD_SIZE_RANKS] = ta_int(g->ranks),
               [BY_WORLD_SIZE_FRAMES_PER_BLOCK] = ta_num(g->frames_per_block),
               [BY_WORLD_SIZE_STEPS_PER_BLOCK] = ta_num(g->steps_per_block),
               [BY_WORLD_SIZE_FPS] = ta_num(g->fps),
               [BY_WORLD_SIZE_BASE_WORLD_SIZE] = base ? ta_int(base->world) : ta_null(),
               [BY_WORLD_SIZE_SPEEDUP] = ta_num(speedup),
               [BY_WORLD_SIZE_EFFICIENCY] =
                   base ? ta_num(speedup * (double)base->world / (double)g->world) : ta_null());
    }
    free(groups);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_world_size, NULL};

static const struct ta_analysis_ops ops = {
    .section = "ranks", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, scaling, &ops, .title = "Scaling",
          .summary = "Speed-up and efficiency by world size: scaling.by_world_size",
          .version = "1");
