/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze completion`: scripts that complete command lines, made from the tables of
 * options.c. */
#include "cli/completion.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/suggest.h"
#include "cli/schemas.h"

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static size_t put_word(struct ta_file *out, struct ta_slice word, const char *end)
{
    if (out) {
        ta_put(out, word);
        ta_putf(out, "%s ", end);
    }
    return 1;
}

/* The literal words of a text such as "auto|FILE" or "show|init|validate", up to a blank. */
static size_t put_literals(struct ta_file *out, const char *text)
{
    const size_t length = strcspn(text, " ");
    size_t n = 0;
    for (size_t i = 0; i < length;) {
        const size_t part = strcspn(text + i, "| ");
        const struct ta_slice word = {text + i, part};
        if (part > 1 && strcspn(word.ptr, CAPITALS "[,/.=") >= part)
            n += put_word(out, word, "");
        i += part + 1;
    }
    return n;
}

static size_t put_plugins(struct ta_file *out, const struct ta_registry *registry,
                          enum ta_plugin_kind kind)
{
    const size_t n = ta_registry_count(registry, kind);
    for (size_t i = 0; i < n; i++)
        put_word(out, ta_slice_of(ta_registry_at(registry, kind, i)->plugin.id), "");
    return n;
}

static size_t put_settings(struct ta_file *out, const struct ta_registry *registry)
{
    size_t n = 0;
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            const struct ta_plugin *plugin =
                &ta_registry_at(registry, (enum ta_plugin_kind)kind, i)->plugin;
            for (const struct ta_option *o = plugin->options; o && o->name; o++, n++)
                if (out)
                    ta_putf(out, "%s.%s= ", plugin->id, o->name);
        }
    return n;
}

static size_t put_chart_formats(struct ta_file *out)
{
    size_t n;
    const struct ta_format *formats = ta_cli_chart_formats_known(&n);
    for (size_t i = 0; i < n; i++)
        put_word(out, ta_slice_of(formats[i].name), "");
    return n;
}

static bool is(const struct ta_arg_option *option, const char *name)
{
    return strcmp(option->name, name) == 0;
}

size_t ta_completion_values(struct ta_file *out, const struct ta_registry *registry,
                            const struct ta_arg_option *option)
{
    size_t n = 0;
    const struct ta_run_option takes = ta_arg_takes(option);
    for (int i = 0; takes.choices && takes.choices[i]; i++)
        if (*takes.choices[i])
            n += put_word(out, ta_slice_of(takes.choices[i]), "");
    if (takes.choices || !takes.argument)
        return n;
    if (is(option, "format"))
        return ta_arg_is_for(option, &ta_commands[TA_COMMAND_CHART])
                   ? put_chart_formats(out)
                   : put_plugins(out, registry, TA_KIND_output);
    if (is(option, "input"))
        return put_plugins(out, registry, TA_KIND_input);
    if (is(option, "disable-rule"))
        return put_plugins(out, registry, TA_KIND_advice);
    if (is(option, "set"))
        return put_settings(out, registry);
    if (is(option, "limit")) {
        for (int i = 0; i < TA_LIMIT_COUNT; i++)
            put_word(out, ta_slice_of(ta_limit_name((enum ta_limit)i)), "=");
        return TA_LIMIT_COUNT;
    }
    return put_literals(out, takes.argument);
}

enum ta_completes ta_completion_places(const struct ta_arg_option *option)
{
    const char *takes = ta_arg_takes(option).argument, *argument = takes ? takes : "";
    if (strstr(argument, "DIR"))
        return TA_COMPLETES_FOLDERS;
    return strstr(argument, "FILE") || strstr(argument, "PATH") || strstr(argument, "INPUT")
               ? TA_COMPLETES_FILES
               : TA_COMPLETES_NOTHING;
}

bool ta_completion_is_list(const struct ta_arg_option *option)
{
    return is(option, "format");
}

bool ta_completion_is_open(const struct ta_arg_option *option)
{
    const char *argument = ta_arg_takes(option).argument;
    return argument && strchr(argument, '=');
}

size_t ta_completion_operands(struct ta_file *out, const struct ta_command *command)
{
    size_t n = put_literals(out, command->operands);
    if (command == &ta_commands[TA_COMMAND_HELP])
        for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
            n += put_word(out, ta_slice_of(c->name), "");
    if (command == &ta_commands[TA_COMMAND_SCHEMA])
        for (const struct ta_schema *schema = ta_schemas; schema->name; schema++)
            n += put_word(out, ta_slice_of(schema->name), "");
    return n;
}

bool ta_completion_takes_files(const struct ta_command *command, bool first)
{
    static const char *const files[] = {"INPUT", "BASE", "RUN", "FILE"};
    const size_t form = strcspn(command->operands, " ");
    bool takes = false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        takes |= strstr(command->operands, files[i]) != NULL;
    return takes && (!first || strcspn(command->operands, CAPITALS) < form);
}

typedef void script_writer(struct ta_file *out, const struct ta_registry *registry);

/* The writer of the script for a shell; NULL after ta_fail(). */
static script_writer *find_writer(struct ta_ctx *ctx, const char *shell)
{
    static const struct {
        const char *shell;
        script_writer *write;
    } writers[] = {
        {"bash", ta_completion_bash}, {"zsh", ta_completion_zsh}, {"fish", ta_completion_fish}};
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = shell};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        if (strcmp(writers[i].shell, shell) == 0)
            return writers[i].write;
        ta_suggest_offer(&close, writers[i].shell);
    }
    ta_fail(ctx, TA_ERR_USAGE, "Unknown shell: %s, expected bash, zsh or fish%s", shell,
            ta_suggest_text(&close, hint));
    return NULL;
}

enum ta_status ta_cmd_completion(struct ta_cli *cli)
{
    struct ta_stdout out;
    script_writer *write = find_writer(cli->ctx, cli->args.operands.items[0]);
    /* From the built-in plugins alone, so that the script of an installation suits all. */
    cli->registry = cli->builtin = write ? ta_registry_new(cli->ctx) : NULL;
    if (!cli->registry)
        return ta_ctx_status(cli->ctx);
    const enum ta_status status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    write(out.file, cli->registry);
    return ta_stdout_close(cli->ctx, &out);
}
