/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze plugins`: what there is, where it came from, and what can be set; `traceanalyze
 * rules`: the same of the rules alone. */
#include "cli/cli.h"

/* Kinds of plugins from `first` up to, but without, `end`. */
struct kinds {
    int first, end;
};

static void put(struct ta_file *out, const char *text)
{
    ta_put_terminal(out, ta_slice_of(text), 0, 0);
}

static void put_value(struct ta_file *out, const struct ta_option *option, double value)
{
    char text[TA_UNIT_TEXT_MAX + 4];
    ta_puts(out, ta_cli_option_text(option, value, text));
}

static void put_option(struct ta_file *out, const struct ta_entry *entry, size_t row)
{
    const struct ta_option *option = &entry->plugin.options[row];
    ta_puts(out, "      ");
    put(out, entry->plugin.id);
    ta_puts(out, ".");
    put(out, option->name);
    ta_puts(out, "=");
    put_value(out, option, entry->option_values[row]);
    if (option->type != TA_OPTION_BOOLEAN) {
        ta_puts(out, "  [");
        put_value(out, option, option->least);
        ta_puts(out, " to ");
        put_value(out, option, option->most);
        ta_puts(out, "]");
    }
    ta_puts(out, "  ");
    put(out, option->help);
    ta_puts(out, "\n");
}

static void put_entry(struct ta_file *out, const struct ta_entry *entry, size_t width)
{
    const struct ta_plugin *plugin = &entry->plugin;
    ta_puts(out, "  ");
    ta_put_terminal(out, ta_slice_of(plugin->id), width, 1);
    ta_puts(out, "  ");
    put(out, plugin->title);
    if (*plugin->summary) {
        ta_puts(out, ": ");
        put(out, plugin->summary);
    }
    if (strcmp(entry->origin, "built in") != 0) {
        ta_puts(out, " (");
        put(out, *plugin->version ? plugin->version : "no version");
        ta_puts(out, ", ");
        put(out, entry->origin);
        ta_puts(out, ")");
    }
    ta_puts(out, entry->off ? " (turned off)\n" : "\n");
    for (size_t i = 0; plugin->options && plugin->options[i].name; i++)
        put_option(out, entry, i);
}

static void put_text(struct ta_file *out, const struct ta_registry *registry, struct kinds kinds)
{
    size_t width = 0;
    for (int kind = kinds.first; kind < kinds.end; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            const char *id = ta_registry_at(registry, (enum ta_plugin_kind)kind, i)->plugin.id;
            width = strlen(id) > width ? strlen(id) : width;
        }
    for (int kind = kinds.first; kind < kinds.end; kind++) {
        size_t n = ta_registry_count(registry, (enum ta_plugin_kind)kind);
        if (n && kinds.end - kinds.first > 1)
            ta_putf(out, "%s\n", ta_plugin_kind_name((enum ta_plugin_kind)kind));
        for (size_t i = 0; i < n; i++)
            put_entry(out, ta_registry_at(registry, (enum ta_plugin_kind)kind, i), width);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_member(struct ta_file *out, const char *key, const char *text)
{
    ta_putf(out, ",\"%s\":", key);
    ta_put_json(out, ta_slice_of(text), false);
}

static void put_json_option(struct ta_file *out, const struct ta_option *option, double value)
{
    static const char *const types[] = {"number", "integer", "boolean"};
    static const char *const units[] = {"none", "ratio", "ns", "bytes"};
    char text[TA_UNIT_TEXT_MAX];
    ta_puts(out, "{\"name\":");
    ta_put_json(out, ta_slice_of(option->name), false);
    put_member(out, "type", types[option->type]);
    put_member(out, "unit", units[option->unit]);
    ta_putf(out, ",\"value\":%s", ta_number_format(text, value));
    ta_putf(out, ",\"default\":%s", ta_number_format(text, option->preset));
    ta_putf(out, ",\"least\":%s", ta_number_format(text, option->least));
    ta_putf(out, ",\"most\":%s", ta_number_format(text, option->most));
    put_member(out, "help", option->help);
    ta_puts(out, "}");
}

static void put_json_entry(struct ta_file *out, const struct ta_entry *entry)
{
    const struct ta_plugin *plugin = &entry->plugin;
    ta_puts(out, "{\"kind\":");
    ta_put_json(out, ta_slice_of(ta_plugin_kind_name((enum ta_plugin_kind)plugin->kind)), false);
    put_member(out, "id", plugin->id);
    put_member(out, "title", plugin->title);
    put_member(out, "summary", plugin->summary);
    put_member(out, "version", plugin->version);
    put_member(out, "origin", entry->origin);
    ta_putf(out, ",\"enabled\":%s,\"options\":[", entry->off ? "false" : "true");
    for (size_t i = 0; plugin->options && plugin->options[i].name; i++) {
        ta_puts(out, i ? "," : "");
        put_json_option(out, &plugin->options[i], entry->option_values[i]);
    }
    ta_puts(out, "]}");
}

static void put_json(struct ta_file *out, const struct ta_registry *registry, struct kinds kinds)
{
    const char *separator = "\n";
    ta_putf(out, "{\"abi\":\"%d.%d\",\"%s\":[", TA_ABI_MAJOR, TA_ABI_MINOR,
            kinds.end - kinds.first > 1 ? "plugins" : "rules");
    for (int kind = kinds.first; kind < kinds.end; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            ta_puts(out, separator);
            separator = ",\n";
            put_json_entry(out, ta_registry_at(registry, (enum ta_plugin_kind)kind, i));
        }
    ta_puts(out, "\n]}\n");
}

static enum ta_status list(struct ta_cli *cli, struct kinds kinds)
{
    struct ta_stdout out;
    enum ta_status status = ta_cli_load_plugins(cli);
    if (status == TA_OK)
        status = ta_stdout_open(&cli->ctx, &out);
    if (status != TA_OK)
        return status;
    if (cli->args.json)
        put_json(out.file, cli->registry, kinds);
    else
        put_text(out.file, cli->registry, kinds);
    return ta_stdout_close(&cli->ctx, &out);
}

enum ta_status ta_cmd_plugins(struct ta_cli *cli)
{
    return list(cli, (struct kinds){0, TA_KIND_COUNT});
}

enum ta_status ta_cmd_rules(struct ta_cli *cli)
{
    return list(cli, (struct kinds){TA_KIND_advice, TA_KIND_advice + 1});
}
