"""Logs in which nothing failed, however much they speak of errors."""

from __future__ import annotations

from tests.diagnose.cases.case import Case
from tests.diagnose.cases.wordings import waits

NOT_FAILURES = (
    Case(
        "a traceback that was only ignored",
        "",
        """
step 1 loss: 2.1
Exception ignored in: <function Pool.__del__ at 0x7f>
Traceback (most recent call last):
  File "pool.py", line 268, in __del__
    self._x()
AttributeError: 'NoneType' object has no attribute 'x'
Training finished
""",
    ),
    Case(
        "a job with a step that Slurm starts again",
        "",
        """
slurmstepd: error: *** STEP 5150.0 ON node-3 CANCELLED AT 2026-05-01T10:35:06 DUE TO JOB REQUEUE ***
slurmstepd: error: *** JOB 5150 ON node-3 CANCELLED AT 2026-05-01T10:35:06 DUE TO JOB REQUEUE ***
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
srun: error: node-3: task 0: Killed
srun: error: node-4: task 1: Terminated
restored the checkpoint of step 400
""",
    ),
    Case(
        "what is said of time limits",
        "",
        """
watcher: no job has exceeded its time limit
A job that exceeded the time limit is queued again.
[WARN] nvidia-container-cli: ldcache error: open failed, going on
server started
""",
    ),
    Case(
        "a job that Slurm starts again as it asked",
        "",
        """
10:34:59 caught USR1, asking to be queued again
slurmstepd: error: *** JOB 5150 ON node-3 CANCELLED AT 2026-05-01T10:35:06 DUE TO JOB REQUEUE ***
10:38:11 restored the checkpoint of step 400
10:39:11 working
""",
    ),
    Case(
        "tracebacks that were only ignored, again and again",
        "",
        "".join(
            f"""
({epoch}, 0.{epoch})
Exception ignored in: <function Loader.__del__ at 0x7f71c0979c{epoch}0>
Traceback (most recent call last):
  File "loader.py", line 1604, in __del__
    self._shutdown()
AssertionError: not a child of this process
"""
            for epoch in range(3)
        ),
    ),
    Case(
        "objects that are destroyed in several processes at once",
        "",
        """
Epoch 1 train: 100%
Traceback (most recent call last):
Traceback (most recent call last):
  File "tracker.py", line 80, in __del__
  File "tracker.py", line 80, in __del__
    self._stop()
  File "tracker.py", line 89, in _stop
  File "tracker.py", line 89, in _stop
AttributeError: 'RLock' object has no attribute '_count'
AttributeError: 'RLock' object has no attribute '_count'
Epoch 1 mIoU 3.1
""",
    ),
    Case(
        "words of failures in lines that report none",
        "",
        """
INFO port patch applied (EADDRINUSE file-rendezvous)
ls: write error: Broken pipe
invoke-rc.d: could not determine current runlevel
E0912 06:24:12.423666   53703 slow_operation_alarm.cc:140] The operation took 2m31.7s
[Compiling module jit_scan for GPU] Very slow compile? If you want to file a bug, attach the results.
still compiling
""",
    ),
    Case(
        "a runner of tests that ends its workers",
        "",
        """
A worker process has failed to exit gracefully and has been force exited.
Test Suites: 15 passed, 15 total
Tests:       32 passed, 32 total
""",
    ),
    Case(
        "packages that pip finds not to fit",
        "",
        """
ERROR: twine 3.1.1 has requirement requests>=2.20, but you'll have requests 2.6.0 which is incompatible.
Successfully installed requests-2.6.0
""",
    ),
    Case(
        "errors of a job that goes on",
        "",
        """
ERROR:job.metrics:could not push metrics
{'loss': 2.1, 'epoch': 0.1}
{'loss': 2.0, 'epoch': 0.2}
{'loss': 1.9, 'epoch': 0.3}
""",
    ),
    Case(
        "a retry of a cached failure that passes",
        "",
        """
2026-05-06 10:00:00.000001:  41  [INFO]: Got a cached failed neff at /scratch/cache/neuronxcc-2.99.1.0+abcdef01/MODULE_11112222333344445555+0a1b2c3d/model.neff. With eror log: [Failed compilation with ['neuronx-cc', 'compile']:
2026-05-05T09:00:00Z [ERROR] [F137] neuronx-cc was forcibly killed
[libneuronxla 2.9.100.0]
].                 Retrying...
......
Compiler status PASS
2026-05-06 10:20:00.000001:  41  [INFO]: Compilation Successfully Completed for model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb
{'loss': 2.0}
""",
    ),
    Case(
        "a failed compile that is compiled later",
        "",
        """
2026-05-06 10:00:00.000001:  41  [ERROR]: Failed compilation with ['neuronx-cc', 'compile', '-O2', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb']:
2026-05-06T10:00:00Z [ERROR] [NCC_EBVF030] too many instructions
[libneuronxla 2.9.100.0]
falling back to -O1
2026-05-06 10:20:00.000001:  41  [INFO]: Compilation Successfully Completed for model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb
""",
        recovered=True,
    ),
    Case(
        "a lock that was broken and a job that went on",
        "",
        """
[W1121 22:03:04.123456789 NeuronLogging.h:103] Warning: [Neuron] [WARNING] [FileLock.cpp:182] Lock acquisition timed out, breaking stale lock path= /c/locks/0123456789abcdef0123456789abcdef.lock elapsed_seconds= 1200
step 1 loss: 2.5
step 2 loss: 2.4
""",
        recovered=True,
    ),
    Case(
        "workers that wait for one another and go on",
        "",
        """
2026-Mar-03 10:00:00.1234 900:910 [3] include/socket.h:500 CCOM WARN Timeout waiting for RX (waited 120 sec) - retrying
2026-Mar-03 10:02:00.1234 900:910 [3] include/socket.h:500 CCOM WARN Timeout waiting for RX (waited 240 sec) - retrying
{'loss': 2.0, 'epoch': 0.1}
{'loss': 1.9, 'epoch': 0.2}
""",
    ),
    Case(
        "headings and warnings that contain the word",
        "",
        """
Errors from kernel tracing:
  (none)
Running error_injector
error_injector finished after 0.001 seconds
/opt/x/layers.py:531: FutureWarning: errors='ignore' is deprecated and will raise an error
  warnings.warn("an error may follow")
Error rate: 0.00
Total failed: 0, errors: 0
WARNING:root:Failed to load optional plug-in, continuing
UserWarning: Unable to import nothing: No module named 'nothing'
2023-Feb-20 08:30:57.0330 2184:4070 [1] init.cc:101 CCOM WARN OFI plugin initNet() failed is EFA enabled?
E0000 00:00:1730000000.123456   12345 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered
Compiler status PASS
""",
    ),
    Case(
        "an information dump at the start",
        "",
        """
2026-Mar-03 10:00:00.323456  900:900  ERROR   NRT:nrt_infodump                            ------------->8------------[ cut here ]------------>8-------------
2026-Mar-03 10:00:00.323456  900:900  ERROR   NRT:nrt_infodump                            NEURON_RT_EXEC_TIMEOUT=600
2026-Mar-03 10:00:00.323456  900:900  ERROR   NRT:nrt_infodump                            -------------8<-----------[ cut to here ]-----------8<------------
""",
    ),
    Case(
        "a help text",
        "",
        """
usage: tool [-h]
  --retry          retry graphs that failed to compile
  --timeout S      give up a compile after S seconds (error code 3)
  --on-error WORD  what to do when the connection is refused
""",
    ),
    Case(
        "a log that just stops",
        "",
        """
2026-05-06 10:00:00.000001:  41  [INFO]: Using a cached neff at /scratch/cache/neuronxcc-2.99.1.0+abcdef01/MODULE_11112222333344445555+0a1b2c3d/model.neff
.......
""",
        "unknown",
    ),
    Case(
        "a download that was retried",
        "",
        """
WARNING:urllib3.connectionpool:Retrying (Retry(total=2)) after connection broken by 'NewConnectionError': /x
{'loss': 1.0}
""",
    ),
    Case(
        "tests that expect a failure",
        "",
        """
2026-05-06 10:00:00.000001:  41  [ERROR]: Failed compilation with ['neuronx-cc', 'compile', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb']:
2026-05-06T10:00:00Z [ERROR] [NCC_EVRF031] the sort is not supported
[libneuronxla 2.9.100.0]
probe failed as expected, using the other kernel
============== 12 passed, 1 skipped in 33.10s ==============
""",
        "finished",
        recovered=True,
    ),
    Case(
        "a recovery by an elastic launcher",
        "",
        """
[rank0]: Traceback (most recent call last):
[rank0]:   File "a.py", line 1, in <module>
[rank0]: ConnectionError: storage did not answer
W0302 09:18:04.165000 46217 torch/distributed/elastic/agent/server/api.py:708] Worker group is unhealthy. Restarting worker group
{'loss': 2.1, 'epoch': 0.1}
{'loss': 2.0, 'epoch': 0.2}
{'loss': 1.9, 'epoch': 0.3}
{'loss': 1.8, 'epoch': 0.4}
{'loss': 1.7, 'epoch': 0.5}
{'loss': 1.6, 'epoch': 0.6}
""",
        recovered=True,
    ),
    Case(
        "a group of workers that its agent starts again, and that trains on",
        "",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 31, in <module>
    loss.backward()
RuntimeError: NCCL error: unhandled system error, NCCL version 2.5.6
[ERROR] 2026-05-02 10:00:00,201 local_elastic_agent: [default] Worker group failed
[INFO] 2026-05-02 10:00:00,202 api: [default] Worker group FAILED. 2/5 attempts left; will restart worker group
[INFO] 2026-05-02 10:00:31,009 api: [default] Starting worker group
=> restored epoch 4
epoch 4 step 10 loss 1.93
""",
        recovered=True,
    ),
    Case(
        "a group of workers that Ray Train starts again",
        "",
        """
Traceback (most recent call last):
  File "/job/fit.py", line 31, in <module>
    rows = next(batches)
OSError: [Errno 107] the share did not answer
INFO trainer.py:12 -- Restarting training worker group from latest checkpoint.
{'loss': 1.93, 'epoch': 4.1}
""",
        recovered=True,
    ),
    Case(
        "a service that logs an exception and goes on",
        "",
        """
2026-05-02 10:00:00,201 planner INFO looked at 40 offers
2026-05-02 10:00:04,377 planner ERROR no report today: 'price'
Traceback (most recent call last):
  File "/srv/planner/report.py", line 88, in tick
    rows = build(offers)
KeyError: 'price'
2026-05-02 10:00:09,204 planner INFO looked at 41 offers
2026-05-02 10:00:14,209 planner INFO looked at 38 offers
2026-05-02 10:00:19,201 planner INFO looked at 37 offers
2026-05-02 10:00:24,203 planner INFO looked at 44 offers
2026-05-02 10:00:29,207 planner INFO looked at 40 offers
""",
        recovered=True,
    ),
    Case(
        "a service in the journal that logs an exception and goes on",
        "",
        "".join(
            f"May 02 10:00:{second:02} box-3 python[4711]: {line}\n"
            for second, line in enumerate(
                (
                    "2026-05-02 10:00:00,377 jobs.planner WARNING no report today",
                    "Traceback (most recent call last):",
                    '  File "/srv/planner/report.py", line 88, in tick',
                    "    rows = build(offers)",
                    "KeyError: 'price'",
                    *(
                        f"2026-05-02 10:00:{second},204 jobs.planner INFO looked at 41 offers"
                        for second in range(10, 16)
                    ),
                )
            )
        ),
        recovered=True,
    ),
    Case(
        "a server that goes on after a bad request",
        "",
        "INFO 03-04 10:00:00 [api_server.py:100] Application startup complete.\n"
        "ERROR 03-04 10:00:01 [serving.py:20] request 7 asks for more tokens than the model has\n"
        + 'INFO:     10.0.0.1:4000 - "POST /v1/completions HTTP/1.1" 200 OK\n'
        * 4,
    ),
    Case(
        "model output that talks of errors",
        "",
        """
Prompt: why does my program fail?
Answer: An error often means that a file is missing. You can retry, or read the log; nothing is fatal here.
[Main] done in 12.1s
""",
    ),
    Case(
        "settings that are printed",
        "",
        """
{'on_error': 'abort', 'max_failed': 0, 'fatal': False, 'timeout': 1800}
fail_on_nan: false
error_log: /var/log/x
exit_code_on_failure: 70
""",
    ),
    Case(
        "git has no repository",
        "",
        """
fatal: not a git repository (or any of the parent directories): .git
{'loss': 2.1}
{'loss': 2.0}
""",
    ),
    Case(
        "an internal word of the compiler's chatter",
        "",
        """
2024-05-01T16:44:02Z Running error_injector
2024-05-01T16:44:02Z error_injector finished after 0.001 seconds
2024-05-01T16:44:16Z Compiler status PASS
""",
    ),
    Case(
        "a runtime that is closed without having been used",
        "",
        """
Validating decoder...
        -[ok] shapes match
The export succeeded and the exported model was saved at: out
2026-Jan-03 21:00:33.247541   134:134   ERROR   NRT:nrt_close                  Unexpected runtime state: NRT_STATE_START
""",
    ),
    Case(
        "a job that says that it has finished training",
        "",
        """
2026-01-03 10:00:05,123 - INFO - datasets: Retrying in 1s [Retry 1/5] due to ConnectionError(MaxRetryError("Max retries exceeded"))
Epoch 0 step 10 loss 3.1
Epoch 0 step 20 loss 3.0
Finished training
""",
        ended="finished",
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
        "a unit of systemd that ends well",
        "",
        """
Mar 04 05:06:07 n-1 systemd[1]: fit.service: Deactivated successfully.
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
        "counts of none",
        "",
        """
ERROR summary of the checks: 12 passed, 0 failed
ERROR the check has ended with 0 errors
0 failed, 3 skipped
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
        "corrected errors of a bus, and advice on assertions",
        "",
        """
[ 4711.000001] pcieport 0000:00:07.0: AER: Corrected error received: id=0010
[ 4711.000002] pcieport 0000:00:07.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
UserWarning: CUDA initialization: Found no NVIDIA driver on your system.
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
        "frames that a log ends in, and no heading",
        "",
        """
  File "/job/fit.py", line 7, in <module>
    main()
  File "/job/fit.py", line 9, in main
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
        "no GPU on a machine that needs none",
        "",
        """
2026-03-04 05:06:07.211885: E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: \
CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
INFO:tensorflow:Assets written to: out
""",
    ),
    Case(
        "a sentence that names two places of a file",
        "",
        'See File "a.py", line 3, in main and File "b.py", line 7, in check for what an Error: is here\n',
    ),
    Case(
        "words about errors that are handled",
        "",
        "Error handling is on\nError logging goes to /var/log/job\nError in file names is looked for: none yet\n"
        "all steps done successfully\n",
    ),
    Case(
        "an endpoint that the network's plugin cannot make, and a job that goes on",
        "",
        "host-1:82:48 [0] get_ep:969 NCCL WARN NET/OFI Creating a new endpoint failed: Invalid argument\n"
        + "".join(f"{{'loss': {10 - step / 10}, 'step': {step}}}\n" for step in range(9)),
    ),
    Case(
        "a server that was not up when it was probed first",
        "",
        "  Warning  Unhealthy  11m  kubelet  Readiness probe failed: dial tcp 10.0.0.3:8000: connect: connection refused\n",
    ),
    Case(
        "what NCCL tells of plugins that it does not find",
        "",
        """
box-7:310:310 [0] NCCL INFO NET/Plugin: Plugin load (libwide-net.so) returned 2 : libwide-net.so: cannot open shared object file: No such file or directory
box-7:310:310 [0] NCCL INFO NET/Plugin: Using internal network plugin.
box-7:310:344 [0] NCCL INFO NET/IB : No device found.
""",
    ),
    Case(
        "NCCL's advice on how the machine is set up",
        "",
        "box-7:310:351 [0] rocmwrap.cc:9 NCCL WARN A kernel option is missing, which can lead to errors or a hang\n",
    ),
    Case(
        "glog's header with the number of a thread",
        "",
        "I0502 10:00:00.660001 140000000000321 backends.py:66] Unable to open libwide.so: libwide.so: cannot open shared "
        "object file: No such file or directory\n",
    ),
    Case(
        "an error line that the next one takes back",
        "",
        """
E0502 10:00:00.366000 1121 wide/select.py:210] [7/0] The kernel could not be made: Required: 131072, limit: 101376.
E0502 10:00:00.366000 1121 wide/select.py:210] [7/0] Ignoring this choice.
""",
    ),
    Case(
        "an error line in front of what is done instead",
        "",
        "ERROR:wide:The fast path failed: no such symbol\nFalling back to the slow path\n",
    ),
    Case(
        "choices that an autotuner leaves out",
        "",
        """
ERROR:wide.select:Exception No valid triton configs. OutOfMemoryError: out of resource: wide_mm Required: 9 Hardware limit:7
Traceback (most recent call last):
  File "/env/wide/select.py", line 9, in precompile
RuntimeError: No valid triton configs. OutOfMemoryError: out of resource: wide_mm Required: 9 Hardware limit:7
AUTOTUNE mm(16x16, 16x16)
  mm 0.0420 ms 100.0%
SingleProcess AUTOTUNE benchmarking takes 0.3 seconds and 3.5 seconds precompiling for 18 choices
""",
    ),
    Case(
        "a thread that only notices that its service has gone",
        "",
        """
service: uploaded 5 files
Exception in thread Uploader:
Traceback (most recent call last):
  File "/usr/lib/python3.12/threading.py", line 1073, in _bootstrap_inner
    self.run()
ConnectionResetError: [Errno 104] Connection reset by peer
""",
    ),
    Case(
        "git where there is no repository", "", "fatal: not a git repository (or any of the parent directories): .git\n"
    ),
    Case("a letter of Slurm, of a job that ended well", "", "Slurm Job_id=7 Ended, Run time 00:10:02, COMPLETED\n"),
    Case(
        "what libfabric says of a machine",
        "",
        "libfabric:81:1673:efa:core:to_rxr():5<warn> needs RDMA, not supported.\n",
    ),
    Case(
        "a line that could not be logged, in a job that goes on",
        "",
        """
Step 120/1000 loss 0.2
--- Logging error ---
Traceback (most recent call last):
  File "/usr/lib/python3.11/logging/__init__.py", line 1114, in emit
    self.flush()
OSError: [Errno 116] Stale file handle
Call stack:
  File "/job/train.py", line 20, in <module>
    log.info("saved")
Message: 'saved'
Arguments: ()
""",
    ),
    Case(
        "a timeout that the runtime ignores",
        "",
        "512:514 ERROR  TDRV:wide_wait  (NON-FATAL, Ignoring) inference timeout (9000 ms) on Neuron Device 2 NC 1\n",
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
        "no libibverbs, so NCCL takes sockets",
        "",
        "2026-05-02 10:00:00 [1,3]<stdout>:box-7:310:344 [3] misc/wide.cc:6 NCCL WARN Failed to open libibverbs.so[.1]\n"
        "2026-05-02 10:00:00 [1,3]<stdout>:box-7:310:344 [3] NCCL INFO Using network Socket\n",
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
    Case(
        "Slurm's table of a job that is done",
        "",
        "4711              wide      trn1       team          4  COMPLETED      0:0\n",
    ),
    Case(
        "what Python goes on from, printed without a traceback",
        "",
        """
step 3 loss: 2.10
Exception ignored in: <function Wide.__del__ at 0x7f0000000000>
ImportError: sys.meta_path is None, Python is likely shutting down
""",
    ),
    Case("a wait for a compile that runs", "", waits(22.0, 23.0)),
    Case(
        "workers that wait for what another worker of the job compiles",
        "",
        "2026-05-02 10:00:00.000100:  4700  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc compile "
        "/tmp/w/model.MODULE_10000000000000000001+abcdef01.hlo_module.pb\n"
        + waits(1.0, 75.0).replace("MODULE_1+2", "MODULE_10000000000000000001+abcdef01"),
    ),
    Case(
        "a short wait in front of a training that ends well",
        "",
        waits(1.0, 2.0) + "step 1 loss: 2.0\nstep 2 loss: 1.9\nTraining is complete\n",
    ),
    Case(
        "a wait of hours that ended",
        "",
        waits(180.0)
        + "2026-05-02 13:01:00.000100:  4711  [INFO]: Using a cached neff at /cache/MODULE_1+2/model.neff\n",
    ),
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
        "a folder that is not there, and the one that is taken instead",
        "",
        """
slurmstepd: error: couldn't chdir to `/wide/work': No such file or directory: going to /tmp instead
#       size         count    type   redop     time   algbw
     1048576        262144   float     sum    33.43   31.37
""",
    ),
    Case(
        "advice of a hub whose upload was refused, in a job that went well",
        "",
        """
  train_loss               =     1.8731
Repository Not Found for url: https://hub.test/api/models/w/preupload/main.
If you are trying to access a private or gated repo, make sure you are authenticated.
Invalid username or password.
Did not push the cached model located at /tmp/w to the repo named w
  eval_loss                =     2.9018
""",
    ),
    Case(
        "a service that is left, and does not answer any more",
        "",
        """
global_step=500000, SPS=10213
model saved to runs/w.model
2026-05-02 10:00:00.084633: E external/tsl/wide_agent.cc:48] Failed to disconnect from coordination service with status: DEADLINE_EXCEEDED: Deadline Exceeded
""",
    ),
    Case(
        "a meeting of workers that could not be shut down when all had finished",
        "",
        """
INFO:torch.distributed.elastic.agent.server.api:[default] worker group successfully finished.
WARNING:torch.distributed.elastic.rendezvous.dynamic_rendezvous:The node 'w-1_17_0' has failed to shutdown the rendezvous 'none' due to an error of type RendezvousConnectionError.
""",
    ),
    Case(
        "tests that pytest passed, skipped and named in its summary of warnings",
        "",
        """
tests/wide/test_load.py::test_missing_file_error PASSED                  [ 33%]
tests/wide/test_load.py::test_fatal SKIPPED (no device)                  [ 66%]
tests/wide/test_load.py::test_abort XPASS                                [100%]
=============================== warnings summary ===============================
tests/wide/test_load.py::test_missing_file_error
  /w/load.py:4: DeprecationWarning: error_callback goes away
""",
    ),
    Case(
        "trials of a build's configuration",
        "",
        """
-- Performing Test HAVE_WIDE_ATTRIBUTE - Failed
-- Looking for pthread_create in pthreads - not found
-- Configuring done (2.1s)
[100%] Built target server
""",
    ),
    Case(
        "a batch that does not fit, and the next one that does",
        "",
        """
Auto batch size: trying 64
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15 GiB
Auto batch size: 64 does not fit, trying 32
Epoch 1/10 loss 0.7001
Epoch 2/10 loss 0.6001
""",
    ),
    Case(
        "a model that writes of exceptions",
        "",
        """
Prompt: write a function that fails.
Output: call it, and you will see:
ValueError: bad
Throughput: 41.2 tokens/s
Latency p50 24.3 ms
""",
    ),
    Case(
        "a trial that failed once and was done at last",
        "",
        """
| wide_00000 | TERMINATED | 127.0.0.1:20 |      3 |       0.35 |        5 |
Number of errored trials: 1
| wide_00000 |            1 | /tmp/wide_00000/error.txt |
* The trial terminated successfully after retrying.
""",
    ),
    Case(
        "a port of an adapter that was down for a moment",
        "",
        """
[2026-05-02 10:00:00] box-1:11:45 [0] transport/wide.cc:19 NCCL WARN NET/IB : mlx5_7:1 Got async error event: port error
[2026-05-02 10:00:08] box-1:11:45 [0] transport/wide.cc:19 NCCL WARN NET/IB : mlx5_7:1 Got async error event: port active
INFO 05-02 10:00:09 [loggers.py:1] Engine 000: Avg generation throughput: 88.0 tokens/s, Running: 3 reqs
""",
    ),
    Case(
        "complaints of a program that has done its work",
        "",
        """
Finished evaluation, accuracy 0.91
wandb: WARNING failed to close the sync client cleanly
[rank0]: ERROR could not destroy process group: already gone
""",
    ),
    Case(
        "a server that answers one request with an exception, behind stamps of a container",
        "",
        """
2026-05-02T10:00:00.999562989Z 2026-05-02 10:00:00.997 15 uvicorn.error ERROR [run_asgi():376] Exception in ASGI application
2026-05-02T10:00:00.999569980Z Traceback (most recent call last):
2026-05-02T10:00:00.999573064Z   File "/opt/v/uvicorn/wide.py", line 3, in run_asgi
2026-05-02T10:00:00.999575324Z     result = await app(self.scope)
2026-05-02T10:00:01.001575324Z ValueError: could not convert string to float: 'n/a'
2026-05-02T10:00:02.001575324Z INFO:     10.0.0.7:4411 - "POST /v1/w:predict HTTP/1.1" 200 OK
2026-05-02T10:00:03.001575324Z INFO:     10.0.0.7:4412 - "POST /v1/w:predict HTTP/1.1" 200 OK
2026-05-02T10:00:04.001575324Z INFO:     10.0.0.7:4413 - "POST /v1/w:predict HTTP/1.1" 200 OK
2026-05-02T10:00:05.001575324Z INFO:     10.0.0.7:4414 - "POST /v1/w:predict HTTP/1.1" 200 OK
2026-05-02T10:00:06.001575324Z INFO:     10.0.0.7:4415 - "POST /v1/w:predict HTTP/1.1" 200 OK
""",
    ),
    Case(
        "limits of recompiles, and a job that goes on",
        "",
        """
W0502 10:00:00.172000 60 torch/_dynamo/convert_frame.py:9] [9/64] torch._dynamo hit config.recompile_limit (64)
W0502 10:00:00.863000 60 torch/_dynamo/convert_frame.py:9] [9/64]    last reason: 9/63: tensor 'X[0]' size mismatch at index 1
100%|██████████| 20/20 [01:13<00:00,  3.44s/it]
""",
    ),
    Case(
        "a node that Slurm did not hear of for a while, and a job that ended well",
        "",
        """
[2026-05-02T10:00:00.111] error: Node box-3 not responding
[2026-05-02T10:05:00.111] Node box-3 now responding
[2026-05-02T12:05:00.111] _job_complete: JobId=812 WEXITSTATUS 0
[2026-05-02T12:05:00.112] _job_complete: JobId=812 done
""",
    ),
    Case(
        "a server's worker that was replaced, and requests that are answered",
        "",
        """
[2026-05-02 10:00:00 +0000] [1] [CRITICAL] WORKER TIMEOUT (pid:44)
[2026-05-02 10:00:01 +0000] [1] [ERROR] Worker (pid:44) was sent SIGKILL! Perhaps out of memory?
[2026-05-02 10:00:01 +0000] [51] [INFO] Booting worker with pid: 51
10.0.0.5 - - [02/May/2026:10:00:09 +0000] "POST /w HTTP/1.1" 200 311
10.0.0.5 - - [02/May/2026:10:00:10 +0000] "POST /w HTTP/1.1" 200 311
10.0.0.5 - - [02/May/2026:10:00:11 +0000] "POST /w HTTP/1.1" 200 311
10.0.0.5 - - [02/May/2026:10:00:12 +0000] "POST /w HTTP/1.1" 200 311
10.0.0.5 - - [02/May/2026:10:00:13 +0000] "POST /w HTTP/1.1" 200 311
""",
    ),
    Case(
        "tests whose program logs errors, and all pass",
        "",
        """
test_bad_input (tests.wide.ApiTest.test_bad_input) ... ERROR:api:request failed: ValueError: bad shape
ok
test_timeout_error (tests.wide.ApiTest.test_timeout_error) ... ok
----------------------------------------------------------------------
Ran 2 tests in 0.031s

OK
""",
    ),
    Case(
        "a metric that a tracking server did not take",
        "",
        """
Epoch 1/3: 100%|██████████| 100/100 [00:30<00:00,  3.30it/s, loss=0.81]
2026/05/02 10:00:31 ERROR wide.tracking.client: Failed to log metric: API request to endpoint /api/w failed with error code 503
Epoch 2/3: 100%|██████████| 100/100 [00:30<00:00,  3.31it/s, loss=0.71]
""",
    ),
    Case(
        "a command whose error make ignores",
        "",
        """
rm: cannot remove 'build/old.o': No such file or directory
make: [Makefile:12: clean] Error 1 (ignored)
gcc -O2 -c a.c
throughput 1021 samples/s
""",
    ),
    Case(
        "a plug-in that is not there, and whoever looks for it says that it goes on",
        "",
        """
[node-3:4711] repository_open: unable to open plm_queue: libqueue.so: cannot open shared object file: No such file or directory (ignored)
throughput 1021 samples/s
""",
    ),
    Case(
        "a processor in the place of a GPU that cannot be used",
        "",
        """
# WARNING:2026-03-04 05:06:07,089:wide.bridge:12: A GPU may be there, but a CUDA-enabled widelib is not installed. Falling back to cpu.
result 0.25
""",
    ),
    Case(
        "a package for speed that is not there",
        "",
        """
A matching Triton is not available, some optimizations will not be enabled.
Error caught was: No module named 'triton'
attention.fast:    unavailable
attention.plain:   available
""",
    ),
    Case(
        "a trial that a study goes on from, its warning above the traceback",
        "",
        """
[I 2026-03-02 10:11:12,131] A new study created in memory with name: lr-sweep
[W 2026-03-02 10:11:20,111] Trial 0 failed with parameters: {'lr': 0.9} because of the following error: ValueError('nan').
Traceback (most recent call last):
  File "sweep.py", line 31, in objective
    check(loss)
ValueError: nan
[W 2026-03-02 10:11:20,113] Trial 0 failed with value None.
[I 2026-03-02 10:12:20,113] Trial 1 finished with value: 0.81 and parameters: {'lr': 0.01}. Best is trial 1 with value: 0.81.
[I 2026-03-02 10:13:20,113] Trial 2 finished with value: 0.84 and parameters: {'lr': 0.02}. Best is trial 2 with value: 0.84.
[I 2026-03-02 10:14:20,113] Trial 3 finished with value: 0.79 and parameters: {'lr': 0.03}. Best is trial 2 with value: 0.84.
best: 0.84
""",
    ),
    Case(
        "what is called at the end of a program fails",
        "",
        """
Saving model checkpoint to out/checkpoint-500
{'eval_loss': 0.41, 'eval_accuracy': 0.88, 'epoch': 3.0}
{'train_runtime': 100.1, 'train_loss': 0.4, 'epoch': 3.0}
Error in atexit._run_exitfuncs:
Traceback (most recent call last):
  File "/opt/env/lib/python3.10/site-packages/torch_xla/runtime.py", line 40, in shutdown
    client.close()
RuntimeError: client already closed
""",
    ),
    Case(
        "no GPU for a driver's first call",
        "",
        """
2026-05-01 10:00:00.123456: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:467] Unable to register cuFFT factory: Attempting to register factory for plugin cuFFT when one has already been registered
2026-05-01 10:00:00.223456: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)
NOTE: Using experimental fast data loading logic. To disable, pass "--load_fast=false" and report issues on GitHub.
TensorBoard 2.16.2 at http://localhost:6006/ (Press CTRL+C to quit)
""",
    ),
    Case(
        "a notebook's server",
        "",
        """
[I 2026-05-01 10:00:00.111 ServerApp] Serving notebooks from local directory: /home/u
[W 2026-05-01 10:00:00.311 ServerApp] 404 GET /api/kernels/1 (127.0.0.1): Kernel does not exist: 1
[E 2026-05-01 10:00:02.111 ServerApp] Could not open static file ''
[I 2026-05-01 10:00:03.111 ServerApp] Kernel started: 2
[I 2026-05-01 10:00:09.111 ServerApp] Saving file at /t.ipynb
[C 2026-05-01 10:30:03.111 ServerApp] Shutdown confirmed
""",
    ),
    Case(
        "structured warnings with a traceback",
        "",
        r"""
{"level":"info","msg":"batch done","error":null,"exception":null,"stack":null}
{"level":"warning","msg":"slow batch","error":"","took":3.1}
{"level":"warning","event":"retry","exception":"Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nTimeoutError: slow","attempt":1}
{"level":"info","msg":"batch done","error":null}
{"level":"info","msg":"all batches done"}
""",
    ),
    Case(
        "Python shows where it waits, and the job goes on",
        "",
        """
step 1 loss 2.0
Timeout (0:05:00)!
Thread 0x00007f2a9c5c1740 (most recent call first):
  File "/app/data.py", line 80 in get
  File "/app/train.py", line 31 in <module>
step 2 loss 1.9
step 3 loss 1.9
step 4 loss 1.8
""",
    ),
    Case(
        "a video that is no series of pictures, says OpenCV",
        "",
        """
[h264 @ 0x55d] error while decoding MB 31 12, bytestream -7
[mov,mp4,m4a @ 0x55e] Failed to open codec in avformat_find_stream_info
[ERROR:0@3.112] global cap.cpp:164 open VIDEOIO(CV_IMAGES): raised OpenCV exception:
OpenCV(4.9.0) error: (-5:Bad argument) CAP_IMAGES: can't find starting number in function 'icvExtractPattern'
clip 1/100 ok
clip 2/100 ok
clip 3/100 ok, 2 frames skipped
wrote features.npy
""",
    ),
    Case(
        "an error that a program goes on from, skipping something",
        "",
        """
ERROR checkpoint: could not delete old checkpoint step_10, skipping
WARN: 2 files skipped
step 20 loss 1.1
step 30 loss 1.0
final eval ok
""",
    ),
    Case(
        "a program that is not there, which a script does without",
        "",
        """
== health check ==
nvidia-smi: command not found, skipping GPU checks
efa: ok
dmesg errors: 0
disk: ok
result: HEALTHY
""",
    ),
    Case(
        "tests that pass quietly, and a runtime that is closed twice",
        "",
        """
2026-May-04 10:10:12.001 4711:4711 ERROR  TDRV:tdrv_destroy                            TDRV not initialized
2026-May-04 10:10:12.001 4711:4711 ERROR   NRT:nrt_infodump                            Neuron runtime information - please include in any support request:
2026-May-04 10:10:12.001 4711:4711 ERROR   NRT:nrt_infodump                            Driver version: 2.24.7.0
1 passed in 3.1s
""",
    ),
    Case(
        "a request that TGI's router refuses, and others that it answers",
        "",
        """
2026-05-01T10:00:00.111111Z  INFO text_generation_launcher: Starting shard 0
2026-05-01T10:00:10.111111Z  WARN text_generation_router: Could not find a fast tokenizer implementation for org/m
2026-05-01T10:00:10.211111Z  WARN text_generation_router: Rust input length validation and truncation is disabled
2026-05-01T10:00:20.111111Z  INFO text_generation_router: Connected
2026-05-01T10:00:31.111111Z ERROR chat_completions{total_time="1.2ms"}: text_generation_router::infer: Request failed during validation: inputs tokens + max_new_tokens must be <= 4096
2026-05-01T10:00:41.111111Z  INFO generate{total_time="2.1s"}: text_generation_router::server: Success
2026-05-01T10:00:42.111111Z  INFO generate{total_time="2.1s"}: text_generation_router::server: Success
""",
    ),
    Case(
        "advice to install something",
        "",
        """
[notice] A new release of pip is available: 24.0 -> 25.0
[notice] To update, run: pip install --upgrade pip
Tip: pip install hf_transfer for faster downloads
ImportError caught, using slow tokenizer; pip install sentencepiece to change that
loss 1
loss 0.9
""",
    ),
    Case(
        "Open MPI's warnings in their frames",
        "",
        """
--------------------------------------------------------------------------
WARNING: There was an error initializing an OpenFabrics device.

  Local host:   n1
  Local device: mlx5_0
--------------------------------------------------------------------------
[n1:1] 3 more processes have sent help message help-mpi-btl-openib.txt / error in device init
[n1:1] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages
Epoch 0 loss=2.0
Epoch 1 loss=1.0
""",
    ),
    Case(
        "a download that the hub's client tries again",
        "",
        """
model.safetensors:  10%|█         | 1.0G/9.9G [00:10<01:30, 100MB/s]
'(MaxRetryError("HTTPSConnectionPool(host='x', port=443): Max retries exceeded with url: /a (Caused by NewConnectionError(': Failed to establish a new connection: [Errno 111] Connection refused'))"), '(Request ID: 1)')' thrown while requesting GET https://x/a
Retrying in 1s [Retry 1/5].
model.safetensors: 100%|██████████| 9.9G/9.9G [01:40<00:00, 100MB/s]
ready
""",
    ),
    Case(
        "what libraries of Java say of their logging",
        "",
        """
WARNING: An illegal reflective access operation has occurred
SLF4J: Failed to load class "org.slf4j.impl.StaticLoggerBinder".
SLF4J: Defaulting to no-operation (NOP) logger implementation
26/05/01 10:00:00 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform... using builtin-java classes where applicable
wrote 100 rows
""",
    ),
    Case(
        "what Slurm's daemon could not set up for a job that works",
        "",
        """
slurmstepd: error: task/cgroup: unable to add task[pid=3310] to memory cg '(null)'
slurmstepd: error: Unable to create TMPDIR [/scratch/7]: Permission denied
slurmstepd: error: Setting TMPDIR to /tmp
waves: read 12 rows
""",
    ),
    Case(
        "a task of Ansible that may fail",
        "",
        """
TASK [look for an old release] *************************************************
fatal: [box-3]: FAILED! => {
    "changed": false,
    "cmd": ["/srv/release", "--version"],
    "msg": "[Errno 2] No such file or directory: '/srv/release'",
    "rc": 2
}
...ignoring

TASK [copy the release] ********************************************************
ok: [box-3]
""",
    ),
    Case(
        "a check that fails and is no longer needed",
        "",
        """
looking for mesh.h in /opt/mesh ...... FAILED
looking for mesh.h in /usr/include ...... ok
all 2 tests completed
""",
        ended="finished",
    ),
    Case(
        "a session of TensorFlow that is made anew when a server of parameters was replaced",
        "",
        """
[2026-05-02 10:00:00,100] [INFO][monitored_session.py:12:run] An error was raised. This may be due to a preemption in a connected worker or parameter server. The current session will be closed and a new session will be created. Error: =====
Aborted: From /job:ps/replica:0/task:2:
Session handle is not found: 77ab. Possibly this worker just restarted.
Unavailable: From /job:worker/replica:0/task:1:
Error: the other side is gone
Original stack trace for 'step':
  File "/job/fit.py", line 9, in fit
    estimator.train(rows)

[2026-05-02 10:00:02,100] [INFO][session.py:20:restore] Restoring parameters from /models/step-700
""",
    ),
    Case(
        "a program that ends its own workers when it is done",
        "",
        """
burned for 60 seconds, errors: 0
Killing workers with SIGTERM (soft kill)
Sending SIGKILL to 2 workers that are left
freed the memory of device 0
device 0: right
""",
    ),
    Case(
        "a program that finds no device and computes on the CPU",
        "",
        """
No OpenCL device found, using the CPU
WARNING: No CUDA devices found.
No SYCL devices found
step 1 loss 3.2
step 2 loss 3.1
""",
    ),
)
