/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "discover/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

/* ---- endings ------------------------------------------------------------------------------- */

/* What profilers end the name of a recording with. */
enum { ENDINGS = 15, WORDS = 13 };

static const char *const endings[ENDINGS] = {".gz",     ".json", ".trace",  ".pt",    ".pickle",
                                             ".csv",    ".txt",  ".stacks", ".html",  ".log",
                                             ".chrome", ".pkl",  ".md",     ".jsonl", ".jsonlines"};

static size_t without_endings(const char *path, size_t n)
{
    for (size_t i = 0; i < ENDINGS;) {
        const size_t length = strlen(endings[i]);
        const bool ends = n > length && path[n - length - 1] != '/' &&
                          strncasecmp(path + n - length, endings[i], length) == 0;
        n -= ends ? length : 0;
        i = ends ? 0 : i + 1; /* several may follow each other */
    }
    return n;
}

/* ---- words with a number ------------------------------------------------------------------- */

enum word { RANK, TENSOR, DATA, PIPELINE, EXPERT, WORKER, ITERATION, CYCLE, WARM_UP };

static const struct {
    const char *text;
    enum word word;
    bool as_written; /* letters have this case, and '-' or '_' comes before the number */
} words[WORDS] = {
    {"rank", RANK, false},           {"TP", TENSOR, true},       {"DP", DATA, true},
    {"PP", PIPELINE, true},          {"EP", EXPERT, true},       {"worker", WORKER, false},
    {"iteration", ITERATION, false}, {"iter", ITERATION, false}, {"cycle", CYCLE, false},
    {"step", CYCLE, false},          {"warmup", WARM_UP, false}, {"warm_up", WARM_UP, false},
    {"warm-up", WARM_UP, false},
};

/* A number of few digits at `*at`, which moves after it; TA_MISSING without one. */
static int64_t take_number(const char *text, size_t n, size_t *at)
{
    enum { DIGITS_MOST = 18 };
    int64_t number = 0;
    const size_t start = *at;
    for (; *at < n && isdigit((unsigned char)text[*at]) && *at - start < DIGITS_MOST; ++*at)
        number = 10 * number + (text[*at] - '0');
    return *at > start ? number : TA_MISSING;
}

/* Which word begins at `at`, with its number if it has one; returns what comes after both, or `at`
 * when none begins there. */
static size_t take_word(const char *text, size_t n, size_t at, enum word *word, int64_t *number)
{
    for (size_t i = 0; i < WORDS; i++) {
        const size_t length = strlen(words[i].text);
        size_t end = at + length;
        if (end > n || strncasecmp(text + at, words[i].text, length) != 0 ||
            (words[i].as_written && strncmp(text + at, words[i].text, length) != 0))
            continue;
        const bool has_joint = end < n && strchr("-_[=", text[end]) && text[end];
        size_t after = end + has_joint;
        *number = words[i].as_written && !has_joint ? TA_MISSING : take_number(text, n, &after);
        *word = words[i].word;
        if (*number != TA_MISSING && (after == n || !isalnum((unsigned char)text[after])))
            return after;
        if (words[i].word == WARM_UP && (end == n || !isalnum((unsigned char)text[end])))
            return end;
    }
    return at;
}

static void note(struct ta_file_name *name, enum word word, int64_t number)
{
    switch (word) {
    case RANK:
        name->rank = number;
        break;
    case TENSOR:
        name->tensor = number;
        break;
    case PIPELINE:
        name->pipeline = number;
        break;
    case DATA:
    case EXPERT:
        break;
    case WORKER:
        name->worker = number;
        break;
    case ITERATION:
    case CYCLE:
        name->counts = word == CYCLE ? TA_ORDINAL_CYCLE : TA_ORDINAL_ITERATION;
        name->ordinal = number;
        break;
    case WARM_UP:
        name->is_warm_up = true;
        if (number != TA_MISSING)
            name->ordinal = number;
    }
}

/* ---- hosts ---------------------------------------------------------------------------------- */

/* The places of a host's name in a path: "warmup-box" of "runs/warmup-box_4037.1764000000123". */
struct host {
    size_t first, end;
};

/* Whether a word with a number, such as "rank_3", ends at `end`: then that is no process. */
static bool ends_word(const char *path, size_t first, size_t end)
{
    for (size_t at = first; at < end; at++) {
        enum word word;
        int64_t number;
        const bool begins = at == first || !isalnum((unsigned char)path[at - 1]);
        if (begins && take_word(path, end, at, &word, &number) == end)
            return true;
    }
    return false;
}

static struct host find_host(const char *path, size_t n, int64_t process)
{
    size_t first = n;
    while (first > 0 && path[first - 1] != '/')
        first--;
    for (size_t at = first + 1; process != TA_MISSING && at < n; at++) {
        size_t end = at;
        const int64_t number = path[at - 1] == '_' ? take_number(path, n, &end) : TA_MISSING;
        if (number == process && (end == n || path[end] == '.') && !ends_word(path, first, end))
            return (struct host){first, end};
    }
    return (struct host){first, first};
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* "worker0.1623143089861": the time in milliseconds that torch's handler ends a name with, once
 * for each cycle of its schedule.  It ends at `*n`, which moves before it. */
static void take_stamp(const char *path, size_t *n, struct ta_file_name *name)
{
    enum { DIGITS_LEAST = 12 };
    size_t start = *n;
    while (start > 0 && isdigit((unsigned char)path[start - 1]))
        start--;
    if (*n - start < DIGITS_LEAST || start == 0 || path[start - 1] != '.')
        return;
    size_t at = start;
    name->ordinal = take_number(path, *n, &at);
    name->counts = TA_ORDINAL_CYCLE;
    *n = start - 1;
}

/* "-memory-1764000000" of cache-dit: a snapshot of the allocator, next to the trace of that name.
 */
static size_t without_memory(const char *path, size_t n)
{
    static const char part[] = "-memory-";
    size_t start = n;
    while (start > 0 && isdigit((unsigned char)path[start - 1]))
        start--;
    const size_t length = sizeof part - 1;
    return start < n && start >= length && memcmp(path + start - length, part, length) == 0
               ? start - length
               : n;
}

/* vLLM: "HOST_PID.async_llm.STAMP", of the process that takes requests. */
static bool is_front_end(const char *path)
{
    static const char word[] = ".async_llm.";
    const char *slash = strrchr(path, '/');
    return strstr(slash ? slash : path, word);
}

bool ta_file_name_read(struct ta_arena *arena, const char *path, int64_t process,
                       struct ta_file_name *name)
{
    size_t n = without_memory(path, without_endings(path, strlen(path)));
    char *family = ta_arena_alloc(arena, n + 1), *end = family;
    *name = (struct ta_file_name){.family = family,
                                  .rank = TA_MISSING,
                                  .pipeline = TA_MISSING,
                                  .tensor = TA_MISSING,
                                  .worker = TA_MISSING,
                                  .ordinal = TA_MISSING,
                                  .is_front_end = is_front_end(path)};
    if (!family)
        return false;
    take_stamp(path, &n, name);
    const struct host host = find_host(path, n, process);
    for (size_t at = 0; at < n;) {
        enum word word = RANK;
        int64_t number = TA_MISSING;
        const bool begins = (at == 0 || !isalnum((unsigned char)path[at - 1])) &&
                            (at < host.first || at >= host.end);
        const size_t after = begins ? take_word(path, n, at, &word, &number) : at;
        if (after > at) {
            note(name, word, number);
            while (end > family && strchr("-_.", end[-1])) /* what joined it to the rest */
                end--;
            at = after;
        } else {
            *end++ = path[at++];
        }
    }
    *end = '\0';
    return true;
}
