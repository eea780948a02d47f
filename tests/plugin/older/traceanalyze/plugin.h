/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugin descriptor and its ABI.
 *
 * A plugin is one file plugins/<kind>/<id>.c (or a folder of that name) that ends in
 *
 *     TA_PLUGIN(analysis, ops_by_name, &ops, .title = "Operators", .summary = "…");
 *
 * The same source is built in (a constant object that a CMake-generated list refers to, so a
 * forgotten last line is a link error) or built as a shared object (an entry function that
 * dlsym finds).  A plugin includes only <traceanalyze/…>.
 *
 * ABI: major must be equal, minor at most that of the host.  Structures only grow at their end;
 * a shorter one is copied into zeroed memory, so callbacks it does not know are NULL. */
#ifndef TRACEANALYZE_PLUGIN_H
#define TRACEANALYZE_PLUGIN_H

#include "base.h"

#define TA_PLUGIN_MAGIC UINT32_C(0x54414e41) /* "TANA" */
#define TA_ABI_MAJOR 1
#define TA_ABI_MINOR 0

TA_BEGIN_DECLS

enum ta_plugin_kind {
    TA_KIND_input,
    TA_KIND_analysis,
    TA_KIND_advice,
    TA_KIND_output,
    TA_KIND_COUNT
};

struct ta_input_ops;
struct ta_analysis_ops;
struct ta_advice_ops;
struct ta_output_ops;

enum ta_option_type { TA_OPTION_NUMBER, TA_OPTION_INTEGER, TA_OPTION_BOOLEAN };

/* A setting of a plugin, `--set ID.NAME=VALUE`.  Parsing, range check, help and documentation
 * all come from this row. */
struct ta_option {
    const char *name;
    enum ta_option_type type;
    double preset, least, most;
    enum ta_option_unit { TA_OPTION_PLAIN, TA_OPTION_RATIO, TA_OPTION_NS, TA_OPTION_BYTES } unit;
    const char *help;
};

#define TA_OPTIONS_END                                                                             \
    {                                                                                              \
        NULL, TA_OPTION_NUMBER, 0, 0, 0, TA_OPTION_PLAIN, NULL                                     \
    }

struct ta_plugin {
    uint32_t magic;
    uint16_t abi_major, abi_minor; /* as compiled */
    uint32_t size, ops_size;       /* sizeof this struct and of *ops, as compiled */
    uint32_t kind;
    const char *id, *title, *summary, *version;
    const struct ta_option *options; /* ends with TA_OPTIONS_END, or NULL */
    union {
        const void *ops;
        const struct ta_input_ops *input;
        const struct ta_analysis_ops *analysis;
        const struct ta_advice_ops *advice;
        const struct ta_output_ops *output;
    };
};

#ifdef TA_PLUGIN_BUILTIN
#define TA_PLUGIN_OBJECT(kind_, id_)                                                               \
    extern const struct ta_plugin ta_builtin_##kind_##_##id_;                                      \
    const struct ta_plugin ta_builtin_##kind_##_##id_
#else
/* The one symbol of a loadable plugin: its descriptors by index, NULL after the last. */
TA_API const struct ta_plugin *ta_plugin_entry(uint32_t index);
#define TA_PLUGIN_OBJECT(kind_, id_)                                                               \
    static const struct ta_plugin ta_plugin_object;                                                \
    const struct ta_plugin *ta_plugin_entry(uint32_t index)                                        \
    {                                                                                              \
        return index == 0 ? &ta_plugin_object : NULL;                                              \
    }                                                                                              \
    static const struct ta_plugin ta_plugin_object
#endif

/* The last line of a plugin; `ops_` of the wrong kind does not compile. */
#define TA_PLUGIN(kind_, id_, ops_, ...)                                                           \
    TA_PLUGIN_OBJECT(kind_, id_) = {.magic = TA_PLUGIN_MAGIC,                                      \
                                    .abi_major = TA_ABI_MAJOR,                                     \
                                    .abi_minor = TA_ABI_MINOR,                                     \
                                    .size = sizeof(struct ta_plugin),                              \
                                    .ops_size = sizeof(*(ops_)),                                   \
                                    .kind = TA_KIND_##kind_,                                       \
                                    .id = #id_,                                                    \
                                    .kind_ = (ops_),                                               \
                                    __VA_ARGS__}

TA_END_DECLS

#endif
