/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze merge`: the traces of all ranks as one file for viewers. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/merge_choice.h"
#include "base/write/file.h"
#include "render/sink.h"
#include "report/report.h"

/* Traces are read with this input; of others nothing can be passed on. */
#define MERGED_FORMAT "chrome_json"

enum { PACKED, PLAIN, ARCHIVE, FORMATS };
static const char *const extensions[FORMATS] = {
    [PACKED] = ".json.gz", [PLAIN] = ".json", [ARCHIVE] = ".tar"};

/* Without -o. */
#define PRESET_NAME "merged.json.gz"

/* Where the product goes, and as what. */
struct target {
    enum ta_sink_kind kind;
    const char *path;
    int format;
};

/* ---- place --------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *extension)
{
    const size_t n = strlen(path), m = strlen(extension);
    return n > m && strcmp(path + n - m, extension) == 0 && path[n - m - 1] != '/';
}

static enum ta_status choose_target(struct ta_cli *cli, struct target *target)
{
    const char *out = cli->args.out ? cli->args.out : PRESET_NAME;
    *target = (struct target){.kind = TA_SINK_FILE, .path = out};
    if (strcmp(out, "-") == 0) {
        *target = (struct target){.kind = TA_SINK_STDOUT, .format = PLAIN};
        return TA_OK;
    }
    while (target->format < FORMATS && !ends_in(out, extensions[target->format]))
        target->format++;
    const struct ta_place place = {.kind = TA_SINK_FILE, .path = out};
    return target->format < FORMATS
               ? ta_place_check(&cli->ctx, &place)
               : ta_fail(
                     &cli->ctx, TA_ERR_USAGE,
                     "Unknown kind of file: -o %s, expected a name that ends in .json, .json.gz "
                     "or .tar, or - for standard output",
                     out);
}

/* ---- which traces -------------------------------------------------------------------------- */

static enum ta_status check_trace(struct ta_cli *cli, const struct ta_surveyed *trace)
{
    if (!trace->path)
        return ta_fail(&cli->ctx, TA_ERR_USAGE,
                       "\"%s\" cannot be merged: traces are read twice, so neither standard input "
                       "nor a saved summary will do",
                       trace->shown);
    return TA_OK;
}

/* Moves the wanted traces to the front of the survey. */
static enum ta_status choose_traces(struct ta_cli *cli, const struct ta_merge_choice *choice,
                                    struct ta_survey *survey)
{
    size_t n = 0;
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < survey->n; i++) {
        const struct ta_surveyed *trace = &survey->at[i];
        if (!ta_merge_takes_rank(choice, trace->rank))
            continue;
        if (strcmp(trace->format, MERGED_FORMAT) != 0) {
            ta_log(&cli->ctx, TA_LOG_WARNING, "\"%s\" is left out: it is no Chrome trace but %s",
                   trace->shown, trace->format);
            continue;
        }
        status = check_trace(cli, trace);
        survey->at[n++] = *trace;
    }
    survey->n = n;
    if (status == TA_OK && n == 0)
        status = ta_fail(&cli->ctx, TA_ERR_INPUT, "No trace to merge%s%s",
                         cli->args.rank ? ": --rank=" : "", cli->args.rank ? cli->args.rank : "");
    return status;
}

static struct ta_merge_trace *list_traces(const struct ta_survey *survey)
{
    struct ta_merge_trace *traces = calloc(survey->n, sizeof *traces);
    for (size_t i = 0; traces && i < survey->n; i++) {
        const struct ta_surveyed *trace = &survey->at[i];
        traces[i] = (struct ta_merge_trace){.path = trace->path,
                                            .shown = trace->shown,
                                            .events = trace->events,
                                            .rank = trace->rank,
                                            .shares_rank =
                                                (i > 0 && trace[-1].rank == trace->rank) ||
                                                (i + 1 < survey->n && trace[1].rank == trace->rank),
                                            .from_ns = TA_MISSING,
                                            .to_ns = TA_MISSING};
    }
    return traces;
}

/* ---- writing ------------------------------------------------------------------------------- */

static enum ta_status write_file(struct ta_cli *cli, const struct ta_merge *merge,
                                 const struct target *target, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open(&cli->ctx, sink, PRESET_NAME, TA_MERGE_SIGNATURE);
    if (!out)
        return cli->ctx.status;
    if (target->format == PACKED)
        ta_file_pack(&cli->ctx, out, TA_MERGE_SIGNATURE);
    const enum ta_status status = target->format == ARCHIVE
                                      ? ta_merge_archive(&cli->ctx, merge, out)
                                      : ta_merge_chrome(&cli->ctx, merge, out);
    return status == TA_OK ? ta_file_close(&cli->ctx, out) : status;
}

static enum ta_status write_target(struct ta_cli *cli, const struct ta_merge *merge,
                                   const struct target *target)
{
    const struct ta_lap start = ta_lap_now();
    struct ta_sink *sink = ta_sink_new(&cli->ctx, target->kind, target->path);
    if (!sink)
        return cli->ctx.status;
    enum ta_status status = write_file(cli, merge, target, sink);
    if (status == TA_OK)
        status = ta_sink_commit(&cli->ctx, sink);
    ta_sink_free(sink);
    ta_timing_add(&cli->timing, "merge", start);
    return status;
}

/* ---- summary ------------------------------------------------------------------------------- */

static struct ta_merge_counts sum_counts(const struct ta_merge *merge)
{
    struct ta_merge_counts sum = {0};
    for (size_t i = 0; i < merge->n; i++) {
        const struct ta_merge_counts *counts = &merge->traces[i].counts;
        sum.kept += counts->kept;
        sum.out_of_range += counts->out_of_range;
        sum.of_category += counts->of_category;
        sum.lost += counts->lost;
    }
    return sum;
}

/* How far apart the clocks were, and how sure that is. */
static void put_clocks(struct ta_file *out, const struct ta_merge *merge)
{
    char text[TA_UNIT_TEXT_MAX];
    int64_t ahead = 0, uncertainty = TA_MISSING;
    for (size_t i = 0; i < merge->n; i++) {
        ahead = ta_max_i64(ahead, merge->traces[i].clock.offset_ns);
        uncertainty = ta_max_i64(uncertainty, merge->traces[i].uncertainty_ns);
    }
    if (strcmp(merge->alignment, "none") == 0) {
        ta_puts(out, merge->n == 1 ? "times: as recorded\n"
                                   : "times: as recorded, clocks are not aligned\n");
        return;
    }
    ta_putf(out, "times: clocks aligned by %s, ",
            strcmp(merge->alignment, "clock") == 0 ? "their dates" : merge->alignment);
    if (ahead)
        ta_putf(out, "moved by up to %s", ta_unit_format(text, (double)ahead, TA_UNIT_NS));
    else
        ta_puts(out, "none had to be moved");
    if (uncertainty != TA_MISSING)
        ta_putf(out, " (\u00b1 %s)", ta_unit_format(text, (double)uncertainty, TA_UNIT_NS));
    ta_puts(out, "\n");
}

static void put_count(struct ta_file *out, const char *what, uint64_t count, const char *why)
{
    if (count)
        ta_putf(out, "%s: %" PRIu64 " event%s %s\n", what, count, count == 1 ? "" : "s", why);
}

static enum ta_status say_summary(struct ta_cli *cli, const struct ta_merge *merge,
                                  const struct target *target)
{
    struct ta_stdout out;
    const struct ta_merge_counts sum = sum_counts(merge);
    if (cli->args.quiet || target->kind == TA_SINK_STDOUT)
        return TA_OK;
    const enum ta_status status = ta_stdout_open(&cli->ctx, &out);
    if (status != TA_OK)
        return status;
    ta_put_terminal(out.file, ta_slice_of(target->path), 0, 0);
    ta_putf(out.file, ": %" PRIu64 " event%s of %zu trace%s\n", sum.kept, sum.kept == 1 ? "" : "s",
            merge->n, merge->n == 1 ? "" : "s");
    put_clocks(out.file, merge);
    put_count(out.file, "left out", sum.out_of_range, "outside the range");
    put_count(out.file, "left out", sum.of_category, "of the categories");
    put_count(out.file, "lost", sum.lost, "that could not be read, see the warnings");
    return ta_stdout_close(&cli->ctx, &out);
}

/* ---- the command --------------------------------------------------------------------------- */

/* How far the second reading is. */
struct progress {
    struct ta_cli *cli;
    uint64_t before, bytes; /* read before, and to read */
    size_t n;
};

static void show_progress(void *user, size_t traces_done)
{
    const struct progress *p = user;
    ta_console_progress(&p->cli->console, atomic_load(&p->cli->shared.read) - p->before, p->bytes,
                        traces_done, p->n);
}

static struct progress start_progress(struct ta_cli *cli, const struct ta_survey *survey)
{
    struct progress p = {.cli = cli, .before = atomic_load(&cli->shared.read), .n = survey->n};
    for (size_t i = 0; i < survey->n; i++)
        p.bytes += survey->at[i].bytes;
    return p;
}

static enum ta_status merge_traces(struct ta_cli *cli, const struct ta_merge_choice *choice,
                                   struct ta_survey *survey, const struct ta_report *report,
                                   const struct target *target)
{
    enum ta_status status = choose_traces(cli, choice, survey);
    if (status != TA_OK)
        return status;
    struct progress p = start_progress(cli, survey);
    struct ta_merge merge = {.traces = list_traces(survey),
                             .n = survey->n,
                             .categories = choice->categories,
                             .version = TA_VERSION,
                             .progress = show_progress,
                             .progress_user = &p};
    if (!merge.traces)
        return ta_fail(&cli->ctx, TA_ERR_NOMEM, "Cannot hold the list of traces");
    status = ta_merge_align(cli, survey->at, report, &merge);
    if (status == TA_OK)
        status = ta_merge_limit(cli, choice, survey->at, report, &merge);
    if (status == TA_OK)
        status = write_target(cli, &merge, target);
    ta_console_clear(&cli->console);
    if (status == TA_OK)
        status = say_summary(cli, &merge, target);
    free(merge.traces);
    return status;
}

/* The first reading: which traces there are, what is damaged, and what the options ask for. */
static enum ta_status survey_inputs(struct ta_cli *cli, struct ta_survey *survey,
                                    struct ta_report **report)
{
    const struct ta_cmdline *args = &cli->args;
    const bool compares = args->align == TA_ALIGN_AUTO || args->align == TA_ALIGN_COLLECTIVES;
    const char *ids[3] = {NULL};
    size_t n = 0;
    if (compares)
        ids[n++] = "collectives";
    if (args->steps)
        ids[n++] = "steps";
    const struct ta_wanted wanted = {.ids = ids};
    enum ta_status status = ta_cli_load_plugins(cli);
    if (status != TA_OK)
        return status;
    cli->survey = survey;
    status = ta_cli_run(cli, args->operands.items, args->operands.n, n ? &wanted : &ta_want_nothing,
                        report);
    cli->survey = NULL;
    return status;
}

enum ta_status ta_cmd_merge(struct ta_cli *cli)
{
    struct ta_merge_choice choice;
    struct ta_survey survey = {.n = 0};
    struct ta_report *report = NULL;
    struct target target;
    enum ta_status status = ta_merge_choose(cli, &choice);
    if (status == TA_OK)
        status = choose_target(cli, &target);
    if (status == TA_OK)
        status = survey_inputs(cli, &survey, &report);
    if (status == TA_OK)
        status = merge_traces(cli, &choice, &survey, report, &target);
    if (status == TA_OK) {
        ta_cli_note_losses(cli, report);
        ta_cli_warn(cli, report);
    }
    ta_report_free(report);
    ta_arena_free(&survey.arena);
    ta_merge_choice_free(&choice);
    return status;
}
