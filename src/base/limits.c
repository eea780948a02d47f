/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on input: their names, defaults and `--limit NAME=VALUE`. */
#include "base/context.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define KIB UINT64_C(1024)

static const struct {
    const char *name;
    uint64_t preset, least;
    const char *meaning;
} limits[TA_LIMIT_COUNT] = {
    [TA_LIMIT_RATIO] = {"ratio", 250, 1,
                        "expanded to compressed bytes, from 64 MiB on; a file is read up to there"},
    [TA_LIMIT_EXPANDED] = {"expanded", 64 * KIB *KIB *KIB, 1,
                           "bytes of a file after decompression; it is read up to there"},
    [TA_LIMIT_DEPTH] = {"depth", 1024, 8, "nesting of JSON values; deeper ones are skipped"},
    [TA_LIMIT_STRING] = {"string", 16 * KIB *KIB, 16, "bytes of one string; the rest is cut"},
    [TA_LIMIT_NUMBER] = {"number", KIB, 32, "bytes of one number; longer ones count as missing"},
    [TA_LIMIT_EVENT] = {"event", 64 * KIB *KIB, 4 * KIB,
                        "bytes of one event; larger ones are dropped"},
    [TA_LIMIT_FILES] = {"files", 100000, 1, "files of a run; the rest is not read"},
    [TA_LIMIT_NAMES] = {"names", 16 * KIB *KIB, 16,
                        "distinct strings of a file; the rest is pooled"},
    [TA_LIMIT_PICKLE_OBJECTS] = {"pickle-objects", 50000000, 16,
                                 "objects of a pickle; a file with more is refused"},
    [TA_LIMIT_PICKLE_DEPTH] = {"pickle-depth", 200, 8,
                               "nesting of the objects of a pickle; a deeper file is refused"},
    [TA_LIMIT_CONFIG_SIZE] = {"config-size", KIB *KIB, 1,
                              "bytes of a configuration file; a larger one is an error"},
    [TA_LIMIT_CONFIG_DEPTH] = {"config-depth", 32, 4,
                               "nesting of its values; a deeper file is an error"},
};

const char *ta_limit_name(enum ta_limit limit)
{
    return limits[limit].name;
}

const char *ta_limit_meaning(enum ta_limit limit)
{
    return limits[limit].meaning;
}

uint64_t ta_limit_default(enum ta_limit limit)
{
    return limits[limit].preset;
}

const char *ta_limit_default_text(enum ta_limit limit, char text[TA_LIMIT_TEXT_MAX])
{
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi"};
    uint64_t value = limits[limit].preset;
    size_t prefix = 0;
    for (; prefix < 3 && value >= KIB && value % KIB == 0; prefix++)
        value /= KIB;
    snprintf(text, TA_LIMIT_TEXT_MAX, "%" PRIu64 "%s", value, prefixes[prefix]);
    return text;
}

bool ta_size_parse(const char *text, uint64_t *size)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno || !(value >= 0))
        return false;
    static const char prefixes[] = "kmgt";
    const char *prefix = *end ? strchr(prefixes, *end | 0x20) : NULL;
    if (prefix && *prefix) {
        for (const char *p = prefixes; p <= prefix; p++)
            value *= 1024;
        end++;
        if (*end == 'i')
            end++;
    }
    if (*end == 'B')
        end++;
    if (*end || value >= 9.2e18)
        return false;
    *size = (uint64_t)ta_whole(value);
    return true;
}

enum ta_status ta_limits_set(struct ta_ctx *ctx, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    size_t length = equals ? (size_t)(equals - assignment) : 0;
    for (int i = 0; equals && i < TA_LIMIT_COUNT; i++) {
        if (strlen(limits[i].name) != length || memcmp(limits[i].name, assignment, length) != 0)
            continue;
        uint64_t value;
        if (!ta_size_parse(equals + 1, &value) || value < limits[i].least)
            return ta_fail(ctx, TA_ERR_USAGE,
                           "Unusable limit: %s, expected a number of at least %" PRIu64, assignment,
                           limits[i].least);
        ctx->shared->limits[i] = value;
        return TA_OK;
    }
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unknown limit: %s, expected NAME=VALUE with one of ratio, expanded, depth, "
                   "string, number, event, files, names, pickle-objects, pickle-depth, "
                   "config-size, config-depth",
                   assignment);
}
