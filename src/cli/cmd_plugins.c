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

static void put_name(struct ta_file *out, const struct ta_entry *entry, const char *name)
{
    ta_puts(out, "      ");
    put(out, entry->plugin.id);
    ta_puts(out, ".");
    put(out, name);
    ta_puts(out, "=");
}

static void put_origin(struct ta_file *out, const char *origin)
{
    ta_puts(out, "set by ");
    put(out, origin);
    ta_puts(out, ")");
}

static void put_option(struct ta_file *out, const struct ta_entry *entry, size_t row)
{
    const struct ta_option *option = &entry->plugin.options[row];
    put_name(out, entry, option->name);
    put_value(out, option, entry->option_values[row]);
    if (entry->value_origins[row]) {
        ta_puts(out, "  (default ");
        put_value(out, option, option->preset);
        ta_puts(out, ", ");
        put_origin(out, entry->value_origins[row]);
    }
    if (entry->data) {
        ta_puts(out, "  ");
    } else if (option->type != TA_OPTION_BOOLEAN) {
        ta_puts(out, "  [");
        put_value(out, option, option->least);
        ta_puts(out, " to ");
        put_value(out, option, option->most);
        ta_puts(out, "]  ");
    } else {
        ta_puts(out, "  ");
    }
    put(out, option->help);
    ta_puts(out, "\n");
}

static void put_words(struct ta_file *out, const struct ta_entry *entry)
{
    for (int word = 0; word < TA_RULE_WORDS; word++) {
        const struct ta_said *said = &entry->words[word];
        if (!said->text)
            continue;
        put_name(out, entry, ta_rule_word_names[word]);
        put(out, said->text);
        ta_puts(out, "  (");
        put_origin(out, said->origin);
        ta_puts(out, "\n");
    }
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
    if (strcmp(entry->origin, TA_BUILT_IN) != 0) {
        ta_puts(out, " (");
        put(out, *plugin->version ? plugin->version : "no version");
        ta_puts(out, ", ");
        put(out, entry->origin);
        ta_puts(out, ")");
    }
    if (entry->off) {
        ta_puts(out, " (turned off, ");
        put_origin(out, entry->off_origin);
    }
    ta_puts(out, "\n");
    for (size_t i = 0; plugin->options && plugin->options[i].name; i++)
        put_option(out, entry, i);
    put_words(out, entry);
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

static void put_json_origin(struct ta_file *out, const char *key, const char *origin)
{
    if (origin)
        put_member(out, key, origin);
    else
        ta_putf(out, ",\"%s\":\"default\"", key);
}

static void put_json_option(struct ta_file *out, const struct ta_entry *entry, size_t row)
{
    const struct ta_option *option = &entry->plugin.options[row];
    const double value = entry->option_values[row];
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
    put_json_origin(out, "origin", entry->value_origins[row]);
    put_member(out, "help", option->help);
    ta_puts(out, "}");
}

/* What is said in place of the rule's own words, null where nothing is. */
static void put_json_words(struct ta_file *out, const struct ta_entry *entry)
{
    ta_puts(out, ",\"words\":{");
    for (int word = 0; word < TA_RULE_WORDS; word++) {
        const struct ta_said *said = &entry->words[word];
        ta_putf(out, "%s\"%s\":", word ? "," : "", ta_rule_word_names[word]);
        if (!said->text) {
            ta_puts(out, "null");
            continue;
        }
        ta_puts(out, "{\"text\":");
        ta_put_json(out, ta_slice_of(said->text), false);
        put_member(out, "origin", said->origin);
        ta_puts(out, "}");
    }
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
    ta_putf(out, ",\"enabled\":%s", entry->off ? "false" : "true");
    put_json_origin(out, "enabled_origin", entry->off_origin);
    if (plugin->kind == TA_KIND_advice)
        put_json_words(out, entry);
    if (entry->data) {
        const struct ta_rule_data *data = entry->data;
        ta_puts(out, ",\"defined\":{\"table\":");
        ta_put_json(out, ta_slice_of(data->table), false);
        put_member(out, "column", data->column);
        put_member(out, "comparison", data->is_below ? "below" : "above");
        ta_puts(out, ",\"where\":{");
        for (size_t i = 0; i < data->n_where; i++) {
            ta_puts(out, i ? "," : "");
            ta_put_json(out, ta_slice_of(data->where[i].column), false);
            ta_puts(out, ":");
            ta_put_json(out, ta_slice_of(data->where[i].value), false);
        }
        ta_puts(out, "}}");
    }
    ta_puts(out, ",\"options\":[");
    for (size_t i = 0; plugin->options && plugin->options[i].name; i++) {
        ta_puts(out, i ? "," : "");
        put_json_option(out, entry, i);
    }
    ta_puts(out, "]}");
}

static enum ta_status put_json(struct ta_ctx *ctx, struct ta_file *out,
                               const struct ta_registry *registry, struct kinds kinds)
{
    const char *separator = "\n";
    const bool is_all = kinds.end - kinds.first > 1;
    ta_putf(out, "{\"%s\":[", is_all ? "plugins" : "rules");
    for (int kind = kinds.first; kind < kinds.end; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            ta_puts(out, separator);
            separator = ",\n";
            put_json_entry(out, ta_registry_at(registry, (enum ta_plugin_kind)kind, i));
        }
    ta_puts(out, is_all ? "\n],\n" : "\n]");
    const enum ta_status status = is_all ? ta_put_declarations(ctx, out, registry) : TA_OK;
    ta_puts(out, "}\n");
    return status;
}

static enum ta_status list(struct ta_cli *cli, struct kinds kinds)
{
    struct ta_stdout out;
    enum ta_status status = ta_cli_load_plugins(cli);
    if (status == TA_OK)
        status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    if (cli->args.json)
        status = put_json(cli->ctx, out.file, cli->registry, kinds);
    else
        put_text(out.file, cli->registry, kinds);
    const enum ta_status closed = ta_stdout_close(cli->ctx, &out);
    return status ? status : closed;
}

enum ta_status ta_cmd_plugins(struct ta_cli *cli)
{
    return list(cli, (struct kinds){0, TA_KIND_COUNT});
}

enum ta_status ta_cmd_rules(struct ta_cli *cli)
{
    return list(cli, (struct kinds){TA_KIND_advice, TA_KIND_advice + 1});
}
