/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin against the headers that older/ keeps, from before plugins carried a hash of them;
 * test_plugin.py sees it refused. */
#include <traceanalyze/plugin.h>

struct ta_output_ops {
    const char *extension;
};

static const struct ta_output_ops ops = {.extension = "older"};

TA_PLUGIN(output, older, &ops, .title = "Older");
