/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Style sheets and scripts as a page carries them: the same tokens, without comments and without
 * white space that means nothing. */
#ifndef TA_PLUGIN_HTML_SQUEEZE_H
#define TA_PLUGIN_HTML_SQUEEZE_H

#include <stddef.h>

enum html_language { HTML_CSS, HTML_SCRIPT };

/* Rewrites a text in place and returns its new length.  Lines of a script that may end a statement
 * stay lines, so scripts mean the same with and without semicolons. */
size_t html_squeeze(char *text, enum html_language language);

#endif
