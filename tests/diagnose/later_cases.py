"""A second set of logs of our own, written after the rules and before they were tried on them."""

from __future__ import annotations

from tests.diagnose.cases import Case

LATER_CASES = (
    Case(
        "srun's task numbers",
        "script_error",
        """
0: loading
3: Traceback (most recent call last):
1: Traceback (most recent call last):
3:   File "/job/a.py", line 3, in <module>
1:   File "/job/a.py", line 3, in <module>
3:     check(x)
>>>3: ArithmeticError: scale of layer 7 is zero
1:     check(x)
1: ArithmeticError: scale of layer 7 is zero
srun: error: node-1: tasks 1,3: Exited with exit code 1
""",
        "failed",
    ),
    Case(
        "a host's name in front of each line",
        "script_error",
        """
ip-10-0-1-7: Traceback (most recent call last):
ip-10-0-1-9: step 3
ip-10-0-1-7:   File "/job/a.py", line 3, in <module>
ip-10-0-1-7:     check(x)
>>>ip-10-0-1-7: LookupError: shard 9 of the index is missing
""",
    ),
    Case(
        "a device that the container engine cannot pass in",
        "runtime_init",
        """
>>>docker: Error response from daemon: error gathering device information while adding custom device "/dev/neuron0": no such file or directory.
""",
    ),
    Case(
        "a package that is nowhere",
        "missing_dependency",
        """
Reading package lists... Done
>>>E: Unable to locate package aws-neuronx-tools
""",
    ),
    Case(
        "pip finds nothing",
        "missing_dependency",
        """
Looking in indexes: https://index.example.org/simple
>>>ERROR: Could not find a version that satisfies the requirement neuronx-cc==9.9.* (from versions: none)
ERROR: No matching distribution found for neuronx-cc==9.9.*
""",
    ),
    Case(
        "a back end of JAX that does not start",
        "runtime_init",
        """
Traceback (most recent call last):
  File "a.py", line 2, in <module>
    jax.devices()
>>>RuntimeError: Unable to initialize backend 'neuron': INTERNAL: no device answered
""",
    ),
    Case(
        "the old runtime daemon",
        "runtime_init",
        """
2021-05-05 10:00:00.123456: E tensorflow/neuron/runtime.cc:12] grpc server unix:/run/neuron.sock is unavailable. Is neuron-rtd running?
""".replace("2021", ">>>2021"),
    ),
    Case(
        "a trace without a single operator",
        "compile_error",
        """
INFO:Neuron:There are 3 ops of 1 different types in the TorchScript
>>>RuntimeError: No operations were successfully partitioned and compiled to neuron for this model - aborting trace!
""",
    ),
    Case(
        "a managed training job's report",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import peft
>>>ModuleNotFoundError: No module named 'peft'
2026-01-01 10:00:00 Uploading - Uploading generated training model
sagemaker.exceptions.UnexpectedStatusException: Error for Training job x: Failed. Reason: AlgorithmError: ExecuteUserScriptError:
ExitCode 1
ErrorMessage "ModuleNotFoundError: No module named 'peft'"
""",
        "failed",
    ),
    Case(
        "Slurm's word on memory",
        "host_oom",
        """
step 3
>>>slurmstepd: error: Detected 1 oom_kill event in StepId=99.0. Some of the step tasks have been OOM Killed.
srun: error: node-4: task 0: Out Of Memory
""",
    ),
    Case(
        "Ray's memory monitor",
        "host_oom",
        """
>>>ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.
""",
    ),
    Case(
        "a pod that cannot be placed",
        "runtime_init",
        """
Events:
  Type     Reason            Age   From               Message
>>>  Warning  FailedScheduling  12s   default-scheduler  0/3 nodes are available: 3 Insufficient aws.amazon.com/neuron.
""",
    ),
    Case(
        "an image that cannot be pulled",
        "network",
        """
>>>  Warning  Failed     3s    kubelet  Failed to pull image "reg.example.org/x:1": rpc error: code = Unknown desc = dial tcp: lookup reg.example.org: no such host
""",
    ),
    Case(
        "a hub that refuses",
        "network",
        """
Traceback (most recent call last):
  File "/x/hub.py", line 9, in get
    response.raise_for_status()
>>>requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://hub.example.org/api/models/x

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 1, in <module>
    load()
hub.errors.GatedRepoError: 401 Client Error. Cannot access gated repo for url https://hub.example.org/x
""",
    ),
    Case(
        "a port that is taken",
        "network",
        """
>>>[rank0]: RuntimeError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use
""",
    ),
    Case(
        "workers that did not come",
        "collective",
        """
>>>torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 3/4 clients joined.
""",
    ),
    Case(
        "a watchdog of collectives",
        "collective",
        """
>>>[rank2]:[E611 10:00:00.123456789 ProcessGroup.cpp:629] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE) ran for 1800000 milliseconds before timing out.
terminate called after throwing an instance of 'c10::DistBackendError'
""",
    ),
    Case(
        "a process of its own dies of an exception",
        "script_error",
        """
Process SpawnProcess-3:
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/process.py", line 314, in _bootstrap
    self.run()
  File "worker.py", line 7, in run
    raise OSError("tokenizer.json holds no merges")
>>>OSError: tokenizer.json holds no merges
""",
    ),
    Case(
        "Python's own fault handler",
        "script_error",
        """
loading
>>>Fatal Python error: Aborted

Thread 0x00007f (most recent call first):
  File "a.py", line 3 in step
""",
        "failed",
    ),
    Case(
        "Windows' line ends",
        "script_error",
        """
loading\r
Traceback (most recent call last):\r
  File "a.py", line 3, in <module>\r
    go()\r
>>>TypeError: go() missing 1 required positional argument: 'x'\r
""",
    ),
    Case(
        "a program that cannot be loaded",
        "runtime_exec",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  NMGR:kmgr_load_nn                              Failed to load NN: /x/a.neff, err: 2
2026-Mar-03 10:00:00.223456  900:900  ERROR   NRT:nrt_infodump                              Failure: NRT_INVALID in nrt_load()
RuntimeError: Could not load the model status=2 message=Invalid
""",
    ),
    Case(
        "a program of a newer compiler",
        "bad_usage",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:parse_instr                               Unsupported hardware operator code 233 found in neff a.neff
RuntimeError: Could not load the model status=10 message=Unsupported NEFF
""",
    ),
    Case(
        "an old driver",
        "runtime_init",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:check_driver                              This runtime requires Neuron Driver version 2.19 or greater. Please upgrade aws-neuronx-dkms package.
2026-Mar-03 10:00:00.223456  900:900  ERROR   NRT:nrt_init                                  Failed to initialize devices, error:1
""",
    ),
    Case(
        "a kernel function that breaks its rules",
        "script_error",
        """
Traceback (most recent call last):
  File "kernel.py", line 12, in add
    nl.store(out, x)
>>>SyntaxError: tile of 200 partitions is larger than 128
""",
    ),
    Case(
        "a compile that the launcher's parent reports",
        "compile_error",
        """
2026-05-06 10:00:01.000001:  41  [ERROR]: Failed compilation with ['neuronx-cc', 'compile', '/tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb']:
>>>2026-05-06T10:00:01Z Non-signal exit. Backend exited with code 1 and stderr: [INTERNAL_ERROR] [NCC_IXYZ001] operand of the gather has no layout
[libneuronxla 2.9.100.0]
2026-05-06 10:00:02.000001:  40  [INFO]: Compilation summary - Total graphs: 3, Success: 2, Failed: 1
""",
    ),
    Case(
        "a parallel compile of which one graph failed",
        "compile_error",
        """
2026-05-06 10:00:02.000001:  40  [INFO]: Current remaining items are 0, locked are 0, failed are 1, done are 2, total is 3
>>>2026-05-06 10:00:02.000001:  40  [INFO]: Compilation summary - Total graphs: 3, Success: 2, Failed: 1
""",
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
        "a server that goes on after a bad request",
        "",
        "INFO 03-04 10:00:00 [api_server.py:100] Application startup complete.\n"
        "ERROR 03-04 10:00:01 [serving.py:20] request 7 asks for more tokens than the model has\n"
        + 'INFO:     10.0.0.1:4000 - "POST /v1/completions HTTP/1.1" 200 OK\n'
        * 4,
    ),
    Case(
        "an output buffer that is printed behind the traceback",
        "script_error",
        """
Traceback (most recent call last):
  File "a.py", line 9, in <module>
    evaluate()
>>>ZeroDivisionError: division by zero
E0302 09:18:05.100000 46217 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: 0 (pid: 46304) of binary: /usr/bin/python3
step 1 loss: 2.1
step 2 loss: 2.0
step 3 loss: 1.9
step 4 loss: 1.8
step 5 loss: 1.7
step 6 loss: 1.6
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
""",
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
        "a job that prints its time after it failed",
        "script_error",
        """
Traceback (most recent call last):
  File "a.py", line 1, in <module>
>>>NameError: name 'modle' is not defined

real\t0m3.343s
user\t0m2.984s
sys\t0m0.249s
""",
        "failed",
    ),
    Case(
        "a pod's memory limit, as Ray suspects it",
        "host_oom",
        """
Traceback (most recent call last):
  File "/job/a.py", line 3, in <module>
    ray.get(refs)
ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.
>>>The actor is dead because its worker process has died. Worker exit detail: Worker exits unexpectedly. The worker may have exceeded K8s pod memory limits.
""",
    ),
    Case(
        "a load that failed, in the framework's list of errors",
        "runtime_exec",
        """
RuntimeError: INTERNAL: From /job:c_localservice/replica:0/task:0:
2 root error(s) found.
>>>  (0) INTERNAL: Nrt::Load failed on NeuronCores 0-0(2): nrt_load status=1, error message="Non specific failure".
""",
    ),
    Case(
        "a compiler that was killed, by its status alone",
        "compile_killed",
        """
Traceback (most recent call last):
  File "/job/a.py", line 3, in <module>
    trace(model)
>>>RuntimeError: neuronx-cc failed with -9
""",
    ),
    Case(
        "a compiler that crashed, by its status alone",
        "compile_crashed",
        """
Traceback (most recent call last):
  File "/job/a.py", line 3, in <module>
    trace(model)
>>>RuntimeError: neuronx-cc failed with -11
""",
    ),
    Case(
        "an exception as SageMaker's toolkit reports it",
        "script_error",
        """
2026-03-01 10:00:00,123 sagemaker-training-toolkit ERROR    Reporting training FAILURE
2026-03-01 10:00:00,123 sagemaker-training-toolkit ERROR    ExecuteUserScriptError:
ExitCode 1
>>>ErrorMessage "RuntimeError: shape mismatch: a tensor of shape [4] cannot be broadcast"
""",
    ),
    Case(
        "a driver that is too old for the runtime",
        "runtime_init",
        """
>>>2026-Mar-01 10:00:00.123456   100:200   ERROR   TDRV:tdrv_check_driver   Neuron driver version 2.10 is too old
Traceback (most recent call last):
  File "/job/a.py", line 3, in <module>
    model.to("neuron")
RuntimeError: NRT could not be initialized
""",
    ),
    Case(
        "a traceback that the compiler quotes as its message",
        "compile_error",
        """
01/05/2026 09:00:00 AM ERROR 41 [neuron-cc]: ***************************************************************
01/05/2026 09:00:00 AM ERROR 41 [neuron-cc]:  An Internal Compiler Error has occurred
01/05/2026 09:00:00 AM ERROR 41 [neuron-cc]: ***************************************************************
01/05/2026 09:00:00 AM ERROR 41 [neuron-cc]:
01/05/2026 09:00:00 AM ERROR 41 [neuron-cc]: Error message:  Traceback (most recent call last):
  [bt] (2) /venv/lib/libthing.so(Call+0x52) [0x7e00]
  [bt] (1) /venv/lib/libthing.so(+0xb45) [0x7e01]
  File "/src/node.cc", line 55
>>>ThingError: Check failed: kind == kNode (0 vs. 8) : expected a node but got an int
01/05/2026 09:00:00 AM ERROR 41 [neuron-cc]:
01/05/2026 09:00:00 AM ERROR 41 [neuron-cc]: Error class:    ThingError
Compile command returned: 1
""",
    ),
    Case(
        "a status of the runtime in a framework's words",
        "runtime_exec",
        """
>>>1: 2026-01-05 09:00:00.574098: E tensorflow/neuron/runtime/model.cc:706] shard error code 13, error message nrt::infer_wait failed with grpc status code 0, error message ""; nrt status code 1004
""",
    ),
    Case(
        "device memory, in a C++ exception",
        "runtime_oom",
        """
step 17 loss 3.2
terminate called after throwing an instance of 'c10::Error'
>>>  what():  nrt_tensor_allocate status=4 message="Allocation Failure"
Fatal Python error: Aborted
Aborted (core dumped)
""",
    ),
    Case(
        "a rank that was killed by a signal while others waited for it",
        "script_error",
        """
[rank0]:[E1103 10:00:00.123 ProcessGroupGloo.cpp:144] Rank 0 successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 2
[rank0]: RuntimeError: Rank 2 failed to pass monitoredBarrier in 1800000 ms
W1103 10:00:01.000 140 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 1 closing signal SIGTERM
>>>E1103 10:00:02.000 140 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -7) local_rank: 2 (pid: 55) of binary: /usr/bin/python
""",
    ),
    Case(
        "cores that neuron-rtd could not give",
        "runtime_init",
        """
Traceback (most recent call last):
  File "/job/serve.py", line 9, in <module>
    model = torch.jit.load("model.pt")
>>>RuntimeError: NeuronDevice::load: Context=NRTD_CTX_CREATE NRTD response code 'NERR_RESOURCE_NC' (9) There were insufficent NCs for this model
""",
    ),
    Case(
        "a program with features that the runtime does not know",
        "bad_usage",
        """
>>>2026-Jan-18 01:49:40.973724    97:99    ERROR  NEFF:neff_parse                NEFF version: 2.0, features: 0x400 are not supported.  Currently supporting: 0xff
2026-Jan-18 01:49:40.973725    97:99    ERROR  NMGR:kmgr_load_nn_post_metrics    Failed to load NN: /tmp/w/model.MODULE_f4+2c.neff, err: 10
""",
    ),
    Case(
        "a number of cores that collectives cannot connect",
        "bad_usage",
        """
>>>2026-Jun-02 04:05:36.428977   273:478   ERROR   NRT:nrt_load_collectives      Unsupported topology. Supported number of Neuron Cores is 1, 2, 8 or a multiple of 32.
Traceback (most recent call last):
  File "/job/generate.py", line 12, in <module>
    model.to_neuron()
RuntimeError: nrt_load_collectives status=2
""",
    ),
    Case(
        "a program that computed NaN",
        "runtime_exec",
        """
Processed prompts:   0%|          | 0/4 [00:00<?, ?it/s]
Traceback (most recent call last):
  File "/job/offline.py", line 70, in <module>
    outputs = llm.generate(prompts)
>>>RuntimeError: Failed to execute the model status=1003 message=Numerical Error
""",
    ),
    Case(
        "a fatal line of XLA without a stamp",
        "bad_usage",
        """
step 1 loss 2.1
>>>F external/xla/xla/parse_flags_from_env.cc:224] Unknown flags in XLA_FLAGS: --xla_no_such_flag=1
Aborted (core dumped)
""",
    ),
    Case(
        "the runtime's plug-in that is not installed",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "/job/train.py", line 5, in <module>
    import torch_xla.distributed.xla_backend
>>>FileNotFoundError: [Errno 2] No such file or directory: 'libneuronpjrt-path'
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
        "a shard's traceback in a line of Rust's tracing",
        "script_error",
        r"""
{"timestamp":"2026-08-29T14:40:16.2Z","level":"INFO","fields":{"message":"Waiting for shard to be ready..."},"target":"launcher","span":{"rank":0}}
>>>{"timestamp":"2026-08-29T14:40:17.1Z","level":"ERROR","fields":{"message":"Shard complete standard error output:\n\nTraceback (most recent call last):\n  File \"/app/server\", line 8, in <module>\nRuntimeError: no model for 8 cores"},"target":"launcher"}
{"timestamp":"2026-08-29T14:40:17.2Z","level":"ERROR","fields":{"message":"Shard 0 failed to start"},"target":"launcher"}
""",
    ),
    Case(
        "an exception in the compiler's own code",
        "compile_error",
        """
Process Process-1:
Traceback (most recent call last):
  File "neuronxcc/driver/CommandDriver.py", line 343, in neuronxcc.driver.CommandDriver.CommandDriver.run
  File "/venv/site-packages/neuronxcc/penguin/Compile.py", line 60, in neuronxcc.penguin.Compile.run
>>>AssertionError: unsupported dtype int64 in select
Traceback (most recent call last):
  File "/job/vit.py", line 30, in <module>
    model = trace(vit, x)
RuntimeError: neuronx-cc failed with 1
""",
    ),
    Case(
        "a banner of the first compiler without a process",
        "compile_error",
        """
01/05/2026 09:00:00 AM ERROR [neuron-cc]: ***************************************************************
01/05/2026 09:00:00 AM ERROR [neuron-cc]:  An Internal Compiler Error has occurred
01/05/2026 09:00:00 AM ERROR [neuron-cc]: ***************************************************************
01/05/2026 09:00:00 AM ERROR [neuron-cc]:
>>>01/05/2026 09:00:00 AM ERROR [neuron-cc]: Error message:  A process in the process pool was terminated abruptly.
01/05/2026 09:00:00 AM ERROR [neuron-cc]:
01/05/2026 09:00:00 AM ERROR [neuron-cc]: Error class:    BrokenProcessPool
Compile command returned: 1
""",
    ),
    Case(
        "a rank that was killed while the launcher waited for the others",
        "host_oom",
        """
step 120/1000 loss 2.0
[2026-03-01 10:00:00,000] torch.distributed.elastic.agent.server.api: [ERROR] Error waiting on exit barrier. Elapsed: 300.1 seconds
Traceback (most recent call last):
  File "/usr/local/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-03-01_10:00:00
  rank      : 5 (local_rank: 5)
>>>  exitcode  : -9 (pid: 332066)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 332066
============================================================
""",
    ),
    Case(
        "instructions that the compiler does not know, said by XLA",
        "compile_error",
        """
2026-01-04 08:46:56.230973: E tensorflow/compiler/xla/xla_client/xla_util.cc:88] *** Begin stack trace ***
2026-01-04 08:46:56.230991: E tensorflow/compiler/xla/xla_client/xla_util.cc:88]   OP_REQUIRES failed at tpu_execute_op.cc:266 : UNIMPLEMENTED:
>>>2026-01-04 08:46:56.230998: E tensorflow/compiler/xla/xla_client/xla_util.cc:88] The following HLO instructions are not supported by neuronx-cc:
2026-01-04 08:46:56.231022: E tensorflow/compiler/xla/xla_client/xla_util.cc:88] %reverse.3 = f32[4] reverse(f32[4] %transpose.2)
Traceback (most recent call last):
  File "/job/train.py", line 100, in <module>
    xm.mark_step()
RuntimeError: UNIMPLEMENTED: From /job:localservice/replica:0/task:0:
""",
    ),
    Case(
        "a tensor that the runtime refuses, by its status alone",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "/job/generate.py", line 20, in <module>
    model.to_neuron()
>>>RuntimeError: nrt_tensor_allocate status=2
""",
    ),
    Case(
        "a tensor for which there is no memory, by its status alone",
        "runtime_oom",
        """
Traceback (most recent call last):
  File "/job/generate.py", line 20, in <module>
    model.to_neuron()
>>>RuntimeError: nrt_tensor_allocate status=4
""",
    ),
    Case(
        "a server in Go whose handler crashed",
        "tool_error",
        """
2026/11/24 14:40:00 Starting scheduler extension
>>>2026/11/24 14:40:03 http: panic serving 10.2.37.164:54286: runtime error: invalid memory address or nil pointer dereference
goroutine 74 [running]:
net/http.(*conn).serve.func1(0xc0002a00a0)
""",
    ),
    Case(
        "a pod that was not given its devices",
        "tool_error",
        """
Events:
  Type     Reason                    Age   From               Message
  Normal   Scheduled                 10s   default-scheduler  Successfully assigned default/train to ip-10-0-0-1
>>>  Warning  UnexpectedAdmissionError  10s   kubelet            Allocate failed due to rpc error: code = Unknown, which is unexpected
""",
    ),
    Case(
        "an error of the compiler's last stage",
        "compile_error",
        """
2026-02-05T18:44:54Z Running birverifier
>>>=== BIR error === Reason: Access pattern out of bound. Instruction: pool_1_I-66-tc Opcode: TensorCopy Offset: 4050
2026-02-05T18:44:55Z
2026-02-05T18:44:55Z Diagnostic information:
2026-02-05T18:44:55Z   NeuronX Compiler version 2.11.0.34+c5231f848
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
        "a graph's failure, told by PyTorch/XLA's first client",
        "compile_error",
        """
2023-11-09 21:39:52.908320: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] 2 root error(s) found.
>>>2023-11-09 21:39:52.908325: E tensorflow/compiler/xla/xla_client/xla_util.cc:90]   (0) INTERNAL: neuronx-cc compilation failed.
2023-11-09 21:39:52.908327: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] \t [[{{node XRTExecute}}]]
Traceback (most recent call last):
  File "/job/run_clm.py", line 616, in <module>
2023-11-09 21:39:52.909526: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] *** Begin stack trace ***
    main()
RuntimeError: INTERNAL: From /job:localservice/replica:0/task:0:
""",
    ),
    Case(
        "a failed compile of neuron_parallel_compile whose reason is not printed",
        "compile_error",
        """
>>>2024-12-24 11:10:32.000600:  7884  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with ['neuronx-cc', 'compile'] after 0 retries.
concurrent.futures.process._RemoteTraceback:
\"\"\"
Traceback (most recent call last):
  File "/usr/lib/python3.10/concurrent/futures/process.py", line 246, in _process_worker
    r = call_item.fn(*call_item.args, **call_item.kwargs)
\"\"\"
subprocess.CalledProcessError: Command '['neuronx-cc', 'compile']' returned non-zero exit status 70.
""",
    ),
    Case(
        "a saved model of TensorFlow of which nothing was compiled",
        "compile_error",
        """
INFO:tensorflow:fusing subgraph {subgraph neuron_op_1} with neuron-cc; log file is at /tmp/x/graph_def.neuron-cc.log
WARNING:tensorflow:Failed to fuse subgraph {subgraph neuron_op_1} with '/job/bin/neuron-cc compile /tmp/x/graph_def.pb'
INFO:tensorflow:Number of operations placed on Neuron runtime: 0
>>>WARNING:tensorflow:Converted ./saved to ./neuron but no operator will be running on AWS machine learning accelerators.
""",
    ),
)
