/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first line of a report: how busy the devices were, and what costs most; of dumps without a
 * trace of the devices how fast the run was, and what took most of its time. */
#include "recommend/line.h"
#include "recommend/recommend.h"

#include "recommend/memory_line.h"
#include "report/report.h"
#include "report/short_name.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

static double scalar(const struct ta_report *report, const char *id)
{
    const struct ta_scalar *found = ta_report_scalar(report, id);
    return found ? ta_cell_number(&found->value, -1) : -1;
}

static double number(const struct ta_table *table, size_t row, const char *column)
{
    return ta_row_number(table, row, column, NAN);
}

/* ---- dumps --------------------------------------------------------------------------------- */

/* How many sessions a rank has, of the rank with most of them: what is over "the session" is then
 * over all of them. */
static size_t count_sessions(const struct ta_report *report)
{
    const struct ta_table *sessions = ta_report_table(report, "run.sessions");
    size_t most = 0, n = 0;
    for (size_t i = 0; sessions && i < sessions->n_rows; i++) {
        n = i && number(sessions, i, "rank") == number(sessions, i - 1, "rank") ? n + 1 : 1;
        most = n > most ? n : most;
    }
    return most;
}

/* "the session", "the 2 sessions" */
static const char *session_words(const struct ta_report *report, char words[32])
{
    const size_t n = count_sessions(report);
    snprintf(words, 32, n > 1 ? "the %zu sessions" : "the session", n);
    return words;
}

/* `rate` is that of all ranks together, where there is one: of `n` ranks, else of the slowest. */
static void say_rates(struct line *line, double rate, double slowest, size_t n, const char *what,
                      const char *how)
{
    char all[TA_UNIT_TEXT_MAX], one[TA_UNIT_TEXT_MAX];
    ta_unit_format(all, rate, TA_UNIT_NONE);
    ta_unit_format(one, slowest, TA_UNIT_NONE);
    if (rate > slowest)
        say(line, "%s %s per second %s by %zu ranks, %s on the slowest.", all, what, how, n, one);
    else
        say(line, "%s %s per second %s%s.", all, what, how, n > 1 ? ", on the slowest rank" : "");
}

/* The most telling rate: of frames before tokens, ours before the profiler's. */
static void say_rate(struct line *line, const struct ta_report *report)
{
    char words[32], over_session[48];
    snprintf(over_session, sizeof over_session, "over %s", session_words(report, words));
    const struct {
        const char *metric, *basis, *what, *how;
    } rates[] = {
        {"fps", "wall", "frames", over_session},
        {"fps", "until_cut", "frames", "up to where the report is cut"},
        {"fps", "blocks", "frames", "over the time of the blocks"},
        {"tokens_per_s", "sections", "tokens", "over the sections that generate them"},
        {"fps", "as_reported (block)", "frames", "as the profiler reports for its blocks"},
        {"fps", "as_reported", "frames", "as the profiler reports"},
        {"tokens_per_s", "as_reported", "tokens", "as the profiler reports"},
        {"e2e_tokens_per_s", "as_reported", "tokens", "end to end, as the profiler reports"},
        {"bps", "wall", "blocks", over_session},
    };
    const struct ta_table *values = ta_report_table(report, "throughput.values");
    for (size_t r = 0; values && r < sizeof rates / sizeof *rates; r++) {
        double slowest = NAN, of_run = NAN;
        size_t n = 0;
        for (size_t i = 0; i < values->n_rows; i++) {
            if (!ta_row_reads(values, i, "metric", rates[r].metric) ||
                !ta_row_reads(values, i, "basis", rates[r].basis))
                continue;
            if (isnan(number(values, i, "rank"))) {
                of_run = number(values, i, "value");
                continue;
            }
            slowest = fmin(slowest, number(values, i, "value"));
            n++;
        }
        if (isnan(slowest) && isnan(of_run))
            continue;
        say_rates(line, isnan(of_run) ? slowest : of_run, slowest, n, rates[r].what, rates[r].how);
        return;
    }
}

/* What fits a sentence. */
enum { NAME_MOST = 80 };

/* Below this share a stage explains little. */
#define TELLING 0.2
/* Above this share none takes more. */
#define MOST_OF_IT 0.5
/* A lone stage of less than this share of what several parts take is not what to look at. */
#define RIVAL 0.5

/* The row with the largest value, SIZE_MAX without any; `lone`: of those that are not one stage in
 * several parts. */
static size_t largest(const struct ta_table *stages, const char *column, bool lone)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; stages && i < stages->n_rows; i++)
        if (!isnan(number(stages, i, column)) && !(lone && number(stages, i, "members") > 1) &&
            (most == SIZE_MAX || number(stages, i, column) > number(stages, most, column)))
            most = i;
    return most;
}

/* The stage with the largest share; without shares the one with the largest total.  Batches and
 * chunks are the run itself, so they tell less than another part of about their size. */
static size_t telling_stage(const struct ta_table *stages)
{
    const size_t lone = largest(stages, "share", true);
    size_t most = largest(stages, "share", false);
    if (most == SIZE_MAX)
        most = largest(stages, "mean_total_ns", false);
    else if (lone != SIZE_MAX && number(stages, lone, "share") >= TELLING &&
             number(stages, lone, "share") >= RIVAL * number(stages, most, "share"))
        most = lone;
    return most;
}

/* "vae_decode takes 66.1 % of the session (8.00 s of 12.1 s)." */
static void say_share(struct line *line, const struct ta_report *report, size_t row,
                      const char *what)
{
    const struct ta_table *stages = ta_report_table(report, "stages.over_ranks");
    char words[32], total[TA_UNIT_TEXT_MAX], share[TA_UNIT_TEXT_MAX], whole[TA_UNIT_TEXT_MAX];
    const double ns = number(stages, row, "mean_total_ns"), of = number(stages, row, "share");
    ta_unit_format(total, ns, TA_UNIT_NS);
    ta_unit_format(share, of, TA_UNIT_RATIO);
    ta_unit_format(whole, ns / of, TA_UNIT_NS);
    if (ta_row_reads(stages, row, "share_of", "session"))
        say(line, "%s takes %s of %s (%s of %s).", what, share, session_words(report, words), total,
            whole);
    else if (ta_row_reads(stages, row, "share_of", "sum") && of >= 1)
        say(line, "%s takes %s; no other stage was timed.", what, total);
    else
        say(line, "%s takes %s of the time%s (%s).", what, share,
            ta_row_reads(stages, row, "share_of", "sum") ? " in all stages" : "", total);
}

/* What of the session no stage was recorded for. */
static double unknown_part(const struct ta_table *stages)
{
    double sum = 0;
    for (size_t i = 0; stages && i < stages->n_rows; i++) {
        const double share = number(stages, i, "share");
        if (ta_row_reads(stages, i, "share_of", "session") && !isnan(share))
            sum += share;
    }
    return sum > 0 ? 1 - sum : 0;
}

/* Says it where it is more than any stage takes. */
static void say_unknown(struct line *line, const struct ta_report *report, double most)
{
    const struct ta_table *stages = ta_report_table(report, "stages.over_ranks");
    char share[TA_UNIT_TEXT_MAX], words[32];
    const double unknown = unknown_part(stages);
    if (unknown > TELLING && unknown > most)
        say(line, "No stage was recorded for %s of %s.",
            ta_unit_format(share, unknown, TA_UNIT_RATIO), session_words(report, words));
}

/* Whether the profiler recorded the stage as one, under the name that it has. */
static bool is_recorded(const struct ta_table *stages, size_t row)
{
    return !ta_row_reads(stages, row, "source", "blocks") &&
           !ta_row_reads(stages, row, "source", "steps");
}

/* Returns the name that it says; empty when no stage tells anything. */
static struct ta_slice say_stage(struct line *line, const struct ta_report *report)
{
    const struct ta_table *stages = ta_report_table(report, "stages.over_ranks");
    const size_t most = telling_stage(stages);
    const double share = most == SIZE_MAX ? 0 : number(stages, most, "share");
    /* Blocks and steps that are lost with the rest of a report may have taken more. */
    const bool is_cut = ta_report_scalar(report, "fps_until_cut") != NULL;
    if (most == SIZE_MAX || !(number(stages, most, "mean_total_ns") > 0) || share < TELLING ||
        (is_cut && share < MOST_OF_IT)) {
        if (!is_cut)
            say_unknown(line, report, share);
        return (struct ta_slice){.len = 0};
    }
    char total[TA_UNIT_TEXT_MAX], what[NAME_MOST + 64];
    const struct ta_slice name =
        ta_short_name(line->arena, ta_row_text(stages, most, "stage"), NAME_MOST);
    const double members = number(stages, most, "members");
    if (members > 1)
        snprintf(what, sizeof what, "%.*s (%.0f stages)", (int)name.len, name.ptr, members);
    else
        snprintf(what, sizeof what, "%.*s", (int)name.len, name.ptr);
    if (!is_recorded(stages, most))
        what[0] = (char)toupper((unsigned char)what[0]); /* a word, not a name */
    if (isnan(share)) {
        ta_unit_format(total, number(stages, most, "mean_total_ns"), TA_UNIT_NS);
        say(line, "%s takes most time: %s.", what, total);
        return name;
    }
    say_share(line, report, most, what);
    if (!is_cut)
        say_unknown(line, report, share);
    return name;
}

static void say_step(struct line *line, const struct ta_report *report)
{
    const struct ta_table *ranks = ta_report_table(report, "diffusion.by_rank");
    double slowest = NAN;
    for (size_t i = 0; ranks && i < ranks->n_rows; i++)
        slowest = fmax(slowest, number(ranks, i, "step_mean_ns"));
    char step[TA_UNIT_TEXT_MAX];
    if (!isnan(slowest))
        say(line, "A denoising step takes %s.", ta_unit_format(step, slowest, TA_UNIT_NS));
}

static void say_memory(struct line *line, const struct ta_report *report)
{
    char text[sizeof line->text / 2];
    ta_memory_line(report, text, sizeof text);
    if (text[0])
        say(line, "%s", text);
}

static void say_utilization(struct line *line, const struct ta_report *report)
{
    const double share = scalar(report, "gpu_utilization");
    char text[TA_UNIT_TEXT_MAX];
    if (share >= 0)
        say(line, "The devices are in use %s of the time.",
            ta_unit_format(text, share, TA_UNIT_RATIO));
}

/* Whether a finding is of the stage that a sentence is about. */
static bool is_of_stage(const struct ta_finding *finding, struct ta_slice name)
{
    return name.len && strcmp(finding->rule, "stage_share") == 0 &&
           strncasecmp(finding->title, name.ptr, name.len) == 0 && finding->title[name.len] == ' ';
}

/* The name of the largest value of a column, with all its rows: a table by rank has several. */
struct most {
    struct ta_slice name;
    double value, share; /* of the sum of the column */
};

/* Of the rows of a kind, NULL for all. */
static struct most find_most_of(const struct ta_table *table, const char *column, const char *kind)
{
    struct most most = {.share = NAN};
    double all = 0, largest = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        if (kind && !ta_row_reads(table, i, "kind", kind))
            continue;
        const double value = fmax(0, number(table, i, column));
        all += value;
        if (value > largest) {
            largest = value;
            most.name = ta_row_text(table, i, "name");
        }
    }
    if (!(all > 0))
        return most;
    for (size_t i = 0; i < table->n_rows; i++)
        if (ta_slice_equal(ta_row_text(table, i, "name"), most.name) &&
            (!kind || ta_row_reads(table, i, "kind", kind)))
            most.value += fmax(0, number(table, i, column));
    most.share = most.value / all;
    return most;
}

static struct most find_most(const struct ta_table *table, const char *column)
{
    return find_most_of(table, column, NULL);
}

static void say_most(struct line *line, const struct most *most, const char *whose)
{
    if (isnan(most->share))
        return;
    const struct ta_slice name = ta_short_name(line->arena, most->name, NAME_MOST);
    char share[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX];
    ta_unit_format(share, most->share, TA_UNIT_RATIO);
    ta_unit_format(time, most->value, TA_UNIT_NS);
    say(line, "%.*s itself takes %s of the %s's time (%s).", (int)name.len, name.ptr, share, whose,
        time);
}

/* Whether the traces hold work of devices that could not be told from that of the host. */
static bool has_foreign_devices(const struct ta_report *report)
{
    const struct ta_table *checks = ta_report_table(report, "health.checks");
    for (size_t i = 0; checks && i < checks->n_rows; i++)
        if (ta_row_reads(checks, i, "check", "devices as the host's"))
            return true;
    return false;
}

/* ---- tables of operators ------------------------------------------------------------------- */

/* Over all ranks, what ops.totals has. */
struct op_totals {
    double device, host, wait;
    const char *who;       /* "GPU", "NPU" … */
    struct ta_slice limit; /* empty where ranks differ or nothing tells */
};

static const char *device_word(struct line *line, struct ta_slice device)
{
    static const char *const gpus[] = {"CUDA", "XPU", "HIP"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (ta_slice_equal(device, ta_slice_of(gpus[i])))
            return "GPU";
    return device.len ? ta_arena_printf(line->arena, "%.*s", (int)device.len, device.ptr)
                      : "device";
}

static struct op_totals find_totals(struct line *line, const struct ta_table *table)
{
    struct op_totals totals = {.who = "device"};
    for (size_t i = 0; table && i < table->n_rows; i++) {
        const struct ta_slice limit = ta_row_text(table, i, "limit");
        if (i == 0) {
            totals.limit = limit;
            totals.who = device_word(line, ta_row_text(table, i, "device"));
        } else if (!ta_slice_equal(limit, totals.limit)) {
            totals.limit = (struct ta_slice){.len = 0};
        }
        totals.device += fmax(0, number(table, i, "device_ns"));
        totals.host += fmax(0, number(table, i, "host_ns"));
        totals.wait += fmax(0, number(table, i, "wait_ns"));
    }
    return totals;
}

/* From this share on the host mostly waits. */
#define MOSTLY 0.5

static void say_limit(struct line *line, const struct op_totals *totals,
                      const struct ta_table *sums)
{
    char device[TA_UNIT_TEXT_MAX], host[TA_UNIT_TEXT_MAX], all[TA_UNIT_TEXT_MAX];
    char share[TA_UNIT_TEXT_MAX];
    ta_unit_format(device, totals->device, TA_UNIT_NS);
    ta_unit_format(host, totals->host - totals->wait, TA_UNIT_NS);
    ta_unit_format(all, totals->host, TA_UNIT_NS);
    if (ta_slice_equal(totals->limit, TA_LIT("host"))) {
        say(line, "The host limits the run: its own work takes %s, the %s's kernels %s.", host,
            totals->who, device);
    } else if (ta_slice_equal(totals->limit, TA_LIT("device")) &&
               totals->wait >= MOSTLY * totals->host) {
        const struct most call = find_most_of(sums, "self_cpu_ns", "wait");
        ta_unit_format(share, totals->wait / totals->host, TA_UNIT_RATIO);
        say(line, "The %s limits the run: the host waits for it %s of its %s, most in %.*s.",
            totals->who, share, all, (int)call.name.len, call.name.ptr);
    } else if (ta_slice_equal(totals->limit, TA_LIT("device"))) {
        say(line, "The %s limits the run: its kernels take %s, the host's own work %s.",
            totals->who, device, host);
    } else {
        say(line, "Kernels take %s on the %s, the host's own work %s.", device, totals->who, host);
    }
}

/* The kernel or operator that takes most time of the device. */
static void say_on_device(struct line *line, const struct op_totals *totals,
                          const struct most *most)
{
    char share[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX], all[TA_UNIT_TEXT_MAX];
    const struct ta_slice name = ta_short_name(line->arena, most->name, NAME_MOST);
    ta_unit_format(share, most->value / totals->device, TA_UNIT_RATIO);
    ta_unit_format(time, most->value, TA_UNIT_NS);
    ta_unit_format(all, totals->device, TA_UNIT_NS);
    say(line, "%.*s takes %s of the %s's %s (%s).", (int)name.len, name.ptr, share, totals->who,
        all, time);
}

/* The function or operator that takes most time: of devices, as far as sums tell it, else of the
 * host. */
static void say_operators(struct line *line, const struct ta_report *report)
{
    const struct ta_table *ops = ta_report_table(report, "ops.by_name");
    const struct ta_table *sums = ta_report_table(report, "ops.summed");
    const struct most on_device = find_most(sums, "device_part_ns");
    if (!isnan(on_device.share)) {
        const struct op_totals totals = find_totals(line, ta_report_table(report, "ops.totals"));
        if (totals.host > 0)
            say_limit(line, &totals, sums);
        say_on_device(line, &totals, &on_device);
        return;
    }
    const struct most on_host = ops ? find_most(ops, "self_ns") : find_most(sums, "self_cpu_ns");
    if (ops || sums)
        say(line, "%s",
            has_foreign_devices(report)
                ? "Work of devices is in a form that is not known, and counts as the host's."
                : "No device activity was recorded: host figures only.");
    say_most(line, &on_host, "host");
}

/* ---- dumps, all of it ---------------------------------------------------------------------- */

/* Whether the line is about the layer that a finding is about. */
static bool is_of_layer(const struct ta_finding *finding, const struct line *line)
{
    static const char layer[] = "The layer ";
    return strcmp(finding->id, "layer-share") == 0 &&
           strncmp(line->text, layer, sizeof layer - 1) == 0;
}

static void say_dumps(struct line *line, const struct ta_report *report,
                      const struct ta_finding *worst)
{
    say_rate(line, report);
    const struct ta_slice stage = say_stage(line, report);
    if (stage.len == 0)
        say_step(line, report);
    if (line->n == 0) {
        say_operators(line, report);
        say_times(line, report);
        say_memory(line, report);
    }
    if (line->n == 0)
        say_utilization(line, report);
    if (line->n == 0)
        say_figures(line, report);
    if (worst && !is_of_stage(worst, stage) && !is_of_layer(worst, line))
        say(line, "%s.", worst->title);
}

/* ---- the line ------------------------------------------------------------------------------ */

/* Parts this close to each other both name the run. */
#define CLOSE 0.05

/* ", launch-bound (83 %, then compute 10 %)": the largest part of the windows and the next one. */
static const char *bound_of(const struct ta_report *report, char *words, size_t size)
{
    const struct ta_table *parts = ta_report_table(report, "run.bound");
    words[0] = '\0';
    if (!parts || parts->n_rows == 0)
        return words;
    const struct ta_slice class = ta_row_text(parts, 0, "class");
    const double share = number(parts, 0, "share");
    char most[TA_UNIT_TEXT_MAX], next[TA_UNIT_TEXT_MAX];
    ta_unit_format(most, share, TA_UNIT_RATIO);
    if (parts->n_rows == 1) {
        snprintf(words, size, ", %.*s", (int)class.len, class.ptr);
        return words;
    }
    const struct ta_slice second_class = ta_row_text(parts, 1, "class");
    const struct ta_slice second = ta_row_text(parts, 1, "bound");
    const double runner_up = number(parts, 1, "share");
    ta_unit_format(next, runner_up, TA_UNIT_RATIO);
    if (share - runner_up < CLOSE)
        snprintf(words, size, ", %.*s (%s) and %.*s (%s)", (int)class.len, class.ptr, most,
                 (int)second_class.len, second_class.ptr, next);
    else
        snprintf(words, size, ", %.*s (%s, then %.*s %s)", (int)class.len, class.ptr, most,
                 (int)second.len, second.ptr, next);
    return words;
}

static void say_devices(struct line *line, const struct ta_report *report, double busy,
                        const struct ta_finding *worst)
{
    char window[TA_UNIT_TEXT_MAX], share[TA_UNIT_TEXT_MAX], bound[200];
    ta_unit_format(window, scalar(report, "gpu_window_ns"), TA_UNIT_NS);
    ta_unit_format(share, busy, TA_UNIT_RATIO);
    say(line, "GPU busy %s of %s%s. %s.", share, window, bound_of(report, bound, sizeof bound),
        worst ? worst->title : "No rule found anything worth changing");
}

void ta_verdict_set(struct ta_report *report, const struct ta_finding *worst)
{
    struct line line = {.arena = ta_report_arena(report)};
    const double busy = scalar(report, "gpu_busy_share");
    if (busy >= 0)
        say_devices(&line, report, busy, worst);
    else
        say_dumps(&line, report, worst);
    ta_report_set_verdict(report, line.text, worst ? worst->id : NULL);
}
