/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `nvidia-smi --query-gpu=… --format=csv` prints: a row per device and period.
 *
 * The caller chose the columns, so a header names them; units are in it, in the cells, or nowhere.
 * Without a header only those columns are read whose values say what they are. */
#include "lib/nvidia_smi.h"
#include "parse/text/lines.h"
#include "parse/text/numerals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 256, HEAD_LINES = 64, ID_BYTES = 64, NOTE_BYTES = 400 };

static const int64_t period_ns = 1000000000; /* when rows have no stamps */

enum kind { UNUSED, STAMP, DEVICE, IDENTITY, SIGNAL, REASON, REASONS };

/* Columns by name.  Of several for one signal the first of this table is read. */
static const struct known {
    const char *name;
    enum kind kind;
    struct smi_signal of;
} known[] = {
    {"timestamp", STAMP, {0}},
    {"index", DEVICE, {0}},
    {"uuid", IDENTITY, {0}},
    {"gpu_uuid", IDENTITY, {0}},
    {"pci.bus_id", IDENTITY, {0}},
    {"gpu_bus_id", IDENTITY, {0}},
    {"utilization.gpu", SIGNAL, {TA_SIGNAL_GPU_UTILIZATION, 0.01, false}},
    {"utilization.memory", SIGNAL, {TA_SIGNAL_GPU_MEMORY_ACTIVITY, 0.01, false}},
    {"memory.used", SIGNAL, {TA_SIGNAL_GPU_MEMORY_USED, 1048576, false}},
    {"memory.total", SIGNAL, {TA_SIGNAL_GPU_MEMORY_TOTAL, 1048576, false}},
    {"temperature.gpu", SIGNAL, {TA_SIGNAL_GPU_TEMPERATURE, 1, false}},
    {"temperature.memory", SIGNAL, {TA_SIGNAL_GPU_MEMORY_TEMPERATURE, 1, false}},
    {"power.draw", SIGNAL, {TA_SIGNAL_GPU_POWER, 1, true}}, /* no device that runs takes 0 W */
    {"power.draw.average", SIGNAL, {TA_SIGNAL_GPU_POWER, 1, true}},
    {"power.draw.instant", SIGNAL, {TA_SIGNAL_GPU_POWER, 1, true}},
    {"enforced.power.limit", SIGNAL, {TA_SIGNAL_GPU_POWER_LIMIT, 1, true}},
    {"power.limit", SIGNAL, {TA_SIGNAL_GPU_POWER_LIMIT, 1, true}},
    {"clocks.current.sm", SIGNAL, {TA_SIGNAL_GPU_CLOCK, 1e6, false}},
    {"clocks.sm", SIGNAL, {TA_SIGNAL_GPU_CLOCK, 1e6, false}},
    {"clocks.current.graphics", SIGNAL, {TA_SIGNAL_GPU_CLOCK, 1e6, false}},
    {"clocks.gr", SIGNAL, {TA_SIGNAL_GPU_CLOCK, 1e6, false}},
    {"clocks.current.memory", SIGNAL, {TA_SIGNAL_GPU_MEMORY_CLOCK, 1e6, false}},
    {"clocks.mem", SIGNAL, {TA_SIGNAL_GPU_MEMORY_CLOCK, 1e6, false}},
    {"clocks.max.sm", SIGNAL, {TA_SIGNAL_GPU_CLOCK_MAX, 1e6, false}},
    {"clocks.max.graphics", SIGNAL, {TA_SIGNAL_GPU_CLOCK_MAX, 1e6, false}},
    {"clocks.max.gr", SIGNAL, {TA_SIGNAL_GPU_CLOCK_MAX, 1e6, false}},
};

/* Bits of `clocks_event_reasons.active`, which older drivers call `clocks_throttle_reasons.active`,
 * and the end of the name of a column of its own. */
static const struct {
    const char *name;
    uint64_t bits;
    enum ta_signal signal;
} reasons[] = {
    {"sw_power_cap", 0x4, TA_SIGNAL_GPU_POWER_CAP},
    {"sw_thermal_slowdown", 0x20, TA_SIGNAL_GPU_THERMAL_SLOWDOWN},
    {"hw_thermal_slowdown", 0x40, TA_SIGNAL_GPU_HARDWARE_THERMAL_SLOWDOWN},
    {"hw_slowdown", 0x8, TA_SIGNAL_GPU_HARDWARE_SLOWDOWN},
    {"hw_power_brake_slowdown", 0x80, TA_SIGNAL_GPU_POWER_BRAKE},
    {"applications_clocks_setting", 0x112, TA_SIGNAL_GPU_CLOCK_SETTING},
};

struct column {
    enum kind kind;
    size_t rank; /* in `known` */
    struct smi_signal of;
    bool has_unit;  /* its cells have one: a cell without is cut, as the last of a file may be */
    size_t n_bytes; /* of a set of reasons: 16 digits and "0x" */
    int decimals;   /* of its numbers, one more; 0: none seen; -1: various or none */
};

struct reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    struct ta_lines *lines;
    char *buffer;
    size_t buffer_most;
    uint64_t line;
    char separator;
    struct ta_numerals numerals;
    struct ta_slice cells[COLUMNS + 1];
    size_t n_cells;
    struct column columns[COLUMNS];
    size_t n_columns;
    char ids[SMI_DEVICES][ID_BYTES]; /* of devices without an index */
    size_t n_ids;
    uint32_t periods[SMI_DEVICES]; /* rows of each device */
    int64_t first_ns;              /* stamp; TA_MISSING without */
    bool unnamed;                  /* no column can be told without a header */
    uint64_t kept, dropped;
    enum ta_status status;
};

/* ---- cells ------------------------------------------------------------------------------- */

/* "2025/09/30 21:14:00.412" in ns since 1970 of a clock without a zone; TA_MISSING for else. */
static int64_t stamp_of(struct ta_slice cell)
{
    if (cell.len < 19 || (cell.ptr[4] != '/' && cell.ptr[4] != '-') || cell.ptr[7] != cell.ptr[4] ||
        cell.ptr[10] != ' ')
        return TA_MISSING;
    const int64_t date = smi_date(ta_text_integer(ta_slice_part(cell, 0, 4)),
                                  ta_text_integer(ta_slice_part(cell, 5, 7)),
                                  ta_text_integer(ta_slice_part(cell, 8, 10)));
    const int64_t clock = smi_clock(ta_slice_part(cell, 11, 19));
    int64_t ns = 0, digit = 100000000;
    for (size_t i = 20; i < cell.len; i++, digit /= 10) {
        if (cell.ptr[19] != '.' || cell.ptr[i] < '0' || cell.ptr[i] > '9')
            return TA_MISSING;
        ns += (cell.ptr[i] - '0') * digit;
    }
    return date == TA_MISSING || clock == TA_MISSING ? TA_MISSING
                                                     : (date + clock) * 1000000000 + ns;
}

/* A number and the unit after it, which is empty without one. */
static struct ta_slice number_of(struct ta_slice cell, struct ta_slice *unit)
{
    size_t end = cell.len;
    while (end > 0 && cell.ptr[end - 1] != ' ')
        end--;
    *unit = end > 0 ? ta_slice_part(cell, end, cell.len) : TA_LIT("");
    return end > 0 ? ta_text_trim(ta_slice_part(cell, 0, end)) : cell;
}

/* "[N/A]", "[Not Supported]", "[Unknown Error]", "[Insufficient Permissions]" and the like. */
static bool is_missing(struct ta_slice cell)
{
    return cell.len == 0 || (cell.ptr[0] == '[' && cell.ptr[cell.len - 1] == ']') ||
           smi_equals(cell, "N/A") || smi_equals(cell, "Not Supported") ||
           smi_equals(cell, "Unknown Error");
}

/* The bits of "0x0000000000000024"; false for else. */
static bool bits_of(struct ta_slice cell, uint64_t *bits)
{
    *bits = 0;
    if (cell.len < 3 || cell.len > 18 || cell.ptr[0] != '0' || (cell.ptr[1] | 32) != 'x')
        return false;
    for (size_t i = 2; i < cell.len; i++) {
        const char c = cell.ptr[i], low = (char)(c | 32);
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && (low < 'a' || low > 'f'))
            return false;
        *bits = *bits << 4 | (uint64_t)(is_digit ? c - '0' : low - 'a' + 10);
    }
    return true;
}

static size_t split(struct ta_slice line, char separator, struct ta_slice *cells, char *buffer)
{
    const size_t n = ta_csv_split(line, separator, cells, COLUMNS + 1, buffer, line.len);
    for (size_t i = 0; i < n; i++)
        cells[i] = ta_text_trim(cells[i]);
    return n;
}

/* ---- columns ----------------------------------------------------------------------------- */

/* The column of a name: "memory.used [MiB]". */
static struct column column_of(struct ta_slice name)
{
    const char *bracket = memchr(name.ptr, '[', name.len);
    struct ta_slice unit = TA_LIT("");
    if (bracket && ta_slice_ends(name, "]")) {
        const size_t at = (size_t)(bracket - name.ptr);
        unit = ta_slice_part(name, at + 1, name.len - 1);
        name = ta_text_trim(ta_slice_part(name, 0, at));
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (smi_equals(name, known[k].name)) {
            struct column column = {known[k].kind, k, known[k].of};
            if (smi_unit(unit) > 0)
                column.of.factor = smi_unit(unit);
            return column;
        }
    for (size_t prefix = 0; prefix < 2; prefix++) {
        const char *of = prefix ? "clocks_throttle_reasons." : "clocks_event_reasons.";
        if (!ta_slice_starts(name, of))
            continue;
        const struct ta_slice reason = ta_slice_part(name, strlen(of), name.len);
        if (smi_equals(reason, "active"))
            return (struct column){.kind = REASONS};
        for (size_t k = 0; k < sizeof reasons / sizeof *reasons; k++)
            if (smi_equals(reason, reasons[k].name))
                return (struct column){REASON, k, {reasons[k].signal, 1, false}};
    }
    return (struct column){.kind = UNUSED};
}

/* Whether a line names a column that was measured. */
static bool is_header(const struct ta_slice *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (column_of(cells[i]).kind >= SIGNAL)
            return true;
    return false;
}

static char separator_of(struct ta_slice line, struct ta_slice *cells, size_t *n, char *buffer)
{
    static const char separators[] = {',', ';', '\t'};
    for (size_t i = 0; i < sizeof separators; i++) {
        *n = split(line, separators[i], cells, buffer);
        if (is_header(cells, *n))
            return separators[i];
    }
    return 0;
}

/* What the values of a row say: how many cells have a unit, and which. */
struct row_look {
    bool has_stamp;
    size_t n_units, n_plain, n_words; /* with a unit; other numbers and marks; texts */
};

static struct row_look look_at(const struct ta_slice *cells, size_t n)
{
    struct row_look look = {0};
    for (size_t i = 0; i < n; i++) {
        struct ta_slice unit;
        uint64_t bits;
        const struct ta_slice number = number_of(cells[i], &unit);
        const bool is_number = !isnan(ta_text_double(number));
        if (stamp_of(cells[i]) != TA_MISSING)
            look.has_stamp = true;
        else if (is_number && smi_unit(unit) > 0)
            look.n_units++;
        else if ((is_number && unit.len == 0) || bits_of(cells[i], &bits) ||
                 (cells[i].len && is_missing(cells[i])) || smi_equals(cells[i], "Active") ||
                 smi_equals(cells[i], "Not Active"))
            look.n_plain++;
        else
            look.n_words++;
    }
    return look;
}

/* A row without a header before it.  Names, numbers of drivers and the like are words. */
static bool is_bare_row(const struct ta_slice *cells, size_t n)
{
    const struct row_look look = look_at(cells, n);
    return (look.has_stamp || look.n_units >= 2) && look.n_units + look.n_plain >= 2 &&
           look.n_words <= 3 && look.n_words < look.n_units + look.n_plain;
}

static int sniff(const struct ta_probe *probe)
{
    struct ta_slice head = probe->head, cells[COLUMNS + 1];
    char *buffer = malloc(head.len + 1);
    int confidence = 0;
    bool first = true;
    for (int i = 0; buffer && head.len && i < HEAD_LINES && !confidence; i++) {
        size_t n;
        const struct ta_slice line = ta_text_trim(ta_text_line(&head));
        if (separator_of(line, cells, &n, buffer))
            confidence = first ? 95 : 85;
        else if (first && is_bare_row(cells, n = split(line, ',', cells, buffer)))
            confidence = 80;
        first = first && line.len == 0;
    }
    free(buffer);
    return confidence;
}

/* Of several columns for a signal the first of the table is kept. */
static void keep_best(struct reading *r)
{
    for (size_t i = 0; i < r->n_columns; i++)
        for (size_t k = 0; k < r->n_columns; k++)
            if (k != i && r->columns[i].kind == SIGNAL && r->columns[k].kind == SIGNAL &&
                r->columns[i].of.signal == r->columns[k].of.signal &&
                (r->columns[k].rank < r->columns[i].rank ||
                 (r->columns[k].rank == r->columns[i].rank && k < i)))
                r->columns[i].kind = UNUSED;
}

/* Names what was not read, once a header. */
static void note_unread(struct reading *r, bool named)
{
    char names[NOTE_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < r->n_columns; i++) {
        if (r->columns[i].kind != UNUSED || used > NOTE_BYTES - 100)
            continue;
        const char *comma = used ? ", " : "";
        used += (size_t)(named ? snprintf(names + used, 100, "%s%.*s", comma,
                                          (int)ta_min_i64((int64_t)r->cells[i].len, 60),
                                          r->cells[i].ptr)
                               : snprintf(names + used, 100, "%s%zu", comma, i + 1));
    }
    if (used)
        ta_quality_add(r->quality, TA_Q_UNREAD_COLUMNS, r->lines->offset,
                       "Columns that are not read%s: %s",
                       named ? "" : " because no header names them", names);
}

static void take_header(struct reading *r)
{
    r->n_columns = r->n_cells < COLUMNS ? r->n_cells : COLUMNS;
    for (size_t i = 0; i < r->n_columns; i++)
        r->columns[i] = column_of(r->cells[i]);
    keep_best(r);
    note_unread(r, true);
}

/* Columns of a table without a header: a unit that only one of them has, the set of reasons, and
 * of whole numbers a single one that can only be a temperature, or the number of a device. */
static void infer_columns(struct reading *r)
{
    static const struct {
        const char *unit;
        struct smi_signal of;
    } told[] = {
        {"%", {TA_SIGNAL_GPU_UTILIZATION, 0.01, false}},
        {"MiB", {TA_SIGNAL_GPU_MEMORY_USED, 1048576, false}},
        {"W", {TA_SIGNAL_GPU_POWER, 1, true}},
        {"MHz", {TA_SIGNAL_GPU_CLOCK, 1e6, false}},
    };
    size_t of_unit[sizeof told / sizeof *told] = {0}, n_of[sizeof told / sizeof *told] = {0};
    size_t device = SIZE_MAX, heat = SIZE_MAX, n_small = 0, n_warm = 0;
    bool any = false;
    r->n_columns = r->n_cells < COLUMNS ? r->n_cells : COLUMNS;
    for (size_t i = 0; i < r->n_columns; i++) {
        struct ta_slice unit;
        uint64_t bits;
        const struct ta_slice number = number_of(r->cells[i], &unit);
        const int64_t whole = unit.len ? TA_MISSING : ta_text_integer(number);
        r->columns[i] = (struct column){.kind = UNUSED};
        if (stamp_of(r->cells[i]) != TA_MISSING)
            r->columns[i].kind = STAMP;
        else if (bits_of(r->cells[i], &bits))
            r->columns[i].kind = REASONS, any = true;
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            if (smi_equals(unit, told[k].unit) && !isnan(ta_text_double(number))) {
                of_unit[k] = i;
                n_of[k]++;
            }
        if (whole >= 20 && whole <= 110)
            heat = i, n_warm++;
        else if (whole >= 0 && whole < 16)
            device = i, n_small++;
    }
    for (size_t k = 0; k < sizeof told / sizeof *told; k++)
        if (n_of[k] == 1) {
            r->columns[of_unit[k]] = (struct column){SIGNAL, 0, told[k].of};
            any = true;
        }
    if (any && n_warm == 1)
        r->columns[heat] = (struct column){SIGNAL, 0, {TA_SIGNAL_GPU_TEMPERATURE, 1, false}};
    if (any && n_small == 1)
        r->columns[device].kind = DEVICE;
    r->unnamed = !any;
    if (any)
        note_unread(r, false);
}

/* ---- rows -------------------------------------------------------------------------------- */

static void drop(struct reading *r, const char *why)
{
    r->dropped++;
    ta_quality_add(r->quality, TA_Q_BAD_RECORD, r->lines->offset,
                   "%s: line %" PRIu64 ", at byte offset %" PRIu64, why, r->line, r->lines->offset);
}

/* The number of a device that the file only calls by an identity. */
static int64_t device_of_id(struct reading *r, struct ta_slice id)
{
    char text[ID_BYTES] = "";
    memcpy(text, id.ptr, id.len < ID_BYTES ? id.len : ID_BYTES - 1);
    for (size_t i = 0; i < r->n_ids; i++)
        if (strcmp(r->ids[i], text) == 0)
            return (int64_t)i;
    if (r->n_ids == SMI_DEVICES)
        return TA_MISSING;
    memcpy(r->ids[r->n_ids], text, ID_BYTES);
    return (int64_t)r->n_ids++;
}

/* What a row says except its signals; false when it is no row. */
static bool place_row(struct reading *r, struct smi_row *row)
{
    int64_t *device = &row->device, stamp = TA_MISSING, number = TA_MISSING, by_id = 0;
    bool has_stamp = false, has_number = false, has_id = false;
    for (size_t i = 0; i < r->n_columns; i++) {
        if (r->columns[i].kind == STAMP) {
            has_stamp = true;
            stamp = stamp_of(r->cells[i]);
        } else if (r->columns[i].kind == DEVICE) {
            has_number = true;
            number = ta_text_integer(r->cells[i]);
        } else if (r->columns[i].kind == IDENTITY && !has_id) {
            has_id = true;
            by_id = device_of_id(r, r->cells[i]);
        }
    }
    *device = has_number ? number : by_id;
    if (*device < 0 || *device >= SMI_DEVICES || (has_stamp && stamp == TA_MISSING))
        return false;
    if (has_stamp && r->first_ns == TA_MISSING)
        r->first_ns = stamp;
    row->time_ns = has_stamp ? stamp - r->first_ns : (int64_t)r->periods[*device] * period_ns;
    row->origin_ns = has_stamp ? r->first_ns : 0;
    r->periods[*device]++;
    return true;
}

/* Without units of their own, cells have the units of the header, or of the tool.  The last one of
 * a file without a line end may be cut: with its unit, or as many decimals as all before, it is
 * whole. */
static bool read_number(const struct reading *r, struct ta_slice cell, struct column *column,
                        double *value)
{
    *value = NAN;
    struct smi_signal of = column->of;
    char copy[TA_NUMERAL_BYTES];
    bool local;
    struct ta_slice unit, number = number_of(cell, &unit);
    if (column->has_unit && unit.len == 0)
        return false;
    column->has_unit |= unit.len > 0;
    if (unit.len && (of.factor = smi_unit(unit)) == 0)
        return false;
    number = ta_numerals_plain(&r->numerals, number, copy, &local);
    if (local)
        ta_quality_add(r->quality, TA_Q_NUMBER_FORM, r->lines->offset,
                       "\"%.*s\" in line %" PRIu64 " is %.*s, at byte offset %" PRIu64,
                       (int)cell.len, cell.ptr, r->line, (int)number.len, number.ptr,
                       r->lines->offset);
    const char *point = memchr(number.ptr, '.', number.len);
    const int decimals = point ? (int)(ta_slice_end(number) - point) : -1;
    const bool may_go_on = r->lines->is_cut && column + 1 == r->columns + r->n_columns;
    if (may_go_on && unit.len == 0 && (decimals < 0 || column->decimals != decimals))
        return false;
    column->decimals = column->decimals == 0 || column->decimals == decimals ? decimals : -1;
    return smi_value(number, &of, value);
}

static bool take_reasons(struct reading *r, struct column *column, struct ta_slice cell,
                         const struct smi_row *row)
{
    uint64_t bits;
    if (!bits_of(cell, &bits) || (column->n_bytes == 18 && cell.len < 18))
        return false;
    column->n_bytes = cell.len;
    for (size_t k = 0; r->status == TA_OK && k < sizeof reasons / sizeof *reasons; k++)
        r->status =
            smi_add(r->ctx, r->builder, row, reasons[k].signal, bits & reasons[k].bits ? 1 : 0);
    return true;
}

static void take_cells(struct reading *r, const struct smi_row *row)
{
    for (size_t i = 0; r->status == TA_OK && i < r->n_columns; i++) {
        struct column *column = &r->columns[i];
        const struct ta_slice cell = r->cells[i];
        double value = NAN;
        bool is_read = true;
        if (column->kind < SIGNAL || is_missing(cell))
            continue;
        if (column->kind == REASONS)
            is_read = take_reasons(r, column, cell, row);
        else if (column->kind == SIGNAL)
            is_read = read_number(r, cell, column, &value);
        else if (smi_equals(cell, "Active") || smi_equals(cell, "Not Active"))
            value = smi_equals(cell, "Active") ? 1 : 0;
        else
            is_read = false;
        if (!is_read)
            ta_quality_add(r->quality, TA_Q_BAD_NUMBER, r->lines->offset,
                           r->lines->is_cut && i + 1 == r->n_columns
                               ? "The file may end within a reading: column %zu of line %" PRIu64
                                 ", at byte offset %" PRIu64
                               : "A reading is not a number: column %zu of line %" PRIu64
                                 ", at byte offset %" PRIu64,
                           i + 1, r->line, r->lines->offset);
        else if (r->status == TA_OK)
            r->status = smi_add(r->ctx, r->builder, row, column->of.signal, value);
    }
}

static void take_line(struct reading *r)
{
    const struct ta_slice line = ta_text_trim(r->lines->line);
    struct smi_row row;
    size_t n;
    r->line++;
    if (line.len == 0)
        return;
    if (r->buffer_most < line.len) {
        char *grown = realloc(r->buffer, line.len);
        if (!grown) {
            r->status = ta_fail(r->ctx, TA_ERR_NOMEM, "Cannot hold a row of a table");
            return;
        }
        r->buffer = grown;
        r->buffer_most = line.len;
    }
    const char separator = separator_of(line, r->cells, &n, r->buffer);
    r->n_cells = n;
    if (separator) {
        r->separator = separator;
        take_header(r);
        return;
    }
    r->n_cells = split(line, r->separator, r->cells, r->buffer);
    if (r->n_columns == 0 && is_bare_row(r->cells, r->n_cells))
        infer_columns(r);
    if (r->n_columns == 0)
        drop(r, "A line before the first header");
    else if (r->n_cells != r->n_columns)
        drop(r, "A row does not have as many columns as the header");
    else if (r->lines->is_cut && r->columns[r->n_columns - 1].kind > UNUSED &&
             r->columns[r->n_columns - 1].kind < SIGNAL)
        drop(r, "The file may end within the time or the device of a row");
    else if (!place_row(r, &row))
        drop(r, "A row names no device or no time");
    else {
        r->kept++;
        take_cells(r, &row);
    }
}

/* ---- the file ---------------------------------------------------------------------------- */

/* By the first lines, of which one is a header or none is. */
static void decide_numbers(struct reading *r, struct ta_probe probe)
{
    struct ta_slice head = probe.head;
    char *buffer = malloc(head.len + 1), separator = 0;
    for (int i = 0; buffer && head.len && i < HEAD_LINES && !separator; i++)
        separator = separator_of(ta_text_trim(ta_text_line(&head)), r->cells, &r->n_cells, buffer);
    free(buffer);
    r->separator = separator ? separator : ',';
    r->numerals = ta_numerals_of(probe.head, probe.whole, r->separator);
}

static enum ta_status read_query(struct ta_ctx *ctx, struct ta_reader *reader,
                                 struct ta_builder *builder)
{
    struct reading *r = calloc(1, sizeof *r);
    if (!r)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the columns of a table");
    r->ctx = ctx;
    r->builder = builder;
    r->quality = ta_reader_quality(reader);
    r->first_ns = TA_MISSING;
    decide_numbers(r, ta_reader_probe(reader));
    r->lines = ta_lines_new(ctx, reader);
    enum ta_status status = r->lines ? TA_OK : ta_ctx_status(ctx);
    while (status == TA_OK && !r->unnamed && ta_lines_next(r->lines)) {
        take_line(r);
        status = ta_ctx_canceled(ctx) ? ta_fail(ctx, TA_ERR_CANCELED, "Interrupted") : r->status;
    }
    ta_builder_count(builder, r->kept, 0, r->dropped);
    if (status == TA_OK && r->unnamed)
        status = ta_fail(ctx, TA_ERR_INPUT,
                         "Rows of nvidia-smi --query-gpu without a header, whose values do not say "
                         "what they are: put the names that were queried in front, as a first "
                         "line, or record again with --format=csv, without noheader");
    else if (status == TA_OK && r->kept == 0 && (r->dropped || r->n_columns == 0))
        status =
            ta_fail(ctx, TA_ERR_INPUT,
                    "No usable row: it is not output of nvidia-smi --query-gpu, or is damaged");
    else if (status == TA_OK && r->kept == 0)
        ta_quality_add(r->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "It holds headers and no rows");
    ta_lines_free(r->lines);
    free(r->buffer);
    free(r);
    return status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_query};

TA_PLUGIN(input, nvidia_smi_query, &ops, .title = "nvidia-smi --query-gpu",
          .summary = "Utilization, memory, clocks, temperature, power and throttle reasons of "
                     "NVIDIA devices, as nvidia-smi --query-gpu prints them as CSV",
          .version = "1");
