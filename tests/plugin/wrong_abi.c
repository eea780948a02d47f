/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin as a later, incompatible header would make it; test_plugin.py sees it refused. */
#include <traceanalyze/plugin.h>

#undef TA_ABI_MAJOR
#define TA_ABI_MAJOR 2

#include <traceanalyze/output.h>

static const struct ta_output_ops ops = {.extension = "later"};

TA_PLUGIN(output, later, &ops, .title = "Later");
