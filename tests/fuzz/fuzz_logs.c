/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a console log or a small file of a monitor or a benchmark: the first byte picks the
 * reader, however unsure that is of the rest, so that lines of all log plugins are met.  What it
 * reads fits together and is the same when read again, and no figure of a loop or an error is out
 * of its range. */
#include "dumps.h"

#include <string.h>

static const char *const readers[] = {"log",
                                      "sglang_perf",
                                      "vllm_omni_benchmark",
                                      "diffusers_benchmark",
                                      "nvidia_smi_query",
                                      "nvidia_smi_dmon",
                                      "nsys_sums"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_run *run = fuzz_begin();
    if (size == 0)
        return -1;
    /* Half of the inputs are logs, which have most formats. */
    const size_t pick = data[0] & 1 ? 0 : (data[0] >> 1) % TA_LENGTH(readers);
    const struct ta_entry *entry = ta_registry_find(run->registry, TA_KIND_input, readers[pick]);
    FUZZ_CHECK(entry);
    const struct fuzz_outcome first = fuzz_read_dump(run, entry->plugin.input, data + 1, size - 1);
    const struct fuzz_outcome again = fuzz_read_dump(run, entry->plugin.input, data + 1, size - 1);
    FUZZ_CHECK(first.status == again.status && first.findings == again.findings);
    FUZZ_CHECK(first.kept == again.kept && first.dropped == again.dropped);
    FUZZ_CHECK(memcmp(first.rows, again.rows, sizeof first.rows) == 0);
    return 0;
}
