/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that a profiler wrote of a report next to them, X.html of X.json: they hold its figures
 * once more, rounded for people. */
#include "discover/look.h"

static struct ta_slice stem_of(const char *path, const char *ending)
{
    const struct ta_slice whole = ta_slice_of(path);
    return ta_slice_ends(whole, ending) ? ta_slice_part(whole, 0, whole.len - strlen(ending))
                                        : (struct ta_slice){NULL, 0};
}

/* The order of names has what begins alike in a row. */
static bool has_report(const struct ta_sources *sources, size_t page)
{
    static const char *const endings[] = {".json", ".json.gz"};
    const struct ta_slice stem = stem_of(sources->list.at[page].path, ".html");
    for (size_t i = page + 1; i < sources->list.n; i++) {
        const char *path = sources->list.at[i].path;
        if (!path || strncmp(path, stem.ptr, stem.len) != 0)
            return false;
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
            if (ta_slice_equal(stem_of(path, endings[k]), stem))
                return true;
    }
    return false;
}

static bool is_page(struct ta_ctx *ctx, const char *path)
{
    static const char title[] = "<title>Inferix Profiling Report - ";
    char head[2048];
    size_t n = 0;
    bool failed = false;
    struct ta_quality ignored;
    struct ta_reader *reader = ta_look_open(ctx, path, &ignored, &failed);
    for (size_t got = 1; reader && got && n < sizeof head; n += got)
        got = ta_reader_read(reader, head + n, sizeof head - n);
    ta_look_close(reader, &ignored);
    return n && memmem(head, n, title, sizeof title - 1);
}

void ta_leave_out_pages(struct ta_ctx *ctx, struct ta_sources *sources)
{
    for (size_t i = 0; i < sources->list.n; i++) {
        struct ta_source *source = &sources->list.at[i];
        const bool is_html = source->path && !source->refusal && !source->is_named &&
                             stem_of(source->path, ".html").len > 0;
        if (is_html && has_report(sources, i) && is_page(ctx, source->path))
            source->damage = "The page of a report that is read";
    }
}
