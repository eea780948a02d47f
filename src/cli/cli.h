/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call of the program: what main() prepares and the commands share. */
#ifndef TA_CLI_CLI_H
#define TA_CLI_CLI_H

#include "base/stopwatch.h"
#include "cli/args.h"
#include "cli/config.h"
#include "cli/console.h"
#include "cli/gating.h"
#include "cli/place.h"
#include "traceanalyze/output.h"
#include "traceanalyze/run.h"

#include <stdlib.h>

struct ta_cli {
    struct ta_run *run;
    struct ta_ctx *ctx; /* of the run */
    struct ta_cmdline args;
    struct ta_config config;
    struct ta_config rules; /* of the files of --rules */
    struct ta_console console;
    struct ta_lap start;          /* of the program */
    struct ta_registry *registry; /* of the commands that need plugins: the run's, or */
    struct ta_registry *builtin;  /* one of the built-in plugins alone */
    char command_stop[33];        /* a word that lets GitHub take commands again, or "" */
    struct ta_team *team;         /* processes that read the inputs together, or NULL */
    bool incomplete;              /* --strict, and data was lost: exit code 4 */
    bool reported;                /* what the log left out is in a product */
};

/* The commands, by enum ta_command_id in main.c. */
enum ta_status ta_cmd_report(struct ta_cli *cli);
enum ta_status ta_cmd_diff(struct ta_cli *cli);
enum ta_status ta_cmd_reduce(struct ta_cli *cli);
enum ta_status ta_cmd_scaling(struct ta_cli *cli);
enum ta_status ta_cmd_chart(struct ta_cli *cli);
enum ta_status ta_cmd_check(struct ta_cli *cli);
enum ta_status ta_cmd_merge(struct ta_cli *cli);
enum ta_status ta_cmd_plugins(struct ta_cli *cli);
enum ta_status ta_cmd_rules(struct ta_cli *cli);
enum ta_status ta_cmd_schema(struct ta_cli *cli);
enum ta_status ta_cmd_config(struct ta_cli *cli);
enum ta_status ta_cmd_completion(struct ta_cli *cli);
enum ta_status ta_cmd_help(struct ta_cli *cli);
enum ta_status ta_cmd_version(struct ta_cli *cli);

/* ---- what they share ---------------------------------------------------------------------- */

/* Says with -v which files the configuration comes from, and what of them has no effect. */
void ta_cli_say_configuration(struct ta_cli *cli);

/* Makes the registry with all plugins and their options. */
enum ta_status ta_cli_load_plugins(struct ta_cli *cli) TA_MUST_CHECK;

/* Hands an option of the run over to it, from the configuration and the command line; or all but
 * those that the program means in its own way. */
enum ta_status ta_cli_set_option(struct ta_cli *cli, const char *name) TA_MUST_CHECK;
enum ta_status ta_cli_set_options(struct ta_cli *cli) TA_MUST_CHECK;

/* The same of the operands [first, end). */
enum ta_status ta_cli_add_inputs(struct ta_cli *cli, size_t first, size_t end) TA_MUST_CHECK;

/* Prepares heap and progress for a run that is about to read. */
void ta_cli_begin_reading(struct ta_cli *cli);

/* ta_run_execute() with them. */
enum ta_status ta_cli_execute(struct ta_cli *cli, enum ta_run_task task) TA_MUST_CHECK;

/* The formats of reports and of charts, to free(); NULL after ta_fail(). */
struct ta_format *ta_cli_report_formats(struct ta_cli *cli, size_t *n);
struct ta_format *ta_cli_chart_formats(struct ta_cli *cli, size_t *n);

/* The formats of charts, for those who only want their names. */
const struct ta_format *ta_cli_chart_formats_known(size_t *n);

/* ta_place_choose() by the options.  Formats of a configuration are those written by default, so
 * that -o FILE still means what it says. */
enum ta_status ta_cli_choose_place(struct ta_cli *cli, const char *folder, bool single,
                                   struct ta_format *formats, size_t n,
                                   struct ta_place *place) TA_MUST_CHECK;

/* A value of an option of a plugin as --set takes it. */
const char *ta_cli_option_text(const struct ta_option *option, double value,
                               char text[TA_UNIT_TEXT_MAX + 4]);

/* What a command that makes a report writes, and where. */
struct ta_products {
    struct ta_format *formats; /* a row for every registered output; to free() */
    size_t n;
    struct ta_place place;
};

/* Loads the plugins, checks the options, and chooses formats and place by them; `folder` is the
 * place without -o.  Whatever it returns, `formats` is to be freed. */
enum ta_status ta_cli_prepare_products(struct ta_cli *cli, enum ta_run_task task,
                                       const char *folder,
                                       struct ta_products *products) TA_MUST_CHECK;

/* Writes all chosen formats, then warnings and the summary for people. */
enum ta_status ta_cli_produce(struct ta_cli *cli, const struct ta_products *products) TA_MUST_CHECK;

/* Executes the comparison of the runs that the operands but the first `skip` are. */
enum ta_status ta_cli_compare(struct ta_cli *cli, size_t skip) TA_MUST_CHECK;

/* Says on standard error what was wrong with the inputs. */
void ta_cli_warn(struct ta_cli *cli, const struct ta_report *report);

/* Notes for --strict whether anything was lost. */
void ta_cli_note_losses(struct ta_cli *cli, const struct ta_report *report);

/* What the terminal can do, as options of the run. */
enum ta_status ta_cli_set_terminal(struct ta_cli *cli) TA_MUST_CHECK;

/* Writes the report of the run to standard output. */
enum ta_status ta_cli_write_stdout(struct ta_cli *cli, const char *output) TA_MUST_CHECK;

/* Standard output as a file with the escaping writers of output.h. */
struct ta_stdout {
    struct ta_sink *sink;
    struct ta_file *file;
};

enum ta_status ta_stdout_open(struct ta_ctx *ctx, struct ta_stdout *out) TA_MUST_CHECK;
enum ta_status ta_stdout_close(struct ta_ctx *ctx, struct ta_stdout *out) TA_MUST_CHECK;

/* Says with -v where the time went; nothing when no run has ended. */
void ta_timing_say(struct ta_cli *cli);

#endif
