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
SPOKEN = (
    Case(
        "a remark of the compiler in front of the reason",
        "compile_error",
        """
2026-01-05T07:00:00Z ERROR 71 [neuronxcc.driver.CommandDriver]: *****************************
2026-01-05T07:00:00Z ERROR 71 [neuronxcc.driver.CommandDriver]:  An Internal Compiler Error has occurred
2026-01-05T07:00:00Z ERROR 71 [neuronxcc.driver.CommandDriver]: *****************************
2026-01-05T07:00:00Z USER 71 [neuronxcc.driver.CommandDriver]: Warning: a location that nothing reads: {scale.3}@SB<0,0>
>>>[NLA001]  Unhandled exception with message: a tile lies outside of its buffer
""",
    ),
    Case(
        "the heading of torchrun's report is not the reason",
        "script_error",
        """
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
==============================
jobs/pretrain.py FAILED
------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 0 (local_rank: 0)
>>>  exitcode  : -11 (pid: 8123)
  traceback : Signal 11 (SIGSEGV) received by PID 8123
==============================
""",
        "failed",
    ),
    Case(
        "a vendor's tool with the Go logger's header on a terminal",
        "tool_error",
        """
instance-type: trn1.2xlarge
>>>FATA[0003] Failed to ask the driver                      error="no answer from the kernel module"
""",
    ),
    Case(
        "a panic of Rust ends its process",
        "script_error",
        """
loading 3 programs
>>>thread 'main' panicked at src/runner.rs:31:5:
assertion failed: handle.is_some()
""",
        "failed",
    ),
    Case(
        "a job that Slurm does not take",
        "tool_error",
        """
>>>sbatch: error: invalid account or partition: trn7
sbatch: error: Batch job submission failed: try another one
""",
    ),
)
FRONTED = (
    Case(
        "a table of a log service, stamps between bars",
        "script_error",
        """
| 1767225600123 | loading
| 1767225600200 | terminate called after throwing an instance of 'c10::Error'
>>>| 1767225600201 |   what():  a tuple was expected
| 1767225600202 | frame #3: python3() [0x51a2]
""",
        "failed",
    ),
    Case(
        "a name and a stamp in front of the level",
        "script_error",
        """
[Keeper] 2026-01-01T00:00:01 INFO 16 devices
>>>[Keeper] 2026-01-01T00:00:02 ERROR device 4 does not answer, the job is stopped
""",
    ),
    Case(
        "a failed compile whose lines SkyPilot marks",
        "compile_error",
        """
(head, rank=0, pid=71) ..waiting for the server
>>>(head, rank=0, pid=71) 2026-06-21 09:33:40.000866:  38  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with ['neuronx-cc', 'compile', '/tmp/x.pb']: 2026-06-21T09:33:40Z
(head, rank=0, pid=71) .
(head, rank=0, pid=71) 2026-06-21 09:33:40.000867:  38  ERROR ||NEURON_CC_WRAPPER||: Compilation failed for /tmp/x.pb after 0 retries.
""",
    ),
)
FOURTH_CASES = (*CUT_OFF, *SPOKEN, *FRONTED)
