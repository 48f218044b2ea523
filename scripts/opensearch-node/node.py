"""A real OpenSearch node, or three as a cluster, on this machine: for tests, and for trying the cluster without Docker.

Put together from Maven artifacts (see pom.xml): needs a JDK 21 or newer and Maven. Not for production.

    python3 scripts/opensearch-node/node.py                 one node on 127.0.0.1:9200 until Ctrl-C
    python3 scripts/opensearch-node/node.py --nodes 3       three nodes on 9201, 9202 and 9203
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target"
MIN_JDK = 21
START_TIMEOUT_S = 180


class NodeError(RuntimeError):
    """A node cannot be built or started; the message says what to do."""


@dataclass
class Node:
    """A node of the cluster: `url` once it answers, its process, its folder."""

    port: int
    home: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    heap: str = "1g"
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """What it printed."""
        return self.home / "node.log"

    def start(self) -> None:
        """Start it in the background; `wait` says when it answers."""
        self.home.mkdir(parents=True, exist_ok=True)
        arguments = ["--port", str(self.port), "--home", str(self.home)]
        for name, value in self.settings.items():
            arguments += ["--setting", f"{name}={value}"]
        with self.log.open("ab") as out:
            # A group of its own: Ctrl-C in the terminal is for this script, which then stops it in order.
            self.process = subprocess.Popen(
                [*java_command(self.heap, self.home), *arguments],
                cwd=HERE,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Return when it answers.

        Raises:
            NodeError: it ended, or does not answer in time; the end of its log is in the message.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process is not None and self.process.poll() is not None:
                raise NodeError(f"the node ended with {self.process.returncode}:\n{self.tail()}")
            with contextlib.suppress(OSError, urllib.error.URLError, ValueError):
                health = self.get("/_cluster/health")
                if health.get("status") in ("green", "yellow"):
                    return
            time.sleep(0.2)
        raise NodeError(f"the node did not answer on {self.url} within {START_TIMEOUT_S} s:\n{self.tail()}")

    def get(self, path: str) -> dict[str, object]:
        """A JSON reply of the node."""
        with urllib.request.urlopen(self.url + path, timeout=5) as reply:  # noqa: S310 - loopback
            value: dict[str, object] = json.load(reply)
            return value

    def tail(self) -> str:
        """The last lines of its log."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-20:])

    def kill(self) -> None:
        """Stop it at once, as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stop it in order."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
        self.process = None


def jdk() -> Path:
    """The `bin` folder of a JDK that is new enough: of JAVA_HOME, of the path, or where Debian puts them.

    Raises:
        NodeError: there is none.
    """
    candidates = []
    if home := os.environ.get("JAVA_HOME"):
        candidates.append(Path(home))
    if found := shutil.which("javac"):
        candidates.append(Path(found).resolve().parent.parent)
    candidates += sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)
    for candidate in candidates:
        java = candidate / "bin" / "java"
        if (candidate / "bin" / "javac").exists() and _version(java) >= MIN_JDK:
            return candidate / "bin"
    raise NodeError(f"no JDK {MIN_JDK} or newer was found: install one, or set JAVA_HOME")


def _version(java: Path) -> int:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except OSError:
        return 0
    match = re.search(r'version "(\d+)', said)
    return int(match.group(1)) if match else 0


def build() -> None:
    """Fetch and compile what a node is made of, once.

    Raises:
        NodeError: no JDK, no Maven, or Maven failed.
    """
    jdk()
    if (TARGET / "built").exists():
        return
    maven = shutil.which("mvn")
    if maven is None:
        raise NodeError("Maven was not found: install the package `maven`")
    environment = {**os.environ, "JAVA_HOME": str(jdk().parent)}
    command = [maven, "-q", "-ntp", "--batch-mode", "package"]
    made = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=False)
    if made.returncode:
        raise NodeError(f"Maven failed:\n{(made.stdout + made.stderr)[-2000:]}")
    (TARGET / "built").touch()


def java_command(heap: str, home: Path) -> list[str]:
    """The command that runs a node, without its own arguments."""
    java = jdk() / "java"
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True).stdout
    options = [
        f"-Xms{heap}",
        f"-Xmx{heap}",
        "-XX:+UseG1GC",
        "-Dfile.encoding=UTF-8",
        "-Djava.awt.headless=true",
        "-Dlog4j2.disable.jmx=true",
        "-Dlog4j2.formatMsgNoLookups=true",
        "-Dio.netty.noUnsafe=true",
        "-Dio.netty.noKeySetOptimization=true",
        "-Dio.netty.recycler.maxCapacityPerThread=0",
        "-Dopensearch.set.netty.runtime.available.processors=false",
        "-Djna.nosys=true",
        f"-Djava.io.tmpdir={home}",
        "--add-opens=java.base/java.io=ALL-UNNAMED",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--enable-native-access=ALL-UNNAMED",
    ]
    # Faster vector arithmetic in Lucene, where the module exists.
    if "jdk.incubator.vector@" in modules:
        options.append("--add-modules=jdk.incubator.vector")
    if _version(java) >= 24:
        options.append("--sun-misc-unsafe-memory-access=allow")
    # The server's jars first, the plugin's own copies of shared libraries after them.
    class_path = ":".join([str(TARGET / "classes"), str(TARGET / "lib" / "*"), str(TARGET / "knn" / "*")])
    return [str(java), *options, "-cp", class_path, "dev.oslocal.LocalNode"]


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(nodes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """All of `nodes`, started, answering, and stopped in the end."""
    build()
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            node.wait()
        yield nodes
    finally:
        for node in nodes:
            node.stop()


def cluster(home: Path, ports: Sequence[int], transport: Sequence[int], heap: str = "512m") -> list[Node]:
    """Nodes `n1`, `n2`, … of one cluster, on loopback; not started yet."""
    names = ",".join(f"n{i}" for i in range(1, len(ports) + 1))
    seeds = ",".join(f"127.0.0.1:{port}" for port in transport)
    return [
        Node(
            port,
            home / f"n{i}",
            {
                "discovery.type": "zen",
                "cluster.initial_cluster_manager_nodes": names,
                "discovery.seed_hosts": seeds,
                "node.name": f"n{i}",
                "transport.port": str(inner),
                "node.processors": "1",
                "path.repo": str(home / "snapshots"),
            },
            heap,
        )
        for i, (port, inner) in enumerate(zip(ports, transport, strict=True), start=1)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1, choices=(1, 3), help="one node, or three as a cluster")
    parser.add_argument("--port", type=int, default=None, help="HTTP port of the (first) node")
    parser.add_argument("--home", type=Path, default=None, help="keep the data here; a folder that goes, if left out")
    parser.add_argument("--build", action="store_true", help="only fetch and compile what a node is made of")
    options = parser.parse_args()
    if options.build:
        try:
            build()
        except NodeError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        return 0
    with contextlib.ExitStack() as stack:
        home = options.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="opensearch-node-")))
        if options.nodes == 1:
            nodes = [Node(options.port or 9200, home.resolve())]
        else:
            first = options.port or 9201
            nodes = cluster(home.resolve(), range(first, first + 3), range(first + 100, first + 103))
        try:
            print("Starting …", file=sys.stderr)
            stack.enter_context(running(nodes))
            print("\n".join(f"OpenSearch answers on {node.url}" for node in nodes), flush=True)
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
        except NodeError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
