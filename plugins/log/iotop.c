/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disk traffic of the host as `iotop -b` prints it, with or without -t, -o and -q:
 *
 *     21:14:00 Total DISK READ :     312.50 M/s | Total DISK WRITE :       0.00 B/s
 *     21:14:00 Actual DISK READ:     312.50 M/s | Actual DISK WRITE:       0.00 B/s
 *         TIME  TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND
 *     21:14:00  4711 be/4 me       312.50 M/s    0.00 B/s  0.00 % 93.10 % python serve.py
 *
 * Actual traffic (iotop-c: current) is what the disks moved and counts; without it the total of all
 * processes does, and with -qqq the sum of the rows of one time.  A K is 1024 bytes.  The row that
 * waits most for its disk says for how much of the time one does. */
#include "lib/nvidia_smi.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>
#include <traceanalyze/table.h>

static const int64_t day_s = 86400;

struct traffic {
    bool is_known;
    int64_t time_ns;
    double read, written; /* bytes per second */
};

struct state {
    int64_t first_s, last_s, days; /* of the clock; TA_MISSING without */
    int64_t refreshes;             /* seconds apart, unless the option -d said otherwise */
    bool begun, has_summaries;
    struct traffic total, rows; /* not yet added */
    int64_t wait_ns;            /* time of the refresh that this is of: */
    double wait;                /* share of it in which the row with most waits; 0 without rows */
};

static void add(struct ta_log_reading *log, struct traffic *traffic)
{
    struct ta_sample sample = {.rank = TA_MISSING,
                               .device = TA_MISSING,
                               .signal = TA_SIGNAL_DISK_READ,
                               .time_ns = traffic->time_ns,
                               .value = traffic->read,
                               .relative = true};
    if (!traffic->is_known)
        return;
    ta_log_add_sample(log, &sample);
    sample.signal = TA_SIGNAL_DISK_WRITTEN;
    sample.value = traffic->written;
    ta_log_add_sample(log, &sample);
    traffic->is_known = false;
}

static void add_wait(struct ta_log_reading *log, struct state *st)
{
    const struct ta_sample sample = {.rank = TA_MISSING,
                                     .device = TA_MISSING,
                                     .signal = TA_SIGNAL_DISK_WAIT,
                                     .time_ns = st->wait_ns,
                                     .value = fmin(1, st->wait),
                                     .relative = true};
    if (st->wait > 0)
        ta_log_add_sample(log, &sample);
    st->wait = 0;
}

/* Since the first refresh. */
static int64_t time_of(struct state *st, const struct ta_log_line *line)
{
    const struct ta_slice whole = ta_text_trim(line->whole);
    const int64_t clock = whole.len > 8 ? smi_clock(ta_slice_part(whole, 0, 8)) : TA_MISSING;
    if (clock == TA_MISSING)
        return st->refreshes * 1000000000;
    if (!st->begun)
        st->first_s = st->last_s = clock;
    st->begun = true;
    if (clock < st->last_s - day_s / 2)
        st->days++;
    st->last_s = clock;
    return (st->days * day_s + clock - st->first_s) * 1000000000;
}

/* Takes "312.50 M/s" off the front; NAN without it. */
static double take_rate(struct ta_slice *text)
{
    static const char units[] = "BKMGT";
    *text = ta_text_trim(*text);
    size_t n = 0;
    while (n < text->len && text->ptr[n] != ' ')
        n++;
    const double value = ta_text_double(ta_slice_part(*text, 0, n));
    struct ta_slice rest = ta_text_trim(ta_slice_from(*text, n));
    const char *unit = rest.len >= 3 && rest.ptr[0] && ta_slice_starts(ta_slice_from(rest, 1), "/s")
                           ? strchr(units, rest.ptr[0])
                           : NULL;
    if (!unit || !(value >= 0))
        return NAN;
    *text = ta_slice_from(rest, 3);
    return ldexp(value, 10 * (int)(unit - units));
}

/* The rate after a label such as "DISK READ:"; NAN without it. */
static double rate_after(struct ta_slice text, const char *label)
{
    const char *at = memmem(text.ptr, text.len, label, strlen(label));
    if (!at)
        return NAN;
    text = ta_text_trim(ta_slice_from(text, (size_t)(at - text.ptr) + strlen(label)));
    if (!ta_slice_starts(text, ":"))
        return NAN;
    text = ta_slice_from(text, 1);
    return take_rate(&text);
}

static enum ta_log_taken take_summary(struct ta_log_reading *log, struct state *st,
                                      const struct ta_log_line *line, bool is_total)
{
    struct traffic traffic = {.read = rate_after(line->text, "DISK READ"),
                              .written = rate_after(line->text, "DISK WRITE")};
    traffic.is_known = traffic.read >= 0 && traffic.written >= 0;
    if (!traffic.is_known)
        return TA_LOG_BAD;
    if (is_total) {
        add(log, &st->total);
        add_wait(log, st);
        st->refreshes += st->has_summaries;
    }
    st->has_summaries = true;
    traffic.time_ns = time_of(st, line);
    st->total = traffic;
    st->wait_ns = traffic.time_ns;
    if (!is_total)
        add(log, &st->total);
    return TA_LOG_TAKEN;
}

/* The last share in "0.00 % 93.10 % python serve.py"; NAN where the kernel does not count it. */
static double wait_of(struct ta_slice text)
{
    double share = NAN;
    for (;;) {
        text = ta_text_trim(text);
        size_t n = 0;
        while (n < text.len && text.ptr[n] != ' ')
            n++;
        const double value = ta_text_double(ta_slice_part(text, 0, n));
        const struct ta_slice rest = ta_text_trim(ta_slice_from(text, n));
        if (!(value >= 0) || !ta_slice_starts(rest, "% "))
            return share;
        share = value / 100;
        text = ta_slice_from(rest, 1);
    }
}

/* "4711 be/4 me 312.50 M/s 0.00 B/s …": only rows with a time say which belong together. */
static enum ta_log_taken take_row(struct ta_log_reading *log, struct state *st,
                                  const struct ta_log_line *line)
{
    static const char *const classes[] = {"be/", "rt/", "idle"};
    struct ta_slice words[3], text = line->text;
    for (size_t i = 0; i < 3; i++) {
        size_t n = 0;
        text = ta_text_trim(text);
        while (n < text.len && text.ptr[n] != ' ')
            n++;
        words[i] = ta_slice_part(text, 0, n);
        text = ta_slice_from(text, n);
    }
    bool is_row = ta_text_integer(words[0]) > 0;
    bool has_class = false;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        has_class |= ta_slice_starts(words[1], classes[i]);
    const double read = take_rate(&text), written = take_rate(&text);
    is_row &= has_class && read >= 0 && written >= 0;
    if (!is_row)
        return TA_LOG_NOT_MINE;
    const double wait = wait_of(text);
    if (st->has_summaries && wait > st->wait) /* not NAN */
        st->wait = wait;
    const struct ta_slice whole = ta_text_trim(line->whole);
    const bool has_clock = whole.len > 8 && smi_clock(ta_slice_part(whole, 0, 8)) != TA_MISSING;
    if (st->has_summaries || !has_clock)
        return TA_LOG_TAKEN;
    const int64_t time_ns = time_of(st, line);
    if (st->rows.is_known && st->rows.time_ns != time_ns)
        add(log, &st->rows);
    if (!st->rows.is_known)
        st->rows = (struct traffic){.is_known = true, .time_ns = time_ns};
    st->rows.read += read;
    st->rows.written += written;
    return TA_LOG_TAKEN;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    if (ta_slice_starts(line->text, "Total DISK READ"))
        return take_summary(log, st, line, true);
    if (ta_slice_starts(line->text, "Actual DISK READ") ||
        ta_slice_starts(line->text, "Current DISK READ"))
        return take_summary(log, st, line, false);
    return take_row(log, st, line);
}

static void end(struct ta_log_reading *log, void *state)
{
    struct state *st = state;
    add(log, &st->total);
    add_wait(log, st);
    if (!st->has_summaries)
        add(log, &st->rows);
}

static const char *const marks[] = {"DISK READ", " be/", " rt/", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, iotop, &ops, .title = "iotop",
          .summary = "Disk traffic of the host, as iotop -b prints it", .version = "1");
