# SPDX-License-Identifier: Apache-2.0
"""`orrery serve` from outside: who is answered, with what, and what nobody gets."""
import concurrent.futures
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from server import ORRERY, Server, orrery, skip_without_server

skip_without_server()

STEP = {"model": "llama3-8b", "machine": "dgx-h100:2", "tp": "2", "global-batch": "64"}


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.outer = tempfile.TemporaryDirectory()
        cls.secret = os.path.join(cls.outer.name, "secret.json")
        cls.folder = os.path.join(cls.outer.name, "folder")
        os.makedirs(os.path.join(cls.folder, "runs/.hidden"))
        cls.write(cls.secret, "{\"secret\": 1}")
        cls.write(os.path.join(cls.folder, "runs/a result.json"), "{\"a\": 1}")
        cls.write(os.path.join(cls.folder, "runs/.hidden/b.json"), "{}")
        cls.write(os.path.join(cls.folder, "page.html"), "<script>1</script>")
        cls.write(os.path.join(cls.folder, "key.pem"), "no")
        os.symlink("../secret.json", os.path.join(cls.folder, "link.json"))
        os.symlink("..", os.path.join(cls.folder, "up"))
        os.mkfifo(os.path.join(cls.folder, "pipe.json"))
        config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 4,
                  "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 2816, "vocab_size": 32000,
                  "max_position_embeddings": 2048}
        cls.write(os.path.join(cls.folder, "config.json"), json.dumps(config))
        cls.write(os.path.join(cls.folder, "broken.json"), "{")
        cls.serve = Server(cls.folder, "--patience", "1s")

    @classmethod
    def tearDownClass(cls):
        code, error = cls.serve.close()
        cls.outer.cleanup()
        assert (code, error) == (0, ""), (code, error)

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def refused(self, status, got, said=""):
        self.assertEqual(got[0], status, got[2])
        self.assertIn(said, json.loads(got[2])["error"])

    # ---- who is answered ----

    def test_nobody_without_the_token_is_answered(self):
        wrong = "x" * 32
        for path in ["/", "/api/models", "/files/page.html", "/nowhere", "/openapi.json"]:
            self.refused(401, self.serve.ask(path, token=False), "token")
            self.refused(401, self.serve.ask(path, token=False, headers={"Authorization": "Bearer " + wrong}))
            self.refused(401, self.serve.ask(path, token=False, headers={"Cookie": f"orrery_{self.serve.port}={wrong}"}))
            self.refused(401, self.serve.ask(path + "?token=" + wrong, token=False))

    def test_the_printed_url_gives_a_cookie_that_is_enough(self):
        status, headers, _ = self.serve.ask("/?token=" + self.serve.token, token=False)
        self.assertEqual(status, 200)
        cookie, *marks = headers["Set-Cookie"].split("; ")
        self.assertEqual(marks, ["Path=/", "HttpOnly", "SameSite=Strict"])
        self.assertEqual(self.serve.ask("/api/models", token=False, headers={"Cookie": "a=b; " + cookie})[0], 200)

    def test_a_name_that_only_points_here_is_refused(self):
        for host in ["evil.example", "127.0.0.1.evil.example", f"evil.example:{self.serve.port}"]:
            self.refused(403, self.serve.ask("/api/models", headers={"Host": host}))
        self.refused(403, self.serve.ask("/api/models", headers={"Origin": "http://evil.example"}))
        self.refused(403, self.serve.ask("/api/models", headers={"Origin": "null"}))
        self.assertEqual(self.serve.ask("/api/models", headers={"Host": "localhost:1"})[0], 200)  # a forwarded port

    def test_every_answer_has_the_headers_that_keep_it_in_its_place(self):
        for path in ["/", "/api/models", "/nowhere", "/files/page.html"]:
            headers = self.serve.ask(path)[1]
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIn("sandbox", self.serve.ask("/files/page.html")[1]["Content-Security-Policy"])

    def test_it_listens_on_this_machine_alone(self):
        with socket.socket() as link:
            link.settimeout(5)
            others = socket.gethostbyname_ex(socket.gethostname())[2]
            for address in [address for address in others if not address.startswith("127.")]:
                with self.assertRaises(OSError):
                    link.connect((address, self.serve.port))

    # ---- answers ----

    def test_a_step_is_what_the_program_prints(self):
        words = [word for name, value in STEP.items() for word in ("--" + name, value)]
        want = orrery("train", *words, "--json", "-")
        self.assertEqual(self.serve.ask("/api/train", **STEP)[::2], (200, want))
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        body = "model=llama3-8b&machine=dgx-h100%3A2&tp=2&global-batch=64"
        self.assertEqual(self.serve.ask("/api/train", "POST", body, form)[::2], (200, want))
        self.assertEqual(self.serve.ask("/api/train?tp=2", "POST", body.replace("&tp=2", ""), form)[2], want)

    def test_lists_and_collectives_are_what_the_program_prints(self):
        self.assertEqual(self.serve.ask("/api/machines")[2], orrery("machine", "list", "--json", "-"))
        self.assertEqual(self.serve.ask("/api/machine", machine="dgx-h100:2")[2],
                         orrery("machine", "show", "dgx-h100:2", "--json", "-"))
        self.assertEqual(self.serve.ask("/api/collective", machine="dgx-h100:2", bytes="1KiB..1MiB")[2],
                         orrery("coll", "time", "--machine", "dgx-h100:2", "--bytes", "1KiB..1MiB", "--json", "-"))
        names = [model["name"] for model in json.loads(self.serve.ask("/api/models")[2])["models"]]
        listed = [line.split()[0] for line in orrery("train", "--list").decode().splitlines()[1:]]
        self.assertEqual(names, listed)

    def test_a_run_takes_as_long_as_the_program_says(self):
        prefix = os.path.join(self.outer.name, "ar")
        orrery("gen", "collective", "--type", "all-gather", "--bytes", "1MiB", "--npus", "64", "-o", prefix)
        want = json.loads(orrery("run", "--workload", prefix, "--machine", "64gpu_torus3d_16", "--bandwidth", "100Gbps",
                                 "--json", "-"))
        got = json.loads(self.serve.ask("/api/run", machine="64gpu_torus3d_16", type="all-gather", bytes="1MiB",
                                        bandwidth="100Gbps")[2])
        for key in ["time_ns", "ranks", "messages", "events"]:
            self.assertEqual(got[key], want[key], key)
        ring = json.loads(self.serve.ask("/api/run", machine="ring", ranks="16")[2])
        self.assertEqual(ring["ranks"], 16)

    def test_a_page_to_keep_has_the_step_in_it(self):
        status, headers, page = self.serve.ask("/api/report", lang="zh-TW", **STEP)
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"step_time_ns", page)
        self.refused(400, self.serve.ask("/api/report", lang="xx", **STEP))

    def test_a_model_of_the_folder_can_be_asked_about(self):
        asked = {"model": "config.json", "gpu": "h100"}
        want = orrery("train", "--model", os.path.join(self.folder, "config.json"), "--gpu", "h100", "--json", "-")
        self.assertEqual(json.loads(self.serve.ask("/api/train", **asked)[2])["step_time_ns"], json.loads(want)["step_time_ns"])
        asked["model"] = "broken.json"
        self.refused(400, self.serve.ask("/api/train", **asked), "broken.json:1")

    def test_a_search_is_a_job_that_can_be_followed(self):
        job = json.loads(self.serve.ask("/api/plan", "POST", "model=gpt2&machine=dgx-h100&global-batch=16",
                                        {"Content-Type": "application/x-www-form-urlencoded"})[2])
        events = self.serve.ask(f"/api/jobs/{job['id']}/events")
        self.assertEqual(events[1]["Content-Type"], "text/event-stream")
        last = events[2].decode().rstrip("\n").split("\n\n")[-1].split("\n")
        self.assertEqual(last[0], "event: end")
        self.assertEqual(json.loads(last[1].removeprefix("data: "))["state"], "done")
        got = json.loads(self.serve.ask(f"/api/jobs/{job['id']}/result")[2])
        want = json.loads(orrery("plan", "--model", "gpt2", "--machine", "dgx-h100", "--global-batch", "16", "--json", "-"))
        self.assertEqual(got, want)

    def test_a_job_can_be_stopped_and_a_queued_one_never_begins(self):
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        body = "model=llama3-70b&machine=dgx-h100:64"
        first, second = [json.loads(self.serve.ask("/api/plan", "POST", body, form)[2])["id"] for _ in range(2)]
        self.assertEqual(json.loads(self.serve.ask(f"/api/jobs/{second}", "DELETE")[2])["state"], "cancelled")
        self.serve.ask(f"/api/jobs/{first}", "DELETE")
        self.serve.ask(f"/api/jobs/{first}/events")
        self.assertEqual(json.loads(self.serve.ask(f"/api/jobs/{first}")[2])["state"], "cancelled")
        self.refused(400, self.serve.ask(f"/api/jobs/{second}/result"), "cancelled")
        self.refused(404, self.serve.ask("/api/jobs/999", "DELETE"), "no job 999")

    def test_a_store_is_listed_shown_and_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            traces, store = os.path.join(folder, "t/ar"), os.path.join(folder, "orrery.db")
            orrery("gen", "collective", "--type", "all-reduce", "--bytes", "1MiB", "--npus", "4", "-o", traces)
            for rate in ["100Gbps", "200Gbps"]:
                orrery("lab", "run", "--workload", traces, "--machine", "ring", "--bandwidth", rate, "--store", store,
                       "--output-dir", folder)
            serve = Server(store)
            try:
                self.assertEqual(serve.ask("/api/store")[2], orrery("lab", "list", "--store", store, "--json", "-"))
                self.assertEqual(serve.ask("/api/store/2")[2], orrery("lab", "show", "2", "--store", store, "--json", "-"))
                status, _, text = serve.ask("/api/compare", before="1", after="2")
                self.assertEqual(status, 200)
                self.assertIn("results", json.loads(text))
                self.refused(404, serve.ask("/api/files"), "no folder is served")
                self.assertEqual(serve.ask("/api/report/1,2")[0], 200)
                self.refused(400, serve.ask("/api/store", state="dnoe"), "done")
            finally:
                self.assertEqual(serve.close(), (0, ""))

    # ---- what is refused ----

    def test_what_cannot_be_is_said_in_one_line(self):
        self.refused(400, self.serve.ask("/api/train", modle="gpt2"), "did you mean \"model\"?")
        self.refused(400, self.serve.ask("/api/train", model="lama3-8b", gpu="h100"), "did you mean 'llama")
        self.refused(400, self.serve.ask("/api/train", tp="x", **{"model": "gpt2", "gpu": "h100"}), "parameter 'tp'")
        self.refused(400, self.serve.ask("/api/run"), "no machine")
        self.refused(400, self.serve.ask("/api/models", x="1"), "no parameter \"x\" here")
        self.refused(400, self.serve.ask("/api/run", machine="ring", ranks="8", workload="x"), "no parameter")
        self.refused(400, self.serve.ask("/api/run", machine="ring", set="system.x=1"), "no parameter")
        self.refused(404, self.serve.ask("/api/trian"))
        self.refused(405, self.serve.ask("/api/plan"))
        self.refused(405, self.serve.ask("/api/models", "PUT", "x"))
        self.refused(415, self.serve.ask("/api/train", "POST", "{}", {"Content-Type": "application/json"}))

    def test_nothing_outside_the_folder_is_handed_out(self):
        self.assertEqual(self.serve.ask("/files/runs/a%20result.json")[::2], (200, b"{\"a\": 1}"))
        names = [file["name"] for file in json.loads(self.serve.ask("/api/files")[2])["files"]]
        self.assertEqual(names, ["broken.json", "config.json", "page.html", "runs/a result.json"])
        for name in ["../secret.json", "%2e%2e/secret.json", "..%2fsecret.json", "%2e%2e%2fsecret.json", "link.json",
                     "up/secret.json", "runs/../../secret.json", "runs/%2e%2e/%2e%2e/secret.json", "./page.html",
                     self.secret, "/" + self.secret, "%2F" + self.secret[1:], "runs//a%20result.json",
                     "runs/.hidden/b.json", "key.pem", "pipe.json", "runs", "page.html%00.json", "page.html/",
                     "..\\secret.json", "%252e%252e/secret.json", "....//secret.json", "..;/secret.json",
                     "%c0%ae%c0%ae/secret.json", "a" * 2000 + ".json"]:
            answer = self.serve.raw(self.serve.head("/files/" + name))
            self.assertNotIn(b"200 OK", answer.split(b"\r\n")[0], name)
            self.assertNotIn(b"secret\": 1", answer, name)
            if "%00" not in name and "%c0" not in name:
                self.assertRegex(self.serve.ask("/api/train", model=name, gpu="h100")[2].decode(), "error", name)
        for machine in [self.secret, "file:" + self.secret, "../secret.json", "file:" + self.secret + " > x", "x.yml"]:
            for path in ["/api/train?model=gpt2&", "/api/run?", "/api/collective?", "/api/machine?", "/api/report?model=gpt2&"]:
                self.refused(400, self.serve.ask(path + "machine=" + machine.replace(" ", "+")), "a file's name")

    def test_what_is_malformed_or_too_large_is_refused_and_the_next_is_answered(self):
        head = self.serve.head
        for data in [b"\r\n\r\n", b"GET\r\n\r\n", b"\x00\xff\x16\x03" * 100, b"GET / HTTP/9.9\r\n\r\n", b"A" * 100000,
                     head("/" + "a" * 20000), head("/", "X: " + "b" * 60000), head("/", *[f"X{i}: 1" for i in range(5000)]),
                     head("/api/train?" + "&".join(f"p{i}=1" for i in range(600))), head("no-slash"), head("/%zz"),
                     b"POST /api/train HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
                     b"POST /api/train HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                     b"POST /api/train HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                     head("/api/train", "Content-Length: 5", "Transfer-Encoding: chunked")]:
            answer = self.serve.raw(data)
            self.assertFalse(answer.startswith(b"HTTP/1.1 200"), (data[:60], answer[:200]))
        large = {"Content-Type": "application/x-www-form-urlencoded"}
        self.refused(413, self.serve.ask("/api/train", "POST", "", {**large, "Content-Length": "9999999"}))
        self.assertEqual(self.serve.ask("/api/models")[0], 200)

    def test_a_chunked_body_without_end_is_cut_off(self):
        with self.serve.socket() as link:
            link.sendall(self.serve.head("/api/train", "Transfer-Encoding: chunked").replace(b"GET", b"POST", 1))
            with self.assertRaises(OSError):
                for _ in range(10000):
                    link.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
                raise AssertionError("it takes all of it")

    def test_who_sends_slowly_is_cut_off(self):
        with self.serve.socket() as link:
            link.sendall(b"GET /api/models HTTP/1.1\r\n")
            with self.assertRaises(OSError):
                for _ in range(200):  # a byte at a time, far within any pause that a server allows
                    link.sendall(b"X")
                    link.settimeout(0.1)
                    try:
                        if link.recv(1) == b"":
                            raise ConnectionResetError
                    except socket.timeout:
                        pass
                raise AssertionError("it waits for ever")

    def test_hundreds_of_idle_connections_leave_room_for_a_good_one(self):
        links = [self.serve.socket() for _ in range(200)]
        try:
            for i, link in enumerate(links):
                link.sendall(b"GET / HTTP/1.1\r\nHost" if i % 2 else b"")
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                answers = list(pool.map(lambda _: self.serve.ask("/api/train", **STEP), range(100)))
            self.assertEqual({answer[0] for answer in answers}, {200})
            self.assertEqual(len({answer[2] for answer in answers}), 1)
        finally:
            for link in links:
                link.close()

    def test_more_idle_connections_than_there_may_be_leave_room_for_a_good_one(self):
        serve = Server("--connections", "32", "--patience", "60s")
        links = []
        try:
            kept = http.client.HTTPConnection("127.0.0.1", serve.port, timeout=60)
            authorization = {"Authorization": "Bearer " + serve.token}
            for _ in range(64):
                links.append(serve.socket())
                links[-1].sendall(b"GET / HTTP/1.1\r\nHost")
                kept.request("GET", "/api/version", headers=authorization)
                answer = kept.getresponse()
                self.assertEqual((answer.status, answer.read()[:1]), (200, b"{"))
                self.assertEqual(serve.ask("/api/version")[0], 200)
            kept.close()
        finally:
            for link in links:
                link.close()
            self.assertEqual(serve.close(), (0, ""))

    # ---- the document, and how it ends ----

    def test_the_document_has_the_paths_and_parameters_of_the_one_that_is_shipped(self):
        document = json.loads(self.serve.ask("/openapi.json")[2])
        with open(os.environ["ORRERY_OPENAPI"], encoding="utf-8") as file:
            shipped = json.load(file)
        remedy = "orrery serve --openapi > docs/openapi.json puts it in step"
        self.assertEqual(document["paths"], shipped["paths"], remedy)
        schemas, others = document["components"]["schemas"], shipped["components"]["schemas"]
        self.assertEqual(schemas.keys(), others.keys(), remedy)
        for name, schema in schemas.items():
            self.assertEqual(schema["properties"].keys(), others[name]["properties"].keys(), f"{name}: {remedy}")
        for path, methods in document["paths"].items():
            for method in methods:
                plain = path.replace("{id}", "999").replace("{run}", "1").replace("{runs}", "1").replace("{path}", "page.html")
                answer = self.serve.ask(plain, method.upper())
                self.assertNotIn(b"no such path", answer[2], path)
                self.assertNotEqual(answer[0], 405, path)
        for name in ["model", "machine", "tp", "global-batch", "framework"]:
            self.assertIn(name, document["components"]["schemas"]["train"]["properties"])

    def test_ctrl_c_ends_it_while_it_works(self):
        serve = Server()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        serve.ask("/api/plan", "POST", "model=llama3-70b&machine=dgx-h100:64", form)
        with serve.socket() as link, serve.socket() as idle:
            link.sendall(serve.head("/api/jobs/1/events"))
            link.recv(100)
            idle.sendall(b"GET")
            self.assertEqual(serve.close(), (0, ""))

    def test_what_cannot_be_served_is_said_at_once(self):
        for words, said in [(["/nonexistent"], "cannot be served"), ([self.secret], "secret.json"),
                            (["a", "b"], "is a second"), (["--port", str(self.serve.port)], "port")]:
            done = subprocess.run([ORRERY, "serve", *words], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    signal.alarm(600)
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
