"""The diagnosis of a job out of those of its logs."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_top.events.diagnosis import MOST_CAUSES, Confidence, Diagnosis, JobEnd

_CONFIDENCES = (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)


def combined(diagnoses: Sequence[Diagnosis]) -> Diagnosis:
    """One job that wrote several logs: what the log says that states its reason with most confidence comes first."""
    failed = [each for each in diagnoses if each.failed]
    told = failed or [each for each in diagnoses if each.recovered]
    surest = sorted(told, key=lambda each: _CONFIDENCES.index(each.causes[0].confidence) if each.causes else 3)
    ends = {each.job_ended for each in diagnoses}
    return Diagnosis(
        failed=bool(failed),
        recovered=not failed and bool(told),
        job_ended=next((end for end in (JobEnd.FAILED, JobEnd.FINISHED) if end in ends), JobEnd.UNKNOWN),
        causes=tuple(cause for each in surest for cause in each.causes)[:MOST_CAUSES],
    )
