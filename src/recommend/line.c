/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recommend/line.h"

#include <stdarg.h>
#include <stdio.h>

void say(struct line *line, const char *format, ...)
{
    va_list args;
    if (line->n && line->n + 1 < sizeof line->text)
        line->text[line->n++] = ' ';
    va_start(args, format);
    const int n = vsnprintf(line->text + line->n, sizeof line->text - line->n, format, args);
    va_end(args);
    if (n > 0)
        line->n =
            line->n + (size_t)n < sizeof line->text ? line->n + (size_t)n : sizeof line->text - 1;
}
