/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live readings of devices and host. */
#include "console.h"

static void sample(struct console *c, enum ta_signal signal, double value)
{
    inferix_sample(&c->in, signal, TA_MISSING, TA_MISSING, value);
}

void console_take_readings(struct console *c)
{
    /* GPU: Memory 8420MB / 24564MB (34.3%), Util 85.2%, Temp 72.1°C */
    struct ta_slice text = c->line;
    double used = console_mib_behind(&text, "GPU: Memory ");
    const double total = inferix_known(console_mib_behind(&text, "MB / "));
    if (!isnan(used) && !isnan(total)) { /* else none there, or no device */
        const double percent = console_number_behind(&text, ", Util ");
        sample(c, TA_SIGNAL_GPU_MEMORY_USED, used);
        sample(c, TA_SIGNAL_GPU_MEMORY_TOTAL, total);
        sample(c, TA_SIGNAL_GPU_UTILIZATION, inferix_percent(percent));
        sample(c, TA_SIGNAL_GPU_TEMPERATURE,
               inferix_known(console_number_behind(&text, ", Temp ")));
        c->in.kept++;
    }
    /* CPU: 45.3%, Memory 12840MB / 32768MB (39.2%); the first reading of a process is 0. */
    text = c->line;
    const double usage = console_number_behind(&text, "CPU: ");
    used = console_mib_behind(&text, "%, Memory ");
    if (isnan(usage) || isnan(used))
        return;
    sample(c, TA_SIGNAL_CPU_UTILIZATION,
           inferix_percent(console_stream(c)->saw_cpu ? usage : inferix_known(usage)));
    sample(c, TA_SIGNAL_CPU_MEMORY_USED, used);
    sample(c, TA_SIGNAL_CPU_MEMORY_TOTAL, inferix_known(console_mib_behind(&text, "MB / ")));
    console_stream(c)->saw_cpu = true;
    c->in.kept++;
}
