"""Graphs that were not compiled: the compiler refused, crashed, was killed, took too long, or was waited for in vain."""

from __future__ import annotations

from tests.diagnose.cases.case import Case
from tests.diagnose.cases.wordings import SERVICE, XLA, waits

STAMP = "2026-03-04T05:06:07Z"
COMPILES = (
    Case(
        "a C compiler that Triton calls ends with a status, in PyTorch's words for the graph's compiler",
        "compile_error",
        """
Traceback (most recent call last):
  File "/opt/venv/lib/triton/runtime/build.py", line 50, in _build
    ret = subprocess.check_call(cc_cmd)
  File "/usr/lib/python3.11/subprocess.py", line 413, in check_call
    raise CalledProcessError(retcode, cmd)
>>>torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:
>>>CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tea/main.c', '-O3', '-o', '/tmp/tea/utils.so']' returned non-zero exit status 1.

Set TORCH_LOGS="+dynamo" and TORCHDYNAMO_VERBOSE=1 for more information
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
        "a shell says behind the dots that the compiler crashed",
        "compile_crashed",
        """
Selecting 4120 allocations
>>>......Floating point exception (core dumped)
2024-05-06 10:00:01.000001: INFO ||NCC_WRAPPER||: Compilation failed for /tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo.pb after 0 retries.
""",
    ),
    Case(
        "a shell says behind the dots that the compiler was killed",
        "compile_killed",
        """
>>>........Killed
2024-05-06 10:00:01.000001: INFO ||NCC_WRAPPER||: Compilation failed for /tmp/x/model.MODULE_11112222333344445555+0a1b2c3d.hlo.pb after 0 retries.
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
        "a lock that was broken at the end of a log",
        "lock_timeout",
        """
compiling
>>>[W1121 22:03:04.123456789 NeuronLogging.h:103] Warning: [Neuron] [WARNING] [FileLock.cpp:182] Lock acquisition timed out, breaking stale lock path= /c/locks/0123456789abcdef0123456789abcdef.lock elapsed_seconds= 1200
""",
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
        "the conversion that failed before a trace without a single operator",
        "compile_error",
        """
INFO:Neuron:PyTorch to TF conversion failed to resolve function on aten::expand with inputs [1, 2]
WARNING:Neuron:torch.neuron.trace failed on _NeuronGraph$12; falling back to native python function call
ERROR:Neuron:Dimensions 3 and 4 of the expanded operand do not agree
Traceback (most recent call last):
  File "/opt/site-packages/torch_neuron/convert.py", line 41, in op_converter
    neuron_function = self.subgraph_compiler(
  File "/opt/site-packages/torch_neuron/ops/aten.py", line 25, in expand
    raise ValueError(str(e))
>>>ValueError: Dimensions 3 and 4 of the expanded operand do not agree
INFO:Neuron:The neuron partitioner created 1 sub-graphs
INFO:Neuron:Neuron successfully compiled 0 sub-graphs, Total fused subgraphs = 1
INFO:Neuron:Compiled these operators (and operator counts) to Neuron:
INFO:Neuron:Not compiled operators (and operator counts) to Neuron:
INFO:Neuron: => aten::expand: 4 [supported]
Traceback (most recent call last):
  File "trace.py", line 9, in <module>
    torch.neuron.trace(model, example)
RuntimeError: No operations were successfully partitioned and compiled to neuron for this model - aborting trace!
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
    Case(
        "the compiler's C++ aborts",
        "compile_error",
        """
Invoking SomePass pass
>>>2026-03-04 05:06:07.890123: F hilo/MLIRPasses/Transforms/SomePass.cc:77] false && "the buffer is read behind its end."
""",
    ),
    Case(
        "a managed compile that fails",
        "compile_error",
        """
>>>UnexpectedStatusException: Error for Compilation job x: Failed. Reason: ClientError: CompilationError: the model has an operator that is unknown
""",
    ),
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
        "a failed compile whose lines SkyPilot marks",
        "compile_error",
        """
(head, rank=0, pid=71) ..waiting for the server
>>>(head, rank=0, pid=71) 2026-06-21 09:33:40.000866:  38  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with ['neuronx-cc', 'compile', '/tmp/x.pb']: 2026-06-21T09:33:40Z
(head, rank=0, pid=71) .
(head, rank=0, pid=71) 2026-06-21 09:33:40.000867:  38  ERROR ||NEURON_CC_WRAPPER||: Compilation failed for /tmp/x.pb after 0 retries.
""",
    ),
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
        "a thread's number in the compiler's header",
        "compile_error",
        """
2026-03-04T05:06:07Z ERROR 77 140579525248832 [neuronxcc.driver.CommandDriver]:  An Internal Compiler Error has occurred
2026-03-04T05:06:07Z ERROR 77 140579525248832 [neuronxcc.driver.CommandDriver]: *****************************
>>>2026-03-04T05:06:07Z ERROR 77 140579525248832 [neuronxcc.driver.CommandDriver]: Error message:  an axis is lost
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
        "a failed compile in XLA's dump of a status",
        "compile_error",
        """
2026-03-04 05:06:07.000001: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] 2 root error(s) found.
>>>2026-03-04 05:06:07.000002: E tensorflow/compiler/xla/xla_client/xla_util.cc:90]   (0) INTERNAL: neuronx-cc compilation failed.
2026-03-04 05:06:07.000003: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] 	 [[{{node Execute}}]]
2026-03-04 05:06:07.000004: E tensorflow/compiler/xla/xla_client/xla_util.cc:90] 0 successful operations.
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
        "a failed compile in XLA's status whose heading is cut off",
        "compile_error",
        """
0 successful operations.
Recent warning and error logs:
>>>  OP_REQUIRES failed at tpu_execute_op.cc:12 : INTERNAL: neuronx-cc compilation failed.
    main()
""",
    ),
    Case(
        "a code whose message says what could not be done",
        "compile_error",
        """
>>>checking the kernel...[GCA035]  Instruction: I-3-0 couldn't be allocated in SB
Location: 12 Bytes per Partition
Traceback (most recent call last):
  File "/job/check.py", line 9, in <module>
    run(kernel)
  File "neuronxcc/nki/compile.py", line 9, in neuronxcc.nki.compile.GenericKernel.__call__
""",
        "failed",
    ),
    Case("LLVM gives up", "compile_error", "loading\n>>>LLVM ERROR: gatherOp has no attribute of that name\n"),
    Case(
        "an instruction that its own verifier refuses",
        "compile_error",
        ">>>Instruction DMACopy inst.7: source and destination differ in shape\n",
    ),
    Case(
        "an instruction that the code generator refuses",
        "compile_error",
        f"""
I-16-38: Matmul
>>>I-16-38: inst failed assertion check: 'valid_partition'
{STAMP} ERROR 18 [WalrusDriver]: An exception was thrown:
-----------------------
 0# __cxa_throw in /opt/libwalrus.so
""",
    ),
    Case(
        "the end of a banner whose message is cut off",
        "compile_error",
        f"""
>>>{STAMP} ERROR 18 [neuronx-cc]:   File "neuronxcc/driver/Job.py", line 30, in neuronxcc.driver.Job.run
{STAMP} ERROR 18 [neuronx-cc]:   NEFF version Dynamic
{STAMP} ERROR 18 [neuronx-cc]:   TVM not available
{STAMP} ERROR 18 [neuronx-cc]:
{STAMP} ERROR 18 [neuronx-cc]: Artifacts stored in: /tmp/work
""",
    ),
    Case(
        "a traceback that is cut off in the compiler's own code",
        "compile_error",
        """
Process Process-1:
Traceback (most recent call last):
  File "neuronxcc/driver/CommandDriver.py", line 9, in neuronxcc.driver.CommandDriver.run
>>>  File "neuronxcc/driver/Job.py", line 30, in neuronxcc.driver.Job.run
""",
        "failed",
    ),
    Case(
        "a compile that made nothing",
        "compile_error",
        """
Traceback (most recent call last):
  File "/job/a.py", line 9, in <module>
    load(model)
>>>AssertionError: Try to load with neff bytes as None, might due to compilation failure
""",
        "failed",
    ),
    Case(
        "a graph that XLA refuses, and the stack behind it",
        "compile_error",
        f"""
>>>{SERVICE} tpu_execute_op.cc:266 : INTERNAL: Unknown version of a custom call: 0
{XLA} StackTrace:
{XLA} *** Begin stack trace ***
{XLA} \ttsl::CurrentStackTrace()
{XLA} \txla::util::Report(tsl::Status const&, absl::Span<xla::Computation const* const>)
{XLA} \t
{XLA} \t_PyObject_MakeTpCall
{XLA} \tclone
{XLA} *** End stack trace ***
""",
    ),
    Case("a check of XLA", "compile_error", ">>>RET_CHECK failure (xla/service/verifier.cc:9) count == 2 \n"),
    Case(
        "a status that ends the process",
        "compile_error",
        ">>>Non-OK-status: status.status() status: UNIMPLEMENTED: no rewriting for this HLO: %dot.3\n",
    ),
    Case(
        "a compile that was killed, told as information",
        "compile_killed",
        """
INFO:Neuron:Compiling function _NeuronGraph$7 with neuron-cc
>>>INFO:Neuron:Compile command returned: -9
WARNING:Neuron:torch.neuron.trace failed on _NeuronGraph$7; falling back to native python function call
""",
    ),
    Case(
        "a job whose time was over while it waited for another one's compile",
        "lock_timeout",
        waits(1.0, 2.0, 50.0)
        + ">>>"
        + waits(99.0)
        + "slurmstepd: error: *** JOB 4711 ON trn1-9 CANCELLED AT 2026-05-02T11:40:00 DUE TO TIME LIMIT ***\n",
        "failed",
    ),
    Case(
        "a job that somebody stopped after a quarter of an hour of waiting for a compile",
        "lock_timeout",
        waits(1.0) + ">>>" + waits(16.0) + "Traceback (most recent call last):\n"
        '  File "fit.py", line 3, in <module>\n    fit()\nKeyboardInterrupt\n',
        "failed",
    ),
    Case("a wait of more than an hour that does not end", "lock_timeout", waits(1.0, 61.0) + ">>>" + waits(62.0)),
    Case(
        "a job whose time was over while its own worker compiled what the others waited for",
        "interrupted",
        "2026-05-02 10:00:00.000100:  4700  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc compile "
        "/tmp/w/model.MODULE_10000000000000000001+abcdef01.hlo_module.pb\n"
        + waits(1.0, 75.0).replace("MODULE_1+2", "MODULE_10000000000000000001+abcdef01")
        + ">>>slurmstepd: error: *** JOB 4711 ON trn1-9 CANCELLED AT 2026-05-02T11:40:00 DUE TO TIME LIMIT ***\n",
        "failed",
    ),
    Case("a wait of hours for a lock", "lock_timeout", waits(180.0) + ">>>" + waits(181.0)),
    Case(
        "the compiler's older codes",
        "compile_error",
        ">>>NCC-5266: wide dims must have an even step\n",
    ),
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
        "compile_crashed",
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
    Case(
        "what the compiler says to its user, without a banner",
        "compile_error",
        """
2026-03-04T05:06:07Z INFO 18 [WalrusDriver.0]: Executing pass WidePass
>>>2026-03-04T05:06:08Z USER 18 [neuronxcc.driver.CommandDriver]: [INTERNAL_ERROR] [NCC_IBIR999] Assertion failed: bir::wideEnough in WidePass
2026-03-04T05:06:08Z ERROR 18 [neuronxcc.driver.CommandDriver]:
2026-03-04T05:06:08Z ERROR 18 [neuronxcc.driver.CommandDriver]: Internal details:
2026-03-04T05:06:09Z INFO 18 [root]: Subcommand returned with exitcode=70
""",
    ),
    Case(
        "what the back end threw, below its stack",
        "compile_error",
        """
2026-03-04T05:06:07Z ERROR 18 [WalrusDriver]: An exception was thrown:
--------------------------------------------------------------------------------
 0# __cxa_throw in /opt/wide/lib/libwalrus.so
 1# 0x00007F00AA in /opt/wide/lib/libBIRVerifier.so
 2# birverifier::checkWide(bir::Instruction const&) in /opt/wide/lib/libBIRVerifier.so
--------------------------------------------------------------------------------
>>>Access of 9 wide partitions begins at partition 7
2026-03-04T05:06:08Z ERROR 18 [neuronx-cc]: ***************************************************************
2026-03-04T05:06:08Z ERROR 18 [neuronx-cc]:  An Internal Compiler Error has occurred
2026-03-04T05:06:08Z ERROR 18 [neuronx-cc]: ***************************************************************
2026-03-04T05:06:08Z ERROR 18 [neuronx-cc]: Error message:  Wide driver failed to complete
""",
    ),
    Case(
        "a code of the compiler behind a test's own words",
        "compile_error",
        """
>>>checking wide_conv with large inputs...[GCA999]  Instruction: I-3-0 couldn't be placed in SB
wide.1_i0: 777 Bytes per Partition
 - Please open a support ticket
Traceback (most recent call last):
  File "check.py", line 9, in <module>
    out = kernel(x)
  File "neuronxcc/nki/compile.py", line 92, in neuronxcc.nki.compile.GenericKernel.__call__
RuntimeError: Compilation failed for wide_conv with error Command '['neuronx-cc']' returned non-zero exit status 70.
""",
    ),
    Case(
        "a graph that fails in one worker, and workers that only see it leave",
        "compile_error",
        """
(EngineCore pid=7) (Worker_TP5 pid=25) ERROR 05-02 10:00:00 [multiproc_executor.py:99] WorkerProc hit an exception.
(EngineCore pid=7) (Worker_TP5 pid=25) ERROR 05-02 10:00:00 [multiproc_executor.py:99] Traceback (most recent call last):
(EngineCore pid=7) (Worker_TP5 pid=25) ERROR 05-02 10:00:00 [multiproc_executor.py:99]   File "/opt/w/worker.py", line 9, in warm
(EngineCore pid=7) (Worker_TP5 pid=25) ERROR 05-02 10:00:00 [multiproc_executor.py:99]     self.runner.warm()
>>>(EngineCore pid=7) (Worker_TP5 pid=25) ERROR 05-02 10:00:00 [multiproc_executor.py:99] RuntimeError: neuronx-cc compilation failed with 70. See its log.
(EngineCore pid=7) (Worker_TP2 pid=22) ERROR 05-02 10:00:01 [multiproc_executor.py:99] Traceback (most recent call last):
(EngineCore pid=7) (Worker_TP2 pid=22) ERROR 05-02 10:00:01 [multiproc_executor.py:99]   File "/opt/w/state.py", line 7, in barrier
(EngineCore pid=7) (Worker_TP2 pid=22) ERROR 05-02 10:00:01 [multiproc_executor.py:99] RuntimeError: [gloo/transport/tcp/pair.cc:500] Connection closed by peer [10.9.9.9]:777
""",
        "failed",
    ),
    Case(
        "the compiler's banner whose stamps were cut off",
        "missing_dependency",
        """
ERROR 103 [neuronx-cc]: ***************************************************************
ERROR 103 [neuronx-cc]:  An Internal Compiler Error has occurred
ERROR 103 [neuronx-cc]: ***************************************************************
ERROR 103 [neuronx-cc]:
>>>ERROR 103 [neuronx-cc]: Error message:  module 'rows' has no attribute 'scalar'
ERROR 103 [neuronx-cc]:
ERROR 103 [neuronx-cc]: Error class:    AttributeError
ERROR 103 [neuronx-cc]: Error location: Unknown
EERROR 103 [neuronx-cc]:   File "neuronxcc/driver/Job.py", line 2, in neuronxcc.driver.Job.run
ERROR 103 [neuronx-cc]: Version information:
""",
    ),
    Case(
        "a check of the back end's instructions, as C++ ends for it",
        "compile_error",
        """
terminate called after throwing an instance of 'std::runtime_error'
  what():  === BIR verification failed ===
>>>Reason: Expect a datatype that the engine has
Instruction: I-5-0
""",
    ),
    Case(
        "a compiler of kernels that is not installed",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
>>>RuntimeError: Could not find nvcc and there is no default cuda_home='/opt/cuda'
""",
        "failed",
    ),
    Case(
        "kernels that are not compiled for want of a compiler",
        "",
        """
Could not find nvcc, falling back to the prebuilt kernels
-- Could NOT find CUDA (missing: CUDA_TOOLKIT_ROOT_DIR)
No CUDA runtime is found, using CUDA_HOME='/usr/local/cuda'
step 1 loss 1
""",
    ),
    Case(
        "Triton says what is wrong below a kernel's source",
        "compile_error",
        """
Traceback (most recent call last):
  File "/opt/site-packages/triton/compiler/compiler.py", line 83, in make_ir
    return ast_to_ttir(self.fn, self, context=context)
triton.compiler.errors.CompilationError: at 41:17:
    q_exp = tl.expand_dims(q, 1)

    # pour
    attn = tl.steep(scores, axis=1)
           ^
>>>TypeError("steep() got an unexpected keyword argument 'axis'")
""",
    ),
    Case(
        "Triton names a place and a log ends there",
        "compile_error",
        """
Traceback (most recent call last):
  File "/opt/site-packages/triton/compiler/compiler.py", line 83, in make_ir
    return ast_to_ttir(self.fn, self, context=context)
>>>triton.compiler.errors.CompilationError: at 41:17:
    q_exp = tl.expand_dims(q, 1)
    attn = tl.steep(scores, axis=1)
""",
    ),
    Case(
        "an operator that a compiler for TPUs on the edge does not know; its timer is no timeout",
        "compile_error",
        """
Edge TPU Compiler version 16.0.384591198
Started a compilation timeout timer of 180 seconds.
>>>ERROR: Encountered unresolved custom op: Steep.
ERROR: Node number 1 (Steep) failed to prepare.

Compilation failed: Model failed in Tflite interpreter.
Compilation child process completed within timeout period.
""",
    ),
    Case(
        "an operator without a shape, in OpenVINO's words",
        "compile_error",
        """
[ ERROR ]  Cannot infer shapes or values for node "n0".
>>>[ ERROR ]  There is no registered "infer" function for node "n0" with op = "Steep". Please implement this function.
[ ERROR ]
[ ERROR ]  It can happen due to bug in custom shape infer function <UNKNOWN>.
""",
    ),
    Case(
        "an operation that MLIR refuses, at a place with blanks",
        "compile_error",
        """
>>><eval_with_key>.0 from /opt/torch/proxy_tensor.py:551 in wrapped:19:0: error: 'memref.alloca' op allocations with dynamic size are unsupported
/opt/brew/kettle.py:90:0: note: called from
""",
    ),
    Case(
        "a compiler's exception that says that the compilation failed",
        "compile_error",
        """
Iteration #184 - Contexts: 5
[error] Failed to produce compiled graph
>>>[error] BackendAllocatorException: Compilation failed: Compiler could not find a valid partition to contexts.
""",
    ),
    Case(
        "the oldest compiler's banner without a header",
        "compile_error",
        """
[neuron-cc]: ****************************************
[neuron-cc]:  An Internal Compiler Error has occurred
[neuron-cc]: ****************************************
[neuron-cc]:
>>>[neuron-cc]: Error message:  the kettle has no handle of size 0.5
[neuron-cc]: Error class:    ValueError
[neuron-cc]: Error location: Unknown
""",
    ),
    Case(
        "a banner whose message is empty names the exception at least",
        "compile_error",
        """
03/04/2026 05:06:07 PM ERROR 812 [neuron-cc]:  An Internal Compiler Error has occurred
03/04/2026 05:06:07 PM ERROR 812 [neuron-cc]: Error message:  
03/04/2026 05:06:07 PM ERROR 812 [neuron-cc]: 
>>>03/04/2026 05:06:07 PM ERROR 812 [neuron-cc]: Error class:    AssertionError
03/04/2026 05:06:07 PM ERROR 812 [neuron-cc]: Error location: Unknown
""",
    ),
    Case(
        "the compiler lists its options before the one that it refuses",
        "bad_usage",
        """
Failed compilation with ['neuronx-cc', 'compile', '--target=trn1', '/tmp/tea/model.MODULE_12955793779794777506+f0127a57.hlo_module.pb']: usage: neuronx-cc compile --framework {XLA} --target {trn1,inf2}
                          [--enable-fast-tea]
                          [--auto-cast <cast mode>]
>>>neuronx-cc compile: error: argument --framework: invalid choice: tea (choose from XLA)
""",
    ),
    Case(
        "the compiler's report below the panic of the program that called it",
        "compile_error",
        """
thread 'brew::tests::steep' panicked at src/brew.rs:51:5:
Script '"neuronx-cc" "compile" "/data/brew.pb" "--framework=XLA" "--target=trn1" "--output" "/data/brew.neff"' failed:
2026-05-02T10:00:24Z === BIR error ===
>>>Reason: Access pattern out of bound.
Instruction: I-77-0-act
Opcode: Activation
""",
    ),
    Case(
        "a compiler of kernels that Python called, and that says nothing",
        "compile_error",
        """
Traceback (most recent call last):
  File "/srv/brew.py", line 468, in make_cubin
    subprocess.run(command, check=True)
  File "/usr/lib/python3.12/subprocess.py", line 571, in run
    raise CalledProcessError(retcode, process.args,
>>>subprocess.CalledProcessError: Command '['/srv/lib/triton/backends/nvidia/bin/ptxas', '-v', '--gpu-name=sm_77', '/tmp/tea.ptx']' returned non-zero exit status 255.
""",
    ),
)
