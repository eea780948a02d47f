/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of a run to outputs, and its charts to files. */
#include "render/sink.h"
#include "run/run.h"

#include "compare/noise.h"
#include "plugin/registry.h"
#include "render/chart/files.h"
#include "render/chart/says.h"
#include "render/chart/timeline.h"
#include "report/report.h"
#include "traceanalyze/chart.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static enum ta_status need_report(struct ta_run *run)
{
    return run->report ? TA_OK
                       : ta_fail(&run->ctx, TA_ERR_USAGE, "Nothing to write: there is no report");
}

/* ---- settings that all outputs share ------------------------------------------------------- */

static enum ta_status product_date(struct ta_run *run, int64_t *date_s)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    if (!epoch || !*epoch) {
        *date_s = ta_report_input_date(run->report);
        return TA_OK;
    }
    char *end;
    errno = 0;
    long long seconds = strtoll(epoch, &end, 10);
    /* The last second of the year 9999: later ones do not fit the dates of HTML and PDF. */
    if (*end || errno || seconds < 0 || seconds > INT64_C(253402300799))
        return ta_fail(&run->ctx, TA_ERR_USAGE,
                       "Unusable SOURCE_DATE_EPOCH: %s, expected seconds since 1970", epoch);
    *date_s = seconds;
    return TA_OK;
}

static enum ta_status render_options(struct ta_run *run, struct ta_render_options *options)
{
    static const char *const themes[] = {"auto", "light", "dark"};
    const struct ta_run_settings *set = &run->set;
    int64_t date_s = 0;
    const enum ta_status status = product_date(run, &date_s);
    if (status != TA_OK)
        return status;
    *options = (struct ta_render_options){
        .top = (uint32_t)set->top,
        .columns = (uint32_t)set->columns,
        .color = set->color,
        .full_text = set->text_detail,
        .letter = set->letter,
        .full_paper = set->paper_detail,
        .theme = themes[set->theme],
        .date_s = date_s,
        .version = TA_VERSION,
        .timeline = (enum ta_timeline_mode)set->timeline,
        .max_html_size = run->max_html_size,
        .split_assets = set->assets,
    };
    return TA_OK;
}

/* ---- outputs -------------------------------------------------------------------------------- */

enum ta_status ta_run_render(struct ta_run *run, const char *id, struct ta_sink *sink)
{
    struct ta_render_options options;
    const struct ta_lap start = ta_lap_now();
    enum ta_status status = need_report(run);
    if (status == TA_OK)
        status = render_options(run, &options);
    if (status != TA_OK)
        return status;
    const struct ta_entry *output = ta_registry_find(run->registry, TA_KIND_output, id);
    if (!output)
        return ta_fail(&run->ctx, TA_ERR_USAGE, "No output plugin has the id %s", id);
    if (ta_ctx_canceled(&run->ctx))
        return ta_fail(&run->ctx, TA_ERR_CANCELED, "Stopped");
    if (run->report == run->made.report && ta_sink_is_folder(sink))
        options.runs = run->made.names;
    run->ctx.option_values = output->option_values;
    status = output->plugin.output->write(&run->ctx, run->report, &options, sink);
    run->ctx.option_values = NULL;
    ta_run_note_time(run, output->plugin.id, start);
    return status;
}

/* Writes the report to a place of one kind, and commits it; the caller frees the sink. */
static enum ta_status write_to(struct ta_run *run, const char *output, enum ta_sink_kind kind,
                               const char *path, struct ta_sink **sink)
{
    *sink = ta_sink_new(&run->ctx, kind, path);
    if (!*sink)
        return run->ctx.status;
    const enum ta_status status = ta_run_render(run, output, *sink);
    return status == TA_OK ? ta_sink_commit(&run->ctx, *sink) : status;
}

enum ta_status ta_run_write(struct ta_run *run, const char *output, const char *path)
{
    struct ta_sink *sink;
    struct stat st;
    const size_t length = strlen(path);
    const bool is_folder =
        (length && path[length - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
    const enum ta_sink_kind kind = strcmp(path, "-") == 0 ? TA_SINK_STDOUT
                                   : is_folder            ? TA_SINK_FOLDER
                                                          : TA_SINK_FILE;
    const enum ta_status status = write_to(run, output, kind, path, &sink);
    ta_sink_free(sink);
    return status;
}

enum ta_status ta_run_write_memory(struct ta_run *run, const char *output, char **bytes, size_t *n)
{
    struct ta_sink *sink;
    size_t length;
    enum ta_status status = write_to(run, output, TA_SINK_MEMORY, NULL, &sink);
    char *taken = status == TA_OK ? ta_sink_take(sink, &length) : NULL;
    if (status == TA_OK && !taken)
        status = ta_fail(&run->ctx, TA_ERR_NOMEM, "Cannot hold the output: id=%s", output);
    if (status == TA_OK) {
        *bytes = taken;
        *n = length;
    }
    ta_sink_free(sink);
    return status;
}

enum ta_status ta_run_save_baseline(struct ta_run *run, struct ta_sink *sink)
{
    const enum ta_status there = need_report(run);
    if (there != TA_OK)
        return there;
    if (ta_noise_count(run->report) == 0)
        return ta_fail(
            &run->ctx, TA_ERR_USAGE,
            "Nothing to save with --save-baseline: it takes three runs on a side to know "
            "how far runs are apart");
    struct ta_file *out = ta_sink_open(&run->ctx, sink, "baseline.json", TA_NOISE_SCHEMA);
    if (!out)
        return run->ctx.status;
    const bool done = ta_noise_put(out, run->report, TA_VERSION);
    const enum ta_status status = ta_file_close(&run->ctx, out);
    return done ? status : ta_fail(&run->ctx, TA_ERR_NOMEM, "Cannot write the noise floor");
}

/* ---- charts -----------------------------------------------------------------------------------
 */

/* Width without "size"; the height is what the chart needs. */
#define DEFAULT_WIDTH 720

/* The timeline has no table. */
static const struct ta_chart timeline_chart = {.id = TA_TIMELINE_SCENE_ID,
                                               .title = TA_TIMELINE_SCENE_TITLE,
                                               .caption = "How busy streams and threads were."};

static bool list_charts(struct ta_run *run)
{
    bool done = true;
    for (size_t i = 0; i < ta_report_section_count(run->report); i++) {
        const struct ta_section *section = ta_report_section(run->report, i);
        for (size_t k = 0; k < section->n_items; k++) {
            if (section->items[k].kind != TA_ITEM_TABLE)
                continue;
            const struct ta_table *table = section->items[k].table;
            for (const struct ta_chart *chart = table->chart; done && chart; chart = chart->next)
                done = ta_vec_push(&run->drawn, table) && ta_vec_push(&run->charts, chart);
        }
    }
    if (done && ta_timeline_has_scene(ta_report_timeline(run->report)))
        done = ta_vec_push(&run->drawn, NULL) && ta_vec_push(&run->charts, &timeline_chart);
    return done;
}

const struct ta_chart *ta_run_chart(struct ta_run *run, size_t index)
{
    if (!run->report)
        return NULL;
    if (run->charts.n == 0 && !list_charts(run))
        run->charts.n = run->drawn.n = 0;
    return index < run->charts.n ? run->charts.at[index] : NULL;
}

bool ta_run_chart_says(struct ta_run *run, size_t index)
{
    const struct ta_chart *chart = ta_run_chart(run, index);
    const struct ta_table *table = chart ? run->drawn.at[index] : NULL;
    return chart && (!table || ta_chart_says(table, chart));
}

/* Lays a chart out so that the whole picture, title and caption included, has the size asked
 * for.  NULL after ta_fail(). */
static struct ta_scene *build(struct ta_run *run, const struct ta_table *table,
                              const struct ta_chart *chart)
{
    const struct ta_extent *size = &run->set.size;
    double width = size->width > 0 ? size->width : DEFAULT_WIDTH;
    struct ta_chart_frame frame = ta_chart_frame(chart->title, chart->caption, width);
    double height = size->height > 0 ? size->height - frame.height : 0;
    if (size->height > 0 && height <= 0) {
        ta_fail(&run->ctx, TA_ERR_USAGE,
                "Too low for chart %s: --size=%gx%g, title and caption "
                "alone take %g",
                chart->id, size->width, size->height, frame.height);
        return NULL;
    }
    struct ta_scene *scene =
        table ? ta_scene_build(table, chart, width - frame.width, height)
              : ta_timeline_scene(ta_report_timeline(run->report), width - frame.width);
    if (!scene)
        ta_fail(&run->ctx, TA_ERR_NOMEM, "Out of memory: chart=%s", chart->id);
    return scene;
}

enum ta_status ta_run_draw(struct ta_run *run, size_t index, const char *format,
                           struct ta_sink *sink)
{
    const struct ta_lap start = ta_lap_now();
    const struct ta_chart *chart = ta_run_chart(run, index);
    if (!chart)
        return ta_fail(&run->ctx, TA_ERR_USAGE, "The report has no chart number %zu", index);
    struct ta_scene *scene = build(run, run->drawn.at[index], chart);
    if (!scene)
        return run->ctx.status;
    char name[256];
    snprintf(name, sizeof name, "%s.%s", chart->id, format);
    const enum ta_status status = ta_chart_write(&run->ctx, sink, scene, format, run->set.scale,
                                                 run->set.theme == TA_THEME_DARK, name);
    ta_scene_free(scene);
    ta_run_note_time(run, "charts", start);
    return status;
}
