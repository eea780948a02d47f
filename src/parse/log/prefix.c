/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parse/log/prefix.h"

#include "parse/log/pieces.h"
#include "traceanalyze/document.h"

#include <ctype.h>
#include <stdio.h>

/* ---- one character after the other ----------------------------------------------------------- */

static bool is_digit_at(struct ta_slice text, size_t at)
{
    return at < text.len && isdigit((unsigned char)text.ptr[at]);
}

/* Whether the text has the shape: 0 is any digit, all else is itself. */
static bool has_shape(struct ta_slice text, const char *shape)
{
    const size_t n = strlen(shape);
    if (text.len < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (shape[i] == '0' ? !is_digit_at(text, i) : text.ptr[i] != shape[i])
            return false;
    return true;
}

static int64_t number_at(struct ta_slice text, size_t at, size_t digits)
{
    int64_t value = 0;
    for (size_t i = at; i < at + digits; i++)
        value = value * 10 + (text.ptr[i] - '0');
    return value;
}

static struct ta_slice skip_blanks(struct ta_slice text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = ta_slice_from(text, 1);
    return text;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Days from 1970 to a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* Length of a fraction of a second after a clock. */
static size_t fraction_length(struct ta_slice text, size_t at)
{
    size_t n = 0;
    if (at < text.len && (text.ptr[at] == ',' || text.ptr[at] == '.'))
        while (is_digit_at(text, at + 1 + n))
            n++;
    return n ? n + 1 : 0;
}

static int64_t fraction_ns(struct ta_slice text, size_t at, size_t n)
{
    int64_t ns = 0;
    for (size_t i = 1; i <= 9; i++)
        ns = ns * 10 + (i < n ? text.ptr[at + i] - '0' : 0);
    return ns;
}

/* "Z", "+02:00" or "-0700" after a clock.  A prefix has one zone throughout, so it is not used. */
static size_t zone_length(struct ta_slice text)
{
    if (ta_slice_starts(text, "Z"))
        return 1;
    if (text.len == 0 || !strchr("+-", text.ptr[0]))
        return 0;
    const struct ta_slice digits = ta_slice_from(text, 1);
    return has_shape(digits, "00:00") ? 6 : has_shape(digits, "0000") ? 5 : 0;
}

struct stamp {
    enum ta_log_clock_kind kind;
    int64_t ns;
};

/* The days of a date from the first day of its clock; "MM-DD" lacks the year.  TA_MISSING for a
 * year that no log is of: the nanoseconds to it may be more than a number holds. */
static int64_t date_days(struct ta_slice text, size_t n)
{
    const size_t month = n - strlen("00-00");
    const int64_t year = month ? number_at(text, 0, 4) : 2000;
    if (year < 1970 || year > 2199)
        return TA_MISSING;
    const int64_t days = days_of(year, number_at(text, month, 2), number_at(text, month + 3, 2));
    return month ? days : days - days_of(2000, 1, 1);
}

/* Length of a date, a clock, or both at the start; 0 without one.  Only a whole one is a time. */
static size_t time_length(struct ta_slice text, struct stamp *stamp)
{
    static const char *const dates[] = {"0000-00-00", "0000/00/00", "00-00", "00/00"};
    size_t n = 0, date = 0;
    while (date < sizeof dates / sizeof *dates && !has_shape(text, dates[date]))
        date++;
    if (date < sizeof dates / sizeof *dates) {
        n = strlen(dates[date]);
        if (n >= text.len || !strchr(" T_", text.ptr[n]))
            return 0;
        n++;
    }
    const struct ta_slice clock = ta_slice_from(text, n);
    if (!has_shape(clock, "00:00:00"))
        return 0;
    const size_t fraction = fraction_length(clock, 8);
    const int64_t seconds =
        number_at(clock, 0, 2) * 3600 + number_at(clock, 3, 2) * 60 + number_at(clock, 6, 2);
    const int64_t days = n ? date_days(text, n - 1) : 0;
    if (days == TA_MISSING)
        return 0;
    *stamp = (struct stamp){n == 0                      ? TA_CLOCK_DAILY
                            : n < strlen("0000-00-00 ") ? TA_CLOCK_YEARLY
                                                        : TA_CLOCK_FULL,
                            (days * 86400 + seconds) * INT64_C(1000000000) +
                                fraction_ns(clock, 8, fraction)};
    n += 8 + fraction;
    return n + zone_length(ta_slice_from(text, n));
}

/* "Sep 30 21:14:00", as syslog writes it; days below 10 have a blank more. */
static size_t syslog_length(struct ta_slice text, struct stamp *stamp)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const size_t n = strlen("Sep 30 21:14:00");
    if (text.len <= n || text.ptr[3] != ' ' || text.ptr[6] != ' ' ||
        !(is_digit_at(text, 4) || text.ptr[4] == ' ') || !is_digit_at(text, 5) ||
        !has_shape(ta_slice_from(text, 7), "00:00:00 "))
        return 0;
    const char *month = memmem(months, sizeof months - 1, text.ptr, 3);
    if (!month || (month - months) % 3)
        return 0;
    const int64_t day = (text.ptr[4] == ' ' ? 0 : number_at(text, 4, 1)) * 10 + text.ptr[5] - '0';
    time_length(ta_slice_from(text, 7), stamp);
    stamp->kind = TA_CLOCK_YEARLY;
    stamp->ns += (days_of(2000, (month - months) / 3 + 1, day) - days_of(2000, 1, 1)) * 86400 *
                 INT64_C(1000000000);
    return n;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* "rank 3", "rank3", "RANK=3", "Worker_TP0", "TP0" or "FVWorkerProc-0", wherever in the text. */
static int64_t rank_in(struct ta_slice text)
{
    static const char *const words[] = {"rank", "worker_tp", "tp", "fvworkerproc"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        const size_t n = strlen(words[w]);
        for (size_t i = 0; i + n < text.len; i++) {
            size_t at = i + n, digits = 0;
            if ((i > 0 && isalnum((unsigned char)text.ptr[i - 1])) ||
                strncasecmp(ta_slice_at(text, i), words[w], n) != 0)
                continue;
            at += at < text.len && strchr(" _=:-", text.ptr[at]) && text.ptr[at];
            while (is_digit_at(text, at + digits) && digits < 6)
                digits++;
            if (digits &&
                (at + digits == text.len || !isalnum((unsigned char)text.ptr[at + digits])))
                return number_at(text, at, digits);
        }
    }
    return TA_MISSING;
}

/* ---- parts of a prefix ----------------------------------------------------------------------- */

/* Each gives the length of its part at the start of a text, 0 when it is none. */

static size_t level_length(struct ta_slice text)
{
    static const char *const levels[] = {"DEBUG", "INFO",     "WARNING", "WARN",
                                         "ERROR", "CRITICAL", "FATAL",   "TRACE"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const size_t n = strlen(levels[i]);
        if (ta_slice_starts(text, levels[i]) && n < text.len && strchr(" :|-\t", text.ptr[n]))
            return n;
    }
    return 0;
}

/* In brackets: a time, a level, a rank, a place in a source. */
static size_t bracket_length(struct ta_log_line *line, struct stamp *stamp, struct ta_slice text)
{
    if (text.len < 2 || !strchr("[(", text.ptr[0]))
        return 0;
    const char *end = memchr(text.ptr, text.ptr[0] == '[' ? ']' : ')', text.len);
    if (!end || end - text.ptr > 120)
        return 0;
    const struct ta_slice inside = ta_slice_part(text, 1, (size_t)(end - text.ptr));
    const int64_t rank = rank_in(inside);
    char level[16];
    snprintf(level, sizeof level, "%.*s ", (int)(inside.len < 10 ? inside.len : 10), inside.ptr);
    const bool is_place = ta_log_after(inside, ".py:").ptr || ta_log_after(inside, ".cpp:").ptr ||
                          ta_log_after(inside, "pid=").ptr;
    const bool known = time_length(inside, stamp) || rank != TA_MISSING || is_place ||
                       level_length(ta_slice_of(level));
    if (known && rank != TA_MISSING)
        line->rank = rank;
    return known ? (size_t)(end - text.ptr) + 1 : 0;
}

/* "V0930 21:14:00.123000 4711 torch/_dynamo/guards.py:2789] ". */
static size_t glog_length(struct ta_slice text, struct stamp *stamp)
{
    if (text.len < 2 || !strchr("VDIWEF", text.ptr[0]) ||
        !has_shape(ta_slice_from(text, 1), "0000 00:00:00."))
        return 0;
    const char *end = memchr(text.ptr, ']', text.len);
    if (!end)
        return 0;
    const int64_t days = days_of(2000, number_at(text, 1, 2), number_at(text, 3, 2));
    time_length(ta_slice_from(text, strlen("V0930 ")), stamp);
    stamp->kind = TA_CLOCK_YEARLY;
    stamp->ns += (days - days_of(2000, 1, 1)) * 86400 * INT64_C(1000000000);
    return (size_t)(end - text.ptr) + 1;
}

/* The name of a logger: "sglang.srt:" or "sglang - ", of loguru "app.main:run:12 - ".  Before a
 * colon at its end it has a point, as modules have: "Denoising:" is the beginning of a text. */
static size_t logger_length(struct ta_slice text)
{
    static const char *const roots[] = {"__main__:", "root:"}; /* of Python, without a point */
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (ta_slice_starts(text, roots[i]))
            return strlen(roots[i]) - 1;
    size_t n = 0;
    bool has_point = false;
    for (; n < text.len &&
           (isalnum((unsigned char)text.ptr[n]) || text.ptr[n] == '.' || text.ptr[n] == '_');
         n++)
        has_point |= text.ptr[n] == '.';
    const struct ta_slice rest = ta_slice_from(text, n);
    if (n > 0 && (has_shape(rest, " - ") || (has_point && has_shape(rest, ": "))))
        return n;
    while (n < text.len && (isalnum((unsigned char)text.ptr[n]) || memchr("._:<>", text.ptr[n], 5)))
        n++;
    return n > 0 && is_digit_at(text, n - 1) && has_shape(ta_slice_from(text, n), " - ") ? n : 0;
}

/* "3: " as srun writes it. */
static size_t label_length(struct ta_log_line *line, struct ta_slice text)
{
    size_t n = 0;
    while (is_digit_at(text, n) && n < 6)
        n++;
    if (n == 0 || n + 1 >= text.len || text.ptr[n] != ':' || text.ptr[n + 1] != ' ')
        return 0;
    line->rank = number_at(text, 0, n);
    return n;
}

/* The name of a service, "server-1", which blanks and a bar follow.  It has a dash or a digit: the
 * first cell of a table with bars is a word. */
static size_t service_length(struct ta_slice text)
{
    size_t n = 0, end;
    bool is_name = false;
    for (; n < text.len && (islower((unsigned char)text.ptr[n]) || is_digit_at(text, n) ||
                            strchr("-_.", text.ptr[n]));
         n++)
        is_name |= text.ptr[n] == '-' || is_digit_at(text, n);
    for (end = n; end < text.len && text.ptr[end] == ' ';)
        end++;
    return is_name && islower((unsigned char)text.ptr[0]) && end >= n + 2 &&
                   ta_slice_starts(ta_slice_from(text, end), "| ")
               ? n
               : 0;
}

/* "host python[4711]:", which follows a clock. */
static size_t process_length(struct ta_slice text)
{
    size_t n = 0;
    unsigned words = 0;
    for (; n < text.len && words < 2; n++)
        words += text.ptr[n] == ' ' || text.ptr[n] == '[';
    if (n == 0 || text.ptr[n - 1] != '[' || words != 2 || !is_digit_at(text, n))
        return 0;
    while (is_digit_at(text, n))
        n++;
    return ta_slice_starts(ta_slice_from(text, n), "]: ") ? n + 1 : 0;
}

/* "stdout F" or "stderr P", which follows a clock. */
static size_t container_length(struct ta_slice text)
{
    const size_t n = strlen("stdout F");
    const bool is_stream = ta_slice_starts(text, "stdout ") || ta_slice_starts(text, "stderr ");
    return is_stream && text.len > n && strchr("FP", text.ptr[n - 1]) && text.ptr[n] == ' ' ? n : 0;
}

/* What is between parts: ": ", " - ", " | ". */
static struct ta_slice skip_separator(struct ta_slice text)
{
    text = skip_blanks(text);
    if (text.len && text.ptr[0] == ':')
        text = skip_blanks(ta_slice_from(text, 1));
    while (text.len > 1 && strchr("-|", text.ptr[0]) && text.ptr[1] == ' ')
        text = skip_blanks(ta_slice_from(text, 2));
    return text;
}

/* What is between the last part and the text.  A dash after more than a blank, or after a colon,
 * begins the item of a list, and a bar begins the row of a table that ends with one. */
static struct ta_slice skip_last_separator(struct ta_slice text)
{
    const struct ta_slice rest = skip_blanks(text);
    if (rest.len && rest.ptr[0] == ':')
        return skip_blanks(ta_slice_from(rest, 1));
    const char last = rest.len ? rest.ptr[rest.len - 1] : '\0';
    const bool is_separator =
        rest.len > 1 && rest.ptr[1] == ' ' &&
        ((rest.ptr[0] == '-' && text.len - rest.len < 2) || (rest.ptr[0] == '|' && last != '|'));
    return is_separator ? skip_blanks(ta_slice_from(rest, 2)) : rest;
}

/* Names of loggers are known by what is before them. */
static size_t part_length(struct ta_log_line *line, struct stamp *stamp, struct ta_slice text,
                          unsigned parts)
{
    size_t n = parts == 0 ? label_length(line, text) : 0;
    n = n || parts ? n : service_length(text);
    n = n ? n : ta_slice_starts(text, "> ");
    n = n ? n : syslog_length(text, stamp);
    if (!n && stamp->kind != TA_CLOCK_NONE)
        n = process_length(text) ? process_length(text) : container_length(text);
    n = n ? n : time_length(text, stamp);
    n = n ? n : level_length(text);
    n = n ? n : glog_length(text, stamp);
    n = n ? n : bracket_length(line, stamp, text);
    return n || parts == 0 ? n : logger_length(text);
}

static struct stamp strip(struct ta_log_line *line)
{
    struct stamp stamp = {TA_CLOCK_NONE, TA_MISSING};
    struct ta_slice rest = ta_text_trim(line->whole), next = rest;
    unsigned parts = 0;
    line->rank = TA_MISSING;
    for (size_t n; parts < 8 && (n = part_length(line, &stamp, next, parts)) > 0; parts++) {
        rest = ta_slice_from(next, n);
        next = skip_separator(rest);
    }
    line->text = parts ? skip_last_separator(rest) : rest;
    line->time_ns = stamp.kind == TA_CLOCK_FULL ? stamp.ns : TA_MISSING;
    return stamp;
}

void ta_log_strip_prefix(struct ta_log_line *line)
{
    (void)strip(line);
}

/* Whether a line may begin with a clock, or with a level before one: what costs little to see. */
static bool may_have_clock(struct ta_slice text)
{
    if (text.len <= strlen("00:00:00"))
        return false;
    const unsigned char first = (unsigned char)text.ptr[0], second = (unsigned char)text.ptr[1];
    if (isupper(first))
        return isupper(second) || isdigit(second) || /* "INFO", "I0930", "Sep 30" */
               (text.ptr[3] == ' ' && is_digit_at(text, 5));
    return isdigit(first) ? isdigit(second) || second == ':'
                          : first == '[' || first == '(' || first == '>';
}

enum ta_log_clock_kind ta_log_clock_of(struct ta_log_line *line, int64_t *ns)
{
    struct stamp stamp = {TA_CLOCK_NONE, TA_MISSING};
    if (may_have_clock(skip_blanks(line->whole)))
        stamp = strip(line);
    *ns = stamp.ns;
    return stamp.kind;
}
