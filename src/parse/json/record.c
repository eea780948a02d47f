/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One record: an object whose wanted members become tokens, and the decoding of its strings. */
#include "parse/json/record.h"

#include "base/utf8.h"

/* ---- wanted keys ------------------------------------------------------------------------- */

static inline uint8_t hash_key(const char *key, size_t length)
{
    if (length == 0)
        return 0;
    return (uint8_t)((unsigned char)key[0] * 31u + (unsigned char)key[length - 1] * 7u +
                     (unsigned)length);
}

static void key_set_add(struct key_set *set, struct ta_slice key)
{
    const uint8_t at = (uint8_t)set->n++;
    const uint8_t hash = hash_key(key.ptr, key.len);
    set->key[at] = key;
    set->next[at] = set->bucket[hash];
    set->bucket[hash] = at;
}

void record_keys_init(struct record_keys *keys, const struct ta_record_schema *schema)
{
    *keys = (struct record_keys){.schema = schema,
                                 .array = ta_slice_of(schema->array),
                                 .other_array = ta_slice_of(schema->other_array)};
    memset(keys->fields.bucket, NO_KEY, sizeof keys->fields.bucket);
    memset(keys->nested.bucket, NO_KEY, sizeof keys->nested.bucket);
    for (size_t i = 0; i < TA_RECORD_FIELDS && schema->field[i]; i++)
        key_set_add(&keys->fields, ta_slice_of(schema->field[i]));
    for (size_t i = 0; i < TA_RECORD_ARGS && i < schema->n_nested_keys; i++)
        key_set_add(&keys->nested, schema->nested_keys[i]);
}

static inline uint8_t find_raw(const struct key_set *set, const char *key, size_t length)
{
    uint8_t at = set->bucket[hash_key(key, length)];
    while (at != NO_KEY &&
           (set->key[at].len != length || memcmp(set->key[at].ptr, key, length) != 0))
        at = set->next[at];
    return at;
}

/* Keys may be written with escapes; the wanted ones are short. */
uint8_t record_find_key(const struct key_set *set, const struct ta_token *key)
{
    if (key->plain)
        return find_raw(set, key->ptr, key->len);
    char text[512];
    if (key->len > sizeof text / 6)
        return NO_KEY;
    struct ta_slice decoded =
        record_decode((struct ta_slice){key->ptr, key->len}, sizeof text, text);
    return find_raw(set, decoded.ptr, decoded.len);
}

bool record_is_array(const struct record_keys *keys, const struct ta_token *key)
{
    char text[512];
    struct ta_slice name = {key->ptr, key->len};
    if (!key->plain && name.len <= sizeof text / 6)
        name = record_decode(name, sizeof text, text);
    return ta_slice_equal(keys->array, name) ||
           (keys->other_array.ptr && ta_slice_equal(keys->other_array, name));
}

/* ---- the object -------------------------------------------------------------------------- */

enum scan_result record_scan_key(struct scan *scan, bool first, struct ta_token *key)
{
    enum scan_result result = scan_separator(scan, first, '}');
    key->type = TA_TOKEN_ABSENT;
    if (result != SCAN_OK || *scan->p == '}')
        return result;
    if (*scan->p != '"')
        return SCAN_BAD;
    if ((result = scan_string(scan, key)) != SCAN_OK)
        return result;
    return scan_colon(scan);
}

static void store(struct scan *scan, struct ta_token *slot, const struct ta_token *value,
                  const struct ta_token *key)
{
    if (slot->type != TA_TOKEN_ABSENT)
        scan_note(scan, NOTE_DUPLICATE, key->ptr);
    *slot = *value;
}

/* The members of the nested object, such as "args". */
static enum scan_result scan_members(const struct key_set *wanted, struct scan *scan,
                                     struct ta_record *record)
{
    scan->p++;
    for (bool first = true;; first = false) {
        struct ta_token key, value;
        enum scan_result result = record_scan_key(scan, first, &key);
        if (result != SCAN_OK)
            return result;
        if (key.type == TA_TOKEN_ABSENT) {
            scan->p++;
            return SCAN_OK;
        }
        if ((result = scan_value(scan, &value)) != SCAN_OK)
            return result;
        const uint8_t at = record_find_key(wanted, &key);
        if (at != NO_KEY) {
            store(scan, &record->nested[at], &value, &key);
            record->has_nested |= UINT64_C(1) << at;
        }
    }
}

enum scan_result record_scan(const struct record_keys *keys, struct scan *scan,
                             struct ta_record *record)
{
    record_drop(record, record->has_field, record->has_nested);
    record->has_field = 0;
    record->has_nested = 0;
    scan->p++;
    for (bool first = true;; first = false) {
        struct ta_token key, value;
        enum scan_result result = record_scan_key(scan, first, &key);
        if (result != SCAN_OK)
            return result;
        if (key.type == TA_TOKEN_ABSENT) {
            scan->p++;
            return SCAN_OK;
        }
        const uint8_t at = record_find_key(&keys->fields, &key);
        const char *const start = scan->p;
        if (at == keys->schema->nested && record->field[at].type != TA_TOKEN_ABSENT)
            record_clear_nested(record); /* the last one wins */
        if (at == keys->schema->nested && *start == '{') {
            result = scan_members(&keys->nested, scan, record);
            value = (struct ta_token){start, (uint32_t)(scan->p - start), TA_TOKEN_OBJECT, 1, 0, 0};
        } else {
            if (at == NO_KEY && *start == '[' && record_is_array(keys, &key))
                return SCAN_DOCUMENT;
            result = scan_value(scan, &value);
        }
        if (result != SCAN_OK)
            return result;
        if (at != NO_KEY) {
            store(scan, &record->field[at], &value, &key);
            record->has_field |= (uint16_t)(1 << at);
        }
    }
}

/* ---- text -------------------------------------------------------------------------------- */

size_t record_text_max(size_t length, size_t limit)
{
    /* A bad byte becomes the three of U+FFFD. */
    return (length < limit ? length : limit) * 3 + 16;
}

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static bool is_hex4(const char *p, const char *end)
{
    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++)
        if (!(p[i] >= '0' && p[i] <= '9') && !((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'f'))
            return false;
    return true;
}

static uint32_t hex4(const char *p)
{
    return (uint32_t)(hex(p[0]) << 12 | hex(p[1]) << 8 | hex(p[2]) << 4 | hex(p[3]));
}

/* A \u escape, with its second half when it is a surrogate.  Returns the bytes consumed. */
static size_t decode_unicode(const char *p, const char *end, char **out)
{
    uint32_t code = hex4(p + 2);
    size_t used = 6;
    if (code >= 0xd800 && code <= 0xdbff && end - p >= 12 && p[6] == '\\' && p[7] == 'u' &&
        is_hex4(p + 8, end)) {
        uint32_t low = hex4(p + 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            used = 12;
        }
    }
    if (code >= 0xd800 && code <= 0xdfff)
        code = 0xfffd;
    *out += ta_utf8_encode(code, *out);
    return used;
}

static size_t decode_escape(const char *p, const char *end, char **out)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (end - p >= 2 && p[1] == 'u' && is_hex4(p + 2, end))
        return decode_unicode(p, end, out);
    const char *known = end - p >= 2 && p[1] ? strchr(letters, p[1]) : NULL;
    if (!known) {
        *(*out)++ = '\\';
        return 1;
    }
    *(*out)++ = values[known - letters];
    return 2;
}

struct ta_slice record_decode(struct ta_slice raw, size_t limit, char *out)
{
    char *const start = out, *before = out; /* the last code point */
    const char *p = raw.ptr, *const end = p + raw.len;
    while (p < end && (size_t)(out - start) < limit) {
        before = out;
        if (*p == '\\') {
            p += decode_escape(p, end, &out);
            continue;
        }
        size_t length = *p ? ta_utf8_length(p, (size_t)(end - p)) : 0;
        if (length == 0) {
            out += ta_utf8_encode(0xfffd, out);
            p++;
        } else {
            memcpy(out, p, length);
            out += length;
            p += length;
        }
    }
    if ((size_t)(out - start) > limit)
        out = before;
    return (struct ta_slice){start, (size_t)(out - start)};
}
