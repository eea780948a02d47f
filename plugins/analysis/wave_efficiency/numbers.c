/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments of kernels as numbers. */
#include "wave_efficiency.h"

#include <math.h>
#include <stdlib.h>

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

/* "0.006757", or a whole number; 0 when it is none. */
static double decimal_of(struct ta_slice text)
{
    char copy[32];
    if (text.len == 0 || text.len >= sizeof copy)
        return 0;
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
            return 0;
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

bool numbers_open(struct numbers *numbers, const struct ta_trace *trace)
{
    const size_t n_texts = ta_trace_string_count(trace);
    numbers->trace = trace;
    for (int i = 0; i < NUMBERS; i++) {
        numbers->args[i] = ta_trace_args(trace, sources[i].key);
        numbers->of_text[i] =
            numbers->args[i].n ? malloc(n_texts * sizeof **numbers->of_text) : NULL;
        if (numbers->args[i].n && !numbers->of_text[i])
            return false;
        for (size_t text = 0; numbers->args[i].n && text < n_texts; text++)
            numbers->of_text[i][text] = NAN;
    }
    return true;
}

void numbers_close(struct numbers *numbers)
{
    for (int i = 0; i < NUMBERS; i++)
        free(numbers->of_text[i]);
}

static double number_at(struct numbers *numbers, int i, size_t place)
{
    const int64_t value = ta_args_value(&numbers->args[i], place);
    if (!ta_args_is_text(&numbers->args[i], place))
        return (double)value;
    double *known = &numbers->of_text[i][value];
    if (isnan(*known))
        *known = sources[i].read(ta_trace_text(numbers->trace, (ta_str)value));
    return *known;
}

struct kernel_numbers numbers_of(struct numbers *numbers, ta_row row)
{
    struct kernel_numbers of = {0};
    size_t place = 0;
    for (int i = 0; i < NUMBERS; i++) {
        const struct ta_args *args = &numbers->args[i];
        if (i == 0 || args->row != args[-1].row) /* the profiler mostly writes all or none */
            place = ta_args_place(args, row);
        of.has[i] = place < args->n;
        of.at[i] = of.has[i] ? number_at(numbers, i, place) : 0;
    }
    return of;
}
