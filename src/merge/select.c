/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing events.  Nothing is cut: a span that reaches into the range is kept whole, and an end
 * goes with its begin, which counts by its start as all events but whole spans do. */
#include "merge/select.h"

#include <strings.h>

bool merge_selection_init(struct merge_selection *selection, const struct ta_merge *merge,
                          const struct ta_merge_trace *trace, size_t limit)
{
    *selection = (struct merge_selection){.categories = merge->categories,
                                          .clock = &trace->clock,
                                          .from_ns = trace->from_ns,
                                          .to_ns = trace->to_ns,
                                          .chooses = trace->from_ns != TA_MISSING ||
                                                     (merge->categories && *merge->categories)};
    return ta_strings_init(&selection->texts, limit);
}

void merge_selection_free(struct merge_selection *selection)
{
    for (size_t i = 0; i < selection->stacks.n; i++)
        free(selection->stacks.at[i].begins.at);
    free(selection->stacks.at);
    ta_map_free(&selection->threads);
    ta_map_free(&selection->asyncs);
    ta_strings_free(&selection->texts);
}

/* ---- categories ---------------------------------------------------------------------------- */

static bool is_named(struct ta_slice piece, const char *const *names)
{
    for (; *names; names++)
        if (strlen(*names) == piece.len && strncasecmp(*names, piece.ptr, piece.len) == 0)
            return true;
    return false;
}

/* A category may be a list, as Chrome's are. */
static bool is_unwanted(const struct merge_selection *selection, struct ta_slice category)
{
    while (category.len) {
        const char *comma = memchr(category.ptr, ',', category.len);
        const size_t n = comma ? (size_t)(comma - category.ptr) : category.len;
        if (is_named((struct ta_slice){category.ptr, n}, selection->categories))
            return true;
        if (!comma)
            break;
        category = (struct ta_slice){comma + 1, category.len - n - 1};
    }
    return false;
}

static bool is_of_category(struct merge_selection *selection, struct ta_json *json)
{
    const struct ta_token *token = &json->record.field[MERGE_CAT];
    if (!selection->categories || token->type != TA_TOKEN_STRING)
        return false;
    uint8_t *known = &selection->known[token->known];
    if (!token->known || !*known)
        *known = is_unwanted(selection, ta_json_text(json, token)) ? 2 : 1;
    return *known == 2;
}

/* ---- times --------------------------------------------------------------------------------- */

static bool time_of(const struct ta_token *token, int64_t *ns)
{
    return (token->type == TA_TOKEN_NUMBER || token->type == TA_TOKEN_STRING) &&
           ta_token_decimal(token, 3, ns) == TA_DECIMAL_OK;
}

/* ---- pairs --------------------------------------------------------------------------------- */

/* Texts beyond the limit share an id. */
static uint64_t intern(struct merge_selection *selection, struct ta_json *json, unsigned field)
{
    const struct ta_token *token = &json->record.field[field];
    ta_str id = TA_STR_ABSENT;
    if (token->type == TA_TOKEN_STRING || token->type == TA_TOKEN_NUMBER)
        selection->failed |=
            ta_strings_intern(&selection->texts, ta_json_text(json, token), &id) == TA_INTERN_NOMEM;
    return id;
}

/* The open begins of the record's thread, or NULL without memory. */
static struct merge_stack *stack_of(struct merge_selection *selection, struct ta_json *json)
{
    const uint64_t pid = intern(selection, json, MERGE_PID);
    const uint64_t tid = intern(selection, json, MERGE_TID);
    const uint64_t *at =
        ta_map_at(&selection->threads, pid << 32 | tid, (uint64_t)selection->stacks.n);
    const bool is_new = at && *at == selection->stacks.n;
    if (!at || (is_new && !ta_vec_push(&selection->stacks, (struct merge_stack){.begins = {0}}))) {
        selection->failed = true;
        return NULL;
    }
    return &selection->stacks.at[*at];
}

/* Asynchronous spans are known by category and id. */
static enum merge_fate fate_of_async(struct merge_selection *selection, struct ta_json *json,
                                     char phase, enum merge_fate own)
{
    const uint64_t cat = intern(selection, json, MERGE_CAT);
    const uint64_t id = intern(selection, json, MERGE_ID);
    uint64_t *open = ta_map_at(&selection->asyncs, cat << 32 | id, 0);
    selection->failed |= !open;
    if (!open)
        return own;
    if (phase == 'b' || phase == 'S') {
        *open += own == MERGE_KEEP;
        return own;
    }
    const bool kept = *open > 0;
    if (phase == 'e' || phase == 'F')
        *open -= kept;
    return kept ? MERGE_KEEP : own == MERGE_KEEP ? MERGE_OUT_OF_RANGE : own;
}

/* ---- events -------------------------------------------------------------------------------- */

/* What an event is worth by itself. */
static enum merge_fate own_fate(struct merge_selection *selection, struct ta_json *json, char phase,
                                int64_t ts_ns)
{
    const int64_t from_ns = selection->from_ns;
    int64_t dur_ns;
    if (is_of_category(selection, json))
        return MERGE_OF_CATEGORY;
    if (from_ns == TA_MISSING || (ts_ns >= from_ns && ts_ns < selection->to_ns))
        return MERGE_KEEP;
    const bool reaches_inside = phase == 'X' && ts_ns < from_ns &&
                                time_of(&json->record.field[MERGE_DUR], &dur_ns) &&
                                ta_add_sat(ts_ns, dur_ns) > from_ns;
    return reaches_inside ? MERGE_KEEP : MERGE_OUT_OF_RANGE;
}

enum merge_fate merge_select(struct merge_selection *selection, struct ta_json *json,
                             int64_t *ts_ns)
{
    const char phase = merge_phase(json);
    if (!time_of(&json->record.field[MERGE_TS], ts_ns))
        *ts_ns = TA_MISSING;
    if (phase == 'M') /* these have no time of their own, and name what others refer to */
        return MERGE_KEEP;
    if (*ts_ns == TA_MISSING)
        return MERGE_LOST;
    if (!selection->chooses)
        return MERGE_KEEP;
    const enum merge_fate own =
        own_fate(selection, json, phase, ta_clock_forth(selection->clock, *ts_ns));
    if (phase == 'B' || phase == 'E') {
        /* 'B' opens a span that the next 'E' of the thread closes, which need not say its category.
         */
        struct merge_stack *stack = stack_of(selection, json);
        if (!stack)
            return own;
        if (phase == 'B')
            selection->failed |= !ta_vec_push(&stack->begins, (unsigned char)own);
        else if (stack->begins.n)
            return stack->begins.at[--stack->begins.n];
        return own;
    }
    return phase && strchr("bneSTpF", phase) ? fate_of_async(selection, json, phase, own) : own;
}
