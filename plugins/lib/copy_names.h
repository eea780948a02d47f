/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the name of a copy says, as CUDA, ROCm and Intel write it. */
#ifndef TA_LIB_COPY_NAMES_H
#define TA_LIB_COPY_NAMES_H

#include <traceanalyze/base.h>

/* "HtoD", "DtoH", "PtoP", "DtoD", "HtoH" or "other". */
struct ta_slice ta_copy_direction(struct ta_slice name);

/* "Pageable -> Device" of "Memcpy HtoD (Pageable -> Device)"; the whole name without brackets. */
struct ta_slice ta_copy_memory(struct ta_slice name);

/* The kind of host memory: "pageable", "pinned", "managed" or "unknown"; "device" if the copy
 * does not involve the host. */
struct ta_slice ta_copy_host_memory(struct ta_slice name);

#endif
