/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events from text to text. */
#include "merge/event.h"

#include "parse/json/values.h"

/* Arguments with ids of the trace: a launch and what it launched, an operator and its kernels, the
 * frames of Python, what an event is waited for.  Names and places of processes follow. */
enum { ARG_IDS = 6, ARG_NAME = ARG_IDS, ARG_SORT_INDEX, ARGS };
static const struct ta_slice args[ARGS] = {
    {"correlation", 11},      {"External id", 11},
    {"external id", 11},      {"Python id", 9},
    {"Python parent id", 16}, {"wait_on_cuda_event_record_corr_id", 33},
    [ARG_NAME] = {"name", 4}, [ARG_SORT_INDEX] = {"sort_index", 10},
};

const struct ta_record_schema merge_schema = {
    .array = "traceEvents",
    .mark = MERGE_PH,
    .field = {[MERGE_PH] = "ph",
              [MERGE_NAME] = "name",
              [MERGE_CAT] = "cat",
              [MERGE_TS] = "ts",
              [MERGE_DUR] = "dur",
              [MERGE_PID] = "pid",
              [MERGE_TID] = "tid",
              [MERGE_ID] = "id",
              [MERGE_BIND_ID] = "bind_id",
              [MERGE_ID2] = "id2",
              [MERGE_ARGS] = "args"},
    .nested = MERGE_ARGS,
    .nested_keys = args,
    .n_nested_keys = ARGS,
};

void merge_writer_start(struct merge_writer *writer, struct ta_json *json)
{
    writer->json = json;
    writer->places = 0;
    for (size_t i = 0; i < MERGE_KNOWN; i++)
        writer->known_pid[i] = -1;
}

char merge_phase(struct ta_json *json)
{
    const struct ta_token *token = &json->record.field[MERGE_PH];
    const struct ta_slice text =
        token->plain ? (struct ta_slice){token->ptr, token->len} : ta_json_text(json, token);
    return token->type == TA_TOKEN_STRING && text.len == 1 ? text.ptr[0] : '\0';
}

/* ---- pieces of text ------------------------------------------------------------------------ */

/* New text in place of the bytes at [from, to). */
struct patch {
    const char *from, *to;
    char text[40];
    size_t n;
};

enum { PATCHES_MAX = ARG_IDS + 5 };

struct patches {
    struct patch at[PATCHES_MAX];
    size_t n;
};

/* Adds one, after all that come before it in the text. */
static struct patch *add_patch(struct patches *patches, const char *from, const char *to)
{
    size_t at = patches->n++;
    for (; at > 0 && patches->at[at - 1].from > from; at--)
        patches->at[at] = patches->at[at - 1];
    patches->at[at] = (struct patch){.from = from, .to = to};
    return &patches->at[at];
}

static void append(struct patch *patch, struct ta_slice text)
{
    memcpy(patch->text + patch->n, text.ptr, text.len);
    patch->n += text.len;
}

static void append_number(struct patch *patch, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    append(patch, (struct ta_slice){digits + at, sizeof digits - at});
}

/* ---- values -------------------------------------------------------------------------------- */

static bool has_text(const struct ta_token *token)
{
    return token->type == TA_TOKEN_STRING || token->type == TA_TOKEN_NUMBER;
}

/* A new id in place of the old one, between quotes if that was. */
static void patch_id(struct merge_writer *writer, const struct ta_token *token,
                     struct patches *patches)
{
    int64_t number;
    if (!has_text(token) ||
        !merge_ids_number(writer->ids, ta_json_text(writer->json, token), &number))
        return;
    append_number(add_patch(patches, token->ptr, token->ptr + token->len), (uint64_t)number);
}

struct global {
    struct merge_writer *writer;
    struct patches *patches;
};

static bool each_id2(void *user, const struct ta_token *key, const struct ta_token *value)
{
    const struct global *global = user;
    if (!ta_slice_equal(ta_json_text(global->writer->json, key), TA_LIT("global")))
        return true; /* "local" is of the process */
    patch_id(global->writer, value, global->patches);
    return false;
}

/* Ids of arguments count from 1; 0 says that there is none. */
static bool connects(const struct ta_token *token)
{
    int64_t value;
    return !ta_token_integer(token, &value) || value > 0;
}

static struct merge_process *process_of(struct merge_writer *writer)
{
    const struct ta_token *token = &writer->json->record.field[MERGE_PID];
    return merge_processes_at(writer->processes,
                              has_text(token) ? ta_json_text(writer->json, token) : TA_LIT(""));
}

/* The number of the event's process, -1 without memory. */
static int64_t pid_of(struct merge_writer *writer)
{
    const struct ta_token *token = &writer->json->record.field[MERGE_PID];
    const uint8_t known = has_text(token) ? token->known : 0;
    if (known && writer->known_pid[known] >= 0)
        return writer->known_pid[known];
    const struct merge_process *process = process_of(writer);
    if (!process)
        return -1;
    if (known)
        writer->known_pid[known] = process->number;
    return process->number;
}

/* Replaces the value of the process, or puts one where there is none. */
static void patch_pid(struct merge_writer *writer, struct ta_slice text, struct patches *patches)
{
    const struct ta_token *token = &writer->json->record.field[MERGE_PID];
    const int64_t number = pid_of(writer);
    const bool is_string = token->type == TA_TOKEN_STRING;
    struct patch *patch;
    if (token->type == TA_TOKEN_ABSENT) {
        patch = add_patch(patches, ta_slice_at(text, 1), ta_slice_at(text, 1));
        append(patch, TA_LIT("\"pid\":"));
    } else {
        patch = add_patch(patches, token->ptr - is_string, token->ptr + token->len + is_string);
    }
    append_number(patch, (uint64_t)ta_max_i64(number, 0));
    if (token->type == TA_TOKEN_ABSENT)
        append(patch, TA_LIT(","));
}

static void patch_time(struct merge_writer *writer, int64_t ts_ns, struct patches *patches)
{
    const struct ta_token *token = &writer->json->record.field[MERGE_TS];
    const bool is_string = token->type == TA_TOKEN_STRING;
    struct patch *patch =
        add_patch(patches, token->ptr - is_string, token->ptr + token->len + is_string);
    /* ns as µs, to the last digit. */
    const int64_t ns = ta_clock_forth(writer->clock, ts_ns);
    const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        append(patch, TA_LIT("-"));
    append_number(patch, size / 1000);
    const char fraction[] = {'.', (char)('0' + size / 100 % 10), (char)('0' + size / 10 % 10),
                             (char)('0' + size % 10)};
    append(patch, (struct ta_slice){fraction, sizeof fraction});
}

/* ---- events -------------------------------------------------------------------------------- */

/* Keeps what the trace says of a process; false when the event is about something else. */
static bool take_process(struct merge_writer *writer)
{
    struct ta_json *json = writer->json;
    const struct ta_record *record = &json->record;
    const struct ta_slice what = ta_json_text(json, &record->field[MERGE_NAME]);
    const bool is_name = ta_slice_equal(what, TA_LIT("process_name"));
    if (!is_name && !ta_slice_equal(what, TA_LIT("process_sort_index")))
        return false;
    struct merge_process *process = process_of(writer);
    const struct ta_token *name = &record->nested[ARG_NAME];
    int64_t sort_index;
    if (process && is_name && has_text(name))
        merge_process_rename(writer->processes, process, ta_json_text(json, name));
    else if (process && !is_name && ta_token_integer(&record->nested[ARG_SORT_INDEX], &sort_index))
        process->sort_index = sort_index;
    return true;
}

bool merge_writer_put(struct merge_writer *writer, int64_t ts_ns)
{
    struct ta_slice text;
    struct patches patches = {.n = 0};
    if (!ta_clean_record(writer->json, &writer->clean, &text))
        return false;
    const bool is_metadata = merge_phase(writer->json) == 'M';
    if (is_metadata && writer->processes && take_process(writer)) {
        writer->places++;
    } else {
        if (writer->processes)
            patch_pid(writer, text, &patches);
        if (writer->ids) {
            const struct ta_record *record = &writer->json->record;
            patch_id(writer, &record->field[MERGE_ID], &patches);
            patch_id(writer, &record->field[MERGE_BIND_ID], &patches);
            if (record->field[MERGE_ID2].type == TA_TOKEN_OBJECT)
                ta_json_members(writer->json, &record->field[MERGE_ID2], each_id2,
                                &(struct global){writer, &patches});
            for (uint64_t left = record->has_nested & ((1 << ARG_IDS) - 1); left;
                 left &= left - 1) {
                const struct ta_token *token = &record->nested[__builtin_ctzll(left)];
                if (has_text(token) && connects(token))
                    patch_id(writer, token, &patches);
            }
        }
        if (writer->moves && !is_metadata && ts_ns != TA_MISSING)
            patch_time(writer, ts_ns, &patches);
        ta_puts(writer->out, writer->separator);
        const char *at = text.ptr;
        for (size_t i = 0; i < patches.n; i++) {
            const struct patch *patch = &patches.at[i];
            ta_put(writer->out, (struct ta_slice){at, (size_t)(patch->from - at)});
            ta_put(writer->out, (struct ta_slice){patch->text, patch->n});
            at = patch->to;
        }
        ta_put(writer->out, ta_slice_from(text, (size_t)(at - text.ptr)));
        writer->separator = ",\n";
    }
    return !(writer->processes && writer->processes->failed) &&
           !(writer->ids && writer->ids->failed);
}
