/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of plugins: `--set ID.NAME=VALUE` read, checked and stored. */
#include "plugin/registry_impl.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/suggest.h"

/* Words after a number, by the unit of the option. */
static const struct {
    enum ta_option_unit unit;
    const char *suffix;
    double factor;
} suffixes[] = {
    {TA_OPTION_RATIO, "%", 0.01},   {TA_OPTION_NS, "ns", 1},   {TA_OPTION_NS, "us", 1e3},
    {TA_OPTION_NS, "\u00b5s", 1e3}, {TA_OPTION_NS, "ms", 1e6}, {TA_OPTION_NS, "s", 1e9},
    {TA_OPTION_NS, "min", 60e9},
};

/* A decimal number whatever the locale of the process. */
static bool read_number(const char *text, double *value, const char **rest)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale)
        return false;
    char *end;
    errno = 0;
    *value = strtod_l(text, &end, c_locale);
    freelocale(c_locale);
    *rest = end;
    return end != text && errno == 0 && isfinite(*value);
}

static bool read_boolean(const char *text, double *value)
{
    static const char *const words[2][4] = {{"false", "no", "off", "0"},
                                            {"true", "yes", "on", "1"}};
    for (int truth = 0; truth < 2; truth++)
        for (int i = 0; i < 4; i++)
            if (strcmp(text, words[truth][i]) == 0) {
                *value = truth;
                return true;
            }
    return false;
}

static bool read_value(const struct ta_option *option, const char *text, double *value)
{
    uint64_t size;
    const char *rest;
    if (option->type == TA_OPTION_BOOLEAN)
        return read_boolean(text, value);
    if (option->unit == TA_OPTION_BYTES) {
        bool ok = ta_size_parse(text, &size);
        if (ok)
            *value = (double)size;
        return ok;
    }
    if (!read_number(text, value, &rest))
        return false;
    for (size_t i = 0; *rest && i < sizeof suffixes / sizeof *suffixes; i++)
        if (suffixes[i].unit == option->unit && strcmp(rest, suffixes[i].suffix) == 0) {
            *value *= suffixes[i].factor;
            rest = "";
        }
    return !*rest && (option->type != TA_OPTION_INTEGER || *value == floor(*value));
}

/* The entry and row that "ID.NAME" means.  An id may stand for plugins of several kinds; the
 * first that has the option is meant. */
static struct ta_slot *find_option(const struct ta_registry *registry, const char *id,
                                   const char *name, size_t *row, struct ta_suggest *close)
{
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        for (size_t i = 0; i < registry->count[kind]; i++) {
            struct ta_slot *slot = registry->slots[kind][i];
            const struct ta_option *options = slot->entry.plugin.options;
            bool same = strcmp(slot->entry.plugin.id, id) == 0;
            if (close->word == id)
                ta_suggest_offer(close, slot->entry.plugin.id);
            for (size_t k = 0; same && options && options[k].name; k++) {
                if (close->word == name)
                    ta_suggest_offer(close, options[k].name);
                if (strcmp(options[k].name, name) == 0) {
                    *row = k;
                    return slot;
                }
            }
        }
    return NULL;
}

static bool is_plugin(const struct ta_registry *registry, const char *id)
{
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        if (ta_registry_find(registry, (enum ta_plugin_kind)kind, id))
            return true;
    return false;
}

static enum ta_status store(struct ta_ctx *ctx, struct ta_slot *slot, size_t row, const char *text)
{
    const struct ta_option *option = &slot->entry.plugin.options[row];
    double value;
    bool readable = read_value(option, text, &value);
    if (!readable && option->type == TA_OPTION_BOOLEAN)
        return ta_fail(ctx, TA_ERR_USAGE, "Unusable value: %s.%s=%s, expected true or false",
                       slot->entry.plugin.id, option->name, text);
    if (!readable || !(value >= option->least && value <= option->most))
        return ta_fail(
            ctx, TA_ERR_USAGE, "Unusable value: %s.%s=%s, expected a %snumber from %.15g to %.15g",
            slot->entry.plugin.id, option->name, text,
            option->type == TA_OPTION_INTEGER ? "whole " : "", option->least, option->most);
    slot->values[row] = value;
    return TA_OK;
}

/* Turns the analyses and rules of an id on or off.  Inputs and outputs are chosen by options of
 * the program. */
static enum ta_status set_enabled(struct ta_ctx *ctx, struct ta_registry *registry, const char *id,
                                  const char *text)
{
    double value;
    bool any = false;
    if (!read_boolean(text, &value))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Unusable value: %s." TA_ENABLED "=%s, expected true or false", id, text);
    for (int kind = TA_KIND_analysis; kind <= TA_KIND_advice; kind++)
        for (size_t i = 0; i < registry->count[kind]; i++) {
            struct ta_entry *entry = &registry->slots[kind][i]->entry;
            if (strcmp(entry->plugin.id, id) == 0) {
                entry->off = value == 0;
                any = true;
            }
        }
    if (any)
        return TA_OK;
    return ta_fail(ctx, TA_ERR_USAGE, "Only analyses and rules can be turned off, not %s", id);
}

enum ta_status ta_registry_set(struct ta_ctx *ctx, struct ta_registry *registry,
                               const char *assignment)
{
    char key[128], hint[TA_SUGGEST_TEXT_MAX];
    const char *equals = strchr(assignment, '=');
    size_t length = equals ? (size_t)(equals - assignment) : 0;
    if (!equals || length >= sizeof key || !memchr(assignment, '.', length))
        return ta_fail(ctx, TA_ERR_USAGE, "Unusable setting: %s, expected ID.NAME=VALUE",
                       assignment);
    memcpy(key, assignment, length);
    key[length] = '\0';
    char *name = strchr(key, '.');
    *name++ = '\0';

    size_t row = 0;
    bool known = is_plugin(registry, key);
    struct ta_suggest close = {.word = known ? name : key};
    struct ta_slot *slot = find_option(registry, key, name, &row, &close);
    if (slot)
        return store(ctx, slot, row, equals + 1);
    if (known && strcmp(name, TA_ENABLED) == 0)
        return set_enabled(ctx, registry, key, equals + 1);
    if (known)
        ta_suggest_offer(&close, TA_ENABLED);
    if (known)
        return ta_fail(ctx, TA_ERR_USAGE, "Plugin %s has no option %s%s", key, name,
                       ta_suggest_text(&close, hint));
    return ta_fail(ctx, TA_ERR_USAGE, "No plugin has the id %s%s", key,
                   ta_suggest_text(&close, hint));
}

enum ta_status ta_registry_disable_rule(struct ta_ctx *ctx, struct ta_registry *registry,
                                        const char *id)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = id};
    for (size_t i = 0; i < registry->count[TA_KIND_advice]; i++) {
        struct ta_entry *entry = &registry->slots[TA_KIND_advice][i]->entry;
        ta_suggest_offer(&close, entry->plugin.id);
        if (strcmp(entry->plugin.id, id) == 0) {
            entry->off = true;
            return TA_OK;
        }
    }
    return ta_fail(ctx, TA_ERR_USAGE, "No rule has the id %s%s", id, ta_suggest_text(&close, hint));
}
