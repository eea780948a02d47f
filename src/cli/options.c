/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands and options of the program: the only list of them.  What options of a run take and
 * mean is in src/run/options.c: here they have no help. */
#include "cli/args.h"

#include <stddef.h>

const struct ta_command ta_commands[TA_COMMAND_COUNT] = {
    [TA_COMMAND_REPORT] =
        {"report", "INPUT...", "analyze traces and write reports",
         "INPUT is a trace (.json, .json.gz), a folder with the traces of all ranks, a quoted\n"
         "glob, or - for standard input.  All inputs together are one run.\n"
         "\n"
         "A summary goes to the terminal, the report to ./traceanalyze-report/ or to where -o\n"
         "says: a folder, made if missing; one file, when PATH ends in the extension of its\n"
         "format; or - for standard output.\n",
         "traceanalyze report traces/\n"
         "traceanalyze report traces/ -o run.html\n"
         "traceanalyze report --json traces/ | jq .verdict\n"
         "traceanalyze report --set gpu_idle.threshold=30% traces/\n",
         1, SIZE_MAX},
    [TA_COMMAND_DIFF] =
        {"diff", "BASE OPT | BASE... --vs OPT... | FOLDER --run BASE --run OPT",
         "compare a baseline with another run",
         "Each of BASE and OPT is one run: a trace, or a folder or a quoted glob with the traces\n"
         "of all ranks or the dumps of a profiler, summaries that `reduce` wrote, or a "
         "report.json\n"
         "or report.html of an earlier call, or its folder.  With --vs each side may have\n"
         "several runs.  Two runs of one folder are named with --run, the baseline first.\n"
         "\n"
         "The answer goes to the terminal, the comparison to ./traceanalyze-diff/ or to where -o\n"
         "says: a folder, made if missing; one file, when PATH ends in the extension of its\n"
         "format; or - for standard output.\n",
         "traceanalyze diff before/ after/\n"
         "traceanalyze diff before/ after/ -o change.html\n"
         "traceanalyze diff before-1/ before-2/ before-3/ --vs after-1/ after-2/ after-3/\n",
         1, SIZE_MAX},
    [TA_COMMAND_AGGREGATE] =
        {"aggregate", "INPUT...", "write one report of many ranks",
         "INPUT is whatever `report` takes, or summaries written by `reduce`: folders, quoted\n"
         "globs or single files, in any mixture.  The report of summaries is the report of the\n"
         "traces they were made from.\n"
         "\n"
         "A report.json or report.html is read if it is named, or alone in its folder.  Reports "
         "of\n"
         "different ranks of one run are put together as far as possible: tables by rank, and\n"
         "names without their quantiles.\n"
         "\n"
         "Ranks are compared in every figure: `ranks.metrics` lists the smallest and the largest\n"
         "value with its rank, `ranks.outliers` the ranks that differ.  --by node and --by group\n"
         "add `ranks.parts` and `parts.metrics`, with the means over nodes or process groups.\n",
         "traceanalyze aggregate summaries/\n"
         "traceanalyze aggregate 'node*/rank-*.tas.json.gz' -o run/ --world-size 4096\n",
         1, SIZE_MAX},
    [TA_COMMAND_REDUCE] =
        {"reduce", "INPUT...", "write one mergeable summary per rank",
         "Reads traces where they are, and writes rank-00012.tas.json.gz and the like, whose size\n"
         "does not depend on how long the traces are, to ./traceanalyze-summaries/ or to where -o\n"
         "says.  `aggregate` and `report` take summaries in place of the traces.\n"
         "\n"
         "With --shard each of several processes reads its part of the files: process I of N,\n"
         "from 0, or what the job system says (SLURM_PROCID, JOB_COMPLETION_INDEX with "
         "--shard-count,\n"
         "OMPI_COMM_WORLD_RANK, PMI_RANK).\n",
         "traceanalyze reduce traces/ -o summaries/\n"
         "srun -n 64 traceanalyze reduce traces/ -o summaries/ --shard auto\n",
         1, SIZE_MAX},
    [TA_COMMAND_SCALING] =
        {"scaling", "RUN RUN...", "compare runs of different world size",
         "Each RUN is one run: a folder or a quoted glob with the traces of all its ranks or the\n"
         "dumps of a profiler, or a saved report, or its folder.  Says how much faster more\n"
         "ranks are, what that costs in GPU time, and how Amdahl's law (from 3 world sizes on)\n"
         "and the universal scalability law (from 4 on) fit.\n"
         "\n"
         "The answer goes to the terminal, the comparison to ./traceanalyze-scaling/ or to where\n"
         "-o says: a folder, made if missing; one file, when PATH ends in the extension of\n"
         "its format; or - for standard output.\n",
         "traceanalyze scaling gpus-1/ gpus-2/ gpus-4/ gpus-8/\n"
         "traceanalyze scaling --weak nodes-*/ -o scaling.html\n",
         2, SIZE_MAX},
    [TA_COMMAND_CHART] =
        {"chart", "ID[,ID...]|all INPUT... [--vs INPUT...]",
         "draw charts of traces as PNG, SVG or PDF files",
         "Charts go to ./traceanalyze-charts/ or to where -o says: a folder, or for one chart in\n"
         "one format a file or - for standard output.  --list INPUT... shows the charts that\n"
         "these traces have.  A saved report.json can be drawn, too.  --vs between the runs of a\n"
         "baseline and other runs draws their comparison.\n",
         "traceanalyze chart --list traces/\n"
         "traceanalyze chart diff-waterfall before/ --vs after/ -o change.png\n"
         "traceanalyze chart gpu-time-breakdown traces/ -o breakdown.svg\n"
         "traceanalyze chart all traces/ --format png,pdf -o charts/\n",
         1, SIZE_MAX},
    [TA_COMMAND_CHECK] =
        {"check", "INPUT...", "read traces and say what is wrong with them",
         "Prints for each file its format, rank and state, and how many events were kept and\n"
         "dropped, why, and where in the file.  Analyzes nothing.\n",
         "traceanalyze check traces/\n"
         "traceanalyze check --strict --json traces/ > quality.json\n",
         1, SIZE_MAX},
    [TA_COMMAND_MERGE] =
        {"merge", "INPUT...", "put the traces of all ranks into one file for viewers",
         "Events keep all their arguments.  The ending of -o chooses the format:\n"
         "  .json.gz, .json  one Chrome trace, for any viewer: clocks aligned, ids of processes\n"
         "                   and events made unique, processes named by rank (default:\n"
         "                   ./merged.json.gz; - is standard output, not compressed)\n"
         "  .tar             a manifest with the machine and clock of each trace, then the traces\n"
         "                   unchanged, for Perfetto 58.2 and newer\n"
         "Spans that reach into a range are kept whole.\n",
         "traceanalyze merge traces/ -o merged.json.gz\n"
         "traceanalyze merge traces/ --rank 0-3 --steps 5-6 -o run.perfetto.tar\n"
         "traceanalyze merge traces/ --time-range 1.5s,2s --drop-category python_function\n",
         1, SIZE_MAX},
    [TA_COMMAND_PLUGINS] =
        {"plugins", "", "list the plugins and their options",
         "Plugins read inputs, analyze traces, give advice and write outputs.  They are built in,\n"
         "or loaded from the install folder, the folders in TRACEANALYZE_PLUGIN_PATH, and\n"
         "--plugin-path.\n",
         "traceanalyze plugins\n"
         "traceanalyze plugins --plugin-path build/short_kernels.so\n",
         0, 0},
    [TA_COMMAND_RULES] =
        {"rules", "", "list the rules that give advice, and their thresholds",
         "Each rule reads tables of the report and gives a finding if its threshold is exceeded.\n"
         "A changed value is followed by its default and by the place where it was set.\n"
         "--rules FILE changes rules and adds new ones, --set ID.NAME=VALUE changes a single\n"
         "value, --disable-rule leaves a rule out.\n",
         "traceanalyze rules --rules team.yaml\n"
         "traceanalyze rules --json | jq '.rules[].options[] | select(.origin != \"default\")'\n",
         0, 0},
    [TA_COMMAND_SCHEMA] = {"schema", "[NAME]", "print a JSON schema, or list them",
                           "The schemas describe the JSON files that traceanalyze writes.\n",
                           "traceanalyze schema report-1 > report-1.schema.json\n", 0, 1},
    [TA_COMMAND_CONFIG] =
        {"config", "show|init|validate [FILE]", "show, start or check a configuration",
         "  show      prints every setting with its value and where that comes from\n"
         "  init      writes a commented configuration that changes nothing, to FILE or to\n"
         "            ./traceanalyze.yaml; - is standard output\n"
         "  validate  checks FILE, or the whole configuration in force\n"
         "\n"
         "The first of these that has a setting counts: options, variables such as\n"
         "TRACEANALYZE_OUTPUT_THEME, the file of --config or TRACEANALYZE_CONFIG,\n"
         "./traceanalyze.yaml,\n"
         "$XDG_CONFIG_HOME/traceanalyze/config.yaml, /etc/traceanalyze/config.yaml.\n",
         "traceanalyze config init\n"
         "traceanalyze config validate profiling_config.yaml\n"
         "traceanalyze config show --json | jq '.settings[] | select(.origin != \"default\")'\n",
         1, 2},
    [TA_COMMAND_COMPLETION] =
        {"completion", "bash|zsh|fish", "print a script that completes command lines",
         "The script completes commands, options and their values in that shell.  An installed\n"
         "traceanalyze has put the three scripts where the shells look for them; otherwise let\n"
         "the shell read its script when it starts.\n",
         "source <(traceanalyze completion bash)\n"
         "traceanalyze completion zsh > ~/.zfunc/_traceanalyze\n"
         "traceanalyze completion fish > ~/.config/fish/completions/traceanalyze.fish\n",
         1, 1},
    [TA_COMMAND_HELP] =
        {"help", "[COMMAND]", "explain a command",
         "Prints the same as `traceanalyze COMMAND --help`, or with --man the manual page, for\n"
         "`man -l` and the like.\n",
         "traceanalyze help diff\n"
         "traceanalyze help --man diff | man -l -\n"
         "traceanalyze help --man config.5 | man -l -\n",
         0, 1},
};

/* ---- options ------------------------------------------------------------------------------ */

#define FOR(command) (UINT32_C(1) << TA_COMMAND_##command)
#define ALL ((UINT32_C(1) << TA_COMMAND_COUNT) - 1)
/* Commands that make a report of one run. */
#define RUNNING (FOR(REPORT) | FOR(AGGREGATE))
/* Commands that judge changes. */
#define JUDGING (FOR(REPORT) | FOR(DIFF))
/* Commands that make a report. */
#define REPORTING (RUNNING | FOR(DIFF) | FOR(SCALING))
/* Commands that read traces. */
#define READING (REPORTING | FOR(REDUCE) | FOR(CHART) | FOR(CHECK) | FOR(MERGE))
/* Commands that a configuration has a say in. */
#define CONFIGURED (READING | FOR(PLUGINS) | FOR(RULES) | FOR(CONFIG))

/* Order of enum ta_when. */
static const char *const when[] = {"auto", "always", "never", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
/* Order of enum ta_annotate. */
static const char *const annotations[] = {"auto", "github", "none", NULL};
static const char *const chart_themes[] = {"", "light", "dark", NULL};

/* How an option is stored: its type, the field of struct ta_cmdline, what it may be.  A field of
 * another C type does not compile. */
#define AT(type, field)                                                                            \
    _Generic(((struct ta_cmdline *)NULL)->field, type : offsetof(struct ta_cmdline, field))
#define FLAG(field) TA_VALUE_FLAG, AT(bool, field), 0, 0, NULL
#define COUNT(field) TA_VALUE_COUNT, AT(int, field), 0, 0, NULL
#define TEXT(field) TA_VALUE_TEXT, AT(const char *, field), 0, 0, NULL
#define TEXTS(field) TA_VALUE_TEXTS, AT(struct ta_texts, field), 0, 0, NULL
#define CHOICE(field, words) TA_VALUE_CHOICE, AT(int, field), 0, 0, words
#define WHOLE(field, least, most) TA_VALUE_WHOLE, AT(int64_t, field), least, most, NULL
#define NUMBER(field, least, most) TA_VALUE_NUMBER, AT(double, field), least, most, NULL
#define EXTENT(field, least, most) TA_VALUE_EXTENT, AT(struct ta_extent, field), least, most, NULL

const struct ta_arg_option ta_arg_options[] = {
    {"output", 'o', "PATH", REPORTING | FOR(REDUCE) | FOR(CHART), TA_GROUP_COMMAND, TEXT(out),
     "folder or file to write, - for standard output"},
    {"format", 0, "LIST", REPORTING, TA_GROUP_COMMAND, TEXT(format),
     "formats to write, separated by commas"},
    {"json", 0, NULL, REPORTING, TA_GROUP_COMMAND, FLAG(json), "same as --format json -o -"},
    {"title", 0, NULL, REPORTING, TA_GROUP_COMMAND, TEXT(title), NULL},
    {"theme", 0, NULL, REPORTING, TA_GROUP_COMMAND, CHOICE(theme, NULL), NULL},
    {"assets", 0, NULL, REPORTING, TA_GROUP_COMMAND, CHOICE(assets, NULL), NULL},
    {"baseline", 0, "INPUT", FOR(REPORT), TA_GROUP_COMMAND, TEXT(baseline),
     "run, or its report, to compare with; see `traceanalyze help diff`"},
    {"timeline", 0, NULL, RUNNING, TA_GROUP_COMMAND, CHOICE(timeline, NULL), NULL},
    {"max-html-size", 0, NULL, RUNNING, TA_GROUP_COMMAND, TEXT(max_html_size), NULL},
    {"paper", 0, NULL, REPORTING, TA_GROUP_COMMAND, CHOICE(letter, NULL), NULL},
    {"paper-detail", 0, NULL, REPORTING, TA_GROUP_COMMAND, CHOICE(paper_detail, NULL), NULL},
    {"top", 0, NULL, REPORTING, TA_GROUP_COMMAND, WHOLE(top, 0, 0), NULL},

    {"by", 0, NULL, FOR(AGGREGATE), TA_GROUP_COMMAND, CHOICE(by, NULL), NULL},
    {"outliers", 0, NULL, FOR(AGGREGATE), TA_GROUP_COMMAND, WHOLE(outliers, 0, 0), NULL},
    {"partial", 0, NULL, FOR(AGGREGATE), TA_GROUP_COMMAND, FLAG(partial), NULL},

    {"vs", 0, NULL, FOR(DIFF) | FOR(CHART), TA_GROUP_COMMAND, FLAG(vs),
     "separates the runs of the baseline from those to compare"},

    {"fail-on", 0, NULL, FOR(DIFF), TA_GROUP_COMMAND, TEXTS(fail_on), NULL},
    {"fail-on", 0, "EXPR", RUNNING, TA_GROUP_COMMAND, TEXTS(fail_on),
     "end with exit code 1 if true: fps<10, finding>=high"},
    {"gate", 0, NULL, JUDGING, TA_GROUP_COMMAND, CHOICE(gate, NULL), NULL},
    {"confidence", 0, NULL, JUDGING, TA_GROUP_COMMAND, NUMBER(confidence, 0, 0), NULL},
    {"min-effect", 0, NULL, JUDGING, TA_GROUP_COMMAND, TEXT(min_effect), NULL},
    {"noise-floor", 0, NULL, JUDGING, TA_GROUP_COMMAND, TEXT(noise_floor), NULL},
    {"summary-md", 0, "FILE", REPORTING, TA_GROUP_COMMAND, TEXT(summary_md),
     "append a summary in Markdown to FILE"},
    {"junit", 0, "FILE", REPORTING, TA_GROUP_COMMAND, TEXT(junit),
     "write the gates as test cases in JUnit XML"},
    {"bench-json", 0, "FILE", REPORTING, TA_GROUP_COMMAND, TEXT(bench_json),
     "write figures for github-action-benchmark"},
    {"bmf-json", 0, "FILE", REPORTING, TA_GROUP_COMMAND, TEXT(bmf_json),
     "write figures for Bencher"},
    {"annotate", 0, "FOR", REPORTING, TA_GROUP_COMMAND, CHOICE(annotate, annotations),
     "print failed gates as GitHub annotations (default: in GitHub jobs)"},
    {"save-baseline", 0, "FILE", FOR(DIFF), TA_GROUP_COMMAND, TEXT(save_baseline),
     "write the spread between runs of a side, for --noise-floor"},
    {"allow-single-run", 0, NULL, JUDGING, TA_GROUP_COMMAND, FLAG(allow_single_run), NULL},
    {"strong", 0, NULL, FOR(SCALING), TA_GROUP_COMMAND, FLAG(strong), NULL},
    {"weak", 0, NULL, FOR(SCALING), TA_GROUP_COMMAND, FLAG(weak), NULL},

    {"format", 0, "LIST", FOR(CHART), TA_GROUP_COMMAND, TEXT(format),
     "formats to draw: png, svg, pdf or several of them (default: png)"},
    {"list", 0, NULL, FOR(CHART), TA_GROUP_COMMAND, FLAG(list), "list the charts of the inputs"},
    {"size", 0, NULL, FOR(CHART), TA_GROUP_COMMAND, EXTENT(size, 0, 0), NULL},
    {"scale", 0, NULL, FOR(CHART), TA_GROUP_COMMAND, NUMBER(scale, 0, 0), NULL},
    {"theme", 0, "THEME", FOR(CHART), TA_GROUP_COMMAND, CHOICE(theme, chart_themes),
     "colors (default: light)"},

    {"shard", 0, "I/N|auto", FOR(REDUCE), TA_GROUP_COMMAND, TEXT(shard),
     "read part I of N of the files, from 0; auto asks the job system"},
    {"shard-count", 0, "N", FOR(REDUCE), TA_GROUP_COMMAND, WHOLE(shard_count, 1, 1 << 20),
     "number of parts, if the job system does not give it"},

    {"output", 'o', "FILE", FOR(MERGE), TA_GROUP_COMMAND, TEXT(out),
     "file to write, - for standard output (default: merged.json.gz)"},
    {"drop-category", 0, NULL, FOR(MERGE), TA_GROUP_COMMAND, TEXT(drop_category), NULL},

    {"man", 0, NULL, FOR(HELP), TA_GROUP_COMMAND, FLAG(man),
     "write the manual page of a command, or the one of that name, as roff"},
    {"list", 0, NULL, FOR(HELP), TA_GROUP_COMMAND, FLAG(list), "list the manual pages"},

    {"json", 0, NULL, FOR(CHECK) | FOR(PLUGINS) | FOR(RULES) | FOR(CONFIG), TA_GROUP_COMMAND,
     FLAG(json), "write JSON"},

    {"run", 0, NULL, REPORTING | FOR(CHART), TA_GROUP_SELECTION, TEXTS(runs), NULL},
    {"rank-regex", 0, NULL, READING, TA_GROUP_SELECTION, TEXT(rank_regex), NULL},
    {"step-marker", 0, NULL, READING, TA_GROUP_SELECTION, TEXT(step_marker), NULL},
    {"world-size", 0, NULL, READING, TA_GROUP_SELECTION, WHOLE(world_size, 0, 0), NULL},
    {"ranks-per-node", 0, NULL, RUNNING, TA_GROUP_SELECTION, WHOLE(ranks_per_node, 0, 0), NULL},
    {"playback-fps", 0, NULL, RUNNING | FOR(CHART), TA_GROUP_SELECTION, NUMBER(playback_fps, 0, 0),
     NULL},
    {"plan", 0, NULL, FOR(REPORT), TA_GROUP_COMMAND, TEXTS(plan), NULL},
    {"input", 0, NULL, READING, TA_GROUP_SELECTION, TEXT(input), NULL},

    {"map", 0, NULL, REPORTING | FOR(REDUCE) | FOR(CHART), TA_GROUP_SELECTION, TEXTS(maps), NULL},

    {"rank", 0, NULL, FOR(MERGE), TA_GROUP_SELECTION, TEXT(rank), NULL},
    {"steps", 0, NULL, FOR(MERGE), TA_GROUP_SELECTION, TEXT(steps), NULL},
    {"time-range", 0, NULL, FOR(MERGE), TA_GROUP_SELECTION, TEXT(time_range), NULL},
    {"align", 0, NULL, FOR(MERGE), TA_GROUP_SELECTION, CHOICE(align, NULL), NULL},

    {"hardware", 0, NULL, REPORTING | FOR(REDUCE) | FOR(CHART), TA_GROUP_SELECTION, TEXT(hardware),
     NULL},
    {"price", 0, NULL, REPORTING, TA_GROUP_SELECTION, TEXT(price), NULL},

    {"config", 0, "FILE", CONFIGURED, TA_GROUP_GLOBAL, TEXT(config),
     "configuration file to read in addition to the usual ones"},
    {"no-config", 0, NULL, CONFIGURED, TA_GROUP_GLOBAL, FLAG(no_config),
     "ignore configuration files and variables"},
    {"jobs", 'j', NULL, READING, TA_GROUP_GLOBAL, WHOLE(jobs, 0, 0), NULL},
    {"memory-limit", 0, NULL, READING, TA_GROUP_GLOBAL, TEXT(memory_limit), NULL},
    {"tmpdir", 0, NULL, READING, TA_GROUP_GLOBAL, TEXT(tmpdir), NULL},
    {"inflater", 0, NULL, READING, TA_GROUP_GLOBAL, CHOICE(inflater, NULL), NULL},
    {"cpu", 0, NULL, READING, TA_GROUP_GLOBAL, CHOICE(cpu, NULL), NULL},
    {"limit", 0, NULL, CONFIGURED, TA_GROUP_GLOBAL, TEXTS(limits), NULL},
    {"set", 0, NULL, CONFIGURED, TA_GROUP_GLOBAL, TEXTS(settings), NULL},
    {"rules", 0, "FILE", CONFIGURED, TA_GROUP_GLOBAL, TEXTS(rule_files),
     "change rules and add new ones; `traceanalyze rules` lists them"},
    {"disable-rule", 0, NULL, REPORTING | FOR(RULES), TA_GROUP_GLOBAL, TEXTS(disabled_rules), NULL},
    {"plugin-path", 0, NULL, CONFIGURED, TA_GROUP_GLOBAL, TEXTS(plugin_paths), NULL},
    {"strict", 0, NULL, READING, TA_GROUP_GLOBAL, FLAG(strict),
     "end with exit code 4 if any data was lost"},
    {"progress", 0, "WHEN", READING, TA_GROUP_GLOBAL, CHOICE(progress, when),
     "show progress (default: auto, on a terminal)"},
    {"color", 0, "WHEN", REPORTING, TA_GROUP_GLOBAL, CHOICE(color, when),
     "use colors (default: auto, on a terminal)"},
    {"log-format", 0, "FORMAT", ALL, TA_GROUP_GLOBAL, CHOICE(json_log, log_formats),
     "format of messages on standard error (default: text)"},
    {"quiet", 'q', NULL, ALL, TA_GROUP_GLOBAL, FLAG(quiet), "no summary, no progress, no warnings"},
    {"verbose", 'v', NULL, ALL, TA_GROUP_GLOBAL, COUNT(verbose), "say more; twice for even more"},
    {"help", 'h', NULL, ALL, TA_GROUP_GLOBAL, FLAG(help), "show this help"},
    {"version", 'V', NULL, ALL, TA_GROUP_GLOBAL, FLAG(version),
     "show the version; with -v also the parts it is built from"},
    {0},
};
