/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products appear whole or not at all: temporary files next to their targets, renamed together.
 *
 * Everything is done relative to open folders, so nobody can redirect a write by swapping a
 * folder for a link in the meantime. */
#include "render/sink.h"
#include "traceanalyze/output.h"

#include "base/context.h"
#include "base/temp.h"
#include "base/write/file.h"
#include "render/folder.h"
#include "render/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Which name holds what. */
enum state {
    WRITTEN,  /* the product has its temporary name */
    NEW,      /* the product has its final name */
    SWAPPED,  /* the same, and the earlier product has the temporary one */
    REPLACED, /* the same, and the earlier product is lost */
    GONE      /* taken back */
};

/* Products of a sink that wait for the disk together; those after them each by itself, as a
 * process may have only so many files open. */
enum { SETTLING_MOST = 64 };

struct product {
    struct ta_file file;
    struct ta_folder *folder;
    char *name; /* below the folder; NULL when it is written directly */
    char temp[TA_TEMP_NAME_MAX];
    struct ta_temp *entry;
    enum state state;
    struct product *next;
};

struct ta_sink {
    enum ta_sink_kind kind;
    char *path;
    bool committed;
    struct ta_folders folders;
    struct product *first, **last;
    size_t n_settling;
};

/* NULL for places that have a path. */
static const char *standard_name(enum ta_sink_kind kind)
{
    return kind == TA_SINK_STDOUT   ? "standard output"
           : kind == TA_SINK_STDERR ? "standard error"
           : kind == TA_SINK_MEMORY ? "memory"
                                    : NULL;
}

bool ta_sink_is_folder(const struct ta_sink *sink)
{
    return sink->kind == TA_SINK_FOLDER;
}

struct ta_sink *ta_sink_new(struct ta_ctx *ctx, enum ta_sink_kind kind, const char *path)
{
    if (!standard_name(kind) && (!path || !*path)) {
        ta_fail(ctx, TA_ERR_USAGE, "Empty output path: try -o DIR, -o FILE or -o -");
        return NULL;
    }
    struct ta_sink *sink = calloc(1, sizeof *sink);
    char *copy = strdup(standard_name(kind) ? standard_name(kind) : path);
    if (!sink || !copy) {
        free(sink);
        free(copy);
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=prepare output");
        return NULL;
    }
    *sink = (struct ta_sink){.kind = kind, .path = copy, .last = &sink->first};
    return sink;
}

enum ta_status ta_sink_check(struct ta_ctx *ctx, enum ta_sink_kind kind, const char *path)
{
    struct stat st;
    if (kind == TA_SINK_FOLDER)
        return ta_folder_check(ctx, path);
    /* Devices and pipes are written to where they are. */
    if (standard_name(kind) ||
        (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return TA_OK;
    const char *slash = strrchr(path, '/');
    const size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    char *folder = n ? strndup(path, n) : strdup(".");
    if (!folder)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=look at the output folder");
    const enum ta_status status = ta_folder_check(ctx, folder);
    free(folder);
    return status;
}

char *ta_sink_take(struct ta_sink *sink, size_t *n)
{
    struct product *product = sink->first;
    if (sink->kind != TA_SINK_MEMORY || !product || !product->file.complete)
        return NULL;
    ta_putc(&product->file, '\0');
    if (product->file.error)
        return NULL;
    char *bytes = product->file.buffer;
    *n = product->file.used - 1;
    product->file.buffer = NULL;
    product->file.used = product->file.room = 0;
    product->file.complete = false;
    return bytes;
}

bool ta_sink_is_single(const struct ta_sink *sink)
{
    return sink->kind != TA_SINK_FOLDER;
}

/* ---- opening ------------------------------------------------------------------------- */

/* Opens an existing device or pipe; a pipe waits for its reader as it would in a shell. */
static int open_direct(struct ta_ctx *ctx, const struct ta_folder *folder, const char *name)
{
    int fd;
    do
        fd = openat(folder->fd, name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR && !ta_ctx_canceled(ctx));
    return fd;
}

static int open_temp(struct ta_ctx *ctx, struct product *product, const struct ta_folder *folder)
{
    for (int tries = 0; tries < 100; tries++) {
        ta_temp_name(product->temp);
        product->entry = ta_temp_enter(&ctx->shared->temps, folder->fd, product->temp);
        if (!product->entry) {
            errno = ENOMEM;
            return -1;
        }
        int fd = openat(folder->fd, product->temp,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        ta_temp_forget(product->entry);
        product->entry = NULL;
        if (errno != EEXIST && errno != EINTR)
            return -1;
    }
    return -1;
}

static struct product *add_product(struct ta_sink *sink)
{
    struct product *product = calloc(1, sizeof *product);
    if (!product)
        return NULL;
    product->file.fd = -1;
    *sink->last = product;
    sink->last = &product->next;
    return product;
}

static struct ta_file *start(struct ta_ctx *ctx, struct product *product, int fd, bool foreign,
                             char *path)
{
    if (fd < 0) {
        ta_fail_path(ctx, "Cannot create", path);
        free(path);
        return NULL;
    }
    if (!ta_file_start(&product->file, fd, foreign, path)) {
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=write an output file");
        return NULL;
    }
    return &product->file;
}

static struct ta_file *open_in(struct ta_ctx *ctx, struct ta_sink *sink, struct ta_folder *folder,
                               const char *name, const char *signature)
{
    struct product *product = add_product(sink);
    char *path = NULL;
    if (!product ||
        (sink->kind == TA_SINK_FILE ? !(path = strdup(sink->path))
                                    : asprintf(&path, "%s/%s", folder->path, name) < 0)) {
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=open an output file");
        return NULL;
    }
    product->folder = folder;
    enum ta_target target = ta_target_judge(ctx, folder, name, path, signature);
    if (target == TA_TARGET_REFUSED) {
        free(path);
        return NULL;
    }
    if (target == TA_TARGET_DIRECT)
        return start(ctx, product, open_direct(ctx, folder, name), false, path);
    product->name = strdup(name);
    errno = ENOMEM;
    struct ta_file *file =
        start(ctx, product, product->name ? open_temp(ctx, product, folder) : -1, false, path);
    if (file)
        file->settles = sink->n_settling++ < SETTLING_MOST;
    return file;
}

/* Names come from tables of ours, or from ids of a saved report: no way up, nothing hidden, at
 * most one folder deep. */
static bool is_product_name(const char *name)
{
    const char *slash = strchr(name, '/');
    return *name && *name != '.' && *name != '/' &&
           (!slash || (slash[1] && slash[1] != '.' && !strchr(slash + 1, '/')));
}

static bool is_open_already(const struct ta_sink *sink, const struct ta_folder *folder,
                            const char *name)
{
    for (const struct product *p = sink->first; p; p = p->next)
        if (p->folder == folder && p->name && strcmp(p->name, name) == 0)
            return true;
    return false;
}

/* A file that others write to as well: its owner asked for it. */
static struct ta_file *open_append(struct ta_ctx *ctx, struct ta_sink *sink)
{
    struct product *product = add_product(sink);
    char *path = strdup(sink->path);
    if (!product || !path) {
        free(path);
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=open an output file");
        return NULL;
    }
    const int fd = open(
        path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
    return start(ctx, product, fd, false, path);
}

static struct ta_file *open_single(struct ta_ctx *ctx, struct ta_sink *sink, const char *name,
                                   const char *signature)
{
    if (sink->first) {
        ta_fail(ctx, TA_ERR_USAGE,
                "One output path for several files: path=\"%s\", file=%s, try -o DIR", sink->path,
                name);
        return NULL;
    }
    if (standard_name(sink->kind)) {
        struct product *product = add_product(sink);
        char *path = strdup(sink->path);
        if (product && path && sink->kind == TA_SINK_MEMORY) {
            ta_file_start_draft(&product->file);
            product->file.path = path;
            return &product->file;
        }
        if (product && path)
            return start(ctx, product, sink->kind == TA_SINK_STDOUT ? STDOUT_FILENO : STDERR_FILENO,
                         true, path);
        free(path);
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=open %s", sink->path);
        return NULL;
    }
    if (sink->kind == TA_SINK_APPEND)
        return open_append(ctx, sink);
    const char *slash = strrchr(sink->path, '/');
    const char *base = slash ? slash + 1 : sink->path;
    if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
        ta_fail(ctx, TA_ERR_OUTPUT, "Output path is a folder, expected a file: path=\"%s\"",
                sink->path);
        return NULL;
    }
    char *parent = !slash ? strdup(".") : strndup(sink->path, (size_t)(base - sink->path));
    if (!parent) {
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=open output folder");
        return NULL;
    }
    struct ta_folder *folder = ta_folder_base(ctx, &sink->folders, parent, false);
    free(parent);
    return folder ? open_in(ctx, sink, folder, base, signature) : NULL;
}

struct ta_file *ta_sink_open(struct ta_ctx *ctx, struct ta_sink *sink, const char *name,
                             const char *signature)
{
    if (!is_product_name(name)) {
        ta_fail(ctx, TA_ERR_OUTPUT, "Unusable name of an output file: name=\"%s\"", name);
        return NULL;
    }
    if (sink->kind != TA_SINK_FOLDER)
        return open_single(ctx, sink, name, signature);
    struct ta_folder *folder = ta_folder_base(ctx, &sink->folders, sink->path, true);
    const char *slash = strchr(name, '/');
    if (folder && slash) {
        char *sub = strndup(name, (size_t)(slash - name));
        if (!sub) {
            ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=open an output file");
            return NULL;
        }
        folder = ta_folder_below(ctx, &sink->folders, folder, sub);
        free(sub);
        name = slash + 1;
    }
    if (!folder)
        return NULL;
    if (is_open_already(sink, folder, name)) {
        ta_fail(ctx, TA_ERR_INTERNAL, "Product written twice: name=\"%s\"", name);
        return NULL;
    }
    return open_in(ctx, sink, folder, name, signature);
}

/* ---- commit -------------------------------------------------------------------------- */

/* Gives a product its final name.  An earlier product is not lost yet: it takes the temporary
 * name, from where take_back() restores it.  File systems that cannot exchange two names
 * cannot go back either. */
static bool place(struct product *product)
{
    const int dir = product->folder->fd;
    struct stat st;
    bool exists = fstatat(dir, product->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (exists && renameat2(dir, product->temp, dir, product->name, RENAME_EXCHANGE) == 0) {
        product->state = SWAPPED;
        return true;
    }
    if (renameat(dir, product->temp, dir, product->name) != 0)
        return false;
    product->state = exists ? REPLACED : NEW;
    return true;
}

/* The product whose presence shows readers that all others are complete. */
static bool is_last(const struct product *product)
{
    return strcmp(product->name, "report.json") == 0 || strcmp(product->name, "diff.json") == 0;
}

/* Places all products but the last one, or only that. */
static enum ta_status place_all(struct ta_ctx *ctx, struct ta_sink *sink, bool last)
{
    for (struct product *p = sink->first; p; p = p->next) {
        if (!p->name || is_last(p) != last)
            continue;
        if (!place(p))
            return ta_fail_path(ctx, "Cannot put the output file in place", p->file.path);
    }
    if (!ta_folders_sync(&sink->folders))
        return ta_fail_path(ctx, "Cannot write the output folder", sink->path);
    return TA_OK;
}

/* Waits for the disk, which has been at work on all products since they were closed. */
static enum ta_status settle(struct ta_ctx *ctx, struct ta_sink *sink)
{
    if (ta_ctx_canceled(ctx))
        return ta_fail(ctx, TA_ERR_CANCELED, "Stopped before the output files were in place");
    enum ta_status status = TA_OK;
    for (struct product *p = sink->first; status == TA_OK && p; p = p->next)
        status = p->file.complete
                     ? ta_file_settle(ctx, &p->file)
                     : ta_fail(ctx, TA_ERR_INTERNAL, "Product is not complete: path=\"%s\"",
                               p->file.path ? p->file.path : sink->path);
    return status;
}

enum ta_status ta_sinks_commit(struct ta_ctx *ctx, struct ta_sink *const *sinks, size_t n)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < n; i++)
        status = settle(ctx, sinks[i]);
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; status == TA_OK && i < n; i++)
            status = place_all(ctx, sinks[i], last);
    for (size_t i = 0; i < n; i++) {
        sinks[i]->committed = status == TA_OK;
        for (struct product *p = sinks[i]->first; p && status != TA_OK; p = p->next) {
            const int dir = p->folder->fd;
            if (p->state == NEW)
                unlinkat(dir, p->name, 0);
            else if (p->state == SWAPPED)
                renameat(dir, p->temp, dir, p->name);
            else
                continue;
            p->state = GONE;
        }
    }
    return status;
}

void ta_sink_free(struct ta_sink *sink)
{
    if (!sink)
        return;
    for (struct product *product = sink->first, *next; product; product = next) {
        next = product->next;
        ta_file_end(&product->file);
        if (product->entry && (product->state == WRITTEN || product->state == SWAPPED))
            unlinkat(product->folder->fd, product->temp, 0);
        ta_temp_forget(product->entry);
        free(product->name);
        free(product);
    }
    ta_folders_end(&sink->folders, sink->committed);
    free(sink->path);
    free(sink);
}
