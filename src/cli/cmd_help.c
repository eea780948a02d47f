/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `help`, `--help` and `--version`, made from the tables of options.c and base/limits.c. */
#include "cli/cli.h"

#include "base/limits.h"

#include <cairo.h>
#include <gsl/gsl_version.h>
#include <inttypes.h>
#include <jansson.h>
#include <pango/pango.h>
#include <stdio.h>
#include <utf8proc.h>
#include <yaml.h>
#include <zlib.h>

#include "cli/exit_code.h"
#include "cli/manual.h"

#ifdef TA_HAVE_ISAL
#include <isa-l.h>
#define TEXT_OF(number) #number
#define DOTTED(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
#define ISAL_TEXT DOTTED(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION)
#else
#define ISAL_TEXT "is not built in"
#endif

/* Column where the explanations of options begin. */
enum { HELP_COLUMN = 26 };

/* ---- help ---------------------------------------------------------------------------------- */

/* The options of a command, from a group on. */
static void put_options(struct ta_file *out, const struct ta_command *command,
                        enum ta_arg_group first_group)
{
    static const char *const titles[TA_GROUP_COUNT] = {
        [TA_GROUP_COMMAND] = "Options:",
        [TA_GROUP_SELECTION] = "What is read:",
        [TA_GROUP_GLOBAL] = "Global options, also before the command:",
    };
    for (int group = (int)first_group; group < TA_GROUP_COUNT; group++) {
        bool first = true;
        for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
            if ((int)o->group != group || !ta_arg_is_for(o, command))
                continue;
            if (first)
                ta_putf(out, "\n%s\n", titles[group]);
            first = false;

            /* "  -o, --output=PATH"; one that is too long has a line for itself. */
            char head[TA_ARG_WORDS_MAX + 64], letter[8] = "    ", words[TA_ARG_WORDS_MAX];
            if (o->letter)
                snprintf(letter, sizeof letter, "-%c, ", o->letter);
            const char *argument = ta_arg_argument(o, words);
            const int length = snprintf(head, sizeof head, "  %s--%s%s%s", letter, o->name,
                                        argument ? "=" : "", argument ? argument : "");
            if (length + 2 > HELP_COLUMN)
                ta_putf(out, "%s\n%*s%s\n", head, HELP_COLUMN, "", ta_arg_takes(o).help);
            else
                ta_putf(out, "%-*s%s\n", HELP_COLUMN, head, ta_arg_takes(o).help);
        }
    }
}

static void put_command(struct ta_file *out, const struct ta_command *command)
{
    ta_putf(out, "Usage: traceanalyze %s [OPTION...]%s%s\n\n", command->name,
            *command->operands ? " " : "", command->operands);
    ta_putf(out, "%c%s.\n", command->summary[0] & ~0x20, command->summary + 1);
    if (*command->details)
        ta_putf(out, "\n%s", command->details);
    if (*command->examples) {
        const char *examples = command->examples;
        ta_puts(out, "\n");
        for (const char *line = examples; *line;) {
            const size_t n = strcspn(line, "\n");
            ta_putf(out, "  %.*s\n", (int)n, line);
            line += n + (line[n] == '\n');
        }
    }
    put_options(out, command, TA_GROUP_COMMAND);
    if (command == &ta_commands[TA_COMMAND_REPORT] || command == &ta_commands[TA_COMMAND_CHECK]) {
        ta_puts(out, "\nLimits and their defaults, for --limit:\n");
        for (int i = 0; i < TA_LIMIT_COUNT; i++) {
            char head[64], value[TA_LIMIT_TEXT_MAX];
            const enum ta_limit limit = (enum ta_limit)i;
            snprintf(head, sizeof head, "  %s=%s", ta_limit_name(limit),
                     ta_limit_default_text(limit, value));
            ta_putf(out, "%-*s%s\n", HELP_COLUMN + 2, head, ta_limit_meaning(limit));
        }
    }
}

static void put_overview(struct ta_file *out)
{
    ta_puts(out, "Usage: traceanalyze COMMAND [OPTION...] [ARGUMENT...]\n\n"
                 "Reads profiler traces of PyTorch workloads, such as video generation, and says\n"
                 "where the time goes and what would save some.  Works offline.\n\n"
                 "Commands:\n");
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
        ta_putf(out, "  %-10s %s\n", c->name, c->summary);
    put_options(out, &ta_commands[TA_COMMAND_HELP], TA_GROUP_GLOBAL);
    ta_puts(out, "\n'traceanalyze help COMMAND' explains one command, with --man at length.\n\n"
                 "Exit codes:\n");
    for (const struct ta_exit_text *row = ta_exit_texts; row->code; row++)
        ta_putf(out, "  %-5s %s\n", row->code, row->text);
}

/* The command to explain: `traceanalyze help NAME` or `traceanalyze NAME --help`; NULL is all. */
static enum ta_status choose(struct ta_cli *cli, const struct ta_command **command)
{
    const struct ta_cmdline *args = &cli->args;
    *command = args->command;
    if (*command == &ta_commands[TA_COMMAND_HELP] && !args->help)
        *command = NULL;
    if (*command || args->operands.n == 0)
        return TA_OK;
    return ta_command_choose(cli->ctx, args->operands.items[0], command);
}

static void put_page_names(struct ta_file *out)
{
    for (const struct ta_page *page = ta_pages; page->name; page++)
        ta_putf(out, "%s\n", page->name);
}

/* `traceanalyze help --man [NAME]` and `traceanalyze help --list`. */
static enum ta_status put_manual(struct ta_cli *cli)
{
    struct ta_stdout out;
    const struct ta_page *page = NULL;
    const struct ta_texts *names = &cli->args.operands;
    enum ta_status status = TA_OK;
    if (!cli->args.list)
        status = ta_page_choose(cli->ctx, names->n ? names->items[0] : NULL, &page);
    /* From the built-in plugins alone, so that the pages of an installation suit all. */
    if (status == TA_OK)
        cli->registry = cli->builtin = ta_registry_new(cli->ctx);
    if (status == TA_OK && !cli->registry)
        status = ta_ctx_status(cli->ctx);
    if (status == TA_OK)
        status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    if (page)
        ta_page_put(out.file, page, cli->registry);
    else
        put_page_names(out.file);
    return ta_stdout_close(cli->ctx, &out);
}

enum ta_status ta_cmd_help(struct ta_cli *cli)
{
    const struct ta_cmdline *args = &cli->args;
    if (!args->help && (args->man || args->list))
        return put_manual(cli);
    struct ta_stdout out;
    const struct ta_command *command;
    enum ta_status status = choose(cli, &command);
    if (status == TA_OK)
        status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    if (command)
        put_command(out.file, command);
    else
        put_overview(out.file);
    return ta_stdout_close(cli->ctx, &out);
}

/* ---- version ------------------------------------------------------------------------------- */

static void put_parts(struct ta_file *out, const struct ta_registry *registry)
{
    ta_putf(out, "headers %016llx, plugins:", (unsigned long long)TA_HEADERS_HASH);
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        ta_putf(out, " %zu %s", ta_registry_count(registry, (enum ta_plugin_kind)kind),
                ta_plugin_kind_name((enum ta_plugin_kind)kind));
    ta_putf(out,
            "\njansson %s\nzlib %s\nisal %s\ngsl %s\ncairo %s\npango %s\nutf8proc %s\n"
            "libyaml %s\n",
            jansson_version_str(), zlibVersion(), ISAL_TEXT, gsl_version, cairo_version_string(),
            pango_version_string(), utf8proc_version(), yaml_get_version_string());
}

enum ta_status ta_cmd_version(struct ta_cli *cli)
{
    struct ta_stdout out;
    enum ta_status status = cli->args.verbose ? ta_cli_load_plugins(cli) : TA_OK;
    if (status == TA_OK)
        status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    ta_puts(out.file, "traceanalyze " TA_VERSION "\n");
    if (cli->args.verbose)
        put_parts(out.file, cli->registry);
    return ta_stdout_close(cli->ctx, &out);
}
