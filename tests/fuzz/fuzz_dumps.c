/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a dump: the input plugin that is surest of them reads them, and what it makes of
 * them fits together, is the same when read again, and suits the analyses. */
#include "dumps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_run *run = fuzz_begin();
    const struct ta_input_ops *input = fuzz_choose(run, data, size);
    if (!input)
        return -1;
    const struct fuzz_outcome first = fuzz_read_dump(run, input, data, size);
    const struct fuzz_outcome again = fuzz_read_dump(run, input, data, size);
    FUZZ_CHECK(first.status == again.status && first.findings == again.findings);
    FUZZ_CHECK(first.kept == again.kept && first.dropped == again.dropped);
    return 0;
}
