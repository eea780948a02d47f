/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over documents, members and records: every state, every kind of damage, every border
 * between two blocks. */
#include "traceanalyze/json.h"

#include "read/reader.h"
#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>

static struct fixture fixture;

/* ---- a reading as one line ---------------------------------------------------------------- */

enum { PH, NAME, TS, ARGS };

static const struct ta_slice nested_keys[] = {{"correlation", 11}, {"b\"c", 3}};

static const struct ta_record_schema schema = {
    .array = "traceEvents",
    .mark = PH,
    .field = {[PH] = "ph", [NAME] = "name", [TS] = "ts", [ARGS] = "args"},
    .nested = ARGS,
    .nested_keys = nested_keys,
    .n_nested_keys = 2,
};

/* Type of a token as one letter, and its text. */
static void put_token(struct text *out, struct ta_json *json, const char *label,
                      const struct ta_token *token)
{
    static const char letters[] = "-snTFN?oa";
    if (token->type == TA_TOKEN_ABSENT)
        return;
    const struct ta_slice text = ta_json_text(json, token);
    text_add(out, " %s=%c", label, letters[token->type]);
    for (size_t i = 0; i < text.len && i < 40; i++)
        text_add(out, (unsigned char)text.ptr[i] < 0x20 ? "<%02x>" : "%c", text.ptr[i]);
}

static void put_record(struct text *out, struct ta_json *json)
{
    const struct ta_record *r = &json->record;
    text_add(out, "R%" PRIu64 "-%" PRIu64 "%s", r->offset, r->end, r->repaired ? "!" : "");
    put_token(out, json, "ph", &r->field[PH]);
    put_token(out, json, "name", &r->field[NAME]);
    put_token(out, json, "ts", &r->field[TS]);
    put_token(out, json, "args", &r->field[ARGS]);
    put_token(out, json, "c", &r->nested[0]);
    put_token(out, json, "b", &r->nested[1]);
}

static void put_findings(struct text *out, const struct ta_quality *quality)
{
    for (int code = 0; code < TA_Q_COUNT; code++) {
        const struct ta_quality_slot *slot = &quality->slots[code];
        if (!slot->count)
            continue;
        text_add(out, " %s@%" PRIu64, ta_quality_name((enum ta_quality_code)code), slot->first);
        if (slot->count > 1)
            text_add(out, "*%" PRIu64 "..%" PRIu64, slot->count, slot->last);
    }
}

/* All items and findings: "R0-9 ph=sX; M12 rank=n3; D; | comma@10 | skipped=7 truncated". */
static void walk(const void *bytes, size_t size, struct text *out)
{
    struct ta_quality quality;
    ta_quality_init(&quality);
    struct ta_reader *reader =
        ta_reader_open(&fixture.ctx, NULL, fixture_memory(bytes, size), &quality);
    assert_non_null(reader);
    struct ta_json *json = ta_json_new(&fixture.ctx, reader, &schema);
    assert_non_null(json);
    for (enum ta_json_item item = TA_JSON_DROPPED; item != TA_JSON_END;) {
        assert_int_equal(ta_json_next(&fixture.ctx, json, &item), TA_OK);
        if (item == TA_JSON_RECORD) {
            put_record(out, json);
            text_add(out, "; ");
        } else if (item == TA_JSON_MEMBER) {
            text_add(out, "M%" PRIu64, json->member.offset);
            struct ta_token key = json->member.key;
            char label[64];
            const struct ta_slice text = ta_json_text(json, &key);
            snprintf(label, sizeof label, "%.*s", (int)text.len, text.ptr);
            put_token(out, json, label, &json->member.value);
            text_add(out, "; ");
        } else if (item == TA_JSON_DROPPED) {
            text_add(out, "D; ");
        }
    }
    text_add(out, "|");
    put_findings(out, &quality);
    text_add(out, " | skipped=%" PRIu64 "%s%s%s", json->bytes_skipped,
             json->truncated ? " truncated" : "", json->saw_document ? "" : " no-document",
             json->saw_array ? "" : " no-array");
    ta_json_free(json);
    ta_reader_close(reader);
    ta_quality_free(&quality);
}

static int open_fixture(void **state)
{
    (void)state;
    fixture_open(&fixture);
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    fixture_close(&fixture);
    return 0;
}

#ifdef EXPLORE
int main(int argc, char **argv)
{
    open_fixture(NULL);
    for (int i = 1; i < argc; i++) {
        struct text in = {0}, out = {0};
        for (const char *p = argv[i]; *p; p++)
            if (*p == '^') { char c = (char)strtol((char[]){p[1], p[2], 0}, NULL, 16); text_put(&in, &c, 1); p += 2; }
            else text_put(&in, p, 1);
        walk(in.at, in.n, &out);
        printf("%s\n    %s\n", argv[i], out.at);
    }
    close_fixture(NULL);
    return 0;
}
#endif
