/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugins of a run: checking descriptors, keeping them in order, finding them. */
#include "plugin/registry_impl.h"

#include <stdlib.h>

#include "plugin/builtin.h"
#include "traceanalyze/analysis.h"
#include "traceanalyze/headline.h"
#include "traceanalyze/input.h"
#include "traceanalyze/log.h"
#include "traceanalyze/output.h"

/* ---- checking a descriptor ------------------------------------------------------------ */

/* Magic and hash have the same place in all versions; nothing else is looked at before both are
 * right. */
static enum ta_status check_headers(struct ta_ctx *ctx, const struct ta_plugin *plugin,
                                    const char *origin)
{
    if (plugin->magic != TA_PLUGIN_MAGIC)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Not a plugin descriptor: origin=%s", origin);
    if (plugin->headers != TA_HEADERS_HASH)
        return ta_fail(
            ctx, TA_ERR_PLUGIN,
            "%s was built with other headers of traceanalyze than this program (%016llx, "
            "not %016llx): build it again",
            origin, (unsigned long long)plugin->headers, (unsigned long long)TA_HEADERS_HASH);
    if (plugin->kind >= TA_KIND_COUNT)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Unknown kind of plugin: origin=%s, kind=%u", origin,
                       plugin->kind);
    if (!plugin->ops)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Plugin without callbacks: origin=%s", origin);
    return TA_OK;
}

/* Ids go into options, file names and class names: [a-z0-9_], as the C identifier they are. */
static bool is_id(const char *id)
{
    return id && *id && id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool has_callbacks(const struct ta_plugin *plugin)
{
    switch (plugin->kind) {
    case TA_KIND_input:
        return plugin->input->sniff && plugin->input->read;
    case TA_KIND_log:
        return plugin->log->take && plugin->log->marks && plugin->log->marks[0];
    case TA_KIND_analysis:
        return plugin->analysis->finish && plugin->analysis->section;
    case TA_KIND_advice:
        return plugin->advice->advise;
    case TA_KIND_headline:
        return plugin->headline->say && (unsigned)plugin->headline->level < TA_HEADLINE_LEVELS;
    default:
        return plugin->output->write && plugin->output->extension;
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

/* A slot with a copy of the descriptor, whose texts are all there. */
static struct ta_slot *slot_new(struct ta_ctx *ctx, struct ta_registry *registry,
                                const struct ta_plugin *plugin, const char *origin)
{
    struct ta_slot *slot = ta_arena_alloc(&registry->arena, sizeof *slot);
    const size_t options = option_count(plugin) + 1;
    double *values = ta_arena_alloc(&registry->arena, options * sizeof *values);
    const char **origins = ta_arena_alloc(&registry->arena, options * sizeof *origins);
    const char *origin_copy = ta_arena_copy(&registry->arena, ta_slice_of(origin));
    if (!slot || !values || !origins || !origin_copy) {
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugin=%s", plugin->id);
        return NULL;
    }
    for (size_t i = 0; i < option_count(plugin); i++)
        values[i] = plugin->options[i].preset;
    struct ta_plugin *copy = &slot->entry.plugin;
    *copy = *plugin;
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
                       ta_plugin_kind_name((enum ta_plugin_kind)plugin->kind), plugin->id,
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
    enum ta_status status = check_headers(ctx, plugin, origin);
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
    if (!has_callbacks(plugin))
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
    free(registry->scalars);
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
