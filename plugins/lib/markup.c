/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/markup.h"

#include "base/write/escape.h"

#include <assert.h>

void ta_put_markup(struct ta_file *out, ta_escape *escape, const char *format, va_list args)
{
    for (const char *percent; (percent = strchr(format, '%')) != NULL; format = percent + 2) {
        ta_put(out, (struct ta_slice){format, (size_t)(percent - format)});
        switch (percent[1]) {
        case 's':
            escape(out, ta_slice_of(va_arg(args, const char *)));
            break;
        case 'd':
            ta_putf(out, "%d", va_arg(args, int));
            break;
        case 'z': /* %zu */
            ta_putf(out, "%zu", va_arg(args, size_t));
            percent++;
            break;
        case 'l': /* %ld */
            ta_putf(out, "%ld", (long)va_arg(args, int64_t));
            percent++;
            break;
        default:
            assert(percent[1] == '%');
            ta_putc(out, '%');
        }
    }
    ta_puts(out, format);
}

void ta_put_prose(struct ta_file *out, ta_escape *text, ta_escape *code, const char *sentence)
{
    const char *begin, *end;
    for (; (begin = strchr(sentence, '`')) != NULL && (end = strchr(begin + 1, '`')) != NULL;
         sentence = end + 1) {
        text(out, (struct ta_slice){sentence, (size_t)(begin - sentence)});
        code(out, (struct ta_slice){begin + 1, (size_t)(end - begin - 1)});
    }
    text(out, ta_slice_of(sentence));
}

void ta_put_markdown_prose(struct ta_file *out, const char *sentence)
{
    ta_put_prose(out, ta_put_markdown_text, ta_put_markdown, sentence);
}

void ta_put_markdown_f(struct ta_file *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ta_put_markup(out, ta_put_markdown_text, format, args);
    va_end(args);
}
