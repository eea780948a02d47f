/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table that nvidia-smi prints without options, once or in a loop:
 *
 *     Tue Sep 30 21:14:00 2025
 *     +-----------------------------------------------------------------------------+
 *     | NVIDIA-SMI 525.125.06   Driver Version: 525.125.06   CUDA Version: 12.0     |
 *     …
 *     | Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
 *     …
 *     |   0  NVIDIA GeForce ...  Off  | 00000000:01:00.0 Off |                  N/A |
 *     | 35%   55C    P2   162W / 450W |  19809MiB / 24564MiB |      3%      Default |
 *     |                               |                      |                  N/A |
 *
 * Widths and the third line depend on the driver, so a row is told by its cells: the first line of
 * a device has its number and its place on the bus, the second its readings.  The lines of MIG
 * devices and processes have other cells.  `N/A` and `ERR!` are no readings. */
#include "lib/nvidia_smi.h"

#include <traceanalyze/log.h>

#include <ctype.h>

static const int64_t period_ns = 1000000000; /* of a loop without dates */

struct state {
    int64_t date_ns;    /* of the date before the next table; TA_MISSING */
    struct smi_row row; /* whose readings are next; device TA_MISSING: nobody's */
    int64_t tables;
    bool begun;
};

enum { CELLS = 3 };

/* ---- dates ----------------------------------------------------------------------------------- */

/* The number of a word among some of three letters, from 1; 0 for none. */
static int64_t place_of(struct ta_slice word, const char *words)
{
    for (int64_t i = 0; word.len == 3 && words[3 * i]; i++)
        if (memcmp(word.ptr, words + 3 * i, 3) == 0)
            return i + 1;
    return 0;
}

static struct ta_slice take_word(struct ta_slice *text)
{
    *text = ta_text_trim(*text);
    size_t n = 0;
    while (n < text->len && text->ptr[n] != ' ' && text->ptr[n] != '\t')
        n++;
    const struct ta_slice word = ta_slice_part(*text, 0, n);
    *text = ta_slice_from(*text, n);
    return word;
}

/* "Tue Sep 30 21:14:00 2025", as nvidia-smi and date print it; date puts the zone, and in some
 * places "PM" before it, in front of the year.  TA_MISSING for else. */
static int64_t date_of(struct ta_slice text)
{
    struct ta_slice day_name = take_word(&text), month = take_word(&text), day = take_word(&text),
                    clock = take_word(&text), year = take_word(&text);
    const bool is_pm = smi_equals(year, "PM"), is_am = smi_equals(year, "AM");
    if (is_pm || is_am)
        year = take_word(&text);
    if (year.len && isalpha((unsigned char)year.ptr[0]))
        year = take_word(&text);
    if (!place_of(day_name, "MonTueWedThuFriSatSun") || year.len != 4 || ta_text_trim(text).len)
        return TA_MISSING;
    const int64_t date =
        smi_date(ta_text_integer(year), place_of(month, "JanFebMarAprMayJunJulAugSepOctNovDec"),
                 ta_text_integer(day));
    int64_t seconds = smi_clock(clock);
    if (date == TA_MISSING || seconds == TA_MISSING)
        return TA_MISSING;
    if (is_pm || is_am)
        seconds = seconds % 43200 + (is_pm ? 43200 : 0);
    return (date + seconds) * 1000000000;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The line with the bar that it begins with, which looks like the end of a prefix after one. */
static struct ta_slice with_bar(const struct ta_log_line *line)
{
    const char *start = line->text.ptr;
    while (start > line->whole.ptr && (start[-1] == ' ' || start[-1] == '|'))
        start--;
    while (start < line->text.ptr && *start == ' ')
        start++;
    return (struct ta_slice){start, line->text.len + (size_t)(line->text.ptr - start)};
}

/* The cells of "| a | b | c |"; false for a line with others, or less. */
static bool split(struct ta_slice line, struct ta_slice cells[CELLS])
{
    if (!ta_slice_starts(line, "|") || line.len < 2)
        return false;
    line = ta_slice_from(line, 1);
    for (size_t i = 0; i < CELLS; i++) {
        const char *end = line.len ? memchr(line.ptr, '|', line.len) : NULL;
        if (!end)
            return false;
        const size_t n = (size_t)(end - line.ptr);
        cells[i] = ta_text_trim(ta_slice_part(line, 0, n));
        line = ta_slice_from(line, n + 1);
    }
    return line.len == 0;
}

/* Whether a text is a place on the bus, "00000000:3B:00.0" or "0000:01:00.0". */
static bool is_bus(struct ta_slice word)
{
    size_t colons = 0, points = 0;
    for (size_t i = 0; i < word.len; i++) {
        colons += word.ptr[i] == ':';
        points += word.ptr[i] == '.';
        if (!isxdigit((unsigned char)word.ptr[i]) && word.ptr[i] != ':' && word.ptr[i] != '.')
            return false;
    }
    return colons == 2 && points == 1 && word.len >= 10;
}

/* "0  NVIDIA GeForce ...  Off" and "00000000:01:00.0 Off": the number of the device; TA_MISSING for
 * else. */
static int64_t device_of(const struct ta_slice cells[CELLS])
{
    struct ta_slice name = cells[0], bus = cells[1];
    const int64_t device = ta_text_integer(take_word(&name));
    const bool is_device = device >= 0 && device < SMI_DEVICES && is_bus(take_word(&bus));
    return is_device && ta_text_trim(name).len ? device : TA_MISSING;
}

/* A number with its unit, "55C", "162W", "3%"; NAN for "N/A", "ERR!" and all else. */
static double reading(struct ta_slice word, const char *unit, double factor)
{
    const size_t n = strlen(unit);
    if (word.len <= n || !ta_slice_ends(word, unit))
        return NAN;
    const double value = ta_text_double(ta_text_trim(ta_slice_part(word, 0, word.len - n)));
    if (!isfinite(value) || value < 0)
        return NAN;
    return factor == 0.01 ? value / 100 : value * factor;
}

/* The parts of "162W / 450W".  "N/A" has a slash of its own. */
static bool halve(struct ta_slice text, struct ta_slice *left, struct ta_slice *right)
{
    for (size_t i = 1; i + 1 < text.len; i++)
        if (text.ptr[i] == '/' && !(text.ptr[i - 1] == 'N' && text.ptr[i + 1] == 'A')) {
            *left = ta_text_trim(ta_slice_part(text, 0, i));
            *right = ta_text_trim(ta_slice_from(text, i + 1));
            return true;
        }
    return false;
}

static void add(struct ta_log_reading *log, const struct state *st, enum ta_signal signal,
                double value)
{
    const struct ta_sample sample = smi_sample(&st->row, signal, value);
    if (!isnan(value))
        ta_log_add_sample(log, &sample);
}

/* "35%   55C    P2   162W / 450W", "19809MiB / 24564MiB", "3%      Default". */
static bool take_readings(struct ta_log_reading *log, const struct state *st,
                          struct ta_slice cells[CELLS])
{
    struct ta_slice used = {0}, total = {0}, power = {0}, limit = {0}, rest = cells[0];
    const struct ta_slice fan = take_word(&rest), heat = take_word(&rest);
    const struct ta_slice level = take_word(&rest); /* "P2" */
    const bool has_power = halve(rest, &power, &limit);
    if (fan.len == 0 || heat.len == 0 || level.len == 0 ||
        !(halve(cells[1], &used, &total) || has_power))
        return false;
    const double watt = reading(power, "W", 1);
    add(log, st, TA_SIGNAL_GPU_UTILIZATION, reading(take_word(&cells[2]), "%", 0.01));
    add(log, st, TA_SIGNAL_GPU_MEMORY_USED, reading(used, "MiB", 1048576));
    add(log, st, TA_SIGNAL_GPU_MEMORY_TOTAL, reading(total, "MiB", 1048576));
    add(log, st, TA_SIGNAL_GPU_TEMPERATURE, reading(heat, "C", 1));
    add(log, st, TA_SIGNAL_GPU_POWER, watt > 0 ? watt : NAN); /* none that runs takes 0 W */
    add(log, st, TA_SIGNAL_GPU_POWER_LIMIT, reading(limit, "W", 1));
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Tables before the first date were a period apart. */
static void begin_table(struct state *st, const struct ta_log_line *line)
{
    const int64_t date = st->date_ns != TA_MISSING ? st->date_ns : line->time_ns;
    struct smi_row *row = &st->row;
    if (date != TA_MISSING && !row->origin_ns)
        row->origin_ns = date - st->tables * period_ns;
    row->time_ns = date != TA_MISSING ? date - row->origin_ns : st->tables * period_ns;
    row->device = TA_MISSING;
    st->date_ns = TA_MISSING;
    st->tables++;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    struct ta_slice cells[CELLS];
    const struct ta_slice text = with_bar(line);
    if (!st->begun)
        *st = (struct state){TA_MISSING, {TA_MISSING, 0, 0}, 0, true};
    if (!ta_slice_starts(text, "|")) {
        const int64_t date = date_of(text);
        if (date == TA_MISSING)
            return TA_LOG_NOT_MINE;
        st->date_ns = date;
        return TA_LOG_TAKEN;
    }
    if (ta_slice_starts(text, "| NVIDIA-SMI ")) {
        begin_table(st, line);
        return TA_LOG_TAKEN;
    }
    if (!split(text, cells) || st->tables == 0)
        return TA_LOG_NOT_MINE;
    const int64_t device = device_of(cells);
    if (device != TA_MISSING) {
        st->row.device = device;
        return TA_LOG_TAKEN;
    }
    const bool taken = st->row.device != TA_MISSING && take_readings(log, st, cells);
    st->row.device = TA_MISSING;
    return taken ? TA_LOG_TAKEN : TA_LOG_NOT_MINE;
}

static const char *const marks[] = {"| NVIDIA-SMI ", " Off |", " On |", "N/A |", "MiB |",
                                    "Mon ",          "Tue ",   "Wed ",  "Thu ",  "Fri ",
                                    "Sat ",          "Sun ",   NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take};

TA_PLUGIN(log, nvidia_smi_table, &ops, .title = "nvidia-smi",
          .summary = "The table of nvidia-smi, once or in a loop: utilization, memory, temperature "
                     "and power of NVIDIA devices",
          .version = "1");
