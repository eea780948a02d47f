/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.environment: what the runs were of, and whether they can be compared. */
#include "compare/compare.h"
#include "model/category.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include <math.h>
#include <stdio.h>

enum { KEY, BASE, NEW, STATUS, WEIGHT };

static const struct ta_column environment_columns[] = {
    [KEY] =
        {"key", "Property", TA_WORD,
         .doc =
             "Property that is compared; tags, versions and profiler options appear as recorded"},
    [BASE] = {"base", "Before", TA_TEXT, .doc = "Value in the baseline; empty if unknown"},
    [NEW] = {"new", "After", TA_TEXT, .doc = "Value in the other run; empty if unknown"},
    [STATUS] = {"status", "Status", TA_WORD,
                .doc = "same; differs; unknown (a run does not record it)"},
    [WEIGHT] = {"weight", "Weight", TA_WORD,
                .doc = "caution: runs that differ in this do different work or use different "
                       "machines; note: it only concerns the recording"},
};

static const struct ta_table_def environment = {
    "diff.environment", "Environment of the runs", TA_COLUMNS(environment_columns),
    .brief = &(const struct ta_brief){
        .place = 60,
        .rows = 8,
        .first = {&environment_columns[KEY], &environment_columns[BASE], &environment_columns[NEW]},
        .hidden = {&environment_columns[STATUS], {"same"}}}};

/* ---- what a report says --------------------------------------------------------------------- */

static const char *count_text(struct diff *diff, int64_t count)
{
    return count == TA_MISSING ? NULL : ta_arena_printf(&diff->arena, "%lld", (long long)count);
}

static const char *devices(struct diff *diff, const struct ta_refs *in)
{
    (void)diff;
    const char *names = ta_report_run(in->report)->devices;
    return *names ? names : NULL;
}

static const char *ranks(struct diff *diff, const struct ta_refs *in)
{
    return count_text(diff, (int64_t)ta_report_run(in->report)->n_ranks);
}

static const char *world_size(struct diff *diff, const struct ta_refs *in)
{
    return count_text(diff, ta_report_run(in->report)->world_size);
}

/* The text of the row with most of something. */
static const char *most_of(struct diff *diff, const struct ta_refs *in, size_t name, size_t amount)
{
    size_t most = 0;
    for (size_t i = 1; i < ta_ref_rows(in, amount); i++)
        if (ta_ref_number(in, amount, i, 0) > ta_ref_number(in, amount, most, 0))
            most = i;
    return ta_ref_table(in, name) ? ta_arena_copy(&diff->arena, ta_ref_text(in, name, most)) : NULL;
}

static const char *precision(struct diff *diff, const struct ta_refs *in)
{
    return most_of(diff, in, TA_AS_PRECISION, TA_AS_PRECISION_TIME);
}

static const char *model(struct diff *diff, const struct ta_refs *in)
{
    return most_of(diff, in, TA_AS_MODEL, TA_AS_MODEL_PARAMETERS);
}

static const char *format(struct diff *diff, const struct ta_refs *in)
{
    return most_of(diff, in, TA_AS_FORMAT, TA_AS_FORMAT_BYTES);
}

static const char *steps(struct diff *diff, const struct ta_refs *in)
{
    return count_text(diff, diff_units(in, DIFF_STEPS));
}

static const char *step_kind(struct diff *diff, const struct ta_refs *in)
{
    return diff_step_kind(diff, in);
}

static bool counts(const struct ta_refs *in, size_t row)
{
    const struct ta_cell *cell = ta_ref_cell(in, TA_AS_FILE_COUNTS, row);
    return cell->kind == TA_CELL_BOOL && cell->b &&
           ta_ref_text(in, TA_AS_FILE_RECORDING, row).len > 0;
}

static bool is_warm_up(const struct ta_refs *in, size_t row)
{
    return ta_ref_reads(in, TA_AS_FILE_KIND, row, "warm_up");
}

/* Files come in the order of names, so the files of a recording are not together. */
static bool is_first_of_recording(const struct ta_refs *in, size_t row)
{
    size_t i = 0;
    while (i < row &&
           !(counts(in, i) && ta_slice_equal(ta_ref_text(in, TA_AS_FILE_RECORDING, i),
                                             ta_ref_text(in, TA_AS_FILE_RECORDING, row))))
        i++;
    return i == row;
}

/* Figures are of a warm-up only where there is nothing else. */
const char *diff_recording_kind(struct diff *diff, const struct ta_refs *in, int64_t *n)
{
    const size_t rows = ta_ref_rows(in, TA_AS_FILE_KIND);
    size_t kind = SIZE_MAX;
    int64_t recordings = 0;
    for (size_t i = 0; i < rows; i++)
        if (counts(in, i) && (kind == SIZE_MAX || is_warm_up(in, kind)))
            kind = i;
    for (size_t i = 0; i < rows; i++)
        recordings += counts(in, i) && is_warm_up(in, i) == is_warm_up(in, kind) &&
                      is_first_of_recording(in, i);
    if (n)
        *n = kind == SIZE_MAX ? 1 : recordings;
    char *text = ta_arena_copy(
        &diff->arena, kind == SIZE_MAX ? TA_LIT("run") : ta_ref_text(in, TA_AS_FILE_KIND, kind));
    for (char *at = text; at && *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return text;
}

static const char *recording(struct diff *diff, const struct ta_refs *in)
{
    return diff_recording_kind(diff, in, NULL);
}

static const char *recordings(struct diff *diff, const struct ta_refs *in)
{
    int64_t n;
    return diff_recording_kind(diff, in, &n) ? count_text(diff, n) : NULL;
}

static bool has_ops(const struct ta_refs *in)
{
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_EVENT_CATEGORY); i++)
        if (ta_class_is_op(ta_category_classify(ta_ref_text(in, TA_AS_EVENT_CATEGORY, i))))
            return true;
    return false;
}

/* What the window is of: a recording of devices alone lacks what the host does around their work.
 */
static const char *covers(struct diff *diff, const struct ta_refs *in)
{
    const double window = ta_ref_scalar(in, TA_AS_PROGRAM_WINDOW, (double)NAN);
    (void)diff;
    if (isnan(window))
        return NULL;
    if (!ta_ref_table(in, TA_AS_DEVICE_WINDOW))
        return "host";
    if (has_ops(in))
        return "host and devices";
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_EVENT_CATEGORY); i++)
        if (ta_class_is_host(ta_category_classify(ta_ref_text(in, TA_AS_EVENT_CATEGORY, i))))
            return "launches and devices";
    return "devices";
}

static const char *frames(struct diff *diff, const struct ta_refs *in)
{
    return count_text(diff, diff_units(in, DIFF_FRAMES));
}

static const char *yes_or_no(bool yes)
{
    return yes ? "yes" : "no";
}

/* Bytes of the name of an operator in front of its shapes. */
enum { OP_MOST = 24 };

static const char *with_shapes(struct diff *diff, struct ta_slice op, struct ta_slice shapes)
{
    op = diff_brief(diff, op, OP_MOST);
    return ta_arena_printf(&diff->arena, "%.*s %.*s", (int)op.len, op.ptr, (int)shapes.len,
                           shapes.ptr);
}

/* Input shapes of an operator where it takes the device longest. */
static const char *largest_shapes(struct diff *diff, const struct ta_refs *in, struct ta_slice op)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_SHAPED_OP); i++)
        if (ta_slice_equal(ta_ref_text(in, TA_AS_SHAPED_OP, i), op) &&
            (most == SIZE_MAX || ta_ref_number(in, TA_AS_SHAPES_TIME, i, 0) >
                                     ta_ref_number(in, TA_AS_SHAPES_TIME, most, 0)))
            most = i;
    if (most == SIZE_MAX)
        return NULL;
    const struct ta_slice of = ta_ref_text(in, TA_AS_SHAPES, most);
    return with_shapes(diff, op, of);
}

/* Whether shapes are the same up to inputs that one of them has on top, such as `out`. */
static bool are_alike(const char *a, const char *b)
{
    const size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    const char *longer = strlen(a) < strlen(b) ? b : a;
    return n > 1 && memcmp(a, b, n - 1) == 0 && (strlen(a) == strlen(b) || longer[n - 1] == ',');
}

/* Whether an operator takes such shapes, too. */
static bool takes_shapes(struct diff *diff, const struct ta_refs *in, struct ta_slice op,
                         const char *shown)
{
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_SHAPED_OP); i++) {
        if (!ta_slice_equal(ta_ref_text(in, TA_AS_SHAPED_OP, i), op))
            continue;
        const char *own = with_shapes(diff, op, ta_ref_text(in, TA_AS_SHAPES, i));
        if (own && are_alike(own, shown))
            return true;
    }
    return false;
}

static bool has_shapes(const struct ta_refs *in, struct ta_slice op)
{
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_SHAPED_OP); i++)
        if (ta_slice_equal(ta_ref_text(in, TA_AS_SHAPED_OP, i), op))
            return true;
    return false;
}

/* Of the operator of both runs that takes the device of the baseline longest: one that gave its
 * place to another, as another kind of attention does, says nothing about the work. */
static const char *shapes(struct diff *diff, const struct ta_refs *in)
{
    const struct ta_refs *base = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    double most = -1;
    struct ta_slice op = {NULL, 0};
    for (size_t i = 0; i < ta_ref_rows(base, TA_AS_SHAPED_OP); i++) {
        const double ns = ta_ref_number(base, TA_AS_SHAPES_TIME, i, 0);
        if (ns > most && has_shapes(new, ta_ref_text(base, TA_AS_SHAPED_OP, i))) {
            most = ns;
            op = ta_ref_text(base, TA_AS_SHAPED_OP, i);
        }
    }
    const char *shown = op.len ? largest_shapes(diff, base, op) : NULL;
    /* Of shapes that take as long either may be the longest. */
    return in == base || !shown || takes_shapes(diff, in, op, shown) ? shown
                                                                     : largest_shapes(diff, in, op);
}

/* The kind of attention that takes the device longest. */
static const char *attention(struct diff *diff, const struct ta_refs *in)
{
    return most_of(diff, in, TA_AS_ATTENTION, TA_AS_ATTENTION_TIME);
}

static const char *shapes_recorded(struct diff *diff, const struct ta_refs *in)
{
    (void)diff;
    return yes_or_no(ta_ref_table(in, TA_AS_SHAPED_OP) != NULL);
}

static const char *python_recorded(struct diff *diff, const struct ta_refs *in)
{
    (void)diff;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_EVENT_CATEGORY); i++)
        if (ta_ref_reads(in, TA_AS_EVENT_CATEGORY, i, "python_function"))
            return yes_or_no(true);
    return yes_or_no(false);
}

/* Figures of a trace that is trusted less are hints, as is a comparison with it. */
static const char *trust(struct diff *diff, const struct ta_refs *in)
{
    static const double enough = 0.5;
    const double trust = ta_ref_scalar(in, TA_AS_TRUST, (double)NAN);
    (void)diff;
    return isnan(trust) ? NULL : trust < enough ? "hints only" : "trusted";
}

static const char *data_status(struct diff *diff, const struct ta_refs *in)
{
    (void)diff;
    return ta_quality_status_name(ta_report_accounts(in->report)->status);
}

/* ---- the keys -------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    const char *(*read)(struct diff *diff, const struct ta_refs *in);
    bool is_caution;
    bool is_setting; /* the speed of equal work depends on it */
    bool is_of_recording;
    const char *words; /* in the verdict, where no other part of it says that this differs */
} keys[] = {
    {"devices", devices, true, false, false, NULL},
    {"world_size", world_size, true, false, false, NULL},
    {"ranks", ranks, true, false, false, NULL},
    {"recording", recording, true, false, false, NULL},
    {"recordings", recordings, false, false, false, NULL},
    {"covers", covers, true, false, true, "what was recorded"},
    {"precision", precision, true, true, false, NULL},
    {"model", model, true, false, false, "model"},
    {"steps", steps, true, false, false, NULL},
    {"step_kind", step_kind, true, false, false, "kind of step"},
    {"frames", frames, true, false, false, NULL},
    {"shapes", shapes, true, false, false, "input shapes"},
    {"attention", attention, false, true, false, NULL},
    {"format", format, true, false, false, NULL},
    {"trust", trust, true, false, true, "quality of the recording"},
    {"shapes_recorded", shapes_recorded, false, false, true, NULL},
    {"python_recorded", python_recorded, false, false, true, NULL},
    {"data_status", data_status, false, false, false, NULL},
};

/* What keeps the runs from being compared without a second thought, "devices, steps". */
struct doubts {
    char text[256];
    size_t n;
};

static void add_doubt(struct doubts *doubts, const char *key)
{
    const size_t length = strlen(doubts->text);
    snprintf(doubts->text + length, sizeof doubts->text - length, "%s%s", doubts->n ? ", " : "",
             key);
    doubts->n++;
}

static struct ta_cell text_or_null(const char *text)
{
    return text ? ta_text(ta_slice_of(text)) : ta_null();
}

/* Whether a value is the same on both sides.  Names of one device may say how it is known, or that
 * it is virtual. */
static bool is_same_value(const char *base, const char *new)
{
    static const char *const ends[] = {" (inferred)", " VF"};
    const size_t n = strlen(base) < strlen(new) ? strlen(base) : strlen(new);
    const char *rest = strlen(base) < strlen(new) ? new + n : base + n;
    bool is_same = memcmp(base, new, n) == 0 && !*rest;
    for (size_t i = 0; i < TA_LENGTH(ends); i++)
        is_same |= memcmp(base, new, n) == 0 && strcmp(rest, ends[i]) == 0;
    return is_same;
}

/* "on 8 ranks instead of 4", "on an H200 instead of an H100": what the runs ran on and in. */
static void say_setting(struct diff *diff)
{
    const struct ta_refs *base = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    static const struct {
        const char *(*read)(struct diff *diff, const struct ta_refs *in);
        const char *word;
    } all[] = {{devices, "on"}, {world_size, "on"}, {precision, "in"}};
    const char *texts[TA_LENGTH(all)];
    size_t n = 0;
    for (size_t i = 0; i < TA_LENGTH(all); i++) {
        const char *before = all[i].read(diff, base), *after = all[i].read(diff, new);
        char text[256];
        if (!before || !after || is_same_value(before, after) || strcmp(before, "unknown") == 0 ||
            strcmp(after, "unknown") == 0)
            continue;
        if (all[i].read == world_size)
            snprintf(text, sizeof text, "on %s rank%s instead of %s", after,
                     strcmp(after, "1") == 0 ? "" : "s", before);
        else
            snprintf(text, sizeof text, "%s %s instead of %s", all[i].word, after, before);
        texts[n++] = ta_arena_copy(&diff->arena, ta_slice_of(text));
    }
    for (size_t i = 0; i < n; i++)
        diff->on = ta_arena_printf(&diff->arena, "%s%s%s", diff->on ? diff->on : "",
                                   i == 0       ? ""
                                   : i + 1 == n ? " and "
                                                : ", ",
                                   texts[i] ? texts[i] : "");
}

/* "precision (bf16 → fp32)", after those before it. */
static void say_setting_differs(struct diff *diff, const char *key, const char *base,
                                const char *new)
{
    enum { TEXT_MOST = 160, VALUE_MOST = 40 };
    if (diff->settings && strlen(diff->settings) > TEXT_MOST)
        return;
    const struct ta_slice before = ta_slice_head(ta_slice_of(base), VALUE_MOST);
    const struct ta_slice after = ta_slice_head(ta_slice_of(new), VALUE_MOST);
    diff->settings = ta_arena_printf(
        &diff->arena, "%s%s%s (%.*s → %.*s)", diff->settings ? diff->settings : "",
        diff->settings ? ", " : "", key, (int)before.len, before.ptr, (int)after.len, after.ptr);
}

static void say_apart(struct diff *diff, const char *words)
{
    diff->apart = ta_arena_printf(&diff->arena, "%s%s%s", diff->apart ? diff->apart : "",
                                  diff->apart ? ", " : "", words);
}

static void add_keys(struct diff *diff, struct ta_section_builder *out, struct doubts *doubts)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *base = keys[i].read(diff, &diff->in[TA_DIFF_BASE]);
        const char *new = keys[i].read(diff, &diff->in[TA_DIFF_NEW]);
        const char *status = !base || !new              ? "unknown"
                             : is_same_value(base, new) ? "same"
                                                        : "differs";
        if (!base && !new)
            continue;
        if (keys[i].is_caution && strcmp(status, "same") != 0)
            add_doubt(doubts, keys[i].key);
        const bool is_told = (keys[i].read == shapes && diff->phases.task) ||
                             (keys[i].read == covers && diff->recorded_text);
        if (keys[i].words && strcmp(status, "differs") == 0 && !is_told)
            say_apart(diff, keys[i].words);
        if (keys[i].is_setting && strcmp(status, "differs") == 0)
            say_setting_differs(diff, keys[i].key, base, new);
        diff->has_other_recording |= keys[i].is_of_recording && strcmp(status, "differs") == 0;
        diff->has_other_shapes |= keys[i].read == shapes && strcmp(status, "differs") == 0;
        TA_ROW(out,
               environment, [KEY] = ta_text(ta_slice_of(keys[i].key)), [BASE] = text_or_null(base),
               [NEW] = text_or_null(new), [STATUS] = ta_text(ta_slice_of(status)),
               [WEIGHT] = ta_text(keys[i].is_caution ? TA_LIT("caution") : TA_LIT("note")));
    }
}

/* Whether the speed of equal work may depend on a tag. */
static bool is_setting(const char *tag)
{
    static const char *const parts[] = {"version",   "dtype",   "precision", "backend",
                                        "attention", "offload", "compile",   "quant"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcasestr(tag, parts[i]))
            return true;
    return false;
}

static size_t find_tag(const struct ta_refs *in, struct ta_slice key)
{
    size_t i = 0;
    while (i < ta_ref_rows(in, TA_AS_TAG) && !ta_slice_equal(ta_ref_text(in, TA_AS_TAG, i), key))
        i++;
    return i;
}

/* Tags of a session, versions of libraries, options of the profiler; as the first rank has them:
 * others mostly have the same.  What one run alone says is not known of the other. */
static void add_tags(struct diff *diff, struct ta_section_builder *out, struct doubts *doubts)
{
    enum { NAMED_MOST = 8 };
    const struct ta_refs *base = &diff->in[TA_DIFF_BASE], *new = &diff->in[TA_DIFF_NEW];
    for (size_t i = 0; i < ta_ref_rows(base, TA_AS_TAG); i++) {
        const struct ta_slice key = ta_ref_text(base, TA_AS_TAG, i);
        const size_t k = find_tag(new, key);
        if (ta_ref_rank(base, TA_AS_TAG, i) != ta_ref_rank(base, TA_AS_TAG, 0) ||
            k == ta_ref_rows(new, TA_AS_TAG) ||
            ta_slice_equal(ta_ref_text(new, TA_AS_TAG_VALUE, k),
                           ta_ref_text(base, TA_AS_TAG_VALUE, i)))
            continue;
        const char *name = ta_arena_copy(&diff->arena, key);
        if (name && doubts->n < NAMED_MOST)
            add_doubt(doubts, name);
        const char *before = ta_arena_copy(&diff->arena, ta_ref_text(base, TA_AS_TAG_VALUE, i));
        const char *after = ta_arena_copy(&diff->arena, ta_ref_text(new, TA_AS_TAG_VALUE, k));
        if (name && before && after && is_setting(name))
            say_setting_differs(diff, name, before, after);
        TA_ROW(out, environment, [KEY] = ta_text(key),
               [BASE] = ta_text(ta_ref_text(base, TA_AS_TAG_VALUE, i)),
               [NEW] = ta_text(ta_ref_text(new, TA_AS_TAG_VALUE, k)),
               [STATUS] = ta_text(TA_LIT("differs")), [WEIGHT] = ta_text(TA_LIT("caution")));
    }
}

/* Share of the time of a list that names of both sides take. */
static double shared_time(const struct diff_pairs *pairs)
{
    double shared = 0, all = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        const struct diff_item *const *item = pairs->at[i].item;
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            all += item[side] ? (double)item[side]->total_ns : 0;
        if ((item[0] && item[1]) || pairs->at[i].set)
            for (int side = 0; side < TA_DIFF_SIDES; side++)
                shared += item[side] ? (double)item[side]->total_ns : 0;
    }
    return all > 0 ? shared / all : -1;
}

enum { COMPARABLE, SHARED };

static const struct ta_scalar_def scalars[] = {
    [COMPARABLE] = {"diff_comparable", "Comparable", TA_UNIT_NONE, TA_NEUTRAL,
                    .doc = "Whether the runs did the same work, and what differs or is unknown"},
    [SHARED] = {"diff_shared_time", "Time in common", TA_UNIT_RATIO, TA_NEUTRAL,
                .doc = "Matched time: time in kernels, or else stages or operators, that both runs "
                       "have, divided by the time of both runs"},
};

/* Runs with less in common did different things. */
#define LEAST_SHARED 0.05
/* Runs with less are compared with caution. */
#define ENOUGH_SHARED 0.5

static void find_recorded(struct diff *diff)
{
    for (int side = 0; side < TA_DIFF_SIDES; side++) {
        const struct ta_refs *in = &diff->in[side];
        bool has_shapes = false;
        for (size_t i = 0; i < ta_ref_rows(in, TA_AS_SHAPED_OP) && !has_shapes; i++) {
            const struct ta_slice of = ta_ref_text(in, TA_AS_SHAPES, i);
            has_shapes = of.len && memchr(of.ptr, '[', of.len);
        }
        const bool has_stacks = strcmp(python_recorded(diff, in), "yes") == 0;
        diff->recorded[side] = (has_ops(in) ? DIFF_RECORDED_OPS : 0U) |
                               (has_shapes ? DIFF_RECORDED_SHAPES : 0U) |
                               (has_stacks ? DIFF_RECORDED_STACKS : 0U);
    }
    diff_find_recorded(diff);
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    struct doubts doubts = {"", 0};
    find_recorded(diff);
    say_setting(diff);
    add_keys(diff, out, &doubts);
    add_tags(diff, out, &doubts);
    double shared = shared_time(&diff->kernels);
    if (shared < 0)
        shared = shared_time(&diff->stages);
    if (shared < 0)
        shared = shared_time(&diff->ops);
    if (shared < 0)
        shared = diff->shared_loops;
    const char *before = format(diff, &diff->in[TA_DIFF_BASE]);
    const char *after = format(diff, &diff->in[TA_DIFF_NEW]);
    const bool is_other_format = before && after && strcmp(before, after) != 0;
    const bool no = shared >= 0 && shared < (is_other_format ? ENOUGH_SHARED : LEAST_SHARED);
    if (is_other_format) {
        diff->formats[TA_DIFF_BASE] = before;
        diff->formats[TA_DIFF_NEW] = after;
    }
    diff->shared = shared;
    diff->is_alien = no;
    diff->is_doubtful = doubts.n > 0;
    diff->is_other_work = shared >= 0 && shared < ENOUGH_SHARED;
    if (shared < ENOUGH_SHARED)
        add_doubt(&doubts, shared < 0 ? "time in common" : "most of the time");
    const char *note = no ? "The runs have no kernels, stages or operators in common"
                       : doubts.n
                           ? ta_arena_printf(&diff->arena, "Different or unknown: %s", doubts.text)
                           : "Everything known about both runs is the same";
    const char *verdict = no ? "no" : doubts.n ? "with caution" : "yes";
    ta_word_scalar(out, &scalars[COMPARABLE], ta_text(ta_slice_of(verdict)), NULL, note);
    ta_set_scalar(out, &scalars[SHARED], shared < 0 ? ta_null() : ta_num(shared));
    return true;
}

static const struct ta_table_def *const tables[] = {&environment, NULL};

const struct diff_part diff_of_environment = {
    .declares = {.name = "diff.environment", .tables = tables, TA_SCALARS(scalars)},
    .section = "diff_runs",
    .add = add};
