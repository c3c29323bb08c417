"""A third set of logs of our own: what stands in front of lines, tools around a job, codes of the runtime."""

from __future__ import annotations

from tests.diagnose.cases import Case

_TRACEBACK = """
Traceback (most recent call last):
  File "/job/fit.py", line 12, in <module>
    run(config)
  File "/job/fit.py", line 7, in run
    shard = shards[rank]
>>>LookupError: no shard for this worker
"""
_FRONTS = {
    "TorchX": "fit/0 [5]:",
    "SageMaker's MPI": "[1,mpirank:5,algo-1]<stderr>:",
    "SageMaker on this machine": "algo-2-q8z1k  | ",
    "pod and container": "fit-worker-5 trainer ",
    "a quotation": "> ",
    "a table with stamps": "| 2026-03-04T05:06:07.890Z | ",
    "a logger in brackets": "[2026-03-04 05:06:07,890] [ERROR] [starter] ",
    "host and rank": "node-5: [rank5]: ",
    "task and rank": " 5: [rank5]: ",
    "a container's runtime without fractions": "2026-03-04T05:06:07Z stderr F ",
}


def _fronted(front: str) -> str:
    return "".join(f"{front}{line}\n" for line in _TRACEBACK.strip("\n").split("\n"))


THIRD_CASES = (
    *(Case(f"a traceback behind {name}", "script_error", _fronted(front), "failed") for name, front in _FRONTS.items()),
    Case(
        "words in front of a traceback's heading alone",
        "script_error",
        """
step 3 of 9 Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
>>>LookupError: no shard for this worker
""",
        "failed",
    ),
    Case(
        "two tracebacks behind names of pods, mixed",
        "script_error",
        """
fit-0 main Traceback (most recent call last):
fit-1 main Traceback (most recent call last):
fit-0 main   File "/job/fit.py", line 7, in run
fit-1 main   File "/job/fit.py", line 8, in run
fit-1 main     check(x)
>>>fit-1 main LookupError: no shard for this worker
fit-0 main     check(x)
fit-0 main BufferError: nothing to read
""",
        "failed",
    ),
    Case(
        "the compiler's C++ aborts",
        "compile_error",
        """
Invoking SomePass pass
>>>2026-03-04 05:06:07.890123: F hilo/MLIRPasses/Transforms/SomePass.cc:77] false && "the buffer is read behind its end."
""",
    ),
    Case(
        "a C++ check of the framework ends the process",
        "script_error",
        """
>>>2026-03-04 05:06:07.890123: F torch_xla/csrc/some.cc:77] Check failed: devices_ > 0
""",
        "failed",
    ),
    Case(
        "the runtime's start, in a function whose name says so",
        "runtime_init",
        """
>>>2026-Mar-04 05:06:07.890123  4711:4711  ERROR   NRT:nrt_init                                Cannot go on with this driver
""",
    ),
    Case(
        "a hardware error by its number",
        "runtime_exec",
        """
>>>2026-Mar-04 05:06:07.890123  4711:4711  ERROR  NMGR:dlr_infer                                Inference completed with err: 1202
""",
    ),
    Case(
        "a hang of collectives by its number",
        "collective",
        """
>>>RuntimeError: the call of nrt_execute ended with status=1200
""",
    ),
    Case(
        "the driver's module cannot be built",
        "runtime_init",
        """
Building initial module for 6.8.0-99-aws
ERROR: Cannot write the report
>>>Error! Bad return status for module build on kernel: 6.8.0-99-aws (x86_64)
dpkg: error processing package some-dkms (--configure):
""",
    ),
    Case(
        "a C compiler names the place",
        "script_error",
        """
make: Entering directory '/usr/src/x'
>>>/usr/src/x/ring.c:41:3: error: too few arguments to function 'ring_new'
make[1]: *** [Makefile:7: ring.o] Error 1
make: *** [Makefile:2: all] Error 2
""",
        "failed",
    ),
    Case(
        "TorchScript's own traceback",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/serve.py", line 12, in <module>
    model(x)
RuntimeError: The following operation failed in the TorchScript interpreter.
Traceback of TorchScript, serialized code (most recent call last):
  File "code/__torch__/wrapper.py", line 7, in forward
    _0 = ops.neuron.forward(x)
>>>RuntimeError: expected 4 inputs, got 3
""",
        "failed",
    ),
    Case(
        "a number with a point in front of the word failed",
        "tool_error",
        """
>>>srun: error: Task launch for 77.0 failed on node n-1: the credential has expired
srun: error: Application launch failed: the credential has expired
""",
    ),
    Case(
        "a back end of torch.distributed gives up",
        "collective",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
    dist.init_process_group("x")
>>>torch.distributed.DistBackendError: the library said: unhandled system error
""",
    ),
    Case(
        "gloo waits in vain",
        "collective",
        """
[rank1]:[E101 05:06:07.890 ProcessGroupGloo.cpp:144] Rank 1 failed to pass monitoredBarrier in 600000 ms
>>>RuntimeError: [gloo/transport/tcp/some.cc:81] Timed out waiting 600000ms for recv operation to complete
""",
    ),
    Case(
        "one of two parts stays on the CPU",
        "",
        """
INFO:Neuron:Compile command returned: 1
WARNING:Neuron:trace failed on part 7; falling back to native python function call
ERROR:Neuron:neuron-cc failed with the following command line call:
INFO:Neuron:Neuron successfully compiled 1 sub-graphs, 2 in all
Saved the model
""",
        recovered=True,
    ),
    Case(
        "a managed compile that fails",
        "compile_error",
        """
>>>UnexpectedStatusException: Error for Compilation job x: Failed. Reason: ClientError: CompilationError: the model has an operator that is unknown
""",
    ),
    Case(
        "a managed job that crashed",
        "script_error",
        """
2026-03-04 05:06:07 Failed - Training job failed
>>>sagemaker.exceptions.UnexpectedStatusException: Error for Training job x: Failed. Reason: AlgorithmError: Exit Code: 139
""",
    ),
    Case(
        "yum knows no such package",
        "missing_dependency",
        """
Loaded plugins: update-motd
>>>No package kernel-headers-6.8.0 available.
Error: Nothing to do
""",
    ),
    Case(
        "errors and failures that pytest lists",
        "script_error",
        """
ERROR tests/test_export.py::test_load[small]
FAILED tests/test_export.py::test_save - LookupError
>>>E       LookupError: no shard for this worker
""".replace("E       ", ""),
    ),
    Case(
        "a pod that is evicted",
        "interrupted",
        """
Events:
  Type     Reason     Age   From     Message
>>>  Warning  Evicted    9s    kubelet  The node was low on resource: ephemeral-storage. Container main was using 40Gi.
  Normal   Killing    9s    kubelet  Stopping container main
""",
    ),
    Case(
        "an image that the registry does not have",
        "network",
        """
Events:
  Normal   Pulling    9s    kubelet  Pulling image "reg.example.org/fit:9"
>>>  Warning  Failed     8s    kubelet  Failed to pull image "reg.example.org/fit:9": code = NotFound desc = no such tag
  Warning  Failed     8s    kubelet  Error: ErrImagePull
""",
    ),
    Case(
        "a limit of memory that Slurm enforces",
        "host_oom",
        """
>>>slurmstepd: error: Job 77 exceeded memory limit (9000 > 8000), being killed
""",
    ),
    Case(
        "a unit of systemd that ends with a status",
        "script_error",
        """
Mar 04 05:06:06 n-1 fit[77]: loading
>>>Mar 04 05:06:07 n-1 systemd[1]: fit.service: Main process exited, code=exited, status=3/NOTIMPLEMENTED
""",
    ),
    Case(
        "a unit of systemd that is killed",
        "host_oom",
        """
>>>Mar 04 05:06:07 n-1 systemd[1]: fit.service: Main process exited, code=killed, status=9/KILL
""",
    ),
    Case(
        "a unit of systemd that ends well",
        "",
        """
Mar 04 05:06:07 n-1 systemd[1]: fit.service: Deactivated successfully.
""",
    ),
    Case(
        "an array that does not fit the host",
        "host_oom",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
>>>numpy._core._exceptions._ArrayMemoryError: Unable to allocate 90.0 GiB for an array
""",
    ),
    Case(
        "a tensor that does not fit the host",
        "host_oom",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
>>>RuntimeError: DefaultCPUAllocator: not enough memory: you tried to allocate 99 bytes.
""",
    ),
    Case(
        "a variable that the job's script lacks",
        "bad_usage",
        """
>>>./start.sh: line 3: WORLD: unbound variable
""",
    ),
    Case(
        "a shell says that the job was terminated",
        "interrupted",
        """
step 3 loss 2.0
>>>./start.sh: line 9:  4711 Terminated              python fit.py
""",
    ),
    Case(
        "words about something else that terminated",
        "",
        """
Terminated 3 idle workers, 5 are left
step 3 loss 2.0
""",
    ),
)
