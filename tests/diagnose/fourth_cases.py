"""A fourth set of logs of our own: logs that are cut off, pasted or fronted, and jobs that were never placed."""

from __future__ import annotations

from tests.diagnose.cases import Case

CUT_OFF = (
    Case(
        "a log that ends inside a traceback",
        "script_error",
        """
step 3 loss: 4.0
Traceback (most recent call last):
  File "fit.py", line 4, in <module>
    main()
  File "/job/fit.py", line 44, in main
>>>    return self.forw
""",
        "failed",
    ),
    Case(
        "a log that ends inside a traceback behind the name of a pod",
        "script_error",
        """
fit-0 main Traceback (most recent call last):
>>>fit-0 main   File "/job/fit.py", line 44, in main
""",
        "failed",
    ),
    Case(
        "a traceback whose exception has no shape, and many lines behind it",
        "",
        """
Traceback (most recent call last):
  File "fit.py", line 4, in probe
    ask()
no answer, we go on
loading shards
compiling
ready
""",
    ),
)
FOURTH_CASES = CUT_OFF
