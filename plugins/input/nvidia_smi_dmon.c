/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `nvidia-smi dmon` prints: a row per device and period below headers that come again and
 * again.  Columns depend on options and driver, so they are taken from the header. */
#include "lib/nvidia_smi.h"
#include "parse/text/lines.h"

#include <inttypes.h>
#include <stdio.h>

enum { COLUMNS = 256, NAMES_BYTES = 400 };

static const int64_t period_ns = 1000000000; /* when rows have no stamps: the default of -d */
static const int64_t day_s = 86400;

enum kind { UNUSED, DATE, TIME, DEVICE, SIGNAL };

struct column {
    enum kind kind;
    struct smi_signal of;
};

/* Factors of the units that the tool has always used; a second line of the header may say
 * otherwise. */
static const struct {
    const char *name;
    struct column column;
} known[] = {
    {"date", {.kind = DATE}},
    {"time", {.kind = TIME}},
    {"gpu", {.kind = DEVICE}},
    {"sm", {SIGNAL, {TA_SIGNAL_GPU_UTILIZATION, 0.01, false}}},
    {"mem", {SIGNAL, {TA_SIGNAL_GPU_MEMORY_ACTIVITY, 0.01, false}}},
    {"fb", {SIGNAL, {TA_SIGNAL_GPU_MEMORY_USED, 1048576, false}}},
    {"temp", {SIGNAL, {TA_SIGNAL_GPU_TEMPERATURE, 1, false}}},
    {"gtemp", {SIGNAL, {TA_SIGNAL_GPU_TEMPERATURE, 1, false}}},
    {"pwr", {SIGNAL, {TA_SIGNAL_GPU_POWER, 1, true}}}, /* no device that runs takes 0 W */
    {"pclk", {SIGNAL, {TA_SIGNAL_GPU_CLOCK, 1e6, false}}},
    {"mclk", {SIGNAL, {TA_SIGNAL_GPU_MEMORY_CLOCK, 1e6, false}}},
    {"pviol", {SIGNAL, {TA_SIGNAL_GPU_POWER_CAP, 0.01, false}}},
    {"tviol", {SIGNAL, {TA_SIGNAL_GPU_THERMAL_SLOWDOWN, 1, false}}},
    {"mtemp", {SIGNAL, {TA_SIGNAL_GPU_MEMORY_TEMPERATURE, 1, false}}},
    {"rxpci", {SIGNAL, {TA_SIGNAL_GPU_PCIE_RECEIVED, 1e6, false}}},
    {"txpci", {SIGNAL, {TA_SIGNAL_GPU_PCIE_SENT, 1e6, false}}},
    /* --gpm-metrics */
    {"pcirx", {SIGNAL, {TA_SIGNAL_GPU_PCIE_RECEIVED, 1048576, false}}},
    {"pcitx", {SIGNAL, {TA_SIGNAL_GPU_PCIE_SENT, 1048576, false}}},
    {"nvlrx", {SIGNAL, {TA_SIGNAL_GPU_NVLINK_RECEIVED, 1048576, false}}},
    {"nvltx", {SIGNAL, {TA_SIGNAL_GPU_NVLINK_SENT, 1048576, false}}},
    {"gract", {SIGNAL, {TA_SIGNAL_GPU_GRAPHICS_ACTIVITY, 0.01, false}}},
    {"smutil", {SIGNAL, {TA_SIGNAL_GPU_SM_ACTIVITY, 0.01, false}}},
    {"smocc", {SIGNAL, {TA_SIGNAL_GPU_SM_OCCUPANCY, 0.01, false}}},
    {"mmaact", {SIGNAL, {TA_SIGNAL_GPU_TENSOR_ACTIVITY, 0.01, false}}},
    {"intutil", {SIGNAL, {TA_SIGNAL_GPU_INTEGER_ACTIVITY, 0.01, false}}},
    {"fp64", {SIGNAL, {TA_SIGNAL_GPU_FP64_ACTIVITY, 0.01, false}}},
    {"fp32", {SIGNAL, {TA_SIGNAL_GPU_FP32_ACTIVITY, 0.01, false}}},
    {"fp16", {SIGNAL, {TA_SIGNAL_GPU_FP16_ACTIVITY, 0.01, false}}},
    {"dram", {SIGNAL, {TA_SIGNAL_GPU_DRAM_ACTIVITY, 0.01, false}}},
};

struct words {
    size_t n;
    struct ta_slice at[COLUMNS];
};

struct reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    struct ta_lines *lines;
    struct column columns[COLUMNS];
    size_t n_columns;
    bool units_follow;             /* the line before had the names */
    bool named_unread;             /* columns that are not read */
    uint32_t periods[SMI_DEVICES]; /* rows of each device */
    int64_t first_s, last_s;       /* stamps; TA_MISSING without */
    int64_t midnights;             /* seen, where stamps have no date */
    uint64_t kept, dropped;
    enum ta_status status;
};

/* ---- words ------------------------------------------------------------------------------- */

static bool separates(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

/* `#` is a word of its own before the names of a header. */
static struct words split(struct ta_slice line)
{
    struct words words = {.n = 0};
    size_t i = 0;
    while (i < line.len && words.n < COLUMNS) {
        while (i < line.len && separates(line.ptr[i]))
            i++;
        const size_t start = i;
        if (i < line.len && line.ptr[i] == '#')
            i++;
        else
            while (i < line.len && !separates(line.ptr[i]))
                i++;
        if (i > start)
            words.at[words.n++] = ta_slice_part(line, start, i);
    }
    return words;
}

/* A header names the device and at least one more column.  A header of `pmon` names a process, too.
 */
static bool is_header(const struct words *words)
{
    if (words->n < 3 || !smi_equals(words->at[0], "#"))
        return false;
    for (size_t i = 1; i + 1 < words->n && i < 4; i++)
        if (smi_equals(words->at[i], "gpu"))
            return !smi_equals(words->at[i + 1], "pid");
    return false;
}

static int sniff(const struct ta_probe *probe)
{
    struct ta_slice head = probe->head;
    bool first = true;
    while (head.len) {
        const struct ta_slice line = ta_text_trim(ta_text_line(&head));
        if (ta_slice_starts(line, "#")) {
            const struct words words = split(line);
            if (is_header(&words))
                return first ? 95 : 85;
        }
        first = first && line.len == 0;
    }
    return 0;
}

/* ---- headers ----------------------------------------------------------------------------- */

/* Names the columns that are not read, once a file: headers come again and again. */
static void note_unread(struct reading *r, const struct words *words)
{
    char names[NAMES_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < r->n_columns && used < NAMES_BYTES - 50; i++)
        if (r->columns[i].kind == UNUSED)
            used += (size_t)snprintf(names + used, 50, "%s%.*s", used ? ", " : "",
                                     (int)ta_min_i64((int64_t)words->at[i + 1].len, 40),
                                     words->at[i + 1].ptr);
    if (used && !r->named_unread)
        ta_quality_add(r->quality, TA_Q_UNREAD_COLUMNS, r->lines->offset,
                       "Columns that are not read: %s", names);
    r->named_unread = true;
}

/* A signal is read from the first column that has it. */
static struct column column_of(const struct reading *r, size_t i, struct ta_slice name)
{
    struct column column = {.kind = UNUSED};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (smi_equals(name, known[k].name))
            column = known[k].column;
    for (size_t before = 0; before < i; before++)
        if (column.kind == SIGNAL && r->columns[before].kind == SIGNAL &&
            r->columns[before].of.signal == column.of.signal)
            column.kind = UNUSED;
    return column;
}

static void take_names(struct reading *r, const struct words *words)
{
    r->n_columns = words->n - 1;
    for (size_t i = 0; i < r->n_columns; i++)
        r->columns[i] = column_of(r, i, words->at[i + 1]);
    note_unread(r, words);
    r->units_follow = true;
}

static void take_units(struct reading *r, const struct words *words)
{
    for (size_t i = 0; i < r->n_columns && i + 1 < words->n; i++) {
        struct ta_slice unit = words->at[i + 1];
        if (ta_slice_starts(unit, "GPM:"))
            unit = ta_slice_from(unit, 4);
        if (smi_unit(unit) > 0)
            r->columns[i].of.factor = smi_unit(unit);
    }
    r->units_follow = false;
}

/* ---- stamps ------------------------------------------------------------------------------ */

/* YYYYMMDD to seconds since 1970. */
static int64_t date_of(struct ta_slice word)
{
    const int64_t date = ta_text_integer(word);
    return word.len == 8 ? smi_date(date / 10000, date / 100 % 100, date % 100) : TA_MISSING;
}

/* Time of a row since the first one. */
static int64_t time_of_row(struct reading *r, int64_t date, int64_t clock, size_t device)
{
    if (clock == TA_MISSING)
        return (int64_t)r->periods[device] * period_ns;
    if (date == TA_MISSING) {
        /* Back by half a day and more: midnight has passed. */
        if (r->last_s != TA_MISSING && clock + r->midnights * day_s < r->last_s - day_s / 2)
            r->midnights++;
        date = r->midnights * day_s;
    }
    const int64_t stamp = date + clock;
    if (r->first_s == TA_MISSING)
        r->first_s = stamp;
    r->last_s = stamp;
    return (stamp - r->first_s) * 1000000000;
}

/* ---- rows -------------------------------------------------------------------------------- */

static void drop(struct reading *r, const char *why)
{
    r->dropped++;
    ta_quality_add(r->quality, TA_Q_BAD_RECORD, r->lines->offset, "%s, at byte offset %" PRIu64,
                   why, r->lines->offset);
}

/* What a row says besides its signals; false when it is no row. */
static bool place_row(struct reading *r, const struct words *words, struct smi_row *row)
{
    int64_t date = TA_MISSING, clock = TA_MISSING, *device = &row->device;
    *device = TA_MISSING;
    for (size_t i = 0; i < r->n_columns; i++) {
        if (r->columns[i].kind == DEVICE)
            *device = ta_text_integer(words->at[i]);
        else if (r->columns[i].kind == DATE && (date = date_of(words->at[i])) == TA_MISSING)
            return false;
        else if (r->columns[i].kind == TIME && (clock = smi_clock(words->at[i])) == TA_MISSING)
            return false;
    }
    if (*device < 0 || *device >= SMI_DEVICES)
        return false;
    row->time_ns = time_of_row(r, date, clock, (size_t)*device);
    row->origin_ns = date == TA_MISSING ? 0 : r->first_s * 1000000000;
    r->periods[*device]++;
    return true;
}

/* Whether the last cell may go on: the text ends in it. */
static bool is_last_cut(const struct reading *r)
{
    const struct ta_slice line = r->lines->line;
    return r->lines->is_cut && line.len && !separates(line.ptr[line.len - 1]);
}

static void take_signals(struct reading *r, const struct words *words, const struct smi_row *row)
{
    for (size_t i = 0; r->status == TA_OK && i < r->n_columns; i++) {
        const struct column *column = &r->columns[i];
        double value;
        if (column->kind != SIGNAL)
            continue;
        if (i + 1 == r->n_columns && is_last_cut(r)) {
            ta_quality_add(r->quality, TA_Q_TRUNCATED, r->lines->offset,
                           "The file may end within its last reading, which is not used, at byte "
                           "offset %" PRIu64,
                           r->lines->offset);
            continue;
        }
        if (!smi_value(words->at[i], &column->of, &value)) {
            ta_quality_add(r->quality, TA_Q_BAD_NUMBER, r->lines->offset,
                           "A reading is not a number, at byte offset %" PRIu64, r->lines->offset);
            continue;
        }
        r->status = smi_add(r->ctx, r->builder, row, column->of.signal, value);
    }
}

static void take_line(struct reading *r)
{
    const struct words words = split(r->lines->line);
    struct smi_row row;
    if (words.n == 0)
        return;
    if (is_header(&words)) {
        take_names(r, &words);
    } else if (smi_equals(words.at[0], "#")) {
        if (r->units_follow)
            take_units(r, &words);
    } else if (r->n_columns == 0) {
        drop(r, "A line before the first header");
    } else if (words.n != r->n_columns) {
        drop(r, "A row does not have as many columns as the header");
    } else if (!place_row(r, &words, &row)) {
        drop(r, "A row names no device or no time");
    } else {
        r->kept++;
        take_signals(r, &words, &row);
    }
}

/* ---- the file ---------------------------------------------------------------------------- */

static enum ta_status read_monitor(struct ta_ctx *ctx, struct ta_reader *reader,
                                   struct ta_builder *builder)
{
    struct reading r = {.ctx = ctx,
                        .builder = builder,
                        .quality = ta_reader_quality(reader),
                        .first_s = TA_MISSING,
                        .last_s = TA_MISSING};
    r.lines = ta_lines_new(ctx, reader);
    if (!r.lines)
        return ta_ctx_status(ctx);
    while (r.status == TA_OK && ta_lines_next(r.lines)) {
        take_line(&r);
        if (ta_ctx_canceled(ctx))
            r.status = ta_fail(ctx, TA_ERR_CANCELED, "Interrupted");
    }
    ta_lines_free(r.lines);
    ta_builder_count(builder, r.kept, 0, r.dropped);
    if (r.status != TA_OK || r.kept)
        return r.status;
    if (r.dropped || r.n_columns == 0)
        return ta_fail(ctx, TA_ERR_INPUT,
                       "No usable row: it is not output of nvidia-smi dmon, or is damaged");
    ta_quality_add(r.quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "It holds headers and no rows");
    return TA_OK;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_monitor};

TA_PLUGIN(input, nvidia_smi_dmon, &ops, .title = "nvidia-smi dmon",
          .summary = "Utilization, memory, clocks, temperature and power of NVIDIA devices, as "
                     "nvidia-smi dmon prints them",
          .version = "1");
