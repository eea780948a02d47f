/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plugins in shared objects: from trusted places only, checked before and after loading. */
#include "plugin/registry_impl.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"

/* No plugin has so many descriptors: an entry function that never ends its list is refused. */
enum { DESCRIPTORS_MAX = 256 };

typedef const struct ta_plugin *ta_plugin_entry_function(uint32_t index);

void ta_libraries_close(struct ta_library *libraries)
{
    for (struct ta_library *library = libraries, *next; library; library = next) {
        next = library->next;
        if (library->handle)
            dlclose(library->handle);
        close(library->fd);
        free(library);
    }
}

/* ---- one file --------------------------------------------------------------------------- */

/* The loader would say the same, but by the name /proc/self/fd/N. */
static enum ta_status check_file(struct ta_ctx *ctx, const char *path, int fd)
{
    char magic[4];
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Cannot read plugin: path=%s: %s", path,
                       strerror(errno));
    if (!S_ISREG(st.st_mode) || pread(fd, magic, sizeof magic, 0) != (ssize_t)sizeof magic ||
        memcmp(magic, "\177ELF", sizeof magic) != 0)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Not a shared object: path=%s", path);
    return TA_OK;
}

/* What dlerror() says, without the name of the file that it begins with. */
static const char *load_error(void)
{
    const char *text = dlerror();
    if (!text)
        return "unknown error";
    const char *colon = strncmp(text, "/proc/self/fd/", 14) == 0 ? strstr(text, ": ") : NULL;
    return colon ? colon + 2 : text;
}

static enum ta_status add_descriptors(struct ta_ctx *ctx, struct ta_registry *registry,
                                      void *handle, const char *path)
{
    /* POSIX lets an object pointer from dlsym() be called; ISO C has no conversion for it. */
    union {
        void *object;
        ta_plugin_entry_function *function;
    } entry = {.object = dlsym(handle, "ta_plugin_entry")};
    if (!entry.object)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Not a plugin of traceanalyze: path=%s", path);
    for (uint32_t i = 0; i < DESCRIPTORS_MAX; i++) {
        const struct ta_plugin *plugin = entry.function(i);
        if (!plugin && i > 0)
            return TA_OK;
        if (!plugin)
            return ta_fail(ctx, TA_ERR_PLUGIN, "Shared object without plugins: path=%s", path);
        enum ta_status status = ta_registry_add(ctx, registry, plugin, path);
        if (status != TA_OK)
            return status;
    }
    return ta_fail(ctx, TA_ERR_PLUGIN, "List of plugins without an end: path=%s", path);
}

/* Takes over `fd`. */
static enum ta_status load_file(struct ta_ctx *ctx, struct ta_registry *registry, const char *path,
                                int fd)
{
    enum ta_status status = check_file(ctx, path, fd);
    struct ta_library *library = status == TA_OK ? calloc(1, sizeof *library) : NULL;
    if (!library) {
        close(fd);
        return status != TA_OK ? status
                               : ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugin=%s", path);
    }
    *library = (struct ta_library){.fd = fd, .next = registry->libraries};
    registry->libraries = library;

    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Cannot load plugin: path=%s: %s", path, load_error());
    return add_descriptors(ctx, registry, library->handle, path);
}

/* ---- folders and search paths ------------------------------------------------------------ */

static int is_shared_object(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return entry->d_name[0] != '.' && n > 3 && strcmp(entry->d_name + n - 3, ".so") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum ta_status load_folder(struct ta_ctx *ctx, struct ta_registry *registry,
                                  const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, is_shared_object, by_bytes);
    if (n < 0)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Cannot read plugin folder: path=%s: %s", path,
                       strerror(errno));
    enum ta_status status = TA_OK;
    for (int i = 0; i < n; i++) {
        char *file = NULL;
        if (status == TA_OK && asprintf(&file, "%s/%s", path, names[i]->d_name) < 0)
            status = ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugin folder=%s", path);
        else if (status == TA_OK)
            status = ta_registry_load(ctx, registry, file);
        free(file);
        free(names[i]);
    }
    free(names);
    return status;
}

enum ta_status ta_registry_load(struct ta_ctx *ctx, struct ta_registry *registry, const char *path)
{
    int fd;
    struct stat st;
    enum ta_status status = ta_trusted_open(ctx, path, &fd);
    if (status != TA_OK)
        return status;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return load_folder(ctx, registry, path);
    }
    return load_file(ctx, registry, path, fd);
}

/* Loads the folders of a list such as "/a:/b"; empty parts do not mean the working folder. */
static enum ta_status load_list(struct ta_ctx *ctx, struct ta_registry *registry, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    if (!copy)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugin paths");
    enum ta_status status = TA_OK;
    for (char *path; status == TA_OK && (path = strsep(&rest, ":"));)
        if (*path)
            status = ta_registry_load(ctx, registry, path);
    free(copy);
    return status == TA_OK ? TA_OK : ta_cause(ctx, status, "In TRACEANALYZE_PLUGIN_PATH");
}

/* An untrusted folder is passed over: it may have come with an archive that somebody unpacked. */
static enum ta_status load_installed(struct ta_ctx *ctx, struct ta_registry *registry,
                                     const char *folder)
{
    int fd;
    if (ta_trusted_open(ctx, folder, &fd) != TA_OK) {
        ta_log(ctx, TA_LOG_WARNING, "Installed plugins are not used: %s", ta_ctx_causes(ctx));
        return TA_OK;
    }
    close(fd);
    return ta_registry_load(ctx, registry, folder);
}

enum ta_status ta_registry_load_defaults(struct ta_ctx *ctx, struct ta_registry *registry)
{
    char *folder = NULL;
    enum ta_status status = ta_plugin_folder(ctx, &folder);
    if (status == TA_OK && folder)
        status = load_installed(ctx, registry, folder);
    free(folder);
    const char *list = secure_getenv("TRACEANALYZE_PLUGIN_PATH");
    return status == TA_OK && list ? load_list(ctx, registry, list) : status;
}
