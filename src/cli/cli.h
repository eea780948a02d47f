/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call of the program: what main() prepares and the commands share. */
#ifndef TA_CLI_CLI_H
#define TA_CLI_CLI_H

#include "base/context.h"
#include "cli/args.h"
#include "cli/config.h"
#include "cli/console.h"
#include "cli/gating.h"
#include "cli/place.h"
#include "cli/timing.h"
#include "pipeline.h"
#include "plugin/registry.h"
#include "ingest/team.h"
#include "traceanalyze/output.h"

struct ta_cli {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_cmdline args;
    struct ta_config config;
    struct ta_config rules; /* of the files of --rules */
    struct ta_console console;
    struct ta_timing timing;
    struct ta_registry *registry; /* of the commands that need plugins */
    uint64_t max_html_size;       /* --max-html-size */
    bool wants_timeline;          /* a chosen output needs it */
    bool takes_reports;           /* that were written before, among the inputs */
    struct ta_gating gating;      /* of the commands that make a report */
    char command_stop[33];        /* a word that lets GitHub take commands again, or "" */
    struct ta_survey *survey;     /* of traces that are read again, or NULL */
    struct ta_team *team;         /* processes that read the inputs together, or NULL */
    bool incomplete;              /* --strict, and data was lost: exit code 4 */
    bool reported;                /* what the log left out stands in a product */
};

/* The commands, by enum ta_command_id in main.c. */
enum ta_status ta_cmd_report(struct ta_cli *cli);
enum ta_status ta_cmd_diff(struct ta_cli *cli);
enum ta_status ta_cmd_aggregate(struct ta_cli *cli);
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

/* Checks options whose values are no mere numbers and words; `memory_limit` is 0 without one. */
enum ta_status ta_cli_check_options(struct ta_cli *cli, uint64_t *memory_limit) TA_MUST_CHECK;

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

/* Loads the plugins and chooses formats and place by the options; `folder` is the place without
 * -o.  Nothing to free on failure. */
enum ta_status ta_cli_prepare_products(struct ta_cli *cli, const char *folder,
                                       struct ta_products *products) TA_MUST_CHECK;

/* Writes all chosen formats, then warnings and the summary for people. */
enum ta_status ta_cli_produce(struct ta_cli *cli, struct ta_report *report,
                              const struct ta_products *products) TA_MUST_CHECK;

/* What the options say of a run; sets the bounds on memory. */
enum ta_status ta_cli_run_options(struct ta_cli *cli, const char *const *inputs, size_t n_inputs,
                                  struct ta_run_options *options) TA_MUST_CHECK;

/* Reads and analyzes the inputs by the options; see ta_pipeline_run(). */
enum ta_status ta_cli_run(struct ta_cli *cli, const char *const *inputs, size_t n_inputs,
                          const struct ta_wanted *wanted, struct ta_report **report) TA_MUST_CHECK;

/* The same of each input as a run of its own; see ta_pipeline_run_each(). */
enum ta_status ta_cli_run_each(struct ta_cli *cli, const char *const *inputs, size_t n_inputs,
                               const struct ta_wanted *wanted,
                               struct ta_report **reports) TA_MUST_CHECK;

/* What is run for a comparison: analyses that are not built in may have figures to compare. */
extern const struct ta_wanted ta_cli_compared;

/* The same of an operand that is a run of a comparison: inputs, or a report that was written
 * before. */
enum ta_status ta_cli_read_run(struct ta_cli *cli, const char *operand,
                               const struct ta_wanted *wanted,
                               struct ta_report **report) TA_MUST_CHECK;

/* The runs of a comparison, one per operand. */
struct ta_runs {
    struct ta_report **at;
    size_t n;
};

/* Reads each operand but the first `skip` as a run of its own, so that ranks of different runs
 * never meet.  --title is that of the comparison: each run has that of its input.  Whatever it
 * returns, ta_cli_free_runs() ends it. */
enum ta_status ta_cli_read_runs(struct ta_cli *cli, size_t skip, const struct ta_wanted *wanted,
                                struct ta_runs *runs) TA_MUST_CHECK;
void ta_cli_free_runs(struct ta_runs *runs);

/* The comparison of the runs that the operands but the first `skip` are; on TA_OK the caller owns
 * *diff. */
enum ta_status ta_cli_compare(struct ta_cli *cli, size_t skip,
                              struct ta_report **diff) TA_MUST_CHECK;

/* Says on standard error what was wrong with the inputs. */
void ta_cli_warn(struct ta_cli *cli, const struct ta_report *report);

/* Whether data was lost, or ranks of a run are not there. */
bool ta_cli_has_losses(const struct ta_report *report);

/* Notes for --strict whether anything was lost. */
void ta_cli_note_losses(struct ta_cli *cli, const struct ta_report *report);

/* Settings of the outputs; TA_ERR_USAGE for a bad SOURCE_DATE_EPOCH. */
enum ta_status ta_cli_render_options(struct ta_cli *cli, const struct ta_report *report,
                                     struct ta_render_options *options) TA_MUST_CHECK;

/* Has an output write a report into a sink that the caller commits. */
enum ta_status ta_cli_write(struct ta_cli *cli, const struct ta_entry *output,
                            const struct ta_report *report, const struct ta_render_options *options,
                            struct ta_sink *sink) TA_MUST_CHECK;

/* The same to standard output, from opening to commit. */
enum ta_status ta_cli_write_stdout(struct ta_cli *cli, const struct ta_entry *output,
                                   const struct ta_report *report,
                                   const struct ta_render_options *options) TA_MUST_CHECK;

/* Standard output as a file with the escaping writers of output.h. */
struct ta_stdout {
    struct ta_sink *sink;
    struct ta_file *file;
};

enum ta_status ta_stdout_open(struct ta_ctx *ctx, struct ta_stdout *out) TA_MUST_CHECK;
enum ta_status ta_stdout_close(struct ta_ctx *ctx, struct ta_stdout *out) TA_MUST_CHECK;

#endif
