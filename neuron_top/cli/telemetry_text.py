"""The text of `neurontop telemetry`: the newest sample of everything as aligned tables."""

from __future__ import annotations

from neuron_top.cli.output import table
from neuron_top.services.telemetry import LatestTelemetry
from neuron_top.views import telemetry as view
from neuron_top.views.telemetry import TelemetryTable


def telemetry_text(latest: LatestTelemetry) -> str:
    """The newest of everything as tables."""
    errors = view.memory_error_lines(latest.errors.values())
    parts = (
        _text(view.device_table(latest.devices)) if latest.devices is not None else "",
        _text(view.core_table(latest.cores, latest.headroom())) if latest.cores is not None else "",
        _text(view.process_table(latest.processes)) if latest.processes is not None else "",
        _text(view.execution_table(latest.executions.values())),
        view.host_text(latest.host) if latest.host is not None else "",
        "\n".join(["memory errors:", *errors]) if errors else "",
    )
    return "\n\n".join(part for part in parts if part)


def _text(shown: TelemetryTable) -> str:
    rows = table(shown.header, shown.rows, right=shown.right) if shown.header else ""
    return "\n".join(part for part in (shown.title, rows) if part)
