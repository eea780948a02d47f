/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as records, by the learned layout in every instruction set, with an order expected and
 * without one: whatever it takes, the grammar takes just so. */
#include "support.h"

#include "parse/json/cpu.h"
#include "parse/json/layout.h"

enum { PH, NAME, TS, DUR, PID, ARGS, FIELDS };

static const struct ta_slice wanted[] = {{"correlation", 11}, {"stream", 6}, {"device", 6}};
enum { NESTED = sizeof wanted / sizeof *wanted, LONGEST = 16384 };

static const struct ta_record_schema schema = {
    .array = "traceEvents",
    .mark = PH,
    .field = {"ph", "name", "ts", "dur", "pid", "args"},
    .nested = ARGS,
    .nested_keys = wanted,
    .n_nested_keys = NESTED,
};

/* What is learned goes from input to input, as it goes from file to file. */
struct reading {
    struct layout layout;
    struct ta_record record;
    bool ready;
};

static void check_token(const struct ta_token *a, const struct ta_token *b)
{
    FUZZ_CHECK(a->type == b->type);
    FUZZ_CHECK(a->type == TA_TOKEN_ABSENT ||
               (a->ptr == b->ptr && a->len == b->len && a->plain == b->plain));
}

/* Returns where to go on. */
static const char *check_record(struct reading *r, const struct record_keys *keys,
                                const struct scan *at)
{
    static struct ta_record expected;
    struct scan scan = *at, plain = *at;
    const enum scan_result result = r->layout.scan(&r->layout, keys, &scan, &r->record);
    layout_on(&r->layout); /* counts, and judges */
    if (result == SCAN_BAD)
        return at->p + 1;
    FUZZ_CHECK(record_scan(keys, &plain, &expected) == result);
    if (result == SCAN_MORE)
        return at->p + 1;
    FUZZ_CHECK(scan.p == plain.p && scan.notes == plain.notes);
    FUZZ_CHECK(r->record.has_field == expected.has_field);
    FUZZ_CHECK(r->record.has_nested == expected.has_nested);
    for (int i = 0; i < FIELDS; i++)
        check_token(&r->record.field[i], &expected.field[i]);
    for (int i = 0; i < NESTED; i++)
        check_token(&r->record.nested[i], &expected.nested[i]);
    return scan.p;
}

static void check_all(struct reading *r, const struct record_keys *keys, const char *text,
                      size_t size, bool in_order)
{
    uint64_t stack[4];
    struct scan scan = {.p = text,
                        .end = text + size,
                        .string_limit = 200,
                        .number_limit = 100,
                        .stack = stack,
                        .stack_limit = 200};
    while ((scan.p = memchr(scan.p, '{', (size_t)(scan.end - scan.p)))) {
        r->layout.unordered = !in_order;
        scan.notes = 0;
        scan.p = check_record(r, keys, &scan);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const cpus[] = {"avx2", "sse2", "scalar"};
    static struct reading readings[3][2];
    struct record_keys keys;
    /* Mostly where the one before was, as a window is filled anew; what lies behind is not ours. */
    static char window[LONGEST + TA_PADDING];
    size = size < LONGEST ? size : LONGEST;
    char *const text = window + LONGEST - size;
    memcpy(text, data, size);
    record_keys_init(&keys, &schema);
    for (int cpu = 0; cpu < 3; cpu++) {
        for (int in_order = 0; in_order < 2 && ta_cpu_has(cpus[cpu]); in_order++) {
            struct reading *const r = &readings[cpu][in_order];
            if (!r->ready)
                FUZZ_CHECK(layout_init(&r->layout, cpus[cpu], 100));
            r->ready = true;
            check_all(r, &keys, text, size, in_order);
        }
    }
    return 0;
}
