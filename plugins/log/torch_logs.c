/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What torch.compile logs with TORCH_LOGS=recompiles,graph_breaks, in torch 2.1 and later, and the
 * warning that it gives up on a function, which it logs in any case:
 *
 *     V1103 02:48:08.805986 34281 torch/_dynamo/guards.py:2813] [0/1] [__recompiles] Recompiling
 *     function forward in mpnet/modeling_mpnet.py:502
 *     … [__recompiles]     triggered by the following guard failure(s):
 *     … [__recompiles]     - 0/0: tensor 'L['x']' size mismatch at index 0. expected 16, actual 1
 *
 *     … [__graph_breaks] Graph break in user code at /home/model.py:102
 *     … [__graph_breaks] Graph Break Reason: Data dependent operator
 *
 *     … [WARNING] Graph break: REASON from user code at   File "/home/model.py", line 102, in f
 *
 *     … [2/8] torch._dynamo hit config.recompile_limit (8)
 *     … [2/8]    function: 'forward' (/home/model.py:102)
 *     … [2/8]    last reason: 2/7: self.layer_id == 7
 *
 * (each on one line; the fifth is of torch 2.0).  A recompilation has a guard for each compiled
 * version that did not fit; the first one is kept. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <stdio.h>

#define OLD_BREAK " from user code at "

enum { PLACE_MOST = 160, TEXT_MOST = 480 };

struct state {
    enum { NONE, RECOMPILATION, GRAPH_BREAK, LIMIT } open;
    bool is_whole;          /* the line with the place has ended, since another one came */
    char place[PLACE_MOST]; /* "forward in mpnet/modeling_mpnet.py:502" */
    char reason[TEXT_MOST];
    int64_t limit; /* of compilations */
    int64_t rank, time_ns;
};

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A path with its line, and of its folders the innermost. */
static struct ta_slice short_path(struct ta_slice path)
{
    size_t start = path.len;
    for (unsigned slashes = 0; start > 0; start--) {
        slashes += path.ptr[start - 1] == '/' || path.ptr[start - 1] == '\\';
        if (slashes == 2)
            break;
    }
    return ta_slice_from(path, start);
}

/* Whether it ends with a colon and a number, as "model.py:102" does. */
static bool has_line(struct ta_slice path)
{
    size_t digits = 0;
    while (digits < path.len && path.ptr[path.len - digits - 1] >= '0' &&
           path.ptr[path.len - digits - 1] <= '9')
        digits++;
    return digits && digits + 1 < path.len && path.ptr[path.len - digits - 1] == ':';
}

/* The text after the name of the artifact: "[0/1] [__recompiles]     - 0/0: …". */
static struct ta_slice message_of(struct ta_slice text)
{
    static const char *const names[] = {"[__recompiles]", "[__graph_breaks]",
                                        "[__recompiles_verbose]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct ta_slice rest = ta_log_after(text, names[i]);
        if (rest.ptr)
            return ta_text_trim(rest);
    }
    return text;
}

static void copy(char *to, size_t size, struct ta_slice text)
{
    snprintf(to, size, "%.*s", (int)(text.len < size ? text.len : size), text.ptr);
}

/* ---- records --------------------------------------------------------------------------------- */

static void close_record(struct ta_log_reading *log, struct state *st)
{
    static const char *const names[] = {[RECOMPILATION] = "recompilation",
                                        [GRAPH_BREAK] = "graph break",
                                        [LIMIT] = "recompile limit"};
    if (st->open != NONE && st->is_whole && st->place[0]) {
        char data[PLACE_MOST + TEXT_MOST + 4];
        snprintf(data, sizeof data, "%s%s%s", st->place, st->reason[0] ? ": " : "", st->reason);
        const struct ta_happening row = {
            .rank = st->rank,
            .name = ta_log_string(log, ta_slice_of(names[st->open])),
            .data = ta_log_string(log, ta_slice_of(data)),
            .time_ns = st->time_ns,
        };
        ta_log_add_happening(log, &row);
    }
    st->open = NONE;
}

/* Begins a record at a line that names its place; false when it does not. */
static bool open_record(struct ta_log_reading *log, struct state *st,
                        const struct ta_log_line *line, struct ta_slice text)
{
    const struct ta_slice recompiled = ta_log_after(text, "Recompiling function ");
    const struct ta_slice name = recompiled;
    const struct ta_slice path = recompiled.ptr ? ta_log_after(recompiled, " in ")
                                 : ta_log_after(text, "Graph break").ptr
                                     ? ta_log_after(text, " in user code at ")
                                     : (struct ta_slice){NULL, 0};
    if (!path.ptr || !has_line(path))
        return false;
    close_record(log, st);
    const struct ta_slice file = short_path(path);
    const size_t named = recompiled.ptr ? (size_t)(path.ptr - name.ptr) : 0; /* with its " in " */
    snprintf(st->place, sizeof st->place, "%.*s%.*s", (int)(named < 70 ? named : 70),
             recompiled.ptr ? name.ptr : "", (int)(file.len < 88 ? file.len : 88), file.ptr);
    st->open = recompiled.ptr ? RECOMPILATION : GRAPH_BREAK;
    st->is_whole = false;
    st->reason[0] = '\0';
    st->rank = line->rank;
    st->time_ns = line->time_ns;
    return true;
}

/* The wording of torch 2.0, which has all in one line.  False for another line. */
static bool take_old_break(struct ta_log_reading *log, struct state *st,
                           const struct ta_log_line *line)
{
    const struct ta_slice reason = ta_log_after(line->text, "Graph break: ");
    const struct ta_slice file = ta_log_after(reason, OLD_BREAK);
    const struct ta_slice path = ta_log_after(file, "File \"");
    struct ta_slice number = ta_log_after(path, "\", line ");
    if (!number.ptr)
        return false;
    const struct ta_slice name =
        short_path(ta_slice_part(path, 0, (size_t)(number.ptr - path.ptr) - strlen("\", line ")));
    const int64_t at = ta_log_integer(&number);
    if (at == TA_MISSING || !ta_slice_starts(number, ", in "))
        return false;
    close_record(log, st);
    st->open = GRAPH_BREAK;
    st->is_whole = true;
    st->rank = line->rank;
    st->time_ns = line->time_ns;
    snprintf(st->place, sizeof st->place, "%.*s:%lld", (int)(name.len < 120 ? name.len : 120),
             name.ptr, (long long)at);
    copy(st->reason, sizeof st->reason,
         ta_slice_part(reason, 0, (size_t)(file.ptr - reason.ptr) - strlen(OLD_BREAK)));
    close_record(log, st);
    return true;
}

/* "- 0/0: GUARD", "- GUARD" of older versions, and what belongs to it.  False for another line. */
static bool take_guard(struct state *st, struct ta_slice text)
{
    if (ta_slice_starts(text, "triggered by ") || ta_slice_starts(text, "# "))
        return true;
    if (!ta_slice_starts(text, "- "))
        return false;
    struct ta_slice guard = ta_text_trim(ta_slice_from(text, 2));
    struct ta_slice rest = guard;
    const int64_t frame = ta_log_integer(&rest);
    if (frame != TA_MISSING && ta_slice_starts(rest, "/")) {
        rest = ta_slice_from(rest, 1);
        if (ta_log_integer(&rest) != TA_MISSING && ta_slice_starts(rest, ": "))
            guard = ta_slice_from(rest, 2);
    }
    size_t number = 0; /* a log that ends within "0/0:" has no guard there */
    while (number < guard.len && strchr("0123456789/:", guard.ptr[number]))
        number++;
    if (!st->reason[0] && number < guard.len)
        copy(st->reason, sizeof st->reason, guard);
    return true;
}

static bool take_reason(struct state *st, struct ta_slice text)
{
    const struct ta_slice reason = ta_log_after(text, "Reason: ");
    if (reason.ptr)
        copy(st->reason, sizeof st->reason, reason);
    return reason.ptr != NULL;
}

/* "torch._dynamo hit config.recompile_limit (8)". */
static bool open_limit(struct ta_log_reading *log, struct state *st, const struct ta_log_line *line,
                       struct ta_slice text)
{
    struct ta_slice rest = ta_log_after(text, "hit config.");
    rest = rest.ptr ? ta_log_after(rest, "_limit (") : rest;
    const int64_t limit = rest.ptr ? ta_log_integer(&rest) : TA_MISSING;
    if (limit == TA_MISSING || !ta_slice_starts(rest, ")"))
        return false;
    close_record(log, st);
    st->open = LIMIT;
    st->limit = limit;
    st->place[0] = st->reason[0] = '\0';
    st->rank = line->rank;
    st->time_ns = line->time_ns;
    return true;
}

/* "function: 'forward' (/home/model.py:102)", "last reason: 2/7: GUARD". */
static bool take_limit(struct state *st, struct ta_slice text)
{
    const struct ta_slice name = ta_log_after(text, "function: '");
    const struct ta_slice path = name.ptr ? ta_log_after(name, "' (") : name;
    const char *end = path.len ? memchr(path.ptr, ')', path.len) : NULL;
    if (end && has_line(ta_slice_part(path, 0, (size_t)(end - path.ptr)))) {
        const struct ta_slice file = short_path(ta_slice_part(path, 0, (size_t)(end - path.ptr)));
        const size_t named = (size_t)(path.ptr - name.ptr) - strlen("' (");
        snprintf(st->place, sizeof st->place, "%.*s in %.*s", (int)(named < 66 ? named : 66),
                 name.ptr, (int)(file.len < 88 ? file.len : 88), file.ptr);
        return true;
    }
    struct ta_slice reason = ta_log_after(text, "last reason: ");
    if (!reason.ptr)
        return ta_log_after(text, "To log all recompilation reasons").ptr != NULL;
    const struct ta_slice guard = ta_log_after(reason, ": ");
    char words[TEXT_MOST];
    copy(words, sizeof words, guard.ptr ? guard : reason);
    snprintf(st->reason, sizeof st->reason, "after %lld compilations, %.*s", (long long)st->limit,
             TEXT_MOST - 48, words);
    return true;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    const struct ta_slice text = message_of(line->text);
    if (take_old_break(log, st, line))
        return TA_LOG_TAKEN;
    if (st->open != NONE)
        st->is_whole = true;
    if (open_limit(log, st, line, text))
        return TA_LOG_MORE;
    if (st->open == LIMIT && take_limit(st, text))
        return TA_LOG_MORE;
    if (open_record(log, st, line, text))
        return TA_LOG_MORE;
    if (st->open == RECOMPILATION && take_guard(st, text))
        return TA_LOG_MORE;
    const bool is_reason = st->open == GRAPH_BREAK && take_reason(st, text);
    close_record(log, st);
    return is_reason ? TA_LOG_TAKEN : TA_LOG_NOT_MINE;
}

static void end(struct ta_log_reading *log, void *state)
{
    close_record(log, state);
}

static const char *const marks[] = {"Recompiling function ", " in user code at ", OLD_BREAK,
                                    "_limit (", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(
    log, torch_logs, &ops, .title = "TORCH_LOGS",
    .summary = "Recompilations and graph breaks of torch.compile, with their place and reason",
    .version = "1");
