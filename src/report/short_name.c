/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of kernels and functions, which run to kilobytes, at a length that fits a sentence. */
#include "report/short_name.h"

#include "model/kernel.h"
#include "traceanalyze/model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- frames of Python ------------------------------------------------------------------------ */

/* "folder/file.py(12): function" */
struct frame {
    struct ta_slice path, line, function;
};

static size_t find(struct ta_slice text, size_t from, const char *word)
{
    for (size_t i = from; i < text.len; i++)
        if (ta_slice_starts(ta_slice_from(text, i), word))
            return i;
    return SIZE_MAX;
}

static bool is_frame(struct ta_slice name, struct frame *frame)
{
    static const char suffix[] = ".py(", end[] = "): ";
    const size_t path = find(name, 0, suffix);
    const size_t close = path == SIZE_MAX ? SIZE_MAX : find(name, path, end);
    if (close == SIZE_MAX)
        return false;
    const size_t line = path + sizeof suffix - 1, function = close + sizeof end - 1;
    *frame = (struct frame){.path = {name.ptr, line - 1},
                            .line = ta_slice_part(name, line, close),
                            .function = ta_slice_from(name, function)};
    return true;
}

/* Files that compilers write have hashes for names, which tell nobody anything. */
static bool is_generated(struct ta_slice path)
{
    static const char *const folders[] = {"torchinductor", "/inductor/", ".triton/cache",
                                          "torch_compile_cache"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (find(path, 0, folders[i]) != SIZE_MAX)
            return true;
    return false;
}

/* ---- call sites of memory -------------------------------------------------------------------- */

/* "function (folders/file.py:12)" */
static bool is_site(struct ta_slice name, struct frame *site)
{
    static const char end[] = ".py:";
    size_t close = name.len, open = 0;
    if (name.len == 0 || name.ptr[--close] != ')')
        return false;
    for (size_t i = close; i-- > 1 && !open;)
        if (name.ptr[i] == '(' && name.ptr[i - 1] == ' ')
            open = i;
    const size_t path = open ? find(name, open, end) : SIZE_MAX;
    if (path == SIZE_MAX)
        return false;
    *site = (struct frame){.path = ta_slice_part(name, open + 1, path + 3),
                           .line = ta_slice_part(name, path + sizeof end - 1, close),
                           .function = ta_slice_part(name, 0, open - 1)};
    return true;
}

/* "folder/file.py:12 (function)" */
static struct ta_slice site_name(struct ta_arena *arena, const struct frame *site)
{
    struct ta_slice path = site->path;
    int slashes = 0;
    for (size_t i = path.len; i-- > 0 && slashes < 2;)
        if (path.ptr[i] == '/' && ++slashes == 2)
            path = ta_slice_from(path, i + 1);
    const size_t size = path.len + site->line.len + site->function.len + sizeof ": ()";
    char *text = ta_arena_alloc(arena, size);
    const int n = text ? snprintf(text, size, "%.*s:%.*s (%.*s)", (int)path.len, path.ptr,
                                  (int)site->line.len, site->line.ptr, (int)site->function.len,
                                  site->function.ptr)
                       : 0;
    return (struct ta_slice){text, n > 0 ? (size_t)n : 0};
}

/* ---- functions ------------------------------------------------------------------------------- */

/* A name of so many bytes says enough without the arguments of its template. */
enum { TELLING = 10 };

static struct ta_slice without_arguments(struct ta_slice said)
{
    const char *arguments = memchr(said.ptr, '<', said.len);
    return arguments && arguments - said.ptr >= TELLING
               ? (struct ta_slice){said.ptr, (size_t)(arguments - said.ptr)}
               : said;
}

struct ta_slice ta_bare_name(struct ta_slice said)
{
    const struct ta_slice bare = without_arguments(said);
    const bool is_generic =
        find(bare, 0, "elementwise_kernel") != SIZE_MAX || ta_slice_starts(bare, "reduce_kernel");
    return is_generic ? said : bare;
}

/* As people say it, and without arguments where that is still too long. */
static struct ta_slice function_name(struct ta_arena *arena, struct ta_slice name, size_t most)
{
    char *text = ta_arena_alloc(arena, name.len + 1);
    if (!text)
        return (struct ta_slice){NULL, 0};
    const size_t n = ta_kernel_brief(name, text, name.len);
    if (n < TELLING && ta_slice_starts(name, "_Z"))
        return name; /* what distinguishes it is in the arguments, which are not spelled out */
    const struct ta_slice said = {text, n};
    return n > most ? without_arguments(said) : said;
}

/* ---- cutting --------------------------------------------------------------------------------- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80);
}

/* Cuts between words where half of it or more is left, else between characters. */
static struct ta_slice cut(struct ta_arena *arena, struct ta_slice name, size_t most)
{
    static const char dots[] = "…";
    size_t n = ta_slice_head(name, most).len, word = most;
    while (word && in_word(name.ptr[word]) && in_word(name.ptr[word - 1]))
        word--;
    if (word >= most / 2)
        n = word;
    while (n && (name.ptr[n - 1] == ':' || name.ptr[n - 1] == ' '))
        n--;
    char *text = ta_arena_alloc(arena, n + sizeof dots);
    if (!text)
        return (struct ta_slice){NULL, 0};
    memcpy(text, name.ptr, n);
    memcpy(text + n, dots, sizeof dots);
    return (struct ta_slice){text, n + sizeof dots - 1};
}

struct ta_slice ta_short_name(struct ta_arena *arena, struct ta_slice name, size_t most)
{
    struct frame frame;
    const bool framed = is_frame(name, &frame);
    if (framed && is_generated(frame.path)) {
        static const char format[] = "%.*s (compiled code, line %.*s)";
        const size_t size = sizeof format + frame.function.len + frame.line.len;
        char *text = ta_arena_alloc(arena, size);
        const int n = text ? snprintf(text, size, format, (int)frame.function.len,
                                      frame.function.ptr, (int)frame.line.len, frame.line.ptr)
                           : 0;
        name = (struct ta_slice){text, n > 0 ? (size_t)n : 0};
    } else if (framed) { /* Without as many folders as are too many. */
        const struct ta_slice path = frame.path;
        const char *const end = ta_slice_end(name);
        const char *start = name.ptr;
        while ((size_t)(end - start) > most) {
            const char *slash = memchr(start, '/', (size_t)(ta_slice_end(path) - start));
            if (!slash)
                break;
            start = slash + 1;
        }
        name = (struct ta_slice){start, (size_t)(end - start)};
    } else if (is_site(name, &frame))
        name = site_name(arena, &frame);
    else
        name = function_name(arena, name, most);
    return name.len > most ? cut(arena, name, most) : name;
}

struct ta_slice ta_said_name(struct ta_arena *arena, struct ta_slice name)
{
    const struct ta_slice said = ta_short_name(arena, name, SIZE_MAX);
    return said.ptr && said.len ? said : name;
}
