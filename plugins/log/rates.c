/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates that programs print as they measured them:
 *
 *     Average FPS: 12.34
 *     Throughput: 45.2 tokens/s
 *     Generation speed: 3.1 frames per second
 *     4.37 images/sec
 *
 * A number of frames per second is often a setting ("fps: 16"), so one without a unit after it
 * counts only when it has decimals that no setting has.  Of a rate that is printed again and again
 * the mean counts; the least and the most of it are figures, too. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <ctype.h>
#include <math.h>

enum { RANKS_MOST = 64 };

enum rate { FRAMES, IMAGES, TOKENS, REQUESTS, RATES };

static const char *const names[RATES] = {[FRAMES] = "fps",
                                         [IMAGES] = "images_per_s",
                                         [TOKENS] = "tokens_per_s",
                                         [REQUESTS] = "requests_per_s"};

struct state {
    struct sums {
        int64_t rank, n;
        double sum, least, most;
    } of[RANKS_MOST][RATES];
    size_t n_ranks;
};

/* ---- a line ---------------------------------------------------------------------------------- */

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The rate whose unit the text begins with, and moves it past; RATES without one. */
static enum rate unit_of(struct ta_slice *rest)
{
    struct ta_slice text = *rest;
    static const struct {
        const char *unit;
        enum rate rate;
    } units[] = {
        {"fps", FRAMES},
        {"frames/s", FRAMES},
        {"frames/sec", FRAMES},
        {"frame/s", FRAMES},
        {"frames per second", FRAMES},
        {"images/s", IMAGES},
        {"images/sec", IMAGES},
        {"img/s", IMAGES},
        {"imgs/s", IMAGES},
        {"images per second", IMAGES},
        {"tokens/s", TOKENS},
        {"tokens/sec", TOKENS},
        {"token/s", TOKENS},
        {"tok/s", TOKENS},
        {"toks/s", TOKENS},
        {"tokens per second", TOKENS},
        {"tokens/second", TOKENS},
        {"requests/s", REQUESTS},
        {"req/s", REQUESTS},
        {"requests per second", REQUESTS},
    };
    while (text.len && text.ptr[0] == ' ')
        text = ta_slice_from(text, 1);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i].unit);
        if (text.len >= n && strncasecmp(text.ptr, units[i].unit, n) == 0 &&
            (text.len == n || !is_word_char(text.ptr[n]))) {
            *rest = ta_slice_from(text, n);
            return units[i].rate;
        }
    }
    return RATES;
}

/* Whether what is before a number announces it: nothing, "Speed:", "(", "12 s, ", "Average FPS
 * is". */
static bool announces(struct ta_slice before)
{
    static const char *const words[] = {"speed",   "throughput", "rate", "fps is",
                                        "average", "avg",        "mean", NULL};
    for (size_t i = 0; words[i]; i++)
        if (before.len >= strlen(words[i]) &&
            strncasecmp(ta_slice_end(before) - strlen(words[i]), words[i], strlen(words[i])) == 0)
            return true;
    return before.len == 0 || strchr(":=([,;|@~", before.ptr[before.len - 1]);
}

/* Whether no sentence goes on after a rate. */
static bool ends_here(struct ta_slice rest)
{
    rest = ta_text_trim(rest);
    return rest.len == 0 || !isalnum((unsigned char)rest.ptr[0]);
}

static bool has_fraction(struct ta_slice number)
{
    const char *point = memchr(number.ptr, '.', number.len);
    for (size_t i = point ? (size_t)(point - number.ptr) + 1 : number.len; i < number.len; i++)
        if (number.ptr[i] >= '1' && number.ptr[i] <= '9')
            return true;
    return false;
}

/* Words that say that a rate is wanted, or is one of the file that is written. */
static const char *const no_rate[] = {"export",     "save",    "saving",     "target",
                                      "output fps", "setting", "sample_fps", "config",
                                      "--",         "limit",   NULL};

/* "12.34 fps" and what is before it, or "FPS: 12.34".  RATES when the line has none. */
static enum rate rate_in(struct ta_slice text, double *value)
{
    if (ta_log_after(text, "%|").ptr || ta_log_after(text, "generation throughput: ").ptr)
        return RATES; /* a bar, and a server that says more */
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.ptr[i]) || (i > 0 && strchr(".:-/x", text.ptr[i - 1])) ||
            (i > 0 && is_word_char(text.ptr[i - 1])))
            continue;
        struct ta_slice rest = ta_slice_from(text, i);
        *value = ta_log_number(&rest);
        if (isnan(*value))
            continue;
        const struct ta_slice number = ta_slice_part(text, i, text.len - rest.len);
        const enum rate rate = unit_of(&rest);
        const struct ta_slice before = ta_text_trim(ta_slice_part(text, 0, i));
        const bool has_name =
            rate == RATES && (ta_slice_ends(before, "FPS:") || ta_slice_ends(before, "fps:") ||
                              ta_slice_ends(before, "FPS ="));
        if (rate == RATES && !has_name) {
            i = text.len - rest.len - 1;
            continue;
        }
        if (!announces(before) || !ends_here(rest) || ta_slice_has_any(text, no_rate) ||
            ta_log_is_prose(text))
            return RATES;
        const bool is_measured =
            ta_slice_has_any(before, (const char *const[]){"throughput", "speed", "average", "avg",
                                                           "mean", "rate", NULL});
        if (rate != RATES && *value > 0 && (rate != FRAMES || is_measured || has_fraction(number)))
            return rate;
        if (has_name && *value > 0 && rest.len == 0 && (is_measured || has_fraction(number)))
            return FRAMES;
        i = text.len - rest.len - 1;
    }
    return RATES;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    (void)log;
    struct state *st = state;
    double value = NAN;
    const enum rate rate = rate_in(line->text, &value);
    if (rate == RATES)
        return TA_LOG_NOT_MINE;
    size_t rank = 0;
    while (rank < st->n_ranks && st->of[rank][0].rank != line->rank)
        rank++;
    if (rank == RANKS_MOST)
        return TA_LOG_TAKEN;
    if (rank == st->n_ranks)
        st->of[st->n_ranks++][0].rank = line->rank;
    struct sums *sums = &st->of[rank][rate];
    sums->least = sums->n ? fmin(sums->least, value) : value;
    sums->most = sums->n ? fmax(sums->most, value) : value;
    sums->sum += value;
    sums->n++;
    return TA_LOG_TAKEN;
}

static void add(struct ta_log_reading *log, int64_t rank, const char *name, const char *group,
                double value)
{
    const struct ta_figure row = {.rank = rank,
                                  .name = ta_log_string(log, ta_slice_of(name)),
                                  .group = ta_log_string(log, ta_slice_of(group)),
                                  .value = value,
                                  .unit = TA_UNIT_PER_S};
    ta_log_add_figure(log, &row);
}

static void end(struct ta_log_reading *log, void *state)
{
    const struct state *st = state;
    for (size_t i = 0; i < st->n_ranks; i++)
        for (size_t rate = 0; rate < RATES; rate++) {
            const struct sums *sums = &st->of[i][rate];
            if (sums->n == 0)
                continue;
            add(log, st->of[i][0].rank, names[rate], "log", sums->sum / (double)sums->n);
            if (sums->n > 1) {
                add(log, st->of[i][0].rank, names[rate], "log, least", sums->least);
                add(log, st->of[i][0].rank, names[rate], "log, most", sums->most);
            }
        }
}

static const char *const marks[] = {"FPS",         "fps",           "rames/s", "rames per s",
                                    "mages/s",     "mages per s",   "img/s",   "okens/s",
                                    "okens per s", "oken/s",        "tok/s",   "toks/s",
                                    "equests/s",   "equests per s", "req/s",   NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, rates, &ops, .title = "Rates",
          .summary = "Frames, images, tokens or requests per second that programs print",
          .version = "1");
