/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries out of YAML: devices.yaml has the form. */
#include "hardware/hardware.h"

#include "base/suggest.h"
#include "base/yaml/yaml.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

struct file {
    struct ta_ctx *ctx;
    const char *name;
    struct ta_hardware_list *list;
};

static enum ta_status refuse(const struct file *file, const struct ta_yaml *at, const char *what)
{
    return ta_fail(file->ctx, TA_ERR_USAGE, "%s:%u:%u: %s", file->name, at->line, at->column, what);
}

/* What a key expects, in a message with it. */
static enum ta_status expect(const struct file *file, const struct ta_yaml *value, const char *what)
{
    return ta_fail(file->ctx, TA_ERR_USAGE, "%s:%u:%u: %s is %s, expected %s", file->name,
                   value->line, value->column, value->key ? value->key->text : "the file",
                   ta_yaml_kind_name(value->kind), what);
}

/* ---- values -------------------------------------------------------------------------------- */

/* Whatever the locale of the process is. */
static bool parse_number(const char *text, double *number)
{
    char *end;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale)
        return false;
    *number = strtod_l(text, &end, c_locale);
    freelocale(c_locale);
    return end != text && *end == '\0' && isfinite(*number) && *number > 0;
}

static enum ta_status read_number(const struct file *file, const struct ta_yaml *value,
                                  double *number)
{
    const bool is_number = value->kind == TA_YAML_INTEGER || value->kind == TA_YAML_FLOAT;
    if (!is_number)
        return expect(file, value, "a number above 0");
    return parse_number(value->text, number) ? TA_OK
                                             : refuse(file, value, "Expected a number above 0");
}

static enum ta_status read_text(const struct file *file, const struct ta_yaml *value,
                                const char **text)
{
    if (value->kind == TA_YAML_LIST || value->kind == TA_YAML_MAP || !*value->text)
        return expect(file, value, "a text");
    *text = ta_arena_copy(&file->list->arena, ta_slice_of(value->text));
    return *text ? TA_OK : ta_fail(file->ctx, TA_ERR_NOMEM, "Out of memory: %s", file->name);
}

static enum ta_status read_words(const struct file *file, const struct ta_yaml *value,
                                 struct ta_words *words)
{
    enum ta_status status = TA_OK;
    if (value->kind != TA_YAML_LIST)
        return expect(file, value, "a list of words");
    for (const struct ta_yaml *word = value->contents; status == TA_OK && word; word = word->next) {
        if (words->n == TA_WORDS_MAX)
            return refuse(file, word, "Too many words: at most 8 are compared");
        if (word->kind == TA_YAML_LIST || word->kind == TA_YAML_MAP || !*word->text)
            return refuse(file, word, "Expected a word");
        status = read_text(file, word, &words->at[words->n++]);
    }
    return status;
}

static enum ta_status read_range(const struct file *file, const struct ta_yaml *value,
                                 struct ta_hardware_entry *entry)
{
    const struct ta_yaml *least = value->kind == TA_YAML_LIST ? value->contents : NULL;
    if (!least || !least->next || least->next->next)
        return expect(file, value, "the least and the most number of bytes");
    enum ta_status status = read_number(file, least, &entry->least_bytes);
    if (status == TA_OK)
        status = read_number(file, least->next, &entry->most_bytes);
    return status;
}

/* ---- peaks --------------------------------------------------------------------------------- */

static enum ta_status unknown_key(const struct file *file, const struct ta_yaml *key,
                                  const struct ta_suggest *close)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    return ta_fail(file->ctx, TA_ERR_USAGE, "%s:%u:%u: Unknown key: %s%s", file->name, key->line,
                   key->column, key->text, ta_suggest_text(close, hint));
}

static enum ta_status read_peak(const struct file *file, const struct ta_yaml *value,
                                struct ta_hardware *hardware)
{
    struct ta_suggest close = {.word = value->key->text};
    for (int peak = 0; peak < TA_PEAK_COUNT; peak++) {
        const char *name = ta_peak_name((enum ta_peak)peak);
        if (strcmp(value->key->text, name) == 0)
            return read_number(file, value, &hardware->flop_per_s[peak]);
        ta_suggest_offer(&close, name);
    }
    return unknown_key(file, value->key, &close);
}

static enum ta_status read_peaks(const struct file *file, const struct ta_yaml *value,
                                 struct ta_hardware *hardware)
{
    enum ta_status status = TA_OK;
    if (value->kind != TA_YAML_MAP)
        return expect(file, value, "a map of types");
    for (const struct ta_yaml *peak = value->contents; status == TA_OK && peak; peak = peak->next)
        status = read_peak(file, peak, hardware);
    return status;
}

static enum ta_status read_links(const struct file *file, const struct ta_yaml *value,
                                 struct ta_hardware *hardware)
{
    enum ta_status status = TA_OK;
    if (value->kind != TA_YAML_MAP)
        return expect(file, value, "a map of links");
    for (const struct ta_yaml *link = value->contents; status == TA_OK && link; link = link->next) {
        struct ta_suggest close = {.word = link->key->text};
        ta_suggest_offer(&close, "host");
        ta_suggest_offer(&close, "peer");
        if (strcmp(link->key->text, "host") == 0)
            status = read_number(file, link, &hardware->host_bytes_per_s);
        else if (strcmp(link->key->text, "peer") == 0)
            status = read_number(file, link, &hardware->peer_bytes_per_s);
        else
            status = unknown_key(file, link->key, &close);
    }
    return status;
}

/* ---- entries ------------------------------------------------------------------------------- */

enum key {
    NAME,
    MATCH,
    UNLESS,
    MULTIPROCESSORS,
    MEMORY_BYTES,
    CAPABILITY,
    MEMORY,
    BANDWIDTH,
    PEAKS,
    LINKS,
    SOURCE,
    KEYS
};

static const char *const key_names[KEYS] = {
    "name",   "match",     "unless", "multiprocessors", "memory_bytes", "capability",
    "memory", "bandwidth", "peaks",  "links",           "source"};

static enum ta_status read_member(const struct file *file, const struct ta_yaml *value,
                                  struct ta_hardware_entry *entry)
{
    double number = 0;
    enum ta_status status;
    struct ta_suggest close = {.word = value->key->text};
    int key = 0;
    for (; key < KEYS && strcmp(value->key->text, key_names[key]) != 0; key++)
        ta_suggest_offer(&close, key_names[key]);
    switch ((enum key)key) {
    case NAME:
        return read_text(file, value, &entry->hardware.name);
    case MATCH:
        return read_words(file, value, &entry->match);
    case UNLESS:
        return read_words(file, value, &entry->unless);
    case MULTIPROCESSORS:
        status = read_number(file, value, &number);
        entry->multiprocessors = number < INT32_MAX ? ta_whole(number) : 0;
        return status;
    case MEMORY_BYTES:
        return read_range(file, value, entry);
    case CAPABILITY:
        status = read_number(file, value, &number);
        entry->capability = number < 100 ? ta_whole(10 * number) : 0;
        entry->hardware.capability = entry->capability;
        return status;
    case MEMORY:
        return read_number(file, value, &entry->memory_gib);
    case BANDWIDTH:
        return read_number(file, value, &entry->hardware.bytes_per_s);
    case PEAKS:
        return read_peaks(file, value, &entry->hardware);
    case LINKS:
        return read_links(file, value, &entry->hardware);
    case SOURCE:
        return read_text(file, value, &entry->hardware.source);
    case KEYS:
        break;
    }
    return unknown_key(file, value->key, &close);
}

static enum ta_status read_entry(const struct file *file, const struct ta_yaml *map)
{
    struct ta_hardware_entry entry = {.hardware = {.name = NULL}};
    enum ta_status status = TA_OK;
    if (map->kind != TA_YAML_MAP)
        return refuse(file, map, "Expected a device: a map with name, bandwidth and peaks");
    for (const struct ta_yaml *value = map->contents; status == TA_OK && value; value = value->next)
        status = read_member(file, value, &entry);
    if (status != TA_OK)
        return status;
    if (!entry.hardware.name)
        return refuse(file, map, "The device has no name");
    if (!entry.hardware.source)
        entry.hardware.source = file->name;
    return ta_vec_push(&file->list->entries, entry)
               ? TA_OK
               : ta_fail(file->ctx, TA_ERR_NOMEM, "Out of memory: %s", file->name);
}

enum ta_status ta_hardware_read(struct ta_ctx *ctx, const char *name, struct ta_slice text,
                                struct ta_hardware_list *list)
{
    const struct file file = {
        .ctx = ctx, .name = ta_arena_copy(&list->arena, ta_slice_of(name)), .list = list};
    const struct ta_yaml *root = NULL, *devices;
    struct ta_arena tree = {.blocks = NULL};
    if (!file.name)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: %s", name);
    enum ta_status status = ta_yaml_parse(ctx, &tree, file.name, text, &root);
    devices = status == TA_OK && root->kind == TA_YAML_MAP ? root->contents : NULL;
    if (status == TA_OK &&
        (!devices || devices->next || strcmp(devices->key->text, "devices") != 0 ||
         devices->kind != TA_YAML_LIST))
        status = refuse(&file, root, "Expected a map with nothing but a list of devices");
    for (const struct ta_yaml *at = status == TA_OK ? devices->contents : NULL;
         status == TA_OK && at; at = at->next)
        status = read_entry(&file, at);
    ta_arena_free(&tree);
    return status;
}
