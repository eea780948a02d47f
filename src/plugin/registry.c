/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugins of a run: checking descriptors, keeping them in order, finding them. */
#include "plugin/registry_impl.h"

#include <stdlib.h>

#include "plugin/builtin.h"
#include "traceanalyze/analysis.h"
#include "traceanalyze/headline.h"
#include "traceanalyze/input.h"
#include "traceanalyze/output.h"

union any_ops {
    struct ta_input_ops input;
    struct ta_analysis_ops analysis;
    struct ta_advice_ops advice;
    struct ta_headline_ops headline;
    struct ta_output_ops output;
};

static const struct {
    const char *name;
    uint32_t ops_size;
} kinds[TA_KIND_COUNT] = {
    [TA_KIND_input] = {"input", sizeof(struct ta_input_ops)},
    [TA_KIND_analysis] = {"analysis", sizeof(struct ta_analysis_ops)},
    [TA_KIND_advice] = {"advice", sizeof(struct ta_advice_ops)},
    [TA_KIND_headline] = {"headline", sizeof(struct ta_headline_ops)},
    [TA_KIND_output] = {"output", sizeof(struct ta_output_ops)},
};

const char *ta_plugin_kind_name(enum ta_plugin_kind kind)
{
    return kinds[kind].name;
}

/* ---- checking a descriptor ------------------------------------------------------------ */

/* Size of the descriptor in ABI 1.0: none is shorter. */
enum { SIZE_1_0 = offsetof(struct ta_plugin, ops) + sizeof(void *) };

/* The first fields (magic, ABI, sizes) have the same place in every ABI; nothing else is looked
 * at before they are right. */
static enum ta_status check_abi(struct ta_ctx *ctx, const struct ta_plugin *plugin,
                                const char *origin)
{
    if (plugin->magic != TA_PLUGIN_MAGIC)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Not a plugin descriptor: origin=%s", origin);
    if (plugin->abi_major != TA_ABI_MAJOR || plugin->abi_minor > TA_ABI_MINOR)
        return ta_fail(ctx, TA_ERR_PLUGIN, "%s: plugin ABI %u.%u, this build speaks %d.%d", origin,
                       (unsigned)plugin->abi_major, (unsigned)plugin->abi_minor, TA_ABI_MAJOR,
                       TA_ABI_MINOR);
    if (plugin->kind >= TA_KIND_COUNT)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Unknown kind of plugin: origin=%s, kind=%u", origin,
                       plugin->kind);
    if (plugin->size > sizeof *plugin || plugin->size < SIZE_1_0 || !plugin->ops ||
        plugin->ops_size > kinds[plugin->kind].ops_size)
        return ta_fail(ctx, TA_ERR_PLUGIN,
                       "Sizes do not match the ABI that the plugin claims: origin=%s, size=%u, "
                       "ops_size=%u",
                       origin, plugin->size, plugin->ops_size);
    return TA_OK;
}

/* Ids go into options, file names and class names: [a-z0-9_], as the C identifier they are. */
static bool is_id(const char *id)
{
    return id && *id && id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool has_callbacks(uint32_t kind, const union any_ops *ops)
{
    switch (kind) {
    case TA_KIND_input:
        return ops->input.sniff && ops->input.read;
    case TA_KIND_analysis:
        return ops->analysis.finish && ops->analysis.section;
    case TA_KIND_advice:
        return ops->advice.advise;
    case TA_KIND_headline:
        return ops->headline.say && (unsigned)ops->headline.level < TA_HEADLINE_LEVELS;
    default:
        return ops->output.write && ops->output.extension;
    }
}

static enum ta_status check_options(struct ta_ctx *ctx, const struct ta_plugin *plugin,
                                    const char *origin)
{
    for (const struct ta_option *o = plugin->options; o && o->name; o++)
        if (!is_id(o->name) || !o->help || !(o->least <= o->preset && o->preset <= o->most))
            return ta_fail(ctx, TA_ERR_PLUGIN,
                           "Option with a bad name, no help or a preset out of range: origin=%s, "
                           "plugin=%s, option=%s",
                           origin, plugin->id, o->name);
    return TA_OK;
}

/* ---- adding ---------------------------------------------------------------------------- */

static size_t option_count(const struct ta_plugin *plugin)
{
    size_t n = 0;
    while (plugin->options && plugin->options[n].name)
        n++;
    return n;
}

/* Position of an id among the entries of a kind, or where it would go. */
static size_t position(const struct ta_registry *registry, enum ta_plugin_kind kind, const char *id,
                       bool *found)
{
    size_t low = 0, high = registry->count[kind];
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(registry->slots[kind][middle]->entry.plugin.id, id);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum ta_status insert(struct ta_ctx *ctx, struct ta_registry *registry, struct ta_slot *slot,
                             size_t at)
{
    uint32_t kind = slot->entry.plugin.kind;
    size_t count = registry->count[kind];
    struct ta_slot **grown = reallocarray(registry->slots[kind], count + 1, sizeof *grown);
    if (!grown)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugins=%zu", count + 1);
    memmove(grown + at + 1, grown + at, (count - at) * sizeof *grown);
    grown[at] = slot;
    registry->slots[kind] = grown;
    registry->count[kind]++;
    return TA_OK;
}

/* A slot with copies of the descriptor and its ops in zeroed memory of this host's sizes, so
 * that callbacks which the plugin does not know are NULL. */
static struct ta_slot *slot_new(struct ta_ctx *ctx, struct ta_registry *registry,
                                const struct ta_plugin *plugin, const char *origin)
{
    struct ta_slot *slot = ta_arena_alloc(&registry->arena, sizeof *slot);
    union any_ops *ops = ta_arena_alloc(&registry->arena, sizeof *ops);
    const size_t options = option_count(plugin) + 1;
    double *values = ta_arena_alloc(&registry->arena, options * sizeof *values);
    const char **origins = ta_arena_alloc(&registry->arena, options * sizeof *origins);
    const char *origin_copy = ta_arena_copy(&registry->arena, ta_slice_of(origin));
    if (!slot || !ops || !values || !origins || !origin_copy) {
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugin=%s", plugin->id);
        return NULL;
    }
    for (size_t i = 0; i < option_count(plugin); i++)
        values[i] = plugin->options[i].preset;
    if (plugin->ops)
        memcpy(ops, plugin->ops, plugin->ops_size);

    struct ta_plugin *copy = &slot->entry.plugin;
    memcpy(copy, plugin, plugin->size);
    copy->ops = ops;
    copy->size = sizeof *copy;
    copy->ops_size = kinds[copy->kind].ops_size;
    copy->title = copy->title ? copy->title : copy->id;
    copy->summary = copy->summary ? copy->summary : "";
    copy->version = copy->version ? copy->version : "";
    slot->entry.origin = origin_copy;
    slot->entry.option_values = slot->values = values;
    slot->entry.value_origins = slot->origins = origins;
    return slot;
}

static enum ta_status add_slot(struct ta_ctx *ctx, struct ta_registry *registry,
                               struct ta_slot *slot)
{
    const struct ta_plugin *plugin = &slot->entry.plugin;
    bool found;
    const size_t at = position(registry, plugin->kind, plugin->id, &found);
    if (found)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Two plugins of one kind and id: %s %s from %s and %s",
                       kinds[plugin->kind].name, plugin->id,
                       registry->slots[plugin->kind][at]->entry.origin, slot->entry.origin);
    return insert(ctx, registry, slot, at);
}

enum ta_status ta_registry_add_data(struct ta_ctx *ctx, struct ta_registry *registry,
                                    const struct ta_plugin *plugin, const struct ta_rule_data *data)
{
    struct ta_slot *slot = slot_new(ctx, registry, plugin, data->place);
    if (!slot)
        return TA_ERR_NOMEM;
    slot->entry.data = data;
    return add_slot(ctx, registry, slot);
}

enum ta_status ta_registry_add(struct ta_ctx *ctx, struct ta_registry *registry,
                               const struct ta_plugin *plugin, const char *origin)
{
    enum ta_status status = check_abi(ctx, plugin, origin);
    if (status != TA_OK)
        return status;
    if (!is_id(plugin->id))
        return ta_fail(ctx, TA_ERR_PLUGIN, "Plugin without a usable id: origin=%s", origin);
    status = check_options(ctx, plugin, origin);
    if (status != TA_OK)
        return status;
    struct ta_slot *slot = slot_new(ctx, registry, plugin, origin);
    if (!slot)
        return TA_ERR_NOMEM;
    if (!has_callbacks(plugin->kind, slot->entry.plugin.ops))
        return ta_fail(ctx, TA_ERR_PLUGIN, "Plugin lacks a callback: origin=%s, plugin=%s", origin,
                       plugin->id);
    return add_slot(ctx, registry, slot);
}

/* ---- the registry ---------------------------------------------------------------------- */

struct ta_registry *ta_registry_new(struct ta_ctx *ctx)
{
    struct ta_registry *registry = calloc(1, sizeof *registry);
    if (!registry) {
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugins");
        return NULL;
    }
    for (const struct ta_plugin *const *plugin = ta_builtins; *plugin; plugin++)
        if (ta_registry_add(ctx, registry, *plugin, TA_BUILT_IN) != TA_OK) {
            ta_registry_free(registry);
            return NULL;
        }
    if (ta_registry_check(ctx, registry) != TA_OK) {
        ta_registry_free(registry);
        return NULL;
    }
    return registry;
}

void ta_registry_free(struct ta_registry *registry)
{
    if (!registry)
        return;
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        free(registry->slots[kind]);
    free(registry->tables);
    ta_arena_free(&registry->arena);
    ta_libraries_close(registry->libraries);
    free(registry);
}

size_t ta_registry_count(const struct ta_registry *registry, enum ta_plugin_kind kind)
{
    return registry->count[kind];
}

const struct ta_entry *ta_registry_at(const struct ta_registry *registry, enum ta_plugin_kind kind,
                                      size_t index)
{
    return &registry->slots[kind][index]->entry;
}

const struct ta_entry *ta_registry_find(const struct ta_registry *registry,
                                        enum ta_plugin_kind kind, const char *id)
{
    bool found;
    size_t at = position(registry, kind, id, &found);
    return found ? &registry->slots[kind][at]->entry : NULL;
}
