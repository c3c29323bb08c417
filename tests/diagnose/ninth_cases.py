"""More logs of our own: headers that syslog, pages and launchers change, and what only follows from another failure."""

from __future__ import annotations

from tests.diagnose.cases import Case

RUNTIME = (
    Case(
        "the runtime's lines as syslog keeps them",
        "runtime_init",
        """
>>>NRT:  512:512 ERROR  TDRV:wide_get_core                           Could not find VNC id 9
NRT:  512:512 ERROR  NMGR:wide_stage                              Failed to stage graph: wide.json to NeuronCore
""",
    ),
    Case(
        "the runtime's lines without their stamps",
        "runtime_oom",
        ">>>512:514 ERROR  TDRV:wide_mem   Failed to allocate 2.000GB (usage: wide rings) on ND 3:NC 1\n",
    ),
    Case(
        "a size that does not fit a device, on a line that was cut",
        "runtime_oom",
        """
NRT_RESOURCE in nrt_load_wide
>>>Failed to allocate 3.000GB (alignment: 2.000MB, usage: wide pages)
Failed to stage the graph
""",
    ),
    Case(
        "a timeout that the runtime ignores",
        "",
        "512:514 ERROR  TDRV:wide_wait  (NON-FATAL, Ignoring) inference timeout (9000 ms) on Neuron Device 2 NC 1\n",
    ),
    Case(
        "two processes of the runtime that wrote over each other",
        "collective",
        ">>>2026-May-02 10:00:00.1234562026-May-02 10:00:00.123460 512:514 ERROR   ENC:wide_init                  "
        "513:515 ERROR   ENC:wide_groups                 [rank 1] failed (2) to find a ring\n"
        "2026-May-02 10:00:00.123470 512:514 ERROR   ENC:wide_load                 [nec_dev 1] failed to load it\n",
    ),
    Case(
        "a device that another process holds, as the kernel tells it",
        "runtime_init",
        ">>>May  2 10:00:00 box-7 kernel: [ 812.004411] neuron:wide_device_init: device inuse by pid:4711\n",
    ),
    Case(
        "no Neuron device for a pod",
        "runtime_init",
        """
  Type     Reason            Age   From           Message
>>>  Warning  FailedScheduling  9m    my-scheduler   0/2 nodes are available: 2 Insufficient aws.amazon.com/neuron.
""",
    ),
    Case(
        "no Neuron device for a pod at first",
        "",
        """
  Type     Reason            Age   From           Message
  Warning  FailedScheduling  9m    my-scheduler   0/2 nodes are available: 2 Insufficient aws.amazon.com/neuron.
  Normal   Scheduled         4m    my-scheduler   Successfully assigned team/serve-7f04-x2 to box-7.internal
""",
    ),
    Case(
        "a device of another maker that has no room",
        "runtime_oom",
        """
>>>Out of Memory: Not enough space to allocate 1048576 B DRAM buffer across 4 banks
RuntimeError: Bad StatusOr access: INTERNAL: Error code: 13
""",
    ),
)
COLLECTIVE = (
    Case(
        "a call of NCCL that failed, in the framework's exception",
        "collective",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in <module>
    fit()
>>>wide.errors.UnknownError:  ncclGroupEnd failed: unhandled system error
""",
        "failed",
    ),
    Case(
        "NCCL's error with its number",
        "collective",
        "[rank2]: Traceback (most recent call last):\n"
        '[rank2]:   File "/job/wide.py", line 12, in <module>\n'
        "[rank2]:     fit()\n"
        ">>>[rank2]: RuntimeError: NCCL Error 6: internal error - see the log of the others\n",
        "failed",
    ),
    Case(
        "oneCCL's own error line",
        "collective",
        """
CCL_WARN| wide exchange is not there, the narrow one is taken
>>>CCL_ERROR| wide_fd.cpp:91 open_fds: condition fd >= 0 failed
RuntimeError: Engine core initialization failed. See root cause above.
""",
    ),
    Case(
        "the watchdog takes its process down because another rank has gone",
        "collective",
        """
>>>[rank5]:[E502 10:00:00.483540349 ProcessGroupNCCL.cpp:681] [Rank 5] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, results may be incomplete.
[rank5]:[E502 10:00:00.483555114 ProcessGroupNCCL.cpp:695] [Rank 5] To avoid data inconsistency, we are taking the entire process down.
""",
    ),
    Case(
        "the watchdog takes its process down, and the exception of the rank that had gone",
        "script_error",
        """
[rank5]:[E502 10:00:00.483540349 ProcessGroupNCCL.cpp:681] [Rank 5] Some NCCL operations have failed or timed out.
[rank2]: Traceback (most recent call last):
[rank2]:   File "/job/wide.py", line 3, in <module>
>>>[rank2]: ValueError: shards do not add up
""",
        "failed",
    ),
    Case(
        "no libibverbs, so NCCL takes sockets",
        "",
        "2026-05-02 10:00:00 [1,3]<stdout>:box-7:310:344 [3] misc/wide.cc:6 NCCL WARN Failed to open libibverbs.so[.1]\n"
        "2026-05-02 10:00:00 [1,3]<stdout>:box-7:310:344 [3] NCCL INFO Using network Socket\n",
    ),
    Case(
        "what NCCL warns of, behind mpirun's stamp and tag",
        "collective",
        ">>>2026-05-02 10:00:00 [1,3]<stderr>:box-7:310:344 [3] transport/wide.cc:88 NCCL WARN Peer 3 refused it\n",
    ),
)
TRACEBACKS = (
    Case(
        "a heading behind a progress bar, and its frames behind the launcher's host",
        "script_error",
        """
 2%|1         | 224/13945 [25:36<39:50:56, 10.46s/it]Traceback (most recent call last):
box7:   File "/job/wide.py", line 31, in fit
box7:     step()
box7:   File "/job/wide.py", line 12, in step
box7:     raise ValueError("shards do not add up")
>>>box7: ValueError: shards do not add up
""",
        "failed",
    ),
    Case(
        "a heading whose frames stand behind nothing, beside another process's log",
        "script_error",
        """
Traceback (most recent call last):
box8: loading shard 3
  File "/job/wide.py", line 12, in step
    raise ValueError("shards do not add up")
>>>ValueError: shards do not add up
""",
        "failed",
    ),
)
LAUNCHERS = (
    Case(
        "Ray's guess why an actor died, and the job's exit code told behind it",
        "script_error",
        """
>>>The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: End of file. There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer.
Status message: Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):
    output = ray.get(output)
""",
    ),
    Case(
        "the job's exit code alone",
        "script_error",
        ">>>Status message: Job entrypoint command failed with exit code 1, last available logs:\n    run()\n",
    ),
    Case(
        "an accelerator's farewell behind a wrapper's exception",
        "script_error",
        """
>>>RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
[ERROR] 2026-05-02-10:00:30 (PID:4711, Device:-1, RankID:-1) ERR99999 UNKNOWN application exception
""",
    ),
    Case(
        "a stamp with a dash between date and time",
        "script_error",
        ">>>[ERROR] 2026-05-02-10:00:30 (PID:4711) no stream is left for the wide queue\n",
    ),
)
SIGNALS = (
    Case(
        "the runtime's signal handler, and nothing else that explains the end",
        "interrupted",
        """
step 41 loss 2.10
>>>2026-May-02 10:00:00.000100  4711:4711  ERROR   NRT:nrt_infodump_signal_handler   Interrupt signal (15) received
""",
    ),
    Case(
        "torchrun's warning that it was asked to end",
        "interrupted",
        """
step 41 loss 2.10
>>>W0502 10:00:00.000000 4711 torch/distributed/elastic/agent/server/api.py:741] Received 15 death signal, shutting down
""",
    ),
    Case(
        "a signal behind an exception of the job's own",
        "script_error",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in step
    raise ValueError("shards do not add up")
>>>ValueError: shards do not add up
box7: got signal 15, leaving
""",
        "failed",
    ),
    Case(
        "a signal to a helper when the job has done its work",
        "",
        """
step 41 loss 2.10
Training completed successfully.
box7: got signal 15, leaving
""",
    ),
)
WAITING = (
    Case(
        "XLA's mesh, whose master nobody reached",
        "collective",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in step
    device = xm.xla_device()
>>>RuntimeError: tensorflow/compiler/xla/xla_client/mesh_service.cc:316 : Check failed: impl_->channel->Wait(60)
""",
        "failed",
    ),
    Case(
        "a collective whose waiting thread gave up",
        "collective",
        """
>>>[rank3]:[E502 10:00:00.000000000 ProcessGroupNCCL.cpp:756] [Rank 3] Work WorkNCCL(SeqNum=9, OpType=ALLREDUCE, \
NumelIn=4, NumelOut=4, Timeout(ms)=600000) timed out in blocking wait.
""",
    ),
    Case(
        "a watchdog's line that is cut off",
        "collective",
        """
[rank6]:[E502 10:00:00.000000000 ProcessGroupNCCL.cpp:698] [Rank 6] To avoid data inconsistency, we are taking the \
entire process down.
>>>[rank6]:[E502 10:00:00.000000001 ProcessGroupNCCL.cpp:1896] [PG ID 1 PG GUID 1 Rank 6] Process group watchdog \
thread terminated with exception: [Rank 6] Watch
""",
    ),
    Case(
        "a job that hangs since a rank did not come",
        "collective",
        """
>>>[0]<stderr>:[2026-05-02 10:00:00.000000: W horovod/common/stall_inspector.cc:105] One or more tensors were submitted \
to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 \
seconds.
[0]<stderr>:Missing ranks:
[0]<stderr>:1: [allreduce.wide]
""",
    ),
    Case(
        "a rank that came late",
        "",
        """
step 1 loss: 2.30
[2026-05-02 10:00:00.000000: W horovod/common/stall_inspector.cc:105] One or more tensors were submitted to be \
reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds.
Missing ranks:
1: [allreduce.wide]
step 2 loss: 2.20
step 3 loss: 2.10
""",
    ),
)
TABLES = (
    Case(
        "Slurm's table of a job that had no memory left",
        "host_oom",
        """
       JobID    JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
>>>4711              wide      trn1       team          4 OUT_OF_ME+    0:125
4711.extern      extern                  team          4  COMPLETED      0:0
""",
    ),
    Case(
        "Slurm's table of a job whose time was over",
        "interrupted",
        ">>>4711              wide      trn1       team          4    TIMEOUT      0:0\n",
    ),
    Case(
        "Slurm's table of a job that failed",
        "script_error",
        ">>>4711              wide      trn1       team          4     FAILED      1:0\n",
    ),
    Case(
        "Slurm's table of a job that is done",
        "",
        "4711              wide      trn1       team          4  COMPLETED      0:0\n",
    ),
    Case(
        "a GPU's memory, in TensorFlow's words",
        "runtime_oom",
        """
>>>2026-05-02 10:00:00.000000: F ./tensorflow/core/kernels/wide.h:88] Non-OK-status: GpuLaunchKernel(Wide, 1, 8) \
status: Internal: out of memory
""",
    ),
)


def _torch_neuron(reason: str) -> str:
    """A failure of a program on a device, as TorchNeuron words it: the runtime's status only in plain words."""
    return f"""
Traceback (most recent call last):
  File "/job/wide.py", line 12, in step
    torch.neuron.synchronize()
RuntimeError: NRT Execution error occurred on Neuron for operation=aten::mm
>>>error message="NRT EXECUTION FAILED: Async execution error: seq_id=17, {reason}"
python stack trace=
  File "/job/wide.py", line 9, in forward
    return a @ b
"""


TORCH_NEURON = tuple(
    Case(f"TorchNeuron: {reason}", cause_class, _torch_neuron(reason), "failed")
    for reason, cause_class in (
        ("Failed to allocate resource", "runtime_oom"),
        ("Failed to allocate host memory", "host_oom"),
        ("Not enough NCs for loading NEFF", "runtime_init"),
        ("Neuron core busy/locked by another model/process", "runtime_init"),
        ("Operation timed out", "runtime_exec"),
        ("Hardware failure", "runtime_exec"),
        ("Execution completed with errors", "runtime_exec"),
        ("Stuck in collectives op (missing notification(s))", "collective"),
        ("Collective operation pending", "collective"),
        ("EFA network proxy failure", "collective"),
    )
)
IGNORED = (
    Case(
        "what Python goes on from, printed without a traceback",
        "",
        """
step 3 loss: 2.10
Exception ignored in: <function Wide.__del__ at 0x7f0000000000>
ImportError: sys.meta_path is None, Python is likely shutting down
""",
    ),
    Case(
        "a failure behind an exception that Python ignored",
        "script_error",
        """
Exception ignored in: <function Wide.__del__ at 0x7f0000000000>
RuntimeError: the wide queue is closed
Traceback (most recent call last):
  File "/job/wide.py", line 12, in step
    raise ValueError("shards do not add up")
>>>ValueError: shards do not add up
""",
        "failed",
    ),
)
RANKS = (
    Case(
        "NCCL's last error below the exception",
        "collective",
        """
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/wide.py", line 12, in step
[rank1]:     dist.broadcast(x, 0)
>>>[rank1]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, remote process exited or there was a \
network error, NCCL version 2.26.2
[rank1]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
[rank1]: Last error:
[rank1]: socketPollConnect: connect returned Connection refused, exceeded error retry count (35)
""",
        "failed",
    ),
    Case(
        "a rank that blames another one, and what stopped that one, with Kaggle's numbers in front",
        "script_error",
        """
704.7s\t11\t[rank1]: Traceback (most recent call last):
704.7s\t12\t[rank1]:   File "/job/wide.py", line 12, in step
704.7s\t13\t[rank1]:     dist.barrier()
704.7s\t14\t[rank1]: RuntimeError: Rank 1 successfully reached monitoredBarrier, but received errors while waiting \
for send/recv from rank 0. Please check rank 0 logs for faulty rank.
705.1s\t15\tTraceback (most recent call last):
705.1s\t16\t  File "/job/wide.py", line 31, in save
705.1s\t17\t    f.write(shard)
>>>705.1s\t18\tOSError: [Errno 28] No space left on device
""",
        "failed",
    ),
)


def _waits(*minutes: float) -> str:
    """Lines of a process that waits for another one's compile."""
    return "".join(
        f"2026-05-02 10:00:00.000100:  4711  [INFO]: Another process must be compiling /cache/neuronxcc-2.23/MODULE_1+2/"
        f"model.hlo_module.pb, been waiting for: {waited} minutes\n"
        for waited in minutes
    )


LOCKS = (
    Case("a wait of hours for a lock", "lock_timeout", ">>>" + _waits(180.0, 181.0)),
    Case("a wait for a compile that runs", "", _waits(22.0, 23.0)),
    Case(
        "a wait of hours that ended",
        "",
        _waits(180.0)
        + "2026-05-02 13:01:00.000100:  4711  [INFO]: Using a cached neff at /cache/MODULE_1+2/model.neff\n",
    ),
    Case(
        "the compiler's older codes",
        "compile_error",
        ">>>NCC-5266: wide dims must have an even step\n",
    ),
)
NINTH_CASES = (
    *RUNTIME,
    *COLLECTIVE,
    *TRACEBACKS,
    *LAUNCHERS,
    *SIGNALS,
    *WAITING,
    *TABLES,
    *TORCH_NEURON,
    *IGNORED,
    *RANKS,
    *LOCKS,
)
