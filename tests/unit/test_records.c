/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over documents, members and records: every state, every kind of damage, every border
 * between two blocks. */
#include "traceanalyze/document.h"

#include "parse/json/record.h"
#include "read/reader.h"
#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>

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

/* ---- small texts, every state ------------------------------------------------------------- */

/* In both texts ' stands for " and ^hh for the byte hh. */
struct example {
    const char *text, *expected;
};

static void decode(const char *from, struct text *out)
{
    for (; *from; from++) {
        char byte = *from == '\'' ? '"' : *from;
        if (*from == '^') {
            byte = (char)strtoul((const char[]){from[1], from[2], 0}, NULL, 16);
            from += 2;
        }
        text_put(out, &byte, 1);
    }
}

static const struct example whole[] = {
    {"", "| | skipped=0 no-document no-array"},
    {" ", "| | skipped=0 no-document no-array"},
    {"{}", "| | skipped=0 no-array"},
    {"[]", "| | skipped=0"},
    {"{'traceEvents':[]}", "| | skipped=0"},
    {" [ ] ", "| | skipped=0"},
    {"{'a':1,'traceEvents':[{'ph':'X','name':'a','ts':1},{'ph':'M'}],'z':{'b':[1,2]}}",
     "M1 a=n1; R22-50 ph=sX name=sa ts=n1; R51-61 ph=sM; M63 z=o{'b':[1,2]}; | | skipped=0"},
    {"[{'ph':'X'}]", "R1-11 ph=sX; | | skipped=0"},
    {"[{'ph':'X'},{'name':'no mark'}]", "R1-11 ph=sX; R12-30 name=sno mark; | | skipped=0"},
    {"{'traceEvents':{'ph':'X'}}", "M1 traceEvents=o{'ph':'X'}; | | skipped=0 no-array"},
    {"{'other':[{'ph':'X'}]}", "M1 other=a[{'ph':'X'}]; | | skipped=0 no-array"},
    {"{'traceEvents':[{'ph':'X'}],'traceEvents':[{'ph':'Y'}]}",
     "R16-26 ph=sX; R43-53 ph=sY; | | skipped=0"},
    {"[{'ph':true,'name':false,'ts':null,'args':[1]}]",
     "R1-46 ph=Ttrue name=Ffalse ts=Nnull args=a[1]; | | skipped=0"},
    {"{'k\\u0061':'v\\n','traceEvents':[]}", "M1 ka=sv<0a>; | | skipped=0"},
};

static const struct example cut[] = {
    {"[", "| unterminated-array@1 | skipped=0"},
    {"[{'ph':'X'},{'ph':'Y'}", "R1-11 ph=sX; R12-22 ph=sY; | unterminated-array@22 | skipped=0"},
    {"[{'ph':'X'},", "R1-11 ph=sX; | unterminated-array@12 | skipped=0"},
    {"[{'ph':'X'", "D; | truncated@1 | skipped=9 truncated"},
    {"{", "| truncated@1 | skipped=0 truncated no-array"},
    {"{'a", "| truncated@1 | skipped=2 truncated no-array"},
    {"{'a':1", "| truncated@1 | skipped=5 truncated no-array"},
    {"{'a':1,", "M1 a=n1; | truncated@1 | skipped=6 truncated no-array"},
    {"{'traceEvents'", "| truncated@1 | skipped=13 truncated no-array"},
    {"{'traceEvents':", "| truncated@1 | skipped=14 truncated no-array"},
    {"{'traceEvents':[", "| truncated@16 | skipped=0 truncated"},
    {"{'traceEvents':[{", "D; | truncated@16 | skipped=1 truncated"},
    {"{'traceEvents':[{'ph", "D; | truncated@16 | skipped=4 truncated"},
    {"{'traceEvents':[{'ph'", "D; | truncated@16 | skipped=5 truncated"},
    {"{'traceEvents':[{'ph':", "D; | truncated@16 | skipped=6 truncated"},
    {"{'traceEvents':[{'ph':'X", "D; | truncated@16 | skipped=8 truncated"},
    {"{'traceEvents':[{'ph':'X'", "D; | truncated@16 | skipped=9 truncated"},
    {"{'traceEvents':[{'ph':'X','ts':1", "D; | truncated@16 | skipped=16 truncated"},
    {"{'traceEvents':[{'ph':'X','ts':-", "D; | truncated@16 | skipped=16 truncated"},
    {"{'traceEvents':[{'ph':'X','ts':1.", "D; | truncated@16 | skipped=17 truncated"},
    {"{'traceEvents':[{'ph':'X','ts':nul", "D; | truncated@16 | skipped=18 truncated"},
    {"{'traceEvents':[{'ph':'X','ts':Na", "D; | truncated@16 | skipped=17 truncated"},
    {"{'traceEvents':[{'ph':'X','name':'\\", "D; | truncated@16 | skipped=19 truncated"},
    {"{'traceEvents':[{'ph':'X','name':'\\u12", "D; | truncated@16 | skipped=22 truncated"},
    {"{'traceEvents':[{'ph':'X','name':'\\ud83d\\ud", "D; | truncated@16 | skipped=27 truncated"},
    {"{'traceEvents':[{'ph':'X','name':'^c3", "D; | truncated@16 | skipped=19 truncated"},
    {"{'traceEvents':[{'ph':'X','args':{'a':[1,{'b':2}",
     "D; | truncated@16 | skipped=32 truncated"},
    {"{'traceEvents':[{'ph':'X'}", "R16-26 ph=sX; | truncated@26 | skipped=0 truncated"},
    {"{'traceEvents':[{'ph':'X'},", "R16-26 ph=sX; | truncated@26 | skipped=1 truncated"},
    {"{'traceEvents':[{'ph':'X'},{'ph':'Y'}",
     "R16-26 ph=sX; R27-37 ph=sY; | truncated@37 | skipped=0 truncated"},
    {"{'traceEvents':[{'ph':'X'}]", "R16-26 ph=sX; | truncated@26 | skipped=1 truncated"},
    {"{'traceEvents':[{'ph':'X'}],", "R16-26 ph=sX; | truncated@26 | skipped=2 truncated"},
    {"{'traceEvents':[{'ph':'X'}],'a':", "R16-26 ph=sX; | truncated@26 | skipped=6 truncated"},
    {"{'traceEvents':[{'ph':'X'}],'a':1,",
     "R16-26 ph=sX; M28 a=n1; | truncated@26 | skipped=8 truncated"},
    {"{'traceEvents':[{'ph':'X'}],'a':{'b':1}",
     "R16-26 ph=sX; M28 a=o{'b':1}; | truncated@26 | skipped=13 truncated"},
    {"{'traceEvents':[{'ph':'X'}, tru", "R16-26 ph=sX; D; | truncated@26 | skipped=5 truncated"},
};

static const struct example lines[] = {
    {"{'ph':'X','ts':1}^0a{'ph':'Y','ts':2}^0a",
     "R0-17 ph=sX ts=n1; R18-35 ph=sY ts=n2; | multiple-documents@18 | skipped=0"},
    {"{'name':'n','ph':'X'}^0d^0a{'ph':'Y'}",
     "R0-21 ph=sX name=sn; R23-33 ph=sY; | multiple-documents@23 | skipped=0"},
    {"{'ph':'X'}{'ph':'Y'}", "R0-10 ph=sX; R10-20 ph=sY; | multiple-documents@10 | skipped=0"},
    {"{'ph':'X'}^0a{'name':'no mark'}^0a{'meta':1}^0a{}^0a{'ph':'Z'}",
     "R0-10 ph=sX; R11-29 name=sno mark; M31 meta=n1; R44-54 ph=sZ; | multiple-documents@11*4..44 "
     "| skipped=0"},
    {"{'meta':1}^0a{'ph':'Z'}", "M1 meta=n1; R11-21 ph=sZ; | multiple-documents@11 | skipped=0"},
    {"{'ph':'X'}^0a{'ph':'Y'",
     "R0-10 ph=sX; D; | truncated@10 multiple-documents@11 | skipped=10 truncated"},
    {"{'ph':'X'}^0a{'name':'b','ph'",
     "R0-10 ph=sX; M12 name=sb; D; | truncated@10 multiple-documents@11 | skipped=17 truncated"},
    {"{'ph':'X'}^0a{'na",
     "R0-10 ph=sX; D; | truncated@10 multiple-documents@11 | skipped=5 truncated"},
    {"{'ph':'X'}^0a{",
     "R0-10 ph=sX; D; | truncated@10 multiple-documents@11 | skipped=2 truncated"},
    {"{'ph':'X','name':'a'b'}^0a{'ph':'Y'}^0a{'ph':'Z' 5}^0a{'ph':'W'}",
     "D; R24-34 ph=sY; D; R48-58 ph=sW; | multiple-documents@24*3..48 syntax@20*2..45 | "
     "skipped=37"},
    {"{'ph':'X'}^0a{'name' 5,'ph':'Y'}^0a{'ph':'Z'}",
     "R0-10 ph=sX; D; R31-41 ph=sZ; | multiple-documents@11*2..31 syntax@19 | skipped=19"},
    {"{'name':'a\\q','ph':'X'}", "R0-23! ph=sX name=sa\\q; | text-escape@10 | skipped=0"},
};

static const struct example documents[] = {
    {"[{'ph':'X'}][{'ph':'Y'}]", "R1-11 ph=sX; R13-23 ph=sY; | multiple-documents@12 | skipped=0"},
    {"{'traceEvents':[{'ph':'X'}]}{'traceEvents':[{'ph':'Y'}],'a':1}",
     "R16-26 ph=sX; R44-54 ph=sY; M56 a=n1; | multiple-documents@28 | skipped=0"},
    {"{'traceEvents':[{'ph':'X'}]}^0a{'ph':'Y'}^0a{'ph'",
     "R16-26 ph=sX; R29-39 ph=sY; D; | truncated@39 multiple-documents@29*2..40 | skipped=6 "
     "truncated"},
    {"{'traceEvents':[{'ph':'X'},{'traceEvents':[{'ph':'Y'}]}",
     "R16-26 ph=sX; R43-53 ph=sY; | truncated@26 multiple-documents@27 | skipped=0 truncated"},
    {"{'traceEvents':[{'ph':'X'},{'a':1,'traceEvents':[{'ph':'Y'}]}",
     "R16-26 ph=sX; M28 a=n1; R49-59 ph=sY; | truncated@26 multiple-documents@27 | skipped=0 "
     "truncated"},
    {"{'traceEvents':[{'ph':'X'}],'a':1}{'traceEvents':[",
     "R16-26 ph=sX; M28 a=n1; | truncated@50 multiple-documents@34 | skipped=0 truncated"},
    {"[{'ph':'X'}] {'a':",
     "R1-11 ph=sX; | truncated@11 multiple-documents@13 | skipped=7 truncated"},
    {"{'traceEvents':[{'ph':'X'}]} done [5] end", "R16-26 ph=sX; | trailing-text@29 | skipped=12"},
    {"{'traceEvents':[{'ph':'X'}]}^00^00", "R16-26 ph=sX; | trailing-text@28 | skipped=2"},
    {"^00^00{'traceEvents':[{'ph':'X'}]}", "R18-28 ph=sX; | trailing-text@0 | skipped=2"},
    {"text {'traceEvents':[{'ph':'X'}]}", "R21-31 ph=sX; | trailing-text@0 | skipped=5"},
    {"5", "| trailing-text@0 | skipped=1 no-document no-array"},
    {"'x'", "| trailing-text@0 | skipped=3 no-document no-array"},
    {"{'traceEvents':[{'ph':'X'},{'ph' 5,{'traceEvents':[{'ph':'Y'}]}",
     "R16-26 ph=sX; D; R51-61 ph=sY; | multiple-documents@35 syntax@33 | skipped=8"},
};

static const struct example commas[] = {
    {"[,{'ph':'X'},,{'ph':'Y'}{'ph':'Z'},]",
     "R2-12 ph=sX; R14-24 ph=sY; R24-34 ph=sZ; | comma@1*4..35 | skipped=0"},
    {"[,]", "| comma@1*2..2 | skipped=0"},
    {"{,'a':1,,'traceEvents':[],}", "M2 a=n1; | comma@1*2..26 | skipped=0"},
    {"[{'ph':'X',,'ts':1,}]", "R1-20! ph=sX ts=n1; | comma@11 | skipped=0"},
    {"[{,'ph':'X'}]", "R1-12! ph=sX; | comma@2 | skipped=0"},
    {"[{'ph':'X','args':{,'correlation':1,}}]",
     "R1-38! ph=sX args=o{,'correlation':1,} c=n1; | comma@19 | skipped=0"},
    {"[{'ph':'X','args':{'a':[,1,,2,]}}]",
     "R1-33! ph=sX args=o{'a':[,1,,2,]}; | comma@24 | skipped=0"},
    {"[{'ph':'X','ts':1,,'name':'a',,'args':{}},{'ph':'Y',,'ts':2}]",
     "R1-41! ph=sX name=sa ts=n1 args=o{}; R42-60! ph=sY ts=n2; | comma@18*2..52 | skipped=0"},
};

static const struct example comments[] = {
    {"[{'ph':'X'}, // c^0a{'ph':'Y'} /* d */, {'ph'/*e*/:'Z'}]",
     "R1-11 ph=sX; R18-28 ph=sY; R38-53! ph=sZ; | comment@13*3..43 | skipped=0"},
    {"/* a */{'traceEvents'://^0a[{'ph':'X'}]}", "R26-36 ph=sX; | comment@0 | skipped=0"},
    {"[{'ph':'X'}] // end", "R1-11 ph=sX; | comment@13 | skipped=0"},
    {"[{'ph':'X'}] /* end", "R1-11 ph=sX; | comment@13 | skipped=0"},
    {"[{'ph':'X'}, // end", "R1-11 ph=sX; | unterminated-array@19 comment@13 | skipped=0"},
    {"{'traceEvents':[{'ph':'X'}, /* open",
     "R16-26 ph=sX; | truncated@26 comment@28 | skipped=9 truncated"},
    {"{'traceEvents':[{'ph':'X'}, /",
     "R16-26 ph=sX; | truncated@26 comment@28 | skipped=3 truncated"},
    {"[{'ph':'X'}, /x {'ph':'Y'}]", "R1-11 ph=sX; D; R16-26 ph=sY; | syntax@13 | skipped=3"},
    {"[{'ph':'X','name':'// no /* comment'}]", "R1-37 ph=sX name=s// no /* comment; | | skipped=0"},
    {"[{'ph':'X'/", "D; | truncated@1 | skipped=10 truncated"},
    {"// only", "| comment@0 | skipped=0 no-document no-array"},
};

static const struct example texts[] = {
    {"[{'p\\u0068':'X','n\\u0061me':'a\\n\\u00e9\\ud83d\\udd25\\'\\\\\\/\\b\\f\\r\\t'}]",
     "R1-66 ph=sX name=sa<0a>\u00e9\U0001f525'\\/<08><0c><0d><09>; | | skipped=0"},
    {"[{'ph':'X','args':{'b\\'c':7,'c\\u006frrelation':5}}]",
     "R1-50 ph=sX args=o{'b\\'c':7,'c\\u006frrelation':5} c=n5 b=n7; | | skipped=0"},
    {"[{'ph':'X','name':'a^01b^09'}]",
     "R1-25! ph=sX name=sa<01>b<09>; | text-control@20 | skipped=0"},
    {"[{'ph':'X','name':'a^00b'}]", "R1-24! ph=sX name=sa\ufffdb; | text-encoding@20 | skipped=0"},
    {"[{'ph':'X','name':'C:\\new\\x'}]",
     "R1-29! ph=sX name=sC:<0a>ew\\x; | text-escape@25 | skipped=0"},
    {"[{'ph':'X','name':'\\u12x \\u12'}]",
     "R1-31! ph=sX name=s\\u12x \\u12; | text-escape@19 | skipped=0"},
    {"[{'ph':'X','name':'\\ud800z\\udc00 \\ud800\\ud800\\udc00'}]",
     "R1-53! ph=sX name=s\ufffdz\ufffd \ufffd\U00010000; | text-encoding@19 | skipped=0"},
    {"[{'ph':'X','name':'^ff^c3^e6^bc^22}]",
     "R1-25! ph=sX name=s\ufffd\ufffd\ufffd\ufffd; | text-encoding@19 | skipped=0"},
    {"[{'ph':'X','name':'^ed^a0^80^c0^80^f4^90^80^80'}]",
     "R1-30! ph=sX name=s\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd; | "
     "text-encoding@19 | skipped=0"},
    {"[{'ph':'X','name':'a\\'},{'ph':'Y'}]", "D; R24-34 ph=sY; | syntax@26 | skipped=23"},
};

static const struct example duplicates[] = {
    {"[{'ph':'X','ph':'Y'}]", "R1-20 ph=sY; | duplicate-key@12 | skipped=0"},
    {"[{'ph':'X','args':{'c':1},'args':{'b\\'c':2}}]",
     "R1-44 ph=sX args=o{'b\\'c':2} b=n2; | duplicate-key@27 | skipped=0"},
    {"[{'ph':'X','args':{'correlation':5},'args':5}]",
     "R1-45 ph=sX args=n5; | duplicate-key@37 | skipped=0"},
    {"[{'ph':'X','args':5,'args':{'correlation':5}}]",
     "R1-45 ph=sX args=o{'correlation':5} c=n5; | duplicate-key@21 | skipped=0"},
    {"[{'ph':'X','args':{'correlation':1,'correlation':2}}]",
     "R1-52 ph=sX args=o{'correlation':1,'correlation':2} c=n2; | duplicate-key@36 | skipped=0"},
};

static const struct example numbers[] = {
    {"[{'ph':'X','ts':NaN},{'ph':'X','ts':-Infinity},{'ph':'X','ts':N/"
     "A},{'ph':'X','ts':inf},{'ph':'X','ts':-nan}]",
     "R1-20! ph=sX ts=?NaN; R21-46! ph=sX ts=?-Infinity; R47-66! ph=sX ts=?N/A; R67-86! ph=sX "
     "ts=?inf; R87-107! ph=sX ts=?-nan; | bad-number@16*5..102 | skipped=0"},
    {"[{'ph':'X','ts':-0.5e+10},{'ph':'X','ts':1E5}]",
     "R1-25 ph=sX ts=n-0.5e+10; R26-45 ph=sX ts=n1E5; | | skipped=0"},
    {"[{'ph':'X','ts':nanx},{'ph':'Y'}]", "D; R22-32 ph=sY; | syntax@16 | skipped=21"},
    {"[{'ph':'X','ts':0.-05},{'ph':'Y'}]", "D; R23-33 ph=sY; | syntax@18 | skipped=22"},
    {"[{'ph':'X','ts':12,5},{'ph':'Y'}]", "D; R22-32 ph=sY; | syntax@19 | skipped=21"},
    {"[{'ph':'X','ts':01},{'ph':'Y'}]", "D; R20-30 ph=sY; | syntax@16 | skipped=19"},
    {"[{'ph':'X','ts':1.},{'ph':'Y'}]", "D; R20-30 ph=sY; | syntax@18 | skipped=19"},
    {"[{'ph':'X','ts':.5},{'ph':'Y'}]", "D; R20-30 ph=sY; | syntax@16 | skipped=19"},
    {"[{'ph':'X','ts':1e},{'ph':'Y'}]", "D; R20-30 ph=sY; | syntax@18 | skipped=19"},
    {"[{'ph':'X','ts':+1},{'ph':'Y'}]", "D; R20-30 ph=sY; | syntax@16 | skipped=19"},
    {"[{'ph':'X','ts':1x},{'ph':'Y'}]", "D; R20-30 ph=sY; | syntax@17 | skipped=19"},
    {"[{'ph':'X','ts':truee},{'ph':'Y'}]", "D; R23-33 ph=sY; | syntax@16 | skipped=22"},
};

static const struct example damage[] = {
    {"[{'ph':'X','ts':},{'ph':'Y'}]", "D; R18-28 ph=sY; | syntax@16 | skipped=17"},
    {"[{'ph':'X','ts' 1},{'ph':'Y'}]", "D; R19-29 ph=sY; | syntax@16 | skipped=18"},
    {"[{'ph':'X' 'ts':1},{'ph':'Y'}]", "D; R19-29 ph=sY; | syntax@11 | skipped=18"},
    {"[{'ph':'X',ts:1},{'ph':'Y'}]", "D; R17-27 ph=sY; | syntax@11 | skipped=16"},
    {"[{'ph':'X','name':'a'b','ts':1},{'ph':'Y'}]", "D; R32-42 ph=sY; | syntax@21 | skipped=31"},
    {"[{'ph':'X','name':'a,'ts':1},{'ph':'Y'}]", "D; R29-39 ph=sY; | syntax@22 | skipped=28"},
    {"[{'ph':'X'{'ph':'Y'}]", "D; R10-20 ph=sY; | syntax@10 | skipped=9"},
    {"[{'ph':'X'}}{'ph':'Y'}]", "R1-11 ph=sX; D; R12-22 ph=sY; | syntax@11 | skipped=1"},
    {"[{'ph':'X','args':{'a':[1}},{'ph':'Y'}]", "D; R28-38 ph=sY; | syntax@25 | skipped=27"},
    {"[{'ph':'X','args':{'a':1]},{'ph':'Y'}]", "D; R27-37 ph=sY; | syntax@24 | skipped=26"},
    {"[{'ph':'X'},5,'s',null,[1,{'ph':'no'}],{},{'ph':'Y'}]",
     "R1-11 ph=sX; D; D; D; D; R39-41; R42-52 ph=sY; | not-an-event@12*4..23 | skipped=23"},
    {"[{'ph':'X'},5 6,{'ph':'Y'}]", "R1-11 ph=sX; D; R16-26 ph=sY; | syntax@14 | skipped=4"},
    {"[{'ph':'X'},'ph':'Z'},{'ph':'Y'}]", "R1-11 ph=sX; D; R22-32 ph=sY; | syntax@16 | skipped=10"},
    {"[{'ph':'X'},^00{'ph':'Y'}]", "R1-11 ph=sX; D; R13-23 ph=sY; | syntax@12 | skipped=1"},
    {"[[{'ph':'X'}],{'ph':'Y'}]", "D; R14-24 ph=sY; | not-an-event@1 | skipped=12"},
    {"[{'ph':'X','args':{'a':{'ph':'inner'}}},{'ph' 'Y'},{'ph':'Z'}]",
     "R1-39 ph=sX args=o{'a':{'ph':'inner'}}; D; R51-61 ph=sZ; | syntax@46 | skipped=11"},
    {"{'traceEvents':[{'ph':'X'}, oops", "R16-26 ph=sX; D; | syntax@28 | skipped=4"},
    {"{'traceEvents':[{'ph':'X'}, oops]}", "R16-26 ph=sX; D; | syntax@28 | skipped=6"},
    {"{'a':oops,'traceEvents':[{'ph':'X'}]}", "R25-35 ph=sX; | syntax@5 | skipped=24"},
    {"{'a':1 'traceEvents':[{'ph':'X'}]}", "M1 a=n1; R22-32 ph=sX; | syntax@7 | skipped=16"},
    {"{'traceEvents':[{'ph':'X'}],'a':oops,'rank':3}", "R16-26 ph=sX; | syntax@32 | skipped=19"},
    {"{'traceEvents':[{'ph':'X'}],'rank':}", "R16-26 ph=sX; | syntax@35 | skipped=9"},
    {"{'traceEvents':[{'ph':'X'} {'ph':'Y'}]}",
     "R16-26 ph=sX; R27-37 ph=sY; | comma@27 | skipped=0"},
    {"{'traceEvents':[{'ph':'X'}}", "R16-26 ph=sX; D; | syntax@26 | skipped=1"},
    {"{'traceEvents':[{'ph':'X'}]]", "R16-26 ph=sX; | syntax@27 | skipped=1"},
    {"{'traceEvents' [{'ph':'X'}]}", "R16-26 ph=sX; | syntax@15 | skipped=15"},
    {"{traceEvents:[{'ph':'X'}]}", "R14-24 ph=sX; | syntax@1 | skipped=13"},
};

/* The same items and findings, whatever the reader hands out at a time. */
static void check_examples(const struct example *examples, size_t n)
{
    static const size_t chunks[] = {0, 1, 2, 3, 7};
    for (size_t i = 0; i < n; i++) {
        struct text in = {0}, expected = {0};
        text_put(&in, "", 0);
        decode(examples[i].text, &in);
        decode(examples[i].expected, &expected);
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
            struct text out = {0};
            fixture_chunk = chunks[c];
            walk(in.at, in.n, &out);
            fixture_chunk = 0;
            if (strcmp(out.at, expected.at) != 0)
                fail_msg("%s\n  by %zu: %s\n  not:  %s", examples[i].text, chunks[c], out.at,
                         expected.at);
            text_free(&out);
        }
        text_free(&in);
        text_free(&expected);
    }
}

#define EXAMPLES(name)                                                                             \
    static void name##_as_expected(void **state)                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        check_examples(name, sizeof name / sizeof *name);                                          \
    }

EXAMPLES(whole)
EXAMPLES(cut)
EXAMPLES(lines)
EXAMPLES(documents)
EXAMPLES(commas)
EXAMPLES(comments)
EXAMPLES(texts)
EXAMPLES(duplicates)
EXAMPLES(numbers)
EXAMPLES(damage)

/* ---- large texts: borders between blocks ---------------------------------------------------- */

/* The record number `i`, of a length that wanders, so that borders fall on every part of it. */
static void add_numbered(struct text *out, size_t i)
{
    text_add(out, "{%s\"ph\":\"X\",\"name\":\"%.*s\",\"args\":{\"x\":[{}],\"correlation\":%zu}}",
             i % 3 ? "" : "\"pid\": 7, ", (int)(i * 7 % 61),
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", i);
}

struct numbered {
    struct ta_json *json;
    struct ta_reader *reader;
    struct ta_quality quality;
    size_t members, dropped;
};

static void open_numbered(struct numbered *n, const struct text *text)
{
    *n = (struct numbered){.members = 0};
    ta_quality_init(&n->quality);
    n->reader = ta_reader_open(&fixture.ctx, NULL, fixture_memory(text->at, text->n), &n->quality);
    assert_non_null(n->reader);
    n->json = ta_json_new(&fixture.ctx, n->reader, &schema);
    assert_non_null(n->json);
}

/* The next record; NULL at the end. */
static const struct ta_record *next_numbered(struct numbered *n)
{
    enum ta_json_item item;
    for (;;) {
        assert_int_equal(ta_json_next(&fixture.ctx, n->json, &item), TA_OK);
        if (item == TA_JSON_RECORD)
            return &n->json->record;
        if (item == TA_JSON_END)
            return NULL;
        n->members += item == TA_JSON_MEMBER;
        n->dropped += item == TA_JSON_DROPPED;
    }
}

static void close_numbered(struct numbered *n)
{
    ta_json_free(n->json);
    ta_reader_close(n->reader);
    ta_quality_free(&n->quality);
}

static void assert_numbered(const struct ta_record *record, size_t i, size_t start, size_t end)
{
    int64_t number = -1;
    assert_non_null(record);
    assert_true(ta_token_integer(&record->nested[0], &number));
    assert_int_equal(number, i);
    assert_int_equal(record->offset, start);
    assert_int_equal(record->end, end);
    assert_false(record->repaired);
}

/* Several times the window: as an array, and one per line. */
static void records_across_blocks(void **state)
{
    (void)state;
    enum { N = 30000 };
    size_t *ends = malloc(N * sizeof *ends), *starts = malloc(N * sizeof *starts);
    assert_non_null(ends);
    assert_non_null(starts);
    for (int by_line = 0; by_line < 2; by_line++) {
        struct text text = {0};
        text_add(&text, by_line ? "" : "{\"traceEvents\": [");
        for (size_t i = 0; i < N; i++) {
            text_add(&text, !i ? "" : by_line ? "\n" : ",\n  ");
            starts[i] = text.n;
            add_numbered(&text, i);
            ends[i] = text.n;
        }
        text_add(&text, by_line ? "\n" : "]}");
        struct numbered n;
        open_numbered(&n, &text);
        for (size_t i = 0; i < N; i++)
            assert_numbered(next_numbered(&n), i, starts[i], ends[i]);
        assert_null(next_numbered(&n));
        assert_int_equal(n.members + n.dropped, 0);
        assert_finding(&n.quality, TA_Q_MULTIPLE_DOCUMENTS, by_line ? N - 1 : 0, starts[1]);
        assert_no_finding_but(&n.quality, TA_Q_MULTIPLE_DOCUMENTS);
        close_numbered(&n);
        text_free(&text);
    }
    free(ends);
    free(starts);
}

/* Events larger than any block, and than what an attempt to resume looks at. */
static void large_events_are_kept(void **state)
{
    (void)state;
    enum { SIZE = 5000000 };
    for (int by_line = 0; by_line < 2; by_line++) {
        struct text text = {0};
        text_add(&text, "%s{\"ph\":\"X\"}%s", by_line ? "" : "[", by_line ? "\n" : ",");
        const size_t start = text.n;
        text_add(&text, "{\"ph\":\"X\",\"args\":{\"correlation\":1,\"x\":[\"");
        while (text.n < SIZE)
            text_add(&text, "0123456789 {\\\"}] ");
        text_add(&text, "\"]},\"name\":\"large\"}");
        const size_t end = text.n;
        text_add(&text, "%s{\"ph\":\"X\"}%s", by_line ? "\n" : ",", by_line ? "" : "]");
        struct numbered n;
        open_numbered(&n, &text);
        assert_non_null(next_numbered(&n));
        const struct ta_record *large = next_numbered(&n);
        assert_numbered(large, 1, start, end);
        assert_true(ta_slice_equal(ta_json_text(n.json, &large->field[NAME]), TA_LIT("large")));
        assert_int_equal(large->field[ARGS].type, TA_TOKEN_OBJECT);
        assert_non_null(next_numbered(&n));
        assert_null(next_numbered(&n));
        assert_int_equal(n.dropped, 0);
        assert_no_finding_but(&n.quality, TA_Q_MULTIPLE_DOCUMENTS);
        close_numbered(&n);
        text_free(&text);
    }
}

/* A block border on every byte around a record: padding moves the text along. */
static void a_border_on_every_byte(void **state)
{
    (void)state;
    enum { BLOCK = 512 * 1024 };
    for (size_t shift = 0; shift < 200; shift++) {
        struct text text = {0};
        struct numbered n;
        text_add(&text, "{\"traceEvents\": [");
        text_put(&text, text.at, 0);
        while (text.n < BLOCK - shift)
            text_put(&text, "                ",
                     BLOCK - shift - text.n < 16 ? BLOCK - shift - text.n : 16);
        size_t starts[2], ends[2];
        for (size_t i = 0; i < 2; i++) {
            text_add(&text, i ? "," : "");
            starts[i] = text.n;
            text_add(&text,
                     "{\"ph\":\"X\",\"name\":\"a\\ud83d\\udd25\\n\u00e9\",\"args\":{\"y\":-1.5e3,"
                     "\"correlation\":%zu},\"ts\":null}",
                     i);
            ends[i] = text.n;
        }
        text_add(&text, "], \"distributedInfo\": {\"rank\": 3}}");
        open_numbered(&n, &text);
        for (size_t i = 0; i < 2; i++) {
            const struct ta_record *record = next_numbered(&n);
            assert_numbered(record, i, starts[i], ends[i]);
            assert_true(ta_slice_equal(ta_json_text(n.json, &record->field[NAME]),
                                       TA_LIT("a\U0001f525\n\u00e9")));
        }
        assert_null(next_numbered(&n));
        assert_int_equal(n.members, 1);
        assert_no_finding(&n.quality);
        close_numbered(&n);
        text_free(&text);
    }
}

/* ---- the learned layout --------------------------------------------------------------------- */

static const char *pick(struct rng *rng, const char *const *from, size_t n)
{
    return from[rng_below(rng, n)];
}

#define PICK(rng, ...)                                                                             \
    pick((rng), (const char *const[]){__VA_ARGS__},                                                \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void add_args(struct text *out, struct rng *rng)
{
    text_add(out, "{");
    const size_t n = rng_below(rng, 4);
    for (size_t i = 0; i < n; i++)
        text_add(out, "%s\"%s\"%s%s", i ? PICK(rng, ",", ", ", ",\n ", ",,") : "",
                 PICK(rng, "correlation", "b\\\"c", "other", "correlatio\\u006e", "ph"),
                 PICK(rng, ":", ": ", " : "),
                 PICK(rng, "5", "-17.25", "\"text\"", "\"a\\nb\"", "[1, {\"ph\": 2}]", "{}", "null",
                      "NaN", "\"\xff\"", "\"a quote \\\" and more\""));
    text_add(out, "}");
}

/* A record in one of the ways in which writers write them, now and then an odd one. */
static void add_odd_record(struct text *out, struct rng *rng, size_t style)
{
    static const char *const befores[] = {"{", "{ ", "{\n    ", "{\t"};
    static const char *const betweens[] = {",", ", ", ",\n    ", ",\r\n\t"};
    static const char *const colons[] = {":", ": ", ": ", "\t:"};
    const bool odd = rng_below(rng, 20) == 0;
    text_add(out, "%s", befores[style]);
    const size_t n = 1 + rng_below(rng, odd ? 7 : 5);
    for (size_t i = 0; i < n; i++) {
        if (i)
            text_add(out, "%s", odd ? PICK(rng, ",,", " ,", ", /* c */", ",") : betweens[style]);
        static const char *const keys[] = {"ph", "name", "args", "ts", "else", "pid", "extra"};
        char rare[16]; /* more keys than the layout remembers */
        snprintf(rare, sizeof rare, "key%d", (int)rng_below(rng, 400));
        const size_t k = odd ? rng_below(rng, 8) : (i + style) % 7;
        const char *key = k < 7 ? keys[k] : rare;
        text_add(out, "\"%s\"%s", key, colons[style]);
        if (strcmp(key, "args") == 0 && rng_below(rng, 6))
            add_args(out, rng);
        else
            text_add(out, "%s",
                     PICK(rng, "1", "1700000000123456.789", "\"X\"", "\"cudaLaunchKernel\"", "null",
                          "true", "{\"a\": {\"b\": []}}", "[]", "\"tab\\t\"", "\"\u00e9\"",
                          "-0.5e3", "inf", "\"a\\qb\"", "\"raw \x01\""));
    }
    text_add(out, style == 2 ? "\n  }" : "}");
}

/* What record_scan() alone makes of it. */
struct scanned {
    struct ta_record record;
    uint32_t notes;
    size_t note_at[NOTE_COUNT]; /* in the record */
    size_t length;
};

static void scan_alone(const struct record_keys *keys, const char *text, size_t size,
                       struct scanned *out)
{
    uint64_t stack[32];
    struct scan scan = {.p = text,
                        .end = text + size,
                        .string_limit = 1000,
                        .number_limit = 1000,
                        .stack = stack,
                        .stack_limit = 1024};
    assert_int_equal(record_scan(keys, &scan, &out->record), SCAN_OK);
    out->notes = scan.notes;
    for (int i = 0; i < NOTE_COUNT; i++)
        if (scan.notes & 1u << i)
            out->note_at[i] = (size_t)(scan.note_place[i] - text);
    out->length = (size_t)(scan.p - text);
}

static void assert_same_token(const struct ta_token *a, const struct ta_token *b)
{
    assert_int_equal(a->type, b->type);
    if (a->type == TA_TOKEN_ABSENT)
        return;
    assert_int_equal(a->len, b->len);
    assert_int_equal(a->plain, b->plain);
    assert_memory_equal(a->ptr, b->ptr, a->len);
}

static void the_learned_layout_changes_nothing(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct record_keys keys;
    record_keys_init(&keys, &schema);
    size_t *starts = malloc((N + 1) * sizeof *starts);
    assert_non_null(starts);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct rng rng = {seed};
        struct text text = {0};
        struct ta_quality expected;
        ta_quality_init(&expected);
        text_add(&text, "[");
        for (size_t i = 0; i < N; i++) {
            text_add(&text, i ? ",\n" : "");
            starts[i] = text.n;
            add_odd_record(&text, &rng, seed < 5 ? seed - 1 : rng_below(&rng, 4));
        }
        text_add(&text, "]");
        struct numbered n;
        open_numbered(&n, &text);
        for (size_t i = 0; i < N; i++) {
            struct scanned alone = {0};
            const struct ta_record *record = next_numbered(&n);
            assert_non_null(record);
            assert_int_equal(record->offset, starts[i]);
            scan_alone(&keys, text.at + starts[i], text.n - starts[i], &alone);
            assert_int_equal(record->end - record->offset, alone.length);
            for (size_t f = 0; f <= ARGS; f++)
                assert_same_token(&record->field[f], &alone.record.field[f]);
            for (size_t k = 0; k < 2; k++)
                assert_same_token(&record->nested[k], &alone.record.nested[k]);
            for (int note = 0; note < NOTE_COUNT; note++)
                if (alone.notes & 1u << note)
                    ta_quality_add(&expected, scan_note_codes[note],
                                   starts[i] + alone.note_at[note], NULL);
        }
        assert_null(next_numbered(&n));
        for (int code = 0; code < TA_Q_COUNT; code++) {
            const struct ta_quality_slot *a = &n.quality.slots[code], *b = &expected.slots[code];
            if (a->count != b->count || (a->count && (a->first != b->first || a->last != b->last)))
                fail_msg("seed %d: %s is %" PRIu64 " times at %" PRIu64 "..%" PRIu64
                         ", not %" PRIu64 " times at %" PRIu64 "..%" PRIu64,
                         (int)seed, ta_quality_name((enum ta_quality_code)code), a->count, a->first,
                         a->last, b->count, b->first, b->last);
        }
        close_numbered(&n);
        ta_quality_free(&expected);
        text_free(&text);
    }
    free(starts);
}

/* A key that led to a scalar leads to an object now. */
static void null_arguments_hide_no_others(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "[");
    for (int i = 0; i < 200; i++)
        text_add(&text, "%s{\"ph\": \"X\", \"name\": \"a name\", \"args\": %s, \"ts\": 1}",
                 i ? ",\n" : "", i % 2 ? "{\"correlation\": 12}" : "null");
    text_add(&text, "]");
    struct numbered n;
    open_numbered(&n, &text);
    for (int i = 0; i < 200; i++) {
        const struct ta_record *record = next_numbered(&n);
        int64_t value = 0;
        assert_non_null(record);
        assert_int_equal(ta_token_integer(&record->nested[0], &value), i % 2);
        assert_int_equal(value, i % 2 ? 12 : 0);
    }
    close_numbered(&n);
    text_free(&text);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Walks with one limit changed. */
static void walk_limited(enum ta_limit limit, uint64_t value, const struct text *in,
                         const char *expected)
{
    struct text out = {0}, wanted = {0};
    const uint64_t before = fixture.shared.limits[limit];
    fixture.shared.limits[limit] = value;
    walk(in->at, in->n, &out);
    fixture.shared.limits[limit] = before;
    decode(expected, &wanted);
    assert_string_equal(out.at, wanted.at);
    text_free(&out);
    text_free(&wanted);
}

static void limit_text(enum ta_limit limit, uint64_t value, const char *text, const char *expected)
{
    struct text in = {0};
    decode(text, &in);
    walk_limited(limit, value, &in, expected);
    text_free(&in);
}

static void the_limit_of_strings(void **state)
{
    (void)state;
    limit_text(TA_LIMIT_STRING, 8, "[{'ph':'X','name':'12345678'}]",
               "R1-29 ph=sX name=s12345678; | | skipped=0");
    limit_text(TA_LIMIT_STRING, 8, "[{'ph':'X','name':'123456789'}]",
               "R1-30! ph=sX name=s12345678; | too-long@19 | skipped=0");
    /* Cut between two code points, never within one. */
    limit_text(TA_LIMIT_STRING, 8, "[{'ph':'X','name':'1234567\u00e9'}]",
               "R1-30! ph=sX name=s1234567; | too-long@19 | skipped=0");
    limit_text(TA_LIMIT_STRING, 8, "[{'ph':'X','name':'123456\\u00e9\\u00e9'}]",
               "R1-39! ph=sX name=s123456\u00e9; | too-long@19 | skipped=0");
}

static void the_limit_of_numbers(void **state)
{
    (void)state;
    limit_text(TA_LIMIT_NUMBER, 4, "[{'ph':'X','ts':1234},{'ph':'X','ts':12.5e}]",
               "R1-21 ph=sX ts=n1234; D; | syntax@42 | skipped=22");
    limit_text(TA_LIMIT_NUMBER, 4, "[{'ph':'X','ts':1234},{'ph':'X','ts':12345}]",
               "R1-21 ph=sX ts=n1234; R22-43! ph=sX ts=?12345; | bad-number@37 | skipped=0");
}

static void the_limit_of_depth(void **state)
{
    (void)state;
    limit_text(TA_LIMIT_DEPTH, 3, "[{'ph':'X','args':{'a':[[[1]]]}}]",
               "R1-32 ph=sX args=o{'a':[[[1]]]}; | | skipped=0");
    limit_text(TA_LIMIT_DEPTH, 3, "[{'ph':'X','args':{'a':[[[[']',1]]]]}},{'ph':'Y'}]",
               "R1-38! ph=sX args=o{'a':[[[[']',1]]]]}; R39-49 ph=sY; | too-deep@26 | skipped=0");
    struct text in = {0};
    text_add(&in, "[{\"ph\":\"X\",\"name\":");
    for (int i = 0; i < 100000; i++)
        text_add(&in, i % 2 ? "[" : "{\"a\":");
    text_add(&in, "1");
    for (int i = 100000; i-- > 0;)
        text_add(&in, i % 2 ? "]" : "}");
    text_add(&in, "}]");
    struct text out = {0};
    walk(in.at, in.n, &out);
    assert_non_null(strstr(out.at, " | skipped=0"));
    assert_non_null(strstr(out.at, "too-deep@"));
    assert_null(strstr(out.at, "D;"));
    text_free(&out);
    text_free(&in);
}

/* An event too large is dropped whole, whether the window could hold it or not. */
static void the_limit_of_events(void **state)
{
    (void)state;
    limit_text(TA_LIMIT_EVENT, 20, "[{'ph':'X'},{'ph':'Y','name':'12'},{'ph':'Z'}]",
               "R1-11 ph=sX; D; R35-45 ph=sZ; | limit@12 | skipped=22");
    limit_text(TA_LIMIT_EVENT, 20, "{'ph':'X'}^0a{'ph':'Y','name':'12'}^0a{'ph':'Z'}",
               "R0-10 ph=sX; D; R34-44 ph=sZ; | multiple-documents@11*2..34 limit@11 | skipped=22");
    struct text in = {0};
    text_add(&in, "[{\"ph\":\"X\"},{\"ph\":\"Y\",\"args\":{\"x\":\"}");
    for (int i = 0; i < 400000; i++)
        text_put(&in, "\\\\ {[\\\"", 7);
    text_add(&in, "\"}},{\"ph\":\"Z\"}]");
    char expected[128];
    snprintf(expected, sizeof expected, "R1-11 ph=sX; D; R%zu-%zu ph=sZ; | limit@12 | skipped=%zu",
             in.n - 11, in.n - 1, in.n - 12 - 12);
    walk_limited(TA_LIMIT_EVENT, 1000, &in, expected);
    /* The same, and the input ends in it. */
    in.n -= 20;
    snprintf(expected, sizeof expected,
             "R1-11 ph=sX; D; | truncated@11 limit@12 | skipped=%zu truncated", in.n - 11);
    walk_limited(TA_LIMIT_EVENT, 1000, &in, expected);
    text_free(&in);
}

static void a_large_member_is_passed_over(void **state)
{
    (void)state;
    for (int scalar = 0; scalar < 2; scalar++) {
        struct text in = {0};
        text_add(&in, "{\"large\":%s", scalar ? "\"" : "[[\"");
        for (int i = 0; i < 600000; i++)
            text_put(&in, "ab]}\\\"", 6);
        text_add(&in, scalar ? "\"" : "\"]]");
        text_add(&in, ",\"a\":1,\"traceEvents\":[{\"ph\":\"X\"}]}");
        char expected[128];
        snprintf(expected, sizeof expected, "M%zu a=n1; R%zu-%zu ph=sX; | | skipped=0", in.n - 33,
                 in.n - 12, in.n - 2);
        walk_limited(TA_LIMIT_EVENT, 1000, &in, expected);
        in.n -= 40; /* the input ends in it */
        snprintf(expected, sizeof expected, "| truncated@1 | skipped=%zu truncated no-array",
                 in.n - 1);
        walk_limited(TA_LIMIT_EVENT, 1000, &in, expected);
        text_free(&in);
    }
}

/* ---- hostile texts --------------------------------------------------------------------------- */

/* Looking for a place to go on may not cost the square of the input. */
static void endless_beginnings(void **state)
{
    (void)state;
    static const char *const pieces[] = {"{", "{\"ph\":", "{\"ph\":[", "{\"a\":\"", "[{", "{}x"};
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        struct text in = {0}, out = {0};
        text_add(&in, "{\"traceEvents\":[{\"ph\":\"X\"},?");
        while (in.n < 400000)
            text_add(&in, "%s", pieces[p]);
        walk(in.at, in.n, &out);
        assert_int_equal(strncmp(out.at, "R16-26 ph=sX; D; |", 18), 0);
        assert_non_null(strstr(out.at, " syntax@27"));
        text_free(&in);
        text_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_as_expected),
        cmocka_unit_test(cut_as_expected),
        cmocka_unit_test(lines_as_expected),
        cmocka_unit_test(documents_as_expected),
        cmocka_unit_test(commas_as_expected),
        cmocka_unit_test(comments_as_expected),
        cmocka_unit_test(texts_as_expected),
        cmocka_unit_test(duplicates_as_expected),
        cmocka_unit_test(numbers_as_expected),
        cmocka_unit_test(damage_as_expected),
        cmocka_unit_test(records_across_blocks),
        cmocka_unit_test(large_events_are_kept),
        cmocka_unit_test(a_border_on_every_byte),
        cmocka_unit_test(the_learned_layout_changes_nothing),
        cmocka_unit_test(null_arguments_hide_no_others),
        cmocka_unit_test(the_limit_of_strings),
        cmocka_unit_test(the_limit_of_numbers),
        cmocka_unit_test(the_limit_of_depth),
        cmocka_unit_test(the_limit_of_events),
        cmocka_unit_test(a_large_member_is_passed_over),
        cmocka_unit_test(endless_beginnings),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
