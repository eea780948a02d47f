/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing formats and the place they go to. */
#include "cli/place.h"

#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

/* Whether the path names a file with this extension: something, a dot, the extension. */
static bool ends_in(const char *path, const char *extension)
{
    size_t n = strlen(path), m = strlen(extension);
    return n > m + 1 && path[n - m - 1] == '.' && path[n - m - 2] != '/' &&
           strcmp(path + n - m, extension) == 0;
}

/* Plugins may add any number of formats: what does not fit is left out. */
enum { FORMATS_TEXT_MAX = 256 };

static void list_formats(char text[FORMATS_TEXT_MAX], const struct ta_format *formats,
                         size_t n_formats)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n_formats && used < FORMATS_TEXT_MAX; i++)
        used += (size_t)snprintf(text + used, FORMATS_TEXT_MAX - used, "%s%s", i ? ", " : "one of ",
                                 formats[i].name);
}

static enum ta_status choose_one(struct ta_ctx *ctx, struct ta_slice name,
                                 struct ta_format *formats, size_t n_formats)
{
    char word[64] = "", hint[TA_SUGGEST_TEXT_MAX];
    memcpy(word, name.ptr, name.len < sizeof word ? name.len : sizeof word - 1);
    struct ta_suggest close = {.word = word};
    for (size_t i = 0; i < n_formats; i++) {
        if (ta_slice_equal(name, ta_slice_of(formats[i].name))) {
            formats[i].chosen = true;
            return TA_OK;
        }
        ta_suggest_offer(&close, formats[i].name);
    }
    char known[FORMATS_TEXT_MAX];
    list_formats(known, formats, n_formats);
    return ta_fail(ctx, TA_ERR_USAGE, "Unknown format: --format=%.*s, expected %s%s", (int)name.len,
                   name.ptr, known, ta_suggest_text(&close, hint));
}

static enum ta_status choose_list(struct ta_ctx *ctx, const char *list, struct ta_format *formats,
                                  size_t n_formats)
{
    enum ta_status status = TA_OK;
    for (const char *end; status == TA_OK; list = end + 1) {
        end = strchrnul(list, ',');
        status = choose_one(ctx, (struct ta_slice){list, (size_t)(end - list)}, formats, n_formats);
        if (!*end)
            break;
    }
    return status;
}

enum ta_status ta_place_default(struct ta_ctx *ctx, const char *list, struct ta_format *formats,
                                size_t n_formats)
{
    const enum ta_status status = choose_list(ctx, list, formats, n_formats);
    for (size_t i = 0; i < n_formats; i++) {
        formats[i].by_default = formats[i].chosen;
        formats[i].chosen = false;
    }
    return status;
}

/* Marks the one format whose extension the path has, of several the longest ("bench.json", "json");
 * false when there is none. */
static bool choose_by_extension(const char *path, struct ta_format *formats, size_t n_formats)
{
    struct ta_format *best = NULL;
    for (size_t i = 0; i < n_formats; i++)
        if (ends_in(path, formats[i].extension) &&
            (!best || strlen(formats[i].extension) > strlen(best->extension)))
            best = &formats[i];
    if (best)
        best->chosen = true;
    return best;
}

/* Files that people may hope for, and nobody calls a folder. */
static bool is_foreign(const char *extension)
{
    static const char *const foreign[] = {"jpg", "jpeg",    "gif",    "webp", "bmp",
                                          "tif", "tiff",    "eps",    "xls",  "xlsx",
                                          "tsv", "parquet", "sqlite", "docx"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcasecmp(extension, foreign[i]) == 0)
            return true;
    return false;
}

/* Names a folder that is not there and looks like a file of a known format, but for a letter, or of
 * a format that we do not write. */
static enum ta_status refuse_typo(struct ta_ctx *ctx, const char *path,
                                  const struct ta_format *formats, size_t n_formats)
{
    struct stat st;
    char hint[TA_SUGGEST_TEXT_MAX];
    const char *dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/') || strlen(dot + 1) < 3 || stat(path, &st) == 0)
        return TA_OK;
    struct ta_suggest close = {.word = dot + 1};
    for (size_t i = 0; i < n_formats; i++)
        ta_suggest_offer(&close, formats[i].extension);
    const char *suggestion = ta_suggest_text(&close, hint);
    char known[FORMATS_TEXT_MAX];
    list_formats(known, formats, n_formats);
    if (!*suggestion && is_foreign(dot + 1))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "No format has the extension of -o %s, expected %s (for a folder of that "
                       "name write %s/)",
                       path, known, path);
    return *suggestion ? ta_fail(ctx, TA_ERR_USAGE,
                                 "No format has the extension of -o %s%s (for a folder of that "
                                 "name write %s/)",
                                 path, suggestion, path)
                       : TA_OK;
}

/* Names a file of one format, which is no folder, for the product of another. */
static enum ta_status refuse_other_extension(struct ta_ctx *ctx, const char *path, const char *list,
                                             const struct ta_format *formats, size_t n_formats)
{
    struct stat st;
    const struct ta_format *other = NULL;
    for (size_t i = 0; i < n_formats; i++)
        if (ends_in(path, formats[i].extension))
            other = &formats[i];
    if (!other || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_USAGE,
                   "-o %s is the name of one file of format %s, not of --format=%s (for a folder "
                   "of that name write %s/)",
                   path, other->name, list, path);
}

/* The chosen format when there is only one, else NULL. */
static const struct ta_format *only_one(const struct ta_format *formats, size_t n_formats)
{
    const struct ta_format *one = NULL;
    for (size_t i = 0; i < n_formats; i++)
        if (formats[i].chosen) {
            if (one)
                return NULL;
            one = &formats[i];
        }
    return one;
}

enum ta_status ta_place_choose(struct ta_ctx *ctx, const char *list, const char *out,
                               const char *folder, bool single, struct ta_format *formats,
                               size_t n_formats, struct ta_place *place)
{
    bool to_stdout = out && strcmp(out, "-") == 0;
    bool may_be_file = out && !to_stdout && single;
    if (list) {
        enum ta_status status = choose_list(ctx, list, formats, n_formats);
        if (status != TA_OK)
            return status;
    } else if (!may_be_file || !choose_by_extension(out, formats, n_formats)) {
        const enum ta_status status =
            may_be_file ? refuse_typo(ctx, out, formats, n_formats) : TA_OK;
        if (status != TA_OK)
            return status;
        for (size_t i = 0; i < n_formats; i++)
            formats[i].chosen = formats[i].by_default;
    }
    const struct ta_format *one = single ? only_one(formats, n_formats) : NULL;
    if (list && may_be_file && one && !ends_in(out, one->extension)) {
        const enum ta_status status = refuse_other_extension(ctx, out, list, formats, n_formats);
        if (status != TA_OK)
            return status;
    }
    if (to_stdout && !one)
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Standard output takes one format: name it with --format, or give a "
                       "folder with -o");
    *place = (struct ta_place){.kind = TA_SINK_FOLDER, .path = out ? out : folder};
    if (to_stdout)
        *place = (struct ta_place){.kind = TA_SINK_STDOUT};
    else if (may_be_file && one && ends_in(out, one->extension))
        place->kind = TA_SINK_FILE;
    return ta_sink_check(ctx, place->kind, place->path);
}
