/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disks and swap of the host, as vmstat, sar and dstat print them in columns:
 *
 *     procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 *      r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 *      2 14 8123452  61232   1204  98340 8120 9340 12030 10220 9012 12011  4  6 12 78  0
 *
 *     06:10:38 PM       DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
 *     06:10:39 PM   nvme0n1   2310.00 312500.00      0.00    135.28      8.31      3.60     99.20
 *
 *     ----total-usage---- -dsk/total- -net/total- ---paging-- ---system--
 *     usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw
 *       6   3  90   0   0| 307M     0| 150M  162M|   0     0 |  47k   31k
 *
 * A heading says what the columns are; of a row of sar the last words are the values, since times
 * come in one to three words.  The first row of vmstat and dstat is the mean since the machine was
 * started and does not count.  Of what several tables of sar say the first one counts. */
#include "lib/nvidia_smi.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>
#include <traceanalyze/table.h>

enum { COLUMNS = 64, DAY_S = 86400, PAGE = 4096, SECTOR = 512, KIB = 1024, MIB = 1048576 };

/* What a column says.  Devices are added up; of the time in which they work the most counts. */
enum meaning { READ, WRITTEN, SWAP_READ, SWAP_WRITTEN, WAIT, MEANINGS };

static const enum ta_signal signals[MEANINGS] = {
    [READ] = TA_SIGNAL_DISK_READ,      [WRITTEN] = TA_SIGNAL_DISK_WRITTEN,
    [SWAP_READ] = TA_SIGNAL_SWAP_READ, [SWAP_WRITTEN] = TA_SIGNAL_SWAP_WRITTEN,
    [WAIT] = TA_SIGNAL_DISK_WAIT,
};

static const struct column {
    const char *name;
    enum meaning meaning;
    double factor;
    bool of_processors; /* a share of the time of all of them: one that waits is a small part */
} columns[] = {
    {"bi", READ, KIB, false},
    {"bo", WRITTEN, KIB, false},
    {"si", SWAP_READ, KIB, false},
    {"so", SWAP_WRITTEN, KIB, false},
    {"b", WAIT, 1, false}, /* vmstat: processes that wait for a disk */
    {"pgpgin/s", READ, KIB, false},
    {"pgpgout/s", WRITTEN, KIB, false},
    {"bread/s", READ, SECTOR, false},
    {"bwrtn/s", WRITTEN, SECTOR, false},
    {"rkB/s", READ, KIB, false},
    {"wkB/s", WRITTEN, KIB, false},
    {"rMB/s", READ, MIB, false},
    {"wMB/s", WRITTEN, MIB, false},
    {"rd_sec/s", READ, SECTOR, false},
    {"wr_sec/s", WRITTEN, SECTOR, false},
    {"pswpin/s", SWAP_READ, PAGE, false},
    {"pswpout/s", SWAP_WRITTEN, PAGE, false},
    {"%util", WAIT, 0.01, false},
    {"%iowait", WAIT, 0.01, true},
};

enum tool { NO_TOOL, VMSTAT, SAR, DSTAT };

struct state {
    enum tool tool;
    const struct column *columns[COLUMNS]; /* of vmstat and sar; NULL for others */
    const struct column *sources[MEANINGS];
    size_t n_columns;
    bool has_name;                /* the first column is one: a row for each */
    double cpus;                  /* as the first line of sar says */
    enum meaning groups[COLUMNS]; /* of dstat: of the first of their two columns */
    size_t n_groups;
    bool begun, has_clock, has_values;
    int64_t first_s, last_s, days, rows, time_ns;
    double values[MEANINGS]; /* of the moment, not added yet; NAN where nothing says it */
};

/* ---- words ----------------------------------------------------------------------------------- */

static size_t split(struct ta_slice text, struct ta_slice *words)
{
    static const char blanks[] = " \t\r\n";
    size_t n = 0;
    for (size_t at = 0, end; at < text.len && n < COLUMNS; at = end + 1) {
        for (end = at; end < text.len && !strchr(blanks, text.ptr[end]);)
            end++;
        if (end > at)
            words[n++] = ta_slice_part(text, at, end);
    }
    return n;
}

static bool is(struct ta_slice word, const char *text)
{
    return ta_slice_equal(word, ta_slice_of(text));
}

/* "312500.00", and as dstat writes them "307M", "16k", "0B"; NAN for anything else. */
static double number_of(struct ta_slice word)
{
    static const char units[] = "BkMGT";
    const char *unit =
        word.len > 1 ? memchr(units, *ta_slice_at(word, word.len - 1), sizeof units - 1) : NULL;
    const double value = ta_text_double(ta_slice_part(word, 0, word.len - (unit != NULL)));
    return value >= 0 ? ldexp(value, unit ? 10 * (int)(unit - units) : 0) : NAN;
}

/* ---- moments --------------------------------------------------------------------------------- */

static void add(struct ta_log_reading *log, struct state *st)
{
    for (size_t i = 0; i < MEANINGS; i++) {
        const struct ta_sample sample = {.rank = TA_MISSING,
                                         .device = TA_MISSING,
                                         .signal = signals[i],
                                         .time_ns = st->time_ns,
                                         .value =
                                             i == WAIT ? fmin(1, st->values[i]) : st->values[i],
                                         .relative = true};
        if (st->has_values && !isnan(st->values[i]))
            ta_log_add_sample(log, &sample);
        st->values[i] = NAN;
    }
    st->has_values = false;
}

/* Of "06:10:39 PM", in words that may hold more; without a clock a row is a second. */
static int64_t time_of(struct state *st, const struct ta_slice *words, size_t n)
{
    int64_t clock = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        if (clock == TA_MISSING)
            clock = smi_clock(words[i]);
        else if (is(words[i], "PM") && clock < DAY_S / 2)
            clock += DAY_S / 2;
        else if (is(words[i], "AM") && clock >= DAY_S / 2)
            clock -= DAY_S / 2;
    }
    if (clock == TA_MISSING)
        return st->rows * 1000000000;
    if (!st->has_clock)
        st->first_s = st->last_s = clock;
    st->has_clock = true;
    st->days += clock < st->last_s - DAY_S / 2;
    st->last_s = clock;
    return (st->days * DAY_S + clock - st->first_s) * 1000000000;
}

/* What a row says begins another moment, unless it is of the same one; false for the mean since the
 * start of the machine. */
static bool begin_moment(struct ta_log_reading *log, struct state *st, int64_t time_ns)
{
    if (st->has_values && (st->tool != SAR || time_ns != st->time_ns))
        add(log, st);
    const bool counts = st->tool == SAR || st->begun;
    st->begun = true;
    st->rows += counts;
    st->time_ns = time_ns;
    st->has_values = counts;
    return counts;
}

static void take_value(struct state *st, enum meaning meaning, double now)
{
    double *value = &st->values[meaning];
    *value = isnan(*value) ? now : meaning == WAIT ? fmax(*value, now) : *value + now;
}

/* ---- vmstat and sar -------------------------------------------------------------------------- */

static void begin(struct state *st, enum tool tool, const struct ta_slice *words, size_t n)
{
    st->tool = tool;
    st->n_columns = n;
    st->has_name = is(words[0], "DEV") || is(words[0], "CPU");
    for (size_t i = 0; i < n; i++) {
        st->columns[i] = NULL;
        for (size_t k = 0; k < TA_LENGTH(columns); k++) {
            const struct column **source = &st->sources[columns[k].meaning];
            if (!is(words[i], columns[k].name) || (*source && *source != &columns[k]))
                continue;
            *source = st->columns[i] = &columns[k];
        }
    }
}

/* " r  b   swpd …", "06:10:38 PM  DEV  tps …" */
static bool is_heading(struct state *st, const struct ta_slice *words, size_t n)
{
    if (n >= 16 && is(words[0], "r") && is(words[1], "b") && is(words[2], "swpd")) {
        begin(st, VMSTAT, words, 16); /* what follows may be the time's */
        return true;
    }
    size_t first = 1;
    while (first < n && first < 4 &&
           (is(words[first], "AM") || is(words[first], "PM") ||
            (words[first].len >= 3 && ta_slice_at(words[first], 0)[0] >= 'A' &&
             ta_slice_at(words[first], 0)[0] <= 'Z' && !is(words[first], "DEV") &&
             !is(words[first], "CPU"))))
        first++;
    if (n <= first + 1 || smi_clock(words[0]) == TA_MISSING || !isnan(number_of(words[n - 1])))
        return false;
    begin(st, SAR, words + first, n - first);
    return true;
}

/* What has a row of its own as well, or is no disk. */
static bool is_part(struct ta_slice device)
{
    static const char *const parts[] = {"dm-", "md", "loop", "zram", "sr", "ram"};
    for (size_t i = 0; i < TA_LENGTH(parts); i++)
        if (ta_slice_starts(device, parts[i]))
            return true;
    return false;
}

/* Whether the row of a name counts: all processors together, or a whole disk. */
static bool is_counted(const struct state *st, struct ta_slice name)
{
    if (!st->has_name)
        return true;
    const bool of_processor = is(name, "all") || ta_text_integer(name) >= 0;
    return of_processor ? is(name, "all") : !is_part(name);
}

static enum ta_log_taken take_row(struct ta_log_reading *log, struct state *st,
                                  const struct ta_slice *words, size_t n)
{
    const bool is_sar = st->tool == SAR;
    if (n < st->n_columns + is_sar || n > st->n_columns + 4)
        return TA_LOG_NOT_MINE;
    const size_t first = is_sar ? n - st->n_columns : 0; /* vmstat -t ends with the time */
    if (is(words[0], "Average:"))
        return TA_LOG_MORE;
    for (size_t i = st->has_name; i < st->n_columns; i++)
        if (st->columns[i] && isnan(number_of(words[first + i])))
            return TA_LOG_NOT_MINE;
    if (!is_counted(st, words[first]) ||
        !begin_moment(log, st,
                      is_sar ? time_of(st, words, first)
                             : time_of(st, words + st->n_columns, n - st->n_columns)))
        return TA_LOG_MORE;
    for (size_t i = 0; i < st->n_columns; i++)
        if (st->columns[i])
            take_value(st, st->columns[i]->meaning,
                       number_of(words[first + i]) * st->columns[i]->factor *
                           (st->columns[i]->of_processors ? st->cpus : 1));
    return TA_LOG_MORE;
}

/* "Linux 5.15.0-107-generic (host) 10/01/2024 _x86_64_ (2 CPU)" */
static void read_cpus(struct state *st, struct ta_slice line)
{
    const char *end = memmem(line.ptr, line.len, " CPU)", 5);
    const char *open = end ? memrchr(line.ptr, '(', (size_t)(end - line.ptr)) : NULL;
    if (open)
        st->cpus = ta_text_double((struct ta_slice){open + 1, (size_t)(end - open - 1)});
}

/* ---- dstat ----------------------------------------------------------------------------------- */

/* "----total-usage---- -dsk/total- …": groups of columns, which are apart by bars below it. */
static bool begin_dstat(struct state *st, const struct ta_slice *words, size_t n)
{
    bool has_disk = false;
    for (size_t i = 0; i < n; i++) {
        const bool is_disk = ta_slice_has_word(words[i], "dsk/total");
        if (*ta_slice_at(words[i], 0) != '-')
            return false;
        st->groups[i] = is_disk                                 ? READ
                        : ta_slice_has_word(words[i], "paging") ? SWAP_READ
                                                                : MEANINGS;
        has_disk |= is_disk;
    }
    if (!has_disk)
        return false;
    st->tool = DSTAT;
    st->n_groups = n;
    return true;
}

static enum ta_log_taken take_dstat(struct ta_log_reading *log, struct state *st,
                                    struct ta_slice line)
{
    struct ta_slice words[COLUMNS];
    double values[MEANINGS];
    int64_t time_ns = TA_MISSING;
    size_t g = 0;
    for (size_t i = 0; i < MEANINGS; i++)
        values[i] = NAN;
    for (size_t at = 0; at <= line.len && g < st->n_groups; g++) {
        size_t end = at;
        while (end < line.len && *ta_slice_at(line, end) != '|')
            end++;
        const size_t n = split(ta_slice_part(line, at, end), words);
        if (n && time_ns == TA_MISSING && smi_clock(words[n - 1]) != TA_MISSING)
            time_ns = time_of(st, words, n);
        if (n == 2 && st->groups[g] != MEANINGS)
            for (size_t i = 0; i < 2; i++)
                values[st->groups[g] + i] = number_of(words[i]);
        at = end + 1;
    }
    if (isnan(values[READ]) || isnan(values[WRITTEN])) /* the heading of columns */
        return memchr(line.ptr, '|', line.len) ? TA_LOG_MORE : TA_LOG_NOT_MINE;
    if (begin_moment(log, st, time_ns == TA_MISSING ? st->rows * 1000000000 : time_ns))
        for (size_t i = 0; i < MEANINGS; i++)
            if (!isnan(values[i]))
                take_value(st, (enum meaning)i, values[i]);
    return TA_LOG_MORE;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    struct ta_slice words[COLUMNS];
    const struct ta_slice whole = ta_text_trim(line->whole);
    const size_t n = split(whole, words);
    if (st->tool == NO_TOOL)
        for (size_t i = 0; i < MEANINGS; i++)
            st->values[i] = NAN;
    if (n && is(words[0], "Linux")) {
        read_cpus(st, whole);
        return TA_LOG_TAKEN;
    }
    if (n && (begin_dstat(st, words, n) || is_heading(st, words, n)))
        return TA_LOG_MORE;
    if (n == 0 || st->tool == NO_TOOL) /* sar has a blank line between its tables */
        return n || st->tool != SAR ? TA_LOG_NOT_MINE : TA_LOG_MORE;
    if (st->tool == DSTAT)
        return take_dstat(log, st, whole);
    return is(words[0], "procs") ? TA_LOG_MORE : take_row(log, st, words, n);
}

static void end(struct ta_log_reading *log, void *state)
{
    add(log, state);
}

static const char *const marks[] = {" swpd ",    "pgpgin/s", "pswpin/s", "bread/s",
                                    "rkB/s",     "rMB/s",    "rd_sec/s", "%iowait",
                                    "dsk/total", " CPU)",    NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, host_monitors, &ops, .title = "vmstat, sar, dstat",
          .summary = "Disk and swap traffic of the host, as vmstat, sar and dstat print it",
          .version = "1");
