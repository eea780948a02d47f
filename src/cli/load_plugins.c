/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry of a command: all plugins, with the options that the configuration and the command
 * line give them. */
#include "cli/cli.h"

#include <math.h>

/* Files of rules that a configuration names come before the files of the command line; `configured`
 * becomes the number of settings of the former. */
static enum ta_status read_rules(struct ta_cli *cli, size_t *configured)
{
    const struct ta_texts *files = &cli->args.rule_files;
    enum ta_status status = TA_OK;
    *configured = 0;
    for (size_t i = 0; status == TA_OK && i < files->n; i++) {
        const bool is_given = !ta_config_origin(&cli->config, files->items[i]);
        status = ta_config_load_rules(cli->ctx, files->items[i], &cli->rules);
        if (!is_given)
            *configured = cli->rules.settings.n;
    }
    return status;
}

static enum ta_status add_rules(struct ta_cli *cli, const struct ta_config *config)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < config->rules.n; i++) {
        const struct ta_rule_data *rule = config->rules.at[i];
        status = ta_registry_add_rule(cli->ctx, cli->registry, rule);
        if (status != TA_OK)
            status = ta_cause(cli->ctx, status, "%s", rule->place);
    }
    return status;
}

static enum ta_status set_rules(struct ta_cli *cli, size_t first, size_t end)
{
    enum ta_status status = TA_OK;
    for (size_t i = first; status == TA_OK && i < end; i++)
        status = ta_config_set_plugin(cli->ctx, cli->registry, &cli->rules.settings.at[i]);
    return status;
}

/* The settings of the configuration's files; `next` becomes the first of the command line. */
static enum ta_status set_configured(struct ta_cli *cli, size_t *next)
{
    const struct ta_texts *settings = &cli->args.settings;
    enum ta_status status = TA_OK;
    for (*next = 0; status == TA_OK && *next < settings->n; ++*next) {
        const struct ta_setting *setting = ta_config_origin(&cli->config, settings->items[*next]);
        if (!setting)
            break;
        status = ta_config_set_plugin(cli->ctx, cli->registry, setting);
    }
    return status;
}

#define COMMAND_LINE "command line"

/* From weak to strong: files, variables, --rules, --set and --disable-rule. */
static enum ta_status set_options(struct ta_cli *cli)
{
    const struct ta_texts *settings = &cli->args.settings, *rules = &cli->args.disabled_rules;
    size_t configured, next = 0;
    enum ta_status status = read_rules(cli, &configured);
    if (status == TA_OK)
        status = add_rules(cli, &cli->config);
    if (status == TA_OK)
        status = add_rules(cli, &cli->rules);
    if (status == TA_OK)
        status = set_configured(cli, &next);
    if (status == TA_OK)
        status = set_rules(cli, 0, configured);
    if (status == TA_OK && !cli->args.no_config)
        status = ta_config_plugin_variables(cli->ctx, &cli->config, cli->registry);
    if (status == TA_OK)
        status = set_rules(cli, configured, cli->rules.settings.n);
    for (; status == TA_OK && next < settings->n; next++)
        status = ta_registry_set(cli->ctx, cli->registry, TA_SET_OPTION, settings->items[next],
                                 COMMAND_LINE);
    for (size_t i = 0; status == TA_OK && i < rules->n; i++)
        status = ta_registry_set(cli->ctx, cli->registry, TA_SET_RULE_OFF, rules->items[i],
                                 COMMAND_LINE);
    return status;
}

void ta_cli_say_configuration(struct ta_cli *cli)
{
    for (size_t i = 0; i < cli->config.files.n; i++)
        ta_log(cli->ctx, TA_LOG_INFO, "Configuration read from %s", cli->config.files.at[i]);
    for (size_t i = 0; i < cli->config.notes.n; i++)
        ta_log(cli->ctx, TA_LOG_INFO, "%s", cli->config.notes.at[i]);
}

enum ta_status ta_cli_load_plugins(struct ta_cli *cli)
{
    enum ta_status status = ta_cli_set_option(cli, "plugin-path");
    if (status != TA_OK)
        return status;
    cli->registry = ta_run_plugins(cli->run);
    if (!cli->registry)
        return ta_ctx_status(cli->ctx);
    status = set_options(cli);
    if (status == TA_OK)
        status = ta_registry_check_rules(cli->ctx, cli->registry);
    return status == TA_OK ? ta_cli_set_options(cli) : status;
}

const char *ta_cli_option_text(const struct ta_option *option, double value,
                               char text[TA_UNIT_TEXT_MAX + 4])
{
    /* From large to small; the first of which the value is a whole number, and not a huge one. */
    static const struct unit {
        double size;
        const char *suffix;
    } times[] = {{6e10, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}},
      sizes[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};
    const struct unit *unit = option->unit == TA_OPTION_NS ? times : sizes;
    if (option->type == TA_OPTION_BOOLEAN)
        return value != 0 ? "true" : "false";
    if (option->unit != TA_OPTION_NS && option->unit != TA_OPTION_BYTES)
        return ta_number_format(text, value);
    while (unit->size > 1 &&
           (value == 0 || value > 1e6 * unit->size || fmod(value, unit->size) != 0))
        unit++;
    ta_number_format(text, value / unit->size);
    return strcat(text, unit->suffix);
}
