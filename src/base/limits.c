/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on input: their names, defaults and `--limit NAME=VALUE`. */
#include "base/context.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define KIB UINT64_C(1024)

static const struct {
    const char *name;
    uint64_t preset, least;
} limits[TA_LIMIT_COUNT] = {
    [TA_LIMIT_RATIO] = {"ratio", 250, 1},
    [TA_LIMIT_EXPANDED] = {"expanded", 64 * KIB *KIB *KIB, 1},
    [TA_LIMIT_DEPTH] = {"depth", 1024, 8},
    [TA_LIMIT_STRING] = {"string", 16 * KIB *KIB, 16},
    [TA_LIMIT_NUMBER] = {"number", KIB, 32},
    [TA_LIMIT_EVENT] = {"event", 64 * KIB *KIB, 4 * KIB},
    [TA_LIMIT_FILES] = {"files", 100000, 1},
    [TA_LIMIT_NAMES] = {"names", 16 * KIB *KIB, 16},
    [TA_LIMIT_PICKLE_OBJECTS] = {"pickle-objects", 50000000, 16},
    [TA_LIMIT_PICKLE_DEPTH] = {"pickle-depth", 200, 8},
    [TA_LIMIT_CONFIG_SIZE] = {"config-size", KIB *KIB, 1},
    [TA_LIMIT_CONFIG_DEPTH] = {"config-depth", 32, 4},
};

const char *ta_limit_name(enum ta_limit limit)
{
    return limits[limit].name;
}

uint64_t ta_limit_default(enum ta_limit limit)
{
    return limits[limit].preset;
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
    *size = (uint64_t)value;
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
