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

bool ta_option_number(const char *text, double *value, enum ta_option_unit *unit)
{
    uint64_t size;
    const char *rest;
    *unit = TA_OPTION_PLAIN;
    if (!read_number(text, value, &rest))
        return false;
    if (!*rest)
        return true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(rest, suffixes[i].suffix) == 0) {
            *value *= suffixes[i].factor;
            *unit = suffixes[i].unit;
            return true;
        }
    if (!ta_size_parse(text, &size))
        return false;
    *value = (double)size;
    *unit = TA_OPTION_BYTES;
    return true;
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

/* ---- one assignment ------------------------------------------------------------------------ */

/* "ID.NAME=VALUE", and of which kinds of plugins. */
struct assignment {
    char id[128]; /* the point became its end */
    const char *name, *value, *origin;
    enum ta_plugin_kind first, last;
};

static enum ta_status split(struct ta_ctx *ctx, const char *text, struct assignment *made)
{
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0;
    if (!equals || length >= sizeof made->id || !memchr(text, '.', length))
        return ta_fail(ctx, TA_ERR_USAGE, "Unusable setting: %.200s, expected ID.NAME=VALUE", text);
    memcpy(made->id, text, length);
    made->id[length] = '\0';
    char *point = strchr(made->id, '.');
    *point = '\0';
    made->name = point + 1;
    made->value = equals + 1;
    return TA_OK;
}

/* The slot and row that an assignment means.  An id may stand for plugins of several kinds; the
 * first that has the option is meant. */
static struct ta_slot *find_option(const struct ta_registry *registry,
                                   const struct assignment *wanted, size_t *row,
                                   struct ta_suggest *close)
{
    for (int kind = (int)wanted->first; kind <= (int)wanted->last; kind++)
        for (size_t i = 0; i < registry->count[kind]; i++) {
            struct ta_slot *slot = registry->slots[kind][i];
            const struct ta_option *options = slot->entry.plugin.options;
            bool same = strcmp(slot->entry.plugin.id, wanted->id) == 0;
            if (close->word == wanted->id)
                ta_suggest_offer(close, slot->entry.plugin.id);
            for (size_t k = 0; same && options && options[k].name; k++) {
                if (close->word == wanted->name)
                    ta_suggest_offer(close, options[k].name);
                if (strcmp(options[k].name, wanted->name) == 0) {
                    *row = k;
                    return slot;
                }
            }
        }
    return NULL;
}

/* The plugin of a kind, if the assignment may mean that kind. */
static struct ta_slot *find_slot(const struct ta_registry *registry,
                                 const struct assignment *wanted, enum ta_plugin_kind kind)
{
    if (kind < wanted->first || kind > wanted->last)
        return NULL;
    for (size_t i = 0; i < registry->count[kind]; i++)
        if (strcmp(registry->slots[kind][i]->entry.plugin.id, wanted->id) == 0)
            return registry->slots[kind][i];
    return NULL;
}

static bool is_known(const struct ta_registry *registry, const struct assignment *wanted)
{
    for (int kind = 0; kind < TA_KIND_COUNT; kind++)
        if (find_slot(registry, wanted, (enum ta_plugin_kind)kind))
            return true;
    return false;
}

/* A copy that lives as long as the registry. */
static enum ta_status keep_origin(struct ta_ctx *ctx, struct ta_registry *registry,
                                  const char *origin, const char **copy)
{
    const char *kept = ta_arena_copy(&registry->arena, ta_slice_of(origin));
    if (!kept)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: setting");
    *copy = kept;
    return TA_OK;
}

static enum ta_status store(struct ta_ctx *ctx, struct ta_registry *registry, struct ta_slot *slot,
                            size_t row, const struct assignment *given)
{
    const struct ta_option *option = &slot->entry.plugin.options[row];
    double value;
    bool readable = read_value(option, given->value, &value);
    if (!readable && option->type == TA_OPTION_BOOLEAN)
        return ta_fail(ctx, TA_ERR_USAGE, "Unusable value: %s.%s=%.200s, expected true or false",
                       slot->entry.plugin.id, option->name, given->value);
    if (!readable || !(value >= option->least && value <= option->most))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Unusable value: %s.%s=%.200s, expected a %snumber from %.15g to %.15g",
                       slot->entry.plugin.id, option->name, given->value,
                       option->type == TA_OPTION_INTEGER ? "whole " : "", option->least,
                       option->most);
    slot->values[row] = value;
    return keep_origin(ctx, registry, given->origin, &slot->origins[row]);
}

/* Turns the analyses and rules of an id on or off.  Inputs and outputs are chosen by options of
 * the program. */
static enum ta_status set_enabled(struct ta_ctx *ctx, struct ta_registry *registry,
                                  const struct assignment *given)
{
    double value;
    bool any = false;
    enum ta_status status = TA_OK;
    if (!read_boolean(given->value, &value))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Unusable value: %s." TA_ENABLED "=%.200s, expected true or false",
                       given->id, given->value);
    for (int kind = TA_KIND_analysis; status == TA_OK && kind <= TA_KIND_advice; kind++) {
        struct ta_slot *slot = find_slot(registry, given, (enum ta_plugin_kind)kind);
        if (!slot)
            continue;
        slot->entry.off = value == 0;
        status = keep_origin(ctx, registry, given->origin, &slot->entry.off_origin);
        any = true;
    }
    if (any)
        return status;
    return ta_fail(ctx, TA_ERR_USAGE, "Only analyses and rules can be turned off, not %s",
                   given->id);
}

static enum ta_status unknown_name(struct ta_ctx *ctx, const struct assignment *given, bool rule,
                                   struct ta_suggest *close)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    ta_suggest_offer(close, TA_ENABLED);
    for (int word = 0; rule && word < TA_RULE_WORDS; word++)
        ta_suggest_offer(close, ta_rule_word_names[word]);
    return ta_fail(ctx, TA_ERR_USAGE, "%s %s has no option %.200s%s",
                   given->first == TA_KIND_advice ? "Rule" : "Plugin", given->id, given->name,
                   ta_suggest_text(close, hint));
}

static enum ta_status unknown_id(struct ta_ctx *ctx, const struct assignment *given,
                                 const struct ta_suggest *close)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    const char *what = given->first == TA_KIND_advice ? "rule" : "plugin";
    const char *text = ta_suggest_text(close, hint);
    return ta_fail(ctx, TA_ERR_USAGE, "No %s has the id %s%s", what, given->id,
                   *text || given->first != TA_KIND_advice ? text : "; a new rule needs a table");
}

static enum ta_status set(struct ta_ctx *ctx, struct ta_registry *registry,
                          const struct assignment *given)
{
    size_t row = 0;
    const bool known = is_known(registry, given);
    struct ta_suggest close = {.word = known ? given->name : given->id};
    struct ta_slot *slot = find_option(registry, given, &row, &close);
    if (slot)
        return store(ctx, registry, slot, row, given);
    if (!known)
        return unknown_id(ctx, given, &close);
    if (strcmp(given->name, TA_ENABLED) == 0)
        return set_enabled(ctx, registry, given);
    slot = find_slot(registry, given, TA_KIND_advice);
    for (int word = 0; slot && word < TA_RULE_WORDS; word++)
        if (strcmp(given->name, ta_rule_word_names[word]) == 0)
            return ta_rule_say(ctx, registry, slot, (enum ta_rule_word)word, given->value,
                               given->origin);
    return unknown_name(ctx, given, slot != NULL, &close);
}

static enum ta_status disable_rule(struct ta_ctx *ctx, struct ta_registry *registry, const char *id,
                                   const char *origin)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = id};
    for (size_t i = 0; i < registry->count[TA_KIND_advice]; i++) {
        struct ta_entry *entry = &registry->slots[TA_KIND_advice][i]->entry;
        ta_suggest_offer(&close, entry->plugin.id);
        if (strcmp(entry->plugin.id, id) == 0) {
            entry->off = true;
            return keep_origin(ctx, registry, origin, &entry->off_origin);
        }
    }
    return ta_fail(ctx, TA_ERR_USAGE, "No rule has the id %s%s", id, ta_suggest_text(&close, hint));
}

enum ta_status ta_registry_set(struct ta_ctx *ctx, struct ta_registry *registry,
                               enum ta_setting_kind kind, const char *setting, const char *origin)
{
    const bool is_of_rule = kind == TA_SET_RULE;
    struct assignment given = {.origin = origin,
                               .first = is_of_rule ? TA_KIND_advice : TA_KIND_input,
                               .last = is_of_rule ? TA_KIND_advice : TA_KIND_COUNT - 1};
    if (kind == TA_SET_RULE_OFF)
        return disable_rule(ctx, registry, setting, origin);
    const enum ta_status status = split(ctx, setting, &given);
    return status == TA_OK ? set(ctx, registry, &given) : status;
}
