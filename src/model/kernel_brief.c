/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of kernels as people say them.
 *
 * A function of C++ goes by its own name and the arguments of its templates: not by the type it
 * returns, the scopes it is in, and the types of its parameters, which take most of the room and
 * tell least.  Lambdas go by the function around them, and functions that only run what they are
 * given as a type go by that type.  Kernels of Tensile go by their types and
 * the size of their tile. */
#include "model/kernel.h"
#include "traceanalyze/model.h"

#include <ctype.h>
#include <string.h>

struct brief {
    struct ta_slice in;
    size_t at;
    char *out;
    size_t n, max;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool starts(const struct brief *b, const char *text)
{
    const size_t n = strlen(text);
    return b->in.len - b->at >= n && memcmp(ta_slice_at(b->in, b->at), text, n) == 0;
}

static void put(struct brief *b, char c)
{
    if (b->n < b->max)
        b->out[b->n++] = c;
}

/* To after the bracket that closes the outermost of `depth` open ones. */
static void skip_groups(struct brief *b, size_t depth)
{
    for (; b->at < b->in.len; b->at++) {
        const char c = b->in.ptr[b->at];
        const bool is_arrow = c == '>' && b->at && b->in.ptr[b->at - 1] == '-';
        depth += c == '(' || c == '{' || c == '<' || c == '[';
        if (!is_arrow && (c == ')' || c == '}' || c == '>' || c == ']') && --depth == 0) {
            b->at++;
            return;
        }
    }
}

/* From an opening bracket to after the one that closes it. */
static void skip_group(struct brief *b)
{
    skip_groups(b, 0);
}

/* "{lambda(int)#1}", "operator()(…) const": a function within the one before it. */
static bool skip_inner(struct brief *b)
{
    static const char operator[] = "operator()";
    static const char *const unnamed[] = {"{lambda", "{unnamed", "'lambda"};
    const bool call = starts(b, operator);
    bool found = call;
    for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed; i++)
        found |= starts(b, unnamed[i]);
    if (call)
        b->at += sizeof operator- 1;
    else if (found)
        skip_group(b);
    if (found && starts(b, "("))
        skip_group(b);
    if (found && starts(b, " const"))
        b->at += sizeof " const" - 1;
    return found;
}

enum { DEPTH_MOST = 64 };

static void put_type(struct brief *b, int depth);

/* "<a, b>" from after its opening bracket. */
static void put_arguments(struct brief *b, int depth)
{
    do {
        b->at++;
        if (starts(b, " "))
            put(b, ' ');
        while (starts(b, " "))
            b->at++;
        put_type(b, depth);
        while (b->n && b->out[b->n - 1] == ' ')
            b->n--;
        if (starts(b, ","))
            put(b, ',');
    } while (starts(b, ","));
    if (starts(b, ">")) {
        put(b, '>');
        b->at++;
    }
}

/* Entry points of libraries of templates: which kernel it is their first argument says. */
static bool is_wrapper(struct ta_slice name)
{
    static const char *const wrappers[] = {
        "device_kernel",        "Kernel",     "Kernel2", "enable_sm80_to_sm89",
        "enable_sm90_or_later", "enable_sm90"};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (ta_slice_equal(name, ta_slice_of(wrappers[i])))
            return true;
    return false;
}

/* One type, or the whole name: up to a comma or the bracket that closes what it is in. */
static void put_type(struct brief *b, int depth)
{
    const size_t start = b->n;
    while (b->at < b->in.len) {
        const char c = b->in.ptr[b->at];
        if (depth && (c == ',' || c == '>'))
            return;
        if (starts(b, "(anonymous namespace)")) {
            b->at += sizeof "(anonymous namespace)" - 1;
        } else if (starts(b, "::")) {
            b->at += 2;
            if (!skip_inner(b))
                b->n = start;
        } else if (c == '(' || c == '{') {
            skip_group(b);
        } else if (c == '<' && depth < DEPTH_MOST &&
                   is_wrapper((struct ta_slice){b->out + start, b->n - start})) {
            /* The first argument in place of what it is given to. */
            b->n = start;
            b->at++;
            while (starts(b, " "))
                b->at++;
            put_type(b, depth + 1);
            while (b->n > start && b->out[b->n - 1] == ' ')
                b->n--;
            skip_groups(b, 1);
        } else if (c == '<' && depth < DEPTH_MOST) {
            put(b, c);
            put_arguments(b, depth + 1);
        } else if (c == ' ' && !depth) {
            b->n = start; /* what it returns */
            b->at++;
        } else {
            put(b, c);
            b->at++;
        }
    }
}

/* Whether brackets stand as in a function of C++, not as in "Memcpy DtoD (Device -> Device)",
 * "module.py(12): forward" or "step_0(3)". */
static bool is_function(struct ta_slice name)
{
    for (size_t i = 1; i + 1 < name.len; i++) {
        const char before = name.ptr[i - 1], behind = name.ptr[i + 1];
        if (name.ptr[i] == '<' && is_word(before) &&
            memchr(ta_slice_at(name, i), '>', name.len - i))
            return true;
        if (name.ptr[i] == '(' && (is_word(before) || before == '>') &&
            name.ptr[name.len - 1] == ')' && !isdigit((unsigned char)behind))
            return true;
    }
    return name.len > 2 && memmem(name.ptr, name.len, "::", 2) && memchr(name.ptr, '(', name.len);
}

/* ---- other kinds of names ---------------------------------------------------------------- */

/* The last identifier of "_ZN5scope4nameI…": what a compiler made of scope::name<…>.  False when
 * there is none. */
static bool put_mangled(struct brief *b)
{
    struct ta_slice found = {NULL, 0};
    b->at = starts(b, "_ZN") ? 3 : 2;
    while (b->at < b->in.len && (b->in.ptr[b->at] == 'K' || b->in.ptr[b->at] == 'L'))
        b->at++;
    while (b->at < b->in.len && isdigit((unsigned char)b->in.ptr[b->at])) {
        size_t length = 0;
        while (b->at < b->in.len && isdigit((unsigned char)b->in.ptr[b->at]) && length < b->in.len)
            length = 10 * length + (size_t)(b->in.ptr[b->at++] - '0');
        if (length == 0 || length > b->in.len - b->at)
            return false;
        found = ta_slice_part(b->in, b->at, b->at + length);
        b->at += length;
    }
    for (size_t i = 0; i < found.len; i++)
        put(b, found.ptr[i]);
    return found.len > 0;
}

/* "Cijk_Ailk_Bljk_BBS_BH_…_MT256x128x64_…": layouts, types and tile. */
static void put_tensile(struct brief *b)
{
    enum { WORDS = 4 };
    for (size_t words = 0; b->at < b->in.len; b->at++) {
        words += b->in.ptr[b->at] == '_';
        if (words == WORDS)
            break;
        put(b, b->in.ptr[b->at]);
    }
    const char *tile = memmem(b->in.ptr, b->in.len, "_MT", 3);
    const char *end = ta_slice_end(b->in);
    for (const char *c = tile; c && c < end && (c == tile || *c != '_'); c++)
        put(b, *c);
}

size_t ta_kernel_brief(struct ta_slice name, char *out, size_t size)
{
    struct brief b = {.in = name, .out = out, .max = size};
    if (starts(&b, "_Z") && put_mangled(&b))
        return b.n;
    b.at = 0;
    if (starts(&b, "Cijk_"))
        put_tensile(&b);
    else if (is_function(name))
        put_type(&b, 0);
    if (b.n)
        return b.n;
    b.n = name.len < size ? name.len : size;
    memcpy(out, name.ptr, b.n);
    return b.n;
}
