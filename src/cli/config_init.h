/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing a first configuration, and defaults as text. */
#ifndef TA_CLI_CONFIG_INIT_H
#define TA_CLI_CONFIG_INIT_H

#include "cli/cli.h"

/* Writes a configuration with every setting and its default, commented out. "-" is standard output;
 * a file that is there already is TA_ERR_USAGE. */
enum ta_status ta_config_init(struct ta_cli *cli, const char *path) TA_MUST_CHECK;

/* The field of an option as text, NULL when nothing is set.  The result is `text` or the field. */
const char *ta_config_field_text(const struct ta_arg_option *option, const struct ta_cmdline *args,
                                 char text[TA_VALUE_TEXT_MAX]);

#endif
