/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The block `rules:`: what is said of a rule becomes settings of that rule; an entry with a table
 * is a new rule. */
#include "cli/config.h"

#include <stdio.h>

#include "base/suggest.h"
#include "traceanalyze/run.h"

/* Ids of new rules have room next to the names of options. */
enum { ID_MAX = 48, TEXT_MAX = 4096 };

#define ID_BYTES "abcdefghijklmnopqrstuvwxyz0123456789_"

/* The keys of a new rule; what has no field is a setting of the rule as of any other. */
enum key { TABLE, COLUMN, WHERE, COMPARISON, THRESHOLD, SETTING };

static const struct {
    const char *name;
    enum key key;
} keys[] = {
    {"table", TABLE},           {"column", COLUMN},       {"where", WHERE},
    {"comparison", COMPARISON}, {"threshold", THRESHOLD}, {TA_ENABLED, SETTING},
    {"severity", SETTING},      {"title", SETTING},       {"advice", SETTING},
};

enum { KEYS = sizeof keys / sizeof *keys };

static enum ta_status no_memory(const struct ta_config_file *file)
{
    return ta_fail(file->ctx, TA_ERR_NOMEM, "Out of memory: rules of %s", file->name);
}

/* ---- settings ------------------------------------------------------------------------------ */

static enum ta_status add_setting(struct ta_config_file *file, const struct ta_yaml *rule,
                                  const struct ta_yaml *at, const char *name, const char *text)
{
    struct ta_config *config = file->config;
    if (text)
        text = ta_arena_printf(&config->arena, "%s.%s=%s", rule->key->text, name, text);
    const struct ta_setting setting = {
        .option = ta_config_option_at(offsetof(struct ta_cmdline, settings)),
        .text = text,
        .origin = file->name,
        .line = at->line,
        .column = at->column,
        .id_line = rule->key->line,
        .id_column = rule->key->column,
        .is_rule = true,
    };
    return text && ta_vec_push(&config->settings, setting) ? TA_OK : no_memory(file);
}

static bool is_word(const char *name)
{
    for (int word = 0; word < TA_RULE_WORDS; word++)
        if (strcmp(name, ta_rule_word_names[word]) == 0)
            return true;
    return false;
}

/* What YAML calls a text is none of the words for true and false. */
static enum ta_status check_scalar(const struct ta_config_file *file, const struct ta_yaml *value)
{
    const char *name = value->key->text;
    if (value->kind == TA_YAML_LIST || value->kind == TA_YAML_MAP)
        return ta_config_refuse(file, value, "%s is %s, expected a number or a text", name,
                                ta_yaml_kind_name(value->kind));
    if (strcmp(name, TA_ENABLED) == 0 && value->kind != TA_YAML_BOOLEAN)
        return ta_config_refuse(file, value, "%s is %s, expected true or false", name,
                                ta_yaml_kind_name(value->kind));
    if (is_word(name) && value->kind == TA_YAML_BOOLEAN)
        return ta_config_refuse(file, value, "%s is true or false, expected a text", name);
    if (strlen(value->text) > TEXT_MAX)
        return ta_config_refuse(file, value, "%s is longer than %d bytes", name, TEXT_MAX);
    return TA_OK;
}

static enum ta_status read_setting(struct ta_config_file *file, const struct ta_yaml *rule,
                                   const struct ta_yaml *value)
{
    if (value->kind == TA_YAML_NULL)
        return TA_OK;
    const enum ta_status status = check_scalar(file, value);
    return status == TA_OK ? add_setting(file, rule, value->key, value->key->text,
                                         ta_config_scalar_text(file, value))
                           : status;
}

/* ---- new rules ----------------------------------------------------------------------------- */

static enum ta_status unknown_key(const struct ta_config_file *file, const struct ta_yaml *rule,
                                  const struct ta_yaml *key)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = key->text};
    for (size_t i = 0; i < KEYS; i++)
        ta_suggest_offer(&close, keys[i].name);
    return ta_config_refuse(file, key, "Unknown key: rules.%s.%s%s", rule->key->text, key->text,
                            ta_suggest_text(&close, hint));
}

static enum ta_status read_where(struct ta_config_file *file, const struct ta_yaml *map,
                                 struct ta_rule_data *data)
{
    struct ta_rule_where *where;
    size_t n = 0;
    if (map->kind != TA_YAML_MAP)
        return ta_config_refuse(file, map, "where is %s, expected a map of columns",
                                ta_yaml_kind_name(map->kind));
    for (const struct ta_yaml *value = map->contents; value; value = value->next)
        n++;
    where = ta_arena_alloc(&file->config->arena, n * sizeof *where);
    if (!where)
        return no_memory(file);
    n = 0;
    for (const struct ta_yaml *value = map->contents; value; value = value->next) {
        if (value->kind == TA_YAML_LIST || value->kind == TA_YAML_MAP ||
            value->kind == TA_YAML_NULL)
            return ta_config_refuse(file, value, "%s is %s, expected a text or a number",
                                    value->key->text, ta_yaml_kind_name(value->kind));
        where[n++] = (struct ta_rule_where){value->key->text, ta_config_scalar_text(file, value)};
    }
    data->where = where;
    data->n_where = n;
    return TA_OK;
}

static enum ta_status read_word(const struct ta_config_file *file, const struct ta_yaml *value,
                                const char **word)
{
    if (value->kind != TA_YAML_TEXT || !*value->text)
        return ta_config_refuse(file, value, "%s is %s, expected a word", value->key->text,
                                *value->text ? ta_yaml_kind_name(value->kind) : "empty");
    *word = value->text;
    return TA_OK;
}

static enum ta_status read_key(struct ta_config_file *file, const struct ta_yaml *rule,
                               const struct ta_yaml *value, struct ta_rule_data *data)
{
    size_t row = 0;
    while (row < KEYS && strcmp(keys[row].name, value->key->text) != 0)
        row++;
    switch (row < KEYS ? (int)keys[row].key : -1) {
    case TABLE:
        return read_word(file, value, &data->table);
    case COLUMN:
        return read_word(file, value, &data->column);
    case WHERE:
        return read_where(file, value, data);
    case COMPARISON:
        data->is_below = strcmp(value->text, "below") == 0;
        if (data->is_below || strcmp(value->text, "above") == 0)
            return TA_OK;
        return ta_config_refuse(file, value, "comparison is %.64s, expected above or below",
                                value->text);
    case THRESHOLD:
        data->threshold = ta_config_scalar_text(file, value);
        return check_scalar(file, value);
    case SETTING:
        return read_setting(file, rule, value);
    default:
        return unknown_key(file, rule, value->key);
    }
}

static enum ta_status check_rule(const struct ta_config_file *file, const struct ta_yaml *rule,
                                 const struct ta_rule_data *data)
{
    const char *id = rule->key->text;
    const size_t length = strlen(id);
    const char *lacking = !data->column ? "column" : !data->threshold ? "threshold" : NULL;
    if (!length || length > ID_MAX || id[strspn(id, ID_BYTES)])
        return ta_config_refuse(file, rule->key,
                                "A rule cannot have the id %.64s: expected up to %d of a-z, 0-9 "
                                "and _",
                                id, ID_MAX);
    if (lacking)
        return ta_config_refuse(file, rule->key, "The rule %s has a table, but no %s", id, lacking);
    return TA_OK;
}

static enum ta_status read_definition(struct ta_config_file *file, const struct ta_yaml *rule)
{
    struct ta_config *config = file->config;
    struct ta_rule_data *data = ta_arena_alloc(&config->arena, sizeof *data);
    enum ta_status status = TA_OK;
    if (!data)
        return no_memory(file);
    *data = (struct ta_rule_data){.id = rule->key->text};
    for (const struct ta_yaml *value = rule->contents; status == TA_OK && value;
         value = value->next)
        status = read_key(file, rule, value, data);
    if (status == TA_OK)
        status = check_rule(file, rule, data);
    if (status != TA_OK)
        return status;
    data->place =
        ta_arena_printf(&config->arena, "%s:%u:%u", file->name, rule->key->line, rule->key->column);
    return data->place && ta_vec_push(&config->rules, data) ? TA_OK : no_memory(file);
}

/* ---- the block ----------------------------------------------------------------------------- */

static const struct ta_yaml *find(const struct ta_yaml *map, const char *key)
{
    const struct ta_yaml *value = map->contents;
    while (value && strcmp(value->key->text, key) != 0)
        value = value->next;
    return value;
}

static enum ta_status read_rule(struct ta_config_file *file, const struct ta_yaml *rule)
{
    if (rule->kind == TA_YAML_BOOLEAN)
        return add_setting(file, rule, rule->key, TA_ENABLED, ta_config_scalar_text(file, rule));
    enum ta_status status = ta_config_expect_map(file, rule, "a map, true or false");
    if (status == TA_OK && find(rule, "table"))
        return read_definition(file, rule);
    for (const struct ta_yaml *value = rule->contents; status == TA_OK && value;
         value = value->next)
        status = read_setting(file, rule, value);
    return status;
}

enum ta_status ta_config_read_rules(struct ta_config_file *file, const struct ta_yaml *block)
{
    enum ta_status status = ta_config_expect_map(file, block, "a map of rules");
    for (const struct ta_yaml *rule = block->contents; status == TA_OK && rule; rule = rule->next)
        status = read_rule(file, rule);
    return status;
}
