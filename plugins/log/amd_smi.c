/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings of AMD GPUs, once or in a loop: the table of rocm-smi, its --csv, and amd-smi monitor:
 *
 *     GPU  Temp (DieEdge)  AvgPwr  SCLK     MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
 *     0    36.0c           38.0W   800Mhz   1600Mhz  0%   auto  300.0W    0%   97%
 *
 *     device,Temperature (Sensor edge) (C),Average Graphics Package Power (W),GPU use (%)
 *     card0,45.0,812.0,82
 *
 *     GPU  POWER  GPU_TEMP  MEM_TEMP  GFX_UTIL  GFX_CLOCK  MEM_UTIL  MEM_CLOCK
 *       0  182 W     42 °C     41 °C      83 %   1613 MHz       0 %   1230 MHz
 *
 * The table of rocm-smi is read by its units, since its columns have changed from version to
 * version.  Nothing has a date: what is said of a device again is of the next second. */
#include "lib/nvidia_smi.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>
#include <traceanalyze/table.h>

enum { COLUMNS = 48, DEVICES = 64, MEGA = 1048576 };

/* Columns of amd-smi, and of the CSV of rocm-smi by a word in their names. */
static const struct column {
    const char *name;
    enum ta_signal signal;
    double factor;
} monitored[] =
    {
        {"POWER", TA_SIGNAL_GPU_POWER, 1},
        {"GPU_TEMP", TA_SIGNAL_GPU_TEMPERATURE, 1},
        {"GPU_T", TA_SIGNAL_GPU_TEMPERATURE, 1},
        {"MEM_TEMP", TA_SIGNAL_GPU_MEMORY_TEMPERATURE, 1},
        {"MEM_T", TA_SIGNAL_GPU_MEMORY_TEMPERATURE, 1},
        {"GFX_UTIL", TA_SIGNAL_GPU_UTILIZATION, 0.01},
        {"GFX%", TA_SIGNAL_GPU_UTILIZATION, 0.01},
        {"GFX_CLOCK", TA_SIGNAL_GPU_CLOCK, 1e6},
        {"GFX_CLK", TA_SIGNAL_GPU_CLOCK, 1e6},
        {"MEM_UTIL", TA_SIGNAL_GPU_MEMORY_ACTIVITY, 0.01},
        {"MEM%", TA_SIGNAL_GPU_MEMORY_ACTIVITY, 0.01},
        {"MEM_CLOCK", TA_SIGNAL_GPU_MEMORY_CLOCK, 1e6},
        {"VRAM_USED", TA_SIGNAL_GPU_MEMORY_USED, MEGA},
        {"VRAM_TOTAL", TA_SIGNAL_GPU_MEMORY_TOTAL, MEGA},
},
  csv[] = {
      {"Sensor edge", TA_SIGNAL_GPU_TEMPERATURE, 1},
      {"Sensor junction", TA_SIGNAL_GPU_TEMPERATURE, 1}, /* where there is no edge */
      {"Sensor memory", TA_SIGNAL_GPU_MEMORY_TEMPERATURE, 1},
      {"Package Power (W)", TA_SIGNAL_GPU_POWER, 1},
      {"GPU use (%)", TA_SIGNAL_GPU_UTILIZATION, 0.01},
      {"VRAM Total Memory (B)", TA_SIGNAL_GPU_MEMORY_TOTAL, 1},
      {"VRAM Total Used Memory (B)", TA_SIGNAL_GPU_MEMORY_USED, 1},
};

enum form { NO_FORM, TABLE, CSV, MONITOR };

struct state {
    enum form form;
    const struct column *columns[COLUMNS];
    size_t n_columns, device_column;
    uint64_t seen[DEVICES]; /* signals of a device in this second */
    int64_t second;
};

_Static_assert(TA_SIGNAL_COUNT <= 64, "a bit for each signal");

static void put(struct ta_log_reading *log, struct state *st, int64_t device, enum ta_signal signal,
                double value)
{
    const struct ta_sample sample = {.rank = TA_MISSING,
                                     .device = device,
                                     .signal = signal,
                                     .time_ns = st->second * 1000000000,
                                     .value = value,
                                     .relative = true};
    if (isnan(value))
        return;
    ta_log_add_sample(log, &sample);
}

/* Begins the next second where the device has this signal in the last one. */
static void meet(struct state *st, int64_t device, enum ta_signal signal)
{
    const uint64_t bit = UINT64_C(1) << signal;
    if (st->seen[device] & bit) {
        memset(st->seen, 0, sizeof st->seen);
        st->second++;
    }
    st->seen[device] |= bit;
}

static size_t split(struct ta_slice text, char separator, struct ta_slice *words)
{
    size_t n = 0;
    for (size_t at = 0, end; at < text.len && n < COLUMNS; at = end + 1) {
        for (end = at; end < text.len && *ta_slice_at(text, end) != separator;)
            end++;
        if (end > at || separator != ' ')
            words[n++] = ta_text_trim(ta_slice_part(text, at, end));
    }
    return n;
}

static bool is(struct ta_slice word, const char *text)
{
    return ta_slice_equal(word, ta_slice_of(text));
}

static int64_t device_of(struct ta_slice word)
{
    const int64_t device = ta_text_integer(word);
    return device >= 0 && device < DEVICES ? device : TA_MISSING;
}

/* ---- the table of rocm-smi ------------------------------------------------------------------- */

/* The number in front of a unit, "36.0c", "36.0°C", "800Mhz"; NAN for another word. */
static double number_before(struct ta_slice word, const char *unit)
{
    size_t n = strlen(unit);
    if (word.len <= n || strncasecmp(ta_slice_at(word, word.len - n), unit, n) != 0)
        return NAN;
    n = word.len - n;
    while (n && (unsigned char)*ta_slice_at(word, n - 1) >= 0x80) /* the sign of degrees */
        n--;
    return ta_text_double(ta_slice_part(word, 0, n));
}

static enum ta_log_taken take_table(struct ta_log_reading *log, struct state *st,
                                    const struct ta_slice *words, size_t n)
{
    const int64_t device = device_of(words[0]);
    double heat = NAN, power = NAN, cap = NAN, clocks[2] = {NAN, NAN}, used = NAN;
    size_t n_clocks = 0;
    for (size_t i = 1; i < n; i++) {
        const double clock = number_before(words[i], "Mhz"), watt = number_before(words[i], "W");
        const double degrees = number_before(words[i], "c");
        if (!isnan(clock) && n_clocks < 2)
            clocks[n_clocks++] = clock;
        if (!isnan(watt) && n_clocks == 0)
            power = watt;
        else if (!isnan(watt))
            cap = watt;
        if (!isnan(degrees) && isnan(heat))
            heat = degrees;
        used = number_before(words[i], "%"); /* the last word */
    }
    if (device == TA_MISSING || n_clocks < 2)
        return n && *ta_slice_at(words[0], 0) == '=' ? TA_LOG_MORE : TA_LOG_NOT_MINE;
    meet(st, device, TA_SIGNAL_GPU_CLOCK);
    put(log, st, device, TA_SIGNAL_GPU_TEMPERATURE, heat);
    put(log, st, device, TA_SIGNAL_GPU_POWER, power);
    put(log, st, device, TA_SIGNAL_GPU_POWER_LIMIT, cap > 0 ? cap : NAN);
    put(log, st, device, TA_SIGNAL_GPU_CLOCK, clocks[0] * 1e6);
    put(log, st, device, TA_SIGNAL_GPU_MEMORY_CLOCK, clocks[1] * 1e6);
    put(log, st, device, TA_SIGNAL_GPU_UTILIZATION, used / 100);
    return TA_LOG_MORE;
}

/* ---- tables with a heading ------------------------------------------------------------------- */

static bool begin_csv(struct state *st, struct ta_slice line)
{
    struct ta_slice words[COLUMNS];
    const size_t n = split(line, ',', words);
    bool has_edge = false, is_known = false;
    if (n < 2 || !is(words[0], "device"))
        return false;
    for (size_t i = 0; i < n; i++)
        has_edge |= ta_slice_has_word(words[i], csv[0].name);
    for (size_t i = 0; i < n; i++) {
        st->columns[i] = NULL;
        for (size_t k = 0; k < TA_LENGTH(csv); k++)
            if (ta_slice_has_word(words[i], csv[k].name) && !(k == 1 && has_edge))
                st->columns[i] = &csv[k];
        is_known |= st->columns[i] != NULL;
    }
    st->n_columns = n;
    return is_known;
}

static enum ta_log_taken take_csv(struct ta_log_reading *log, struct state *st,
                                  struct ta_slice line)
{
    struct ta_slice words[COLUMNS];
    const size_t n = split(line, ',', words);
    const int64_t device =
        n && ta_slice_starts(words[0], "card") ? device_of(ta_slice_from(words[0], 4)) : TA_MISSING;
    if (line.len == 0)
        return TA_LOG_MORE; /* between two tables */
    if (device == TA_MISSING || n < st->n_columns)
        return TA_LOG_NOT_MINE;
    for (size_t i = 0; i < st->n_columns; i++) {
        const double plain = ta_text_double(words[i]);
        const double value = isnan(plain) ? number_before(words[i], "%") : plain;
        if (!st->columns[i] || !(value >= 0))
            continue;
        meet(st, device, st->columns[i]->signal);
        put(log, st, device, st->columns[i]->signal, value * st->columns[i]->factor);
    }
    return TA_LOG_MORE;
}

static bool begin_monitor(struct state *st, const struct ta_slice *words, size_t n)
{
    bool is_known = false;
    st->device_column = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        st->columns[i] = NULL;
        if (is(words[i], "GPU") && st->device_column == SIZE_MAX)
            st->device_column = i;
        for (size_t k = 0; k < TA_LENGTH(monitored); k++)
            if (is(words[i], monitored[k].name))
                st->columns[i] = &monitored[k];
        is_known |= st->columns[i] != NULL;
    }
    st->n_columns = n;
    return is_known && st->device_column <= 1; /* a time may come first */
}

/* A value is "N/A", or a number with its unit in the next word. */
static enum ta_log_taken take_monitor(struct ta_log_reading *log, struct state *st,
                                      const struct ta_slice *words, size_t n)
{
    double values[COLUMNS];
    size_t at = 0;
    for (size_t i = 0; i < st->n_columns; i++) {
        values[i] = at < n ? ta_text_double(words[at]) : NAN;
        if (at >= n)
            continue;
        at++;
        if (at < n && !is(words[at], "N/A") && isnan(ta_text_double(words[at]))) {
            values[i] *= is(words[at], "GB") ? 1024 : 1;
            at++;
        }
    }
    const double number = values[st->device_column];
    if (!(number >= 0 && number < DEVICES) || at != n)
        return TA_LOG_NOT_MINE;
    const int64_t device = ta_whole(number);
    for (size_t i = 0; i < st->n_columns; i++)
        if (st->columns[i] && values[i] >= 0) {
            meet(st, device, st->columns[i]->signal);
            put(log, st, device, st->columns[i]->signal, values[i] * st->columns[i]->factor);
        }
    return TA_LOG_MORE;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    struct ta_slice words[COLUMNS];
    const size_t n = split(line->text, ' ', words);
    if (ta_slice_has_word(line->text, "PwrCap") && ta_slice_has_word(line->text, "GPU%")) {
        st->form = TABLE;
        return TA_LOG_MORE;
    }
    if (begin_csv(st, line->text)) {
        st->form = CSV;
        return TA_LOG_MORE;
    }
    if (n > 1 && isnan(ta_text_double(words[0])) && begin_monitor(st, words, n)) {
        st->form = MONITOR;
        return TA_LOG_MORE;
    }
    if (n && *ta_slice_at(words[0], 0) == '(' && st->form == TABLE)
        return TA_LOG_MORE; /* the second line of the heading */
    if (st->form == CSV)
        return take_csv(log, st, line->text);
    if (n == 0 || st->form == NO_FORM)
        return TA_LOG_NOT_MINE;
    return st->form == TABLE ? take_table(log, st, words, n) : take_monitor(log, st, words, n);
}

static const char *const marks[] = {"PwrCap", "device,",   "GPU_T", "GFX_",
                                    "GFX%",   "VRAM_USED", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take};

TA_PLUGIN(log, amd_smi, &ops, .title = "rocm-smi, amd-smi",
          .summary = "Utilization, memory, clocks, temperature and power of AMD GPUs, as rocm-smi "
                     "and amd-smi monitor print them",
          .version = "1");
