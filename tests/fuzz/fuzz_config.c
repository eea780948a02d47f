/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a configuration file: the YAML reader, settings, and the options they end up in. */
#include "support.h"

#include "cli/config.h"

/* Values below a node; no deeper and no more than the limits and the text allow. */
static size_t count(const struct ta_yaml *node, size_t depth)
{
    size_t n = 1;
    FUZZ_CHECK(depth <= 32 && node->text && node->line > 0 && node->column > 0);
    for (const struct ta_yaml *value = node->contents; value; value = value->next) {
        FUZZ_CHECK(!value->key == (node->kind == TA_YAML_LIST));
        n += count(value, depth + 1);
    }
    return n;
}

static void check_keys(const struct ta_yaml *map)
{
    size_t n = 0;
    for (const struct ta_yaml *value = map->contents; value && n < 100; value = value->next, n++)
        for (const struct ta_yaml *other = value->next; other && value->key; other = other->next)
            FUZZ_CHECK(strcmp(value->key->text, other->key->text) != 0);
}

static void check_settings(const struct ta_config_file *file)
{
    for (size_t i = 0; i < file->config->settings.n; i++) {
        const struct ta_setting *setting = &file->config->settings.at[i];
        FUZZ_CHECK(setting->option && setting->text && setting->line > 0);
        FUZZ_CHECK(!file->is_here || !ta_config_is_place(setting->option));
    }
}

static void check_message(struct ta_ctx *ctx)
{
    FUZZ_CHECK(strncmp(ta_ctx_causes(ctx), "c.yaml:", 7) == 0);
}

static void use(struct fuzz_run *run, struct ta_config_file *file, const struct ta_yaml *root)
{
    struct ta_cmdline args = ta_cmdline_defaults();
    args.command = &ta_commands[TA_COMMAND_REPORT];
    const enum ta_status status = ta_config_read_tree(file, root);
    FUZZ_CHECK(status == TA_OK || status == TA_ERR_USAGE);
    check_settings(file);
    if (status != TA_OK) {
        check_message(&run->ctx);
        return;
    }
    FUZZ_CHECK(ta_cmdline_configure(&run->ctx, &args, file->config->settings.at,
                                    file->config->settings.n) == TA_OK);
    for (size_t i = 0; i < args.settings.n; i++) {
        const struct ta_setting *setting = ta_config_origin(file->config, args.settings.items[i]);
        FUZZ_CHECK(setting);
        (void)!ta_config_set_plugin(&run->ctx, run->registry, setting);
    }
    ta_cmdline_free(&args);
}

/* The first byte says whether the file is that of the working folder. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct fuzz_run *run = fuzz_begin();
    struct ta_config config = {0};
    const struct ta_yaml *root;
    struct ta_config_file file = {
        .ctx = &run->ctx, .config = &config, .name = "c.yaml", .is_here = data[0] % 2};
    const struct ta_slice bytes = {(const char *)data + 1, size - 1};
    const enum ta_status status = ta_yaml_parse(&run->ctx, &config.arena, "c.yaml", bytes, &root);
    FUZZ_CHECK(status == TA_OK || status == TA_ERR_USAGE);
    if (status == TA_OK) {
        FUZZ_CHECK(count(root, 0) <= 2 * size);
        check_keys(root);
        use(run, &file, root);
    } else {
        check_message(&run->ctx);
    }
    ta_config_free(&config);
    return 0;
}
