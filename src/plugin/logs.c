/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log plugins as the reader of logs needs them. */
#include "plugin/registry_impl.h"

enum ta_status ta_registry_list_logs(struct ta_ctx *ctx, struct ta_registry *registry)
{
    struct ta_log_formats *formats = &registry->log_formats;
    ta_log_formats_free(formats);
    formats->n = registry->count[TA_KIND_log];
    if (formats->n > TA_LOG_FORMATS_MAX)
        return ta_fail(ctx, TA_ERR_PLUGIN, "Too many plugins of kind log: plugins=%zu, most=%d",
                       formats->n, TA_LOG_FORMATS_MAX);
    for (size_t i = 0; i < formats->n; i++) {
        const struct ta_plugin *plugin = &registry->slots[TA_KIND_log][i]->entry.plugin;
        formats->at[i] = (struct ta_log_format){plugin->id, plugin->title, plugin->log};
    }
    return ta_log_formats_init(formats) ? TA_OK
                                        : ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: plugins");
}

const struct ta_log_formats *ta_registry_log_formats(const struct ta_registry *registry)
{
    return &registry->log_formats;
}
