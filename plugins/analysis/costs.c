/* SPDX-License-Identifier: GPL-3.0-or-later */
/* costs.values: GPU time, energy and, with --price, money for what a run makes: a frame, an
 * image, a step, 1000 tokens.  All devices of the run count, busy or idle, since all of them are
 * paid for.  If a program measures its own rate, that rate is used, otherwise the window of the
 * program is divided by what was made in it. */
#include "base/context.h"

#include <traceanalyze/analysis.h>

#include <math.h>

/* ---- what is read ---------------------------------------------------------------------------- */

enum {
    WINDOW,
    STEPS,
    KIND_RANK,
    KIND_PHASE,
    KIND_BATCH,
    KIND_WIDTH,
    KIND_STEPS,
    KIND_SET_UP,
    KIND_TOKENS,
    KIND_TIME,
    METRIC,
    BASIS,
    RATE,
    POWER,
    SESSION,
    LOOP_IMAGES,
    LOOP_IMAGE_TIME,
    LOOP_STEPS
};

static const struct ta_ref reads[] = {
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [STEPS] = {"steps.by_rank", "steps"},
    [KIND_RANK] = {"steps.by_kind", "rank"},
    [KIND_PHASE] = {"steps.by_kind", "phase"},
    [KIND_BATCH] = {"steps.by_kind", "batch"},
    [KIND_WIDTH] = {"steps.by_kind", "width"},
    [KIND_STEPS] = {"steps.by_kind", "steps"},
    [KIND_SET_UP] = {"steps.by_kind", "set_up"},
    [KIND_TOKENS] = {"steps.by_kind", "tokens"},
    [KIND_TIME] = {"steps.by_kind", "total_ns"},
    [METRIC] = {"throughput.values", "metric"},
    [BASIS] = {"throughput.values", "basis"},
    [RATE] = {"throughput.values", "value"},
    [POWER] = {"energy.by_rank", "mean_w"},
    [SESSION] = {"run.sessions", "dur_ns"},
    [LOOP_IMAGES] = {"diffusion.loops", "images"},
    [LOOP_IMAGE_TIME] = {"diffusion.loops", "image_ns"},
    [LOOP_STEPS] = {"diffusion.loops", "steps"},
};

/* ---- table ----------------------------------------------------------------------------------- */

enum { PER, BASIS_OF, COUNT, DEVICES, GPU_TIME, GPU_HOURS, ENERGY, COST, CURRENCY };
static const struct ta_column costs_columns[] = {
    [PER] = {"per", "Per", TA_TEXT,
             .doc = "What the GPU time, energy and cost of the row are for: the whole run, or one "
                    "image, frame, block, step, request, or 1000 tokens"},
    [BASIS_OF] =
        {"basis", "Basis", TA_WORD,
         .doc = "program: the program's window divided by what was made in it; steps: the time of "
                "the steps that generate tokens; otherwise the basis of the throughput used"},
    [COUNT] = {"count", "Count", TA_NUMBER,
               .doc = "How many were made in that time; empty if only a rate is known"},
    [DEVICES] = {"devices", "Devices", TA_NUMBER,
                 .doc = "Number of devices in the run, including ranks that were not read"},
    [GPU_TIME] = {"gpu_ns", "GPU time", TA_NS_MEAN, .better = TA_LOWER,
                  .doc = "Wall time times number of devices, per unit of the row"},
    [GPU_HOURS] = {"gpu_hours", "GPU hours", TA_NUMBER, .better = TA_LOWER,
                   .doc = "GPU time in hours, per unit of the row"},
    [ENERGY] = {"energy_j", "Energy", TA_TYPE_NUMBER, TA_UNIT_JOULE, .better = TA_LOWER,
                .doc = "Mean power of all devices times wall time, per unit of the row; empty if "
                       "the power of a device was not sampled"},
    [COST] = {"cost", "Cost", TA_NUMBER, .better = TA_LOWER,
              .doc = "GPU hours times --price, per unit of the row; empty without --price"},
    [CURRENCY] = {"currency", "Currency", TA_TEXT, .role = TA_NOTE,
                  .doc = "Currency as given with --price"},
};

/* The terminal shows this table only with --price. */
static const struct ta_ref brief_reads[] = {{"costs.values", "cost"}};

static bool is_priced(const struct ta_refs *in)
{
    return ta_ref_rows(in, 0) > 0 && !isnan(ta_ref_number(in, 0, 0, NAN));
}

static const struct ta_table_def costs = {
    "costs.values",
    "Cost",
    TA_COLUMNS(costs_columns),
    .tier = TA_TIER_DETAIL,
    .doc =
        "One row per kind of thing that the run makes, if their number or rate is known; the row "
        "`run` is the whole run. Ranks are assumed to work on the same things: if their counts "
        "differ, the largest is used. The energy covers the devices without the host.",
    .joining = TA_JOIN_NOT,
    .brief = &(const struct ta_brief){.place = 275,
                                      .rows = 8,
                                      .is_supplement = true,
                                      .applies = is_priced,
                                      TA_READS(brief_reads)}};

/* ---- devices --------------------------------------------------------------------------------- */

struct run {
    double devices;   /* NAN: not known */
    double window_ns; /* of the program, mean over devices; NAN: no trace */
    double power;     /* of all devices; NAN: not known */
    const struct ta_price *price;
};

/* Number of devices from the traces; for dumps one per rank.  Ranks that were not read are
 * assumed to have as many. */
static double count_devices(const struct ta_refs *in)
{
    const struct ta_run_info *run = ta_report_run(in->report);
    const double ranks = (double)run->n_ranks;
    const double seen = ta_ref_rows(in, WINDOW) ? (double)ta_ref_rows(in, WINDOW) : ranks;
    if (run->world_size == TA_MISSING || ranks <= 0 || (double)run->world_size <= ranks)
        return seen;
    return seen * (double)run->world_size / ranks;
}

/* Every rank samples all devices of its host, so one rank is enough; other hosts are not
 * included. */
static double sum_power(const struct ta_refs *in, double devices)
{
    double sum = 0, n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, POWER); row++) {
        if (ta_ref_rank(in, POWER, row) != ta_ref_rank(in, POWER, 0))
            break;
        if (ta_ref_device(in, POWER, row) == TA_MISSING)
            return ta_ref_number(in, POWER, row, NAN);
        sum += ta_ref_number(in, POWER, row, NAN);
        n++;
    }
    return n == devices ? sum : NAN;
}

static double mean_of(const struct ta_refs *in, int ref)
{
    const size_t n = ta_ref_rows(in, (size_t)ref);
    double sum = 0;
    for (size_t row = 0; row < n; row++)
        sum += ta_ref_number(in, (size_t)ref, row, NAN);
    return n ? sum / (double)n : NAN;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_row(struct ta_section_builder *out, const struct run *run, const char *per,
                    const char *basis, double count, double wall_ns)
{
    if (!(wall_ns > 0 && isfinite(wall_ns)))
        return;
    const double gpu_ns = wall_ns * run->devices, hours = gpu_ns / 3.6e12;
    const bool priced = run->price->per_hour > 0;
    TA_ROW(out, costs, [PER] = ta_text(ta_slice_of(per)), [BASIS_OF] = ta_text(ta_slice_of(basis)),
           [COUNT] = ta_num(count), [DEVICES] = ta_num(run->devices), [GPU_TIME] = ta_num(gpu_ns),
           [GPU_HOURS] = ta_num(hours), [ENERGY] = ta_num(run->power * wall_ns / 1e9),
           [COST] = ta_num(priced ? hours * run->price->per_hour : NAN),
           [CURRENCY] = priced && run->price->currency[0]
                            ? ta_text(ta_slice_of(run->price->currency))
                            : ta_null());
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* Rates of the run and the bases on which they may be counted, the best first. */
static const struct rated {
    const char *metric, *per;
    double each; /* number of them per row of the table */
    const char *bases[4];
} rated[] = {
    {"images_per_s", "image", 1, {"wall", "as_reported"}},
    {"fps", "frame", 1, {"wall", "until_cut", "blocks"}},
    {"frames_per_s", "frame", 1, {"wall", "as_reported"}},
    {"bps", "block", 1, {"wall", "until_cut", "blocks"}},
    {"requests_per_s", "request", 1, {"wall", "as_reported"}},
    {"tokens_per_s", "1000 tokens", 1000, {"wall", "sections", "as_reported"}},
};
enum { RATED = TA_LENGTH(rated) };

static bool is_of_run(const struct ta_refs *in, size_t row)
{
    return ta_ref_rank(in, RATE, row) == TA_MISSING || ta_report_run(in->report)->n_ranks <= 1;
}

/* The row of a rate of the run on a basis; SIZE_MAX without one. */
static size_t find_rate(const struct ta_refs *in, const char *metric, const char *basis)
{
    for (size_t row = 0; row < ta_ref_rows(in, RATE); row++)
        if (ta_ref_reads(in, METRIC, row, metric) && ta_ref_reads(in, BASIS, row, basis) &&
            is_of_run(in, row) && ta_ref_number(in, RATE, row, NAN) > 0)
            return row;
    return SIZE_MAX;
}

static bool add_rated(struct ta_section_builder *out, const struct ta_refs *in,
                      const struct run *run, const struct rated *of)
{
    for (size_t i = 0; i < TA_LENGTH(of->bases) && of->bases[i]; i++) {
        const size_t row = find_rate(in, of->metric, of->bases[i]);
        if (row == SIZE_MAX)
            continue;
        add_row(out, run, of->per, of->bases[i], NAN,
                of->each * 1e9 / ta_ref_number(in, RATE, row, NAN));
        return true;
    }
    return false;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static bool is_image(const struct ta_refs *in, size_t row)
{
    return ta_ref_integer(in, KIND_WIDTH, row) != TA_MISSING;
}

static double images_of(const struct ta_refs *in, size_t row)
{
    return is_image(in, row)
               ? ta_ref_number(in, KIND_BATCH, row, NAN) * (ta_ref_number(in, KIND_STEPS, row, 0) +
                                                            ta_ref_number(in, KIND_SET_UP, row, 0))
               : NAN;
}

/* The largest number of images that a rank made; 0 if not known. */
static double most_images(const struct ta_refs *in)
{
    double most = 0, sum = 0;
    for (size_t row = 0; row < ta_ref_rows(in, KIND_STEPS); row++) {
        if (row > 0 && ta_ref_rank(in, KIND_RANK, row) != ta_ref_rank(in, KIND_RANK, row - 1))
            sum = 0;
        const double made = images_of(in, row);
        sum += isnan(made) ? 0 : made;
        most = fmax(most, sum);
    }
    return most;
}

/* The largest number in a column; 0 without any. */
static double most_in(const struct ta_refs *in, size_t ref)
{
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, ref); row++)
        most = fmax(most, ta_ref_number(in, ref, row, 0));
    return most;
}

/* Steps of the denoiser, else those that the program marks, unless its marks are of whole images.
 */
static double most_steps(const struct ta_refs *in)
{
    const double denoising = most_in(in, LOOP_STEPS);
    for (size_t row = 0; row < ta_ref_rows(in, KIND_STEPS); row++)
        if (is_image(in, row))
            return denoising;
    return denoising > 0 ? denoising : most_in(in, STEPS);
}

/* Tokens that a server generates, over the time of the steps that generate them. */
static void add_tokens(struct ta_section_builder *out, const struct ta_refs *in,
                       const struct run *run)
{
    double tokens = 0, time = 0;
    for (size_t row = 0; row < ta_ref_rows(in, KIND_STEPS); row++) {
        const double of_row = ta_ref_number(in, KIND_TOKENS, row, NAN);
        if (ta_ref_rank(in, KIND_RANK, row) != ta_ref_rank(in, KIND_RANK, 0) || isnan(of_row) ||
            !ta_ref_reads(in, KIND_PHASE, row, "decode"))
            continue;
        tokens += of_row;
        time += ta_ref_number(in, KIND_TIME, row, 0);
    }
    if (tokens > 0)
        add_row(out, run, "1000 tokens", "steps", tokens, time / tokens * 1000);
}

static void add_counted(struct ta_section_builder *out, const struct ta_refs *in,
                        const struct run *run)
{
    const double marked = most_images(in), steps = most_steps(in);
    const bool whole = most_in(in, LOOP_IMAGE_TIME) > 0; /* from the prompt to the decoder */
    const double images = marked > 0 ? marked : whole ? most_in(in, LOOP_IMAGES) : 0;
    if (images > 0)
        add_row(out, run, "image", "program", images, run->window_ns / images);
    if (steps > 0)
        add_row(out, run, "step", "program", steps, run->window_ns / steps);
    add_tokens(out, in, run);
}

/* ---- finish ---------------------------------------------------------------------------------- */

/* The duration of the longest session of a dump. */
static double session_of(const struct ta_refs *in)
{
    double most = NAN;
    for (size_t row = 0; row < ta_ref_rows(in, SESSION); row++)
        most = fmax(most, ta_ref_number(in, SESSION, row, NAN));
    return most;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    struct run run = {.devices = count_devices(in),
                      .window_ns = mean_of(in, WINDOW),
                      .price = &ctx->shared->price};
    run.power = sum_power(in, run.devices);
    bool is_rated = false;
    const double session = session_of(in);
    if (session > 0)
        add_row(out, &run, "run", "wall", NAN, session);
    else if (run.window_ns > 0)
        add_row(out, &run, "run", "program", NAN, run.window_ns);
    for (size_t i = 0; i < RATED; i++)
        is_rated |= add_rated(out, in, &run, &rated[i]);
    if (!is_rated)
        add_counted(out, in, &run);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&costs, NULL};

static const struct ta_analysis_ops ops = {.section = "overview",
                                           .place = 5,
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, costs, &ops, .title = "Cost",
          .summary = "GPU time, energy and money per unit of what a run makes: costs.values",
          .version = "1");
