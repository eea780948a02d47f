/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugin descriptor.
 *
 * A plugin is one file plugins/<kind>/<id>.c (or a folder of that name) that ends in
 *
 *     TA_PLUGIN(analysis, ops_by_name, &ops, .title = "Operators", .summary = "…");
 *
 * The same source is built in (a constant object that a CMake-generated list refers to, so a
 * forgotten last line is a link error) or built as a shared object (an entry function that
 * dlsym finds).  A plugin includes only <traceanalyze/…>.
 *
 * Until version 1.0 structures change as they need to, so a plugin loads only into a program that
 * was built with the very same headers: both carry a hash of them. */
#ifndef TRACEANALYZE_PLUGIN_H
#define TRACEANALYZE_PLUGIN_H

#include "base.h"

#include <traceanalyze/headers.h> /* made by the build: TA_HEADERS_HASH */

#define TA_PLUGIN_MAGIC UINT32_C(0x54414e41) /* "TANA" */

TA_BEGIN_DECLS

enum ta_plugin_kind {
    TA_KIND_input,
    TA_KIND_log,
    TA_KIND_analysis,
    TA_KIND_advice,
    TA_KIND_headline,
    TA_KIND_output,
    TA_KIND_COUNT
};

struct ta_input_ops;
struct ta_log_ops;
struct ta_analysis_ops;
struct ta_advice_ops;
struct ta_headline_ops;
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
    uint32_t magic, kind;
    uint64_t headers; /* TA_HEADERS_HASH, as compiled; nothing after it is read if it differs */
    const char *id, *title, *summary, *version;
    const struct ta_option *options; /* ends with TA_OPTIONS_END, or NULL */
    union {
        const void *ops;
        const struct ta_input_ops *input;
        const struct ta_log_ops *log;
        const struct ta_analysis_ops *analysis;
        const struct ta_advice_ops *advice;
        const struct ta_headline_ops *headline;
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
                                    .kind = TA_KIND_##kind_,                                       \
                                    .headers = TA_HEADERS_HASH,                                    \
                                    .id = #id_,                                                    \
                                    .kind_ = (ops_),                                               \
                                    __VA_ARGS__}

TA_END_DECLS

#endif
