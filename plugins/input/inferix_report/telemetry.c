/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samples of devices and of the host in a session report. */
#include "report.h"

/* A sample of an earlier session is of no use here and no loss. */
static bool is_earlier(struct inferix *in, int64_t time_ns, int64_t start_ns)
{
    if (time_ns == TA_MISSING || start_ns == TA_MISSING || time_ns >= start_ns)
        return false;
    in->dropped++;
    ta_quality_add(in->quality, TA_Q_OTHER_SESSION, TA_NO_OFFSET,
                   "Samples begin before the session that the file is about");
    return true;
}

/* Sums and largest values over all devices that the process can see. */
static void take_gpu_sample(struct inferix *in, json_t *sample, int64_t start_ns)
{
    const int64_t time = inferix_decimal(in, sample, "timestamp", 9);
    if (is_earlier(in, time, start_ns))
        return;
    const struct inferix_gpu gpu = {
        .used = inferix_bytes(inferix_mib(in, sample, "memory_used_mb")),
        .total = inferix_bytes(inferix_mib(in, sample, "memory_total_mb")),
        .utilization = inferix_real(in, sample, "utilization"),
        .temperature = inferix_real(in, sample, "temperature"),
        .power = inferix_real(in, sample, "power"),
    };
    inferix_gpu_sample(in, time, &gpu);
    in->kept++;
}

/* The first reading of a process counts from nothing and says 0. */
static void take_cpu_sample(struct inferix *in, json_t *sample, int64_t start_ns, bool first)
{
    const int64_t time = inferix_decimal(in, sample, "timestamp", 9);
    const double usage = inferix_real(in, sample, "cpu_usage");
    const int64_t used = inferix_mib(in, sample, "memory_used_mb");
    const int64_t total = inferix_mib(in, sample, "memory_total_mb");
    if (is_earlier(in, time, start_ns))
        return;
    in->kept++;
    inferix_cpu_sample(in, time, first ? inferix_known(usage) : usage, used, total);
}

void inferix_report_telemetry(struct inferix *in, json_t *document, int64_t start_ns)
{
    size_t i;
    json_t *sample;
    json_t *summary = inferix_object(in, document, "summary");
    json_t *gpu = inferix_object(in, document, "gpu_metrics");
    json_t *cpu = inferix_object(in, document, "cpu_metrics");
    json_t *memory = inferix_object(in, gpu, "memory_analysis");
    json_array_foreach(inferix_array(in, gpu, "timeline"), i, sample)
    {
        if (json_is_object(sample))
            take_gpu_sample(in, sample, start_ns);
        else
            inferix_drop(in, "A sample is not an object");
    }
    json_array_foreach(inferix_array(in, cpu, "timeline"), i, sample)
    {
        if (json_is_object(sample))
            take_cpu_sample(in, sample, start_ns, i == 0);
        else
            inferix_drop(in, "A sample is not an object");
    }

    /* What the report made of its samples; of devices only where there was one. */
    if (!(inferix_real(in, memory, "total_memory_mb") <= 0)) {
        inferix_figures(in, "gpu", inferix_object(in, summary, "gpu"), false);
        inferix_figures(in, "gpu_memory", memory, false);
        inferix_figures(in, "gpu_utilization", inferix_object(in, gpu, "utilization_analysis"),
                        false);
        inferix_figures(in, "gpu_temperature", inferix_object(in, gpu, "temperature_analysis"),
                        false);
        inferix_figures(in, "gpu_power", inferix_object(in, gpu, "power_analysis"), false);
    }
    inferix_figures(in, "cpu", inferix_object(in, summary, "cpu"), false);
    inferix_figures(in, "cpu_utilization", inferix_object(in, cpu, "cpu_analysis"), false);
    inferix_figures(in, "cpu_memory", inferix_object(in, cpu, "memory_analysis"), false);
}
