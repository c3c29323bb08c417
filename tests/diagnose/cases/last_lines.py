"""Last words: lines that only as the last one of a log say why a program ended, and those that never do."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

_REASONS = (
    ("a file that is not there, in the words of the C library", "fit.py: No such file or directory"),
    ("a port that another program uses", "port 8000 is already in use"),
    ("an argument of the wrong kind, and the end", "Unknown model 'tea'. Exiting."),
    ("a program that gives up", "Gave up after 5 attempts to reach the broker"),
    ("a program that says first that it ends", "Aborting: checkpoint is older than the code"),
    ("a program that wants a variable", "You must set TEA_TOKEN to use this model"),
    ("a configuration that is refused", "2026-05-02 10:00:00 Invalid configuration: batch must be positive"),
    ("too few devices, numbers before the end", "Not enough devices: need 8, found 4 of them"),
    ("a model that may not be read", "Access to model tea/large is restricted. You must log in to read it."),
    ("a library that does not exist, on a rank", "[rank3]: The file libtea.so.1 does not exist."),
)
_NO_REASONS = (
    ("a warning", "WARNING: the file tea.cfg does not exist."),
    ("a statistic of what is invalid", "Invalid samples: 12"),
    ("a list of what is missing", "Missing keys: []"),
    ("an end as it should be", "Exiting normally after 3 epochs of work"),
    ("an end for want of work", "No more batches in the queue. Exiting."),
    ("what a program makes itself", "The folder out does not exist, it will be created"),
    ("a line of a list, indented", "    Unknown options are passed on"),
    ("what is ignored", "Unknown lid 'round' ignored"),
    ("what is put off", "delaying the setup of lid, since tea-utils is not readable"),
    ("what only a terminal has", "locale: Cannot set LC_CTYPE to default locale: No such file or directory"),
)
_TOOLS_ERRORS = (
    ("bad_usage", "brew.py: error: unrecognized arguments: --leaf 8"),
    ("missing_dependency", "ERROR: No matching distribution found for tea==2.1.2"),
    ("tool_error", "srun: error: Unable to create step for job 4711: Memory required by task is not available"),
    ("tool_error", "FATAL:   container creation failed: mount hook function failure: /tea does not exist"),
)
"""What tools print as they exit."""
LAST_LINES = (
    *(
        Case(f"a tool's error ends the job: {line[:20]}", cause_class, f"starting\n>>>{line}\n", "failed")
        for cause_class, line in _TOOLS_ERRORS
    ),
    *(Case(f"last words: {name}", "script_error", f"starting\nstep 1\n>>>{line}\n") for name, line in _REASONS),
    *(Case(f"last words in the middle: {name}", "", f"starting\n{line}\nstep 1\n") for name, line in _REASONS),
    *(Case(f"no last words: {name}", "", f"starting\nstep 1\n{line}\n") for name, line in _NO_REASONS),
    Case("no last words: a job that has finished", "", "Training finished successfully\nport 8000 is already in use\n"),
    Case(
        "last words below a failure",
        "missing_dependency",
        ">>>bash: line 3: brew9: command not found\nYou must set TEA_TOKEN to use this model\n",
    ),
)
