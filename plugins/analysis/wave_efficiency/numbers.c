/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments of kernels, as numbers and what follows from these. */
#include "wave_efficiency.h"

#include <math.h>

/* Product of the numbers in "[4, 106, 1]"; 0 when it is no such list. */
static double product_of(struct ta_slice text)
{
    double all = 1;
    size_t numbers = 0;
    for (size_t i = 0; i < text.len;) {
        double number = 0;
        size_t digits = 0;
        for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++, digits++)
            number = number * 10 + (text.ptr[i] - '0');
        if (digits) {
            all *= number;
            numbers++;
        } else {
            i++;
        }
    }
    return numbers ? all : 0;
}

/* "0.006757", or a whole number; NAN when it is none. */
static double decimal_of(struct ta_slice text)
{
    char copy[32];
    if (text.len == 0 || text.len >= sizeof copy)
        return NAN;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    double value = 0, unit = 1;
    bool fraction = false;
    for (const char *c = copy; *c; c++) {
        if (*c == '.' && !fraction) {
            fraction = true;
        } else if (*c >= '0' && *c <= '9') {
            value = value * 10 + (*c - '0');
            unit *= fraction ? 10 : 1;
        } else {
            return NAN;
        }
    }
    return value / unit;
}

/* ---- of each kernel -------------------------------------------------------------------------- */

static const struct {
    const char *key;
    double (*read)(struct ta_slice text);
} sources[NUMBERS] = {
    [GRID] = {"grid", product_of},
    [BLOCK] = {"block", product_of},
    [PER_UNIT] = {"blocks per SM", decimal_of},
    [OCCUPANCY] = {"est. achieved occupancy %", decimal_of},
};

void numbers_open(struct numbers *numbers, const struct ta_trace *trace)
{
    numbers->trace = trace;
    numbers->device = ta_trace_device_units(trace);
    for (int i = 0; i < NUMBERS; i++)
        numbers->args[i] = ta_trace_args(trace, sources[i].key);
    const struct kernel_numbers none = {0};
    const struct filling unknown = filling_of(&none, numbers->device);
    for (size_t i = 0; i < NUMBERS_RECENT; i++)
        numbers->recent[i].filling = unknown;
}

/* Two bits of struct values for an argument that is there. */
static const unsigned is_number = 1, is_text = 2;

static void read_values(const struct numbers *numbers, ta_row row, struct values *values)
{
    size_t place = 0;
    unsigned kinds = 0;
    for (int i = 0; i < NUMBERS; i++) {
        const struct ta_args *args = &numbers->args[i];
        if (i == 0 || args->row != args[-1].row) /* the profiler mostly writes all or none */
            place = ta_args_place(args, row);
        values->at[i] = 0;
        if (place == args->n)
            continue;
        values->at[i] = ta_args_value(args, place);
        kinds |= (ta_args_is_text(args, place) ? is_text : is_number) << 2 * i;
    }
    values->kinds = kinds;
}

/* A place that was not used yet holds what follows from no values. */
const struct filling *numbers_filling(struct numbers *numbers, ta_row row)
{
    struct values values;
    read_values(numbers, row, &values);
    const uint64_t hash = ((uint64_t)values.at[GRID] * 31 + (uint64_t)values.at[BLOCK]) * 31 +
                          (uint64_t)values.at[PER_UNIT] * 7 + (uint64_t)values.at[OCCUPANCY];
    const size_t place = hash % NUMBERS_RECENT;
    const struct values *a = &numbers->recent[place].values;
    if (!(a->kinds == values.kinds && a->at[GRID] == values.at[GRID] &&
          a->at[BLOCK] == values.at[BLOCK] && a->at[PER_UNIT] == values.at[PER_UNIT] &&
          a->at[OCCUPANCY] == values.at[OCCUPANCY])) {
        struct kernel_numbers of = {0};
        for (int i = 0; i < NUMBERS; i++) {
            const int64_t value = values.at[i];
            const unsigned kind = values.kinds >> 2 * i & 3;
            const double number =
                kind == is_text ? sources[i].read(ta_trace_text(numbers->trace, (ta_str)value))
                                : (double)value;
            of.has[i] = kind != 0 && !isnan(number);
            of.at[i] = of.has[i] ? number : 0;
        }
        numbers->recent[place].values = values;
        numbers->recent[place].filling = filling_of(&of, numbers->device);
    }
    return &numbers->recent[place].filling;
}
