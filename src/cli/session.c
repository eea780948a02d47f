/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands share: plugins, the run itself, warnings, standard output. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/suggest.h"
#include "render/sink.h"
#include "result/report.h"

/* ---- plugins ------------------------------------------------------------------------------ */

/* Files of rules that a configuration names come before those of the command line; `configured`
 * becomes the number of settings of the former. */
static enum ta_status read_rules(struct ta_cli *cli, size_t *configured)
{
    const struct ta_texts *files = &cli->args.rule_files;
    enum ta_status status = TA_OK;
    *configured = 0;
    for (size_t i = 0; status == TA_OK && i < files->n; i++) {
        const bool is_given = !ta_config_origin(&cli->config, files->items[i]);
        status = ta_config_load_rules(&cli->ctx, files->items[i], &cli->rules);
        if (!is_given)
            *configured = cli->rules.settings.n;
    }
    return status;
}

static enum ta_status add_rules(struct ta_cli *cli, const struct ta_config *config)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < config->rules.n; i++) {
        const struct ta_rule_data *rule = config->rules.at[i];
        status = ta_registry_add_rule(&cli->ctx, cli->registry, rule);
        if (status != TA_OK)
            status = ta_cause(&cli->ctx, status, "%s", rule->place);
    }
    return status;
}

static enum ta_status set_rules(struct ta_cli *cli, size_t first, size_t end)
{
    enum ta_status status = TA_OK;
    for (size_t i = first; status == TA_OK && i < end; i++)
        status = ta_config_set_plugin(&cli->ctx, cli->registry, &cli->rules.settings.at[i]);
    return status;
}

/* The settings of the configuration's files; `next` becomes the first of the command line. */
static enum ta_status set_configured(struct ta_cli *cli, size_t *next)
{
    const struct ta_texts *settings = &cli->args.settings;
    enum ta_status status = TA_OK;
    for (*next = 0; status == TA_OK && *next < settings->n; ++*next) {
        const struct ta_setting *setting = ta_config_origin(&cli->config, settings->items[*next]);
        if (!setting)
            break;
        status = ta_config_set_plugin(&cli->ctx, cli->registry, setting);
    }
    return status;
}

#define COMMAND_LINE "command line"

/* From weak to strong: files, variables, --rules, --set and --disable-rule. */
static enum ta_status set_options(struct ta_cli *cli)
{
    const struct ta_texts *settings = &cli->args.settings, *rules = &cli->args.disabled_rules;
    size_t configured, next = 0;
    enum ta_status status = read_rules(cli, &configured);
    if (status == TA_OK)
        status = add_rules(cli, &cli->config);
    if (status == TA_OK)
        status = add_rules(cli, &cli->rules);
    if (status == TA_OK)
        status = set_configured(cli, &next);
    if (status == TA_OK)
        status = set_rules(cli, 0, configured);
    if (status == TA_OK && !cli->args.no_config)
        status = ta_config_plugin_variables(&cli->ctx, &cli->config, cli->registry);
    if (status == TA_OK)
        status = set_rules(cli, configured, cli->rules.settings.n);
    for (; status == TA_OK && next < settings->n; next++)
        status = ta_registry_set(&cli->ctx, cli->registry, settings->items[next], COMMAND_LINE);
    for (size_t i = 0; status == TA_OK && i < rules->n; i++)
        status = ta_registry_disable_rule(&cli->ctx, cli->registry, rules->items[i], COMMAND_LINE);
    return status;
}

/* Options of ours that stand for one of an analysis. */
static enum ta_status set_ranks(struct ta_cli *cli)
{
    const struct ta_args *args = &cli->args;
    const struct {
        const char *option, *name;
        int64_t value;
        bool is_given;
    } given[] = {{"--by", "by", args->by, args->by != 0},
                 {"--outliers", "outliers", args->outliers, args->outliers != TA_MISSING},
                 {"--ranks-per-node", "per_node", args->ranks_per_node, args->ranks_per_node != 0}};
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < sizeof given / sizeof *given && status == TA_OK; i++) {
        char setting[64];
        snprintf(setting, sizeof setting, "ranks.%s=%" PRId64, given[i].name, given[i].value);
        if (given[i].is_given)
            status = ta_registry_set(&cli->ctx, cli->registry, setting, given[i].option);
    }
    return status;
}

void ta_cli_say_configuration(struct ta_cli *cli)
{
    for (size_t i = 0; i < cli->config.files.n; i++)
        ta_log(&cli->ctx, TA_LOG_INFO, "Configuration read from %s", cli->config.files.at[i]);
    for (size_t i = 0; i < cli->config.notes.n; i++)
        ta_log(&cli->ctx, TA_LOG_INFO, "%s", cli->config.notes.at[i]);
}

enum ta_status ta_cli_load_plugins(struct ta_cli *cli)
{
    struct ta_ctx *ctx = &cli->ctx;
    const struct ta_args *args = &cli->args;
    cli->registry = ta_registry_new(ctx);
    if (!cli->registry)
        return ctx->status;
    enum ta_status status = ta_registry_load_defaults(ctx, cli->registry);
    for (size_t i = 0; status == TA_OK && i < args->plugin_paths.n; i++)
        status = ta_registry_load(ctx, cli->registry, args->plugin_paths.items[i]);
    if (status == TA_OK)
        status = set_options(cli);
    return status == TA_OK ? set_ranks(cli) : status;
}

const char *ta_cli_option_text(const struct ta_option *option, double value,
                               char text[TA_UNIT_TEXT_MAX + 4])
{
    static const char *const suffixes[] = {[TA_OPTION_PLAIN] = "",
                                           [TA_OPTION_RATIO] = "",
                                           [TA_OPTION_NS] = "ns",
                                           [TA_OPTION_BYTES] = "B"};
    if (option->type == TA_OPTION_BOOLEAN)
        return value != 0 ? "true" : "false";
    ta_number_format(text, value);
    return strcat(text, suffixes[option->unit]);
}

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
    const struct ta_args *args = &cli->args;
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
    cli->timing.events = accounts->totals.events_seen;
    for (size_t i = 0; i < accounts->n_files; i++)
        cli->timing.bytes += accounts->files[i].raw_bytes;
}

enum ta_status ta_cli_run_options(struct ta_cli *cli, const char *const *inputs, size_t n_inputs,
                                  struct ta_run_options *options)
{
    const struct ta_args *args = &cli->args;
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
    return TA_OK;
}

enum ta_status ta_cli_run(struct ta_cli *cli, const char *const *inputs, size_t n_inputs,
                          bool check_only, struct ta_report **report)
{
    struct ta_run_options options;
    enum ta_status status = ta_cli_run_options(cli, inputs, n_inputs, &options);
    if (status != TA_OK)
        return status;
    options.check_only = check_only;
    status = ta_pipeline_run(&cli->ctx, cli->registry, &options, report);
    ta_console_clear(&cli->console);
    if (status == TA_OK && *report)
        note_amount(cli, ta_report_accounts(*report));
    return status;
}

/* ---- warnings ----------------------------------------------------------------------------- */

static void warn(struct ta_cli *cli, const char *file, const struct ta_quality_finding *finding)
{
    char line[6144], place[64] = "", times[64] = "";
    if (finding->byte_offset != TA_NO_OFFSET)
        snprintf(place, sizeof place, "byte offset %" PRIu64 ": ", finding->byte_offset);
    if (finding->count > 1 && finding->last_offset != TA_NO_OFFSET)
        snprintf(times, sizeof times, " (%" PRIu64 " times, last at %" PRIu64 ")", finding->count,
                 finding->last_offset);
    else if (finding->count > 1)
        snprintf(times, sizeof times, " (%" PRIu64 " times)", finding->count);
    snprintf(line, sizeof line, "%s%s%s%s%s", file ? file : "", file ? ": " : "", place,
             finding->text && *finding->text ? finding->text : ta_quality_doc(finding->code),
             times);
    ta_log_line(&cli->shared, finding->severity == TA_QUALITY_INFO ? TA_LOG_INFO : TA_LOG_WARNING,
                ta_quality_name(finding->code), line);
}

void ta_cli_warn(struct ta_cli *cli, const struct ta_report *report)
{
    const struct ta_accounts *accounts = ta_report_accounts(report);
    for (size_t i = 0; i < accounts->n_files; i++)
        for (size_t k = 0; k < accounts->files[i].n_findings; k++)
            warn(cli, accounts->files[i].path, &accounts->files[i].findings[k]);
    for (size_t k = 0; k < accounts->n_findings; k++)
        warn(cli, NULL, &accounts->findings[k]);
}

/* Data is incomplete when something was lost, or when ranks of a run are not there. */
static bool has_loss(const struct ta_quality_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (findings[i].severity >= TA_QUALITY_LOSS ||
            (findings[i].code == TA_Q_RANK_MISSING && findings[i].severity >= TA_QUALITY_NOTICE))
            return true;
    return false;
}

bool ta_cli_has_losses(const struct ta_report *report)
{
    const struct ta_accounts *accounts = ta_report_accounts(report);
    bool loss = has_loss(accounts->findings, accounts->n_findings);
    for (size_t i = 0; !loss && i < accounts->n_files; i++)
        loss = has_loss(accounts->files[i].findings, accounts->files[i].n_findings);
    return loss;
}

void ta_cli_note_losses(struct ta_cli *cli, const struct ta_report *report)
{
    cli->incomplete = cli->args.strict && ta_cli_has_losses(report);
}

/* ---- standard output ---------------------------------------------------------------------- */

enum ta_status ta_stdout_open(struct ta_ctx *ctx, struct ta_stdout *out)
{
    out->sink = ta_sink_new(ctx, TA_SINK_STDOUT, NULL);
    out->file = out->sink ? ta_sink_open(ctx, out->sink, "stdout", "") : NULL;
    if (out->file)
        return TA_OK;
    ta_sink_free(out->sink);
    return ctx->status;
}

enum ta_status ta_stdout_close(struct ta_ctx *ctx, struct ta_stdout *out)
{
    enum ta_status status = ta_file_close(ctx, out->file);
    if (status == TA_OK)
        status = ta_sink_commit(ctx, out->sink);
    ta_sink_free(out->sink);
    return status;
}

enum ta_status ta_cli_write(struct ta_cli *cli, const struct ta_entry *output,
                            const struct ta_report *report, const struct ta_render_options *options,
                            struct ta_sink *sink)
{
    const struct ta_lap start = ta_lap_now();
    cli->ctx.option_values = output->option_values;
    enum ta_status status = output->plugin.output->write(&cli->ctx, report, options, sink);
    cli->ctx.option_values = NULL;
    ta_timing_add(&cli->timing, output->plugin.id, start);
    return status;
}

enum ta_status ta_cli_write_stdout(struct ta_cli *cli, const struct ta_entry *output,
                                   const struct ta_report *report,
                                   const struct ta_render_options *options)
{
    struct ta_sink *sink = ta_sink_new(&cli->ctx, TA_SINK_STDOUT, NULL);
    if (!sink)
        return cli->ctx.status;
    enum ta_status status = ta_cli_write(cli, output, report, options, sink);
    if (status == TA_OK)
        status = ta_sink_commit(&cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}

/* ---- settings of the outputs -------------------------------------------------------------- */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* --color, then NO_COLOR, CLICOLOR_FORCE, then what standard output is. */
static bool wants_color(const struct ta_args *args)
{
    const char *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
    if (args->color != TA_WHEN_AUTO)
        return args->color == TA_WHEN_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static uint32_t terminal_columns(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long n = columns ? strtol(columns, NULL, 10) : 0;
    if (n <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    return n >= 20 && n <= 10000 ? (uint32_t)n : 80;
}

static enum ta_status product_date(struct ta_cli *cli, const struct ta_report *report,
                                   int64_t *date_s)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    if (!epoch || !*epoch) {
        *date_s = ta_report_input_date(report);
        return TA_OK;
    }
    char *end;
    errno = 0;
    long long seconds = strtoll(epoch, &end, 10);
    /* The last second of the year 9999: later ones do not fit the dates of HTML and PDF. */
    if (*end || errno || seconds < 0 || seconds > INT64_C(253402300799))
        return ta_fail(&cli->ctx, TA_ERR_USAGE,
                       "Unusable SOURCE_DATE_EPOCH: %s, expected seconds since 1970", epoch);
    *date_s = seconds;
    return TA_OK;
}

enum ta_status ta_cli_render_options(struct ta_cli *cli, const struct ta_report *report,
                                     struct ta_render_options *options)
{
    static const char *const themes[] = {"auto", "light", "dark"};
    int64_t date_s = 0;
    enum ta_status status = product_date(cli, report, &date_s);
    if (status != TA_OK)
        return status;
    *options = (struct ta_render_options){
        .top = (uint32_t)cli->args.top,
        .columns = terminal_columns(),
        .color = wants_color(&cli->args),
        .letter = cli->args.letter,
        .theme = themes[cli->args.theme],
        .date_s = date_s,
        .version = TA_VERSION,
        .timeline = (enum ta_timeline_mode)cli->args.timeline,
        .max_html_size = cli->max_html_size,
        .split_assets = cli->args.assets,
    };
    return TA_OK;
}
