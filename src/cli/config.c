/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layers of the configuration: files, then variables of the environment. */
#include "cli/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/suggest.h"
#include "traceanalyze/run.h"

#define SYSTEM_FILE "/etc/traceanalyze/config.yaml"

void ta_config_free(struct ta_config *config)
{
    free(config->settings.at);
    free(config->rules.at);
    free(config->files.at);
    free(config->notes.at);
    ta_arena_free(&config->arena);
    *config = (struct ta_config){0};
}

void ta_config_note(struct ta_config *config, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *copy = ta_arena_copy(&config->arena, ta_slice_of(text));
    if (copy)
        (void)ta_vec_push(&config->notes, copy);
}

static enum ta_status no_memory(struct ta_ctx *ctx)
{
    return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: configuration");
}

/* ---- where a setting came from ------------------------------------------------------------- */

const struct ta_setting *ta_config_origin(const struct ta_config *config, const char *text)
{
    for (size_t i = config->settings.n; i > 0; i--)
        if (config->settings.at[i - 1].text == text)
            return &config->settings.at[i - 1];
    return NULL;
}

const char *ta_config_place(const struct ta_setting *setting, char place[TA_CONFIG_PLACE_MAX])
{
    if (setting->line)
        snprintf(place, TA_CONFIG_PLACE_MAX, "%.4096s:%u:%u", setting->origin, setting->line,
                 setting->column);
    else
        snprintf(place, TA_CONFIG_PLACE_MAX, "%.4096s", setting->origin);
    return place;
}

enum ta_status ta_config_cause(struct ta_ctx *ctx, const struct ta_config *config, const char *text,
                               enum ta_status status)
{
    char place[TA_CONFIG_PLACE_MAX];
    const struct ta_setting *setting = status == TA_OK ? NULL : ta_config_origin(config, text);
    return setting ? ta_cause(ctx, status, "%s", ta_config_place(setting, place)) : status;
}

static bool has_plugin(const struct ta_registry *registry, const char *text, bool rule)
{
    char id[64];
    snprintf(id, sizeof id, "%.*s", (int)strcspn(text, "."), text);
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        if ((!rule || kind == TA_KIND_advice) &&
            ta_registry_find(registry, (enum ta_plugin_kind)kind, id))
            return true;
    return false;
}

enum ta_status ta_config_set_plugin(struct ta_ctx *ctx, struct ta_registry *registry,
                                    const struct ta_setting *setting)
{
    char place[TA_CONFIG_PLACE_MAX];
    struct ta_setting at = *setting;
    const bool is_there = has_plugin(registry, setting->text, setting->is_rule);
    if (setting->is_optional && !is_there)
        return TA_OK;
    ta_config_place(setting, place);
    const enum ta_status status = ta_registry_set(
        ctx, registry, setting->is_rule ? TA_SET_RULE : TA_SET_OPTION, setting->text, place);
    if (!is_there && setting->id_line) {
        at.line = setting->id_line;
        at.column = setting->id_column;
    }
    return status == TA_OK ? TA_OK : ta_cause(ctx, status, "%s", ta_config_place(&at, place));
}

/* ---- files --------------------------------------------------------------------------------- */

/* Its tree; NULL when there is no such file and need not be one. */
static enum ta_status parse_file(struct ta_ctx *ctx, struct ta_config_file *file, const char *path,
                                 bool optional, const struct ta_yaml **root)
{
    struct ta_config *config = file->config;
    struct ta_slice bytes;
    *root = NULL;
    const enum ta_status status = ta_config_file_read(ctx, &config->arena, path, optional, &bytes);
    if (status != TA_OK || !bytes.ptr)
        return status;
    file->name = ta_arena_copy(&config->arena, ta_slice_of(path));
    if (!file->name || !ta_vec_push(&config->files, file->name))
        return no_memory(ctx);
    return ta_yaml_parse(ctx, &config->arena, file->name, bytes, root);
}

static enum ta_status read_file(struct ta_ctx *ctx, struct ta_config *config, const char *path,
                                bool optional, bool is_here)
{
    const struct ta_yaml *root;
    struct ta_config_file file = {.ctx = ctx, .config = config, .is_here = is_here};
    const enum ta_status status = parse_file(ctx, &file, path, optional, &root);
    return status == TA_OK && root ? ta_config_read_tree(&file, root) : status;
}

enum ta_status ta_config_load_rules(struct ta_ctx *ctx, const char *path, struct ta_config *config)
{
    const struct ta_yaml *root;
    struct ta_config_file file = {.ctx = ctx, .config = config};
    enum ta_status status = parse_file(ctx, &file, path, false, &root);
    if (status != TA_OK || !root)
        return status;
    if (root->kind != TA_YAML_MAP && root->kind != TA_YAML_NULL)
        return ta_config_refuse(&file, root, "The file is %s, expected a map with rules:",
                                ta_yaml_kind_name(root->kind));
    for (const struct ta_yaml *block = root->contents; status == TA_OK && block;
         block = block->next)
        status = strcmp(block->key->text, TA_CONFIG_RULES) == 0
                     ? ta_config_read_rules(&file, block)
                     : ta_config_refuse(&file, block->key, "Unknown key: %s; expected rules",
                                        block->key->text);
    return status;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return a && stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The user's file, below an absolute folder only; NULL when there is no place for one. */
static const char *user_file(struct ta_arena *arena)
{
    const char *folder = secure_getenv("XDG_CONFIG_HOME");
    if (folder && *folder == '/')
        return ta_arena_printf(arena, "%s/traceanalyze/config.yaml", folder);
    folder = secure_getenv("HOME");
    if (folder && *folder == '/')
        return ta_arena_printf(arena, "%s/.config/traceanalyze/config.yaml", folder);
    return NULL;
}

enum ta_status ta_config_load_file(struct ta_ctx *ctx, const char *file, struct ta_config *config)
{
    return read_file(ctx, config, file, false, is_same_file(file, TA_CONFIG_HERE));
}

/* ---- variables ----------------------------------------------------------------------------- */

/* A setting that a variable makes; NULL when the variable is not set or empty. */
static const char *variable_of(const char *key, char variable[TA_CONFIG_VARIABLE_MAX])
{
    const char *value = getenv(ta_config_variable(key, variable));
    return value && *value ? value : NULL;
}

static enum ta_status add_variable(struct ta_ctx *ctx, struct ta_config *config,
                                   const struct ta_arg_option *option, const char *variable,
                                   const char *text)
{
    struct ta_setting setting = {.option = option, .text = text};
    setting.origin = ta_arena_copy(&config->arena, ta_slice_of(variable));
    if (!text || !setting.origin || !ta_vec_push(&config->settings, setting))
        return no_memory(ctx);
    return TA_OK;
}

/* Flags and counts have no text on the command line that could be checked there. */
static enum ta_status check_variable(struct ta_ctx *ctx, const struct ta_arg_option *option,
                                     const char *variable, const char *text)
{
    struct ta_cmdline scratch = ta_cmdline_defaults();
    if (option->type == TA_VALUE_FLAG && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return ta_fail(ctx, TA_ERR_USAGE, "%s=%s: expected true or false", variable, text);
    if (option->type == TA_VALUE_COUNT && (strlen(text) != 1 || !strchr("0123456789", *text)))
        return ta_fail(ctx, TA_ERR_USAGE, "%s=%s: expected a number", variable, text);
    const enum ta_status status = ta_cmdline_store(ctx, &scratch, option, text);
    ta_cmdline_free(&scratch);
    return status == TA_OK ? TA_OK : ta_cause(ctx, status, "%s", variable);
}

static enum ta_status read_limits(struct ta_ctx *ctx, struct ta_config *config,
                                  const struct ta_arg_option *option)
{
    enum ta_status status = TA_OK;
    for (int i = 0; status == TA_OK && i < TA_LIMIT_COUNT; i++) {
        char key[TA_CONFIG_KEY_MAX], variable[TA_CONFIG_VARIABLE_MAX];
        const char *name = ta_limit_name((enum ta_limit)i);
        snprintf(key, sizeof key, "limits.%s", name);
        const char *value = variable_of(key, variable);
        if (value)
            status = add_variable(ctx, config, option, variable,
                                  ta_arena_printf(&config->arena, "%s=%s", name, value));
    }
    return status;
}

/* Variables of plugins wait for the plugins, see ta_config_plugin_variables(); the folders of
 * plugins are read by the loader. */
static enum ta_status read_variables(struct ta_ctx *ctx, struct ta_config *config)
{
    enum ta_status status = TA_OK;
    for (const struct ta_arg_option *o = ta_arg_options; status == TA_OK && o->name; o++) {
        char key[TA_CONFIG_KEY_MAX], variable[TA_CONFIG_VARIABLE_MAX];
        if (!ta_config_key(o, key))
            continue;
        if (o->offset == offsetof(struct ta_cmdline, limits))
            status = read_limits(ctx, config, o);
        const char *value = o->type == TA_VALUE_TEXTS ? NULL : variable_of(key, variable);
        if (!value)
            continue;
        status = check_variable(ctx, o, variable, value);
        if (status == TA_OK)
            status = add_variable(ctx, config, o, variable, value);
    }
    return status;
}

static enum ta_status set_by_variable(struct ta_ctx *ctx, struct ta_config *config,
                                      struct ta_registry *registry, const char *id,
                                      const char *name)
{
    char key[TA_CONFIG_VARIABLE_MAX - 16], variable[TA_CONFIG_VARIABLE_MAX];
    const int length = snprintf(key, sizeof key, "plugins.%s.%s", id, name);
    const char *value = length < (int)sizeof key ? variable_of(key, variable) : NULL;
    if (!value)
        return TA_OK;
    const char *text = ta_arena_printf(&config->arena, "%s.%s=%s", id, name, value);
    enum ta_status status = add_variable(
        ctx, config, ta_config_option_at(offsetof(struct ta_cmdline, settings)), variable, text);
    if (status == TA_OK)
        status = ta_registry_set(ctx, registry, TA_SET_OPTION, text, variable);
    return status == TA_OK ? TA_OK : ta_cause(ctx, status, "%s", variable);
}

enum ta_status ta_config_plugin_variables(struct ta_ctx *ctx, struct ta_config *config,
                                          struct ta_registry *registry)
{
    enum ta_status status = TA_OK;
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        for (size_t i = 0; i < ta_registry_count(registry, (enum ta_plugin_kind)kind); i++) {
            const struct ta_plugin *plugin =
                &ta_registry_at(registry, (enum ta_plugin_kind)kind, i)->plugin;
            const struct ta_option *option = plugin->options;
            for (; status == TA_OK && option && option->name; option++)
                status = set_by_variable(ctx, config, registry, plugin->id, option->name);
            if (status == TA_OK && (kind == TA_KIND_analysis || kind == TA_KIND_advice))
                status = set_by_variable(ctx, config, registry, plugin->id, TA_ENABLED);
            for (int word = 0; status == TA_OK && kind == TA_KIND_advice && word < TA_RULE_WORDS;
                 word++)
                status =
                    set_by_variable(ctx, config, registry, plugin->id, ta_rule_word_names[word]);
        }
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* A file that nobody named may lie where this user may not look. */
static enum ta_status read_optional(struct ta_ctx *ctx, struct ta_config *config, const char *path,
                                    const char *named)
{
    if (!path || is_same_file(named, path))
        return TA_OK;
    return read_file(ctx, config, path, true, strcmp(path, TA_CONFIG_HERE) == 0);
}

enum ta_status ta_config_load(struct ta_ctx *ctx, const char *file, struct ta_config *config)
{
    const char *variable = getenv("TRACEANALYZE_CONFIG");
    if (!file && variable && *variable)
        file = variable;
    enum ta_status status = read_optional(ctx, config, SYSTEM_FILE, file);
    if (status == TA_OK)
        status = read_optional(ctx, config, user_file(&config->arena), file);
    if (status == TA_OK)
        status = read_optional(ctx, config, TA_CONFIG_HERE, file);
    if (status == TA_OK && file)
        status = read_file(ctx, config, file, false, false);
    return status == TA_OK ? read_variables(ctx, config) : status;
}
