"""Logs of our own in the wordings of many programs: made up jobs, hosts, hashes and times, none from a sample.

Each says what a person would call the cause: the line (a part of it), its class, how the job ended. `CAUSE >>>` in front
of a line marks it; the mark is taken out before the log is read.
"""

from __future__ import annotations

from typing import NamedTuple

MARK = ">>>"


class Case(NamedTuple):
    """One log and what must be said of it."""

    name: str
    cause_class: str
    """"" = nothing failed."""
    text: str
    ended: str = ""
    """"" = not asked."""
    recovered: bool = False

    @property
    def log(self) -> bytes:
        """The bytes of the log."""
        return self.text.lstrip("\n").replace(MARK, "").encode()

    @property
    def line(self) -> int:
        """The number of the marked line; 0 = none."""
        lines = self.text.lstrip("\n").split("\n")
        return next((number for number, line in enumerate(lines, 1) if MARK in line), 0)


TRACEBACKS = (
    Case(
        "an uncaught exception",
        "script_error",
        """
2026-05-01 10:00:00.000001:  77  [INFO]: Using a cached neff at /scratch/cache/neuronxcc-2.99.1.0+abcdef01/MODULE_11112222333344445555+0a1b2c3d/model.neff
Traceback (most recent call last):
  File "/opt/job/finetune.py", line 118, in <module>
    main()
  File "/opt/job/finetune.py", line 90, in main
    tokens = table[name]
             ~~~~~^^^^^^
>>>KeyError: 'labels'
""",
        "failed",
    ),
    Case(
        "the innermost of a chain with a direct cause",
        "script_error",
        """
Traceback (most recent call last):
  File "loader.py", line 7, in read
    return json.loads(text)
>>>json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "train.py", line 40, in <module>
    config = read(path)
RuntimeError: could not read the configuration
""",
        "failed",
    ),
    Case(
        "a probe at the bottom of a chain is not the cause",
        "script_error",
        """
Traceback (most recent call last):
  File "registry.py", line 12, in lookup
    return MODELS[kind]
KeyError: 'mamba3'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "serve.py", line 5, in <module>
    model = lookup(kind)
>>>ValueError: model kind mamba3 has no Neuron implementation
""",
    ),
    Case(
        "a chain through rank prefixes of two ranks",
        "script_error",
        """
[rank3]: Traceback (most recent call last):
[rank1]: Traceback (most recent call last):
[rank3]:   File "/job/step.py", line 9, in step
[rank1]:   File "/job/step.py", line 9, in step
[rank3]:     assert x.shape[0] == n
>>>[rank3]: AssertionError: batch of 7 does not divide into 4
[rank1]:     assert x.shape[0] == n
[rank1]: AssertionError: batch of 7 does not divide into 4
W0302 09:18:04.165000 46217 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 46301 closing signal SIGTERM
E0302 09:18:05.100000 46217 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: 3 (pid: 46304) of binary: /usr/bin/python3
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-03-02_09:18:04
  host      : node-7
  rank      : 3 (local_rank: 3)
  exitcode  : 1 (pid: 46304)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
""",
        "failed",
    ),
    Case(
        "Ray's suffix and prefix",
        "missing_dependency",
        """
(RayTrainWorker pid=912, ip=10.1.2.3) Traceback (most recent call last):
(RayTrainWorker pid=912, ip=10.1.2.3)   File "/job/worker.py", line 3, in <module>
(RayTrainWorker pid=912, ip=10.1.2.3)     import flash_widgets
>>>(RayTrainWorker pid=912, ip=10.1.2.3) ModuleNotFoundError: No module named 'flash_widgets' [repeated 15x across cluster] (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication)
ray.exceptions.RayTaskError(ModuleNotFoundError): ray::RayTrainWorker.run() (pid=912, ip=10.1.2.3)
""",
        "failed",
    ),
    Case(
        "line ends escaped in JSON",
        "script_error",
        r"""
{"time": "2026-02-01T00:00:00Z", "stream": "stderr", "host": "a"}
>>>{"log":"Traceback (most recent call last):\n  File \"/app/run.py\", line 4, in <module>\n    go()\nTypeError: unsupported operand type(s) for +: 'int' and 'NoneType'\n","stream":"stderr","time":"2026-02-01T00:00:01Z"}
""",
    ),
    Case(
        "a notebook's output as strings of a list",
        "script_error",
        r"""
   "outputs": [
    {
     "ename": "IndexError",
     "traceback": [
      "\u001b[0;31m---------------------------------------------------------------------------\u001b[0m",
      "\u001b[0;31mIndexError\u001b[0m                                Traceback (most recent call last)",
      "\u001b[0;32m/tmp/ipykernel_7/12.py\u001b[0m in \u001b[0;36m<module>\u001b[0;34m\u001b[0m\n\u001b[0;32m----> 1\u001b[0;31m \u001b[0mx\u001b[0m\n",
>>>      "\u001b[0;31mIndexError\u001b[0m: list index out of range"
     ]
""",
    ),
    Case(
        "vLLM's prefix with level and place",
        "runtime_init",
        """
INFO 03-04 10:00:00 [api_server.py:100] starting
(EngineCore_DP0 pid=812) ERROR 03-04 10:00:05 [core.py:708] EngineCore failed to start.
(EngineCore_DP0 pid=812) ERROR 03-04 10:00:05 [core.py:708] Traceback (most recent call last):
(EngineCore_DP0 pid=812) ERROR 03-04 10:00:05 [core.py:708]   File "/x/core.py", line 699, in run
(EngineCore_DP0 pid=812) ERROR 03-04 10:00:05 [core.py:708]     engine = make()
>>>(EngineCore_DP0 pid=812) ERROR 03-04 10:00:05 [core.py:708] RuntimeError: No neuron devices found on this host
(APIServer pid=700) Traceback (most recent call last):
(APIServer pid=700)   File "/x/api.py", line 1, in main
(APIServer pid=700)     start()
(APIServer pid=700) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
""",
        "failed",
    ),
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
        "a remote traceback between quotes",
        "script_error",
        '''
multiprocessing.pool.RemoteTraceback:
"""
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/pool.py", line 125, in worker
    result = (True, func(*args, **kwds))
  File "prep.py", line 3, in split
    raise ValueError("empty shard")
>>>ValueError: empty shard
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "prep.py", line 30, in <module>
    pool.map(split, shards)
ValueError: empty shard
''',
    ),
    Case(
        "an exception without its traceback",
        "script_error",
        """
Loading weights
>>>ValueError: cannot reshape array of size 12 into shape (5,)
""",
    ),
    Case(
        "pytest's marks",
        "script_error",
        """
tests/test_ops.py F
    def test_add():
>       assert add(1, 2) == 4
>>>E       AssertionError: assert 3 == 4
tests/test_ops.py:4: AssertionError
FAILED tests/test_ops.py::test_add - AssertionError: assert 3 == 4
1 failed, 3 passed in 0.12s
""",
    ),
    Case(
        "Ctrl-C",
        "interrupted",
        """
{'loss': 2.5, 'epoch': 0.1}
^CTraceback (most recent call last):
  File "train.py", line 4, in <module>
    time.sleep(5)
>>>KeyboardInterrupt
""",
        "failed",
    ),
)

LEVELS = (
    Case(
        "glog",
        "script_error",
        """
I0611 10:11:12.131415  4711 pipe.cc:10] begin
W0611 10:11:13.131415  4711 pipe.cc:11] slow
>>>F0611 10:11:14.131415  4711 pipe.cc:12] Check failed: n > 0 (0 vs. 0)
*** Check failure stack trace: ***
""",
    ),
    Case(
        "klog of a device plugin",
        "tool_error",
        """
I1024 10:11:11.131415       1 main.go:30] Starting plugin
>>>E1024 10:11:12.131415       1 plugin.go:42] Failed to enumerate devices: sysfs entry has 3 fields, want 4
""",
    ),
    Case(
        "logfmt of a profiler",
        "tool_error",
        """
time="2026-06-01T10:00:00Z" level=info msg="capturing"
time="2026-06-01T10:00:01Z" level=warning msg="no host trace"
>>>time="2026-06-01T10:00:02Z" level=error msg="profile has no notifications" file=a.ntff
""",
    ),
    Case(
        "structured JSON lines",
        "network",
        """
{"level":"info","ts":1765432100.1,"msg":"registering"}
>>>{"level":"error","ts":1765432101.1,"msg":"cannot register","error":"dial unix /var/lib/kubelet/device-plugins/kubelet.sock: connect: connection refused"}
""",
    ),
    Case(
        "the native back end",
        "runtime_exec",
        """
[W1121 22:03:04.123456789 NeuronLogging.h:103] Warning: [Neuron] [WARNING] [Allocator.cpp:12] pool grows
>>>[W1121 22:03:05.123456789 NeuronLogging.h:103] Warning: [Neuron] [ERROR] [Executor.cpp:77] stream 3 returned an unexpected completion
""",
    ),
    Case(
        "Python's logging",
        "script_error",
        """
2026-01-02 03:04:05,678 - job.data - INFO - 12 shards
>>>2026-01-02 03:04:06,678 - job.data - ERROR - shard 7 is shorter than its index says
2026-01-02 03:04:06,700 - job - CRITICAL - giving up
""",
    ),
    Case(
        "loguru",
        "script_error",
        """
2026-01-02 03:04:05.678 | INFO     | job.data:load:12 - 12 shards
>>>2026-01-02 03:04:06.678 | ERROR    | job.data:load:40 - shard 7 is shorter than its index says
""",
    ),
    Case(
        "the runtime in words nobody knows",
        "runtime_exec",
        """
2026-Mar-03 10:00:00.123456  900:910   INFO  NRT:nrt_init                                  ok
>>>2026-Mar-03 10:00:01.123456  900:910  ERROR  NMGR:stage_kelf                              descriptor chain is not closed
RuntimeError: Bad StatusOr access
""",
    ),
    Case(
        "a panic with a reason",
        "tool_error",
        """
starting
>>>panic: shard table is empty

goroutine 1 [running]:
main.main()
""",
    ),
    Case(
        "what() of C++",
        "script_error",
        """
terminate called after throwing an instance of 'std::runtime_error'
>>>  what():  tensor descriptor 12 has no owner
Aborted (core dumped)
""",
        "failed",
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
)

DEATHS = (
    Case(
        "killed by the shell's word",
        "host_oom",
        """
Loading checkpoint shards:  66%
>>>/opt/start.sh: line 12:  4711 Killed                  python serve.py
""",
    ),
    Case(
        "kernel's out-of-memory killer",
        "host_oom",
        """
[ 8123.456789] python invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0
>>>[ 8123.556789] Out of memory: Killed process 4711 (python) total-vm:812345678kB, anon-rss:501234567kB
""",
    ),
    Case(
        "kernel's out-of-memory killer takes the compiler",
        "compile_killed",
        """
>>>[ 8123.556789] Out of memory: Killed process 4711 (walrus_driver) total-vm:812345678kB, anon-rss:501234567kB
""",
    ),
    Case(
        "exit code 137 of a pod",
        "host_oom",
        """
step 10
>>>command terminated with exit code 137
""",
    ),
    Case(
        "the launcher reports signal 9",
        "host_oom",
        """
>>>E0302 09:18:05.100000 46217 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: -9) local_rank: 2 (pid: 46304) of binary: /usr/bin/python3
""",
        "failed",
    ),
    Case(
        "SIGTERM from a scheduler",
        "interrupted",
        """
{'loss': 2.1, 'epoch': 0.1}
>>>slurmstepd: error: *** STEP 991.0 ON node-3 CANCELLED AT 2026-05-01T10:00:00 DUE TO TIME LIMIT ***
srun: error: node-3: task 0: Exited with exit code 143
""",
        "failed",
    ),
    Case(
        "segmentation fault and core dump",
        "script_error",
        """
loading model
>>>Segmentation fault (core dumped)
""",
        "failed",
    ),
    Case(
        "exit status of nobody knows what",
        "script_error",
        """
preparing
>>>make: *** [Makefile:12: train] Error 2
""",
        "failed",
    ),
    Case(
        "Kubernetes' OOMKilled",
        "host_oom",
        """
Name:         job-abc
    State:          Terminated
>>>      Reason:       OOMKilled
      Exit Code:    137
""",
    ),
    Case(
        "a data loader that ran out of shared memory",
        "host_oom",
        """
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    next(it)
>>>RuntimeError: DataLoader worker (pid 712) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.
""",
    ),
)

COMPILES = (
    Case(
        "compiler code in the message of the third generation",
        "compile_error",
        """
2026-05-06 10:00:00.000001:  41  [ERROR]: Failed compilation with ['neuronx-cc', 'compile', '--framework=XLA', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb', '--output', '/tmp/x/model.neff', '--target=trn2', '--verbose=35']:
>>>2026-05-06T10:00:00Z [ERROR] [NCC_EVRF031] the sort of a 5-dimensional tensor is not supported
[libneuronxla 2.9.100.0]
RuntimeError: Bad StatusOr access: INTERNAL: RunNeuronCCImpl: error condition error != 0: <class 'subprocess.CalledProcessError'>: Command '['neuronx-cc']' returned non-zero exit status 70.
""",
    ),
    Case(
        "a message of no code on the next line",
        "compile_error",
        """
2026-05-06 10:00:00.000001:  41  [ERROR]: Failed compilation with ['neuronx-cc', 'compile', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb', '--verbose=35']:
>>>2026-05-06T10:00:00Z Layout of operand 3 of the fused region cannot be assigned
[libneuronxla 2.9.100.0]
""",
    ),
    Case(
        "killed for memory",
        "compile_killed",
        """
..........
2024-05-06 10:00:00.000001:  41  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with ['neuronx-cc', 'compile', '--target=trn1', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo.pb']: 
>>>2024-05-06T10:00:00Z [F137] neuronx-cc was forcibly killed - This most commonly occurs due to insufficient system memory. Using a smaller data type, dimensions, batch size, or a larger instance type may help.

2024-05-06 10:00:01.000001:  41  ERROR ||NEURON_CC_WRAPPER||: Compilation failed for /tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo.pb after 0 retries.
""",
    ),
    Case(
        "crashed",
        "compile_crashed",
        """
>>>2026-05-06T10:00:00Z [F139] neuronx-cc terminated abnormally - Please open a support ticket
subprocess.CalledProcessError: Command '['neuronx-cc', 'compile', 'a.pb']' returned non-zero exit status 70.
""",
    ),
    Case(
        "a missing library of the compiler",
        "missing_dependency",
        """
2024-05-06 10:00:00.000001:  41  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc compile --target=trn1 /tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb
>>>2024-05-06 10:00:03.000001:  41  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with ['neuronx-cc', 'compile', '--target=trn1', '/tmp/x/a.pb', '--verbose=35']: 2024-05-06T10:00:03Z error while loading shared libraries: libgomp.so.1: cannot open shared object file: No such file or directory
""",
    ),
    Case(
        "gave up without a word",
        "compile_error",
        """
.....
>>>2024-05-06 10:00:01.000001:  41  ERROR ||NEURON_CC_WRAPPER||: Compilation failed for /tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo.pb after 0 retries.
""",
    ),
    Case(
        "the compiler's own log",
        "compile_error",
        """
2026-01-21T05:40:13Z INFO 6595 [root]: /usr/local/bin/neuronx-cc compile a.pb --target trn1
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]: ***************************************************************
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]:  An Internal Compiler Error has occurred
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]: ***************************************************************
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]:
>>>2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]: Error message:  scheduling of loop nest 12 found no order
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]:
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]: Error class:    RuntimeError
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]: Error location: Unknown
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]: Version information:
2026-01-21T05:41:13Z ERROR 6595 [neuronx-cc]:   NeuronX Compiler version 2.99.1.0
2026-01-21T05:41:14Z INFO 6595 [root]: Subcommand returned with exitcode=70
""",
        "failed",
    ),
    Case(
        "a cached failure with its stored reason",
        "cached_failure",
        """
2024-05-06 10:00:00.000001:  41  ERROR ||NEURON_CC_WRAPPER||: Got a cached failed neff at /scratch/cache/neuronxcc-2.99.1.0+abcdef01/MODULE_11112222333344445555+0a1b2c3d/model.neff. Will skip compilation, please set --retry_failed_compilation for recompilation: 
>>> Failed compilation with ['neuronx-cc', 'compile', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo.pb']: 2024-05-05T09:00:00Z [XYZ123] Internal scheduling error
""",
    ),
    Case(
        "a cached failure that four ranks quote",
        "cached_failure",
        """
[rank1]: 2026-05-06 10:00:00.000001:  41  [ERROR]: Got a cached failed neff at /scratch/cache/neuronxcc-2.99.1.0+abcdef01/MODULE_11112222333344445555+0a1b2c3d/model.neff. Will skip compilation, please set --retry_failed_compilation for recompilation: 
>>>[rank1]: Failed compilation with ['neuronx-cc', 'compile']: 2026-05-05T09:00:00Z [ERROR] [NCC_EXTP004] instruction count 16000000 exceeds limit
[rank1]: [libneuronxla 2.9.100.0]
[rank0]: RuntimeError: [NCC_EXTP004] instruction count 16000000 exceeds limit
[rank2]: RuntimeError: [NCC_EXTP004] instruction count 16000000 exceeds limit
""",
    ),
    Case(
        "a retry of a cached failure that fails again",
        "compile_error",
        """
2026-05-06 10:00:00.000001:  41  [INFO]: Got a cached failed neff at /scratch/cache/neuronxcc-2.99.1.0+abcdef01/MODULE_11112222333344445555+0a1b2c3d/model.neff. With eror log: [Failed compilation with ['neuronx-cc', 'compile']:
2026-05-05T09:00:00Z [ERROR] [NCC_EXTP004] instruction count 16000000 exceeds limit
[libneuronxla 2.9.100.0]
].                 Retrying...
......
2026-05-06 10:20:00.000001:  41  [ERROR]: Failed compilation with ['neuronx-cc', 'compile', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb']:
>>>2026-05-06T10:20:00Z [ERROR] [NCC_EXTP004] instruction count 16000000 exceeds limit
[libneuronxla 2.9.100.0]
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
        "the native back end's compile failure",
        "compile_error",
        """
(Trainer pid=77) Traceback (most recent call last):
(Trainer pid=77)   File "/job/a.py", line 1, in <module>
(Trainer pid=77)     f(x)
(Trainer pid=77) RuntimeError: Compilation error occurred on Neuron for operation=torch_compile;
>>>(Trainer pid=77) error message="COMPILATION FAILED: neuronx-cc left no module.neff in /tmp/neuron_backend/77"
""",
    ),
    Case(
        "a compile that took too long",
        "compile_timeout",
        """
>>>subprocess.TimeoutExpired: Command '['neuronx-cc', 'compile', 'a.pb']' timed out after 7200 seconds
""",
    ),
    Case(
        "wrong flags",
        "bad_usage",
        """
usage: neuronx-cc compile [-h] [--target TARGET]
>>>neuronx-cc compile: error: unrecognized arguments: --optlevel3
""",
    ),
)

RUNTIME = (
    Case(
        "cores that are taken",
        "runtime_init",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR   NRT:nrt_allocate_neuron_cores                NeuronCore(s) not available - Requested:nc0-nc7 Available:0
2026-Mar-03 10:00:00.223456  900:900  ERROR   NRT:nrt_infodump                              Failure: NRT_RESOURCE in nrt_init()
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    x.to('xla')
RuntimeError: The Neuron runtime could not be initialized. Neuron driver issues are logged to your system logs.
""",
    ),
    Case(
        "device memory",
        "runtime_oom",
        """
2026-Mar-03 10:00:00.100000  900:900  ERROR  TDRV:dmem_alloc_internal                      Failed to alloc DEVICE memory: 4194304
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:log_dev_mem                             Failed to allocate 4.000MB (alignment: none, usage: tensors) on ND 2:NC 1
2026-Mar-03 10:00:00.223456  900:901  ERROR  TDRV:log_dev_mem                             Failed to allocate 4.000MB (alignment: none, usage: tensors) on ND 2:NC 0
2026-Mar-03 10:00:00.323456  900:900  ERROR   NRT:nrt_infodump                            NEURON_RT_EXEC_TIMEOUT=600
RuntimeError: nrt_tensor_allocate status=4 message="Allocation Failure"
""",
    ),
    Case(
        "an execution that hangs",
        "runtime_exec",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:exec_consume_tpb_status_notifications        (FATAL-RT-UNDEFINED-STATE) execution timeout (120000 ms) on Neuron Device 0 NC 3, model a.neff, waiting for execution completion notification
2026-Mar-03 10:00:00.223456  900:900  ERROR  NMGR:dlr_infer                                 Inference completed with err: 5
RuntimeError: nrt_execute status=5 message="Timeout"
""",
    ),
    Case(
        "a collective that hangs",
        "collective",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:exec_check                               missing collectives status on Neuron Device 0 NC 1, model 2 - suspected hang in collectives operation 3 out of 90
2026-Mar-03 10:00:00.223456  900:900  ERROR   NRT:nrt_infodump                              Failure: NRT_TIMEOUT in nrt_execute()
""",
    ),
    Case(
        "broken hardware in the kernel's log",
        "runtime_exec",
        """
>>>[ 5123.456789] neuron: NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR instance-id=i-0 hostname=h nd-id=3 nc-id=0 serial-num=1 action=REPLACE
""",
    ),
    Case(
        "out of bounds",
        "runtime_exec",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:exec_request_process_errors             [ND 0][NC 0] Out of bounds access of an indirect memory copy in a.neff
RuntimeError: nrt_execute status=1006
""",
    ),
    Case(
        "a lock that was broken at the end of a log",
        "lock_timeout",
        """
compiling
>>>[W1121 22:03:04.123456789 NeuronLogging.h:103] Warning: [Neuron] [WARNING] [FileLock.cpp:182] Lock acquisition timed out, breaking stale lock path= /c/locks/0123456789abcdef0123456789abcdef.lock elapsed_seconds= 1200
""",
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
        "a server nobody answers",
        "network",
        """
>>>2026/05/01 10:00:00 Get "https://10.0.0.1:443/api": dial tcp 10.0.0.1:443: connect: no route to host
""",
    ),
    Case(
        "peers that only saw the connection close",
        "script_error",
        """
[rank0]: RuntimeError: [enforce fail at tcp.cc:77] Connection closed by peer [10.1.1.2]:4000
[rank5]: Traceback (most recent call last):
[rank5]:   File "train.py", line 3, in <module>
[rank5]:     main()
>>>[rank5]: FloatingPointError: gradient norm is not finite
[rank0]: BrokenPipeError: [Errno 32] Broken pipe
""",
    ),
)

TRAPS = (
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
)

CASES = (*TRACEBACKS, *LEVELS, *DEATHS, *COMPILES, *RUNTIME, *TRAPS)
