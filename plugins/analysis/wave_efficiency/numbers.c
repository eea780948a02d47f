/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments of kernels as numbers. */
#include "wave_efficiency.h"

double product_of(struct ta_slice text)
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

double decimal_of(struct ta_slice text)
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

bool argument_has(const struct argument *argument, ta_row row)
{
    int64_t whole;
    return ta_args_find(&argument->args, row, &whole) ||
           ta_args_text(&argument->args, row) != TA_STR_ABSENT;
}

double number_of(struct argument *argument, ta_row row)
{
    int64_t whole;
    if (ta_args_find(&argument->args, row, &whole))
        return (double)whole;
    const ta_str text = ta_args_text(&argument->args, row);
    uint64_t *known = text == TA_STR_ABSENT ? NULL : ta_map_at(&argument->known, text, UINT64_MAX);
    if (!known)
        return 0;
    double number;
    if (*known == UINT64_MAX) {
        number = argument->read(ta_trace_text(argument->trace, text));
        memcpy(known, &number, sizeof number);
    }
    memcpy(&number, known, sizeof number);
    return number;
}
