/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a Chrome trace says about itself: ranks, devices, clocks, versions. */
#include "chrome_json.h"
#include "lib/rows.h"
#include "model/rank_rows.h"
#include "model/range.h"
#include "parse/json/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

/* A whole number of the member at hand within its range; false without one, which is accounted for
 * when it is written as a number. */
static bool take_number(struct reading *r, const struct ta_token *value, enum ta_range range,
                        int64_t *number)
{
    const uint64_t offset = r->json->member.offset;
    if (!ta_token_integer(value, number)) {
        if (value->type == TA_TOKEN_NUMBER)
            ta_quality_add(r->quality, TA_Q_BAD_NUMBER, offset,
                           "%s is no whole number that fits: %.*s, which counts as missing, in the "
                           "member at byte offset %" PRIu64,
                           ta_range_what(range), (int)(value->len < 80 ? value->len : 80),
                           value->ptr, offset);
        return false;
    }
    *number = ta_builder_number(r->builder, range, *number, offset);
    return *number != TA_MISSING;
}

/* What the profiler was told to record. */
static bool is_option(struct ta_slice key)
{
    static const char *const options[] = {"record_shapes", "profile_memory", "with_stack",
                                          "with_flops", "with_modules"};
    bool is = false;
    for (size_t i = 0; !is && i < sizeof options / sizeof *options; i++)
        is = ta_slice_equal(key, ta_slice_of(options[i]));
    return is;
}

/* Such options and versions of libraries: what runs are compared by. */
static bool is_setting(struct ta_slice key)
{
    static const char suffix[] = "_version";
    return is_option(key) || (key.len > sizeof suffix - 1 && ta_slice_ends(key, suffix));
}

/* Options are 1 and 0 in Kineto's own members, true or "True" in those that programs add. */
static struct ta_slice said_of_option(enum ta_token_type type, struct ta_slice text)
{
    const bool is_true =
        type == TA_TOKEN_TRUE || (text.len == 4 && strncasecmp(text.ptr, "true", text.len) == 0);
    const bool is_false =
        type == TA_TOKEN_FALSE || (text.len == 5 && strncasecmp(text.ptr, "false", text.len) == 0);
    return is_true ? TA_LIT("1") : is_false ? TA_LIT("0") : text;
}

static void take_setting(struct reading *r, struct ta_slice key, const struct ta_token *value)
{
    const bool is_text = value->type == TA_TOKEN_NUMBER || value->type == TA_TOKEN_STRING;
    const bool is_flag = value->type == TA_TOKEN_TRUE || value->type == TA_TOKEN_FALSE;
    const bool is_of_option = is_option(key);
    if (!is_text && !(is_flag && is_of_option))
        return;
    const ta_str name = ta_builder_string(r->builder, key); /* its text may be in the same buffer */
    const struct ta_slice text = is_text ? ta_json_text(r->json, value) : TA_LIT("");
    r->status = ta_rows_tag(r->ctx, r->builder, name,
                            is_of_option ? said_of_option(value->type, text) : text);
}

/* Rank -1 is none, as of a process that has not joined. */
static bool each_distributed(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct reading *r = user;
    const struct ta_slice name = ta_json_text(r->json, key);
    int64_t number;
    if (ta_token_integer(value, &number) && number == -1)
        return true;
    if (ta_slice_equal(name, TA_LIT("rank"))) {
        if (take_number(r, value, TA_RANGE_RANK, &number))
            ta_builder_set(r->builder, TA_SAYS_RANK, number);
    } else if (ta_slice_equal(name, TA_LIT("world_size"))) {
        if (take_number(r, value, TA_RANGE_WORLD_SIZE, &number))
            ta_builder_set(r->builder, TA_SAYS_WORLD_SIZE, number);
    } else if (is_setting(name)) {
        take_setting(r, name, value);
    }
    return true;
}

static bool each_viztracer(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct reading *r = user;
    const struct ta_slice name = ta_json_text(r->json, key);
    int64_t number;
    if (ta_slice_equal(name, TA_LIT("overflow")) && value->type == TA_TOKEN_TRUE)
        ta_quality_add(r->quality, TA_Q_EVENTS_LOST, r->json->member.offset,
                       "VizTracer's buffer was full: the oldest events are lost, so sums over the "
                       "whole run are too small");
    else if (ta_slice_equal(name, TA_LIT("baseTimeNanoseconds")) &&
             take_number(r, value, TA_RANGE_TIME_NS, &number))
        ta_builder_set(r->builder, TA_SAYS_BASE_NS, number);
    return true;
}

struct device {
    struct reading *reading;
    struct ta_token name; /* the last one of several */
    struct ta_device facts;
};

static bool each_property(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct device *device = user;
    struct reading *r = device->reading;
    const struct ta_slice property = ta_json_text(r->json, key);
    int64_t number;
    if (ta_slice_equal(property, TA_LIT("name")))
        device->name = *value;
    else if (ta_slice_equal(property, TA_LIT("id")) &&
             take_number(r, value, TA_RANGE_DEVICE, &number))
        device->facts.id = number;
    else if (ta_slice_equal(property, TA_LIT("totalGlobalMem")) &&
             take_number(r, value, TA_RANGE_BYTES, &number))
        device->facts.memory_bytes = number;
    else if (ta_slice_equal(property, TA_LIT("computeMajor")) &&
             take_number(r, value, TA_RANGE_CAPABILITY, &number))
        device->facts.capability += 10 * number;
    else if (ta_slice_equal(property, TA_LIT("computeMinor")) &&
             take_number(r, value, TA_RANGE_CAPABILITY, &number))
        device->facts.capability += number;
    else if (ta_slice_equal(property, TA_LIT("numSms")) &&
             take_number(r, value, TA_RANGE_UNITS, &number)) {
        device->facts.multiprocessors = number;
        ta_builder_set(r->builder, TA_SAYS_MULTIPROCESSORS, number);
    } else if (ta_slice_equal(property, TA_LIT("maxThreadsPerMultiprocessor")) &&
               take_number(r, value, TA_RANGE_UNITS, &number))
        ta_builder_set(r->builder, TA_SAYS_THREADS, number);
    return true;
}

static bool each_device(void *user, const struct ta_token *token)
{
    struct reading *r = user;
    struct device device = {
        .reading = r, .name.type = TA_TOKEN_ABSENT, .facts = {.id = TA_MISSING}};
    ta_json_members(r->json, token, each_property, &device);
    if (device.name.type == TA_TOKEN_STRING)
        device.facts.name = ta_json_text(r->json, &device.name);
    /* One whose properties were recorded without a name is called by them, where they tell it. */
    const char *inferred = NULL;
    char name[128];
    const struct ta_hardware *hardware =
        device.facts.name.len ? NULL : ta_ctx_hardware(r->ctx, &device.facts, &inferred);
    if (hardware && inferred) {
        snprintf(name, sizeof name, "%s (inferred)", hardware->name);
        device.facts.name = ta_slice_of(name);
    }
    if (device.facts.name.len)
        ta_builder_add_device(r->builder, device.facts.name);
    ta_builder_describe_device(r->builder, &device.facts);
    return true;
}

void chrome_take_fact(struct reading *r, struct ta_slice key, const struct ta_token *value)
{
    int64_t number;
    if (ta_slice_equal(key, TA_LIT("distributedInfo")))
        ta_json_members(r->json, value, each_distributed, r);
    else if (ta_slice_equal(key, TA_LIT("deviceProperties")))
        ta_json_elements(r->json, value, each_device, r);
    else if (ta_slice_equal(key, TA_LIT("baseTimeNanoseconds")) &&
             take_number(r, value, TA_RANGE_TIME_NS, &number))
        ta_builder_set(r->builder, TA_SAYS_BASE_NS, number);
    else if (ta_slice_equal(key, TA_LIT("viztracer_metadata")))
        ta_json_members(r->json, value, each_viztracer, r);
    else if (is_setting(key))
        take_setting(r, key, value);
}

/* Whether writers of traces alone have a member of this name. */
static bool is_of_traces(struct ta_slice key)
{
    static const char *const keys[] = {
        "schemaVersion",       "deviceProperties",   "distributedInfo", "displayTimeUnit",
        "baseTimeNanoseconds", "viztracer_metadata", "traceName"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ta_slice_equal(key, ta_slice_of(keys[i])))
            return true;
    return false;
}

void chrome_take_member(struct reading *r)
{
    const struct ta_member *member = &r->json->member;
    const struct ta_slice key = ta_json_text(r->json, &member->key);
    r->is_like_trace |= is_of_traces(key);
    if (ta_slice_equal(key, TA_LIT(TA_MERGE_MEMBER)))
        chrome_take_merge(r, &member->value);
    else if (ta_slice_starts(key, TA_MERGE_TRACE))
        chrome_take_merged(r, ta_slice_from(key, sizeof TA_MERGE_TRACE - 1), &member->value);
    else
        chrome_take_fact(r, key, &member->value);
}
