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
    Case(
        "an error of the runtime behind a progress bar",
        "runtime_oom",
        """
 0%|   | 1/99 [00:09<19:32,  9.60s/it]
>>> 0%|   | 1/99 [00:09<19:32,  9.60s/it]2026-Mar-04 05:06:07.890123 77:78 ERROR  TDRV:some_reserve                  Number of pages requested exceeded the max number of pages allowed (18 of 16)
2026-Mar-04 05:06:07.890200 77:78 ERROR  NMGR:stage                           Failed to stage graph: kelf-0.json to NeuronCore
""",
    ),
)
STAGES = (
    Case(
        "an exception of the compiler's back end, and a message that only says that a stage failed",
        "compile_crashed",
        """
terminate called after throwing an instance of 'std::runtime_error'
>>>  what():  the loop needs more registers than there are
7# _PyObject_MakeTpCall in /job/bin/python3
2026-03-04T05:06:07Z ERROR 77 [neuronx-cc]: ***************************************************************
2026-03-04T05:06:07Z ERROR 77 [neuronx-cc]:  An Internal Compiler Error has occurred
2026-03-04T05:06:07Z ERROR 77 [neuronx-cc]: ***************************************************************
2026-03-04T05:06:07Z ERROR 77 [neuronx-cc]: Error message:  Walrus driver failed to complete
""",
    ),
    Case(
        "a check of the first compiler's C++ in front of its banner",
        "compile_error",
        """
>>>SG-ERROR: File /build/src/neuroncc/compiler/be/step.cpp:20, Assertion 'step >= least' failed: the step is too small
03/04/2026 05:06:07 AM ERROR [neuron-cc]: ***************************************************************
03/04/2026 05:06:07 AM ERROR [neuron-cc]:  An Internal Compiler Error has occurred
03/04/2026 05:06:07 AM ERROR [neuron-cc]: ***************************************************************
03/04/2026 05:06:07 AM ERROR [neuron-cc]: Error message:  Non-zero exit status (1) for command: /job/stargazer.exe
""",
    ),
    Case(
        "a check of a library",
        "script_error",
        """
>>>python3: ring.c:20: ring_push: Assertion `n < size' failed.
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "a compiler that was killed, told at level warning",
        "compile_killed",
        """
>>>...WARNING:Neuron:The neuron-cc (neuron compiler) process was killed (SIG_KILL).  The host may be short of memory
WARNING:Neuron:torch.neuron.trace failed on _NeuronGraph$7; falling back to native python function call
RuntimeError: No operations were successfully partitioned and compiled to neuron for this model - aborting trace!
""",
    ),
    Case(
        "a compile that ends with a status of 1",
        "compile_error",
        """
Traceback (most recent call last):
  File "/job/export.py", line 9, in <module>
    export()
>>>subprocess.CalledProcessError: Command '['neuronx-cc', 'compile', '--target=trn1']' returned non-zero exit status 1.
""",
        "failed",
    ),
    Case(
        "an exception that quotes the one of its subprocess",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/registry.py", line 9, in inspect
    raise RuntimeError(text)
RuntimeError: the subprocess has failed:
Traceback (most recent call last):
  File "/job/model.py", line 2, in <module>
    import parts
>>>AttributeError: this version has no such operator
""",
        "failed",
    ),
    Case(
        "a launcher that stops workers before it says which one ended",
        "script_error",
        """
[2026-03-04 05:06:07,890] torch.distributed.elastic.multiprocessing.api: [WARNING] Sending process 78 closing signal SIGTERM
>>>[2026-03-04 05:06:08,890] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 1 (pid: 77) of binary: python3
""",
        "failed",
    ),
)
RUNTIME = (
    Case(
        "a client of PJRT without devices",
        "runtime_init",
        """
>>>RuntimeError: Bad StatusOr access: INVALID_ARGUMENT: PJRT_Client_Create: error condition !(devices > 0):
""",
    ),
    Case(
        "a program file that is broken",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 9, in step
>>>RuntimeError: INVALID_ARGUMENT: NEFF is invalid: /job/cache/model.neff
""",
        "failed",
    ),
    Case(
        "cores that cannot be allocated are no memory",
        "runtime_init",
        """
>>>2026-Mar-04 05:06:07.890123 77:78 ERROR   NRT:nrt_allocate_neuron_cores       Failed to allocate what was asked for
""",
    ),
    Case(
        "a worker whose peers do not come",
        "collective",
        """
>>>2026-Mar-04 05:06:07.8901 77:78 [31] bootstrap.cc:89 CCOM WARN Timeout waiting for incoming connection (waited 120 sec)
2026-Mar-04 05:06:07.8905 77:79 [29] include/socket.h:579 CCOM WARN Timeout waiting for RX (waited 120 sec) - retrying
""",
    ),
    Case(
        "the status of a pod, and the event that states why",
        "tool_error",
        """
NAME    READY   STATUS                     RESTARTS   AGE
fit-0   0/2     UnexpectedAdmissionError   0          5s
Events:
>>>  Warning  UnexpectedAdmissionError  9s   kubelet  Allocate failed due to rpc error: code = Unknown desc = no group of devices
""",
    ),
    Case(
        "a daemon that is given no devices",
        "runtime_init",
        """
>>>nrtd[1]: [NMGR:kmgr_init_mlas] No devices specified
nrtd[1]: [NRTD:InitTongas] Failed to initialize devices, error:2
""",
    ),
)
SCHEDULED = (
    Case(
        "a step of Slurm whose other tasks are stopped after one has ended",
        "script_error",
        """
10: step 30 loss 2.1
>>>srun: error: n-3: task 9: Exited with exit code 1
srun: Terminating StepId=77.0
slurmstepd: error: *** STEP 77.0 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
srun: error: n-1: tasks 0-7: Terminated
""",
        "failed",
    ),
    Case(
        "a job that somebody cancels",
        "interrupted",
        """
slurmstepd: error: *** STEP 77.0 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
>>>slurmstepd: error: *** JOB 77 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
""",
        "failed",
    ),
    Case(
        "a node that an autoscaler cannot add",
        "tool_error",
        """
>>>  Warning  FailedScheduling  9s   karpenter   Failed to schedule pod, incompatible with nodepool "trn", no instance type has enough
""",
    ),
    Case(
        "capacity that does not come after a retry",
        "tool_error",
        """
2026-03-04 05:06:07 Starting - Insufficient capacity error from EC2 while launching instances, retrying!
>>>2026-03-04 06:06:07 Failed - CapacityError: no such instance is free
""",
    ),
    Case(
        "a run of Ray that only points at the exception of its worker",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/driver.py", line 9, in <module>
    trainer.fit()
ray.train.base_trainer.TrainingFailedError: the run has failed, see above
ray.exceptions.RayTaskError(LookupError): ray::_Inner.train() (pid=70, ip=10.0.0.7)
  File "/job/fit.py", line 12, in train
>>>LookupError: no shard for this worker
""",
        "failed",
    ),
    Case(
        "a model server that does not answer",
        "network",
        """
Traceback (most recent call last):
  File "/job/ask.py", line 9, in <module>
    answer = stub.Predict(request)
>>>grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:
        status = StatusCode.UNAVAILABLE
""",
        "failed",
    ),
)
BARS = (
    Case(
        "an exception behind a progress bar",
        "script_error",
        """
>>>  0%|          | 0/10 [00:00<?, ?it/s]RuntimeError: the tensor has no storage
""",
    ),
    Case(
        "a check of C++ between two progress bars",
        "script_error",
        """
>>>Epoch ... (1/10):   0%|     | 0/10 [00:00<?, ?it/s]F0304 05:06:07.890123   77 array.h:41] Check failed: n < size      | 0/118 [00:00<?, ?it/s]
""",
        "failed",
    ),
    Case(
        "a thread's number in the compiler's header",
        "compile_error",
        """
2026-03-04T05:06:07Z ERROR 77 140579525248832 [neuronxcc.driver.CommandDriver]:  An Internal Compiler Error has occurred
2026-03-04T05:06:07Z ERROR 77 140579525248832 [neuronxcc.driver.CommandDriver]: *****************************
>>>2026-03-04T05:06:07Z ERROR 77 140579525248832 [neuronxcc.driver.CommandDriver]: Error message:  an axis is lost
""",
    ),
    Case(
        "words of the runtime without a blank behind the function",
        "runtime_exec",
        """
2026-Mar-04 05:06:07.8901 77:77 ERROR TDRV:exec_consume_status Missing notification: (end:2)
>>>2026-Mar-04 05:06:07.8901 77:77 ERROR TDRV:consume_start_notifications(FATAL-RT-UNDEFINED-STATE) model start timeout (2000 ms)
""",
    ),
    Case(
        "a compiler that crashed, told at level warning",
        "compile_crashed",
        """
>>>WARNING:Neuron:The neuronx-cc (neuron compiler) crashed (SEGFAULT). Please tell somebody
Traceback (most recent call last):
  File "/job/export.py", line 9, in <module>
RuntimeError: neuronx-cc failed with -11
""",
        "failed",
    ),
    Case(
        "a compiler's last words behind the progress that it draws",
        "compile_error",
        """
0%   10   20   30   40   50   60   70   80   90   100%
>>>*****************************.....................03/04/2026 05:06:07 AM CRITICAL [WalrusDriver]: too much to load again
""",
    ),
    Case(
        "the number of a core in front of the word failed is no count",
        "runtime_exec",
        """
step 3 loss 2.0
>>>2026-Mar-04 05:06:07.890123 77:78 ERROR  TDRV:some_execute       [nec_dev 0] MLA 0 compute core 0 failed to post the request
2026-Mar-04 05:06:07.890200 77:78 ERROR  NMGR:dlr_infer          Inference completed with err: 1
""",
    ),
    Case(
        "counts of none",
        "",
        """
ERROR summary of the checks: 12 passed, 0 failed
ERROR the check has ended with 0 errors
0 failed, 3 skipped
""",
    ),
)
FOURTH_CASES = (*CUT_OFF, *SPOKEN, *NOT_PLACED, *STARTS, *FRONTED, *RELAYED, *STAGES, *RUNTIME, *SCHEDULED, *BARS)
