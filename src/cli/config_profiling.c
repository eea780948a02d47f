/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The block `profiling:` that the users of a profiler of the Inferix kind have: what in it is about
 * reports becomes settings of ours, what is about recording is noted. */
#include "cli/config.h"

#include <stdio.h>

#include "base/suggest.h"

/* What a key of the block means here. */
enum use {
    RECORDING, /* told the profiler what to record */
    UNUSED,    /* has no counterpart */
    PLACE,     /* of the report */
    FORMAT,    /* html, json or both */
    SWITCH     /* false turns off what `setting` names, together with the others that name it */
};

static const struct {
    const char *key;
    enum ta_yaml_kind kind;
    enum use use;
    const char *setting;
} keys[] = {
    {"enabled", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"gpu_monitor_interval", TA_YAML_FLOAT, RECORDING, NULL},
    {"cpu_monitor_interval", TA_YAML_FLOAT, RECORDING, NULL},
    {"monitor_gpu_memory", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"monitor_gpu_utilization", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"monitor_gpu_temperature", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"monitor_gpu_power", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"monitor_cpu_usage", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"monitor_system_memory", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"real_time_display", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"display_interval", TA_YAML_FLOAT, RECORDING, NULL},
    {"generate_final_report", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"save_raw_data", TA_YAML_BOOLEAN, RECORDING, NULL},
    {"output_dir", TA_YAML_TEXT, PLACE, NULL},
    {"report_format", TA_YAML_TEXT, FORMAT, NULL},
    {"max_data_points", TA_YAML_INTEGER, RECORDING, NULL},
    {"profile_inference_steps", TA_YAML_BOOLEAN, SWITCH, "stages.enabled"},
    {"profile_vae_decode", TA_YAML_BOOLEAN, SWITCH, "stages.enabled"},
    {"profile_text_encoding", TA_YAML_BOOLEAN, SWITCH, "stages.enabled"},
    {"profile_diffusion_steps", TA_YAML_BOOLEAN, SWITCH, "diffusion.steps"},
    {"profile_block_computation", TA_YAML_BOOLEAN, SWITCH, "diffusion.blocks"},
    {"profile_model_parameters", TA_YAML_BOOLEAN, SWITCH, "models.enabled"},
    {"session_tags", TA_YAML_MAP, UNUSED, NULL},
};

enum { KEYS = sizeof keys / sizeof *keys };

static size_t row_of(const char *key)
{
    size_t row = 0;
    while (row < KEYS && strcmp(keys[row].key, key) != 0)
        row++;
    return row;
}

static bool has_kind(const struct ta_yaml *value, enum ta_yaml_kind kind)
{
    return value->kind == kind || value->kind == TA_YAML_NULL ||
           (value->kind == TA_YAML_INTEGER && kind == TA_YAML_FLOAT);
}

static enum ta_status take_format(struct ta_config_file *file, const struct ta_yaml *value)
{
    static const char *const words[][2] = {
        {"html", "html"}, {"json", "json"}, {"both", "html,json"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value->text, words[i][0]) == 0)
            return ta_config_add(file, ta_config_option_at(offsetof(struct ta_cmdline, format)),
                                 value, words[i][1]);
    return ta_config_refuse(file, value, "report_format is %s, expected html, json or both",
                            value->text);
}

static bool is_off(const struct ta_yaml *block, size_t row)
{
    for (const struct ta_yaml *value = block->contents; value; value = value->next)
        if (strcmp(value->key->text, keys[row].key) == 0)
            return value->kind == TA_YAML_BOOLEAN && (value->text[0] | 0x20) == 'f';
    return false;
}

/* The first of several switches speaks for all that stand for the same. */
static enum ta_status take_switch(struct ta_config_file *file, const struct ta_yaml *block,
                                  const struct ta_yaml *value, size_t row)
{
    const char *setting = keys[row].setting;
    if (!is_off(block, row))
        return TA_OK;
    for (size_t i = 0; i < KEYS; i++) {
        const bool same = keys[i].setting && strcmp(keys[i].setting, setting) == 0;
        if (same && i < row && is_off(block, i))
            return TA_OK;
        if (same && !is_off(block, i)) {
            ta_config_note(file->config, "%s:%u: %s: false is without effect as long as %s is true",
                           file->name, value->line, keys[row].key, keys[i].key);
            return TA_OK;
        }
    }
    const enum ta_status status =
        ta_config_add(file, ta_config_option_at(offsetof(struct ta_cmdline, settings)), value,
                      ta_arena_printf(&file->config->arena, "%s=false", setting));
    if (status == TA_OK)
        file->config->settings.at[file->config->settings.n - 1].is_optional = true;
    return status;
}

static enum ta_status take(struct ta_config_file *file, const struct ta_yaml *block,
                           const struct ta_yaml *value)
{
    const size_t row = row_of(value->key->text);
    if (row == KEYS) {
        const struct ta_yaml *key = value->key;
        char hint[TA_SUGGEST_TEXT_MAX];
        struct ta_suggest close = {.word = key->text};
        for (size_t i = 0; i < KEYS; i++)
            ta_suggest_offer(&close, keys[i].key);
        return ta_config_refuse(file, key, "Unknown key: profiling.%s%s", key->text,
                                ta_suggest_text(&close, hint));
    }
    if (!has_kind(value, keys[row].kind))
        return ta_config_refuse(file, value, "%s is %s, expected %s", value->key->text,
                                ta_yaml_kind_name(value->kind), ta_yaml_kind_name(keys[row].kind));
    if (value->kind == TA_YAML_NULL)
        return TA_OK;
    switch (keys[row].use) {
    case PLACE:
        return ta_config_add(file, ta_config_option_at(offsetof(struct ta_cmdline, out)), value,
                             value->text);
    case FORMAT:
        return take_format(file, value);
    case SWITCH:
        return take_switch(file, block, value, row);
    case UNUSED:
        ta_config_note(file->config, "%s:%u: %s has no use here", file->name, value->line,
                       value->key->text);
        return TA_OK;
    default:
        ta_config_note(file->config, "%s:%u: %s is about recording, it changes no report",
                       file->name, value->line, value->key->text);
        return TA_OK;
    }
}

enum ta_status ta_config_read_profiling(struct ta_config_file *file, const struct ta_yaml *block)
{
    enum ta_status status = ta_config_expect_map(file, block, "a map");
    for (const struct ta_yaml *value = block->contents; status == TA_OK && value;
         value = value->next)
        status = take(file, block, value);
    return status;
}
