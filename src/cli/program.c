/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: command line in, exit code out. */
#include "cli/program.h"

#include "cli/annotate.h"
#include "cli/cli.h"

#include <stdio.h>

#include "cli/exit_code.h"
#include "cli/signals.h"
#include "traceanalyze/run.h"

static enum ta_status (*const commands[TA_COMMAND_COUNT])(struct ta_cli *cli) = {
    [TA_COMMAND_REPORT] = ta_cmd_report,   [TA_COMMAND_AGGREGATE] = ta_cmd_report,
    [TA_COMMAND_REDUCE] = ta_cmd_reduce,   [TA_COMMAND_DIFF] = ta_cmd_diff,
    [TA_COMMAND_SCALING] = ta_cmd_scaling, [TA_COMMAND_CHART] = ta_cmd_chart,
    [TA_COMMAND_CHECK] = ta_cmd_check,     [TA_COMMAND_MERGE] = ta_cmd_merge,
    [TA_COMMAND_PLUGINS] = ta_cmd_plugins, [TA_COMMAND_RULES] = ta_cmd_rules,
    [TA_COMMAND_SCHEMA] = ta_cmd_schema,   [TA_COMMAND_CONFIG] = ta_cmd_config,
    [TA_COMMAND_HELP] = ta_cmd_help,       [TA_COMMAND_COMPLETION] = ta_cmd_completion,
};

/* What to try, by status; "help" is about the command at hand, or about plugins. */
static const struct {
    const char *text;
    bool help;
} advice[TA_STATUS_COUNT] = {
    [TA_ERR_USAGE] = {"see ", true},
    [TA_ERR_INPUT] = {"what an input can be: ", true},
    [TA_ERR_OUTPUT] = {"choose another place with -o, see ", true},
    [TA_ERR_PLUGIN] = {"where plugins come from: ", true},
    [TA_ERR_NOMEM] = {"use fewer threads with -j, or less input", false},
    [TA_ERR_INTERNAL] = {"this is a defect of traceanalyze, please report it", false},
};

/* Needs no memory but its stack, so that "out of memory" can be said. */
static void print_error(struct ta_cli *cli, enum ta_status status)
{
    char line[4096 + 256];
    const char *causes = ta_run_error(cli->run);
    const struct ta_command *given = cli->args.command;
    const char *command = status == TA_ERR_PLUGIN                           ? "plugins"
                          : given && given != &ta_commands[TA_COMMAND_HELP] ? given->name
                                                                            : "";
    const char *text = advice[status].text;
    if (advice[status].help)
        snprintf(line, sizeof line, "%s (%straceanalyze help%s%s)", causes, text,
                 *command ? " " : "", command);
    else
        snprintf(line, sizeof line, "%s (%s)", causes, text);
    ta_console_say(&cli->console, TA_LOG_ERROR, ta_status_code(status), line);
}

/* Reads the configuration for the commands that go by one; `config` itself knows which files. */
static enum ta_status configure(struct ta_cli *cli)
{
    struct ta_cmdline *args = &cli->args;
    const struct ta_arg_option *option = ta_config_option_at(offsetof(struct ta_cmdline, config));
    if (args->version || args->help || !args->command || args->no_config ||
        args->command == &ta_commands[TA_COMMAND_CONFIG] || !ta_arg_is_for(option, args->command))
        return TA_OK;
    enum ta_status status = ta_cli_set_option(cli, "limit");
    if (status == TA_OK)
        status = ta_config_load(cli->ctx, args->config, &cli->config);
    if (status == TA_OK)
        status =
            ta_cmdline_configure(cli->ctx, args, cli->config.settings.at, cli->config.settings.n);
    return status;
}

static bool makes_report(const struct ta_command *command)
{
    return command == &ta_commands[TA_COMMAND_REPORT] ||
           command == &ta_commands[TA_COMMAND_AGGREGATE];
}

/* Whether a command reads inputs, which processes can share. */
static bool reads_inputs(const struct ta_command *command)
{
    return ta_arg_is_for(ta_config_option_at(offsetof(struct ta_cmdline, jobs)), command);
}

static enum ta_status run_command(struct ta_cli *cli)
{
    const struct ta_command *command = cli->args.command;
    if (cli->team && reads_inputs(command) && !makes_report(command))
        return ta_fail(cli->ctx, TA_ERR_USAGE,
                       "Several processes share the work of 'aggregate' and 'report'; "
                       "`traceanalyze %s` does the rest alone",
                       command->name);
    /* Of a team the first process does everything but read files, with which all others help it. */
    if (cli->team && cli->team->index > 0) {
        if (!makes_report(cli->args.command))
            return TA_OK;
        enum ta_status status = ta_cli_load_plugins(cli);
        if (status == TA_OK)
            status = ta_cli_add_inputs(cli, 0, cli->args.operands.n);
        return status == TA_OK ? ta_cli_execute(cli, TA_RUN_REPORT) : status;
    }
    return commands[command - ta_commands](cli);
}

static enum ta_status dispatch(struct ta_cli *cli)
{
    if (cli->team && cli->team->index > 0 && (cli->args.version || cli->args.help))
        return TA_OK;
    if (cli->args.version)
        return ta_cmd_version(cli);
    if (cli->args.help)
        return ta_cmd_help(cli);
    if (!cli->args.command)
        return ta_fail(cli->ctx, TA_ERR_USAGE, "No command");
    const enum ta_status status = ta_cli_set_option(cli, "limit");
    return status == TA_OK ? run_command(cli) : status;
}

/* Of several reasons not to go on the first counts. */
static int judged_code(const struct ta_cli *cli)
{
    const struct ta_gates_outcome *gates = ta_run_gates(cli->run);
    if (gates->failed)
        return TA_EXIT_GATE;
    if (cli->incomplete || gates->incomplete)
        return TA_EXIT_INCOMPLETE;
    return gates->inconclusive ? TA_EXIT_INCONCLUSIVE : TA_EXIT_OK;
}

/* Processes that have not met before meet here.  Whether this one says what went wrong; `code`
 * becomes the exit code of all. */
static bool leave_team(struct ta_team *team, enum ta_status status, int *code)
{
    if (team->has_agreed && !team->code) /* it went well until then, at least */
        return ta_team_speaks(team) || team->state == TA_TEAM_DONE;
    if (!team->has_agreed)
        ta_team_agree(team, status == TA_OK ? 0 : *code, 0);
    team->state = TA_TEAM_DONE;
    *code = team->code ? team->code : *code;
    return !team->code || team->index == team->speaker;
}

/* Makes the run that everything else works on; false without memory. */
static bool begin(struct ta_cli *cli, struct ta_team *team)
{
    cli->team = team;
    cli->start = ta_lap_now();
    cli->console.level = TA_LOG_WARNING;
    ta_standard_files_open();
    cli->run = ta_run_new();
    if (!cli->run)
        return false;
    cli->ctx = ta_run_context(cli->run);
    if (team)
        ta_run_join_team(cli->run, team);
    ta_run_on_message(cli->run, cli->console.level, ta_console_message, &cli->console);
    ta_signals_install(cli->run, &cli->args.json_log);
    return true;
}

static enum ta_status work(struct ta_cli *cli)
{
    ta_console_open(&cli->console, &cli->args);
    ta_run_on_message(cli->run, cli->console.level, ta_console_message, &cli->console);
    ta_cli_say_configuration(cli);
    const enum ta_status status = dispatch(cli);
    if (status == TA_OK)
        ta_timing_say(cli);
    ta_console_close(&cli->console, cli->reported);
    return status;
}

static void end(struct ta_cli *cli)
{
    ta_annotate_end(cli);
    ta_registry_free(cli->builtin);
    ta_cmdline_free(&cli->args);
    ta_signals_release();
    ta_run_free(cli->run);
    ta_config_free(&cli->config);
    ta_config_free(&cli->rules);
}

int ta_program_run(int argc, char **argv, struct ta_team *team)
{
    static struct ta_cli cli; /* handlers of signals reach it */
    if (!begin(&cli, team)) {
        ta_console_say(&cli.console, TA_LOG_ERROR, ta_status_code(TA_ERR_NOMEM), "Out of memory");
        return ta_exit_code(TA_ERR_NOMEM, 0);
    }
    enum ta_status status = ta_cmdline_parse(cli.ctx, argc, argv, &cli.args);
    cli.console.json = cli.args.json_log;
    if (status == TA_OK)
        status = configure(&cli);
    if (status == TA_OK && team)
        cli.args.quiet |= cli.team->index > 0;
    if (status == TA_OK)
        status = work(&cli);
    /* Whatever failed after a signal failed because of it, and the user knows. */
    if (status != TA_OK && ta_run_canceled(cli.run))
        status = TA_ERR_CANCELED;
    int code = status == TA_OK ? judged_code(&cli) : ta_exit_code(status, ta_run_canceled(cli.run));
    if (status != TA_OK && team && team->state == TA_TEAM_WORKING)
        status = ta_cause(cli.ctx, status, "Process %zu of %zu", team->index, team->count);
    const bool speaks = !team || leave_team(team, status, &code);
    if (status != TA_OK && status != TA_ERR_CANCELED && speaks)
        print_error(&cli, status);
    end(&cli);
    return code;
}
