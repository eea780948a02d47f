/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze config`: what is set and by whom, whether a configuration is right, and a first one
 * to begin with. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/suggest.h"
#include "cli/config_init.h"

/* ---- show ---------------------------------------------------------------------------------- */

struct row {
    const char *key, *value, *origin; /* value NULL: not set */
};

struct rows {
    struct ta_cli *cli;
    TA_VEC(struct row) items;
    bool failed;
};

static const char *keep(struct rows *rows, const char *text)
{
    const char *copy = ta_arena_copy(&rows->cli->config.arena, ta_slice_of(text));
    rows->failed |= !copy;
    return copy;
}

static void add_row(struct rows *rows, const char *key, const char *value, const char *origin)
{
    const struct row row = {keep(rows, key), value ? keep(rows, value) : NULL, keep(rows, origin)};
    rows->failed |= !ta_vec_push(&rows->items, row);
}

static void add_setting(struct rows *rows, const char *key, const char *value,
                        const struct ta_setting *setting)
{
    char place[TA_CONFIG_PLACE_MAX];
    add_row(rows, key, value, ta_config_place(setting, place));
}

/* The last setting of an option; for NAME=VALUE options, of the name. */
static const struct ta_setting *last_setting(const struct rows *rows,
                                             const struct ta_arg_option *option, const char *name)
{
    const struct ta_config *config = &rows->cli->config;
    const size_t length = name ? strlen(name) : 0;
    for (size_t i = config->settings.n; i > 0; i--) {
        const struct ta_setting *setting = &config->settings.at[i - 1];
        if (setting->option == option &&
            (!name || (strncmp(setting->text, name, length) == 0 && setting->text[length] == '=')))
            return setting;
    }
    return NULL;
}

/* Whether the command line has NAME=VALUE in this list. */
static bool is_given(const struct rows *rows, const struct ta_texts *texts, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < texts->n; i++)
        if (strncmp(texts->items[i], name, length) == 0 && texts->items[i][length] == '=' &&
            !ta_config_origin(&rows->cli->config, texts->items[i]))
            return true;
    return false;
}

static void add_limits(struct rows *rows, const struct ta_arg_option *option)
{
    const struct ta_texts *texts = &rows->cli->args.limits;
    for (int i = 0; i < TA_LIMIT_COUNT; i++) {
        char key[TA_CONFIG_KEY_MAX], value[24];
        const char *name = ta_limit_name((enum ta_limit)i);
        snprintf(key, sizeof key, "limits.%s", name);
        snprintf(value, sizeof value, "%" PRIu64, ta_ctx_limit(rows->cli->ctx, (enum ta_limit)i));
        const struct ta_setting *setting = last_setting(rows, option, name);
        if (is_given(rows, texts, name))
            add_row(rows, key, value, "command line");
        else if (setting)
            add_setting(rows, key, value, setting);
        else
            add_row(rows, key, value, "default");
    }
}

/* A setting of a plugin; the registry knows where it came from. */
static void add_named(struct rows *rows, const char *block, const struct ta_plugin *plugin,
                      const char *name, const char *value, const char *origin)
{
    char key[256];
    snprintf(key, sizeof key, "%s.%s.%s", block, plugin->id, name);
    add_row(rows, key, value, origin ? origin : "default");
}

static void add_plugin(struct rows *rows, const struct ta_entry *entry)
{
    char value[TA_UNIT_TEXT_MAX + 4];
    const struct ta_plugin *plugin = &entry->plugin;
    const char *enabled = entry->off ? "false" : "true";
    const struct ta_entry *same =
        plugin->kind == TA_KIND_advice
            ? ta_registry_find(rows->cli->registry, TA_KIND_analysis, plugin->id)
            : NULL;
    if (plugin->kind == TA_KIND_analysis || (plugin->kind == TA_KIND_advice && !same))
        add_named(rows, "plugins", plugin, TA_ENABLED, enabled, entry->off_origin);
    else if (same && same->off != entry->off)
        add_named(rows, TA_CONFIG_RULES, plugin, TA_ENABLED, enabled, entry->off_origin);
    for (size_t i = 0; plugin->options && plugin->options[i].name; i++)
        add_named(rows, "plugins", plugin, plugin->options[i].name,
                  ta_cli_option_text(&plugin->options[i], entry->option_values[i], value),
                  entry->value_origins[i]);
    for (int word = 0; plugin->kind == TA_KIND_advice && word < TA_RULE_WORDS; word++)
        if (entry->words[word].text)
            add_named(rows, "plugins", plugin, ta_rule_word_names[word], entry->words[word].text,
                      entry->words[word].origin);
}

/* Settings of options that can be given several times, without names that are known here. */
static void add_each(struct rows *rows, const struct ta_arg_option *option, const char *key)
{
    const struct ta_config *config = &rows->cli->config;
    bool any = false;
    for (size_t i = 0; i < config->settings.n; i++)
        if (config->settings.at[i].option == option) {
            add_setting(rows, key, config->settings.at[i].text, &config->settings.at[i]);
            any = true;
        }
    if (!any)
        add_row(rows, key, NULL, "default");
}

static void add_option(struct rows *rows, const struct ta_arg_option *option, const char *key)
{
    char value[TA_VALUE_TEXT_MAX];
    const struct ta_cmdline *args = &rows->cli->args, defaults = ta_cmdline_defaults();
    const struct ta_setting *setting = last_setting(rows, option, NULL);
    if (ta_arg_is_for(option, args->command) && ta_cmdline_is_given(args, option->offset))
        add_row(rows, key, ta_config_field_text(option, args, value), "command line");
    else if (setting)
        add_setting(rows, key, setting->text, setting);
    else
        add_row(rows, key, ta_config_field_text(option, &defaults, value), "default");
}

static void gather(struct rows *rows)
{
    const struct ta_registry *registry = rows->cli->registry;
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
        char key[TA_CONFIG_KEY_MAX];
        if (!ta_config_key(o, key))
            continue;
        if (o->offset == offsetof(struct ta_cmdline, limits))
            add_limits(rows, o);
        else if (ta_config_shape(o) == TA_CONFIG_PLUGINS)
            for (int kind = 0; kind < TA_KIND_COUNT; kind++)
                for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++)
                    add_plugin(rows, ta_registry_at(registry, (enum ta_plugin_kind)kind, i));
        else if (o->type == TA_VALUE_TEXTS)
            add_each(rows, o, key);
        else
            add_option(rows, o, key);
    }
}

static void put_text(struct ta_file *out, const struct rows *rows)
{
    size_t keys = 0, values = 0;
    for (size_t i = 0; i < rows->items.n; i++) {
        const struct row *row = &rows->items.at[i];
        const size_t key = strlen(row->key);
        const size_t value = row->value ? ta_terminal_width(ta_slice_of(row->value)) : 1;
        keys = key > keys ? key : keys;
        values = value > values && value <= 32 ? value : values;
    }
    for (size_t i = 0; i < rows->items.n; i++) {
        const struct row *row = &rows->items.at[i];
        ta_put_terminal(out, ta_slice_of(row->key), keys, 1);
        ta_puts(out, "  ");
        const char *value = row->value ? row->value : "-";
        const bool fits = ta_terminal_width(ta_slice_of(value)) <= values;
        ta_put_terminal(out, ta_slice_of(value), fits ? values : 0, fits);
        ta_puts(out, "  ");
        ta_put_terminal(out, ta_slice_of(row->origin), 0, 0);
        ta_puts(out, "\n");
    }
}

static void put_json(struct ta_file *out, const struct rows *rows)
{
    ta_puts(out, "{\"settings\":[");
    for (size_t i = 0; i < rows->items.n; i++) {
        const struct row *row = &rows->items.at[i];
        ta_puts(out, i ? ",\n{\"key\":" : "\n{\"key\":");
        ta_put_json(out, ta_slice_of(row->key), false);
        ta_puts(out, ",\"value\":");
        if (row->value)
            ta_put_json(out, ta_slice_of(row->value), false);
        else
            ta_puts(out, "null");
        ta_puts(out, ",\"origin\":");
        ta_put_json(out, ta_slice_of(row->origin), false);
        ta_puts(out, "}");
    }
    ta_puts(out, "\n]}\n");
}

/* ---- reading and checking ------------------------------------------------------------------ */

/* All settings at once, whatever command they are for. */
static enum ta_status apply(struct ta_cli *cli)
{
    const struct ta_config *config = &cli->config;
    enum ta_status status =
        ta_cmdline_configure(cli->ctx, &cli->args, config->settings.at, config->settings.n);
    for (size_t i = 0; status == TA_OK && i < config->settings.n; i++)
        if (!ta_arg_is_for(config->settings.at[i].option, cli->args.command))
            status = ta_cmdline_store(cli->ctx, &cli->args, config->settings.at[i].option,
                                      config->settings.at[i].text);
    return status == TA_OK ? ta_cli_load_plugins(cli) : status;
}

/* Formats of reports and of charts are different lists. */
static enum ta_status check_formats(struct ta_cli *cli)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < cli->config.settings.n; i++) {
        const struct ta_setting *setting = &cli->config.settings.at[i];
        size_t n = 0;
        if (setting->option->offset != offsetof(struct ta_cmdline, format))
            continue;
        const bool of_report = ta_arg_is_for(setting->option, &ta_commands[TA_COMMAND_REPORT]);
        struct ta_format *formats =
            of_report ? ta_cli_report_formats(cli, &n) : ta_cli_chart_formats(cli, &n);
        if (!formats)
            return ta_ctx_status(cli->ctx);
        status = ta_config_cause(cli->ctx, &cli->config, setting->text,
                                 ta_place_default(cli->ctx, setting->text, formats, n));
        free(formats);
    }
    return status;
}

/* The files of the operand alone, or all that are in force. */
static enum ta_status load(struct ta_cli *cli, bool alone)
{
    const struct ta_texts *operands = &cli->args.operands;
    const char *file = operands->n > 1 ? operands->items[1] : NULL;
    enum ta_status status = TA_OK;
    if (file && alone)
        status = ta_config_load_file(cli->ctx, file, &cli->config);
    else if (!cli->args.no_config)
        status = ta_config_load(cli->ctx, file ? file : cli->args.config, &cli->config);
    ta_cli_say_configuration(cli);
    if (status == TA_OK)
        status = apply(cli);
    if (status == TA_OK)
        status = ta_run_check(cli->run, TA_RUN_CHECK);
    return status == TA_OK ? check_formats(cli) : status;
}

static enum ta_status show(struct ta_cli *cli)
{
    struct rows rows = {.cli = cli};
    struct ta_stdout out;
    enum ta_status status = load(cli, false);
    if (status != TA_OK)
        return status;
    gather(&rows);
    status = rows.failed ? ta_fail(cli->ctx, TA_ERR_NOMEM, "Out of memory: configuration")
                         : ta_stdout_open(cli->ctx, &out);
    if (status == TA_OK) {
        if (cli->args.json)
            put_json(out.file, &rows);
        else
            put_text(out.file, &rows);
        status = ta_stdout_close(cli->ctx, &out);
    }
    free(rows.items.at);
    return status;
}

static enum ta_status validate(struct ta_cli *cli)
{
    struct ta_stdout out;
    enum ta_status status = load(cli, true);
    if (status == TA_OK && !cli->args.quiet)
        status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK || cli->args.quiet)
        return status;
    for (size_t i = 0; i < cli->config.files.n; i++) {
        ta_put_terminal(out.file, ta_slice_of(cli->config.files.at[i]), 0, 0);
        ta_puts(out.file, " is valid\n");
    }
    if (cli->config.files.n == 0)
        ta_puts(out.file, "There is no configuration file\n");
    return ta_stdout_close(cli->ctx, &out);
}

static enum ta_status init(struct ta_cli *cli)
{
    const struct ta_texts *operands = &cli->args.operands;
    const enum ta_status status = ta_cli_load_plugins(cli);
    return status == TA_OK
               ? ta_config_init(cli, operands->n > 1 ? operands->items[1] : TA_CONFIG_HERE)
               : status;
}

enum ta_status ta_cmd_config(struct ta_cli *cli)
{
    static const struct {
        const char *name;
        enum ta_status (*run)(struct ta_cli *cli);
    } actions[] = {{"show", show}, {"init", init}, {"validate", validate}};
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = cli->args.operands.items[0]};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, close.word) == 0)
            return actions[i].run(cli);
        ta_suggest_offer(&close, actions[i].name);
    }
    return ta_fail(cli->ctx, TA_ERR_USAGE, "config does show, init or validate, not %s%s",
                   close.word, ta_suggest_text(&close, hint));
}
