/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed vocabulary of what can be wrong with input, and counting it. */
#include "base/quality.h"

#include <stdio.h>
#include <stdlib.h>

/* Longest example: a sentence with two paths of PATH_MAX bytes. */
enum { TEXT_MAX = 10 * 1024 };

static const struct ta_quality_info codes[TA_Q_COUNT] = {
    [TA_Q_TRUNCATED] = {"truncated", TA_QUALITY_LOSS,
                        "The file ends early; every event that was complete is used."},
    [TA_Q_UNTERMINATED_ARRAY] = {"unterminated-array", TA_QUALITY_INFO,
                                 "The event array has no closing bracket, which the format "
                                 "allows."},
    [TA_Q_REFUSED] = {"refused", TA_QUALITY_ERROR,
                      "The file holds no usable events or is not a trace at all."},
    [TA_Q_NO_EVENTS] = {"no-events", TA_QUALITY_NOTICE,
                        "The file is well formed but holds no events, or metadata only."},
    [TA_Q_SKIPPED_FILE] = {"skipped-file", TA_QUALITY_INFO,
                           "A file in an input folder was not read because it is no trace or no "
                           "regular file."},
    [TA_Q_GZIP_TRAILING] = {"gzip-trailing", TA_QUALITY_LOSS,
                            "Bytes that are not gzip follow the compressed stream."},
    [TA_Q_GZIP_CHECKSUM] = {"gzip-checksum", TA_QUALITY_LOSS,
                            "Checksum or length of the compressed stream does not match its "
                            "content."},
    [TA_Q_GZIP_TRUNCATED] = {"gzip-truncated", TA_QUALITY_LOSS,
                             "The compressed stream ends early."},
    [TA_Q_GZIP_CORRUPT] = {"gzip-corrupt", TA_QUALITY_LOSS,
                           "A compressed block or a gzip header is damaged; what lies after it "
                           "cannot be read."},
    [TA_Q_MULTIPLE_DOCUMENTS] = {"multiple-documents", TA_QUALITY_NOTICE,
                                 "The file holds several JSON documents; the events of all are "
                                 "used."},
    [TA_Q_TRAILING_TEXT] = {"trailing-text", TA_QUALITY_NOTICE,
                            "Text that is not JSON follows the trace."},
    [TA_Q_EMBEDDED] = {"embedded", TA_QUALITY_INFO,
                       "The trace is part of a web page; byte offsets count from its start."},
    [TA_Q_UTF16] = {"utf16", TA_QUALITY_NOTICE, "The file was UTF-16 and has been transcoded."},
    [TA_Q_SYNTAX] = {"syntax", TA_QUALITY_LOSS,
                     "Broken JSON: reading went on at the next event that parses whole."},
    [TA_Q_COMMA] = {"comma", TA_QUALITY_NOTICE,
                    "A comma between events was missing, doubled or out of place."},
    [TA_Q_COMMENT] = {"comment", TA_QUALITY_NOTICE, "A comment, which JSON does not have."},
    [TA_Q_TEXT_ENCODING] = {"text-encoding", TA_QUALITY_NOTICE,
                            "Text that is not valid Unicode; the bad part reads U+FFFD."},
    [TA_Q_TEXT_CONTROL] = {"text-control", TA_QUALITY_NOTICE,
                           "A raw control character inside a string."},
    [TA_Q_TEXT_ESCAPE] = {"text-escape", TA_QUALITY_NOTICE,
                          "An unknown escape inside a string, kept as written."},
    [TA_Q_BAD_NUMBER] = {"bad-number", TA_QUALITY_NOTICE,
                         "NaN, an infinity or a number that its field cannot have, such as an "
                         "occupancy of 120 %; the value counts as missing."},
    [TA_Q_BAD_TS] = {"bad-ts", TA_QUALITY_LOSS,
                     "An event without a usable time stamp was dropped."},
    [TA_Q_STRING_NUMBER] = {"string-number", TA_QUALITY_INFO,
                            "A number was written as a string and read as a number."},
    [TA_Q_UNKNOWN_PHASE] = {"unknown-phase", TA_QUALITY_LOSS,
                            "An event without a phase, or of an unknown one, was dropped."},
    [TA_Q_NOT_AN_EVENT] = {"not-an-event", TA_QUALITY_LOSS,
                           "A member of the event array is not an event and was dropped."},
    [TA_Q_UNFINISHED] = {"unfinished", TA_QUALITY_NOTICE,
                         "A span without an end or a duration is counted but not timed."},
    [TA_Q_NEGATIVE_DURATION] = {"negative-duration", TA_QUALITY_NOTICE,
                                "A negative duration was taken as 0."},
    [TA_Q_BAD_DURATION] = {"bad-duration", TA_QUALITY_NOTICE,
                           "A duration out of range or wrapped below zero."},
    [TA_Q_UNMATCHED_END] = {"unmatched-end", TA_QUALITY_LOSS,
                            "An end event without a begin was dropped."},
    [TA_Q_CROSSED_PAIR] = {"crossed-pair", TA_QUALITY_NOTICE,
                           "Begin and end of a span carry different names."},
    [TA_Q_OVERLAP] = {"overlap", TA_QUALITY_NOTICE,
                      "Two spans of one thread cross; the shared time belongs to the later one."},
    [TA_Q_ZERO_TIME] = {"zero-time", TA_QUALITY_LOSS,
                        "Events were written without a time: they carry the time stamp 0, far from "
                        "all others. Nothing is computed from them."},
    [TA_Q_OVERLONG] = {"overlong", TA_QUALITY_LOSS,
                       "A device activity lasts past later ones of its stream, which cannot be: "
                       "it ends where the next one starts."},
    [TA_Q_CLOCK_SET_BACK] = {"clock-set-back", TA_QUALITY_NOTICE,
                             "A finished sum is negative: the clock was set back while it was "
                             "measured. It is kept as read."},
    [TA_Q_EVENTS_LOST] = {"events-lost", TA_QUALITY_LOSS,
                          "The profiler says that it lost events before it wrote the file."},
    [TA_Q_BAD_RECORD] = {"bad-record", TA_QUALITY_LOSS,
                         "A row or member of a dump that is not of its format was dropped."},
    [TA_Q_DUPLICATE_KEY] = {"duplicate-key", TA_QUALITY_INFO,
                            "A key appears twice in one object; the last value is used."},
    [TA_Q_TOO_DEEP] = {"too-deep", TA_QUALITY_LOSS, "A value nested beyond the limit was skipped."},
    [TA_Q_TOO_LONG] = {"too-long", TA_QUALITY_LOSS,
                       "A string, number or event beyond its limit was cut or dropped."},
    [TA_Q_LIMIT] = {"limit", TA_QUALITY_LOSS, "A limit was reached; what lies beyond is unused."},
    [TA_Q_RANK_DUPLICATE] = {"rank-duplicate", TA_QUALITY_NOTICE, "Several files claim one rank."},
    [TA_Q_RANK_MISSING] = {"rank-missing", TA_QUALITY_NOTICE, "A rank of the run has no trace."},
    [TA_Q_RANK_BEYOND_WORLD] = {"rank-beyond-world", TA_QUALITY_NOTICE,
                                "A rank is not smaller than the world size."},
    [TA_Q_RANK_CONFLICT] = {"rank-conflict", TA_QUALITY_NOTICE,
                            "The name of a file and its content name different ranks; the content "
                            "is believed."},
    [TA_Q_RANK_POSITION] =
        {"rank-position", TA_QUALITY_NOTICE,
         "A file does not say its rank; its position in the order of names is used."},
    [TA_Q_RANK_FROM_NAME] = {"rank-from-name", TA_QUALITY_INFO,
                             "The rank was taken from the name of the file."},
    [TA_Q_WORLD_SIZE] =
        {"world-size", TA_QUALITY_NOTICE,
         "Files of one run state different world sizes, or another one than --world-size."},
    [TA_Q_MIXED_VENDORS] = {"mixed-vendors", TA_QUALITY_NOTICE,
                            "Files of one run come from devices of different vendors."},
    [TA_Q_DUPLICATE_CONTENT] = {"duplicate-content", TA_QUALITY_NOTICE,
                                "Two files hold the same content, which is used once."},
    [TA_Q_EARLIER_EXPORT] =
        {"earlier-export", TA_QUALITY_NOTICE,
         "Files hold the first sections of a run that another file holds completely, because the "
         "profiler was exported regularly; each section counts once."},
    [TA_Q_OTHER_SESSION] = {"other-session", TA_QUALITY_INFO,
                            "Samples of an earlier session of the same process, which its own "
                            "files have; they are not used again."},
    [TA_Q_RECORDINGS] = {"recordings", TA_QUALITY_INFO,
                         "Files that are not simply ranks of one run, and how they were used."},
    [TA_Q_REPLAYS_LOST] = {"replays-lost", TA_QUALITY_INFO,
                           "A graph was launched and none of its kernels was recorded: the device "
                           "worked although it seems idle."},
    [TA_Q_UNREAD_COLUMNS] = {"unread-columns", TA_QUALITY_INFO,
                             "Columns of a table were not read: the note names them."},
    [TA_Q_NUMBER_FORM] = {"number-form", TA_QUALITY_INFO,
                          "A number of a table has a decimal comma or separators of thousands; it "
                          "was read as all other numbers of the file allow."},
    [TA_Q_PARTIAL_SAMPLES] =
        {"partial-samples", TA_QUALITY_NOTICE,
         "The samples cover only a part of their session, such as its end if a profiler keeps only "
         "the last ones; energy and means are of that part."},
    [TA_Q_UNALIGNED] = {"unaligned", TA_QUALITY_INFO,
                        "Times of two files of one rank cannot be put on one axis."},
    [TA_Q_ANALYSIS_MISSING] = {"analysis-missing", TA_QUALITY_LOSS,
                               "A summary has no results of an analysis that was added or changed "
                               "since: its tables are of the other files."},
};

const struct ta_quality_info *ta_quality_info(enum ta_quality_code code)
{
    return &codes[code];
}

/* ---- counting ------------------------------------------------------------------------ */

void ta_quality_init(struct ta_quality *quality)
{
    *quality = (struct ta_quality){.failed = false};
}

void ta_quality_free(struct ta_quality *quality)
{
    for (int i = 0; i < TA_Q_COUNT; i++)
        free(quality->slots[i].text);
    ta_quality_init(quality);
}

/* TA_NO_OFFSET is the largest offset, so the smaller of two is the one that is known. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    if (a == TA_NO_OFFSET || b == TA_NO_OFFSET)
        return earlier(a, b);
    return a > b ? a : b;
}

static void count(struct ta_quality_slot *slot, const struct ta_quality_slot *more)
{
    if (slot->count == 0) {
        *slot = *more;
        slot->text = NULL;
        slot->text_offset = TA_NO_OFFSET;
        return;
    }
    if (__builtin_add_overflow(slot->count, more->count, &slot->count))
        slot->count = UINT64_MAX;
    slot->first = earlier(slot->first, more->first);
    slot->last = later(slot->last, more->last);
    slot->file_offset = earlier(slot->file_offset, more->file_offset);
    if (more->severity > slot->severity)
        slot->severity = more->severity;
}

/* The example of a finding is the case with the lowest offset, so that it is the same in
 * whatever order threads find them. */
static bool wants_text(const struct ta_quality_slot *slot, uint64_t offset)
{
    return !slot->text || offset < slot->text_offset;
}

static void set_text(struct ta_quality *quality, struct ta_quality_slot *slot, const char *text,
                     uint64_t offset)
{
    char *copy = strdup(text);
    if (!copy) {
        quality->failed = true;
        return;
    }
    free(slot->text);
    slot->text = copy;
    slot->text_offset = offset;
}

static void add(struct ta_quality *quality, enum ta_quality_code code,
                const struct ta_quality_slot *more, const char *format, va_list args)
{
    struct ta_quality_slot *slot = &quality->slots[code];
    count(slot, more);
    if (!format || !wants_text(slot, more->first))
        return;
    char text[TEXT_MAX];
    if (vsnprintf(text, sizeof text, format, args) >= 0)
        set_text(quality, slot, text, more->first);
}

void ta_quality_add(struct ta_quality *quality, enum ta_quality_code code, uint64_t offset,
                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(quality, code,
        &(struct ta_quality_slot){.count = 1,
                                  .first = offset,
                                  .last = offset,
                                  .file_offset = TA_NO_OFFSET,
                                  .severity = codes[code].severity},
        format, args);
    va_end(args);
}

void ta_quality_add_severity(struct ta_quality *quality, enum ta_quality_code code,
                             enum ta_quality_severity severity, uint64_t offset,
                             uint64_t file_offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(quality, code,
        &(struct ta_quality_slot){.count = 1,
                                  .first = offset,
                                  .last = offset,
                                  .file_offset = file_offset,
                                  .severity = severity},
        format, args);
    va_end(args);
}

void ta_quality_add_many(struct ta_quality *quality, enum ta_quality_code code, uint64_t times,
                         uint64_t offset, uint64_t last_offset, const char *format, ...)
{
    if (times == 0)
        return;
    va_list args;
    va_start(args, format);
    add(quality, code,
        &(struct ta_quality_slot){.count = times,
                                  .first = offset,
                                  .last = last_offset,
                                  .file_offset = TA_NO_OFFSET,
                                  .severity = codes[code].severity},
        format, args);
    va_end(args);
}

void ta_quality_merge(struct ta_quality *into, const struct ta_quality *from)
{
    for (int i = 0; i < TA_Q_COUNT; i++) {
        const struct ta_quality_slot *more = &from->slots[i];
        struct ta_quality_slot *slot = &into->slots[i];
        if (more->count == 0)
            continue;
        count(slot, more);
        if (more->text && wants_text(slot, more->text_offset))
            set_text(into, slot, more->text, more->text_offset);
    }
    into->failed |= from->failed;
}

void ta_quality_restore(struct ta_quality *quality, enum ta_quality_code code,
                        const struct ta_quality_slot *saved, const char *text)
{
    struct ta_quality_slot *slot = &quality->slots[code];
    count(slot, saved);
    if (text && wants_text(slot, saved->text_offset))
        set_text(quality, slot, text, saved->text_offset);
}

/* ---- reading ------------------------------------------------------------------------- */

uint64_t ta_quality_count(const struct ta_quality *quality, enum ta_quality_code code)
{
    return quality->slots[code].count;
}

bool ta_quality_reaches(const struct ta_quality *quality, enum ta_quality_severity severity)
{
    for (int i = 0; i < TA_Q_COUNT; i++)
        if (quality->slots[i].count && quality->slots[i].severity >= severity)
            return true;
    return false;
}

const struct ta_quality_finding *ta_quality_findings(const struct ta_quality *quality,
                                                     struct ta_arena *arena, size_t *n)
{
    size_t used = 0;
    for (int i = 0; i < TA_Q_COUNT; i++)
        used += quality->slots[i].count > 0;
    struct ta_quality_finding *findings = ta_arena_alloc(arena, used * sizeof *findings);
    arena->failed |= quality->failed;
    if (!findings || quality->failed)
        return NULL;
    size_t at = 0;
    for (int i = 0; i < TA_Q_COUNT; i++) {
        const struct ta_quality_slot *slot = &quality->slots[i];
        if (slot->count == 0)
            continue;
        const char *text = slot->text ? ta_arena_copy(arena, ta_slice_of(slot->text)) : "";
        if (!text)
            return NULL;
        findings[at++] = (struct ta_quality_finding){
            .code = (enum ta_quality_code)i,
            .severity = slot->severity,
            .count = slot->count,
            .byte_offset = slot->first,
            .last_offset = slot->last,
            .file_offset = slot->file_offset,
            .text = text,
        };
    }
    *n = used;
    return findings;
}
