"""What went wrong in a job, from the lines of its log: the rule, in the order in which it works.

1. `statements` takes a line apart into what was said, how loud (level) and by whom (compiler, runtime, tool, rank).
2. `tracebacks` follows Python's tracebacks of each process; the first exception of a chain counts. `messages` follows
   the text of a failed compile to the line that names the reason.
3. `recognizers` is the table of what is known: compiler codes, statuses of the runtime, wordings of the specifications.
   `general` and `exceptions` hold for wordings that nobody has met: levels, first words, names. Warnings, help texts
   and dumps for support are no failures (`no_failures`), whatever words they hold. `headings` and `printed_objects`
   follow an error to the reason on the lines below it, `suspects` to one above.
4. `findings` counts what is one failure, said often and by many ranks.
5. `ending` reads the last lines: success, or only silence.
6. `ranking` decides: what is a failure, what was overcome, what is a consequence, and what is the cause.
7. What to do about each cause leaves here in codes (`advice`); `views/cause_advice.py` has the sentences, and
   `ingest/advised.py` puts them in.
"""

from __future__ import annotations

# The answer alone: what finds it (`diagnoser`) takes a quarter of a second to import, and every screen shows an answer.
from neuron_top.events.diagnosis import Cause, CauseClass, Confidence, Diagnosis, Evidence, JobEnd, Unreadable

__all__ = ["Cause", "CauseClass", "Confidence", "Diagnosis", "Evidence", "JobEnd", "Unreadable"]
