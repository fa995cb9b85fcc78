# SPDX-License-Identifier: Apache-2.0
"""Hundreds of connections that send malformed, oversized, slow and wandering requests, and good requests meanwhile: every
good one is answered, nothing of the world outside the folder comes back, memory and descriptors do not grow. How long the
good ones took with and without the others is printed, and judged by nobody here (bench/serve.py). Who attacks runs at the
lowest priority, so that what is seen is what the server makes of it and not who gets the processor: in earnest they would
come from elsewhere.

usage: attack.py [SECONDS [CONNECTIONS]]
"""
import asyncio
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time

from server import Server, skip_without_server

SECRET = b"nobody must read this"
STEP = {"model": "llama3-8b", "machine": "dgx-h100:2", "tp": "2", "global-batch": "64"}
PATHS = ["/files/../secret.json", "/files/%2e%2e/secret.json", "/files/link.json", "/files//etc/passwd", "/%00", "/files/a%00.json",
         "/api/train?model=../secret.json&gpu=h100", "/api/run?machine=file:/etc/passwd", "/..%2f..%2fetc/passwd"]


def request(chance, port, token):
    """Bytes to send, and how: at once, or a piece now and then."""
    head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    kind = chance.randrange(8)
    if kind == 0:
        return chance.randbytes(chance.randrange(1, 4000)), False
    if kind == 1:
        return f"GET /{'a' * chance.randrange(9000, 60000)} HTTP/1.1\r\n{head}\r\n".encode(), False
    if kind == 2:
        return f"GET / HTTP/1.1\r\n{head}X: {'b' * 100000}\r\n\r\n".encode(), False
    if kind == 3:
        return f"POST /api/train HTTP/1.1\r\n{head}Content-Length: 99999999\r\n\r\n{'x' * 5000}".encode(), False
    if kind == 4:
        return f"GET /api/models HTTP/1.1\r\n{head}X-Slow: 1234567890".encode(), True
    if kind == 5:
        return f"GET /api/models HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer {token}\r\n\r\n".encode(), False
    if kind == 6:
        return f"GET /api/models HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(), False
    return f"GET {chance.choice(PATHS)} HTTP/1.1\r\n{head}\r\n".encode(), False


async def attacker(chance, port, token, until, tally):
    ready = [request(chance, port, token) for _ in range(16)]  # made beforehand: who attacks must not need the processor
    while time.monotonic() < until:
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 5)
            data, slowly = chance.choice(ready)
            if slowly:
                for byte in data:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(0.3)
                    if time.monotonic() > until:
                        break
            else:
                writer.write(data)
                await writer.drain()
            got = await asyncio.wait_for(reader.read(65536), 3)
            tally["sent"] += 1
            tally["leaked"] += SECRET in got or b"root:" in got
            writer.close()
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
            tally["cut"] += 1
        await asyncio.sleep(chance.uniform(0.2, 0.8))


def attack(seed, count, port, token, seconds, results):
    os.nice(19)
    tally = {"sent": 0, "cut": 0, "leaked": 0}

    async def all_of_them():
        until = time.monotonic() + seconds
        await asyncio.gather(*[attacker(random.Random(seed * 1000 + i), port, token, until, tally) for i in range(count)])

    asyncio.run(all_of_them())
    results.put(tally)


def good(serve, seconds):
    """Times of good requests, one after the other, in ms."""
    times, until, want = [], time.monotonic() + seconds, None
    while time.monotonic() < until:
        begun = time.perf_counter()
        status, _, text = serve.ask("/api/train", **STEP)
        times.append((time.perf_counter() - begun) * 1e3)
        want = want or text
        assert (status, text) == (200, want), (status, text)
        time.sleep(0.01)
    return sorted(times)


def figures(serve):
    with open(f"/proc/{serve.child.pid}/status", encoding="utf-8") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    with open(f"/proc/{serve.child.pid}/stat", encoding="utf-8") as file:
        ticks = sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    return memory, len(os.listdir(f"/proc/{serve.child.pid}/fd")), ticks / os.sysconf("SC_CLK_TCK")


def main(seconds, connections):
    with tempfile.TemporaryDirectory() as outer:
        folder = os.path.join(outer, "folder")
        os.mkdir(folder)
        with open(os.path.join(outer, "secret.json"), "wb") as file:
            file.write(SECRET)
        os.symlink("../secret.json", os.path.join(folder, "link.json"))
        serve = Server(folder, "--patience", "3s")
        good(serve, 1)
        alone = good(serve, max(2, seconds / 6))
        attack_for(serve, min(5, seconds), connections)  # buffers are as large as they get
        time.sleep(4)
        before = figures(serve)
        tally, beside = attack_for(serve, seconds, connections)
        time.sleep(4)
        after = figures(serve)
        assert json.loads(serve.ask("/api/version")[2])["folder"]
        code, error = serve.close()
    p99 = [times[int(0.99 * (len(times) - 1))] for times in (alone, beside)]
    p50 = [times[len(times) // 2] for times in (alone, beside)]
    print(f"{connections} connections for {seconds:g} s: {tally['sent']} bad requests answered or refused, {tally['cut']} cut off")
    print(f"good requests: p50 {p50[0]:.2f} ms alone, {p50[1]:.2f} beside them (x {p50[1] / p50[0]:.2f}); "
          f"p99 {p99[0]:.2f} ms alone, {p99[1]:.2f} beside them (x {p99[1] / p99[0]:.2f})")
    print(f"memory {before[0]} KiB before, {after[0]} after; descriptors {before[1]} before, {after[1]} after; "
          f"{after[2] - before[2]:.2f} s of processor time")
    assert tally["leaked"] == 0, "something of outside was handed out"
    assert (code, error) == (0, ""), (code, error)
    assert after[0] < before[0] + 16384, "memory grows"
    assert after[1] <= before[1] + 2, "descriptors stay open"


def attack_for(serve, seconds, connections):
    results, workers = multiprocessing.Queue(), 4
    children = [multiprocessing.Process(target=attack, args=(i, connections // workers, serve.port, serve.token, seconds, results))
                for i in range(workers)]
    for child in children:
        child.start()
    beside = good(serve, seconds)
    tallies = [results.get(timeout=seconds + 60) for _ in children]
    for child in children:
        child.join()
    return {key: sum(tally[key] for tally in tallies) for key in tallies[0]}, beside


if __name__ == "__main__":
    skip_without_server()
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60, int(sys.argv[2]) if len(sys.argv) > 2 else 200)
