/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the plugins of an installation are: next to the program or the library that asks, so that
 * an installation can be moved, packed, and unpacked anywhere. */
#include "plugin/registry_impl.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

/* The build says where an installation has its plugins:
 *   TA_PLUGIN_DIR          in the prefix it was configured for
 *   TA_PLUGINS_OF_PROGRAM  seen from the folder of programs
 *   TA_PLUGINS_OF_LIBRARY  seen from the folder of libraries */

/* An object of ours, by whose address the file is found that this code is part of. */
static const char here = 0;

/* The real path of the program or library that holds this code; NULL with errno where it cannot be
 * told. */
static char *own_path(bool *is_program)
{
    Dl_info ours, program;
    /* The headers of the program lie in its first pages. */
    const void *headers = (const void *)getauxval(AT_PHDR);
    if (!headers || !dladdr(&here, &ours) || !dladdr(headers, &program)) {
        errno = ENOENT;
        return NULL;
    }
    *is_program = ours.dli_fbase == program.dli_fbase;
    return realpath(*is_program ? "/proc/self/exe" : ours.dli_fname, NULL);
}

/* The folder next to the file at `path`, whose name is cut off; NULL with errno when it is not
 * there. */
static char *folder_beside(char *path, const char *relative)
{
    char *joined;
    *strrchr(path, '/') = '\0';
    if (asprintf(&joined, "%s/%s", path, relative) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    char *folder = realpath(joined, NULL);
    const int error = errno;
    free(joined);
    errno = error;
    return folder;
}

enum ta_status ta_plugin_folder(struct ta_ctx *ctx, char **folder)
{
    bool is_program = false;
    char *path = NULL, *found = NULL;
    errno = 0;
    /* With raised privileges, whoever links to the program would choose where its plugins are. */
    if (!getauxval(AT_SECURE))
        path = own_path(&is_program);
    if (path)
        found = folder_beside(path, is_program ? TA_PLUGINS_OF_PROGRAM : TA_PLUGINS_OF_LIBRARY);
    else if (errno != ENOMEM)
        found = realpath(TA_PLUGIN_DIR, NULL);
    const bool no_memory = !found && errno == ENOMEM;
    free(path);
    if (no_memory)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugin folder");
    *folder = found;
    return TA_OK;
}
