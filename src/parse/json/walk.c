/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every place of the walk does with the window: white space, values that need more bytes,
 * accounts of what a scan repaired. */
#include "parse/json/walk.h"

#include "base/quality.h"

bool walk_account_notes(struct ta_json_state *st)
{
    bool repaired = false;
    for (int i = 0; st->scan.notes && i < NOTE_COUNT; i++) {
        if (!(st->scan.notes & 1u << i))
            continue;
        const uint64_t offset = window_offset(&st->window, st->scan.note_place[i]);
        ta_quality_add(st->quality, scan_note_codes[i], offset, NULL);
        repaired |= ta_quality_info(scan_note_codes[i])->severity > TA_QUALITY_INFO;
    }
    st->scan.notes = 0;
    return repaired;
}

/* A comment without an end is the last thing of the input. */
static bool skip_last_comment(struct ta_json_state *st)
{
    if (!st->window.ended)
        return false;
    ta_quality_add(st->quality, TA_Q_COMMENT, walk_here(st), NULL);
    st->window.at = st->window.end;
    return true;
}

bool walk_space(struct ta_json_state *st)
{
    for (;;) {
        walk_scan_here(st);
        enum scan_result result = scan_space(&st->scan);
        walk_account_notes(st);
        walk_use(st);
        /* A slash that starts no comment is left for the caller to stumble over. */
        if (result != SCAN_MORE)
            return true;
        if (!window_more(&st->window))
            return st->window.at < st->window.end && !skip_last_comment(st);
    }
}

bool walk_read_twice(struct ta_json_state *st)
{
    const size_t wanted = 2 * (st->window.end - st->window.at);
    const bool had_ended = st->window.ended;
    if (!window_more(&st->window))
        return st->window.ended && !had_ended;
    while (st->window.end - st->window.at < wanted && window_more(&st->window))
        ;
    return true;
}

enum scan_result walk_bounded(struct ta_json_state *st, enum scan_result result, uint64_t most)
{
    const char *const start = window_at(&st->window);
    const char *const seen = result == SCAN_MORE ? st->scan.end : st->scan.p;
    st->beyond = (uint64_t)(seen - start) > most;
    if (!st->beyond)
        return result;
    st->scan.p = start + most;
    return SCAN_MORE;
}
