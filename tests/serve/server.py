# SPDX-License-Identifier: Apache-2.0
"""`orrery serve` as a child process, and HTTP by hand where http.client is too polite."""
import http.client
import os
import re
import select
import signal
import socket
import subprocess
import sys
import urllib.parse

ORRERY = os.environ["ORRERY"]


def skip_without_server():
    """Ends the test where there is nothing to test."""
    if b"without libmicrohttpd" in subprocess.run([ORRERY, "serve", "/nonexistent"], capture_output=True, check=False).stderr:
        print("SKIPPED: built without libmicrohttpd")
        sys.exit(77)


class Server:
    def __init__(self, *words):
        self.child = subprocess.Popen([ORRERY, "serve", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready = select.select([self.child.stdout], [], [], 60)[0]
        line = self.child.stdout.readline() if ready else ""
        found = re.fullmatch(r"Serving at (http://127\.0\.0\.1:(\d+)/\?token=(\w{32}))\n", line)
        if not found:
            self.child.kill()
            raise RuntimeError(f"it said {line!r} and {self.child.stderr.read()!r}")
        self.url, self.port, self.token = found.group(1), int(found.group(2)), found.group(3)

    def close(self):
        """Ends it by Ctrl-C; its exit code and what it wrote to standard error."""
        self.child.send_signal(signal.SIGINT)
        try:
            error = self.child.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.communicate()
            return "does not end", ""
        return self.child.returncode, error

    def ask(self, path, method="GET", body=None, headers=None, token=True, **parameters):
        """Status, headers, bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        path += "?" + urllib.parse.urlencode(parameters) if parameters else ""
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + self.token
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        result = answer.status, answer.headers, answer.read()
        connection.close()
        return result

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def raw(self, data):
        """All that comes back for these bytes, until the other side is done."""
        with self.socket() as link:
            parts = []
            try:
                link.sendall(data)
                link.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the other side has heard enough; what it said can still be read
            try:
                while part := link.recv(65536):
                    parts.append(part)
            except OSError:
                pass
        return b"".join(parts)

    def head(self, target, *lines):
        return "\r\n".join([f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{self.port}",
                            f"Authorization: Bearer {self.token}", "Connection: close", *lines, "", ""]).encode("latin-1")


def orrery(*words):
    done = subprocess.run([ORRERY, *words], capture_output=True, check=True)
    return done.stdout
