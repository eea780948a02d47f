/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.host_budget, steps.host_calls, diffusion.resolutions: how long a denoising step needs on
 * the host and on the device, and at which resolution both need the same.  Device work grows
 * with the number of tokens, attention with its square; host work does not. */
#include "lib/modules.h"
#include "lib/recording_cost.h"
#include "measure.h"
#include "scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART_KINDS, PART_NAMES };
enum {
    KIND_RANK,
    KIND_KIND,
    KIND_HOST,
    KIND_DEVICE,
    KIND_STEPS,
    KIND_WAITS,
    KIND_AHEAD,
    KIND_LEAST_AHEAD,
    KIND_LAUNCHES,
    KIND_RECORDER,
    KIND_OPTIONS,
    KIND_FIELDS
};
static const struct ta_field kind_fields[KIND_FIELDS] = {
    [KIND_RANK] = {"rank", TA_FIELD_RANK},
    [KIND_KIND] = {"kind", TA_FIELD_INT},
    [KIND_HOST] = {"host_ns", TA_FIELD_DIST},
    [KIND_DEVICE] = {"device_ns", TA_FIELD_DIST},
    [KIND_STEPS] = {"steps", TA_FIELD_SUM},
    [KIND_WAITS] = {"waits_ns", TA_FIELD_SUM},
    [KIND_AHEAD] = {"ahead_ns", TA_FIELD_SUM},
    [KIND_LEAST_AHEAD] = {"least_ahead_ns", TA_FIELD_MIN},
    [KIND_LAUNCHES] = {"launches", TA_FIELD_SUM},
    [KIND_RECORDER] = {"recorder_ns", TA_FIELD_SUM},
    [KIND_OPTIONS] = {"has_options", TA_FIELD_MAX},
};

enum { NAME_RANK, NAME_KIND, NAME_NAME, NAME_SELF, NAME_CALLS, NAME_FIELDS };
static const struct ta_field name_fields[NAME_FIELDS] = {
    [NAME_RANK] = {"rank", TA_FIELD_RANK},  [NAME_KIND] = {"kind", TA_FIELD_INT},
    [NAME_NAME] = {"name", TA_FIELD_TEXT},  [NAME_SELF] = {"self_ns", TA_FIELD_SUM},
    [NAME_CALLS] = {"calls", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PART_KINDS] = {"kinds", kind_fields, KIND_FIELDS},
    [PART_NAMES] = {"names", name_fields, NAME_FIELDS},
    {0},
};

/* ---- map ----------------------------------------------------------------------------------- */

/* Names kept per kind of step: the ones that take most. */
enum { NAMES_KEPT = 8 };

static void add_step(const struct measured_step *step, int64_t rank, bool has_options,
                     struct ta_partial *out)
{
    int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(rank), ta_key_int(step->kind));
    ta_dist_add(ta_partial_dist(out, row, KIND_HOST), step->end - step->start - step->waits);
    ta_dist_add(ta_partial_dist(out, row, KIND_DEVICE), step->device);
    ta_sum(&row[KIND_STEPS], 1);
    ta_sum(&row[KIND_WAITS], step->waits);
    ta_sum(&row[KIND_AHEAD], step->ahead);
    ta_least(&row[KIND_LEAST_AHEAD], step->ahead);
    ta_sum(&row[KIND_LAUNCHES], step->launches);
    ta_sum(&row[KIND_RECORDER], has_options ? ta_whole(step->recorder) : 0);
    ta_most(&row[KIND_OPTIONS], has_options);
}

/* Ranges that differ only in the number at their end are one: "denoise_step_*". */
static struct ta_slice family(struct ta_slice name, char text[64])
{
    size_t end = name.len;
    while (end > 0 && name.ptr[end - 1] >= '0' && name.ptr[end - 1] <= '9')
        end--;
    const bool is_numbered = end > 1 && end < name.len && end < 60 &&
                             (name.ptr[end - 1] == '_' || name.ptr[end - 1] == ' ');
    if (!is_numbered || ta_is_module(name))
        return name;
    memcpy(text, name.ptr, end);
    text[end] = '*';
    return (struct ta_slice){text, end + 1};
}

static void add_names(const struct ta_trace *trace, const struct measured *measured,
                      struct ta_partial *out)
{
    for (size_t i = 0, n = 0; i < measured->n_names; i++, n++) {
        const struct measured_name *name = &measured->names[i];
        n = i && measured->names[i - 1].kind != name->kind ? 0 : n;
        if (n >= NAMES_KEPT || name->self <= 0)
            continue;
        char text[64];
        int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(name->kind),
                                      ta_key_text(family(ta_trace_text(trace, name->name), text)));
        ta_sum(&row[NAME_SELF], name->self);
        ta_sum(&row[NAME_CALLS], name->calls);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    int64_t counts[TA_RECORDED_PARTS];
    if (!found)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    if (found->n_steps == 0)
        return TA_OK;
    double *cost = ta_recorded_counts(trace, counts) ? ta_recorded_costs(trace, counts) : NULL;
    struct measured measured = {0};
    const bool done = cost && measure(trace, found, cost, &measured);
    for (size_t i = 0; done && i < measured.n_steps; i++)
        if (measured.steps[i].launches > 0 && measured.steps[i].device > 0)
            add_step(&measured.steps[i], ta_trace_rank(trace), ta_recorded_options(counts),
                     out[PART_KINDS]);
    if (done)
        add_names(trace, &measured, out[PART_NAMES]);
    measured_free(&measured);
    free(cost);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the host's time of steps");
}

/* ---- tables -------------------------------------------------------------------------------- */

enum {
    RANK,
    KIND,
    STEPS,
    HOST,
    DEVICE,
    RATIO,
    BOUND,
    WAITS,
    AHEAD,
    LEAST_AHEAD,
    LAUNCHES,
    PER_LAUNCH,
    RECORDER,
    HOST_LEAST,
    HOST_MOST,
    LARGEST,
    LARGEST_SHARE,
    TURN_WIDTH,
    TURN_HEIGHT,
    TURN_BATCH,
    NOTE
};
static const struct ta_column budget_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [KIND] = {"kind", "Kind", TA_TYPE_INTEGER, .role = TA_KEY,
              .doc = "0: full steps; other numbers: kinds of shortened steps, numbered like the "
                     "kinds of model calls"},
    [STEPS] = {"steps", "Steps", TA_COUNT, .doc = "Number of denoising steps of this kind"},
    [HOST] = {"host_ns", "Host time", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.7,
              .doc = "Median time of the launching thread from the start of a step to the start of "
                     "the next (for the last step, to the end of its last call), without waits: "
                     "Python, operators, launches"},
    [DEVICE] = {"device_ns", "GPU time", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.5,
                .doc = "Median busy time of the device work launched in a step"},
    [RATIO] = {"ratio", "Host / GPU", TA_RATIO, .better = TA_LOWER,
               .doc = "Host time divided by GPU time: above 100 % the host limits these steps"},
    [BOUND] = {"bound", "Bound by", TA_WORD,
               .doc = "device or host, whichever needs longer; either if it depends on how much "
                      "the recorder slowed the host"},
    [WAITS] = {"waits_ns", "Waits", TA_NS_MEAN, .better = TA_LOWER,
               .doc =
                   "Mean time per step in which the launching thread waits: in calls that wait for "
                   "the device or copy while the device works; in launches of more than 100 µs "
                   "while the device works all along, because the queue is full; for other hosts"},
    [AHEAD] = {"run_ahead_ns", "Run-ahead", TA_NS_MEAN, .better = TA_HIGHER,
               .doc = "Mean time from the last launch of a step to the start of the work it "
                      "launched: how far the host is ahead at the end of the step"},
    [LEAST_AHEAD] = {"run_ahead_least_ns", "Least run-ahead", TA_NS, .better = TA_HIGHER,
                     .detail = true, .doc = "Shortest run-ahead of any step"},
    [LAUNCHES] = {"launches", "Launches", TA_TYPE_NUMBER, TA_UNIT_COUNT, .better = TA_LOWER,
                  .doc =
                      "Mean number of calls per step that launch something; a graph launch is one"},
    [PER_LAUNCH] = {"host_per_launch_ns", "Host per launch", TA_NS_MEAN, .better = TA_LOWER,
                    .doc = "Host time divided by launches"},
    [RECORDER] =
        {"recorder_ns", "Recorder overhead", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Part of the host time of a step that recording took, estimated from the number of "
                "spans of each kind; empty if no stacks, shapes or memory were recorded"},
    [HOST_LEAST] =
        {"host_least_ns", "Host time (low)", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Host time of a step without recording, if recording took twice the estimate"},
    [HOST_MOST] =
        {"host_most_ns", "Host time (high)", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Host time of a step without recording, if recording took half of the estimate"},
    [LARGEST] = {"largest", "Largest call", TA_TEXT,
                 .doc = "Call with the most host time of its own, without what it calls"},
    [LARGEST_SHARE] =
        {"largest_share", "Largest call share", TA_RATIO,
         .doc = "Time of the largest call as a share of the host time in all steps of this kind"},
    [TURN_WIDTH] = {"turn_width", "Balanced width", TA_COUNT, .detail = true,
                    .doc =
                        "Image width at which host and GPU would need equally long, if only the "
                        "resolution changes (without the estimated recorder overhead). A GPU whose "
                        "work shrinks less than its tokens stays the limit for longer. Empty if "
                        "this is less than a sixteenth or more than 16 times of the pixels"},
    [TURN_HEIGHT] = {"turn_height", "Balanced height", TA_COUNT, .detail = true,
                     .doc = "Image height at which host and GPU would need equally long, if only "
                            "the resolution changes"},
    [TURN_BATCH] = {"turn_batch", "Balanced batch", TA_COUNT, .detail = true,
                    .doc = "If the host is the limit: the smallest batch at which the GPU would "
                           "be; otherwise the largest batch at which the host would be"},
    [NOTE] = {"note", "Verdict", TA_SENTENCE, .doc = "What the row says about host and GPU"},
};

/* Whether the host needs almost as long as the device, so that it is worth looking at. */
static bool is_near(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, 0); i++)
        if (ta_ref_number(in, 0, i, 0) >= 0.5)
            return true;
    return false;
}

static const struct ta_ref near_reads[] = {{"steps.host_budget", "ratio"}};

static const struct ta_table_def budget = {
    "steps.host_budget",
    "Host time per step",
    TA_COLUMNS(budget_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and kind of denoising step: how long the host and the GPU need for "
           "it. As long as the host needs less and does not wait, it runs ahead and its time is "
           "hidden; once the GPU needs less per step (smaller images, fewer layers, a step cache, "
           "a faster GPU), the host limits the steps. Recording Python stacks, shapes and memory "
           "slows the host: its time without them is between `host_least_ns` and `host_most_ns`.",
    .brief = &(const struct ta_brief){
        .place = 263,
        .rows = 4,
        .applies = is_near,
        TA_READS(near_reads),
        .remark = &budget_columns[NOTE],
        .never = {&budget_columns[HOST_LEAST], &budget_columns[HOST_MOST], &budget_columns[WAITS],
                  &budget_columns[LARGEST_SHARE], &budget_columns[RECORDER]}}};

enum { CALL_RANK, CALL_KIND, CALL_NAME, CALL_CALLS, CALL_SELF, CALL_SHARE };
static const struct ta_column calls_columns[] = {
    [CALL_RANK] = TA_RANK_COLUMN,
    [CALL_KIND] = {"kind", "Kind", TA_TYPE_INTEGER, .role = TA_KEY,
                   .doc = "Kind of the step; 0: full steps"},
    [CALL_NAME] =
        {"name", "Name", TA_TEXT,
         .doc = "Operator, runtime call, function or range; empty for time outside all spans"},
    [CALL_CALLS] = {"calls", "Calls/step", TA_TYPE_NUMBER, TA_UNIT_COUNT, .better = TA_LOWER,
                    .doc = "Mean number of these calls that begin in a step"},
    [CALL_SELF] =
        {"self_ns", "Time/step", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Mean time per step in these calls, without what they call and without waits"},
    [CALL_SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the host time of the step"},
};

static const struct ta_table_def calls = {"steps.host_calls",
                                          "Host time per step by call",
                                          TA_COLUMNS(calls_columns),
                                          .doc =
                                              "The eight calls with the most host time in the "
                                              "denoising steps of a kind, on the launching thread.",
                                          .tier = TA_TIER_DETAIL,
                                          .not_of_ranks = true};

/* ---- finish -------------------------------------------------------------------------------- */

/* Times that a step needs. */
struct need {
    double host, device, least, most, without;
    bool has_options;
};

static struct need need_of(const struct ta_partial *of, const int64_t *row)
{
    struct need need = {.host = ta_dist_quantile(ta_partial_dist_at(of, row, KIND_HOST), 50),
                        .device = ta_dist_quantile(ta_partial_dist_at(of, row, KIND_DEVICE), 50),
                        .has_options = row[KIND_OPTIONS] > 0};
    const double recorder = (double)row[KIND_RECORDER] / (double)row[KIND_STEPS];
    need.least = fmax(0, need.host - ta_cost_factors[TA_COST_MOST] * recorder);
    need.without = fmax(0, need.host - recorder);
    need.most = fmax(0, need.host - ta_cost_factors[TA_COST_LEAST] * recorder);
    return need;
}

/* Whether the host is ahead of the device at the end of a step: its last launch waits longer
 * than a device takes to start. */
static bool is_ahead(const int64_t *row)
{
    return row[KIND_AHEAD] > row[KIND_STEPS] * TA_FRONT_END_NS;
}

static const char *bound_of(const struct need *need)
{
    return need->most <= need->device ? "device" : need->least > need->device ? "host" : "either";
}

/* The rows [first, end) of the partial of names, which are of one rank and kind. */
struct part {
    const struct ta_partial *names;
    size_t first, end;
};

/* The part after row `from`, in the order of ranks and kinds. */
static struct part names_of(const struct ta_partial *names, const int64_t *kind, size_t from)
{
    struct part part = {names, from, from};
    for (; part.end < ta_partial_rows(names); part.end++) {
        const int64_t *row = ta_partial_at(names, part.end);
        const bool is_before =
            row[NAME_RANK] < kind[KIND_RANK] ||
            (row[NAME_RANK] == kind[KIND_RANK] && row[NAME_KIND] < kind[KIND_KIND]);
        if (is_before)
            part.first = part.end + 1;
        else if (row[NAME_RANK] != kind[KIND_RANK] || row[NAME_KIND] != kind[KIND_KIND])
            break;
    }
    return part;
}

/* The row with the next smaller time; of equal ones the first.  NULL if there are no more. */
static const int64_t *largest_after(const struct part *part, size_t *at)
{
    const int64_t below = *at == SIZE_MAX ? INT64_MAX : ta_partial_at(part->names, *at)[NAME_SELF];
    const int64_t *largest = NULL;
    size_t found = SIZE_MAX;
    for (size_t i = part->first; i < part->end; i++) {
        const int64_t *row = ta_partial_at(part->names, i);
        const bool follows =
            *at == SIZE_MAX || row[NAME_SELF] < below || (row[NAME_SELF] == below && i > *at);
        if (follows && (!largest || row[NAME_SELF] > largest[NAME_SELF])) {
            largest = row;
            found = i;
        }
    }
    *at = found;
    return largest;
}

/* A lower bound below this share of the host's time is not said. */
#define LEAST_SAID 0.1

static int say_host(char *line, size_t room, const struct need *need)
{
    char least[TA_UNIT_TEXT_MAX], most[TA_UNIT_TEXT_MAX];
    ta_unit_format(least, need->least, TA_UNIT_NS);
    ta_unit_format(most, need->most, TA_UNIT_NS);
    if (!need->has_options || strcmp(least, most) == 0)
        return snprintf(line, room, "the host needs %s per step", most);
    if (need->least < LEAST_SAID * need->host)
        return snprintf(line, room, "without recording overhead the host needs up to %s per step",
                        most);
    return snprintf(line, room, "without recording overhead the host needs %s to %s per step",
                    least, most);
}

/* "384×384", "384×384 to 512×512". */
static void write_turn(const struct turn *least, const struct turn *most, char *text, size_t room)
{
    text[0] = 0;
    if (least->width == TA_MISSING || most->width == TA_MISSING)
        return;
    const int at =
        snprintf(text, room, "%lld×%lld", (long long)least->width, (long long)least->height);
    if (least->width != most->width || least->height != most->height)
        snprintf(text + at, room - (size_t)at, " to %lld×%lld", (long long)most->width,
                 (long long)most->height);
}

/* "hidden: the host needs 15 ms per step, the GPU 170 ms; both need the same at about 384×384". */
static void write_note(const struct need *need, bool ahead, const struct sizes_now *now, char *line,
                       size_t room)
{
    char device[TA_UNIT_TEXT_MAX], at_size[96];
    const char *bound = bound_of(need);
    const struct turn least = turn_of(now, need->device, need->least),
                      most = turn_of(now, need->device, need->most);
    int at = snprintf(line, room, "%s: ",
                      strcmp(bound, "device") == 0 ? ahead ? "hidden" : "host and GPU in turns"
                      : strcmp(bound, "host") == 0 ? "host-bound"
                                                   : "unclear because of recording overhead");
    at += say_host(line + at, room - (size_t)at, need);
    at += snprintf(line + at, room - (size_t)at, ", the GPU %s",
                   ta_unit_format(device, need->device, TA_UNIT_NS));
    write_turn(&least, &most, at_size, sizeof at_size);
    if (at_size[0])
        snprintf(line + at, room - (size_t)at, "; both need the same at about %s", at_size);
}

static void add_calls(const struct part *part, const int64_t *kind, double all,
                      struct ta_section_builder *out)
{
    const double n = (double)kind[KIND_STEPS];
    size_t at = SIZE_MAX;
    for (int k = 0; k < NAMES_KEPT; k++) {
        const int64_t *next = largest_after(part, &at);
        if (!next)
            return;
        TA_ROW(out,
               calls, [CALL_RANK] = ta_int(next[NAME_RANK]), [CALL_KIND] = ta_int(next[NAME_KIND]),
               [CALL_NAME] = ta_text_or_null(ta_partial_text(part->names, next, NAME_NAME)),
               [CALL_CALLS] = ta_num((double)next[NAME_CALLS] / n),
               [CALL_SELF] = ta_num((double)next[NAME_SELF] / n),
               [CALL_SHARE] = all > 0 ? ta_num((double)next[NAME_SELF] / all) : ta_null());
    }
}

static void add_kind(const struct ta_partial *of, const int64_t *row, const struct part *part,
                     const struct sizes_now *now, struct ta_section_builder *out)
{
    const struct need need = need_of(of, row);
    const double n = (double)row[KIND_STEPS];
    const double all = (double)ta_dist_sum(ta_partial_dist_at(of, row, KIND_HOST));
    size_t first = SIZE_MAX;
    const int64_t *largest = largest_after(part, &first);
    const struct turn turn = turn_of(now, need.device, need.without);
    char note[320];
    write_note(&need, is_ahead(row), now, note, sizeof note);
    TA_ROW(out, budget, [RANK] = ta_int(row[KIND_RANK]), [KIND] = ta_int(row[KIND_KIND]),
           [STEPS] = ta_int(row[KIND_STEPS]), [HOST] = ta_num(need.host),
           [DEVICE] = ta_num(need.device), [RATIO] = ta_num(need.host / need.device),
           [BOUND] = ta_string(bound_of(&need)), [WAITS] = ta_num((double)row[KIND_WAITS] / n),
           [AHEAD] = ta_num((double)row[KIND_AHEAD] / n),
           [LEAST_AHEAD] = ta_int(row[KIND_LEAST_AHEAD]),
           [LAUNCHES] = ta_num((double)row[KIND_LAUNCHES] / n),
           [PER_LAUNCH] = ta_num(need.host * n / (double)row[KIND_LAUNCHES]),
           [RECORDER] = need.has_options ? ta_num((double)row[KIND_RECORDER] / n) : ta_null(),
           [HOST_LEAST] = need.has_options ? ta_num(need.least) : ta_null(),
           [HOST_MOST] = need.has_options ? ta_num(need.most) : ta_null(),
           [LARGEST] = largest ? ta_text_or_null(ta_partial_text(part->names, largest, NAME_NAME))
                               : ta_null(),
           [LARGEST_SHARE] =
               largest && all > 0 ? ta_num((double)largest[NAME_SELF] / all) : ta_null(),
           [TURN_WIDTH] = ta_int(turn.width), [TURN_HEIGHT] = ta_int(turn.height),
           [TURN_BATCH] = ta_int(turn.batch), [NOTE] = ta_string(note));
    if (row[KIND_KIND] == 0)
        add_resolutions(row[KIND_RANK], now, need.device, need.least, need.most, out);
    add_calls(part, row, all, out);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *of = merged[PART_KINDS];
    struct part part = {merged[PART_NAMES], 0, 0};
    for (size_t i = 0; i < ta_partial_rows(of); i++) {
        const int64_t *row = ta_partial_at(of, i);
        struct sizes_now now = sizes_of_rank(in, row[KIND_RANK]);
        if (row[KIND_KIND] != 0) /* how the work of a shortened step grows is not known */
            now.width = TA_MISSING;
        part = names_of(merged[PART_NAMES], row, part.end);
        add_kind(of, row, &part, &now, out);
    }
    return TA_OK;
}

static const char *const samples_op_args[] = {"Input Dims", NULL};

static const struct ta_table_def *const tables[] = {&budget, &calls, &resolutions, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .samples_op_args = samples_op_args,
                                           .section = "steps",
                                           .place = 6,
                                           TA_READS(scale_reads),
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, host_budget, &ops, .title = "Host time per step",
          .summary = "How long host and device need per denoising step, now and at other "
                     "resolutions: steps.host_budget, steps.host_calls, diffusion.resolutions",
          .version = "1");
