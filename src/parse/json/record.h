/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One record: an object whose wanted members become tokens. */
#ifndef TA_PARSE_RECORD_H
#define TA_PARSE_RECORD_H

#include "parse/json/scan.h"

enum { KEY_BUCKETS = 256, NO_KEY = 255 };

/* Finds a wanted key by length and outer characters; the key that followed last time is tried
 * first, since writers repeat themselves. */
struct key_set {
    struct ta_slice key[TA_RECORD_ARGS];
    size_t n;
    uint8_t bucket[KEY_BUCKETS]; /* first key with this hash, or NO_KEY */
    uint8_t next[TA_RECORD_ARGS];
};

struct record_keys {
    const struct ta_record_schema *schema;
    struct key_set fields, nested;
    struct ta_slice array, other_array; /* an absent one has no address */
};

void record_keys_init(struct record_keys *keys, const struct ta_record_schema *schema);

/* Position of a key in its set, or NO_KEY. */
uint8_t record_find_key(const struct key_set *set, const struct ta_token *key);

/* Whether a key names an array of records. */
bool record_is_array(const struct record_keys *keys, const struct ta_token *key);

/* Moves over the separator and the next key to its value; at the closing brace the key is
 * TA_TOKEN_ABSENT and the cursor stays on the brace. */
enum scan_result record_scan_key(struct scan *scan, bool first, struct ta_token *key);

/* Forgets values of the record before: of the fields and nested keys in these sets. */
static inline void record_drop(struct ta_record *record, unsigned fields, uint64_t nested)
{
    for (; fields; fields &= fields - 1)
        record->field[__builtin_ctz(fields)].type = TA_TOKEN_ABSENT;
    for (; nested; nested &= nested - 1)
        record->nested[__builtin_ctzll(nested)].type = TA_TOKEN_ABSENT;
}

static inline void record_clear_nested(struct ta_record *record)
{
    record_drop(record, 0, record->has_nested);
    record->has_nested = 0;
}

/* Scans the object at the cursor into tokens.  SCAN_DOCUMENT when it holds the array of records,
 * so it is no record but a document. */
enum scan_result record_scan(const struct record_keys *keys, struct scan *scan,
                             struct ta_record *record);

/* Room that record_decode() may need. */
size_t record_text_max(size_t length, size_t limit);

/* Decodes escapes and repairs UTF-8; unknown escapes stay as written.  Cut at a code point when
 * longer than `limit`. */
struct ta_slice record_decode(struct ta_slice raw, size_t limit, char *out);

#endif
