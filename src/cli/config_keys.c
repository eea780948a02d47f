/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of the configuration, made from the table of options: the long name of an option with "_"
 * for "-", below the section of its command or group. */
#include "cli/config.h"

#include <stdio.h>

/* Options whose key is another one, by the option and its section (NULL: any); without a key it is
 * of a single call. */
static const struct {
    const char *option, *section, *key;
} renamed[] = {
    {"output", "output", "output.dir"},
    {"format", "output", "output.formats"},
    {"format", "charts", "charts.formats"},
    {"top", "output", "analysis.top"},
    {"input", "input", "input.plugin"},
    {"hardware", "input", "analysis.hardware"},
    {"price", "input", "analysis.price"},
    {"memory-limit", "", "analysis.memory_limit"},
    {"limit", "", "limits"},
    {"set", "", "plugins"},
    {"rules", "", "rule_files"},
    {"disable-rule", NULL, NULL},
    {"json", NULL, NULL},
    {"list", NULL, NULL},
    {"man", NULL, NULL},
    {"fail-on", "output", NULL},
    {"gate", "output", "diff.gate"},
    {"confidence", "output", "diff.confidence"},
    {"min-effect", "output", "diff.min_effect"},
    {"noise-floor", "output", "diff.noise_floor"},
    {"allow-single-run", "output", "diff.allow_single_run"},
    {"save-baseline", NULL, NULL},
    {"summary-md", NULL, NULL},
    {"junit", NULL, NULL},
    {"bench-json", NULL, NULL},
    {"bmf-json", NULL, NULL},
    {"annotate", NULL, NULL},
    {"vs", NULL, NULL},
    {"by", NULL, NULL},
    {"outliers", NULL, NULL},
    {"partial", NULL, NULL},
    {"baseline", NULL, NULL},
    {"map", NULL, NULL},
    {"plan", NULL, NULL},
    {"rank", NULL, NULL},
    {"steps", NULL, NULL},
    {"time-range", NULL, NULL},
    {"drop-category", NULL, NULL},
    {"output", "merge", NULL},
    {"shard", NULL, NULL},
    {"shard-count", NULL, NULL},
    {"strong", NULL, NULL},
    {"weak", NULL, NULL},
    {"config", NULL, NULL},
    {"no-config", NULL, NULL},
    {"help", NULL, NULL},
    {"version", NULL, NULL},
};

static const char *section_of(const struct ta_arg_option *option)
{
    if (option->group == TA_GROUP_SELECTION)
        return "input";
    if (option->group == TA_GROUP_GLOBAL)
        return "";
    if (ta_arg_is_for(option, &ta_commands[TA_COMMAND_REPORT]))
        return "output";
    if (ta_arg_is_for(option, &ta_commands[TA_COMMAND_CHART]))
        return "charts";
    const struct ta_command *command = ta_commands;
    while (!ta_arg_is_for(option, command))
        command++;
    return command->name;
}

const char *ta_config_key(const struct ta_arg_option *option, char key[TA_CONFIG_KEY_MAX])
{
    const char *section = section_of(option);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        if (strcmp(renamed[i].option, option->name) != 0)
            continue;
        if (renamed[i].section && strcmp(renamed[i].section, section) != 0)
            continue;
        if (!renamed[i].key)
            return NULL;
        snprintf(key, TA_CONFIG_KEY_MAX, "%s", renamed[i].key);
        return key;
    }
    snprintf(key, TA_CONFIG_KEY_MAX, "%s%s%s", section, *section ? "." : "", option->name);
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return key;
}

enum ta_config_shape ta_config_shape(const struct ta_arg_option *option)
{
    const char *takes = ta_arg_takes(option).argument, *argument = takes ? takes : "";
    const char *equals = strchr(argument, '=');
    if (option->type == TA_VALUE_TEXTS && equals)
        return memchr(argument, '.', (size_t)(equals - argument)) ? TA_CONFIG_PLUGINS
                                                                  : TA_CONFIG_MAP;
    if (option->type == TA_VALUE_TEXTS || strcmp(argument, "LIST") == 0)
        return TA_CONFIG_LIST;
    return TA_CONFIG_SCALAR;
}

bool ta_config_is_place(const struct ta_arg_option *option)
{
    const char *takes = ta_arg_takes(option).argument, *argument = takes ? takes : "";
    return strstr(argument, "PATH") || strstr(argument, "FILE") || strstr(argument, "DIR");
}

const char *ta_config_variable(const char *key, char variable[TA_CONFIG_VARIABLE_MAX])
{
    snprintf(variable, TA_CONFIG_VARIABLE_MAX, "TRACEANALYZE_%s", key);
    for (char *c = variable; *c; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
        else if (*c == '.' || *c == '-')
            *c = '_';
    }
    return variable;
}

const struct ta_arg_option *ta_config_option_at(size_t offset)
{
    const struct ta_arg_option *option = ta_arg_options;
    while (option->offset != offset)
        option++;
    return option;
}
