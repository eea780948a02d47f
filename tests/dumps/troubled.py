# SPDX-License-Identifier: GPL-3.0-or-later
"""Small folders in which nearly everything is wrong, so that each rule has something to say."""
import json
import pickle

START = 1795221165.0
MIB = 1024 * 1024


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def event(name, second, **data):
    return {"name": name, "timestamp": START + second, "data": data}


def slow_session(folder, session, world, ms):
    """A generation of few, late and large blocks with many slow steps, and a cache that misses."""
    events = [event("model_parameters", 0.1, model_name="dit", parameters_count=14 * 10**9,
                    model_type="diffusion")]
    second = 400
    for block in range(3):
        for step in range(50):
            events.append(event("diffusion_step", second, step=step, timestep=1 - step / 50,
                                block_size=24, computation_time_ms=ms / 50, guidance_scale=5.0))
        second += ms / 1000
        events.append(event("block_computation", second, block_index=block, block_size=24,
                            computation_time_ms=ms, memory_usage_mb=70000.5))
    events += [event("cache_event", second, event_type="misses", cache_size=1, requested_size=1,
                     evicted_size=0)] * 40
    samples = [{"timestamp": START + i, "memory_used_mb": 79000, "memory_total_mb": 81559,
                "utilization": 12, "temperature": 91, "power": 400.0} for i in range(20)]
    stage = {"total_time": 300.0, "call_count": 1, "avg_time": 300.0, "min_time": 300.0,
             "max_time": 300.0}
    write(folder / session / "report.json", {
        "session_info": {"id": session, "start_time": START, "end_time": START + second + 1,
                         "duration": second + 1, "generated_at": START,
                         "tags": {"rank": 0, "world_size": world, "ulysses_size": world,
                                  "ring_size": 1, "model": "dit"}},
        "summary": {}, "gpu_metrics": {"timeline": samples}, "cpu_metrics": {},
        "stage_analysis": {"stages": {"load": stage, "run": dict(stage, total_time=60.0)}},
        "events": events, "recommendations": [], "cache_analysis": {},
        "streaming_analysis": {"total_streaming_events": 9, "total_frames_streamed": 80,
                               "total_dropped_frames": 20, "current_fps": 3.0,
                               "avg_encoding_time_ms": 5.0, "avg_network_latency_ms": 9.0,
                               "drop_rate_percent": 20.0}})


def allocator(folder):
    """A state with a large gap, and a history with an allocation that failed."""
    frames = [{"filename": "/app/vae.py", "line": 30, "name": "forward"}]
    at = 1 << 32
    history = [{"action": "segment_alloc", "addr": at, "size": 1024 * MIB},
               {"action": "alloc", "addr": at, "size": 300 * MIB},
               {"action": "alloc", "addr": at + 300 * MIB, "size": 200 * MIB},
               {"action": "free_requested", "addr": at, "size": 300 * MIB},
               {"action": "free_completed", "addr": at, "size": 300 * MIB},
               {"action": "oom", "device_free": MIB, "size": 4096 * MIB},
               {"action": "snapshot", "addr": 0, "size": 0}]
    for i, entry in enumerate(history):
        entry.update(stream=0, time_us=1795221165000000 + 1000 * i, frames=frames)
    blocks = [("inactive", 300), ("active_allocated", 200), ("inactive", 524)]
    made = []
    for state, size in blocks:
        made.append({"address": at, "size": size * MIB, "state": state, "frames": frames,
                     "requested_size": size * MIB if state != "inactive" else 0})
        at += size * MIB
    segment = {"device": 0, "address": 1 << 32, "total_size": 1024 * MIB, "stream": 0,
               "allocated_size": 200 * MIB, "active_size": 200 * MIB, "requested_size": 200 * MIB,
               "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
               "frames": frames, "blocks": made}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wan-rank0-memory-1795222559.pickle").write_bytes(
        pickle.dumps({"segments": [segment], "device_traces": [history]}, 4))


def stacks(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pytorch_stacks_prefill.stacks").write_text(
        "".join("engine.py(10): step;model.py(%d): forward;aten::mm %d\n" % (i, 50 + i)
                for i in range(9)), encoding="utf-8")


def idle_device(folder):
    """A trace in which device and host do nothing for most of the time."""
    events = []
    for i in range(10):
        at = 1000.0 + 10000 * i
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7,
                    "tid": 7, "ts": at, "dur": 5, "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 9,
                    "dur": 900, "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
    write(folder / "idle.pt.trace.json", {"schemaVersion": 1, "traceEvents": events})


def untold(folder):
    """A generation whose tokens were recorded inside its section, which stores none."""
    write(folder / "profile_20261121_004633.json", {
        "metrics": [{"name": name, "metadata": {}, "duration_sec": spent, "total_tokens": 0,
                     "throughput_tokens_per_sec": 0.0, "gpu_utilization": 0,
                     "memory_delta_mb": 0.0, "custom_metrics": {}, "backend_data": None}
                    for name, spent in (("model_loading", 9.0), ("inference", 8.0))],
        "summary": {"total_sections": 2, "total_duration_sec": 17.0, "total_tokens": 0,
                    "avg_throughput_tokens_per_sec": 0.0}})


def operation(n, total):
    return {"count": n, "total": total, "mean": total / n, "min": total / n, "max": total / n,
            "last": total / n}


def held(folder):
    """A video whose prompt is encoded for each chunk, and whose models stay on the device."""
    labels = [("worker_start", 1024), ("after_sampling_chunk_0", 8200),
              ("after_offload_transformer", 8199), ("after_sampling_chunk_1", 14900),
              ("after_sampling_chunk_2", 14910)]
    write(folder / "profiling_report.json", {
        "timestamp": START, "iteration_stats": {},
        "timing_stats": {"text_encoding_positive": operation(3, 12.0),
                         "sampling_chunk_0": operation(1, 9.0),
                         "vae_decode_full_chunk_1": operation(1, 3.0)},
        "memory_snapshots": [
            {"label": label, "timestamp": START + i, "allocated_mb": size,
             "reserved_mb": 1.1 * size, "max_allocated_mb": size}
            for i, (label, size) in enumerate(labels)]})
