"""Lines that report no failure, however much they speak of errors."""

from __future__ import annotations

from tests.diagnose.cases.case import Case
from tests.diagnose.cases.wordings import waits

NOT_FAILURES = (
    Case(
        "a batch that fairseq leaves out, its memory's table below",
        "",
        """
| WARNING: attempting to recover from OOM in forward/backward pass
| OOM: Ran out of memory with exception: CUDA out of memory. Tried to allocate 7.00 MiB (GPU 0; 9.90 GiB total capacity)
|===========================================================================|
|            CUDA OOMs: 58           |        cudaMalloc retries: 66        |
""",
    ),
    Case(
        "jobs of HTCondor that were held or sent away, and ran again",
        "",
        """
012 (003.000.000) 03/04 05:30:08 Job was held.
\tThe job attribute PeriodicHold expression 'late' evaluated to TRUE
...
004 (004.000.000) 03/04 05:30:09 Job was evicted.
\t(0) Job was not checkpointed.
...
013 (003.000.000) 03/04 05:35:08 Job was released.
...
001 (004.000.000) 03/04 05:36:00 Job executing on host: <10.0.0.3:9618>
...
005 (003.000.000) 03/04 05:46:00 Job terminated.
\t(1) Normal termination (return value 0)
...
""",
    ),
    Case(
        "a rule of Snakemake that is tried again",
        "",
        """
[Wed Mar  4 05:06:07 2026]
Error in rule steep:
    jobid: 3
    shell:
        steep leaf > pot.txt
        (one of the commands exited with non-zero exit code; note that snakemake uses bash strict mode!)

Trying to restart job 3.
[Wed Mar  4 05:10:07 2026]
Finished job 3.
1 of 1 steps (100%) done
""",
    ),
    Case(
        "what programs in Java tell their developers, by stamps of three kinds",
        "",
        """
Mar-04 05:06:07.166 [Kettle Thread 8] DEBUG kettle.util.Pool - Making 'steam' with allowTimeout=false; connection refused so far
04-Mar-2026 05:06:08.166 INFO [main] org.kettle.Lid.open Connection refused is what it says while it is shut
04 Mar 2026 05:06:09,166 [main] DEBUG kettle.Tank - cannot read the gauge: java.io.IOException: Connection timed out
""",
    ),
    Case(
        "an exception of Java that its logger prints below words for developers",
        "",
        """
2026-03-04 05:06:07.166 [main] DEBUG kettle.Tank - nothing in it yet
org.kettle.TankException: the gauge stands at none
\tat org.kettle.Tank.read(Tank.java:3)
2026-03-04 05:06:08.166 [main] INFO kettle.Tank - filled
""",
    ),
    Case(
        "an exception of Java that its logger prints below a warning",
        "",
        """
2026-03-04 05:06:07.166 [main] WARN kettle.Tank - no water at the first try
java.net.ConnectException: Connection refused
\tat org.kettle.Tank.read(Tank.java:3)
2026-03-04 05:06:08.166 [main] INFO kettle.Tank - filled
""",
    ),
    Case(
        "packages and shells that miss what only a terminal has",
        "",
        """
#7 8.997 debconf: delaying package configuration, since apt-utils is not installed
bash: cannot set terminal process group (-1): Inappropriate ioctl for device
bash: no job control in this shell
mesg: ttyname failed: Inappropriate ioctl for device
locale: Cannot set LC_CTYPE to default locale: No such file or directory
""",
    ),
    Case(
        "tasks of Nextflow that are tried again, or may fail",
        "",
        """
[0a/1b2c3d] Submitted process > STEEP (2)
[0a/1b2c3d] NOTE: Process `STEEP (2)` terminated with an error exit status (137) -- Execution is retried (1)
[0b/1b2c3d] NOTE: Process `POUR (1)` terminated with an error exit status (1) -- Error is ignored
[0c/1b2c3d] Re-submitted process > STEEP (2)
""",
    ),
    Case(
        "a warning with an exclamation mark behind the name of who looks elsewhere",
        "",
        """
step 1
TEA_SETUP: WARNING! libkettle.so not found in any environmental path. Searching in backup paths...
TEA_SETUP: found /opt/tea/libkettle.so
""",
    ),
    Case(
        "a frontend of debconf that needs a terminal",
        "",
        """
Get:1 http://deb.example/tea main kettle all 1:2.1 [9688 B]
debconf: unable to initialize frontend: Dialog
debconf: (Dialog frontend will not work on a dumb terminal, an emacs shell buffer, or without a controlling terminal.)
debconf: falling back to frontend: Readline
dpkg-preconfigure: unable to re-open stdin:
Setting up kettle
""",
    ),
    Case(
        "a heading under which nothing is told",
        "",
        """
step 1
Error:
None
everything was copied to the bucket
""",
    ),
    Case(
        "Slurm sets up less than it was told to",
        "",
        """
PRETTY_NAME="Linux 7"
slurmstepd: error: xcpuinfo_hwloc_topo_load: failed (load will be required after read failures).
slurmstepd: error: Could not run slurm task_prolog [/etc/slurm/prolog]: No such file or directory
slurmstepd: error: TMPDIR [/scratch/a] is not writeable
slurmstepd: error: Setting TMPDIR to /tmp
PRETTY_NAME="Linux 18"
""",
    ),
    Case(
        "Google's logs call the second stream of a container an error",
        "",
        """
INFO 2026-03-04T05:06:06.428217356Z [resource.labels.containerName: prepare] Copying a list
ERROR 2026-03-04T05:06:07.816816138Z [resource.labels.containerName: prepare] Copying gs://a/b/0/LIST...
ERROR 2026-03-04T05:06:07.914631240Z [resource.labels.containerName: prepare] Operation completed over 1 objects/83.0 B.
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
error: ignore
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
        "pip's remark on what it has left in conflict",
        "",
        """
ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.
trainer 1.0 requires torch==2.6, but you have torch 2.8.0 which is incompatible.
Successfully installed torch-2.8.0
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
        "no GPU on a machine that needs none",
        "",
        """
2026-03-04 05:06:07.211885: E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: \
CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
INFO:tensorflow:Assets written to: out
""",
    ),
    Case(
        "words about errors that are handled",
        "",
        "Error handling is on\nError logging goes to /var/log/job\nError in file names is looked for: none yet\n"
        "all steps done successfully\n",
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
        "git where there is no repository", "", "fatal: not a git repository (or any of the parent directories): .git\n"
    ),
    Case("a letter of Slurm, of a job that ended well", "", "Slurm Job_id=7 Ended, Run time 00:10:02, COMPLETED\n"),
    Case(
        "what libfabric says of a machine",
        "",
        "libfabric:81:1673:efa:core:to_rxr():5<warn> needs RDMA, not supported.\n",
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
        "Slurm's table of a job that is done",
        "",
        "4711              wide      trn1       team          4  COMPLETED      0:0\n",
    ),
    Case("a wait for a compile that runs", "", waits(22.0, 23.0)),
    Case(
        "a library that the loader does without",
        "",
        "ERROR: ld.so: object '/opt/libwide.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): "
        "ignored.\nWide: 3 of 3\n",
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
        "a graph that the hub does not have, and that is compiled",
        "",
        """
neuronxcc-2.20.1.0+0a1b2c3d/MODULE_0123456789abcdef0123 not found in wide-org/neuron-cache: 404 Client Error. (Request ID: Root=1-0a1b2c3d;4e5f)

Entry Not Found for url: https://huggingface.co/api/models/wide-org/neuron-cache/tree/main/neuronxcc-2.20.1.0%2B0a1b2c3d.
The model will be recompiled.
throughput 1021 samples/s
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
    Case(
        "a block of Open MPI's that says what it does without",
        "",
        """
--------------------------------------------------------------------------
Open MPI met an unusual answer of a network library (fi_domain); your job may behave unpredictably after this.

  Local host: box-3
  Error: Function not implemented (38)
--------------------------------------------------------------------------
 Processing patch           1
 Processing patch           2
""",
    ),
    Case(
        "notices of podman and of gRPC",
        "",
        """
$ podman logs box
cannot configure rootless cgroup using the cgroupfs manager
ERRO[0000] unable to write system event: "write unixgram @00004->/run/systemd/journal/socket: sendmsg: no such file or directory"
E0304 10:00:05.605493059      41 socket_utils_common_posix.cc:197] check for SO_REUSEPORT: {"description":"SO_REUSEPORT unavailable"}
hello
""",
    ),
    Case(
        "a way to a machine that the host does not have, tried first",
        "",
        """
[W socket.cpp:601] [c10d] The client socket has failed to connect to [node-1]:29500 (errno: 97 - Address family not supported by protocol).
loading the model
""",
    ),
    Case(
        "a program that a script only looks for",
        "",
        """
/usr/bin/which: no nvcc in (/usr/local/bin:/usr/bin)
building without it
""",
    ),
    Case(
        "a logger of metrics that lost its connection, and its thread",
        "",
        """
Epoch 5: 03/04/2026 07:49:46
wandb: Network error (ReadTimeout), entering retry loop. See wandb/debug-internal.log for full traceback.
tea - 16/16 (0m 3s)           | leaf = 0.000     | cup = -0.125
Exception in thread Thread-5:      | leaf = 0.000     | cup = -0.086
Traceback (most recent call last):
  File "/tea/threading.py", line 932, in _bootstrap_inner
    self.run()
""",
    ),
    Case(
        "a server that was asked to end, and reports that its engine has",
        "",
        """
(EngineCore pid=23397) INFO 08-01 21:34:51 [core.py:1214] [shutdown] EngineCore: trigger received signal=SIGTERM
(APIServer pid=23283) INFO 08-01 21:34:51 [launcher.py:100] [shutdown] API server: shutdown triggered
(APIServer pid=23283) ERROR 08-01 21:34:51 [async_llm.py:704] AsyncLLM output_handler failed.
(APIServer pid=23283) ERROR 08-01 21:34:51 [async_llm.py:704] Traceback (most recent call last):
(APIServer pid=23283) ERROR 08-01 21:34:51 [async_llm.py:704]   File "/tea/async_llm.py", line 660, in output_handler
(APIServer pid=23283) ERROR 08-01 21:34:51 [async_llm.py:704]     raise self._format_exception(outputs) from None
(APIServer pid=23283) ERROR 08-01 21:34:51 [async_llm.py:704] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.
(APIServer pid=23283) INFO:     Application shutdown complete.
""",
    ),
    Case(
        "a checkpoint without the arguments of its run",
        "",
        """
 loading release checkpoint from /tea/ckpt
could not find arguments in the checkpoint ...
 checkpoint version 0
  successfully loaded checkpoint from /tea/ckpt at iteration 0
""",
    ),
    Case(
        "a shell's start-up that does without something",
        "",
        """
/etc/profile.d/01-tea.sh: line 2: /usr/bin/tea-check: No such file or directory
/etc/hooks.d/50-tea.sh: line 39: [: 1(x2): integer expression expected
steeping
""",
    ),
    Case(
        "errors of a library that say only that it measures badly or is slow",
        "",
        """
2026-05-06 10:00:00.993081: E external/tea/kettle_timer.cc:86] Kettle timed out: measured time has sub-optimal accuracy. There may be no warm-up.
2026-05-06 10:00:01.145475: E external/tea/kettle_timer.cc:90] No large leaves: performance may be lower.
2026-05-06 10:00:20.450772: I tea/leaves.cc:452] Filling the pot (this may take a while): 549 of 3000
2026-05-06 10:00:40.422598: I tea/leaves.cc:482] Pot filled.
""",
    ),
    Case(
        "back ends that JAX does without, and an attribute of protobuf",
        "",
        """
Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'
Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory
AttributeError: 'MessageFactory' object has no attribute 'GetPrototype'
AttributeError: 'MessageFactory' object has no attribute 'GetPrototype'
pouring the first cup
""",
    ),
    Case(
        "Jenkins starts without its update site",
        "",
        """
2026-05-24 08:29:52.244+0000 [id=32]\tWARNING\thudson.model.UpdateCenter#tea: Failed to update the default site. Plugin upgrades may fail.
java.net.SocketTimeoutException: Connect timed out
\tat java.base/sun.nio.ch.NioSocketImpl.connect(NioSocketImpl.java:602)
2026-05-24 08:29:52.944+0000 [id=22]\tINFO\thudson.lifecycle.Lifecycle#onReady: Jenkins is fully up and running
""",
    ),
    Case(
        "functions of R that hide others, and PostgreSQL that is stopped",
        "",
        """
✖ tea::filter() masks stats::filter()
✖ tea::lag()    masks stats::lag()
2026-03-14 17:46:04.557 UTC [1] LOG:  background worker "logical replication launcher" (PID 69) exited with exit code 1
2026-03-14 17:46:04.588 UTC [1] LOG:  database system is shut down
""",
    ),
    Case(
        "a banner of a container about a GPU that is too new",
        "",
        """
server-1  | 2026-03-04T05:06:07.261574618Z WARNING: Detected NVIDIA GPU, which is not yet supported in this version of the container
server-1  | 2026-03-04T05:06:07.262886895Z ERROR: No supported GPU(s) detected to run this container
server-1  | 2026-03-04T05:06:17.022993485Z  * Serving Flask app 'tea'
""",
    ),
    Case(
        "pip's check of conflicts fails, in a chain, after the packages were installed",
        "",
        """
ERROR: Error checking for conflicts.
Traceback (most recent call last):
  File "/opt/pip/_vendor/pkg_resources/__init__.py", line 2691, in _dep_map
    return self.__dep_map
AttributeError: _Distribution__dep_map

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/pip/_internal/commands/install.py", line 517, in _warn_about_conflicts
    package_set, _dep_info = check_install_conflicts(to_install)
PermissionError: [Errno 13] Permission denied: '/opt/tea.egg/requires.txt'
WARNING: You are using pip version 19.2.3, however version 19.3.1 is available.
""",
    ),
    Case(
        "a cross that only marks a cache miss",
        "",
        """
❌ Cache miss
pouring
""",
    ),
    Case(
        "asyncio on Windows, where a client closed its connection",
        "",
        """
ERROR:asyncio:Exception in callback _ProactorBasePipeTransport._call_connection_lost(None)
handle: <Handle _ProactorBasePipeTransport._call_connection_lost(None)>
Traceback (most recent call last):
  File "asyncio/events.py", line 88, in _run
    self._context.run(self._callback, *self._args)
  File "asyncio/proactor_events.py", line 165, in _call_connection_lost
    self._sock.shutdown(socket.SHUT_RDWR)
ConnectionResetError: [WinError 10054] An existing connection was forcibly closed by the remote host
INFO:     127.0.0.1:5000 - "GET /tea HTTP/1.1" 200 OK
""",
    ),
    Case(
        "a client that finds this machine by another address",
        "",
        """
[W socket.cpp:663] [c10d] The client socket has failed to connect to [localhost]:12345 (errno: 101 - Network is unreachable).
GPU:0 | Epoch: 0 | Batchsize: 32 | Steps: 32
""",
    ),
    Case(
        "a column of a table that is headed by its severity",
        "",
        """
+----------+-----------+---------+
| SEVERITY | PACKAGE   | VERSION |
+----------+-----------+---------+
| CRITICAL | tea-core  | 2.14.1  |
+----------+-----------+---------+
""",
    ),
    Case(
        "TorchServe cannot read the metrics of a GPU",
        "",
        """
2026-03-04T05:06:07,042 [INFO ] main org.pytorch.serve.ModelServer - Inference API bind to: http://127.0.0.1:8080
2026-03-04T05:06:07,614 [ERROR] Thread-1 org.pytorch.serve.metrics.MetricCollector - Traceback (most recent call last):
  File "/opt/site-packages/ts/metrics/metric_collector.py", line 27, in <module>
    system_metrics.collect_all(sys.modules['ts.metrics.system_metrics'], arguments.gpu)
  File "/opt/site-packages/ts/metrics/system_metrics.py", line 64, in gpu_utilization
    import nvteapot
ModuleNotFoundError: No module named 'nvteapot'

2026-03-04T05:06:09,114 [INFO ] W-9000-tea_1.0-stdout MODEL_LOG - Torch worker started.
""",
    ),
    Case(
        "servers of vLLM and SGLang that end in order, since they were asked to",
        "",
        """
^C(EngineCore pid=4711) INFO 05-26 19:19:56 [core.py:1155] [shutdown] EngineCore: trigger received signal=SIGINT
(APIServer pid=4710) INFO 05-26 19:19:56 [launcher.py:116] [shutdown] API server: stopping engine client mode=drain timeout=15s
SIGTERM received. Draining requests and shutting down...
Gracefully exiting... Remaining number of requests 0.
""",
    ),
    Case(
        "Orbax says how long it would wait at a barrier",
        "",
        """
I0304 05:06:07.181279 140521812137792 async_checkpointer.py:83] [process=0][thread=MainThread] Using barrier_sync_fn: <function tea at 0x7fcb> timeout: 600 secs and primary_host=0 for async checkpoint writes
I0304 05:06:08.181736 140521812137792 checkpointer.py:277] Restoring checkpoint from /tmp/tea.
""",
    ),
    Case(
        "a module's advice quotes what a shell would say",
        "",
        """
Please run tea with "crun.tea" prepended to it. Otherwise you will get "command not found" error.
tea is poured
""",
    ),
    Case(
        "a library looks for a machine's own credentials in vain",
        "",
        """
2026-03-04 05:06:05.605 1 root INFO [download():63] Copying contents of gs://tea/cup to local
2026-03-04 05:06:06.666 1 google.auth.compute_engine._metadata WARNING [ping():99] Compute Engine Metadata server unavailable on attempt 1 of 3. Reason: [Errno 113] No route to host
2026-03-04 05:06:07.669 1 google.auth._default WARNING [_get_gce_credentials():301] Authentication failed using Compute Engine authentication due to unavailable metadata server.
2026-03-04 05:06:08.340 1 root INFO [download():103] Successfully copied gs://tea/cup to /mnt/models
""",
    ),
    Case(
        "a program that ends by an exception, wanted and well",
        "",
        """
saved the model to /data/out
Traceback (most recent call last):
  File "/srv/start.py", line 12, in <module>
    sys.exit(main())
SystemExit: 0
""",
    ),
    Case(
        "an image that Docker has not got yet",
        "",
        """
Unable to find image 'tea/brew:3' locally
3: Pulling from tea/brew
Status: Downloaded newer image for tea/brew:3
brewing
""",
    ),
    Case(
        "pip's mirror that is not reached, and another one that is",
        "",
        """
WARNING: Retrying (Retry(total=1, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('no such name')': /simple/tea/
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('no such name')': /simple/tea/
Collecting tea==2.1
Successfully installed tea-2.1
""",
        recovered=True,
    ),
    Case(
        "one connection that kubectl forwards",
        "",
        """
Forwarding from 127.0.0.1:8081 -> 8080
Handling connection for 8081
E0502 10:00:35.678672   13924 portforward.go:391] "Unhandled Error" err="error copying from remote stream to local connection: readfrom tcp6 [::1]:8081->[::1]:33166: write tcp6 [::1]:8081->[::1]:33166: write: broken pipe"
Handling connection for 8081
""",
    ),
    Case(
        "libraries that a program does without",
        "",
        """
failed to import teaset, use kettle instead
failed to import kettle (no such symbol: steep), fallback to plain water
* Running on local URL:  http://0.0.0.0:8000
""",
    ),
    Case(
        "a widget that a notebook does not know",
        "",
        """
epoch 1 loss 0.7
[E 10:00:34.500 NotebookApp] No such comm target registered: jupyter.widget.control
epoch 2 loss 0.6
""",
    ),
    Case(
        "telemetry that is given up",
        "",
        """
brewing
An exception occurred in telemetry logging.Disabling telemetry to prevent further exceptions.
Traceback (most recent call last):
  File "/srv/tea/logger.py", line 97, in log_event
    del self._evt
AttributeError: _evt
""",
    ),
    Case(
        "TensorBoard without its own data server",
        "",
        """
/srv/tea/site-packages/tensorboard_data_server/bin/server: /lib64/libc.so.6: version `GLIBC_2.18' not found (required by /srv/tea/server)
TensorBoard 2.8.0 at http://0.0.0.0:6017/ (Press CTRL+C to quit)
""",
    ),
    Case(
        "a machine without sound",
        "",
        """
ALSA lib pcm_dsnoop.c:618:(snd_pcm_dsnoop_open) unable to open slave
Cannot connect to server socket err = No such file or directory
Cannot connect to server request channel
jack server is not running or cannot be started
Talk to the pot:
""",
    ),
)
