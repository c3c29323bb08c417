"""Finds out from the lines of a log what went wrong in its job. In the order in which it works:

0. `diagnoser` searches the log's bytes for words of failures; `failure_reader` reads the lines that hold one.
1. `statements` splits a line into what was printed in it; `headers` tell the level, and who printed it (compiler,
   runtime, tool, rank).
2. `tracebacks` follows the Python tracebacks of each process; the first exception of a chain counts. `messages` follows
   the text of a failed compile to the line that names the reason.
3. `recognizers` is the table of known failures: compiler codes, runtime statuses, wordings from the specifications.
   `general` and `exceptions` judge wordings that are not in it, by levels, first words and names. Warnings, help texts
   and dumps for support are no failures (`no_failures`), whatever words they hold. `headings` and `printed_objects`
   follow an error to the reason on the lines below it, `suspects` to one above.
4. `findings` counts as one failure what is printed often and by many ranks.
5. `ending` reads the last lines: do they show success?
6. `ranking` decides what is a failure, what was overcome, what is a consequence, and what is the cause.
7. The result has a code for what to do about each cause (`advice`); `views/cause_advice.py` has the sentences, and
   `ingest/advised.py` adds them.
"""

from __future__ import annotations

# Only the result: every screen shows one, and `diagnoser`, which makes it, takes a quarter of a second to import.
from neuron_top.events.diagnosis import Cause, CauseClass, Confidence, Diagnosis, Evidence, JobEnd, LastWait, Unreadable

__all__ = ["Cause", "CauseClass", "Confidence", "Diagnosis", "Evidence", "JobEnd", "LastWait", "Unreadable"]
