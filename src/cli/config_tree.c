/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the tree of a configuration file to settings of options. */
#include "cli/config.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/regex.h"
#include "base/suggest.h"

enum ta_status ta_config_refuse(const struct ta_config_file *file, const struct ta_yaml *at,
                                const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ta_fail(file->ctx, TA_ERR_USAGE, "%s:%u:%u: %s", file->name, at->line, at->column, text);
}

enum ta_status ta_config_expect_map(const struct ta_config_file *file, const struct ta_yaml *value,
                                    const char *what)
{
    if (value->kind == TA_YAML_MAP || value->kind == TA_YAML_NULL)
        return TA_OK;
    return ta_config_refuse(file, value, "%s is %s, expected %s", value->key->text,
                            ta_yaml_kind_name(value->kind), what);
}

/* ---- unknown keys -------------------------------------------------------------------------- */

/* The part of a key after `prefix` up to the next point, NULL when it does not begin so. */
static const char *part_behind(const char *key, const char *prefix, char part[TA_CONFIG_KEY_MAX])
{
    const size_t length = strlen(prefix);
    if (strncmp(key, prefix, length) != 0)
        return NULL;
    snprintf(part, TA_CONFIG_KEY_MAX, "%.*s", (int)strcspn(key + length, "."), key + length);
    return part;
}

/* Offers the keys of the same level first; when none is close, the last parts of all others. */
static enum ta_status unknown_key(const struct ta_config_file *file, const struct ta_yaml *at,
                                  const char *prefix)
{
    char key[TA_CONFIG_KEY_MAX], part[TA_CONFIG_KEY_MAX], best[TA_CONFIG_KEY_MAX] = "";
    struct ta_suggest close = {.word = at->text};
    if (!*prefix)
        ta_suggest_offer(&close, TA_CONFIG_RULES);
    if (close.best)
        snprintf(best, sizeof best, TA_CONFIG_RULES);
    for (int anywhere = 0; anywhere < 2 && !*best; anywhere++)
        for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
            if (!ta_config_key(o, key))
                continue;
            const char *point = strrchr(key, '.');
            const char *word = anywhere ? point ? point + 1 : key : part_behind(key, prefix, part);
            if (!word)
                continue;
            const size_t before = close.best ? close.distance : SIZE_MAX;
            close.best = close.best ? best : NULL;
            ta_suggest_offer(&close, word);
            if (close.best && close.distance < before)
                snprintf(best, sizeof best, "%s%s", anywhere ? "" : prefix, anywhere ? key : word);
        }
    if (*best)
        return ta_config_refuse(file, at, "Unknown key: %s%s; did you mean '%s'?", prefix, at->text,
                                best);
    return ta_config_refuse(file, at, "Unknown key: %s%s; traceanalyze config show lists all",
                            prefix, at->text);
}

/* ---- values -------------------------------------------------------------------------------- */

/* Truths and whole numbers have one form on the command line. */
const char *ta_config_scalar_text(struct ta_config_file *file, const struct ta_yaml *value)
{
    const char *text = value->text;
    if (value->kind == TA_YAML_BOOLEAN)
        return (text[0] | 0x20) == 't' ? "true" : "false";
    if (value->kind != TA_YAML_INTEGER || text[0] != '0' || (text[1] != 'x' && text[1] != 'o'))
        return text;
    const unsigned long long number = strtoull(text + 2, NULL, text[1] == 'x' ? 16 : 8);
    return ta_arena_printf(&file->config->arena, "%llu", number);
}

/* What a value of an option may be, besides nothing. */
static const char *expected_kind(const struct ta_arg_option *option, enum ta_yaml_kind kind)
{
    const bool is_number = kind == TA_YAML_INTEGER || kind == TA_YAML_FLOAT;
    switch (option->type) {
    case TA_VALUE_FLAG:
        return kind == TA_YAML_BOOLEAN ? NULL : "true or false";
    case TA_VALUE_COUNT:
    case TA_VALUE_WHOLE:
        return kind == TA_YAML_INTEGER ? NULL : "a whole number";
    case TA_VALUE_NUMBER:
        return is_number ? NULL : "a number";
    case TA_VALUE_CHOICE:
    case TA_VALUE_EXTENT:
        return kind == TA_YAML_TEXT ? NULL : "a word";
    default:
        return is_number || kind == TA_YAML_TEXT ? NULL : "a text; put it into quotes";
    }
}

static enum ta_status check_text(const struct ta_config_file *file,
                                 const struct ta_arg_option *option, const struct ta_yaml *at,
                                 const char *text)
{
    if (option->type == TA_VALUE_COUNT && strlen(text) != 1)
        return ta_config_refuse(file, at, "%s: expected a number from 0 to 9", at->key->text);
    if (!ta_arg_takes(option).argument || strcmp(ta_arg_takes(option).argument, "RE") != 0)
        return TA_OK;
    struct ta_regex_error error;
    struct ta_regex *expression = ta_regex_new(text, &error);
    ta_regex_free(expression);
    if (expression)
        return TA_OK;
    if (!error.text[0])
        return ta_fail(file->ctx, TA_ERR_NOMEM, "Out of memory: configuration %s", file->name);
    return ta_config_refuse(file, at,
                            "Unusable expression: %s; expected a POSIX extended one with a group "
                            "for the number, such as 'rank[-_]?([0-9]+)'",
                            error.text);
}

enum ta_status ta_config_add(struct ta_config_file *file, const struct ta_arg_option *option,
                             const struct ta_yaml *at, const char *text)
{
    char key[TA_CONFIG_KEY_MAX];
    struct ta_cmdline scratch = ta_cmdline_defaults();
    if (!text)
        return ta_fail(file->ctx, TA_ERR_NOMEM, "Out of memory: configuration %s", file->name);
    if (file->is_here && ta_config_is_place(option))
        return ta_config_refuse(file, at,
                                "./" TA_CONFIG_HERE " cannot set %s, which names a place: use "
                                "another file, with --config, or --%s",
                                ta_config_key(option, key), option->name);
    enum ta_status status = check_text(file, option, at, text);
    if (status != TA_OK)
        return status;
    status = ta_cmdline_store(file->ctx, &scratch, option, text);
    ta_cmdline_free(&scratch);
    if (status != TA_OK)
        return ta_cause(file->ctx, status, "%s:%u:%u", file->name, at->line, at->column);
    const struct ta_setting setting = {.option = option,
                                       .text = text,
                                       .origin = file->name,
                                       .line = at->line,
                                       .column = at->column};
    if (!ta_vec_push(&file->config->settings, setting))
        return ta_fail(file->ctx, TA_ERR_NOMEM, "Out of memory: configuration %s", file->name);
    return TA_OK;
}

static bool is_scalar(const struct ta_yaml *value)
{
    return value->kind != TA_YAML_LIST && value->kind != TA_YAML_MAP;
}

static enum ta_status read_scalar(struct ta_config_file *file, const struct ta_arg_option *option,
                                  const struct ta_yaml *value)
{
    const char *expected = expected_kind(option, value->kind);
    if (expected)
        return ta_config_refuse(file, value, "%s is %s, expected %s", value->key->text,
                                ta_yaml_kind_name(value->kind), expected);
    return ta_config_add(file, option, value, ta_config_scalar_text(file, value));
}

/* A list of words becomes one text with commas, or one setting per word, of which there may be
 * none: "fail_on: []". */
static enum ta_status read_list(struct ta_config_file *file, const struct ta_arg_option *option,
                                const struct ta_yaml *list)
{
    const char *text = NULL;
    for (const struct ta_yaml *item = list->contents; item; item = item->next) {
        if (item->kind != TA_YAML_TEXT || !*item->text || strchr(item->text, ','))
            return ta_config_refuse(file, item, "%s: expected a list of words", list->key->text);
        if (option->type == TA_VALUE_TEXTS) {
            const enum ta_status status = ta_config_add(file, option, item, item->text);
            if (status != TA_OK)
                return status;
            continue;
        }
        text = text ? ta_arena_printf(&file->config->arena, "%s,%s", text, item->text) : item->text;
        if (!text)
            return ta_fail(file->ctx, TA_ERR_NOMEM, "Out of memory: configuration %s", file->name);
    }
    if (!list->contents && option->type != TA_VALUE_TEXTS)
        return ta_config_refuse(file, list, "%s: the list is empty", list->key->text);
    return text ? ta_config_add(file, option, list, text) : TA_OK;
}

/* An entry of a map as NAME=VALUE; of a plugin as ID.NAME=VALUE. */
static enum ta_status read_entry(struct ta_config_file *file, const struct ta_arg_option *option,
                                 const struct ta_yaml *plugin, const struct ta_yaml *value)
{
    static const char *const truths[] = {"true", "false", "yes", "no", "on", "off"};
    const char *name = value->key->text, *text = ta_config_scalar_text(file, value);
    if (value->kind == TA_YAML_NULL)
        return TA_OK;
    if (!is_scalar(value))
        return ta_config_refuse(file, value, "%s is %s, expected a number or a word", name,
                                ta_yaml_kind_name(value->kind));
    /* The option would take the word, but YAML says that it is a text. */
    for (size_t i = 0; value->kind == TA_YAML_TEXT && i < sizeof truths / sizeof *truths; i++)
        if (strcmp(value->text, truths[i]) == 0)
            return ta_config_refuse(file, value, "%s is a text, expected true or false", name);
    if (text)
        text = ta_arena_printf(&file->config->arena, "%s%s%s=%s", plugin ? plugin->key->text : "",
                               plugin ? "." : "", name, text);
    const enum ta_status status = ta_config_add(file, option, value->key, text);
    if (status == TA_OK && plugin) {
        struct ta_setting *setting = &file->config->settings.at[file->config->settings.n - 1];
        setting->id_line = plugin->key->line;
        setting->id_column = plugin->key->column;
    }
    return status;
}

/* `plugin` is the map itself when it holds the options of one. */
static enum ta_status read_map(struct ta_config_file *file, const struct ta_arg_option *option,
                               const struct ta_yaml *map, const struct ta_yaml *plugin)
{
    enum ta_status status = ta_config_expect_map(file, map, "a map");
    for (const struct ta_yaml *value = map->contents; status == TA_OK && value; value = value->next)
        status = read_entry(file, option, plugin, value);
    return status;
}

static enum ta_status read_plugins(struct ta_config_file *file, const struct ta_arg_option *option,
                                   const struct ta_yaml *map)
{
    enum ta_status status = ta_config_expect_map(file, map, "a map of plugins");
    for (const struct ta_yaml *plugin = map->contents; status == TA_OK && plugin;
         plugin = plugin->next)
        status = read_map(file, option, plugin, plugin);
    return status;
}

static enum ta_status read_value(struct ta_config_file *file, const struct ta_arg_option *option,
                                 const struct ta_yaml *value)
{
    if (value->kind == TA_YAML_NULL)
        return TA_OK;
    switch (ta_config_shape(option)) {
    case TA_CONFIG_PLUGINS:
        return read_plugins(file, option, value);
    case TA_CONFIG_MAP:
        return read_map(file, option, value, NULL);
    case TA_CONFIG_LIST:
        if (value->kind == TA_YAML_LIST)
            return read_list(file, option, value);
        return read_scalar(file, option, value);
    default:
        return read_scalar(file, option, value);
    }
}

/* ---- keys ---------------------------------------------------------------------------------- */

static const struct ta_arg_option *option_of(const char *wanted, bool *is_section)
{
    char key[TA_CONFIG_KEY_MAX];
    const size_t length = strlen(wanted);
    *is_section = false;
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
        if (!ta_config_key(o, key) || strncmp(key, wanted, length) != 0)
            continue;
        if (!key[length])
            return o;
        *is_section |= key[length] == '.';
    }
    return NULL;
}

static enum ta_status read_section(struct ta_config_file *file, const struct ta_yaml *section,
                                   const char *prefix, int depth)
{
    enum ta_status status = ta_config_expect_map(file, section, "a map");
    for (const struct ta_yaml *value = section->contents; status == TA_OK && value;
         value = value->next) {
        char path[TA_CONFIG_KEY_MAX];
        bool is_section = false;
        const int length = snprintf(path, sizeof path - 1, "%s%s", prefix, value->key->text);
        const bool fits =
            length > 0 && (size_t)length < sizeof path - 1 && !strchr(value->key->text, '.');
        const struct ta_arg_option *option = fits ? option_of(path, &is_section) : NULL;
        if (fits && strcmp(path, TA_CONFIG_RULES) == 0)
            status = ta_config_read_rules(file, value);
        else if (option)
            status = read_value(file, option, value);
        else if (is_section && depth < 2)
            status = read_section(file, value, strcat(path, "."), depth + 1);
        else
            status = unknown_key(file, value->key, prefix);
    }
    return status;
}

/* Keys of ours that stand at the top level are told where they belong. */
static enum ta_status unknown_block(struct ta_config_file *file, const struct ta_yaml *key)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    bool is_section;
    struct ta_suggest close = {.word = key->text};
    ta_suggest_offer(&close, "traceanalyze");
    ta_suggest_offer(&close, "profiling");
    if (close.best)
        return ta_config_refuse(file, key, "Unknown key: %s%s", key->text,
                                ta_suggest_text(&close, hint));
    if (option_of(key->text, &is_section) || is_section || strcmp(key->text, TA_CONFIG_RULES) == 0)
        return ta_config_refuse(file, key,
                                "Unknown key: %s; it belongs below traceanalyze:", key->text);
    return ta_config_refuse(file, key,
                            "Unknown key: %s; expected traceanalyze, or profiling, the block of "
                            "a profiler",
                            key->text);
}

enum ta_status ta_config_read_tree(struct ta_config_file *file, const struct ta_yaml *root)
{
    enum ta_status status = TA_OK;
    const struct ta_yaml *own = NULL;
    if (root->kind != TA_YAML_MAP && root->kind != TA_YAML_NULL)
        return ta_config_refuse(file, root, "The file is %s, expected a map with traceanalyze:",
                                ta_yaml_kind_name(root->kind));
    for (const struct ta_yaml *block = root->contents; status == TA_OK && block;
         block = block->next) {
        if (strcmp(block->key->text, "traceanalyze") == 0)
            own = block;
        else if (strcmp(block->key->text, "profiling") == 0)
            status = ta_config_read_profiling(file, block);
        else
            status = unknown_block(file, block->key);
    }
    /* Last, so that it comes before the block of the profiler wherever that is. */
    return status == TA_OK && own ? read_section(file, own, "", 0) : status;
}
