"""More logs of our own: what ends a program first, what only follows, and what a program helps itself out of."""

from __future__ import annotations

from tests.diagnose.cases import Case

COMPILER = (
    Case(
        "a code of the compiler whose reason stands on the next lines",
        "compile_error",
        """
>>>Module nc03/sg01: [NLA007] Unhandled exception with message:
tensorizer(output tensor: float32<3 x 5> $17[row_2]): Shape of the wide copy
""",
    ),
    Case(
        "whom to ask is no reason, the assertion above it is",
        "compile_error",
        """
>>>wide_sched: /opt/build/neuroncc/wide/spill/Wide.cpp:12: void Wide::Check(): Assertion `live' failed.
Aborted (core dumped)
05/02/2026 10:00:00 PM ERROR [neuron-cc]: ***************************************************************
05/02/2026 10:00:00 PM ERROR [neuron-cc]:  An Internal Compiler Error has occurred
05/02/2026 10:00:00 PM ERROR [neuron-cc]: ***************************************************************
05/02/2026 10:00:00 PM ERROR [neuron-cc]:
05/02/2026 10:00:00 PM ERROR [neuron-cc]: Please contact Wide Support and tell it the following.
""",
    ),
    Case(
        "what the compiler ends with comes before what it went on from",
        "compile_error",
        """
2026-05-02T10:00:00Z ERROR 3449 [WidePart]:   ERROR: No part takes the lone wire
2026-05-02T10:24:00Z INFO 3468 (sg02) [WideAllocator::Rep]:   linearize and check
>>>2026-05-02T10:24:00Z FATAL 3468 (sg02) [WideAllocator::Rep]: Wide input, 3 names have no value
""",
    ),
    Case(
        "MLIR is a compiler's",
        "compile_error",
        """
>>>loc("custom-call.7"("wide.py":12:0)): error: 'wide.copy' op failed to verify that both sides are alike
Subcommand returned with exitcode=1
""",
    ),
)
RUNTIME = (
    Case(
        "what the runtime cannot give back was never taken",
        "runtime_init",
        """
2026-May-02 10:00:00.123456   512:512   ERROR  TDRV:wide_notification_destroy    Wide rings not initialized!
2026-May-02 10:00:00.123460   512:512   ERROR  TDRV:tdrv_destroy                 TDRV not initialized
>>>2026-May-02 10:00:00.123470   512:512   ERROR   NRT:nrt_init                  Failed to initialize devices, error:7
""",
    ),
    Case(
        "a stamp of the runtime without parts of a second",
        "runtime_oom",
        ">>>2026-May-02 10:00:00 ERROR  TDRV:wide_mem  Failed to allocate wide rings, no memory is left\n",
    ),
    Case(
        "one core that does not start",
        "runtime_init",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in <module>
    device = xla_device()
>>>RuntimeError: Bad StatusOr access: INTERNAL: NC6 init failed: NRT_FAILURE (1)
""",
    ),
    Case(
        "no device on a node",
        "runtime_init",
        ">>>neuron-device-plugin: 2026/05/02 10:00:00 Could not find any Neuron devices on this node: exit status 1\n",
    ),
    Case(
        "what the driver tells the kernel",
        "runtime_init",
        """
[   33.123456] neuron: module verification failed: signature and/or required key missing - tainting kernel
>>>[   34.123456] neuron:wide_init: nd2: wide engine 3 failed to start: -110
""",
    ),
    Case(
        "no way between two devices",
        "collective",
        """
>>>2026-May-02 10:00:00.0924 512:514 [3] wide.cc:36 CCOM WARN No transport found between devices 3 and 4. Wide groups?
2026-May-02 10:00:00.0925 512:514 ERROR   ENC:wide_init          failed wide request to NCCL
""",
    ),
)
WORKERS = (
    Case(
        "Ray takes a worker's memory",
        "host_oom",
        ">>>[2026-05-02 10:00:00,260 E 99 101] (raylet) wide.cc:12: [0] Killing worker with the latest task to free up memory.\n",
    ),
    Case(
        "a trial's heading follows from the worker that died",
        "script_error",
        """
>>>2026-05-02 10:00:00,472\tWARNING worker.py:12 -- A worker died or was killed by an unexpected system error. \
Worker PID: 93 There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer.
2026-05-02 10:00:01,509\tERROR wide_runner.py:98 -- Trial Wide_b13e7_00000: Error processing event.
""",
    ),
    Case(
        "a step of Slurm that was canceled, and whose daemon was ended as well",
        "interrupted",
        """
>>>[2026-05-02T10:00:00.500] [77.0] error: *** STEP 77.0 ON box-7 CANCELLED AT 2026-05-02T10:00:00 ***
[2026-05-02T10:01:00.002] [77.0] error: *** STEP 77.0 STEPD TERMINATED ON box-7 AT 2026-05-02T10:01:00 DUE TO JOB NOT \
ENDING WITH SIGNALS ***
""",
    ),
    *(
        Case(
            f"a job that ended by signal {signal}, as Slurm's controller tells it",
            cause_class,
            f"""
[2026-05-02T10:00:00.509] sched: Allocate JobId=77 NodeList=box-7 #CPUs=2 Partition=wide
>>>[2026-05-02T11:00:00.377] _job_complete: JobId=77 WTERMSIG {signal}
""",
            "failed",
        )
        for signal, cause_class in ((9, "host_oom"), (15, "interrupted"), (11, "script_error"))
    ),
    Case(
        "a job's exit status, as Slurm's controller tells it",
        "script_error",
        ">>>[2026-05-02T11:00:00.377] _job_complete: JobId=77 WEXITSTATUS 3\n",
        "failed",
    ),
    Case(
        "a node that Slurm lost",
        "interrupted",
        """
>>>srun: error: Node failure on box-7
slurmstepd: error: *** STEP 77.0 ON box-1 CANCELLED AT 2026-05-02T10:00:00 DUE TO NODE FAILURE, SEE THE LOG ***
""",
    ),
    Case(
        "what Kubeflow says of a job whose workers failed",
        "script_error",
        """
status:
  conditions:
>>>    message: WideJob llama is failed because 2 Worker replica(s) failed.
    reason: WideJobFailed
""",
    ),
    Case(
        "an address that is not reached",
        "network",
        ">>>ERROR - wide.training - uncaught exception: : Unable to connect to endpoint\n",
    ),
)
HELPED = (
    Case(
        "a library that the loader does without",
        "",
        "ERROR: ld.so: object '/opt/libwide.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): "
        "ignored.\nWide: 3 of 3\n",
    ),
    Case(
        "a text that explains what a traceback is",
        "",
        "Answer: Traceback (most recent call last) means that Python tells where it was.\nQuestion: what else\n",
    ),
    Case(
        "an error that a training went on from, its losses without a colon",
        "",
        "ERROR - wide.store - could not keep the wide samples\n"
        + "".join(f"iter {step}: loss {9 - step}.5, time 3ms\n" for step in range(6)),
    ),
    Case(
        "a volume that was mounted before its container started",
        "",
        """
  Type     Reason       Age    From     Message
  Warning  FailedMount  5m30s  kubelet  MountVolume.SetUp failed for volume "wide": failed to sync configmap cache: \
timed out waiting for the condition
  Normal   Started      5m3s   kubelet  Started container train
""",
    ),
    Case(
        "a volume that Kubernetes waits for in vain",
        "tool_error",
        """
  Type     Reason       Age    From     Message
>>>  Warning  FailedMount  5m30s  kubelet  MountVolume.SetUp failed for volume "wide": timed out waiting for the condition
""",
    ),
    Case(
        "a folder that is not there, and the one that is taken instead",
        "",
        """
slurmstepd: error: couldn't chdir to `/wide/work': No such file or directory: going to /tmp instead
#       size         count    type   redop     time   algbw
     1048576        262144   float     sum    33.43   31.37
""",
    ),
)
TENTH_CASES = (*COMPILER, *RUNTIME, *WORKERS, *HELPED)
