#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `orrery serve` takes to answer a drag: a training step on 16,384 GPUs with another rate of the NICs each time,
and an all-reduce on 1,024 ranks with another bandwidth each time, beside a request that does nothing, in one process over
one connection.

usage: bench/serve.py BUILD-DIR [REQUESTS]
"""
import http.client
import os
import sys
import time
import urllib.parse

os.environ["ORRERY"] = os.path.join(os.path.abspath(sys.argv[1]), "orrery")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "serve"))
from server import Server  # noqa: E402  the path comes first


def measured(serve, link, path, of):
    times = []
    for i in range(of):
        asked = {key: value.format(rate=100 + i % 100) for key, value in path[1].items()}
        target = path[0] + ("?" + urllib.parse.urlencode(asked) if asked else "")
        begun = time.perf_counter()
        link.request("GET", target, headers={"Authorization": "Bearer " + serve.token})
        answer = link.getresponse()
        body = answer.read()
        times.append((time.perf_counter() - begun) * 1e3)
        assert answer.status == 200, body
    return sorted(times), len(body)


def main(of):
    step = {"model": "llama3-70b", "machine": "dgx-h100:2048 > rail:{rate}Gbps", "tp": "8", "pp": "8", "global-batch": "2048"}
    run = {"machine": "torus3d", "ranks": "1024", "bytes": "64MiB", "bandwidth": "{rate}Gbps", "latency": "500ns"}
    serve = Server()
    link = http.client.HTTPConnection("127.0.0.1", serve.port)
    nothing = None
    for name, path in [("nothing (/api/version)", ("/api/version", {})), ("step on 16,384 GPUs", ("/api/train", step)),
                       ("all-reduce on 1,024 ranks", ("/api/run", run))]:
        measured(serve, link, path, 3)
        times, size = measured(serve, link, path, of)
        p50, p99 = times[len(times) // 2], times[int(0.99 * (len(times) - 1))]
        nothing = nothing or p50
        print(f"{name:28} p50 {p50:7.2f} ms, p99 {p99:7.2f} ms, {p50 / nothing:6.1f} times nothing, {size} bytes")
    link.close()
    serve.close()


main(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
