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
#include "base/context.h"
#include "plugin/registry.h"

TA_API int list_plugins(void);

int list_plugins(void)
{
    static struct ta_shared shared;
    static struct ta_ctx ctx;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    struct ta_registry *registry = ta_registry_new(&ctx);
    if (!registry || ta_registry_load_defaults(&ctx, registry) != TA_OK) {
        fprintf(stderr, "%s\n", ta_ctx_causes(&ctx));
        return 1;
    }
    for (size_t i = 0; i < ta_registry_count(registry, TA_KIND_output); i++) {
        const struct ta_entry *entry = ta_registry_at(registry, TA_KIND_output, i);
        printf("%s %s\n", entry->plugin.id, entry->origin);
    }
    ta_registry_free(registry);
    return 0;
}
#endif
