/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the inputs by the options, which are checked before. */
#include "cli/cli.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/suggest.h"
#include "cli/heap.h"
#include "ingest/ingest.h"
#include "report/report.h"

/* ---- options ------------------------------------------------------------------------------ */

static enum ta_status check_input_id(struct ta_cli *cli)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    const char *id = cli->args.input;
    if (!id || ta_registry_find(cli->registry, TA_KIND_input, id))
        return TA_OK;
    struct ta_suggest close = {.word = id};
    for (size_t i = 0; i < ta_registry_count(cli->registry, TA_KIND_input); i++)
        ta_suggest_offer(&close, ta_registry_at(cli->registry, TA_KIND_input, i)->plugin.id);
    return ta_fail(&cli->ctx, TA_ERR_USAGE, "No input plugin has the id %s%s", id,
                   ta_suggest_text(&close, hint));
}

/* `size` keeps its value where the option is not given. */
static enum ta_status read_size(struct ta_cli *cli, const char *option, const char *text,
                                uint64_t *size)
{
    if (!text || (ta_size_parse(text, size) && *size > 0))
        return TA_OK;
    return ta_config_cause(&cli->ctx, &cli->config, text,
                           ta_fail(&cli->ctx, TA_ERR_USAGE,
                                   "Unusable size: --%s=%s, expected one such as 8GiB", option,
                                   text));
}

/* Columns go to the folder late in a run, if at all: a wrong one is said at once. */
static enum ta_status check_tmpdir(struct ta_cli *cli)
{
    const char *folder = cli->args.tmpdir;
    struct stat st;
    if (!folder)
        return TA_OK;
    int error = stat(folder, &st) != 0 ? errno : !S_ISDIR(st.st_mode) ? ENOTDIR : 0;
    if (!error && access(folder, W_OK | X_OK) != 0)
        error = errno;
    return error ? ta_fail(&cli->ctx, TA_ERR_USAGE, "Unusable folder: --tmpdir=%s: %s", folder,
                           strerror(error))
                 : TA_OK;
}

/* Of --max-html-size. */
#define HTML_SIZE_PRESET (UINT64_C(8) << 20)

enum ta_status ta_cli_check_options(struct ta_cli *cli, uint64_t *memory_limit)
{
    const struct ta_cmdline *args = &cli->args;
    cli->max_html_size = HTML_SIZE_PRESET;
    enum ta_status status =
        ta_config_cause(&cli->ctx, &cli->config, args->input, check_input_id(cli));
    if (status == TA_OK)
        status = read_size(cli, "memory-limit", args->memory_limit, memory_limit);
    if (status == TA_OK)
        status = read_size(cli, "max-html-size", args->max_html_size, &cli->max_html_size);
    if (status == TA_OK)
        status = ta_config_cause(&cli->ctx, &cli->config, args->tmpdir, check_tmpdir(cli));
    return status;
}

enum ta_status ta_cli_choose_place(struct ta_cli *cli, const char *folder, bool single,
                                   struct ta_format *formats, size_t n, struct ta_place *place)
{
    const char *list = cli->args.format;
    enum ta_status status = TA_OK;
    if (list && ta_config_origin(&cli->config, list)) {
        status = ta_config_cause(&cli->ctx, &cli->config, list,
                                 ta_place_default(&cli->ctx, list, formats, n));
        list = NULL;
    }
    if (status != TA_OK)
        return status;
    return ta_place_choose(&cli->ctx, list, cli->args.out, folder, single, formats, n, place);
}

/* ---- the run ------------------------------------------------------------------------------ */

static void note_amount(struct ta_cli *cli, const struct ta_accounts *accounts)
{
    cli->timing.events += accounts->totals.events_seen;
    for (size_t i = 0; i < accounts->n_files; i++)
        cli->timing.bytes += accounts->files[i].raw_bytes;
}

enum ta_status ta_cli_run_options(struct ta_cli *cli, const char *const *inputs, size_t n_inputs,
                                  struct ta_run_options *options)
{
    const struct ta_cmdline *args = &cli->args;
    uint64_t memory_limit = 0;
    enum ta_status status = ta_cli_check_options(cli, &memory_limit);
    if (status != TA_OK)
        return status;
    *options = (struct ta_run_options){
        .inputs = inputs,
        .n_inputs = n_inputs,
        .jobs = (unsigned)args->jobs,
        .memory_limit = memory_limit,
        .tmpdir = args->tmpdir,
        .rank_regex = args->rank_regex,
        .world_size = args->world_size,
        .partial = args->partial,
        .input = args->input,
        .hardware = args->hardware,
        .title = args->title,
        .timeline = cli->wants_timeline,
        .reports = cli->takes_reports,
        .progress = ta_console_progress,
        .progress_user = &cli->console,
        .version = TA_VERSION,
        .survey = cli->survey,
        .team = cli->team,
    };
    ta_heap_keep(memory_limit == 0, ta_thread_count(options)); /* what is kept would count */
    cli->shared.files_read = ta_heap_read_all;
    cli->shared.memory_freed = ta_heap_trim;
    return TA_OK;
}

enum ta_status ta_cli_run(struct ta_cli *cli, const char *const *inputs, size_t n_inputs,
                          const struct ta_wanted *wanted, struct ta_report **report)
{
    struct ta_run_options options;
    enum ta_status status = ta_cli_run_options(cli, inputs, n_inputs, &options);
    if (status != TA_OK)
        return status;
    options.wanted = wanted;
    status = ta_pipeline_run(&cli->ctx, cli->registry, &options, report);
    ta_console_clear(&cli->console);
    if (status == TA_OK && *report)
        note_amount(cli, ta_report_accounts(*report));
    return status;
}

enum ta_status ta_cli_run_each(struct ta_cli *cli, const char *const *inputs, size_t n_inputs,
                               const struct ta_wanted *wanted, struct ta_report **reports)
{
    struct ta_run_options options;
    enum ta_status status = ta_cli_run_options(cli, inputs, n_inputs, &options);
    if (status != TA_OK)
        return status;
    options.wanted = wanted;
    status = ta_pipeline_run_each(&cli->ctx, cli->registry, &options, reports);
    ta_console_clear(&cli->console);
    for (size_t i = 0; status == TA_OK && i < n_inputs; i++)
        note_amount(cli, ta_report_accounts(reports[i]));
    return status;
}
