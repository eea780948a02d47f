/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a table: comma-separated values, Markdown, columns of a console, device monitors.
 * How lines end, a mark of the byte order, and blank lines behind the last row are no content, so
 * the same is read with and without them. */
#include "dumps.h"
#include "parse/text/lines.h"

#include "traceanalyze/document.h"
#include "traceanalyze/output.h"

enum { MOST_CELLS = 64 };

/* What documents, pickles and packed files begin with. */
static bool is_table(const uint8_t *data, size_t size)
{
    size_t i = 0;
    while (i < size && (data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r')))
        i++;
    /* Carriage returns end lines in their own ways, and NUL makes a text one of another kind. */
    return i < size && !strchr("{[\x1f\x80\xef\xfe\xff", data[i]) && !memchr(data, '\r', size) &&
           !memchr(data, '\0', size);
}

static void check_same(const struct fuzz_outcome *a, const struct fuzz_outcome *b)
{
    FUZZ_CHECK(a->status == b->status);
    FUZZ_CHECK(a->kept == b->kept && a->dropped == b->dropped);
    FUZZ_CHECK(memcmp(a->rows, b->rows, sizeof a->rows) == 0);
    FUZZ_CHECK(a->stages_ns == b->stages_ns && a->memory_bytes == b->memory_bytes);
    FUZZ_CHECK(a->figures == b->figures && a->samples == b->samples);
}

/* The bytes between a byte order mark and a blank line, with the ends of lines of other systems. */
static uint8_t *dress(const uint8_t *data, size_t size, size_t *dressed)
{
    uint8_t *out = malloc(2 * size + 8), *at = out;
    FUZZ_CHECK(out);
    memcpy(at, "\xef\xbb\xbf", 3);
    at += 3;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n')
            *at++ = '\r';
        *at++ = data[i];
    }
    if (size && data[size - 1] == '\n') {
        memcpy(at, "\r\n", 2);
        at += 2;
    }
    *dressed = (size_t)(at - out);
    return out;
}

/* The cells of a line, written as a row of ours and read again, are the same cells. */
static void check_cells(struct ta_slice line)
{
    struct ta_slice cells[MOST_CELLS], again[MOST_CELLS];
    char *buffer = malloc(line.len + 1), *written = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&written, &size);
    FUZZ_CHECK(buffer && file);
    const size_t n = ta_csv_split(line, ',', cells, MOST_CELLS, buffer, line.len);
    FUZZ_CHECK(n <= MOST_CELLS);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\"" : "\"", file);
        for (size_t k = 0; k < cells[i].len; k++)
            fprintf(file, cells[i].ptr[k] == '"' ? "\"\"" : "%c", cells[i].ptr[k]);
        fputc('"', file);
    }
    fclose(file);
    char *room = malloc(size + 1);
    FUZZ_CHECK(room);
    FUZZ_CHECK(n == 0 || ta_csv_split((struct ta_slice){written, size}, ',', again, MOST_CELLS,
                                      room, size) == n);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(ta_slice_equal(cells[i], again[i]));
    free(room);
    free(buffer);
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_run *run = fuzz_begin();
    if (!is_table(data, size))
        return -1;
    const uint8_t *end = memchr(data, '\n', size);
    check_cells((struct ta_slice){(const char *)data, end ? (size_t)(end - data) : size});
    const struct ta_input_ops *input = fuzz_choose(run, data, size);
    if (!input)
        return -1;
    size_t dressed_size;
    uint8_t *dressed = dress(data, size, &dressed_size);
    const struct fuzz_outcome plain = fuzz_read_dump(run, input, data, size);
    const struct fuzz_outcome other = fuzz_read_dump(run, input, dressed, dressed_size);
    check_same(&plain, &other);
    free(dressed);
    return 0;
}
