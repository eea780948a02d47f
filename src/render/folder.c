/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of products: making, opening, and taking back what was made. */
#include "render/folder.h"

#include "base/write/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that this run has made; the list starts with the deepest. */
struct ta_made_folder {
    char *path;
    struct ta_made_folder *next;
};

/* Remembers a folder we made, to remove it should the run fail. */
static bool remember_made(struct ta_folders *folders, const char *path)
{
    struct ta_made_folder *made = malloc(sizeof *made);
    char *copy = strdup(path);
    if (!made || !copy) {
        free(made);
        free(copy);
        rmdir(path);
        errno = ENOMEM;
        return false;
    }
    *made = (struct ta_made_folder){.path = copy, .next = folders->made};
    folders->made = made;
    return true;
}

/* Makes one folder; one that is there is fine.  File systems that are mounted on demand or
 * read-only may answer other errors than EEXIST for it. */
static bool make_folder(struct ta_folders *folders, const char *path)
{
    if (mkdir(path, 0777) == 0)
        return remember_made(folders, path);
    int reason = errno;
    struct stat st;
    if (reason == EEXIST || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return true;
    errno = reason;
    return false;
}

/* Makes a folder and what is missing above it. */
static bool make_folders(struct ta_folders *folders, const char *path)
{
    char *part = strdup(path);
    if (!part)
        return false;
    bool good = true;
    for (char *slash = part + 1; good && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        good = make_folder(folders, part);
        *slash = '/';
    }
    good = good && make_folder(folders, part);
    free(part);
    return good;
}

enum ta_status ta_folder_check(struct ta_ctx *ctx, const char *path)
{
    struct stat st;
    char *part = strdup(path);
    if (!part)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=look at the output folder");
    /* The nearest folder that is there is the one to make the others in. */
    const char *nearest = *part ? part : ".";
    while (stat(nearest, &st) != 0 && errno == ENOENT && nearest == part) {
        char *slash = strrchr(part, '/');
        if (slash > part)
            *slash = '\0';
        else
            nearest = slash ? "/" : ".";
    }
    errno = 0;
    const bool good =
        stat(nearest, &st) == 0 && S_ISDIR(st.st_mode) && access(nearest, W_OK | X_OK) == 0;
    if (!good && !errno)
        errno = ENOTDIR;
    const enum ta_status status =
        good ? TA_OK : ta_fail_path(ctx, "Cannot write to the output folder", path);
    free(part);
    return status;
}

/* Opens a folder; one that may not be listed can still be written to. */
static int open_folder(int base, const char *path, int flags)
{
    int fd = openat(base, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    if (fd < 0 && errno == EACCES)
        fd = openat(base, path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
    return fd;
}

/* Adds what was opened, -1 with errno set if it was not.  Takes over `path`, whose last
 * `name_length` bytes are the name below the base. */
static struct ta_folder *add(struct ta_ctx *ctx, struct ta_folders *folders, int fd, char *path,
                             size_t name_length)
{
    struct ta_folder *folder = fd >= 0 ? malloc(sizeof *folder) : NULL;
    if (!folder) {
        ta_fail_path(ctx, "Cannot open the output folder", path);
        if (fd >= 0)
            close(fd);
        free(path);
        return NULL;
    }
    *folder = (struct ta_folder){
        .fd = fd,
        .path = path,
        .name = path + strlen(path) - name_length,
        .next = folders->open,
    };
    folders->open = folder;
    return folder;
}

static struct ta_folder *find(const struct ta_folders *folders, const char *name)
{
    struct ta_folder *folder = folders->open;
    while (folder && strcmp(folder->name, name) != 0)
        folder = folder->next;
    return folder;
}

struct ta_folder *ta_folder_base(struct ta_ctx *ctx, struct ta_folders *folders, const char *path,
                                 bool make)
{
    struct ta_folder *folder = find(folders, "");
    if (folder)
        return folder;
    char *copy = strdup(path);
    if (!copy || (make && !make_folders(folders, copy))) {
        ta_fail_path(ctx, "Cannot make the output folder", path);
        free(copy);
        return NULL;
    }
    return add(ctx, folders, open_folder(AT_FDCWD, copy, 0), copy, 0);
}

struct ta_folder *ta_folder_below(struct ta_ctx *ctx, struct ta_folders *folders,
                                  struct ta_folder *base, const char *name)
{
    struct ta_folder *folder = find(folders, name);
    if (folder)
        return folder;
    char *path;
    if (asprintf(&path, "%s/%s", base->path, name) < 0) {
        ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=open output folder");
        return NULL;
    }
    if (mkdirat(base->fd, name, 0777) == 0 ? !remember_made(folders, path) : errno != EEXIST) {
        ta_fail_path(ctx, "Cannot make the output folder", path);
        free(path);
        return NULL;
    }
    return add(ctx, folders, open_folder(base->fd, name, O_NOFOLLOW), path, strlen(name));
}

bool ta_folders_sync(const struct ta_folders *folders)
{
    for (const struct ta_folder *folder = folders->open; folder; folder = folder->next)
        while (fsync(folder->fd) != 0)
            if (errno == EINVAL || errno == EBADF || errno == EROFS || errno == ENOTSUP)
                break; /* no such thing there; EBADF: a folder we may not list */
            else if (errno != EINTR)
                return false;
    return true;
}

void ta_folders_end(struct ta_folders *folders, bool keep)
{
    for (struct ta_folder *folder = folders->open, *next; folder; folder = next) {
        next = folder->next;
        close(folder->fd);
        free(folder->path);
        free(folder);
    }
    for (struct ta_made_folder *made = folders->made, *next; made; made = next) {
        next = made->next;
        if (!keep)
            rmdir(made->path);
        free(made->path);
        free(made);
    }
    *folders = (struct ta_folders){0};
}
