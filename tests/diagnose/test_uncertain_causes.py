"""What only guesses at a reason is not reported as one."""

from __future__ import annotations

from neuron_top.events.diagnosis import Confidence
from neuron_top.ingest.advised import AdvisedDiagnoser


def test_rays_list_of_potential_causes_names_none() -> None:
    log = (
        "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.\n"
        "Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. There are some "
        "potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.\n"
    )
    diagnoser = AdvisedDiagnoser("log:x")
    diagnoser.feed(log.encode())
    diagnoser.flush()
    diagnosis = diagnoser.diagnosis()
    assert diagnosis.failed
    assert diagnosis.causes[0].confidence is Confidence.LOW
    assert "does not state the reason" in diagnosis.causes[0].advice
