/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules as data: what is said of a rule in place of its own words, and rules without code. */
#include "plugin/registry_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "base/template.h"
#include "traceanalyze/output.h"
#include "traceanalyze/table.h"

const char *const ta_rule_word_names[TA_RULE_WORDS] = {"severity", "title", "advice"};

/* What a finding of a rule with code can fill in. */
static const char *const fields[] = {"title", "advice", "value", "threshold"};

static bool is_field(struct ta_slice name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (ta_slice_equal(name, ta_slice_of(fields[i])))
            return true;
    return false;
}

/* A rule of data fills in columns, which only the table knows. */
static enum ta_status check_text(struct ta_ctx *ctx, const struct ta_slot *slot, const char *name,
                                 const char *text)
{
    struct ta_piece piece;
    const char *const given = text;
    if (!*text)
        return ta_fail(ctx, TA_ERR_USAGE, "Unusable value: %s.%s is empty", slot->entry.plugin.id,
                       name);
    while (!slot->entry.data && ta_template_next(&text, &piece))
        if (piece.is_name && !is_field(piece.text))
            return ta_fail(ctx, TA_ERR_USAGE,
                           "Unusable value: %s.%s=%.200s, {%.*s} is none of {title}, {advice}, "
                           "{value} and {threshold}",
                           slot->entry.plugin.id, name, given, (int)piece.text.len, piece.text.ptr);
    return TA_OK;
}

static enum ta_status check_severity(struct ta_ctx *ctx, const struct ta_slot *slot,
                                     const char *text)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = text};
    for (int severity = TA_INFO; severity <= TA_CRITICAL; severity++) {
        const char *name = ta_severity_name((enum ta_severity)severity);
        if (strcmp(name, text) == 0)
            return TA_OK;
        ta_suggest_offer(&close, name);
    }
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unusable value: %s.severity=%.200s, expected info, low, medium, high or "
                   "critical%s",
                   slot->entry.plugin.id, text, ta_suggest_text(&close, hint));
}

enum ta_status ta_rule_say(struct ta_ctx *ctx, struct ta_registry *registry, struct ta_slot *slot,
                           enum ta_rule_word word, const char *text, const char *origin)
{
    struct ta_said *said = &slot->entry.words[word];
    const enum ta_status status = word == TA_RULE_SEVERITY
                                      ? check_severity(ctx, slot, text)
                                      : check_text(ctx, slot, ta_rule_word_names[word], text);
    if (status != TA_OK)
        return status;
    said->text = ta_arena_copy(&registry->arena, ta_slice_of(text));
    said->origin = ta_arena_copy(&registry->arena, ta_slice_of(origin));
    return said->text && said->origin ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: rule");
}

/* ---- rules without code -------------------------------------------------------------------- */

/* The one option of the rule. */
static struct ta_option *threshold_option(struct ta_ctx *ctx, struct ta_registry *registry,
                                          const struct ta_rule_data *data)
{
    struct ta_option *options = ta_arena_alloc(&registry->arena, 2 * sizeof *options);
    double value;
    enum ta_option_unit unit;
    if (!ta_option_number(data->threshold, &value, &unit)) {
        ta_fail(ctx, TA_ERR_USAGE,
                "Unusable value: %s.threshold=%.200s, expected a number, with or without one of "
                "%%, ns, us, ms, s, min, KiB, MiB, GiB",
                data->id, data->threshold);
        return NULL;
    }
    const char *help =
        ta_arena_printf(&registry->arena, "Value of %s.%s %s which the rule fires", data->table,
                        data->column, data->is_below ? "below" : "above");
    if (!options || !help) {
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: rule");
        return NULL;
    }
    options[0] = (struct ta_option){
        "threshold", TA_OPTION_NUMBER, value, -TA_RULE_LARGEST, TA_RULE_LARGEST, unit, help};
    return options;
}

static enum ta_status check_id(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const char *id)
{
    for (int kind = 0; kind < TA_KIND_COUNT; kind++) {
        const struct ta_entry *entry = ta_registry_find(registry, (enum ta_plugin_kind)kind, id);
        if (entry && entry->data)
            return ta_fail(ctx, TA_ERR_USAGE, "The rule %s is defined already, in %s", id,
                           entry->origin);
        if (entry)
            return ta_fail(ctx, TA_ERR_USAGE,
                           "A new rule cannot have the id %s, which is that of a plugin", id);
    }
    return TA_OK;
}

enum ta_status ta_registry_add_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                    const struct ta_rule_data *data)
{
    const enum ta_status status = check_id(ctx, registry, data->id);
    if (status != TA_OK)
        return status;
    const struct ta_option *options = threshold_option(ctx, registry, data);
    if (!options)
        return ta_ctx_status(ctx);
    struct ta_plugin plugin = {
        .magic = TA_PLUGIN_MAGIC,
        .kind = TA_KIND_advice,
        .headers = TA_HEADERS_HASH,
        .id = data->id,
        .title = "Rule of a file",
        .summary = ta_arena_printf(&registry->arena, "Fires when %s of %s is %s its threshold",
                                   data->column, data->table, data->is_below ? "below" : "above"),
        .options = options,
    };
    return ta_registry_add_data(ctx, registry, &plugin, data);
}

/* ---- does a table have what such a rule names? --------------------------------------------- */

/* The names in a text that are no columns. */
static bool is_no_column(struct ta_slice name)
{
    return ta_slice_equal(name, TA_LIT("value")) || ta_slice_equal(name, TA_LIT("threshold")) ||
           ta_slice_equal(name, TA_LIT("owner"));
}

static enum ta_status check_column(struct ta_ctx *ctx, const struct ta_rule_data *data,
                                   const struct ta_column *columns, size_t n, struct ta_slice name)
{
    char hint[TA_SUGGEST_TEXT_MAX], word[128];
    snprintf(word, sizeof word, "%.*s", (int)name.len, name.ptr);
    struct ta_suggest close = {.word = word};
    for (size_t i = 0; i < n; i++) {
        if (ta_slice_equal(name, ta_slice_of(columns[i].key)))
            return TA_OK;
        ta_suggest_offer(&close, columns[i].key);
    }
    return ta_fail(ctx, TA_ERR_USAGE, "%s: The table %s has no column %s%s", data->place,
                   data->table, word, ta_suggest_text(&close, hint));
}

enum ta_status ta_rule_check_columns(struct ta_ctx *ctx, const struct ta_entry *rule,
                                     const struct ta_column *columns, size_t n)
{
    const struct ta_rule_data *data = rule->data;
    struct ta_piece piece;
    enum ta_status status = check_column(ctx, data, columns, n, ta_slice_of(data->column));
    for (size_t i = 0; status == TA_OK && i < data->n_where; i++)
        status = check_column(ctx, data, columns, n, ta_slice_of(data->where[i].column));
    for (int word = TA_RULE_TITLE; word <= TA_RULE_ADVICE; word++) {
        const char *text = rule->words[word].text ? rule->words[word].text : "";
        while (status == TA_OK && ta_template_next(&text, &piece))
            if (piece.is_name && !is_no_column(piece.text))
                status = check_column(ctx, data, columns, n, piece.text);
    }
    return status;
}

enum ta_status ta_registry_check_rules(struct ta_ctx *ctx, const struct ta_registry *registry)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < registry->count[TA_KIND_advice]; i++) {
        const struct ta_entry *rule = &registry->slots[TA_KIND_advice][i]->entry;
        const struct ta_table_def *table =
            rule->data && !rule->off ? ta_registry_table(registry, rule->data->table, NULL) : NULL;
        if (table)
            status = ta_rule_check_columns(ctx, rule, table->columns, table->n_columns);
    }
    return status;
}
