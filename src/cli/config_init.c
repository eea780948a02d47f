/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A first configuration, made from the table of options and the plugins' own. */
#include "cli/config_init.h"

#include "base/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

/* Every file of ours holds this signature. */
#define FIRST_LINE "# Configuration of traceanalyze"

const char *ta_config_field_text(const struct ta_arg_option *option, const struct ta_cmdline *args,
                                 char text[TA_VALUE_TEXT_MAX])
{
    const struct ta_run_option takes = ta_arg_takes(option);
    return ta_value_text(&takes, (const char *)args + option->offset, text);
}

/* ---- settings ------------------------------------------------------------------------------ */

static void put_comment(struct ta_file *out, const char *indent, const char *text)
{
    ta_putf(out, "%s# ", indent);
    ta_put_terminal(out, ta_slice_of(text), 0, 0);
    ta_puts(out, "\n");
}

static void put_plugin(struct ta_file *out, const struct ta_plugin *plugin)
{
    char value[TA_UNIT_TEXT_MAX + 4];
    const bool can_be_off = plugin->kind == TA_KIND_analysis || plugin->kind == TA_KIND_advice;
    if (can_be_off)
        ta_putf(out, "      #" TA_ENABLED ": true\n");
    for (const struct ta_option *o = plugin->options; o && o->name; o++) {
        put_comment(out, "      ", o->help);
        ta_putf(out, "      #%s: %s\n", o->name, ta_cli_option_text(o, o->preset, value));
    }
}

/* An id may name plugins of several kinds, but a key may occur only once. */
static void put_plugins(struct ta_file *out, const struct ta_registry *registry)
{
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            const struct ta_plugin *plugin =
                &ta_registry_at(registry, (enum ta_plugin_kind)kind, i)->plugin;
            const bool is_seen =
                kind == TA_KIND_advice && ta_registry_find(registry, TA_KIND_analysis, plugin->id);
            const struct ta_entry *rule =
                kind == TA_KIND_analysis ? ta_registry_find(registry, TA_KIND_advice, plugin->id)
                                         : NULL;
            const bool has_any =
                plugin->options || kind == TA_KIND_analysis || kind == TA_KIND_advice;
            if (is_seen || !has_any)
                continue;
            ta_puts(out, "    # ");
            ta_put_terminal(out, ta_slice_of(plugin->title), 0, 0);
            ta_putf(out, "\n    %s:\n", plugin->id);
            put_plugin(out, plugin);
            for (const struct ta_option *o = rule ? rule->plugin.options : NULL; o && o->name;
                 o++) {
                char value[TA_UNIT_TEXT_MAX + 4];
                put_comment(out, "      ", o->help);
                ta_putf(out, "      #%s: %s\n", o->name, ta_cli_option_text(o, o->preset, value));
            }
        }
}

static void put_option(struct ta_file *out, const struct ta_registry *registry,
                       const struct ta_arg_option *option, const char *key)
{
    char value[TA_VALUE_TEXT_MAX];
    const struct ta_cmdline defaults = ta_cmdline_defaults();
    const char *indent = strchr(key, '.') ? "    " : "  ";
    const char *text = ta_config_field_text(option, &defaults, value);
    const char *point = strrchr(key, '.');
    put_comment(out, indent, ta_arg_takes(option).help);
    if (ta_arg_takes(option).choices) {
        const char *const *choices = ta_arg_takes(option).choices;
        const char *separator = "";
        ta_putf(out, "%s# one of ", indent);
        for (; *choices; choices++)
            if (**choices) {
                ta_putf(out, "%s%s", separator, *choices);
                separator = ", ";
            }
        ta_puts(out, "\n");
    }
    if (ta_config_is_place(option))
        put_comment(out, indent, "not in ./" TA_CONFIG_HERE);
    if (option->offset == offsetof(struct ta_cmdline, limits)) {
        ta_putf(out, "  %s:\n", key);
        for (int i = 0; i < TA_LIMIT_COUNT; i++)
            ta_putf(out, "    #%s: %" PRIu64 "\n", ta_limit_name((enum ta_limit)i),
                    ta_limit_default((enum ta_limit)i));
    } else if (ta_config_shape(option) == TA_CONFIG_PLUGINS) {
        ta_putf(out, "  %s:\n", key);
        put_plugins(out, registry);
    } else {
        ta_putf(out, "%s#%s:%s%s\n", indent, point ? point + 1 : key, text ? " " : "",
                text ? text : "");
    }
}

/* ---- sections ------------------------------------------------------------------------------ */

/* Length of the section of a key with its point, 0 at the top. */
static size_t section_length(const char *key)
{
    const char *point = strchr(key, '.');
    return point ? (size_t)(point - key) + 1 : 0;
}

/* Whether an earlier option is of the same section. */
static bool is_begun(const struct ta_arg_option *option, const char *key)
{
    char other[TA_CONFIG_KEY_MAX];
    const size_t length = section_length(key);
    for (const struct ta_arg_option *o = ta_arg_options; o < option; o++)
        if (ta_config_key(o, other) && section_length(other) == length &&
            strncmp(other, key, length) == 0)
            return true;
    return false;
}

static void put_section(struct ta_file *out, const struct ta_registry *registry,
                        const struct ta_arg_option *first, const char *key)
{
    char other[TA_CONFIG_KEY_MAX];
    const size_t length = section_length(key);
    ta_puts(out, "\n");
    if (length)
        ta_putf(out, "  %.*s:\n", (int)length - 1, key);
    for (const struct ta_arg_option *o = first; o->name; o++)
        if (ta_config_key(o, other) && section_length(other) == length &&
            strncmp(other, key, length) == 0)
            put_option(out, registry, o, other);
}

/* ---- the file ------------------------------------------------------------------------------ */

static enum ta_status write_file(struct ta_cli *cli, struct ta_sink *sink)
{
    struct ta_file *file = ta_sink_open(cli->ctx, sink, TA_CONFIG_HERE, FIRST_LINE);
    if (!file)
        return ta_ctx_status(cli->ctx);
    const struct ta_registry *registry = cli->registry;
    char key[TA_CONFIG_KEY_MAX];
    ta_puts(file, FIRST_LINE ": nothing is set, each line has its default.\n"
                             "# Take the # off the lines that you change, and check the file with\n"
                             "# `traceanalyze config validate`.  traceanalyze-config(5) explains "
                             "it.\n"
                             "traceanalyze:\n");
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        if (ta_config_key(o, key) && !is_begun(o, key))
            put_section(file, registry, o, key);
    const enum ta_status status = ta_file_close(cli->ctx, file);
    return status == TA_OK ? ta_sink_commit(cli->ctx, sink) : status;
}

enum ta_status ta_config_init(struct ta_cli *cli, const char *path)
{
    struct stat st;
    const bool to_stdout = strcmp(path, "-") == 0;
    if (!to_stdout && lstat(path, &st) == 0)
        return ta_fail(cli->ctx, TA_ERR_USAGE, "There is a file already: %s", path);
    struct ta_sink *sink =
        ta_sink_new(cli->ctx, to_stdout ? TA_SINK_STDOUT : TA_SINK_FILE, to_stdout ? NULL : path);
    if (!sink)
        return ta_ctx_status(cli->ctx);
    const enum ta_status status = write_file(cli, sink);
    ta_sink_free(sink);
    struct ta_stdout out;
    if (status != TA_OK || to_stdout || cli->args.quiet || ta_stdout_open(cli->ctx, &out) != TA_OK)
        return status;
    ta_puts(out.file, "Configuration written to ");
    ta_put_terminal(out.file, ta_slice_of(path), 0, 0);
    ta_puts(out.file, "\n");
    return ta_stdout_close(cli->ctx, &out);
}
