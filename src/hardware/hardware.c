/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which peaks belong to a device: by words of its name, and by what else the trace says. */
#include "hardware/hardware.h"

#include "base/context.h"
#include "base/suggest.h"
#include "base/yaml/yaml.h"

#include <stdlib.h>
#include <unistd.h>

/* devices.yaml. */
extern const char ta_embed_devices[];
extern const size_t ta_embed_devices_size;

const char *ta_peak_name(enum ta_peak peak)
{
    static const char *const names[TA_PEAK_COUNT] = {
        [TA_PEAK_FP64] = "fp64", [TA_PEAK_FP64_MATRIX] = "fp64_matrix",
        [TA_PEAK_FP32] = "fp32", [TA_PEAK_FP32_MATRIX] = "fp32_matrix",
        [TA_PEAK_TF32] = "tf32", [TA_PEAK_FP16] = "fp16",
        [TA_PEAK_BF16] = "bf16", [TA_PEAK_FP8] = "fp8",
        [TA_PEAK_INT8] = "int8", [TA_PEAK_FP4] = "fp4",
    };
    return names[peak];
}

/* ---- what fits ----------------------------------------------------------------------------- */

static bool is_named(const struct ta_hardware_entry *entry, struct ta_slice name)
{
    for (size_t i = 0; i < entry->match.n; i++)
        if (!ta_slice_has_word(name, entry->match.at[i]))
            return false;
    for (size_t i = 0; i < entry->unless.n; i++)
        if (ta_slice_has_word(name, entry->unless.at[i]))
            return false;
    return true;
}

static bool has_memory(const struct ta_hardware_entry *entry, const struct ta_device *device)
{
    const double bytes = (double)device->memory_bytes;
    return entry->most_bytes <= 0 || (bytes >= entry->least_bytes && bytes <= entry->most_bytes);
}

/* Traces say a little less than a device has: the driver and error correction keep 1 % to 9 %. */
static bool has_all_memory(const struct ta_hardware_entry *entry, const struct ta_device *device)
{
    const double share = (double)device->memory_bytes / (entry->memory_gib * 0x1p30);
    return share > 0.9 && share < 1.005;
}

/* The entry that alone has the multiprocessors, the memory and the capability of a device without a
 * name; NULL when none has, or several have. */
static const struct ta_hardware *infer(const struct ta_hardware_list *list,
                                       const struct ta_device *device)
{
    const struct ta_hardware *only = NULL;
    if (device->name.len || !device->capability || !device->multiprocessors)
        return NULL;
    for (size_t i = 0; i < list->entries.n; i++) {
        const struct ta_hardware_entry *entry = &list->entries.at[i];
        if (entry->multiprocessors != device->multiprocessors ||
            entry->capability != device->capability || entry->memory_gib <= 0 ||
            !has_all_memory(entry, device))
            continue;
        if (only)
            return NULL;
        only = &entry->hardware;
    }
    return only;
}

const struct ta_hardware *ta_hardware_find(const struct ta_hardware_list *list,
                                           const struct ta_device *device, const char **why)
{
    bool known_name = false;
    if (list->forced != SIZE_MAX)
        return &list->entries.at[list->forced].hardware;
    for (size_t i = 0; i < list->entries.n; i++) {
        const struct ta_hardware_entry *entry = &list->entries.at[i];
        /* An entry without words is for all devices, those without a name too. */
        if (entry->match.n && (device->name.len == 0 || !is_named(entry, device->name)))
            continue;
        known_name = true;
        if (!has_memory(entry, device))
            continue;
        if (!entry->multiprocessors || !device->multiprocessors ||
            entry->multiprocessors == device->multiprocessors)
            return &entry->hardware;
        *why = "it has not the number of multiprocessors of a whole device of that name";
        return NULL;
    }
    const struct ta_hardware *inferred = infer(list, device);
    *why = inferred           ? "it alone has the multiprocessors and the memory of the device"
           : known_name       ? "its name stands for devices with memory of several sizes"
           : device->name.len ? "no peaks are known of that name"
                              : "the trace does not name the device";
    return inferred;
}

const struct ta_hardware *ta_ctx_hardware(const struct ta_ctx *ctx, const struct ta_device *device,
                                          const char **why)
{
    if (ctx->shared->hardware)
        return ta_hardware_find(ctx->shared->hardware, device, why);
    *why = "no list of devices was read";
    return NULL;
}

/* ---- the list ------------------------------------------------------------------------------ */

static size_t find_name(const struct ta_hardware_list *list, const char *name)
{
    for (size_t i = 0; i < list->entries.n; i++)
        if (strcasecmp(list->entries.at[i].hardware.name, name) == 0)
            return i;
    return SIZE_MAX;
}

static enum ta_status unknown_name(struct ta_ctx *ctx, const struct ta_hardware_list *list,
                                   const char *name)
{
    char hint[TA_SUGGEST_TEXT_MAX];
    struct ta_suggest close = {.word = name};
    for (size_t i = 0; i < list->entries.n; i++)
        ta_suggest_offer(&close, list->entries.at[i].hardware.name);
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unknown hardware: --hardware=%s is neither a device of the list nor a file%s",
                   name, ta_suggest_text(&close, hint));
}

/* The entries of a file stand before those that are there. */
static enum ta_status read_file(struct ta_ctx *ctx, const char *path, struct ta_hardware_list *list)
{
    struct ta_slice text;
    enum ta_status status = ta_config_file_read(ctx, &list->arena, path, false, &text);
    return status == TA_OK ? ta_hardware_read(ctx, path, text, list) : status;
}

static enum ta_status read_built_in(struct ta_ctx *ctx, struct ta_hardware_list *list)
{
    return ta_hardware_read(ctx, "devices.yaml",
                            (struct ta_slice){ta_embed_devices, ta_embed_devices_size}, list);
}

enum ta_status ta_hardware_load(struct ta_ctx *ctx, const char *choice,
                                struct ta_hardware_list *list)
{
    *list = (struct ta_hardware_list){.forced = SIZE_MAX};
    enum ta_status status = TA_OK;
    const bool is_choice = choice && strcmp(choice, "auto") != 0;
    const bool is_file = is_choice && access(choice, F_OK) == 0;
    if (is_file)
        status = read_file(ctx, choice, list);
    if (status == TA_OK)
        status = read_built_in(ctx, list);
    if (status != TA_OK || !is_choice || is_file)
        return status;
    list->forced = find_name(list, choice);
    return list->forced == SIZE_MAX ? unknown_name(ctx, list, choice) : TA_OK;
}

void ta_hardware_free(struct ta_hardware_list *list)
{
    ta_arena_free(&list->arena);
    free(list->entries.at);
    *list = (struct ta_hardware_list){.forced = SIZE_MAX};
}
