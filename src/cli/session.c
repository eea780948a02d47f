/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run of a command: what the options say goes to it, and then it is executed. */
#include "cli/cli.h"

#include "cli/heap.h"

/* Options that the program means in its own way, though a run knows the name: where they go is said
 * where they are used. */
static bool is_own(const char *name)
{
    static const char *const names[] = {"format", "color", "set", "disable-rule"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return !ta_run_option(name);
}

/* `config` looks at the settings of all commands. */
static bool is_for(const struct ta_cli *cli, const struct ta_arg_option *option)
{
    return cli->args.command == &ta_commands[TA_COMMAND_CONFIG] ||
           ta_arg_is_for(option, cli->args.command);
}

/* `only` NULL: all but the paths of plugins, which are set first. */
static bool is_wanted(const char *name, const char *only)
{
    return only ? strcmp(name, only) == 0 : strcmp(name, "plugin-path") != 0 && !is_own(name);
}

static enum ta_status set(struct ta_cli *cli, const char *only)
{
    const struct ta_config *config = &cli->config;
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < config->settings.n; i++) {
        char place[TA_CONFIG_PLACE_MAX];
        const struct ta_setting *setting = &config->settings.at[i];
        if (is_for(cli, setting->option) && is_wanted(setting->option->name, only))
            status = ta_run_set_from(cli->run, setting->option->name, setting->text,
                                     ta_config_place(setting, place));
    }
    for (size_t i = 0; status == TA_OK && i < cli->args.n_given; i++)
        if (is_wanted(cli->args.given[i].name, only))
            status = ta_run_set(cli->run, cli->args.given[i].name, cli->args.given[i].value);
    return status;
}

enum ta_status ta_cli_set_option(struct ta_cli *cli, const char *name)
{
    return set(cli, name);
}

enum ta_status ta_cli_set_options(struct ta_cli *cli)
{
    const enum ta_status status = set(cli, NULL);
    /* Events of other processes do not come here. */
    return status == TA_OK && cli->team ? ta_run_set(cli->run, "timeline", "none") : status;
}

enum ta_status ta_cli_add_inputs(struct ta_cli *cli, size_t first, size_t end)
{
    enum ta_status status = TA_OK;
    for (size_t i = first; status == TA_OK && i < end; i++)
        status = ta_run_add(cli->run, cli->args.operands.items[i]);
    return status;
}

void ta_cli_begin_reading(struct ta_cli *cli)
{
    ta_heap_keep(!cli->args.memory_limit,
                 ta_run_effort(cli->run).threads); /* what is kept would count */
    ta_run_on_memory(cli->run, ta_heap_read_all, ta_heap_trim);
    ta_run_on_progress(cli->run, ta_console_progress, &cli->console);
}

enum ta_status ta_cli_execute(struct ta_cli *cli, enum ta_run_task task)
{
    ta_cli_begin_reading(cli);
    const enum ta_status status = ta_run_execute(cli->run, task);
    ta_console_clear(&cli->console);
    return status;
}

enum ta_status ta_cli_choose_place(struct ta_cli *cli, const char *folder, bool single,
                                   struct ta_format *formats, size_t n, struct ta_place *place)
{
    const char *list = cli->args.format;
    enum ta_status status = TA_OK;
    if (list && ta_config_origin(&cli->config, list)) {
        status = ta_config_cause(cli->ctx, &cli->config, list,
                                 ta_place_default(cli->ctx, list, formats, n));
        list = NULL;
    }
    if (status != TA_OK)
        return status;
    return ta_place_choose(cli->ctx, list, cli->args.out, folder, single, formats, n, place);
}
