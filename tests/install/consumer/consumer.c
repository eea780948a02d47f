/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that uses the installed library: the median of its arguments, which are
 * times in ns. */
#include <stdio.h>
#include <stdlib.h>

#include <traceanalyze/model.h>
#include <traceanalyze/report.h>
#include <traceanalyze/stat.h>

int main(int argc, char **argv)
{
    double values[16];
    char text[TA_UNIT_TEXT_MAX];
    const size_t n = argc > 16 ? 16 : (size_t)argc - 1;
    for (size_t i = 0; i < n; i++)
        values[i] = strtod(argv[i + 1], NULL);
    ta_sort_numbers(values, n);
    printf("%s %s\n", ta_unit_format(text, ta_quantile(values, n, 0.5), TA_UNIT_NS),
           ta_kernel_kind_name(TA_KERNEL_COLLECTIVE));
    return 0;
}
