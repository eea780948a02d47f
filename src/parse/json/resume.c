/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damage: what is said of it, and where reading goes on after it. */
#include "parse/json/walk.h"

#include <inttypes.h>

/* The search for a cut gives up when it has scanned so many times the bytes, objects within objects
 * counted again. */
#define CUT_BUDGET 4

/* ---- accounts ------------------------------------------------------------------------------ */

void walk_truncated(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const uint64_t end = st->window.base + st->window.end;
    ta_quality_add(st->quality, TA_Q_TRUNCATED, st->last_end,
                   "The input ends early: %" PRIu64 " bytes after byte offset %" PRIu64
                   " belong to nothing whole",
                   end - st->last_end, st->last_end);
    json->truncated = true;
    json->bytes_skipped += end - st->last_end;
    st->place = PLACE_DONE;
}

static void account_damage(struct ta_json *json, uint64_t resumed)
{
    struct ta_json_state *st = json->state;
    ta_quality_add(st->quality, TA_Q_SYNTAX, st->error_at,
                   "Syntax error at byte offset %" PRIu64 "; %" PRIu64 " bytes were skipped",
                   st->error_at, resumed - (st->lost_from - 1));
    json->bytes_skipped += resumed - (st->lost_from - 1);
}

void walk_lose(struct ta_json_state *st, enum scan_result result, bool record)
{
    st->lost_from = walk_here(st) + 1;
    st->lost_record = record;
    st->lost_at_end = result == SCAN_MORE && st->window.ended && !st->beyond;
    /* Where the scan of a value that is cut off stood depends on who scanned it. */
    st->error_at =
        st->lost_at_end ? st->window.base + st->window.end : window_offset(&st->window, st->scan.p);
    st->place = PLACE_LOST;
}

/* ---- looking for a record ------------------------------------------------------------------- */

/* Moves to the next opening brace; false at the end of the input. */
static bool find_brace(struct ta_json_state *st)
{
    for (;;) {
        const char *p = window_at(&st->window);
        const char *brace = memchr(p, '{', st->window.end - st->window.at);
        if (brace) {
            st->window.at = (size_t)(brace - st->window.buffer);
            return true;
        }
        st->window.at = st->window.end;
        if (!window_more(&st->window))
            return false;
    }
}

/* Whether reading can go on at the brace here; moves on when not. */
static bool try_here(struct ta_json *json, enum scan_result *result)
{
    struct ta_json_state *st = json->state;
    *result = walk_whole(json, WALK_RESUME_MAX, walk_step_record);
    if (*result == SCAN_DOCUMENT || (*result == SCAN_OK && walk_has_mark(json)))
        return true;
    const size_t scanned = (size_t)(st->scan.p - window_at(&st->window));
    st->part->attempts += scanned;
    const uint64_t read = st->window.base + st->window.end;
    const bool spent = st->part->attempts > read * WALK_RESUME_BUDGET + WALK_MEMBER_MAX;
    st->window.at += spent && scanned ? scanned : 1;
    return false;
}

bool walk_resume(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    const bool lost_record = st->lost_record;
    enum scan_result result = SCAN_BAD;
    /* lost_from lies at most one byte after the window's place, so it is still there. */
    const size_t from = (size_t)(st->lost_from - st->window.base);
    st->window.at = from < st->window.end ? from : st->window.end;
    bool found = false;
    while (!found && find_brace(st))
        found = try_here(json, &result);
    *item = TA_JSON_DROPPED;
    if (found) {
        account_damage(json, walk_here(st));
        json->saw_array = true;
        st->comma = true;
        st->place = result == SCAN_DOCUMENT || st->lines ? PLACE_BETWEEN : PLACE_RECORDS;
    } else if (st->lost_at_end) {
        walk_truncated(json);
    } else {
        account_damage(json, st->window.base + st->window.end);
        st->place = PLACE_DONE;
    }
    return lost_record;
}

size_t walk_find_cut(struct ta_json *json, const char *bytes, size_t n)
{
    const struct ta_json_state *st = json->state;
    struct scan scan = st->scan;
    struct ta_record record = {.has_nested = 0};
    size_t scanned = 0;
    const char *brace = bytes + n;
    while (scanned <= CUT_BUDGET * n &&
           (brace = memrchr(bytes, '{', (size_t)(brace - bytes))) != NULL) {
        scan.p = brace;
        scan.end = bytes + n;
        scan.notes = 0;
        if (record_scan(&st->keys, &scan, &record) == SCAN_OK &&
            record.field[st->keys.schema->mark].type != TA_TOKEN_ABSENT)
            return (size_t)(brace - bytes);
        scanned += (size_t)(scan.p - brace) + 1;
    }
    return 0;
}
