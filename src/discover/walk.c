/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From operands to files: folders, globs, links, and what is left out. */
#include "discover/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <strings.h>
#include <unistd.h>

/* Folders below folders; deeper ones are a mistake or an attack. */
enum { DEPTH_MAX = 64 };

struct walk {
    struct ta_ctx *ctx;
    struct ta_sources *sources;
    size_t base; /* length of the operand and its slash in the path of an entry */
    const char *prefix;
    bool is_below; /* of the operand */
    uint64_t limit;
    const char *dropped; /* the first file by name that is beyond the limit, or NULL */
    uint64_t n_dropped;
};

/* ---- order --------------------------------------------------------------------------------- */

static void skip(struct walk *walk, const char *shown, const char *what)
{
    ta_quality_add(walk->sources->quality, TA_Q_SKIPPED_FILE, TA_NO_OFFSET,
                   "Not read: \"%s\" is %s", shown, what);
}

static int by_name(const void *left, const void *right)
{
    const struct ta_source *a = left, *b = right;
    int order = strcmp(a->shown, b->shown);
    if (!order && a->path && b->path)
        order = strcmp(a->path, b->path);
    return order ? order : (a->member > b->member) - (a->member < b->member);
}

static int by_inode(const void *left, const void *right)
{
    const struct ta_source *const *a = left, *const *b = right;
    if ((*a)->device != (*b)->device)
        return (*a)->device < (*b)->device ? -1 : 1;
    if ((*a)->inode != (*b)->inode)
        return (*a)->inode < (*b)->inode ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

/* Orders the files, drops those met twice, and keeps as many as the limit allows, the first by
 * name: which ones may not depend on the order in which folders list them. */
static bool order_files(struct walk *walk)
{
    struct ta_sources *sources = walk->sources;
    struct ta_source *list = sources->list.at;
    const size_t all = sources->list.n;
    if (all)
        qsort(list, all, sizeof *list, by_name);
    /* Marks files met before, through another link or operand, by taking their name away. */
    struct ta_source **order = reallocarray(NULL, all + 1, sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < all; i++)
        order[i] = &list[i];
    qsort(order, all, sizeof *order, by_inode);
    for (size_t i = 1; i < all; i++) {
        if (!order[i]->inode || order[i]->inode != order[i - 1]->inode ||
            order[i]->device != order[i - 1]->device)
            continue;
        skip(walk, order[i]->shown, "another name of a file that was read");
        order[i]->shown = NULL;
    }
    free(order);

    sources->list.n = 0;
    for (size_t i = 0; i < all; i++)
        if (list[i].shown)
            list[sources->list.n++] = list[i];
    if (sources->list.n <= walk->limit)
        return true;
    const char *first = list[walk->limit].shown;
    if (!walk->dropped || strcmp(first, walk->dropped) < 0)
        walk->dropped = first;
    walk->n_dropped += sources->list.n - walk->limit;
    sources->list.n = (size_t)walk->limit;
    return true;
}

/* ---- adding files -------------------------------------------------------------------------- */

/* Names that profilers give to traces: where such a file of a folder cannot be used, people are
 * told. */
static bool looks_like_trace(const char *name)
{
    static const char *const endings[] = {".json",  ".json.gz", ".json.tmp",
                                          ".trace", ".gz",      ".pickle"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);
        if (length > n && strcasecmp(name + length - n, endings[i]) == 0)
            return true;
    }
    return false;
}

static enum ta_status add(struct walk *walk, const char *path, const char *shown,
                          const struct stat *st, const char *refusal, bool expected)
{
    struct ta_sources *sources = walk->sources;
    if (sources->list.n / 2 >= walk->limit && !order_files(walk))
        return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot order the input files: files=%zu",
                       sources->list.n);
    struct ta_source source = {
        .refusal = refusal, .expected = expected, .is_below = walk->is_below};
    source.path = ta_arena_copy(&sources->arena, ta_slice_of(path));
    source.shown = ta_arena_copy(&sources->arena, ta_slice_of(shown));
    if (st) {
        source.device = st->st_dev;
        source.inode = st->st_ino;
        source.mtime_s = st->st_mtim.tv_sec;
        source.size = (uint64_t)st->st_size;
    }
    if (!source.path || !source.shown || !ta_vec_push(&sources->list, source))
        return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot list the input files: files=%zu",
                       sources->list.n);
    return TA_OK;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a named pipe"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISLNK(mode)  ? "a link that leads nowhere"
                            : "a device";
}

/* ---- folders ------------------------------------------------------------------------------- */

static enum ta_status walk_folder(struct walk *walk, const char *path, unsigned depth);

/* Hidden files belong to other programs, or are what a killed run of ours left: a trace among them
 * would be missed. */
static enum ta_status walk_entry(struct walk *walk, const char *folder, const char *name,
                                 unsigned depth)
{
    struct ta_arena *arena = &walk->sources->arena;
    struct stat link, target;
    if (name[0] == '.' && !looks_like_trace(name))
        return TA_OK;
    const char *path = ta_arena_printf(arena, "%s/%s", folder, name);
    const char *shown =
        path ? ta_arena_printf(arena, "%s%s", walk->prefix, path + walk->base) : NULL;
    if (!shown)
        return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot list a folder");
    if (name[0] == '.') {
        skip(walk, shown, "hidden");
        return TA_OK;
    }
    if (lstat(path, &link) != 0 && errno != ENOENT)
        return add(walk, path, shown, NULL, "a file that cannot be looked at", true);
    if (lstat(path, &link) != 0)
        return TA_OK; /* gone while we looked */
    if (S_ISDIR(link.st_mode))
        return walk_folder(walk, path, depth + 1);
    if (stat(path, &target) != 0)
        target = link;
    if (S_ISLNK(link.st_mode) && S_ISDIR(target.st_mode)) {
        skip(walk, shown, "a link to a folder");
        return TA_OK;
    }
    if (S_ISREG(target.st_mode))
        return add(walk, path, shown, &target, NULL, looks_like_trace(name));
    if (looks_like_trace(name))
        return add(walk, path, shown, NULL, kind_of(target.st_mode), true);
    skip(walk, shown, kind_of(target.st_mode));
    return TA_OK;
}

static int by_entry(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

/* By name, since what is said of several entries names the first. */
static enum ta_status walk_folder(struct walk *walk, const char *path, unsigned depth)
{
    struct dirent **entries = NULL;
    const int n = depth < DEPTH_MAX ? scandir(path, &entries, NULL, by_entry) : -1;
    if (n < 0 && depth < DEPTH_MAX && errno == ENOMEM)
        return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot list a folder");
    if (n < 0 && depth == 0)
        return ta_fail(walk->ctx, TA_ERR_INPUT, "Cannot read the folder \"%s\": %s", path,
                       strerror(errno));
    if (n < 0) {
        /* A folder below an operand that is not looked into.  Nobody knows what one that cannot be
         * opened holds: it counts as a refused file. */
        const char *shown =
            ta_arena_printf(&walk->sources->arena, "%s%s", walk->prefix, path + walk->base);
        if (!shown)
            return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot list a folder");
        if (depth < DEPTH_MAX)
            return add(walk, path, shown, NULL, "a folder that cannot be read", true);
        skip(walk, shown, "nested too deeply");
        return TA_OK;
    }
    enum ta_status status = TA_OK;
    for (int i = 0; i < n; i++) {
        if (status == TA_OK)
            status = walk_entry(walk, path, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* ---- operands ------------------------------------------------------------------------------ */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static enum ta_status walk_operand(struct walk *walk, const char *operand, bool alone)
{
    struct stat st;
    struct ta_arena *arena = &walk->sources->arena;
    if (stat(operand, &st) != 0)
        return ta_fail(walk->ctx, TA_ERR_INPUT, "Cannot find \"%s\": %s", operand, strerror(errno));
    if (S_ISREG(st.st_mode)) { /* a file that is an operand itself, or matches one */
        const enum ta_status status = add(walk, operand, base_name(operand), &st, NULL, true);
        if (status == TA_OK)
            walk->sources->list.at[walk->sources->list.n - 1].is_named = true;
        return status;
    }
    if (!S_ISDIR(st.st_mode))
        return add(walk, operand, operand, NULL, kind_of(st.st_mode), true);
    /* The operand without slashes at its end, so that joined paths have single ones. */
    size_t n = strlen(operand);
    while (n > 1 && operand[n - 1] == '/')
        n--;
    const char *folder = ta_arena_copy(arena, (struct ta_slice){operand, n});
    if (!folder)
        return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot list a folder");
    /* With several operands the name of the folder distinguishes its files from the others'. */
    walk->prefix = alone ? "" : ta_arena_printf(arena, "%s/", base_name(folder));
    walk->base = strlen(folder) + 1;
    const size_t before = walk->sources->list.n;
    walk->is_below = true;
    enum ta_status status = walk_folder(walk, folder, 0);
    walk->is_below = false;
    if (status == TA_OK && walk->sources->list.n == before && alone)
        return ta_fail(walk->ctx, TA_ERR_INPUT, "No file in the folder \"%s\"", operand);
    return status;
}

static enum ta_status walk_glob(struct walk *walk, const char *pattern, bool alone)
{
    glob_t found;
    int result = glob(pattern, 0, NULL, &found);
    if (result == GLOB_NOSPACE)
        return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot list the files of \"%s\"", pattern);
    if (result != 0)
        return ta_fail(walk->ctx, TA_ERR_INPUT, "No file matches \"%s\"", pattern);
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < found.gl_pathc; i++)
        status = walk_operand(walk, found.gl_pathv[i], alone && found.gl_pathc == 1);
    globfree(&found);
    return status;
}

/* Files that clash in their shown names are told apart. */
static bool make_names_unique(struct ta_sources *sources)
{
    struct ta_source *list = sources->list.at;
    const char *name = "";
    size_t same = 1;
    for (size_t i = 0; i < sources->list.n; i++) {
        same = strcmp(name, list[i].shown) == 0 ? same + 1 : 1;
        name = list[i].shown;
        if (same > 1)
            list[i].shown = ta_arena_printf(&sources->arena, "%s (%zu)", name, same);
        if (!list[i].shown)
            return false;
    }
    return true;
}

bool ta_sources_order(struct ta_sources *sources)
{
    qsort(sources->list.at, sources->list.n, sizeof *sources->list.at, by_name);
    return make_names_unique(sources);
}

static enum ta_status settle(struct walk *walk)
{
    if (!order_files(walk))
        return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot order the input files: files=%zu",
                       walk->sources->list.n);
    ta_quality_add_many(walk->sources->quality, TA_Q_LIMIT, walk->n_dropped, TA_NO_OFFSET,
                        TA_NO_OFFSET,
                        "Files beyond the limit \"files\" (--limit files=…) were not read, the "
                        "first is \"%s\"",
                        walk->dropped ? walk->dropped : "");
    if (!make_names_unique(walk->sources))
        return ta_fail(walk->ctx, TA_ERR_NOMEM, "Cannot name the input files");
    return TA_OK;
}

enum ta_status ta_discover(struct ta_ctx *ctx, const char *const *inputs, size_t n_inputs,
                           struct ta_sources *sources)
{
    struct walk walk = {
        .ctx = ctx, .sources = sources, .prefix = "", .limit = ta_ctx_limit(ctx, TA_LIMIT_FILES)};
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < n_inputs; i++) {
        struct stat st;
        if (strcmp(inputs[i], "-") == 0) {
            status = add(&walk, "", "stdin", NULL, NULL, true);
            if (status == TA_OK)
                sources->list.at[sources->list.n - 1].path = NULL;
        } else if (lstat(inputs[i], &st) != 0 && strpbrk(inputs[i], "*?[")) {
            status = walk_glob(&walk, inputs[i], n_inputs == 1);
        } else {
            status = walk_operand(&walk, inputs[i], n_inputs == 1);
        }
    }
    return status == TA_OK ? settle(&walk) : status;
}

void ta_sources_free(struct ta_sources *sources)
{
    free(sources->list.at);
    ta_arena_free(&sources->arena);
}
