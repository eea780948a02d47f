/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace by jansson, event after event. */
#include "slow_reader.h"

#include "base/quality.h"
#include "model/range.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <zlib.h>

#include "model/range.h"

/* Numbers are read from their text, so jansson need not hold them. */
#define LOAD_FLAGS (JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL)
/* A member beside the events is used up to this size, and a value among them looked at. */
#define MEMBER_MAX ((size_t)1 << 20)
/* Times beyond ± 2^62 - 2^56 ns are none. */
#define TIME_END ((INT64_C(1) << 62) - (INT64_C(1) << 56))

struct cursor {
    const char *p, *end;
};

/* A member as it is written: the key with its quotes. */
struct member {
    struct ta_slice key, value;
};

struct members {
    TA_VEC(struct member) list;
};

/* A value: as written, and as jansson has it. */
struct value {
    struct ta_slice raw;
    const json_t *json;
};

struct reading_state {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct slow_reading *slow;
    struct ta_quality *quality;
    const char *start; /* of the text: offset 0 */
    struct members fields, args;
    ta_str empty;
    uint64_t kept, dropped, metadata;
    bool saw_array;
    bool split; /* the places of the events are all that is wanted */
};

/* ---- numbers ------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The exponent at `p`, which moves behind it; beyond all that matters it stays where it is. */
static bool read_exponent(const char **p, const char *end, long *exponent)
{
    const bool negative = *p < end && **p == '-';
    *exponent = 0;
    *p += *p < end && (**p == '-' || **p == '+');
    if (*p == end || !is_digit(**p))
        return false;
    for (; *p < end && is_digit(**p); (*p)++)
        if (*exponent < 100000)
            *exponent = *exponent * 10 + (**p - '0');
    if (negative)
        *exponent = -*exponent;
    return true;
}

/* The digits before and behind the point, and the exponent. */
struct parts {
    const char *whole, *point, *fraction, *stop;
    long exponent;
};

static bool split_number(const char *p, const char *end, struct parts *parts)
{
    *parts = (struct parts){.whole = p};
    while (p < end && is_digit(*p))
        p++;
    parts->point = parts->fraction = p;
    if (p < end && *p == '.')
        for (parts->fraction = ++p; p < end && is_digit(*p); p++)
            ;
    parts->stop = p;
    if (parts->whole == parts->point ||
        (parts->fraction > parts->point && parts->fraction == parts->stop))
        return false;
    if (p < end && (*p == 'e' || *p == 'E') && (p++, !read_exponent(&p, end, &parts->exponent)))
        return false;
    return p == end;
}

enum exact slow_decimal(struct ta_slice text, int shift, int64_t *value)
{
    struct parts n;
    const bool negative = text.len && *text.ptr == '-';
    const char *p = text.ptr + negative;
    if (!split_number(p, text.ptr + text.len, &n))
        return EXACT_NOT_A_NUMBER;
    /* Digit after digit up to the moved point, zeros where there are none left. */
    unsigned __int128 sum = 0;
    long left = (long)(n.point - n.whole) + n.exponent + shift;
    const bool rounds = left >= 0; /* otherwise the number is below 0.1 */
    for (; left > 0 && (p < n.stop || sum); left--) {
        p = p == n.point ? n.fraction : p;
        sum = sum * 10 + (unsigned)(p < n.stop ? *p++ - '0' : 0);
        if (sum > INT64_MAX)
            return EXACT_TOO_LARGE;
    }
    p = p == n.point ? n.fraction : p;
    sum += rounds && left == 0 && p < n.stop && *p >= '5';
    if (sum > INT64_MAX)
        return EXACT_TOO_LARGE;
    *value = negative ? -(int64_t)sum : (int64_t)sum;
    return EXACT;
}

/* A whole number as such or as a string: "12", "-3". */
static bool whole_number(struct value value, int64_t *number)
{
    struct ta_slice text = value.raw;
    if (json_is_string(value.json))
        text = (struct ta_slice){text.ptr + 1, text.len - 2};
    else if (!json_is_number(value.json))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.ptr[i]) && !(i == 0 && text.ptr[i] == '-'))
            return false;
    return slow_decimal(text, 0, number) == EXACT;
}

static json_t *load(struct ta_slice text)
{
    return json_loadb(text.ptr, text.len, LOAD_FLAGS, NULL);
}

/* ---- splitting ----------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct cursor *c)
{
    while (c->p < c->end && is_space(*c->p))
        c->p++;
}

static bool skip_string(struct cursor *c)
{
    for (c->p++; c->p < c->end && *c->p != '"'; c->p++)
        c->p += *c->p == '\\';
    if (c->p >= c->end)
        return false;
    c->p++;
    return true;
}

/* Moves over a value by quotes and brackets alone: whether it is one is for jansson to say. */
static bool skip_value(struct cursor *c, struct ta_slice *value)
{
    const char *const start = c->p;
    size_t depth = 0;
    do {
        const char at = c->p < c->end ? *c->p : '\0';
        if (at == '"') {
            if (!skip_string(c))
                return false;
        } else if (depth || at == '{' || at == '[') {
            if (c->p >= c->end)
                return false;
            depth += at == '{' || at == '[';
            depth -= at == '}' || at == ']';
            c->p++;
        } else {
            while (c->p < c->end && !is_space(*c->p) && !memchr(",:]}", *c->p, 4))
                c->p++;
        }
    } while (depth);
    *value = (struct ta_slice){start, (size_t)(c->p - start)};
    return value->len > 0;
}

/* Before an item of an array or object: the one comma that must stand there, or the end. */
static bool next_item(struct cursor *c, bool first, char close, bool *ended)
{
    skip_space(c);
    *ended = c->p < c->end && *c->p == close;
    if (*ended || first) {
        c->p += *ended;
        return c->p < c->end || *ended;
    }
    if (c->p == c->end || *c->p != ',')
        return false;
    c->p++;
    skip_space(c);
    return c->p < c->end && *c->p != close;
}

/* The next key; the cursor stops at its value. */
static bool next_key(struct cursor *c, bool first, struct ta_slice *key, bool *ended)
{
    if (!next_item(c, first, '}', ended) || *ended)
        return *ended;
    const char *const start = c->p;
    if (*c->p != '"' || !skip_string(c))
        return false;
    *key = (struct ta_slice){start, (size_t)(c->p - start)};
    skip_space(c);
    if (c->p == c->end || *c->p != ':')
        return false;
    c->p++;
    skip_space(c);
    return c->p < c->end;
}

static bool list_members(struct ta_slice object, struct members *members)
{
    struct cursor c = {object.ptr + 1, object.ptr + object.len};
    members->list.n = 0;
    for (bool first = true, ended = false;; first = false) {
        struct member m;
        if (!next_key(&c, first, &m.key, &ended))
            return false;
        if (ended)
            return true;
        if (!skip_value(&c, &m.value))
            return false;
        assert_true(ta_vec_push(&members->list, m));
    }
}

/* Whether a key, as written, spells these bytes. */
static bool key_is(struct ta_slice key, struct ta_slice wanted)
{
    const struct ta_slice raw = {key.ptr + 1, key.len - 2};
    if (!memchr(raw.ptr, '\\', raw.len))
        return ta_slice_equal(raw, wanted);
    json_t *decoded = load(key);
    const bool is =
        decoded && ta_slice_equal(wanted, (struct ta_slice){json_string_value(decoded),
                                                            json_string_length(decoded)});
    json_decref(decoded);
    return is;
}

/* The last member of this name; absent ones have neither text nor value. */
static struct value find_value(const struct members *members, const json_t *object,
                               struct ta_slice key)
{
    struct value value = {.raw = {NULL, 0}};
    for (size_t i = 0; i < members->list.n; i++)
        if (key_is(members->list.at[i].key, key))
            value.raw = members->list.at[i].value;
    value.json = json_object_get(object, key.ptr);
    assert_int_equal(value.raw.ptr != NULL, value.json != NULL);
    return value;
}

static uint64_t offset_of(const struct reading_state *st, const char *place)
{
    return (uint64_t)(place - st->start);
}

/* ---- one event ------------------------------------------------------------------------------- */

static ta_str intern(struct reading_state *st, struct value value)
{
    if (!value.json || json_is_null(value.json))
        return TA_STR_ABSENT;
    if (json_is_string(value.json))
        value.raw =
            (struct ta_slice){json_string_value(value.json), json_string_length(value.json)};
    return ta_builder_string(st->builder, value.raw);
}

static const struct ta_slice field_keys[] = {
    {"ph", 2},  {"name", 4}, {"cat", 3}, {"ts", 2},   {"dur", 3},
    {"pid", 3}, {"tid", 3},  {"id", 2},  {"args", 4},
};

enum { N_FIELDS = sizeof field_keys / sizeof *field_keys, ARGS = N_FIELDS - 1 };

/* Position of a key in a list, or -1. */
static int find_key(const struct ta_slice *keys, size_t n, struct ta_slice key)
{
    for (size_t i = 0; i < n; i++)
        if (key_is(key, keys[i]))
            return (int)i;
    return -1;
}

/* Notes a key; true when it was noted before. */
static bool is_again(uint64_t *seen, int key)
{
    const uint64_t bit = key >= 0 ? UINT64_C(1) << key : 0;
    const bool again = *seen & bit;
    *seen |= bit;
    return again;
}

static const char *repeated_arg(struct ta_slice object)
{
    struct members args = {.list = {0}};
    const char *place = NULL;
    uint64_t seen = 0;
    assert_true(list_members(object, &args));
    for (size_t i = 0; i < args.list.n && !place; i++)
        if (is_again(&seen, find_key(oracle_keys, ORACLE_KEYS, args.list.at[i].key)))
            place = args.list.at[i].key.ptr + 1;
    free(args.list.at);
    return place;
}

/* A wanted key that comes again, in the event or in its arguments, is said once per event: the
 * first one whose value has ended. */
static void note_repeated(struct reading_state *st)
{
    const char *place = NULL;
    uint64_t seen = 0;
    for (size_t i = 0; i < st->fields.list.n && !place; i++) {
        const struct member *m = &st->fields.list.at[i];
        const int key = find_key(field_keys, N_FIELDS, m->key);
        if (key == ARGS && *m->value.ptr == '{')
            place = repeated_arg(m->value);
        if (is_again(&seen, key) && !place)
            place = m->key.ptr + 1;
    }
    if (place)
        ta_quality_add(st->quality, TA_Q_DUPLICATE_KEY, offset_of(st, place), NULL);
}

static enum exact read_time(struct reading_state *st, struct value value, uint64_t offset,
                            int64_t *ns)
{
    struct ta_slice text = value.raw;
    if (json_is_string(value.json))
        text = (struct ta_slice){text.ptr + 1, text.len - 2};
    else if (!json_is_number(value.json))
        return EXACT_NOT_A_NUMBER;
    const enum exact result = slow_decimal(text, 3, ns);
    if (result == EXACT && json_is_string(value.json))
        ta_quality_add(st->quality, TA_Q_STRING_NUMBER, offset, NULL);
    return result;
}

static bool read_times(struct reading_state *st, const json_t *object, struct ta_event *event)
{
    event->has_ts = read_time(st, find_value(&st->fields, object, TA_LIT("ts")), event->offset,
                              &event->ts_ns) == EXACT &&
                    event->ts_ns < TIME_END && event->ts_ns > -TIME_END;
    if (!event->has_ts && event->phase != 'M') {
        ta_quality_add(st->quality, TA_Q_BAD_TS, event->offset, NULL);
        return false;
    }
    const enum exact dur = read_time(st, find_value(&st->fields, object, TA_LIT("dur")),
                                     event->offset, &event->dur_ns);
    event->has_dur = dur == EXACT;
    if (event->phase == 'X' && dur == EXACT_TOO_LARGE) {
        event->has_dur = true;
        event->dur_ns = INT64_MAX;
    }
    return true;
}

static bool read_phase(struct reading_state *st, const json_t *object, size_t size,
                       struct ta_event *event)
{
    const json_t *ph = json_object_get(object, "ph");
    if (json_string_length(ph) == 1 && strchr(TA_PHASES, *json_string_value(ph)) &&
        *json_string_value(ph)) {
        event->phase = *json_string_value(ph);
        return true;
    }
    if (size == 2)
        ta_quality_add_severity(st->quality, TA_Q_NOT_AN_EVENT, TA_QUALITY_INFO, event->offset,
                                TA_NO_OFFSET, NULL);
    else
        ta_quality_add(st->quality, TA_Q_UNKNOWN_PHASE, event->offset, NULL);
    return false;
}

static size_t read_args(struct reading_state *st, const json_t *args, struct ta_event_arg *out)
{
    size_t n = 0;
    for (uint8_t i = 0; i < ORACLE_KEYS; i++) {
        const struct value value = find_value(&st->args, args, oracle_keys[i]);
        if (!value.json || json_is_null(value.json))
            continue;
        out[n] = (struct ta_event_arg){.key = i};
        if (!whole_number(value, &out[n].value)) {
            out[n].is_text = true;
            out[n].value = intern(st, value);
        }
        n++;
    }
    return n;
}

static void add_counters(struct reading_state *st, const struct ta_event *event)
{
    for (size_t i = 0; i < st->args.list.n; i++) {
        const struct member *m = &st->args.list.at[i];
        json_t *number = load(m->value), *series = load(m->key);
        if (json_is_number(number))
            assert_int_equal(ta_builder_counter(st->ctx, st->builder, event,
                                                intern(st, (struct value){m->key, series}),
                                                json_number_value(number)),
                             TA_OK);
        json_decref(number);
        json_decref(series);
    }
}

/* Totals of the allocator of a device, as torch notes them down: a counter each. */
static void add_memory(struct reading_state *st, const struct ta_event *event, const json_t *args)
{
    static const struct {
        const char *key, *series;
    } totals[] = {{"Total Allocated", "allocated bytes"}, {"Total Reserved", "reserved bytes"}};
    int64_t type, device;
    char text[64];
    if (!whole_number(find_value(&st->args, args, TA_LIT("Device Id")), &device) || device < 0 ||
        (whole_number(find_value(&st->args, args, TA_LIT("Device Type")), &type) && type == 0))
        return;
    snprintf(text, sizeof text, "Memory of device %" PRId64, device);
    struct ta_event sample = *event;
    sample.name = ta_builder_string(st->builder, ta_slice_of(text));
    for (size_t i = 0; i < 2; i++) {
        const struct value total = find_value(&st->args, args, ta_slice_of(totals[i].key));
        const ta_str series = json_is_number(total.json)
                                  ? ta_builder_string(st->builder, ta_slice_of(totals[i].series))
                                  : TA_STR_ABSENT;
        if (json_is_number(total.json))
            assert_int_equal(ta_builder_counter(st->ctx, st->builder, &sample, series,
                                                json_number_value(total.json)),
                             TA_OK);
    }
}

static void add_name(struct reading_state *st, const struct ta_event *event, const json_t *kind,
                     const json_t *args)
{
    const struct value name = find_value(&st->args, args, TA_LIT("name"));
    const char *what = json_is_string(kind) ? json_string_value(kind) : "";
    enum ta_status status = TA_OK;
    if (!name.json || json_is_null(name.json)) /* a null takes no name away */
        return;
    if (strcmp(what, "process_name") == 0)
        status = ta_builder_name_process(st->ctx, st->builder, event->pid, intern(st, name));
    else if (strcmp(what, "thread_name") == 0)
        status =
            ta_builder_name_thread(st->ctx, st->builder, event->pid, event->tid, intern(st, name));
    assert_int_equal(status, TA_OK);
}

/* The number of the event goes with it as one more argument: rows are found again by it. */
static void add_event(struct reading_state *st, const json_t *object, struct ta_event *event)
{
    struct ta_event_arg args[ORACLE_KEYS + 1];
    const struct value id = find_value(&st->fields, object, TA_LIT("id"));
    const json_t *in_args = json_object_get(object, "args");
    event->name = intern(st, find_value(&st->fields, object, TA_LIT("name")));
    if (event->name == TA_STR_ABSENT && event->phase != 'E')
        event->name = st->empty;
    event->category = intern(st, find_value(&st->fields, object, TA_LIT("cat")));
    event->pid = intern(st, find_value(&st->fields, object, TA_LIT("pid")));
    event->tid = intern(st, find_value(&st->fields, object, TA_LIT("tid")));
    event->id = json_is_string(id.json)
                    ? (struct ta_slice){json_string_value(id.json), json_string_length(id.json)}
                    : id.raw;
    event->n_args = read_args(st, in_args, args);
    args[event->n_args++] =
        (struct ta_event_arg){.key = ORACLE_KEYS, .value = (int64_t)st->slow->events.n - 1};
    event->args = args;
    st->slow->events.at[st->slow->events.n - 1].ts = event->has_ts ? event->ts_ns : TA_MISSING;
    ta_builder_count(st->builder, 1, 0, 0);
    assert_int_equal(ta_builder_add(st->ctx, st->builder, event), TA_OK);
    if (event->phase == 'C')
        add_counters(st, event);
    if (event->phase == 'i' &&
        ta_slice_equal(ta_trace_text(st->builder->trace, event->name), TA_LIT("[memory]")))
        add_memory(st, event, in_args);
    if (event->phase == 'M')
        add_name(st, event, json_object_get(object, "name"), in_args);
    st->kept++;
    st->metadata += event->phase == 'M';
}

static bool take_object(struct reading_state *st, struct ta_slice raw, const json_t *object)
{
    struct ta_event event = {.offset = offset_of(st, raw.ptr)};
    assert_true(list_members(raw, &st->fields));
    /* An array of events in an event is another document, whose start was lost. */
    for (size_t i = 0; i < st->fields.list.n; i++)
        if (key_is(st->fields.list.at[i].key, TA_LIT("traceEvents")) &&
            *st->fields.list.at[i].value.ptr == '[')
            return false;
    const struct value args = find_value(&st->fields, object, TA_LIT("args"));
    st->args.list.n = 0;
    if (json_is_object(args.json))
        assert_true(list_members(args.raw, &st->args));
    note_repeated(st);
    if (read_phase(st, object, raw.len, &event) && read_times(st, object, &event)) {
        add_event(st, object, &event);
    } else {
        st->dropped++;
        ta_builder_count(st->builder, 0, 0, 1);
    }
    return true;
}

/* An element of the array of events; false when it is nothing jansson knows. */
static bool take_element(struct reading_state *st, struct ta_slice raw)
{
    const uint64_t offset = offset_of(st, raw.ptr);
    const struct slow_event where = {offset, offset + raw.len, TA_MISSING};
    json_t *json = st->split ? NULL : load(raw);
    bool done = st->split || json != NULL;
    assert_true(ta_vec_push(&st->slow->events, where));
    if (json_is_object(json)) {
        done = take_object(st, raw, json);
    } else if (json) {
        ta_quality_add(st->quality, TA_Q_NOT_AN_EVENT, where.offset, NULL);
        ta_builder_skipped(st->builder, raw.len);
        st->dropped++;
        ta_builder_count(st->builder, 0, 0, 1);
        done = raw.len <= MEMBER_MAX; /* larger ones are not read to their end */
    }
    json_decref(json);
    return done;
}

/* ---- what the file says about itself --------------------------------------------------------- */

/* A whole number within a range; a number that is none, or is beyond, is accounted for. */
static bool known_number(struct reading_state *st, struct ta_slice raw, uint64_t offset,
                         enum ta_range range, int64_t *number)
{
    json_t *json = load(raw);
    const bool is_whole = whole_number((struct value){raw, json}, number);
    const bool is_known = is_whole && ta_range_has(range, *number);
    if (!is_known && (is_whole || json_is_number(json)))
        ta_quality_add(st->quality, TA_Q_BAD_NUMBER, offset, NULL);
    json_decref(json);
    return is_known;
}

/* Rank -1 is none. */
static void take_distributed(struct reading_state *st, struct ta_slice raw, uint64_t offset)
{
    struct members members = {.list = {0}};
    int64_t number;
    if (*raw.ptr != '{')
        return;
    assert_true(list_members(raw, &members));
    for (size_t i = 0; i < members.list.n; i++) {
        const struct member *m = &members.list.at[i];
        if (ta_slice_equal(m->value, TA_LIT("-1")) || ta_slice_equal(m->value, TA_LIT("\"-1\"")))
            continue;
        if (key_is(m->key, TA_LIT("rank")) &&
            known_number(st, m->value, offset, TA_RANGE_RANK, &number))
            ta_builder_set(st->builder, TA_SAYS_RANK, number);
        if (key_is(m->key, TA_LIT("world_size")) &&
            known_number(st, m->value, offset, TA_RANGE_WORLD_SIZE, &number))
            ta_builder_set(st->builder, TA_SAYS_WORLD_SIZE, number);
    }
    free(members.list.at);
}

/* Only the name is kept; numbers of it are looked at. */
static void take_device(struct reading_state *st, struct ta_slice raw, uint64_t offset)
{
    static const struct {
        const char *key;
        enum ta_range range;
    } numbers[] = {{"id", TA_RANGE_DEVICE},
                   {"totalGlobalMem", TA_RANGE_BYTES},
                   {"numSms", TA_RANGE_UNITS},
                   {"maxThreadsPerMultiprocessor", TA_RANGE_UNITS}};
    struct members members = {.list = {0}};
    json_t *json = load(raw);
    const char *name = json_string_value(json_object_get(json, "name"));
    int64_t number;
    if (name && *name)
        ta_builder_add_device(st->builder, ta_slice_of(name));
    if (json_is_object(json))
        assert_true(list_members(raw, &members));
    for (size_t i = 0; i < members.list.n; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            if (key_is(members.list.at[i].key, ta_slice_of(numbers[k].key)))
                (void)known_number(st, members.list.at[i].value, offset, numbers[k].range, &number);
    free(members.list.at);
    json_decref(json);
}

static void take_devices(struct reading_state *st, struct ta_slice raw, uint64_t offset)
{
    struct cursor c = {raw.ptr + 1, raw.ptr + raw.len};
    if (*raw.ptr != '[')
        return;
    for (bool first = true, ended = false;; first = false) {
        struct ta_slice device;
        assert_true(next_item(&c, first, ']', &ended));
        if (ended)
            return;
        assert_true(skip_value(&c, &device));
        take_device(st, device, offset);
    }
}

static void take_member(struct reading_state *st, const struct member *m)
{
    const uint64_t offset = offset_of(st, m->key.ptr);
    int64_t number;
    if (key_is(m->key, TA_LIT("distributedInfo")))
        take_distributed(st, m->value, offset);
    else if (key_is(m->key, TA_LIT("deviceProperties")))
        take_devices(st, m->value, offset);
    else if (key_is(m->key, TA_LIT("baseTimeNanoseconds")) &&
             known_number(st, m->value, offset, TA_RANGE_TIME_NS, &number))
        ta_builder_set(st->builder, TA_SAYS_BASE_NS, number);
}

/* ---- the document --------------------------------------------------------------------------- */

static bool read_array(struct reading_state *st, struct cursor *c)
{
    st->saw_array = true;
    c->p++;
    for (bool first = true, ended = false;; first = false) {
        struct ta_slice value;
        if (!next_item(c, first, ']', &ended) || ended)
            return ended;
        if (!skip_value(c, &value) || !take_element(st, value))
            return false;
    }
}

static bool read_object(struct reading_state *st, struct cursor *c)
{
    c->p++;
    for (bool first = true, ended = false;; first = false) {
        struct member m;
        if (!next_key(c, first, &m.key, &ended) || ended)
            return ended;
        json_t *key = load(m.key);
        json_decref(key);
        if (!key)
            return false;
        if (key_is(m.key, TA_LIT("traceEvents")) && *c->p == '[') {
            if (!read_array(st, c))
                return false;
            continue;
        }
        json_t *json = skip_value(c, &m.value) ? load(m.value) : NULL;
        if (!json)
            return false;
        if (m.value.ptr + m.value.len <= m.key.ptr + MEMBER_MAX)
            take_member(st, &m);
        json_decref(json);
    }
}

enum kind { KIND_OTHER, KIND_DOCUMENT, KIND_LINES };

/* What an object at the cursor is: an event on a line of its own has a phase and no array. */
static enum kind classify(struct cursor c)
{
    bool has_phase = false;
    if (*c.p == '[')
        return KIND_DOCUMENT;
    if (*c.p++ != '{')
        return KIND_OTHER;
    for (bool first = true, ended = false;; first = false) {
        struct ta_slice key, value;
        if (!next_key(&c, first, &key, &ended))
            return KIND_OTHER;
        if (ended)
            return has_phase ? KIND_LINES : KIND_DOCUMENT;
        has_phase |= key_is(key, TA_LIT("ph"));
        if (key_is(key, TA_LIT("traceEvents")) && *c.p == '[')
            return has_phase ? KIND_OTHER : KIND_DOCUMENT;
        if (!skip_value(&c, &value))
            return KIND_OTHER;
    }
}

static bool read_lines(struct reading_state *st, struct cursor *c)
{
    st->saw_array = true;
    for (bool first = true; c->p < c->end; first = false) {
        struct ta_slice value;
        if (classify(*c) != KIND_LINES || !skip_value(c, &value))
            return false;
        if (!first)
            ta_quality_add(st->quality, TA_Q_MULTIPLE_DOCUMENTS, offset_of(st, value.ptr), NULL);
        if (!take_element(st, value))
            return false;
        skip_space(c);
    }
    return true;
}

static bool read_text(struct reading_state *st, struct cursor *c)
{
    skip_space(c);
    /* JSON has no NUL, but jansson takes one behind a number. */
    if (c->p == c->end || memchr(c->p, '\0', (size_t)(c->end - c->p)))
        return false;
    const enum kind kind = classify(*c);
    if (kind == KIND_LINES)
        return read_lines(st, c);
    if (kind == KIND_OTHER || !(*c->p == '[' ? read_array(st, c) : read_object(st, c)))
        return false;
    skip_space(c);
    return c->p == c->end;
}

/* A text without any event is an empty trace, or none. */
static enum ta_status judge(struct reading_state *st)
{
    if (st->kept == 0 && (st->dropped || !st->saw_array))
        return TA_ERR_INPUT;
    if (st->kept == st->metadata && !st->dropped)
        ta_quality_add(st->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, NULL);
    return TA_OK;
}

static void read_all(struct fixture *f, const char *text, size_t size, bool split,
                     struct slow_reading *slow)
{
    struct ta_ctx ctx;
    struct ta_builder builder;
    struct ta_slice keys[ORACLE_KEYS + 1];
    memcpy(keys, oracle_keys, sizeof oracle_keys);
    keys[ORACLE_KEYS] = TA_LIT("#event");
    ta_ctx_init(&ctx, &f->shared);
    *slow = (struct slow_reading){.accepted = false};
    ta_quality_init(&slow->outcome.quality);
    assert_true(ta_builder_init(&builder, &slow->outcome.quality, f->plan.needs, keys,
                                ORACLE_KEYS + 1, (size_t)ta_ctx_limit(&ctx, TA_LIMIT_NAMES)));
    const size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct reading_state st = {.ctx = &ctx,
                               .builder = &builder,
                               .slow = slow,
                               .quality = &slow->outcome.quality,
                               .start = text + mark,
                               .split = split,
                               .empty = ta_builder_string(&builder, TA_LIT(""))};
    slow->accepted = read_text(&st, &(struct cursor){text + mark, text + size});
    if (slow->accepted && !split)
        outcome_take(&ctx, &builder, judge(&st), &slow->outcome);
    ta_builder_free(&builder);
    free(st.fields.list.at);
    free(st.args.list.at);
}

void slow_read(struct fixture *f, const char *text, size_t size, struct slow_reading *slow)
{
    read_all(f, text, size, false, slow);
}

void slow_split(struct fixture *f, const char *text, size_t size, struct slow_reading *slow)
{
    read_all(f, text, size, true, slow);
}

void slow_free(struct slow_reading *slow)
{
    outcome_free(&slow->outcome);
    free(slow->events.at);
    slow->events.at = NULL;
}

size_t slow_event_of(const struct slow_reading *slow, ta_row row)
{
    const struct ta_args args = ta_trace_args(slow->outcome.trace, "#event");
    int64_t event = 0;
    assert_true(ta_args_find(&args, row, &event));
    return (size_t)event;
}

char *slow_inflate(const char *path, size_t *size)
{
    struct text text = {0};
    gzFile file = gzopen(path, "r");
    if (!file)
        return NULL;
    char block[65536];
    int got;
    text_put(&text, "", 0);
    while ((got = gzread(file, block, sizeof block)) > 0)
        text_put(&text, block, (size_t)got);
    gzclose(file);
    *size = text.n;
    return text.at;
}
