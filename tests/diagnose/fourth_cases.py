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
NOT_PLACED = (
    Case(
        "a pod for which no node is free",
        "tool_error",
        """
Events:
  Type     Reason            Age   From               Message
>>>  Warning  FailedScheduling  9s    default-scheduler  0/4 nodes are available: 4 Insufficient hugepages-2Mi.
""",
    ),
    Case(
        "a pod evicted for the memory of its node",
        "host_oom",
        """
step 3 loss: 4.0
>>>The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container bert was using 60Gi.
""",
    ),
    Case(
        "no machine to be had in the cloud",
        "tool_error",
        """
>>>sagemaker.exceptions.CapacityError: Error for Training job bert-9: Failed. Reason: CapacityError: no capacity, try another type
""",
    ),
    Case(
        "a managed job whose spot machine was taken back",
        "interrupted",
        """
step 3 loss: 4.0
>>>2026-01-04 10:10:00 Interrupted - Managed spot training interrupted
""",
    ),
    Case(
        "a bucket that refuses",
        "network",
        """
Traceback (most recent call last):
  File "cache.py", line 4, in exists
    client.head_object(Bucket=bucket, Key=key)
>>>botocore.exceptions.ClientError: An error occurred (403) when calling the HeadObject operation: Forbidden
""",
        "failed",
    ),
    Case(
        "an instance that the account's limit forbids",
        "tool_error",
        """
>>>An error occurred (VcpuLimitExceeded) when calling the RunInstances operation: more cores than this account may have
""",
    ),
    Case(
        "a block of capacity that has ended",
        "tool_error",
        """
>>>Launching an instance failed: the Capacity Block cb-77 is no longer to be used
""",
    ),
    Case(
        "nodes that Slurm does not have",
        "tool_error",
        """
>>>srun: error: Unable to allocate resources: Requested node configuration is not available
""",
    ),
    Case(
        "a bucket that asks for fewer requests",
        "network",
        """
Traceback (most recent call last):
  File "cache.py", line 4, in push
    client.put_object(Bucket=bucket, Key=key, Body=body)
>>>botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation: fewer, please
""",
        "failed",
    ),
    Case(
        "a pod that waits for a node and then runs",
        "",
        """
  Warning  FailedScheduling  9s    default-scheduler  0/4 nodes are available: 4 Insufficient cpu.
  Normal   Scheduled         1s    default-scheduler  Successfully assigned jobs/fit-0 to ip-10-0-1-9
step 1 loss: 4.0
step 2 loss: 3.9
""",
    ),
)
STARTS = (
    Case(
        "a kernel module that is not there",
        "runtime_init",
        """
$ sudo modprobe neuron
>>>modprobe: FATAL: Module neuron not found in directory /lib/modules/6.1.0-9-aws
""",
    ),
    Case(
        "a program that the runtime does not load",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "a.py", line 4, in <module>
    y = f(x)
>>>RuntimeError: [NRT] Failed to load NEFF: this core knows no such instruction
""",
        "failed",
    ),
    Case(
        "a variable that collectives need is not set",
        "collective",
        """
>>>2026-Feb-01 10:00:00.123456   71:90   ERROR  NRT:nrt_gather                NEURON_RT_ROOT_COMM_ID is not set
2026-Feb-01 10:00:00.223456   71:90   ERROR  NRT:nrt_gather                no communicator
Traceback (most recent call last):
  File "a.py", line 4, in <module>
    xm.mark_step()
RuntimeError: Bad StatusOr access: INTERNAL: nrt status code 1
""",
        "failed",
    ),
    Case(
        "pip's remark on what it has left in conflict",
        "",
        """
ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.
trainer 1.0 requires torch==2.6, but you have torch 2.8.0 which is incompatible.
Successfully installed torch-2.8.0
""",
    ),
    Case(
        "a back end that JAX does not know",
        "runtime_init",
        """
Traceback (most recent call last):
  File "a.py", line 2, in <module>
    jax.devices("neuron")
>>>RuntimeError: Unknown backend: 'neuron' requested, but there is no such platform. Platforms present are: cpu
""",
        "failed",
    ),
    Case(
        "a plugin of another version",
        "bad_usage",
        """
Traceback (most recent call last):
  File "a.py", line 2, in <module>
    jax.devices()
>>>jax.errors.JaxRuntimeError: INVALID_ARGUMENT: Mismatched plugin API version (0.1) and framework API version (0.9).
""",
        "failed",
    ),
    Case(
        "cores with a gap between them",
        "runtime_init",
        """
>>>2026-Sep-08 23:00:05.0667     8:8     ERROR   NRT:nrt_allocate_neuron_cores          a gap between the cores
""",
    ),
    Case(
        "the kernel's word on a device that does not come back",
        "runtime_init",
        """
>>>[ 4567.123456] neuron:nr_start_ncs: nd3: failed to reset after 5 tries
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

_TORCHSERVE = "2026-03-04 05:06:07,890 [INFO ] W-9001-fit_1.0-stdout org.pytorch.serve.wlm.WorkerLifeCycle - "
_RELAYED = """
Traceback (most recent call last):
  File "/job/handler.py", line 9, in load
    self.words = vocabulary.words
>>>AttributeError: this vocabulary has no words
"""


def _relayed(front: str) -> str:
    return "".join(f"{front}{line}\n" for line in _RELAYED.strip("\n").split("\n"))


RELAYED = (
    Case("a traceback that TorchServe passes on", "script_error", _relayed(_TORCHSERVE), "failed"),
    Case(
        "a traceback on the error stream that TorchServe passes on as a warning",
        "script_error",
        _relayed(_TORCHSERVE.replace("INFO", "WARN").replace("stdout", "stderr")),
        "failed",
    ),
    Case("a traceback whose lines all are information", "script_error", _relayed("INFO: "), "failed"),
    Case(
        "a traceback that a program logs as a warning and goes on",
        "",
        """
WARNING 03-04 05:06:07 [probe.py:31] Traceback (most recent call last):
WARNING 03-04 05:06:07 [probe.py:31]   File "/job/probe.py", line 9, in ask
WARNING 03-04 05:06:07 [probe.py:31] ImportError: no such plugin
serving
""",
    ),
)
FOURTH_CASES = (*CUT_OFF, *SPOKEN, *NOT_PLACED, *STARTS, *FRONTED, *RELAYED)
