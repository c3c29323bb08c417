"""Workflow engines and batch systems, which report how a task ended in a form of their own."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

WORKFLOWS = (
    Case(
        "Nextflow's report, and what the task printed in it",
        "missing_dependency",
        """
[45/5eb80e] Submitted process > TEA:STEEP (1)
ERROR ~ Error executing process > 'TEA:STEEP (1)'

Caused by:
  Process `TEA:STEEP (1)` terminated with an error exit status (127)

Command executed:

  kettle: command not found
  steep -k leaf | sort > pot.txt

Command exit status:
  127

Command output:
  (empty)

Command error:
  INFO:    Converting SIF file to temporary sandbox...
>>>  .command.sh: line 3: steep: command not found

Work dir:
  /tea/work/ab/cdef

Tip: you can replicate the issue by changing to the process work dir and entering the command `bash .command.run`
""",
    ),
    Case(
        "Nextflow's report without empty lines, of a task whose program was killed",
        "host_oom",
        """
ERROR ~ Error executing process > 'TEA:STEEP (1)'
Caused by:
  Process `TEA:STEEP (1)` terminated with an error exit status (137)
Command executed:
  steep leaf | sort > pot.txt
Command exit status:
  137
Command output:
  (empty)
Command error:
>>>  .command.sh: line 2:  4711 Killed                  steep leaf
        4712 Done                    | sort > pot.txt
Work dir:
  /tea/work/ab/cdef
""",
    ),
    Case(
        "Nextflow's report of a task that printed words which nobody knows",
        "script_error",
        """
Mar-04 05:06:07.166 [TaskFinalizer-1] ERROR nextflow.processor.TaskProcessor - Error executing process > 'STEEP (1)'

Caused by:
  Process `STEEP (1)` terminated with an error exit status (1)

Command executed:

  steep leaf

Command exit status:
  1

Command output:
  reading the leaf

Command error:
  steep, version 3
>>>  The leaf has no stem

Work dir:
  /tea/work/ab/cdef

Container:
  registry.example/tea:1
Mar-04 05:06:08.269 [main] DEBUG nextflow.Session - Session await > all processes finished
""",
    ),
    Case(
        "Nextflow's report with a traceback in it",
        "script_error",
        """
ERROR ~ Error executing process > 'STEEP (1)'

Caused by:
  Process `STEEP (1)` terminated with an error exit status (1)

Command executed:

  steep.py

Command exit status:
  1

Command error:
  Traceback (most recent call last):
    File "/tea/bin/steep.py", line 7, in <module>
      main()
    File "/tea/bin/steep.py", line 5, in main
      raise LookupError("no leaf")
>>>  LookupError: no leaf

Work dir:
  /tea/work/ab/cdef
""",
        "failed",
    ),
    Case(
        "Nextflow's report of a task that printed nothing",
        "host_oom",
        """
Error executing process > 'STEEP (1)'

Caused by:
>>>  Process `STEEP (1)` terminated with an error exit status (137)

Command executed:

  steep.py

Command exit status:
  137

Command output:
  (empty)

Work dir:
  /tea/work/ab/cdef
""",
    ),
    Case(
        "a reason of Nextflow's own",
        "script_error",
        """
ERROR ~ Error executing process > 'STEEP (1)'

Caused by:
>>>  Missing output file(s) `pot.txt` expected by process `STEEP (1)`

Command executed:

  steep.py

Command exit status:
  0

Command error:
  steeped for three minutes

Work dir:
  /tea/work/ab/cdef
""",
    ),
    Case(
        "a task that Nextflow cannot submit",
        "tool_error",
        """
ERROR ~ Error executing process > 'STEEP (1)'

Caused by:
  Failed to submit process to grid scheduler for execution

Command executed:

  sbatch .command.run

Command exit status:
  1

Command output:
>>>  sbatch: error: invalid account or partition: tea
  sbatch: error: Batch job submission failed: try another one

Work dir:
  /tea/work/ab/cdef
""",
    ),
)
