"""`make fleet`: a fleet of four nodes on this machine, with everything that a real one has.

Starts a PostgreSQL, a Slurm with four nodes, `neurontop serve` and a Prometheus that finds the agents through it, and
submits a tensor-parallel training job with a rank and an agent on each node. On a terminal the fleet's screen opens (q
leaves it); elsewhere one JSON document is printed on stdout: `fleet jobs`, `fleet nodes` and the job's summary. Ends
all that it started.

exit status: 0 every node, rank, graph and step was seen · 1 something was not, or a server could not be had
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

from tests.servers.ending import ended_with_us
from tests.servers.ports import free_ports
from tests.servers.postgresql import PostgresMissing, running
from tests.servers.prometheus import PrometheusMissing, prometheus_server
from tests.servers.slurm import SlurmCluster, SlurmMissing, slurm_cluster

CHECKOUT = Path(__file__).parents[2]
NEURONTOP = Path(sys.executable).with_name("neurontop")
STEPS = 12
JOB_SECONDS = 3600.0
"""A bound against a job that hangs: a slow machine has its time, and every half a minute says how far it is."""
COLLECTED_SECONDS = 300.0
SAID_SECONDS = 30.0
_MODULE = re.compile(rb"MODULE_[0-9a-z]+(?:\+[0-9a-f]+)?")
_STEP = re.compile(rb"^LOG .* - \(0, (\d+)\) step_loss", re.MULTILINE)


class Failed(Exception):
    """The fleet cannot be shown; says why."""


def say(text: str) -> None:
    """Narration, on stderr."""
    print(f"make fleet: {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Start all, show it, end all."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _stopped)
    try:
        with ExitStack() as stack:
            return Fleet(stack).show()
    except (Failed, PostgresMissing, PrometheusMissing, SlurmMissing) as problem:
        say(str(problem))
        return 1
    except KeyboardInterrupt:
        return 130


def _stopped(_number: int, _frame: object) -> NoReturn:
    """End as Ctrl-C does, with everything that was started; a second signal does not stop the ending."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


class Fleet:
    """The servers and the job; `stack` ends them."""

    def __init__(self, stack: ExitStack) -> None:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="neurontop-fleet-", ignore_cleanup_errors=True))
        self.folder = Path(name)
        say("starting PostgreSQL")
        database = stack.enter_context(running())
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NEURONTOP_")},
            "NEURONTOP_STORE": database.url(database.new_database()),
            "NEURONTOP_STATE_DIR": str(self.folder / "state"),
            "NEURONTOP_AGENT_TOKEN": secrets.token_urlsafe(24),  # log lines of the nodes are asked for with it
        }
        self.neurontop("fleet", "init")
        say("starting Slurm with four nodes")
        self.slurm: SlurmCluster = stack.enter_context(slurm_cluster(self._folder("slurm")))
        for node in self.slurm.nodes:
            (self.folder / "logs" / node).mkdir(parents=True)
        (port,) = free_ports(1)
        self.page = f"http://127.0.0.1:{port}/"
        say("starting Prometheus")  # which asks the page for the agents until it answers
        discovery = [{"url": f"{self.page}api/targets", "refresh_interval": "2s"}]
        jobs = [{"job_name": "neurontop", "scrape_interval": "2s", "http_sd_configs": discovery}]
        rules = [str(CHECKOUT / "assets" / "prometheus" / "neurontop.rules.yml")]
        configuration = {"global": {"evaluation_interval": "2s"}, "rule_files": rules, "scrape_configs": jobs}
        prometheus = stack.enter_context(prometheus_server(self._folder("prometheus"), configuration))
        self.environment["NEURONTOP_PROMETHEUS"] = prometheus
        stack.enter_context(self._served(port))
        self.job = self._submitted()
        say(f"submitted job {self.job}; its page is {self.page}fleet, Prometheus is {prometheus}")

    def neurontop(self, *arguments: str) -> str:
        """What a command printed on stdout."""
        done = subprocess.run(
            [NEURONTOP, *arguments], env=self.environment, stdout=subprocess.PIPE, text=True, check=False, cwd=CHECKOUT
        )
        if done.returncode:
            raise Failed(f"neurontop {' '.join(arguments)} ended with {done.returncode}")
        return done.stdout

    def show(self) -> int:
        """The screen, or the document; 0 where everything was seen."""
        if sys.stdout.isatty() and sys.stdin.isatty():
            subprocess.run([NEURONTOP, "fleet", "watch"], env=self.environment, check=False)
        self._wait_for_the_job()
        document = self._document()
        missing = self._not_seen(document)
        for text in missing:
            say(f"not seen: {text}")
        if not sys.stdout.isatty():
            print(json.dumps(document, indent=2))
        say("every node, rank, graph and step was seen" if not missing else "not everything was seen")
        return 1 if missing else 0

    def _folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder

    @contextmanager
    def _served(self, port: int) -> Iterator[None]:
        """The web page of the fleet and of the ranks' logs, by whose API Prometheus finds the agents."""
        logs = str(self.folder / "logs")
        command = [*ended_with_us(), str(NEURONTOP), "serve", "--port", str(port), "--read-only", logs]
        with open(self.folder / "serve.log", "wb") as log:
            server = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self._until(lambda: _answers(f"{self.page}alive") or server.poll() is not None, "neurontop serve")
            if server.poll() is not None:
                raise Failed(f"neurontop serve ended: {(self.folder / 'serve.log').read_text(errors='replace')}")
            yield
        finally:
            server.terminate()
            server.wait(timeout=30)

    def _submitted(self) -> str:
        """The number of the job in Slurm."""
        (port,) = free_ports(1)
        variables = self.environment | {
            "PYTHON": sys.executable, "NEURONTOP": str(NEURONTOP), "LOGS": str(self.folder / "logs"),
            "STATE": str(self.folder / "state"), "EXAMPLE": str(CHECKOUT / "assets/examples/train_bert_tp.py"),
            "STEPS": str(STEPS), "MASTER_PORT": str(port), "SLURM_CONF": self.slurm.environment["SLURM_CONF"],
        }  # fmt: skip
        options = ["--parsable", "--nodes=4", "--ntasks-per-node=1", f"--chdir={CHECKOUT}", "--job-name=bert"]
        script = str(Path(__file__).with_name("job.sh"))
        output = f"--output={self.folder}/job.out"
        done = subprocess.run(
            ["sbatch", *options, output, script], env=variables, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Failed(f"sbatch: {done.stderr.strip()}")
        return done.stdout.strip().partition(";")[0]

    def _wait_for_the_job(self) -> None:
        say("waiting for the job")
        began = said = time.monotonic()

        def ended() -> bool:
            nonlocal said
            if time.monotonic() - said > SAID_SECONDS:
                said = time.monotonic()
                say(f"the job is {self._job_state()} for {said - began:.0f} s; {self._progress()}")
            return not self._job_state().startswith(("PENDING", "RUNNING", "COMPLETING"))

        self._until(ended, "the job", JOB_SECONDS)
        state = self._job_state()
        if state != "COMPLETED":
            for path in (self.folder / "job.out", *sorted(self.folder.glob("logs/*/*"))):
                say(f"{path.name}: {path.read_text(errors='replace')[-1500:]}")
            raise Failed(f"the job is {state}")

    def _progress(self) -> str:
        """How far the ranks are, by their logs."""
        steps = [len(_STEP.findall(path.read_bytes())) for path in self.folder.glob("logs/*/*.log")]
        return f"{len(steps)} of 4 ranks have begun, {max(steps, default=0)} of {STEPS} steps are printed"

    def _job_state(self) -> str:
        reported = self.slurm.run("scontrol", "--oneliner", "show", "job", self.job)
        return reported.partition("JobState=")[2].partition(" ")[0]

    def _document(self) -> dict[str, Any]:
        """What the commands print, in one object."""
        return {
            "jobs": json.loads(self.neurontop("fleet", "jobs", "--json")),
            "nodes": json.loads(self.neurontop("fleet", "nodes", "--job", self.job, "--json")),
            "summary": json.loads(self.neurontop("fleet", "summary", self.job, "--json")),
        }

    def _not_seen(self, document: Mapping[str, Any]) -> list[str]:
        """What the logs of the ranks have and the document has not, one sentence each."""
        logs = [path.read_bytes() for path in self.folder.glob("logs/*/*.log")]
        graphs = {module for text in logs for module in _MODULE.findall(text)}
        steps = {int(step) for text in logs for step in _STEP.findall(text)}
        summary = document["summary"]
        expected = {
            "nodes": (sorted(self.slurm.nodes), sorted(node["node"] for node in document["nodes"])),
            "ranks": (list(range(4)), summary["ranks"]),
            "graphs": (len(graphs), summary["graphs"]),
            "graphs compiled or found": (summary["graphs"], summary["graphs_hit"] + summary["graphs_missed"]),
            "steps printed": (list(range(STEPS)), sorted(steps)),
            "last step": (STEPS - 1, summary["steps"]),
        }
        return [f"{name}: {seen} instead of {wanted}" for name, (wanted, seen) in expected.items() if wanted != seen]

    @staticmethod
    def _until(done: Any, what: str, seconds: float = COLLECTED_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                raise Failed(f"{what} took longer than {seconds:.0f} s")
            time.sleep(0.3)


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=5).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
