# SPDX-License-Identifier: GPL-3.0-or-later
"""Small traces of diffusion whose ranges, modules, threads and streams are set one by one."""
import json


class Trace:
    """Times are integers of nanoseconds; the host works on one thing at a time, on any thread."""

    def __init__(self, rank=0, world=1):
        self.rank, self.world, self.events = rank, world, []
        self.host, self.streams, self.correlation = 1000, {}, 0

    def span(self, name, category, start, end, thread, **args):
        self.events.append({"ph": "X", "name": name, "cat": category, "pid": 1, "tid": thread,
                            "ts": start / 1000, "dur": (end - start) / 1000, "args": args})

    def kernel(self, name, ns, thread=1, stream=7):
        self.correlation += 1
        start, self.host = self.host, self.host + 3000
        self.span("cudaLaunchKernel", "cuda_runtime", start, self.host, thread,
                  correlation=self.correlation)
        begin = max(self.streams.get(stream, 0), self.host + 1000)
        self.streams[stream] = begin + ns
        self.events.append({"ph": "X", "name": name, "cat": "kernel", "pid": 0, "tid": stream,
                            "ts": begin / 1000, "dur": ns / 1000,
                            "args": {"device": 0, "stream": stream, "grid": [8, 1, 1],
                                     "correlation": self.correlation}})

    def call(self, name, kernels, thread=1, stream=7, module=False):
        start = self.host
        self.host += 700
        for kernel, ns in kernels:
            self.kernel(kernel, ns, thread, stream)
        self.host += 700
        self.span(f"nn.Module: {name}_0" if module else name,
                  "python_function" if module else "user_annotation", start, self.host, thread)
        self.host += 700

    def operator(self, name, thread=1):
        self.span(name, "cpu_op", self.host, self.host + 500, thread)
        self.host += 500

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {"traceEvents": self.events}
        if self.world > 1:
            document["distributedInfo"] = {"rank": self.rank, "world_size": self.world,
                                           "backend": "nccl"}
        path.write_text(json.dumps(document))


LAYERS = [("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", 40000), ("flash_fwd_kernel", 90000),
          ("vectorized_layer_norm_kernel", 8000)] * 3
ENCODER = [("sm80_xmma_gemm_f16f16", 9000)] * 4
DECODER = [("cudnn_conv2d_fprop_implicit_gemm", 50000)] * 5
SCHEDULER = [("vectorized_elementwise_kernel", 4000)] * 6


class Program(Trace):
    """A diffusion; names of its parts, ranges or modules."""
    encoder, denoiser, decoder, module = "encode_prompt", "unet", "vae_decode", False

    def encode(self, **where):
        self.call(self.encoder, ENCODER, module=self.module, **where)

    def step(self, name=None, passes=1, **where):
        for _ in range(passes):
            self.call(name or self.denoiser, LAYERS, module=self.module, **where)
        self.schedule(**where)

    def schedule(self, **where):
        for kernel, ns in SCHEDULER:
            self.kernel(kernel, ns, **where)

    def decode(self, **where):
        self.call(self.decoder, DECODER, module=self.module, **where)

    def run(self, order, **where):
        """E encodes, D is four steps, V decodes."""
        for letter in order:
            if letter == "E":
                self.encode(**where)
            elif letter == "V":
                self.decode(**where)
            else:
                for _ in range(4):
                    self.step(**where)
