"""Logs of our own in the wordings of many programs: made up jobs, hosts, hashes and times, none from a sample.

Each says what a person would call the cause: the line, its class, how the job ended. `>>>` in front of a line marks it;
the mark is taken out before the log is read. A file holds the cases of some classes of causes.
"""

from __future__ import annotations

from tests.diagnose.cases.accelerators import ACCELERATORS
from tests.diagnose.cases.builds import BUILDS
from tests.diagnose.cases.case import MARK, Case
from tests.diagnose.cases.collectives import COLLECTIVES
from tests.diagnose.cases.compiles import COMPILES
from tests.diagnose.cases.crashes import CRASHES
from tests.diagnose.cases.ended_jobs import ENDED_JOBS
from tests.diagnose.cases.headings import HEADINGS
from tests.diagnose.cases.host_memory import HOST_MEMORY
from tests.diagnose.cases.interruptions import INTERRUPTIONS
from tests.diagnose.cases.joined_lines import JOINED_LINES
from tests.diagnose.cases.last_lines import LAST_LINES
from tests.diagnose.cases.logged_exceptions import LOGGED_EXCEPTIONS
from tests.diagnose.cases.mpi import MPI
from tests.diagnose.cases.network import NETWORK
from tests.diagnose.cases.not_failures import NOT_FAILURES
from tests.diagnose.cases.overcome import OVERCOME
from tests.diagnose.cases.runtime import RUNTIME
from tests.diagnose.cases.script_errors import SCRIPT_ERRORS
from tests.diagnose.cases.services import SERVICES
from tests.diagnose.cases.tools import TOOLS
from tests.diagnose.cases.traceback_forms import TRACEBACK_FORMS
from tests.diagnose.cases.tracebacks import TRACEBACKS
from tests.diagnose.cases.usage import USAGE
from tests.diagnose.cases.workflows import WORKFLOWS

__all__ = ["CASES", "MARK", "Case"]

CASES = (
    *TRACEBACKS,
    *TRACEBACK_FORMS,
    *HEADINGS,
    *BUILDS,
    *ACCELERATORS,
    *SCRIPT_ERRORS,
    *CRASHES,
    *ENDED_JOBS,
    *USAGE,
    *TOOLS,
    *WORKFLOWS,
    *SERVICES,
    *COMPILES,
    *RUNTIME,
    *COLLECTIVES,
    *MPI,
    *HOST_MEMORY,
    *NETWORK,
    *INTERRUPTIONS,
    *JOINED_LINES,
    *LOGGED_EXCEPTIONS,
    *LAST_LINES,
    *OVERCOME,
    *NOT_FAILURES,
)
