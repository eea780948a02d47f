/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared library that holds all of the static one and says which plugins that finds; with MAIN
 * the program that loads it.  Plugins are looked for beside the library, not beside the program. */
#include <stdio.h>

#ifdef MAIN
#include <dlfcn.h>

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    union {
        void *object;
        int (*function)(void);
    } list = {.object = library ? dlsym(library, "list_plugins") : NULL};
    if (!list.object) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return list.function();
}
#else
#include <traceanalyze/run.h>

TA_API int list_plugins(void);

int list_plugins(void)
{
    struct ta_run *run = ta_run_new();
    const struct ta_registry *registry = run ? ta_run_plugins(run) : NULL;
    if (!registry) {
        fprintf(stderr, "%s\n", run ? ta_run_error(run) : "Out of memory");
        return 1;
    }
    for (size_t i = 0; i < ta_registry_count(registry, TA_KIND_output); i++) {
        const struct ta_entry *entry = ta_registry_at(registry, TA_KIND_output, i);
        printf("%s %s\n", entry->plugin.id, entry->origin);
    }
    ta_run_free(run);
    return 0;
}
#endif
