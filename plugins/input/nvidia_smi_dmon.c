/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `nvidia-smi dmon` prints: a row per device and period below headers that come again and
 * again.  Columns depend on options and driver, so they are taken from the header. */
#include "nvidia_smi.h"
#include "parse/text/lines.h"

#include <inttypes.h>

enum { COLUMNS = 64 };

static const int64_t period_ns = 1000000000; /* when rows have no stamps: the default of -d */
static const int64_t day_s = 86400;

enum kind { UNUSED, DATE, TIME, DEVICE, SIGNAL };

struct column {
    enum kind kind;
    struct smi_signal of;
};

/* Factors are those of the units that the tool has always used; a second line of the header may
 * say otherwise. */
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
    {"rxpci", {SIGNAL, {TA_SIGNAL_GPU_PCIE_RECEIVED, 1e6, false}}},
    {"txpci", {SIGNAL, {TA_SIGNAL_GPU_PCIE_SENT, 1e6, false}}},
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

/* A header names the device and at least one more column.  That of `pmon` names a process, too. */
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

static void take_names(struct reading *r, const struct words *words)
{
    r->n_columns = words->n - 1;
    for (size_t i = 0; i < r->n_columns; i++) {
        r->columns[i] = (struct column){.kind = UNUSED};
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (smi_equals(words->at[i + 1], known[k].name))
                r->columns[i] = known[k].column;
    }
    r->units_follow = true;
}

static void take_units(struct reading *r, const struct words *words)
{
    for (size_t i = 0; i < r->n_columns && i + 1 < words->n; i++)
        if (smi_unit(words->at[i + 1]) > 0)
            r->columns[i].of.factor = smi_unit(words->at[i + 1]);
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

/* What a row says beside its signals; false when it is no row. */
static bool place_row(struct reading *r, const struct words *words, int64_t *device,
                      int64_t *time_ns)
{
    int64_t date = TA_MISSING, clock = TA_MISSING;
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
    *time_ns = time_of_row(r, date, clock, (size_t)*device);
    r->periods[*device]++;
    return true;
}

static void take_signals(struct reading *r, const struct words *words, int64_t device,
                         int64_t time_ns)
{
    for (size_t i = 0; r->status == TA_OK && i < r->n_columns; i++) {
        const struct column *column = &r->columns[i];
        double value;
        if (column->kind != SIGNAL)
            continue;
        if (!smi_value(words->at[i], &column->of, &value)) {
            ta_quality_add(r->quality, TA_Q_BAD_NUMBER, r->lines->offset,
                           "A reading is no number, at byte offset %" PRIu64, r->lines->offset);
            continue;
        }
        r->status = smi_add(r->ctx, r->builder, device, column->of.signal, time_ns, value);
    }
}

static void take_line(struct reading *r)
{
    const struct words words = split(r->lines->line);
    int64_t device, time_ns;
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
        drop(r, "A row has not as many columns as the header");
    } else if (!place_row(r, &words, &device, &time_ns)) {
        drop(r, "A row names no device or no time");
    } else {
        r->kept++;
        take_signals(r, &words, device, time_ns);
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
                       "No usable row: it is no output of nvidia-smi dmon, or damaged");
    ta_quality_add(r.quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "It holds headers and no rows");
    return TA_OK;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_monitor};

TA_PLUGIN(input, nvidia_smi_dmon, &ops, .title = "nvidia-smi dmon",
          .summary = "Utilization, memory, clocks, temperature and power of NVIDIA devices, as "
                     "nvidia-smi dmon prints them",
          .version = "1");
