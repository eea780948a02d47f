/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chrome trace event JSON as Kineto, VizTracer, Ascend and Chrome itself write it: object form,
 * bare arrays, one event per line; CUDA, ROCm and MTIA; schemas since 2021. */
#include "chrome_json.h"

#include "base/quality.h"
#include "model/says.h"
#include "parse/json/values.h"

#include <traceanalyze/plugin.h>

#include <inttypes.h>

/* ---- recognizing ------------------------------------------------------------------------- */

static bool holds(struct ta_slice text, const char *what)
{
    return memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

static int sniff(const struct ta_probe *probe)
{
    struct ta_slice head = probe->head;
    while (head.len && strchr(" \t\r\n", head.ptr[0])) {
        head.ptr++;
        head.len--;
    }
    if (head.len == 0) /* white space as far as one can see */
        return probe->whole ? 0 : 20;
    if (head.ptr[0] == '{')
        return holds(head, "\"traceEvents\"") ? 90 : holds(head, "\"ph\"") ? 80 : 40;
    if (head.ptr[0] == '[')
        return holds(head, "\"ph\"") ? 80 : 40;
    /* An array whose first writer put a comma before every line, or a comment. */
    if (head.ptr[0] == '/' || head.ptr[0] == ',')
        return holds(head, "\"ph\"") ? 60 : 0;
    return 0;
}

/* ---- one event --------------------------------------------------------------------------- */

__attribute__((noinline)) static ta_str intern(struct reading *r, const struct ta_token *token)
{
    if (token->type == TA_TOKEN_ABSENT || token->type == TA_TOKEN_NULL)
        return TA_STR_ABSENT;
    const ta_str id =
        ta_builder_string(r->builder, token->plain ? (struct ta_slice){token->ptr, token->len}
                                                   : ta_json_text(r->json, token));
    if (token->type == TA_TOKEN_STRING || token->type == TA_TOKEN_NUMBER)
        r->known[token->known] = token->known ? id : TA_STR_ABSENT;
    return id;
}

static inline ta_str text_of(struct reading *r, const struct ta_token *token)
{
    /* An absent one may still have the number of the record before. */
    const ta_str known = r->known[token->known];
    return known != TA_STR_ABSENT && token->type != TA_TOKEN_ABSENT ? known : intern(r, token);
}

/* A time in µs, as a number or the text of one, to ns. */
static bool time_of(struct reading *r, const struct ta_token *token, int64_t *ns,
                    enum ta_decimal *result)
{
    *result = TA_DECIMAL_NOT_A_NUMBER;
    if (token->type != TA_TOKEN_NUMBER && token->type != TA_TOKEN_STRING)
        return false;
    *result = ta_token_decimal(token, 3, ns);
    if (*result == TA_DECIMAL_OK && token->type == TA_TOKEN_STRING)
        ta_quality_add(r->quality, TA_Q_STRING_NUMBER, r->json->record.offset,
                       "A time is written as a string, at byte offset %" PRIu64,
                       r->json->record.offset);
    return *result == TA_DECIMAL_OK;
}

static bool drop(struct reading *r, enum ta_quality_code code, const char *what)
{
    ta_quality_add(r->quality, code, r->json->record.offset, "%s, at byte offset %" PRIu64, what,
                   r->json->record.offset);
    return false;
}

static bool take_times(struct reading *r)
{
    const struct ta_record *record = &r->json->record;
    struct ta_event *event = &r->event;
    enum ta_decimal result;
    /* Stamps beyond lie before 1826 or after 2113.  With the longest span of 2^56 ns after the
     * last one, the difference of any two times fits int64. */
    static const int64_t largest = (INT64_C(1) << 62) - (INT64_C(1) << 56);
    event->has_ts = time_of(r, &record->field[TS], &event->ts_ns, &result);
    event->has_ts = event->has_ts && event->ts_ns > -largest && event->ts_ns < largest;
    if (!event->has_ts && event->phase != 'M')
        return drop(r, TA_Q_BAD_TS, "An event has no usable time stamp");
    event->has_dur = time_of(r, &record->field[DUR], &event->dur_ns, &result);
    if (event->phase == 'X' && result == TA_DECIMAL_OUT_OF_RANGE) {
        event->has_dur = true; /* the builder accounts for it */
        event->dur_ns = INT64_MAX;
    }
    return true;
}

static bool take_phase(struct reading *r)
{
    const struct ta_token *token = &r->json->record.field[PH];
    const struct ta_slice ph =
        token->plain ? (struct ta_slice){token->ptr, token->len} : ta_json_text(r->json, token);
    if (token->type == TA_TOKEN_STRING && ph.len == 1) {
        r->event.phase = ph.ptr[0];
        if (r->event.phase == 'X' || ta_is_phase(r->event.phase))
            return true;
    }
    if (r->json->record.end - r->json->record.offset == 2) {
        /* JAX ends its lists with an empty object. */
        ta_quality_add_severity(
            r->quality, TA_Q_NOT_AN_EVENT, TA_QUALITY_INFO, r->json->record.offset, TA_NO_OFFSET,
            "An empty object is among the events, at byte offset %" PRIu64, r->json->record.offset);
        return false;
    }
    return drop(r, TA_Q_UNKNOWN_PHASE, "An event has no known phase");
}

/* A number, or the text of one, that has another key than Kineto's. */
static void take_correlation(struct reading *r)
{
    const unsigned at = (unsigned)__builtin_ctzll(r->json->record.has_nested & r->is_correlation);
    const struct ta_token *token = &r->json->record.nested[at];
    struct ta_event_arg *arg = &r->args[r->event.n_args];
    *arg = (struct ta_event_arg){.key = (uint8_t)r->correlation_at};
    if (ta_token_decimal(token, 0, &arg->value) == TA_DECIMAL_OK)
        r->event.n_args++;
}

static void take_args(struct reading *r)
{
    r->event.n_args = 0;
    const uint64_t asked = r->n_keys < 64 ? (UINT64_C(1) << r->n_keys) - 1 : UINT64_MAX;
    for (uint64_t left = r->json->record.has_nested & asked; left; left &= left - 1) {
        const unsigned key = (unsigned)__builtin_ctzll(left);
        const struct ta_token *token = &r->json->record.nested[key];
        struct ta_event_arg *arg = &r->args[r->event.n_args];
        if (token->type == TA_TOKEN_NULL || token->type == TA_TOKEN_BAD)
            continue;
        *arg = (struct ta_event_arg){.key = (uint8_t)key};
        if (!ta_token_integer(token, &arg->value)) {
            arg->is_text = true;
            arg->value = text_of(r, token);
        }
        r->event.n_args++;
    }
    if (r->json->record.has_nested & r->is_correlation &&
        !(r->json->record.has_nested >> r->correlation_at & 1))
        take_correlation(r);
}

/* ---- counters and names ------------------------------------------------------------------- */

static bool each_series(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct reading *r = user;
    double number;
    if (ta_token_double(value, &number))
        r->status = ta_builder_counter(r->ctx, r->builder, &r->event, text_of(r, key), number);
    return r->status == TA_OK;
}

static bool each_name(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct reading *r = user;
    const bool is_label = ta_slice_equal(ta_json_text(r->json, key), TA_LIT("labels"));
    if (!is_label && !ta_slice_equal(ta_json_text(r->json, key), TA_LIT("name")))
        return true;
    const struct ta_slice what = ta_json_text(r->json, &r->json->record.field[NAME]);
    const bool process = ta_slice_equal(what, TA_LIT("process_name"));
    const bool thread = ta_slice_equal(what, TA_LIT("thread_name"));
    if (is_label != ta_slice_equal(what, TA_LIT("process_labels")))
        return true;
    const ta_str name = text_of(r, value);
    if (name == TA_STR_ABSENT) /* a null takes no name away */
        return true;
    if (is_label)
        r->status = ta_builder_label_process(r->ctx, r->builder, r->event.pid, name);
    else if (process)
        r->status = ta_builder_name_process(r->ctx, r->builder, r->event.pid, name);
    else if (thread)
        r->status = ta_builder_name_thread(r->ctx, r->builder, r->event.pid, r->event.tid, name);
    return r->status == TA_OK; /* of several names the last one counts */
}

static enum ta_status take_record(struct reading *r)
{
    const struct ta_record *record = &r->json->record;
    r->event = (struct ta_event){.offset = record->offset, .args = r->args};
    if (!take_phase(r) || !take_times(r)) {
        r->is_like_trace |=
            record->field[PH].type != TA_TOKEN_ABSENT || record->field[TS].type != TA_TOKEN_ABSENT;
        r->dropped++;
        return TA_OK;
    }
    struct ta_event *event = &r->event;
    event->name = text_of(r, &record->field[NAME]);
    if (event->name == TA_STR_ABSENT && event->phase != 'E') /* an end need not name its begin */
        event->name = r->empty;
    event->category = text_of(r, &record->field[CAT]);
    event->pid = text_of(r, &record->field[PID]);
    event->tid = text_of(r, &record->field[TID]);
    take_args(r);
    /* Last, since it may live in the buffer of decoded texts. */
    if (record->field[ID].type != TA_TOKEN_ABSENT)
        event->id = ta_json_text(r->json, &record->field[ID]);
    r->kept++;
    r->repaired += record->repaired;
    r->metadata += event->phase == 'M';
    r->status = ta_builder_add(r->ctx, r->builder, event);
    if (r->status == TA_OK && event->phase == 'C')
        ta_json_members(r->json, &record->field[ARGS], each_series, r);
    if (r->status == TA_OK && event->phase == 'i' && event->name == r->memory)
        chrome_take_memory(r);
    if (r->status == TA_OK && event->phase == 'M')
        ta_json_members(r->json, &record->field[ARGS], each_name, r);
    return r->status;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Nothing was kept: is that an empty trace, or no trace at all? */
static enum ta_status judge_empty(struct reading *r)
{
    const struct ta_json *json = r->json;
    const bool is_whole = !json->truncated && !json->unclosed && !json->bytes_skipped;
    if (!json->saw_document)
        return ta_fail(r->ctx, TA_ERR_INPUT, "No JSON text in it");
    /* Numbers in a list are skipped like what is damaged. */
    const bool is_read =
        !json->truncated && !json->unclosed && !ta_quality_count(r->quality, TA_Q_SYNTAX);
    if (r->dropped && is_read && !r->is_like_trace)
        return ta_fail(r->ctx, TA_ERR_INPUT, "JSON, but not a trace: its list holds no events");
    if (r->dropped)
        return ta_fail(r->ctx, TA_ERR_INPUT,
                       "No usable event: %" PRIu64
                       " were dropped, and the input was skipped up to byte offset %" PRIu64,
                       r->dropped, json->bytes_skipped);
    if (!is_whole)
        return ta_fail(r->ctx, TA_ERR_INPUT,
                       "It ends or is damaged before the first complete event: the last valid byte "
                       "offset is %" PRIu64,
                       json->record.end);
    if (!json->saw_array && r->is_like_trace)
        return ta_fail(r->ctx, TA_ERR_INPUT,
                       "A trace that lost its events: it has no array \"traceEvents\"");
    if (!json->saw_array)
        return ta_fail(r->ctx, TA_ERR_INPUT,
                       "JSON, but not a trace: it has no array \"traceEvents\"");
    ta_quality_add(r->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "The list of events is empty");
    return TA_OK;
}

static enum ta_status read_items(struct reading *r)
{
    enum { CANCEL_EVERY = 4096 };
    for (uint64_t i = 0;; i++) {
        enum ta_json_item item;
        enum ta_status status = ta_json_next(r->ctx, r->json, &item);
        if (status != TA_OK || item == TA_JSON_END)
            return status;
        if (item == TA_JSON_RECORD) {
            status = take_record(r);
        } else if (item == TA_JSON_MEMBER) {
            chrome_take_member(r);
            status = r->status;
        } else {
            r->dropped++;
        }
        if (status != TA_OK)
            return status;
        if (i % CANCEL_EVERY == 0 && ta_ctx_canceled(r->ctx))
            return ta_fail(r->ctx, TA_ERR_CANCELED, "Interrupted");
    }
}

static enum ta_status read_trace(struct ta_ctx *ctx, struct ta_reader *reader,
                                 struct ta_builder *builder)
{
    struct reading r = {.ctx = ctx, .builder = builder, .quality = ta_reader_quality(reader)};
    const struct ta_slice *asked = ta_builder_keys(builder, &r.n_keys);
    struct ta_slice keys[TA_RECORD_ARGS];
    const size_t n_keys = chrome_list_keys(&r, asked, keys);
    const struct ta_record_schema schema = {
        .array = "traceEvents",
        .mark = PH,
        .field = {[PH] = "ph",
                  [NAME] = "name",
                  [CAT] = "cat",
                  [TS] = "ts",
                  [DUR] = "dur",
                  [PID] = "pid",
                  [TID] = "tid",
                  [ID] = "id",
                  [ARGS] = "args"},
        .nested = ARGS,
        .nested_keys = keys,
        .n_nested_keys = n_keys,
    };
    r.json = ta_json_new(ctx, reader, &schema);
    if (!r.json)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate the window of a file");
    r.empty = ta_builder_string(builder, TA_LIT(""));
    r.memory = ta_builder_string(builder, TA_LIT("[memory]"));
    enum ta_status status = read_items(&r);
    ta_builder_count(builder, r.kept, r.repaired, r.dropped);
    if (status == TA_OK) {
        ta_builder_skipped(builder, r.json->bytes_skipped);
        if (r.json->truncated)
            ta_builder_set(builder, TA_SAYS_CUT, 1);
        if (r.kept == 0)
            status = judge_empty(&r);
        else if (r.kept == r.metadata && !r.dropped && !r.json->truncated)
            ta_quality_add(r.quality, TA_Q_NO_EVENTS, TA_NO_OFFSET,
                           "The list of events holds nothing but metadata");
    }
    ta_json_free(r.json);
    return status;
}

static const struct ta_input_ops ops = {
    .sniff = sniff,
    .read = read_trace,
    .reads_parts = true,
    .reads_traces = true,
    .can_merge = true,
};

TA_PLUGIN(input, chrome_json, &ops, .title = "Chrome trace JSON",
          .summary = "Trace event files of torch.profiler/Kineto, VizTracer, Ascend and Chrome, "
                     "plain or gzip",
          .version = "1");
