"""A fifth set of logs of our own: what PyTorch's C++, CUDA, Ray, MPI and JAX say, and what only follows from it."""

from __future__ import annotations

from tests.diagnose.cases import Case

HEADERS = (
    Case(
        "PyTorch's C++ in May, whose month has one digit",
        "script_error",
        """
[rank2]:[W503 07:08:09.123456789 SomeStore.cpp:12] a warning that is none of an error
>>>[rank2]:[E503 07:08:10.123456789 SomeStore.cpp:34] the table of peers could not be written
""",
    ),
    Case(
        "PyTorch's C++ without a stamp: a warning",
        "",
        """
[W SomeStore.cpp:12] [c10d] the first of two tries has failed with an error
[I SomeStore.cpp:13] the second error is none
""",
    ),
    Case(
        "a progress bar with values behind its speed",
        "collective",
        """
>>>Epoch 2:  41%|████      | 410/1000 [0:41:00<0:59:00,  1.50s/it, loss=1.9, norm=0.3, step=410][E SomeGroup.cpp:12] [Rank 3] a collective operation timed out
[E SomeGroup.cpp:12] [Rank 5] a collective operation timed out
""",
    ),
)
GPUS = (
    Case(
        "the memory of a GPU is not the host's",
        "runtime_oom",
        """
step 2 loss 3.0
Traceback (most recent call last):
  File "fit.py", line 7, in step
    loss.backward()
>>>torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 1 has a total capacity of 8.00 GiB
""",
        "failed",
    ),
    Case(
        "a rank whose GPU is full, and one that only sees it leave",
        "runtime_oom",
        """
n7:41:90 [0] misc/somewhere.cc:12 NCCL WARN Connection closed by remote peer n7<4001>
n7:41:90 [0] NCCL INFO somewhere.cc:13 -> 6
>>>n7:42:91 [1] include/elsewhere.h:14 NCCL WARN Cuda failure 'out of memory'
n7:42:91 [1] NCCL INFO elsewhere.cc:15 -> 1
""",
    ),
    Case(
        "an assertion of a kernel, and the watchdog that meets it",
        "runtime_exec",
        """
>>>/src/aten/native/cuda/Rows.cu:12: select: block: [3,0,0], thread: [7,0,0] Assertion `row < rows && "no such row"` failed.
/src/aten/native/cuda/Rows.cu:12: select: block: [3,0,0], thread: [8,0,0] Assertion `row < rows && "no such row"` failed.
[rank1]:[E503 07:08:10.123456789 SomeGroup.cpp:34] [Rank 1] the watchdog ended with exception: CUDA error: device-side assert triggered
""",
    ),
    Case(
        "the kernel loses a GPU",
        "runtime_exec",
        """
[ 4711.000001] pcieport 0000:00:07.0: AER: Corrected error received: id=0010
>>>[ 4712.000001] NVRM: Xid (PCI:0000:07:00): 79, pid=812, GPU has fallen off the bus.
""",
    ),
    Case(
        "no GPU where the script asks for one",
        "runtime_init",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    model.cuda()
>>>AssertionError: Torch not compiled with CUDA enabled
""",
        "failed",
    ),
    Case(
        "corrected errors of a bus, and advice on assertions",
        "",
        """
[ 4711.000001] pcieport 0000:00:07.0: AER: Corrected error received: id=0010
[ 4711.000002] pcieport 0000:00:07.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
UserWarning: CUDA initialization: Found no NVIDIA driver on your system.
""",
    ),
)
HOST_MEMORY = (
    Case(
        "Ray's monitor ends a worker",
        "host_oom",
        """
(fit pid=41, ip=10.0.0.7) step 3
>>>(raylet) Memory on the node (IP: 10.0.0.7, ID: 0a1b) where the task was running was 31.00GB / 32.00GB (0.97), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: 2c3d).
(raylet) Consider provisioning more memory on this node or reducing task parallelism.
ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.
""",
    ),
    Case(
        "Ray's older words for it",
        "host_oom",
        """
>>>(raylet) [2026-05-04 07:08:09,123 E 41 42] (raylet) some_manager.cc:12: System memory low at node 10.0.0.7, killing latest task with name fit to avoid running out of memory.
""",
    ),
    Case(
        "a data loader without shared memory, and no more",
        "host_oom",
        """
2026-05-04T07:08:09 | fit: 77 files
>>>ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
""",
    ),
    Case(
        "a launcher's return code that is a signal",
        "host_oom",
        """
[2026-05-04 07:08:09,123] [INFO] [run.py:12:end_handler] Killing subprocess 41
>>>[2026-05-04 07:08:09,124] [ERROR] [run.py:13:end_handler] ['/usr/bin/python3', '-u', 'fit.py'] exits with return code = -9
""",
    ),
    Case(
        "a launcher's return code behind the exception",
        "script_error",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    main()
>>>ValueError: no such split
[2026-05-04 07:08:09,124] [ERROR] [run.py:13:end_handler] ['/usr/bin/python3', '-u', 'fit.py'] exits with return code = 1
""",
        "failed",
    ),
)
CONSEQUENCES = (
    Case(
        "a worker raises, and ten minutes later the others have waited in vain",
        "script_error",
        """
step 41 loss 2.0
[rank3]: Traceback (most recent call last):
[rank3]:   File "/job/fit.py", line 7, in <module>
[rank3]:     main()
>>>[rank3]: ValueError: no label in shard 7
[rank0]:[E503 07:18:10.123456789 SomeGroup.cpp:34] [Rank 0] Watchdog caught collective operation timeout: it ran for 600060 milliseconds
[rank1]:[E503 07:18:10.123456789 SomeGroup.cpp:34] [Rank 1] Watchdog caught collective operation timeout: it ran for 600060 milliseconds
""",
        "failed",
    ),
    Case(
        "a collective that waited in vain, and the exception that follows from it",
        "collective",
        """
>>>[rank0]:[E503 07:18:10.123456789 SomeGroup.cpp:34] [Rank 0] Watchdog caught collective operation timeout: it ran for 600060 milliseconds
[rank0]: Traceback (most recent call last):
[rank0]:   File "/job/fit.py", line 7, in <module>
[rank0]: RuntimeError: the group was aborted
""",
        "failed",
    ),
    Case(
        "peers that left come before the worker that says why",
        "script_error",
        """
[rank1]: torch.distributed.DistBackendError: NCCL error in: somewhere.cpp:12, remote process exited or there was a network error
[rank0]: Traceback (most recent call last):
[rank0]:   File "/job/fit.py", line 7, in <module>
>>>[rank0]: IndexError: list index out of range
""",
        "failed",
    ),
    Case(
        "the agent that ends workers says no more",
        "script_error",
        """
>>>[2026-05-04 07:08:09,123] some.agent.api: [WARNING] Unable to shutdown process 41 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL
[2026-05-04 07:08:10,123] some.agent.api: [WARNING] Unable to shutdown process 42 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL
""",
    ),
    Case(
        "a task that is told of another one's end, and guesses",
        "collective",
        """
>>>E0503 07:08:09.123456 41 some_agent.cc:12] Polled an error from the service (this can be an error from this or another task).
F0503 07:08:09.123457 41 client.h:13] Terminating process. This most likely indicates that another task died. UNAVAILABLE: Either the leader was preempted/died/restarted or this task has network issues.
""",
        "failed",
    ),
    Case(
        "a node that no longer answers",
        "interrupted",
        """
step 3
>>>The node with node id: 0a1b2c and address: 10.0.0.7 has been marked dead because the detector has missed too many heartbeats from it. This can happen when a raylet crashes (OOM, preempted node, etc.)
""",
    ),
    Case(
        "an operator of TensorFlow that fails is no compile",
        "collective",
        """
>>>2026-05-04 07:08:09.123456: W tensorflow/core/framework/op_kernel.cc:12] OP_REQUIRES failed at some_ops.cc:34 : Aborted: It has been shut down. This was caused by an exception on one of the ranks or an attempt to reduce a tensor.
""",
    ),
    Case(
        "workers that part when all went well",
        "",
        """
step 9 loss 1.0
Training completed successfully.
[rank1]:[W503 07:08:10.123456789 TCPStore.cpp:12] [c10d] recvValue failed on SocketImpl(fd=3, addr=[n7]:4, remote=[n7]:5): Connection reset by peer
""",
        "finished",
    ),
)
RESOURCES = (
    Case(
        "a port that another process has, and the bar that is drawn once more",
        "network",
        """
>>>[W socket.cpp:12] [c10d] The server socket has failed to bind to [::]:4567 (errno: 98 - Address already in use).
[E socket.cpp:34] [c10d] The server socket has failed to listen on any local network address.
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    init()
torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 4567
""",
        "failed",
    ),
    Case(
        "a file that a network file system has lost",
        "script_error",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    save()
>>>RuntimeError: write(): fd 7 failed with Stale file handle
terminate called after throwing an instance of 'c10::Error'
  what():  a pointer is null
""",
        "failed",
    ),
    Case(
        "Slurm does not find the command",
        "missing_dependency",
        """
>>>slurmstepd: error: execve(): torchrun: No such file or directory
srun: error: n7: task 0: Exited with exit code 2
""",
        "failed",
    ),
    Case(
        "Slurm may not run the script",
        "script_error",
        """
>>>slurmstepd: error: execve(): fit.sh: Permission denied
srun: error: n7: task 0: Exited with exit code 13
""",
        "failed",
    ),
    Case(
        "numbers that overflow, without the heading of the traceback, and the bar that is drawn once more",
        "script_error",
        """
  4%|4         | 16/400 [05:00<1:57:56, 19.13s/it]
    raise Exception(
>>>Exception: Current loss scale already at minimum - cannot decrease it anymore. Exiting run.
  4%|4         | 17/400 [05:25<1:57:56, 19.13s/it]
""",
    ),
    Case(
        "a reader of data behind a report's margin",
        "script_error",
        """
fit.D0
>>>        | [rank0]: FileNotFoundError: Caught FileNotFoundError in DataLoader worker process 2.
        | [rank0]: Original Traceback (most recent call last):
        | [rank0]:   File "/job/data.py", line 7, in read
        | [rank0]:     data = [self.rows[i] for i in batch]
""",
    ),
    Case(
        "ranks that cannot reach each other",
        "collective",
        """
>>>[rank4]:[E503 07:08:09.123456789 SomeGroup.cpp:12] Gloo connectFullMesh failed with [somewhere/pair.cc:34] no error
[rank4]: RuntimeError: Gloo connectFullMesh failed with [somewhere/pair.cc:34] no error
""",
    ),
    Case(
        "a hub that is not asked, since the job is offline",
        "network",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    fetch()
>>>hub.utils.OfflineModeIsEnabled: Cannot reach https://hub.example/model: offline mode is enabled.
""",
        "failed",
    ),
)
WORDS = (
    Case(
        "a status and a message of the runtime, by whatever function",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    load()
>>>RuntimeError: The model was not loaded status=2 message=Invalid
""",
        "failed",
    ),
    Case(
        "an operator that the compiler cannot handle",
        "compile_error",
        """
03/04/2026 05:06:07 AM ERROR 71 [neuron-cc]: ***************************************************************
03/04/2026 05:06:07 AM ERROR 71 [neuron-cc]:  An Internal Compiler Error has occurred
03/04/2026 05:06:07 AM ERROR 71 [neuron-cc]: ***************************************************************
>>>03/04/2026 05:06:07 AM ERROR 71 [neuron-cc]: Error message:  Error handling operator: Scale_3 (type: scale)
03/04/2026 05:06:07 AM ERROR 71 [neuron-cc]: Error class:    RuntimeError
""",
    ),
    Case(
        "a compiler that torch-neuron does not find",
        "missing_dependency",
        """
WARNING:Neuron:torch.neuron.trace failed on _Graph$3; falling back to native python function call
>>>ERROR:Neuron:Please check that neuron-cc is installed and working properly.
""",
    ),
    Case(
        "a failed compile in XLA's dump of a status",
        "compile_error",
        """
2026-03-04 05:06:07.000001: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] 2 root error(s) found.
>>>2026-03-04 05:06:07.000002: E tensorflow/compiler/xla/xla_client/xla_util.cc:90]   (0) INTERNAL: neuronx-cc compilation failed.
2026-03-04 05:06:07.000003: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] 	 [[{{node Execute}}]]
2026-03-04 05:06:07.000004: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] 0 successful operations.
""",
    ),
)
HEADLESS = (
    Case(
        "a log that begins inside a traceback, behind a header on each line",
        "script_error",
        """
ERROR 05-04 07:08:09 engine.py:12]   File "/job/engine.py", line 7, in run
ERROR 05-04 07:08:09 engine.py:12]     failed = check()
>>>ERROR 05-04 07:08:09 engine.py:12] ValueError: the table has no room
ERROR 05-04 07:08:10 workers.py:34] Worker pid 41 died, exit code: -15
""",
    ),
    Case(
        "the same behind a service's header and a server's",
        "runtime_oom",
        """
2026-05-04 07:08:09.123 [Error] (Process) (Engine pid=41) ERROR 05-04 07:08:09 [core.py:12]   File "/job/core.py", line 7, in check
2026-05-04 07:08:09.124 [Error] (Process) (Engine pid=41) ERROR 05-04 07:08:09 [core.py:12]     raise ValueError(
>>>2026-05-04 07:08:09.125 [Error] (Process) (Engine pid=41) ERROR 05-04 07:08:09 [core.py:12] ValueError: 4.1 GiB are needed, which is larger than the available KV cache memory (4.0 GiB).
""",
    ),
    Case(
        "a compile that the engine quotes, and the log ends",
        "compile_error",
        """
(Engine pid=41) ERROR 05-04 07:08:09 [core.py:12]   File "/job/wrapper.py", line 7, in call
(Engine pid=41) ERROR 05-04 07:08:09 [core.py:12]     raise subprocess.CalledProcessError(code, cmd)
>>>(Engine pid=41) ERROR 05-04 07:08:09 [core.py:12] subprocess.CalledProcessError: Command '['neuronx-cc', 'compile', '--framework=XLA', '/tmp/mod
""",
    ),
    Case(
        "a stack that a program prints to show where it is",
        "",
        """
INFO reading shard 3
Stack (most recent call last):
  File "/job/fit.py", line 7, in <module>
    main()
  File "/job/fit.py", line 9, in main
    log.info("here", stack_info=True)
Epoch: 3
Shard: 4
""",
    ),
    Case(
        "what the shell says behind such a stack",
        "host_oom",
        """
Stack (most recent call last):
  File "/job/fit.py", line 7, in <module>
    main()
Shard 4
>>>Killed
""",
        "failed",
    ),
    Case(
        "frames that a log ends in, and no heading",
        "",
        """
  File "/job/fit.py", line 7, in <module>
    main()
  File "/job/fit.py", line 9, in main
""",
    ),
)
PODS = (
    Case(
        "conditions of a job whose workers were evicted",
        "interrupted",
        """
  conditions:
  - lastTransitionTime: "2026-05-04T07:08:09Z"
    message: 1/8 workers are evicted
>>>    reason: SomeJobEvicted
    status: "True"
    type: Failed
""",
    ),
    Case(
        "a rank that cannot connect",
        "collective",
        """
>>>n7:41:90 [0] misc/somewhere.cc:12 NCCL WARN startConnect: Connect to 10.0.0.7<4001> failed : Software caused connection abort
n7:41:90 [0] NCCL INFO somewhere.cc:13 -> 2
n7:41:91 [0] misc/somewhere.cc:14 NCCL WARN Connection closed by remote peer n8<4002>
""",
    ),
    Case(
        "a failed compile in XLA's status whose heading is cut off",
        "compile_error",
        """
0 successful operations.
Recent warning and error logs:
>>>  OP_REQUIRES failed at tpu_execute_op.cc:12 : INTERNAL: neuronx-cc compilation failed.
    main()
""",
    ),
)
PLACES = (
    Case(
        "a core that the model does not reach, at the level of a warning",
        "runtime_init",
        """
>>>[W some_op.cpp:12] Warning: Neuron runtime could not be initialized. The model was not sent to a core (function load)
""",
    ),
    Case(
        "Ray has no such nodes",
        "tool_error",
        """
INFO 05-04 07:08:09 ray_utils.py:12] Waiting for creating a placement group of specs for 10 seconds.
>>>(autoscaler +10m11s, ip=10.0.0.7) Error: No available node types can fulfill resource request {'neuron_cores': 64.0}.
""",
    ),
    Case(
        "Ray had to wait for its nodes, and then the job ran",
        "",
        """
(autoscaler +11s) Warning: No available node types can fulfill resource request {'neuron_cores': 64.0}.
{'loss': 3.0, 'step': 1}
{'loss': 2.9, 'step': 2}
""",
    ),
    Case(
        "a container whose command does not exist",
        "tool_error",
        """
>>>docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "./fit.sh": stat ./fit.sh: no such file or directory: unknown.
""",
    ),
    Case(
        "an image for another kind of processor, and the client's answer",
        "tool_error",
        """
>>>standard_init_linux.go:12: exec user process caused: exec format error
requests.exceptions.HTTPError: 400 Client Error: Bad Request for url: http+docker://localhost/containers/0a1b/start
""",
    ),
    Case(
        "the driver's package is not installed",
        "runtime_init",
        """
Running the pre_install script:
>>>Error! pre_install failed, aborting install.
dpkg: error processing package aws-neuron-dkms (--configure):
""",
    ),
    Case(
        "ranks that run different collectives",
        "collective",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 7, in <module>
    save()
>>>RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: BROADCAST, but Rank 0 is running ALLREDUCE
""",
        "failed",
    ),
)
SERVICES = (
    Case(
        "mpirun does not reach a node's shell",
        "tool_error",
        """
start MPI
--------------------------------------------------------------------------
>>>ORTE was unable to reliably start one or more daemons.
This usually is caused by:
* not finding the required libraries and/or binaries on one or more nodes.
--------------------------------------------------------------------------
""",
    ),
    Case(
        "a service that does not answer",
        "network",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    init(project="p")
>>>tracker.errors.CommError: Run initialization has timed out after 90.0 sec.
""",
        "failed",
    ),
    Case(
        "a model that nobody has given access to",
        "network",
        """
Traceback (most recent call last):
  File "fit.py", line 7, in <module>
    fetch("some/model")
>>>hub.errors.GatedRepoError: 401 Client Error. (Request ID: 0a1b)
""",
        "failed",
    ),
)
WORKERS = (
    Case(
        "a worker of a data set's map that died",
        "script_error",
        """
Map (num_proc=4):  40%|####      | 400/1000 [00:03<00:05, 101.10 examples/s]
Traceback (most recent call last):
  File "/job/prepare.py", line 3, in <module>
    rows.map(work, num_proc=4)
>>>RuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.
""",
        "failed",
    ),
    Case(
        "a shard that was ended by a signal",
        "script_error",
        """
>>>2024-01-02T03:04:05.000000Z ERROR shard-manager: text_generation_launcher: Shard process was signaled to shutdown with signal 4 rank=0
Error: ShardCannotStart
""",
        "failed",
    ),
    Case(
        "a killed worker names the pool's end as what follows",
        "host_oom",
        """
>>>[12345.678901] Out of memory: Killed process 77 (python) total-vm:99kB, anon-rss:88kB, file-rss:0kB
Traceback (most recent call last):
  File "/job/prepare.py", line 3, in <module>
    future.result()
concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.
""",
        "failed",
    ),
)
H = "E0203 04:05:06.000000 77 torch/distributed/elastic/multiprocessing/api.py:9]"
NCCL = (
    Case(
        "ranks that share a device",
        "bad_usage",
        """
>>>node1:70:71 [0] init.cc:99 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000
Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    dist.barrier()
torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:9, invalid usage, NCCL version 2.18.1
ncclInvalidUsage: This usually reflects invalid usage of NCCL library.
""",
        "failed",
    ),
    Case(
        "an error of NCCL that states no reason",
        "collective",
        """
step 3 loss 2.0
Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    dist.barrier()
>>>RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:9, unhandled system error, NCCL version 2.18.1
""",
        "failed",
    ),
    Case(
        "a logger's traceback with a header on each line",
        "script_error",
        f"""
{H} Traceback (most recent call last):
{H}   File "/opt/spawn.py", line 215, in join
{H}     raise ProcessRaisedException(msg, index, pid)
>>>{H} torch.multiprocessing.spawn.ProcessRaisedException:
{H}
{H} -- Process 1 terminated with the following error:
""",
        "failed",
    ),
    Case(
        "a line that is cut off in its stamp",
        "script_error",
        """
(EngineCore_DP0 pid=7) INFO 01-02 03:04:05 [core.py:7] Loading the model.
>>>(EngineCore_DP0 pid=7) ERROR 01-02 03:04:06 [core.py:8] EngineCore failed to start.
(EngineCore_DP0 pid=7) ERROR 01-02 03:0
""",
        "failed",
    ),
)
BOXES = (
    Case(
        "a traceback in a box",
        "script_error",
        """
╭─────────────────── Traceback (most recent call last) ───────────────────╮
│ /job/fit.py:7 in <module>                                               │
│                                                                         │
│   5 │   failed = 0                                                      │
│ ❱ 7 │   raise ValueError("no such split")                               │
╰─────────────────────────────────────────────────────────────────────────╯
>>>ValueError: no such split
""",
        "failed",
    ),
    Case(
        "a box that is cut off",
        "script_error",
        """
step 3 loss 2.0
╭─────────────────── Traceback (most recent call last) ───────────────────╮
│ /job/fit.py:7 in <module>                                               │
>>>│ ❱ 7 │   main(
""",
        "failed",
    ),
)
FIFTH_CASES = (
    *HEADERS,
    *GPUS,
    *HOST_MEMORY,
    *CONSEQUENCES,
    *RESOURCES,
    *WORDS,
    *HEADLESS,
    *PODS,
    *PLACES,
    *SERVICES,
    *BOXES,
    *WORKERS,
    *NCCL,
)
