/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times that programs print themselves, in the forms that say what was timed and in which unit:
 *
 *     Inference time: 54.32 seconds
 *     Model loading took 23.4 s
 *     Pixel data generated successfully in 22.40 seconds
 *     step 3/20, loss 0.1, time 2.41 s
 *
 * Steps that follow each other from the first on are the states of a bar whose elapsed time is the
 * sum of their times.  What is a limit, a setting or an estimate is no time. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <ctype.h>
#include <stdio.h>

enum { NAME_MOST = 60 };

/* The loop whose steps follow each other. */
struct state {
    char loop[NAME_MOST];
    int64_t bar, load, rank, done, total, elapsed_ns; /* done is 0 before the first */
};

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether one of the words is in the text as a whole word, whatever its case. */
static bool has_word(struct ta_slice text, const char *const *words)
{
    for (; *words; words++) {
        const size_t n = strlen(*words);
        for (size_t i = 0; i + n <= text.len; i++)
            if (strncasecmp(ta_slice_at(text, i), *words, n) == 0 &&
                (i == 0 || !is_word_char(text.ptr[i - 1])) &&
                (i + n == text.len || !is_word_char(text.ptr[i + n])))
                return true;
    }
    return false;
}

static const char *const no_time[] = {
    "eta",      "remaining", "left",  "timeout", "limit", "retry", "retrying",  "wait",
    "waiting",  "interval",  "every", "expires", "after", "until", "estimated", "expected",
    "deadline", "scheduled", "start", "delay",   "sleep", NULL};

/* The last word of a text, without what separates it from what follows. */
static struct ta_slice last_word(struct ta_slice text)
{
    size_t end = text.len;
    while (end > 0 && !is_word_char(text.ptr[end - 1]))
        end--;
    size_t from = end;
    while (from > 0 && is_word_char(text.ptr[from - 1]))
        from--;
    return ta_slice_part(text, from, end);
}

static bool is_one_of(struct ta_slice word, const char *const *words)
{
    for (; *words; words++)
        if (word.len == strlen(*words) && strncasecmp(word.ptr, *words, word.len) == 0)
            return true;
    return false;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* What ends the words before a time: "… time: 3 s", "… took 3 s", "… finished in 3 s". */
static const char *const nouns[] = {"time", "latency", "duration", "elapsed",
                                    "cost", "taken",   NULL};
static const char *const verbs[] = {"took", NULL};
static const char *const participles[] = {
    "finished", "completed", "done",  "generated", "processed",    "executed", "decoded",
    "encoded",  "loaded",    "saved", "compiled",  "successfully", NULL};
static const char *const fillers[] = {"time",  "latency", "duration", "elapsed",      "cost",
                                      "taken", "took",    "is",       "finished",     "completed",
                                      "done",  "in",      "was",      "successfully", NULL};

/* Whether the words say that a time follows. */
static bool announces(struct ta_slice words)
{
    const char last = words.len ? words.ptr[words.len - 1] : 0;
    const struct ta_slice word = last_word(words);
    if (is_one_of(word, nouns))
        return last == ':' || last == '=';
    return is_one_of(word, verbs) ||
           (is_one_of(word, (const char *const[]){"in", NULL}) && has_word(words, participles));
}

/* Words without the name of a logger before them, "main: ", which is known by the prefix before
 * it. */
static struct ta_slice without_logger(const struct ta_log_line *line, struct ta_slice words)
{
    size_t n = 0;
    while (n < words.len && (islower((unsigned char)words.ptr[n]) || words.ptr[n] == '_' ||
                             isdigit((unsigned char)words.ptr[n])))
        n++;
    const bool is_logger = n > 0 && n + 1 < words.len && words.ptr[n] == ':' &&
                           words.ptr != ta_text_trim(line->whole).ptr;
    return is_logger ? ta_text_trim(ta_slice_from(words, n + 1)) : words;
}

/* "Inference" of "Inference time:", "total" of "Total time:", "" of "Elapsed time:". */
static void name_of(char name[NAME_MOST], struct ta_slice words)
{
    for (;;) {
        const struct ta_slice word = last_word(words);
        words = ta_slice_part(words, 0, (size_t)(ta_slice_end(word) - words.ptr));
        if (word.len == 0 || !is_one_of(word, fillers))
            break;
        words = ta_slice_part(words, 0, (size_t)(word.ptr - words.ptr));
    }
    while (words.len && !is_word_char(words.ptr[0]))
        words = ta_slice_from(words, 1);
    static const char *const whole[] = {"total", "overall", "end-to-end", "e2e", NULL};
    if (is_one_of(words, whole))
        words = TA_LIT("total");
    snprintf(name, NAME_MOST, "%.*s", (int)ta_min_i64((int64_t)words.len, NAME_MOST), words.ptr);
}

/* Whether a time may end here: not before a further number or word that makes it another thing. */
static bool ends_here(struct ta_slice rest)
{
    return rest.len == 0 || strchr(".,;)|]( ", rest.ptr[0]);
}

/* Whether no sentence goes on after a time.  Programs say more in brackets or with further
 * figures. */
static bool ends_sentence(struct ta_slice rest)
{
    if (ta_slice_starts(rest, ",") || ta_slice_starts(rest, ";"))
        return memchr(rest.ptr, ':', rest.len) || memchr(rest.ptr, '=', rest.len);
    if (ta_slice_starts(rest, " ") && rest.len > 1)
        return strchr("([|/-=", rest.ptr[1]) != NULL;
    const bool is_end = ta_slice_starts(rest, ".") && rest.len > 1;
    return !is_end;
}

/* "Inference time: 54.32 seconds": the whole line up to the time is its name.  A time
 * without one ("Time cost: 3 s") is of the run, or of a part that nobody names. */
static bool take_time(struct ta_log_reading *log, const struct ta_log_line *line)
{
    const struct ta_slice text = line->text;
    size_t from = 0;
    while (from < text.len && from < 2 * NAME_MOST && !isdigit((unsigned char)text.ptr[from]))
        from++;
    const struct ta_slice words = ta_text_trim(ta_slice_part(text, 0, from));
    if (from == text.len || words.len == 0 || words.len >= NAME_MOST || !announces(words) ||
        has_word(words, no_time) || ta_log_is_prose(text))
        return false;
    struct ta_slice rest = ta_slice_from(text, from);
    const int64_t ns = ta_log_time(&rest);
    if (ns == TA_MISSING || !ends_here(rest) || !ends_sentence(rest))
        return false;
    char name[NAME_MOST];
    name_of(name, without_logger(line, words));
    if (name[0] == '\0') {
        const struct ta_iterations run = {.rank = line->rank,
                                          .name = ta_log_string(log, TA_LIT("run")),
                                          .count = 1,
                                          .total_ns = ns,
                                          .min_ns = ns,
                                          .max_ns = ns,
                                          .median_ns = TA_MISSING};
        ta_log_add_iterations(log, &run);
        return true;
    }
    struct ta_timed_stage stage = ta_single_call(ta_log_string(log, ta_slice_of(name)), ns);
    stage.rank = line->rank;
    ta_log_add_stage(log, &stage);
    if (strcmp(name, "total") != 0)
        log->timed_ns = ta_add_sat(log->timed_ns, ns);
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const char *const steps[] = {"step", "steps", "iter", "iteration", "timestep", NULL};

/* The one time with a unit in a text that is neither an estimate nor a sum; TA_MISSING without, or
 * with several. */
static int64_t time_in(struct ta_slice text)
{
    static const char *const others[] = {"eta",   "remaining", "left", "elapsed",
                                         "total", "estimated", NULL};
    int64_t found = TA_MISSING;
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.ptr[i]) ||
            (i > 0 && (is_word_char(text.ptr[i - 1]) || strchr(".:-", text.ptr[i - 1]))))
            continue;
        struct ta_slice rest = ta_slice_from(text, i);
        const int64_t ns = ta_log_time(&rest);
        if (ns == TA_MISSING ||
            (!ends_here(rest) && !ta_slice_starts(rest, "/it") && !ta_slice_starts(rest, "/step")))
            continue;
        const bool is_other = is_one_of(last_word(ta_slice_part(text, 0, i)), others);
        if (!is_other && found != TA_MISSING)
            return TA_MISSING;
        found = is_other ? found : ns;
        i = text.len - rest.len - 1;
    }
    return found;
}

static void close_loop(struct ta_log_reading *log, struct state *st)
{
    if (st->done > 0) {
        struct ta_iterations sum = ta_unknown_iterations();
        sum.rank = st->rank;
        sum.name = ta_log_string(log, ta_slice_of(st->loop));
        sum.count = st->done;
        sum.total_ns = st->elapsed_ns;
        ta_log_add_iterations(log, &sum);
    }
    st->done = 0;
}

/* "step 3/20 …, 2.41 s". */
static bool take_step(struct ta_log_reading *log, struct state *st, const struct ta_log_line *line)
{
    const struct ta_slice text = line->text;
    size_t from = 0;
    while (from < text.len && from < NAME_MOST && !isdigit((unsigned char)text.ptr[from]))
        from++;
    const struct ta_slice words = ta_slice_part(text, 0, from);
    struct ta_slice rest = ta_slice_from(text, from);
    if (!is_one_of(last_word(words), steps))
        return false;
    const int64_t done = ta_log_integer(&rest);
    if (!ta_slice_starts(rest, "/") && !ta_slice_starts(rest, " / "))
        return false;
    rest = ta_slice_from(rest, rest.ptr[0] == '/' ? 1 : 3);
    const int64_t total = ta_log_integer(&rest);
    const int64_t ns = total >= done && done > 0 ? time_in(rest) : TA_MISSING;
    if (ns == TA_MISSING || ta_log_is_prose(text))
        return false;
    char loop[NAME_MOST];
    const struct ta_slice word = last_word(words);
    snprintf(loop, sizeof loop, "%.*s", (int)word.len, word.ptr);
    const bool follows = done == st->done + 1 && total == st->total && line->rank == st->rank &&
                         strcasecmp(loop, st->loop) == 0;
    if (done != 1 && !follows)
        return true; /* the steps between have no times */
    if (done == 1) {
        close_loop(log, st);
        memcpy(st->loop, loop, sizeof loop);
        st->rank = line->rank;
        st->total = total;
        st->elapsed_ns = 0;
        st->bar = log->bars++;
        st->load = log->load;
    }
    st->done = done;
    st->elapsed_ns = ta_add_sat(st->elapsed_ns, ns);
    log->timed_ns = ta_add_sat(log->timed_ns, ns);
    const struct ta_bar_state row = {.rank = st->rank,
                                     .name = ta_log_string(log, ta_slice_of(st->loop)),
                                     .bar = st->bar,
                                     .done = done,
                                     .total = total,
                                     .elapsed_ns = st->elapsed_ns,
                                     .iteration_ns = ns,
                                     .time_ns = line->time_ns,
                                     .load = st->load};
    ta_log_add_bar_state(log, &row);
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    const bool is_bar = ta_log_after(line->text, "%|").ptr != NULL;
    return !is_bar && (take_step(log, state, line) || take_time(log, line)) ? TA_LOG_TAKEN
                                                                            : TA_LOG_NOT_MINE;
}

static void end(struct ta_log_reading *log, void *state)
{
    close_loop(log, state);
}

static const char *const marks[] = {" took ",   "time: ",   "Time: ",  "time = ",  "Time = ",
                                    "time=",    "taken: ",  "cost: ",  "atency: ", "lapsed",
                                    "uration:", "ed in ",   "one in ", "ully in ", "tep ",
                                    "STEP ",    "teration", "iter ",   "Iter ",    NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, timings, &ops, .title = "Times",
          .summary = "Durations that programs print, of a whole task or of each step",
          .version = "1");
