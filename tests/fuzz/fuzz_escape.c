/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a name: what each writer puts down must read back as that name and nothing else. */
#include "base/write/escape.h"
#include "support.h"

#include "base/utf8.h"
#include "base/visible.h"
#include "base/write/file.h"

#include <jansson.h>
#include <unistd.h>

/* ---- writing into memory --------------------------------------------------------------------- */

struct memory {
    struct ta_file file;
    int fd;
};

/* One file in memory serves all: making one takes longer than all the rest. */
static struct ta_file *open_memory(struct memory *memory)
{
    static int fd = -1;
    if (fd < 0)
        fd = fuzz_file("", 0);
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    memory->fd = fd;
    FUZZ_CHECK(ta_file_start(&memory->file, fd, true, strdup("memory")));
    return &memory->file;
}

static char *close_memory(struct fuzz_run *run, struct memory *memory, size_t *size)
{
    FUZZ_CHECK(ta_file_close(&run->ctx, &memory->file) == TA_OK);
    ta_file_end(&memory->file);
    return fuzz_contents(memory->fd, size);
}

/* ---- what should read back ------------------------------------------------------------------ */

/* The name with U+FFFD for bytes that are no UTF-8: up to three bytes for one. */
static char *as_text(struct ta_slice name, size_t *size)
{
    char *text = malloc(3 * name.len + 1), *end = text;
    FUZZ_CHECK(text);
    while (name.len) {
        const size_t n = ta_utf8_length(name.ptr, name.len);
        memcpy(end, n ? name.ptr : "\xef\xbf\xbd", n ? n : 3);
        end += n ? n : 3;
        name.ptr += n ? n : 1;
        name.len -= n ? n : 1;
    }
    *size = (size_t)(end - text);
    return text;
}

/* The same with visible escapes for what would act: up to six bytes for one. */
static char *as_shown(struct ta_slice name, size_t *size)
{
    char *text = malloc(6 * name.len + 1), *end = text;
    FUZZ_CHECK(text);
    while (name.len) {
        const bool valid = ta_utf8_length(name.ptr, name.len) > 0;
        char step[TA_VISIBLE_STEP_MAX];
        const size_t n = ta_visible_step(&name, step);
        memcpy(end, valid ? step : "\xef\xbf\xbd", valid ? n : 3);
        end += valid ? n : 3;
    }
    *size = (size_t)(end - text);
    return text;
}

static bool is_harmless(const char *bytes, size_t size)
{
    for (struct ta_slice rest = {bytes, size}; rest.len;) {
        const char *at = rest.ptr;
        char step[TA_VISIBLE_STEP_MAX];
        const size_t n = ta_visible_step(&rest, step);
        if (n != (size_t)(rest.ptr - at) || memcmp(step, at, n) != 0)
            return false;
    }
    return true;
}

/* ---- one check per writer ------------------------------------------------------------------- */

static void check_json(struct fuzz_run *run, struct ta_slice name, bool in_script)
{
    struct memory memory;
    size_t size, expected;
    ta_put_json(open_memory(&memory), name, in_script);
    char *bytes = close_memory(run, &memory, &size), *text = as_text(name, &expected);
    FUZZ_CHECK(is_harmless(bytes, size));
    FUZZ_CHECK(!in_script || !strpbrk(bytes, "<>&"));
    json_t *value = json_loadb(bytes, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(json_is_string(value));
    FUZZ_CHECK(json_string_length(value) == expected);
    FUZZ_CHECK(memcmp(json_string_value(value), text, expected) == 0);
    json_decref(value);
    free(bytes);
    free(text);
}

/* Resolves the entities that the writer uses, in place; anything else after & is a find. */
static size_t unescape_html(char *bytes, size_t size)
{
    static const struct {
        const char *entity;
        char byte;
    } table[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
    size_t n = 0;
    for (size_t i = 0; i < size; n++) {
        size_t k = 0;
        bytes[n] = bytes[i];
        if (bytes[i] != '&') {
            i++;
            continue;
        }
        while (k < 5 && strncmp(bytes + i, table[k].entity, strlen(table[k].entity)) != 0)
            k++;
        FUZZ_CHECK(k < 5);
        bytes[n] = table[k].byte;
        i += strlen(table[k].entity);
    }
    return n;
}

static void check_html(struct fuzz_run *run, struct ta_slice name)
{
    struct memory memory;
    size_t size, expected;
    ta_put_html(open_memory(&memory), name);
    char *bytes = close_memory(run, &memory, &size), *shown = as_shown(name, &expected);
    FUZZ_CHECK(is_harmless(bytes, size));
    FUZZ_CHECK(!strpbrk(bytes, "<>\"'"));
    FUZZ_CHECK(unescape_html(bytes, size) == expected && memcmp(bytes, shown, expected) == 0);
    free(bytes);
    free(shown);
}

/* Takes the quotes of RFC 4180 off, in place; a cell that ends early is a find. */
static size_t unquote_csv(char *bytes, size_t size)
{
    if (bytes[0] != '"') {
        FUZZ_CHECK(!strpbrk(bytes, "\",\r\n"));
        return size;
    }
    size_t n = 0, i = 1;
    for (; i < size && (bytes[i] != '"' || bytes[i + 1] == '"'); i++) {
        i += bytes[i] == '"';
        bytes[n++] = bytes[i];
    }
    FUZZ_CHECK(i == size - 1 && bytes[i] == '"');
    return n;
}

static void check_csv(struct fuzz_run *run, struct ta_slice name)
{
    struct memory memory;
    size_t size, expected;
    const struct ta_cell cell = ta_text(name);
    ta_put_csv(open_memory(&memory), &cell);
    char *bytes = close_memory(run, &memory, &size), *shown = as_shown(name, &expected);
    FUZZ_CHECK(is_harmless(bytes, size));
    size_t n = unquote_csv(bytes, size);
    FUZZ_CHECK(n == 0 || !strchr("=+-@", bytes[0]));
    const bool guarded = n == expected + 1 && bytes[0] == '\'';
    FUZZ_CHECK(guarded || n == expected);
    FUZZ_CHECK(memcmp(bytes + guarded, shown, expected) == 0);
    free(bytes);
    free(shown);
}

static void check_terminal(struct fuzz_run *run, struct ta_slice name, size_t width)
{
    struct memory memory;
    size_t size;
    ta_put_terminal(open_memory(&memory), name, width, width % 3 == 1 ? 1 : -(int)(width % 3));
    char *bytes = close_memory(run, &memory, &size);
    FUZZ_CHECK(is_harmless(bytes, size));
    const size_t used = ta_terminal_width((struct ta_slice){bytes, size});
    FUZZ_CHECK(width == 0 || used <= width);
    FUZZ_CHECK(width == 0 || width % 3 == 0 || used == width);
    FUZZ_CHECK(width != 0 || used == ta_terminal_width(name));
    free(bytes);
}

/* A code span ends where it should: its fence occurs at its two ends alone. */
static void check_markdown(struct fuzz_run *run, struct ta_slice name)
{
    struct memory memory;
    size_t size;
    ta_put_markdown(open_memory(&memory), name);
    char *bytes = close_memory(run, &memory, &size);
    FUZZ_CHECK(is_harmless(bytes, size));
    const size_t fence = strspn(bytes, "`");
    size_t backslashes = 0;
    for (size_t i = fence, ticks = 0; i + fence < size; i++) {
        ticks = bytes[i] == '`' ? ticks + 1 : 0;
        FUZZ_CHECK(ticks < fence);
        FUZZ_CHECK(bytes[i] != '|' || backslashes % 2);
        backslashes = bytes[i] == '\\' ? backslashes + 1 : 0;
    }
    free(bytes);
    ta_put_markdown_text(open_memory(&memory), name);
    bytes = close_memory(run, &memory, &size);
    FUZZ_CHECK(is_harmless(bytes, size));
    FUZZ_CHECK(!strpbrk(bytes, "<>"));
    free(bytes);
}

/* The first byte is a width. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct fuzz_run *run = fuzz_begin();
    const struct ta_slice name = {(const char *)data + 1, size - 1};
    check_json(run, name, false);
    check_json(run, name, true);
    check_html(run, name);
    check_csv(run, name);
    check_terminal(run, name, data[0]);
    check_markdown(run, name);
    return 0;
}
