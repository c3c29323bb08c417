"""Ascend, Gaudi, Metal, and what drivers of GPUs tell the kernel and containers."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

ACCELERATORS = (
    Case(
        "cudaMalloc says it",
        "runtime_oom",
        """
load_tensors: ggml ctx size =    0.93 MiB
>>>ggml_backend_cuda_buffer_type_alloc_buffer: allocating 232863.17 MiB on device 0: cudaMalloc failed: out of memory
llama_load_model_from_file: failed to load model
main: error: failed to load model 'a.gguf'
""",
    ),
    Case(
        "an engine that another version of TensorRT has built",
        "bad_usage",
        """
I0304 05:06:07.169240 41 logging.cc:49] Loaded engine size: 12 MiB
>>>E0304 05:06:08.209208 41 logging.cc:43] 1: [runtime.cpp::parsePlan::314] Error Code 1: Serialization (Serialization assertion plan->header.magicTag == rt::kPLAN_MAGIC_TAG failed.)
E0304 05:06:08.214059 41 model_lifecycle.cc:596] failed to load 'detect' version 1: Internal: unable to create TensorRT engine
ERROR: failed to load model: detect
""",
    ),
    Case(
        "Ascend's memory, before the exception that repeats it",
        "runtime_oom",
        """
[ERROR] DEVICE(4711,ffff964f1480,python):2026-03-01-10:00:00.021.254 [core/runtime/kernel_runtime.cc:375] Init] Ascend error occurred, error message:
EE9999: Inner Error!
>>>        [driver interface] halMemAlloc failed: device_id=3, size=1024, type=2, drvRetCode=6![FUNC:ReportError][FILE:driver.cc][LINE:5]
        rtMalloc execute failed, reason=[driver error:out of memory][FUNC:ReportError][FILE:manage.cc][LINE:66]

Traceback (most recent call last):
  File "train.py", line 9, in <module>
    train()
RuntimeError: core/runtime/kernel_runtime.cc:62 Alloc] failed, ret[207001]
""",
        "failed",
    ),
    Case(
        "a device of Ascend whose number is too high",
        "bad_usage",
        """
EE8888: Inner Error!
>>>        Set device failed, invalid device, current device=9, valid device range is [0, 8)[FUNC:SetDevice][FILE:api.cc][LINE:82]
        rtSetDevice execute failed, reason=[error device id][FUNC:Reason][FILE:manage.cc][LINE:4]
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    train()
RuntimeError: context.cc:105 Open] Device 9 call failed, ret[107001]
""",
        "failed",
    ),
    Case(
        "a kernel of Ascend that fails",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    loss.item()
RuntimeError: ACL stream synchronize failed, error code:507015
>>>EZ9999: [PID: 4711] 2026-03-01-10:00:00.123.456 The error from device(chipId:0, dieId:0) is an aicore error, core id is 1[FUNC:CoreError][FILE:engine.cc][LINE:12]
        TraceBack (most recent call last):
""",
    ),
    Case(
        "Gaudi's compiler refuses a graph",
        "compile_error",
        """
RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_BRIDGE Exception in Lowering thread...
[Rank:0] FATAL ERROR :: MODULE:PT_EAGER Run returned exception....
>>>synNodeCreateWithId failed for node: gather with synStatus 1 [Invalid argument]. .
""",
    ),
    Case(
        "Gaudi's device is held by another process",
        "runtime_init",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    model.to("hpu")
>>>RuntimeError: synStatus=8 [Device not found] Device acquire failed.
""",
        "failed",
    ),
    Case(
        "Gaudi's memory",
        "runtime_oom",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    loss.backward()
>>>RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::1234567 (1)MB
""",
        "failed",
    ),
    Case(
        "Metal's memory",
        "runtime_oom",
        """
Training: 1/512
>>>libc++abi: terminating due to uncaught exception of type std::runtime_error: [METAL] Command buffer execution failed: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)
""",
    ),
    Case(
        "a CUDA device that is not there",
        "bad_usage",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    torch.cuda.set_device(9)
>>>RuntimeError: CUDA error: invalid device ordinal
""",
        "failed",
    ),
    Case(
        "what a healthy program says of other accelerators",
        "",
        """
Gaudi: synStatus 0 [Success] after warm-up
[INFO] halMemAlloc statistics: 12 calls
[W compiler_depend.ts:190] Warning: Device do not support double dtype now [FUNC]
step 1 done
""",
    ),
    Case(
        "a GPU that its driver cannot start",
        "runtime_init",
        """
>>>[    8.100582] NVRM: GPU 0000:07:00.0: RmInitAdapter failed! (0x26:0x56:1463)
[    8.100674] NVRM: GPU 0000:07:00.0: rm_init_adapter failed, device minor number 1
""",
    ),
    Case(
        "a GPU of AMD that its driver cannot start",
        "runtime_init",
        """
[    9.000582] amdgpu 0000:03:00.0: amdgpu: detected ip block number 3
>>>[    9.100582] amdgpu 0000:03:00.0: amdgpu: hw_init of IP block <psp> failed -22
[    9.100674] amdgpu 0000:03:00.0: amdgpu: Fatal error during GPU init
[    9.100774] amdgpu: probe of 0000:03:00.0 failed with error -22
""",
    ),
    Case(
        "what drivers say of a healthy start",
        "",
        """
[    7.000582] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15
[    7.100582] NVRM: Failed to enable MSI; falling back to PCIe virtual-wire interrupts.
[    7.200582] nvidia 0000:07:00.0: Direct firmware load for nvidia/gsp.bin failed with error -2
[    7.300582] amdgpu 0000:03:00.0: amdgpu: psp gfx command LOAD_TA(0x1) failed and response status is (0x7)
[    7.400582] nvidia-uvm: Loaded the UVM driver, major device number 511.
""",
    ),
    Case(
        "a container's hook, whose reason stands on the next line",
        "runtime_init",
        """
docker start trainer
Error response from daemon: failed to create task for container: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'
>>>nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown
Error: failed to start containers: trainer
""",
    ),
    Case(
        "a container's hook, of which nothing more is said",
        "tool_error",
        """
docker start trainer
>>>Error response from daemon: OCI runtime create failed: error running hook #0: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'
""",
    ),
    Case(
        "a program that must have a GPU, its sentence broken",
        "runtime_init",
        """
Fatal error:
>>>Cannot place the short forces on a GPU because no GPU is
detected.
""",
    ),
    Case(
        "a program that does without a GPU",
        "",
        """
Running on the CPU because no GPU is available
No GPU detected, using 8 threads
done
""",
    ),
    Case(
        "a condition in C++ whose label and reason stand below",
        "runtime_oom",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
RuntimeError: TT_FATAL @ /src/impl/bank.cpp:439: false
info:
>>>Out of Memory: Not enough space to allocate 4096 B DRAM buffer across 2 banks
backtrace:
 --- wide::tilize(...)
""",
        "failed",
    ),
    Case(
        "a condition in C++ whose reason nobody knows",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
RuntimeError: TT_FATAL @ /src/impl/tile.cpp:12: rows % 32 == 0
info:
>>>Rows of a tile must be a multiple of 32, these are 30
backtrace:
 --- wide::tilize(...)
""",
        "failed",
    ),
    Case(
        "a condition that ends a program of C++",
        "script_error",
        """
terminate called after throwing an instance of 'std::runtime_error'
  what():  WIDE_ASSERT @ /src/impl/tile.cpp:12: rows % 32 == 0
>>>Rows of a tile must be a multiple of 32, these are 30
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "a condition in C++ and nothing more",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
>>>RuntimeError: TT_THROW @ /src/impl/tile.cpp:12: wide::exception
srun: error: box-1: task 0: Exited with exit code 1
""",
        "failed",
    ),
    Case(
        "statuses of CUDA in parentheses",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step()
>>>OSError: (External) CUDA error(719), unspecified failure of a launch.
""",
        "failed",
    ),
    Case(
        "memory of a GPU, in parentheses",
        "runtime_oom",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step()
>>>OSError: (External) CUDA error(2), out of memory.
""",
        "failed",
    ),
    Case(
        "memory that an operation of TensorFlow did not get, in a log that ends there",
        "runtime_oom",
        """
Epoch 1/40
2026-03-04 08:59:59.988221: W tensorflow/core/common_runtime/bfc_allocator.cc:424] ****xxxx
>>>2026-03-04 08:59:59.988498: W tensorflow/core/framework/op_kernel.cc:1431] OP_REQUIRES failed at tea_op.cc:573 : Resource exhausted: OOM when allocating tensor with shape[9,6] on GPU:0
""",
    ),
    Case(
        "the same of an older TensorFlow, in a log that ends within the traceback",
        "runtime_oom",
        """
>>>2018-03-04 08:59:59.988498: W tensorflow/core/framework/op_kernel.cc:1192] Resource exhausted: OOM when allocating tensor with shape[9,6]
2018-03-04 08:59:59.989498: W tensorflow/core/common_runtime/bfc_allocator.cc:217] Allocator (GPU_0_bfc) ran out of memory trying to allocate 4.6MiB. The caller indicates that this is not a failure, but may mean that there could be performance gains if more memory is available.
Traceback (most recent call last):
  File "tea.py", line 12, in <module>
    pot.fit(leaves)
  File "/usr/lib/python3/dist-packages/keras/models.py", line 963, in fit
    steps=steps)
""",
    ),
    Case(
        "a check of Gaudi's libraries",
        "script_error",
        """
>>>/tea/hcl/src/common/tea_factory.cpp::71(initTea): The condition [ isKnown ] failed. Invalid kind of pot (4[CAN])
tea error: In function brew(): synDeviceAcquire(&pot, nullptr) failed with synapse error: 20
""",
    ),
    Case(
        "what TensorRT cannot do with a layer",
        "script_error",
        """
[03/04/2026-05:06:07] [V] [TRT] Registering layer: Steep_62 for ONNX node: Steep_62
[03/04/2026-05:06:07] [W] [TRT] Leaf error margin is large
>>>[03/04/2026-05:06:07] [E] [TRT] 4: steep.cpp::pour::519 Leaf_49: a pot does not take this shape
[03/04/2026-05:06:07] [E] Failed to parse onnx file
[03/04/2026-05:06:07] [E] Engine set up failed
&&&& FAILED TensorRT.trtexec [TensorRT v8001] # ./trtexec --onnx=tea.onnx
""",
    ),
    Case(
        "a run of TensorRT's program that passed",
        "",
        """
[03/04/2026-05:06:07] [E] [TRT] Leaf_49: no timing for this tactic
[03/04/2026-05:06:09] [I] Throughput: 99 qps
&&&& PASSED TensorRT.trtexec [TensorRT v8601] # ./trtexec --onnx=tea.onnx
""",
    ),
    Case(
        "no memory for TensorFlow's context on a GPU",
        "runtime_oom",
        """
>>>2026-03-04 05:06:07.231487: W tensorflow/compiler/xla/service/platform_util.cc:256] unable to create StreamExecutor for CUDA:0: failed initializing StreamExecutor for CUDA device ordinal 0: Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory reported: 11552096256
2026-03-04 05:06:07.231959: F tensorflow/stream_executor/lib/statusor.cc:34] Attempting to fetch value instead of handling error Internal: no supported devices found for platform CUDA
Fatal Python error: Aborted
""",
    ),
    Case(
        "a rank of TensorRT-LLM has no memory for its cache",
        "runtime_oom",
        """
>>>[03/04/2026-05:06:07] [TRT-LLM] [RANK 1] [E] Failed to initialize executor on rank 1: Executor creation failed due to insufficient GPU memory.

The following component could not be created: KV cache
Total GPU memory (GiB): 140.06
""",
    ),
    Case(
        "Ascend's compiler of operators",
        "compile_error",
        """
>>>E60108: 2026-03-04-05:06:07.140.829 In op[conv3d_tea], [prebuild failed, not support input size's shape [-1] and [-2]]
        TraceBack (most recent call last):
        build op model failed, result = 500002[FUNC:ReportInnerError][FILE:log_inner.cpp][LINE:145]
""",
    ),
    Case(
        "a page fault of a GPU in the kernel's log",
        "runtime_exec",
        """
>>>[245848.086124] amdgpu 0000:c5:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32771)
[245848.086130] amdgpu 0000:c5:00.0: amdgpu:  in process python3 pid 2261545 thread python3 pid 2261545)
""",
    ),
    Case(
        "OpenCL refuses a kernel",
        "compile_error",
        """
[2026-03-04 05:06:07.689]  ocl  READY threads 2/2
>>>[2026-03-04 05:06:08.140]  ocl  error CL_BUILD_PROGRAM_FAILURE when calling clBuildProgram
[2026-03-04 05:06:08.141]  ocl  thread #1 failed with error CL_INVALID_PROGRAM
""",
    ),
    Case(
        "OpenCL has no memory for a buffer",
        "runtime_oom",
        ">>>Failed to create the buffer of teas: error CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)\n",
    ),
    Case(
        "OpenCL refuses arguments",
        "runtime_exec",
        ">>>ERROR: clEnqueueNDRangeKernel failed with CL_INVALID_WORK_GROUP_SIZE\n",
    ),
    Case(
        "an assertion of Metal's",
        "runtime_exec",
        """
Pouring...
>>>/Library/Caches/com.apple.xbs/Sources/MetalPerformanceShaders/MPSCore/Types/MPSNDArray.mm:724: failed assertion `[MPSTemporaryNDArray initWithDevice:descriptor:] Error: product of dimension sizes > 2**31'
""",
        "failed",
    ),
    Case(
        "TensorRT's parser of ONNX names what does not hold below the place",
        "compile_error",
        """
While parsing node number 17 [Resize]:
ERROR: ModelImporter.cpp:187 In function parseTea:
>>>[8] Assertion failed: scales.is_weights() && "Resize scales must be an initializer!"
[03/04/2026-05:06:07] [E] Failed to parse onnx file
[03/04/2026-05:06:07] [E] Parsing model failed
""",
    ),
    Case(
        "TensorRT's parser does not know an operator",
        "compile_error",
        """
While parsing node number 2 [Steep -> "tea_1"]:
ERROR: /home/tea/onnx-tensorrt/ModelImporter.cpp:134 In function parseTea:
>>>[8] No importer registered for op: Steep
""",
    ),
    Case(
        "MLIR refuses a file's operation",
        "compile_error",
        """
>>>tea/pot.mlir:24:13: error: failed to legalize operation 'tea.pour' that was explicitly marked illegal
  %result = "tea.pour"(%0) : (tensor<5xi32>) -> tensor<5xi32>
            ^
""",
    ),
    Case(
        "a newer ptxas, which has a name of its own",
        "compile_error",
        """
Traceback (most recent call last):
  File "torch/_inductor/runtime/triton_heuristics.py", line 467, in _precompile_worker
    raise NoTritonConfigsError(
torch._inductor.runtime.triton_heuristics.NoTritonConfigsError: No valid triton configs. PTXASError: PTXAS error: Internal Triton PTX codegen error
`ptxas` stderr:
>>>ptxas-blackwell fatal   : Value 'sm_140b' is not defined for option 'gpu-name'
""",
    ),
    Case(
        "a GPU of AMD hangs",
        "runtime_exec",
        """
>>>HW Exception by GPU node-1 (Agent handle: 0x2f0fbb70) reason :GPU Hang
HW Exception by GPU node-1 (Agent handle: 0x1f62da10) reason :GPU Hang
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "CUDA's driver cannot load a kernel, told by XLA",
        "runtime_exec",
        """
2026-03-04 05:06:07.063303: E external/xla/xla/stream_executor/cuda/cuda_driver.cc:548] failed to load PTX text as a module: CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid
2026-03-04 05:06:07.063374: E external/xla/xla/pjrt/pjrt_stream_executor_client.cc:2593] Execution of replica 0 failed: INTERNAL: Failed to load PTX text as a module: CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid
""".replace("2026-03-04 05:06:07.063303", ">>>2026-03-04 05:06:07.063303"),
    ),
    Case(
        "a TPU that another process holds",
        "runtime_init",
        """
Traceback (most recent call last):
  File "/opt/site-packages/jaxlib/xla_client.py", line 76, in initialize_pjrt_plugin
    _xla.initialize_pjrt_plugin(plugin_name)
>>>jaxlib.xla_extension.XlaRuntimeError: ABORTED: The TPU is already in use by process with pid 4711. Not attempting to load libtpu.so in this process.
""",
        "failed",
    ),
    Case(
        "TensorRT cannot build a layer",
        "compile_error",
        """
[03/04/2026-05:06:07] [V] [TRT] =============== Computing costs for /steep/Conv
>>>[03/04/2026-05:06:07] [E] Error[2]: [convBaseBuilder.cpp::createConvolution::12] Error Code 2: Internal Error (Assertion isWarm(cup.get()) failed. The cup is cold.)
[03/04/2026-05:06:07] [E] Engine could not be created from network
[03/04/2026-05:06:07] [E] Building engine failed
&&&& FAILED TensorRT.trtexec [TensorRT v100300] # trtexec --onnx=tea.onnx
""",
        "failed",
    ),
    Case(
        "Ascend's compiler has no kernel for an operator",
        "compile_error",
        """
ATC start working now, please wait for a moment.
>>>EZ3003: No supported Ops kernel and engine are found for [Steep], optype [Steep].
        Possible Cause: The operator is not supported by the system.
""",
    ),
    Case(
        "the reason below the box that TVM draws",
        "script_error",
        """
Traceback (most recent call last):
  File "tea.py", line 21, in <module>
    gmod.run(x=cup)
tvm._ffi.base.TVMError: Traceback (most recent call last):
  [bt] (0) 1   libtvm.dylib   0x1 tvm::runtime::Backtrace() + 24
  File "/src/tvm/src/runtime/library_module.cc", line 80
TVMError:
---------------------------------------------------------------
An error occurred during the execution of TVM.
For more information, please see: https://tvm.apache.org/docs/errors.html
---------------------------------------------------------------

>>>  Check failed: ret == 0 (-1 vs. 0) : Assert fail: (1 == cup.ndim), cup.ndim is expected to equal 1
""",
    ),
    Case(
        "a workspace that TVM cannot allocate",
        "runtime_oom",
        """
tvm._ffi.base.TVMError: Traceback (most recent call last):
  0: _ZN3tvm7runtime6deta
  File "/src/tvm/src/runtime/contrib/thrust/thrust.cu", line 66
>>>TVMError: Check failed: (result) is false: Failed to allocate 99121664 bytes with alignment 16 bytes.
""",
    ),
    Case(
        "TensorRT's parser quotes what a layer cannot do",
        "compile_error",
        """
>>>[E] Error[4]: ITensor::getDimensions: Error Code 4: Internal Error (/Steep: an ISteepLayer cannot be used to compute a shape tensor)
[09/02/2024-17:35:22] [E] [TRT] ModelImporter.cpp:949: While parsing node number 146 [Pour -> "/Pour_output_0"]:
[09/02/2024-17:35:22] [E] [TRT] ModelImporter.cpp:954: ERROR: ModelImporter.cpp:195 In function parseNode:
[6] Invalid Node - /Pour
ITensor::getDimensions: Error Code 4: Internal Error (/Steep: an ISteepLayer cannot be used to compute a shape tensor)
[09/02/2024-17:35:22] [E] Failed to parse onnx file
""",
    ),
    Case(
        "what ONNX Runtime says of TensorRT",
        "script_error",
        """
>>>2025-01-11 09:28:58.070972436 [E:onnxruntime:, inference_session.cc:2117 operator()] Exception during initialization: [ONNXRuntimeError] : 1 : FAIL : TensorRT input: /Cup_output_0 has no shape specified.
2025-01-11 09:28:59,808 - INFO - Recording stopped and resources cleaned up
""",
    ),
    Case(
        "TensorFlow does without TensorRT",
        "",
        """
2026-03-04 05:06:07.063303: E tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
""",
    ),
    Case(
        "a kernel that OpenCL's compiler refuses, below the exception",
        "compile_error",
        """
Traceback (most recent call last):
  File "/opt/brew/main.py", line 49, in main
    compiled = core.compile_model(model, "GPU")
RuntimeError: Exception from src/core.cpp:109:
[GPU] ProgramBuilder build failed!
>>>25:8772:15: error: implicit declaration of function 'steep' is invalid in OpenCL
 warm = steep(cup);
        ^
""",
    ),
    Case(
        "Ascend's compiler without one of its modules",
        "missing_dependency",
        """
ATC run failed, Please check the detail log, Try 'atc --help' for more information
>>>EC0010: [PID: 4711] 2026-03-04-05:06:07.680.962 Failed to import Python module [ModuleNotFoundError: No module named 'kettle'.].
        Solution: Check that all required components are properly installed.
        TraceBack (most recent call last):
        AOE Failed to call InitCannKB[FUNC:Initialize][FILE:python_adapter_manager.cc][LINE:47]
""",
    ),
    Case(
        "Rockchip's runtime without its driver",
        "runtime_init",
        """
--> Init runtime environment
>>>E RKNN: [02:57:49.400] failed to open rknpu module, need to insmod rknpu dirver!
E RKNN: [02:57:49.400] failed to open rknn device!
E Catch exception when init runtime!
E Traceback (most recent call last):
  File "/opt/rknnlite/api/rknn_lite.py", line 148, in init_runtime
Exception: RKNN init failed. error code: RKNN_ERR_FAIL
""",
    ),
    Case(
        "Qualcomm's runtime does not reach its processor",
        "runtime_init",
        """
>>>QnnDsp <E> DspTransport.openSession qnn_open failed, 0x80000406, prio 100
QnnDsp <W> Failed to create transport instance: 1002
QnnDsp <E> default device creation failed
""",
    ),
    Case(
        "no IPU for a program of Graphcore's",
        "runtime_init",
        """
Traceback (most recent call last):
  File "brew.py", line 279, in <module>
    losses = model(cups)
>>>poptorch.poptorch_core.Error: In poptorch/CompilerImpl.cpp:725: 'poptorch_cpp_error': Failed to acquire 1 IPU(s)
No IPU detected in the system.
""",
    ),
    Case(
        "a ring of a GPU of AMD's that hangs",
        "runtime_exec",
        """
>>>Oct  7 12:58:23 box kernel: [ 2237.944235] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, signaled seq=160, emitted seq=162
Oct  7 12:58:23 box kernel: [ 2237.944732] amdgpu 0000:0a:00.0: amdgpu: GPU reset begin!
Oct  7 12:58:23 box kernel: [ 2238.057611] amdgpu: failed to remove hardware queue from MES, doorbell=0x1002
""",
    ),
    Case(
        "a driver's error that a program in Rust unwraps",
        "runtime_exec",
        """
thread 'main' panicked at /opt/cudarc-0.10.0/src/driver/safe/core.rs:51:24:
>>>called `Result::unwrap()` on an `Err` value: DriverError(CUDA_ERROR_UNKNOWN, "unknown error")
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
""",
    ),
    Case(
        "OpenVINO lists what it cannot convert",
        "compile_error",
        """
>>>[ ERROR ]  List of operations that cannot be converted to IE IR:
[ ERROR ]      TeaPot (11)
[ ERROR ]          kettle/Conv/TeaPot
[ ERROR ]  Part of the nodes was not translated to IE. Stopped.
""",
    ),
    Case(
        "OpenVINO quotes why it cannot read a layer",
        "compile_error",
        """
[ ERROR ]  Unexpected exception happened during extracting attributes for node tea_14.
>>>Original exception message: Found custom layer "Tea2". Model Optimizer does not support this layer.
""",
    ),
    Case(
        "Rockchip's runtime without times",
        "runtime_oom",
        """
I rkllm: rkllm-runtime version: 1.3.0, platform: RK3588
>>>E RKNN: failed to malloc npu memory, size: 4022272000, flags: 0x2
E RKNN: load model file error!
E rkllm: rkllm_init failed
""",
    ),
    Case(
        "a kernel of ROCm is not launched",
        "runtime_exec",
        """
2026-03-04 05:06:07,223 Running on GPU
>>>2026-03-04 05:08:15,243 Could not predict tea. Not Enough GPU memory? INTERNAL: Failed to launch ROCm kernel: pour with block dimensions: 1024x1x1: hipError_t(98)
2026-03-04 05:08:15,243 Done
""",
    ),
    Case(
        "Gaudi's compiler does not load a kernel",
        "compile_error",
        """
>>>[05:06:07.164951][GC                    ][error][tid:7A] Failed to load tpc kernel for node: TPC7, GUID: tea_bf16. Got error: GLUE_FAILED
[05:06:07.165002][SYN_RECIPE    ][error][tid:7A] compileGraph: Can not compile graph
[05:06:07.165045][PT_BRIDGE       ][error][tid:7A] /tea/graph.cpp: 7Graph compile failed. synStatus=synStatus 26 [Generic failure]. compile
""",
    ),
    Case(
        "TensorRT's builder fails inside a namespace",
        "compile_error",
        """
>>>[03/04/2026-05:06:07] [E] [TRT] [builder.cpp::nvinfer1::builder::pourTea::157] Error Code 2: Internal Error (Assertion pour(tea.size) failed. )
[03/04/2026-05:06:07] [E] Builder creation failed
""",
    ),
    Case(
        "Poplar got no memory for a stream",
        "runtime_oom",
        """
>>>Error: In include/tea.hpp:7: 'poplar_stream_memory_allocation_error': /opt/tea.cpp:35 Out of memory. Single stream of length 7788 in bufferIndex 1
Error raised in:
  [0] tea::prepare
""",
    ),
    Case(
        "Ascend's runtime waited for a stream",
        "runtime_exec",
        """
W NPUStream.cpp:409] Warning: NPU warning, error code is 507046[Error]:
>>>EE1002: 2026-03-04-05:06:07.041.231 Stream synchronize timeout. rtDeviceSynchronize execute failed, reason=[stream sync timeout]
        TraceBack (most recent call last):
        wait for compute device to finish failed, runtime result = 507046.[FUNC:Pour][FILE:tea.cpp][LINE:161]
""",
    ),
    Case(
        "MIOpen says why, above a traceback that is cut off",
        "runtime_exec",
        """
>>>MIOpen Error: /tea/hipoc_program.cpp:286: Code object build failed. Source: Tea.cl
Traceback (most recent call last):
  File "pour.py", line 7, in <module>
    pour(tea)
""",
    ),
    Case(
        "clang finds no libraries for a GPU",
        "missing_dependency",
        """
>>>clang-11: error: cannot find device library for gfx1031. Provide path to different ROCm installation via --rocm-path, or pass -nogpulib to build without linking default libraries.
make: *** [Makefile:171: all] Error 2
""",
    ),
    Case(
        "a compiler says no more than that it failed",
        "compile_error",
        """
Edge TPU Compiler version 16.0
>>>Compilation failed!
""",
    ),
    Case(
        "cuBLAS, in the check of a program of C++",
        "runtime_exec",
        """
I0502 10:00:00.281013 87409 Trainer.cpp:165]  Batch=300 cost=0.1
>>>F0502 10:00:01.596421 87418 tea_cublas.cc:220] Check failed: stat == CUBLAS_STATUS_SUCCESS (13 vs. 0) [cublas status]: execution failed
""",
    ),
    Case(
        "an operation of Ascend's, told by PyTorch",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "/srv/tea.py", line 30, in <module>
    brew()
>>>RuntimeError: brew:build/tea.ts:25 NPU function error: c10_npu::acl::Synchronize(stream), error code is 507035
""",
    ),
    Case(
        "Gaudi's device that is not set up",
        "runtime_init",
        """
>>>/srv/hcl/control_factory.cpp::71(initDevice): The condition [ false ] failed. Invalid server type (4[TEA]) requested.
HCCL error: In function initDevice(): synDeviceAcquire(&handle, nullptr) failed with synapse error: 20
""",
    ),
    Case(
        "XLA on a driver that is too old for a graph",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "/srv/tea.py", line 30, in <module>
    step()
>>>jaxlib.xla_extension.XlaRuntimeError: UNIMPLEMENTED: StreamBegin is not implemented for CUDA below version 12.3.
""",
    ),
    Case(
        "a server whose pool of tokens is empty",
        "runtime_oom",
        """
[2026-05-02 10:00:00] KV cache pool is full. Retract requests. #retracted_reqs: 1
>>>[2026-05-02 10:00:00] Decode out of memory. Try to lower your batch size.
Try to allocate 363 tokens.
[2026-05-02 10:00:00] Scheduler hit an exception: Traceback (most recent call last):
  File "/srv/scheduler.py", line 1056, in run
    loop()
""",
    ),
    Case(
        "OpenVINO's program for a GPU",
        "compile_error",
        """
[ INFO ] Loading model to the device
>>>[ ERROR ] Program build failed:
""",
    ),
    Case(
        "an operation that Ascend's compiler could not make, by a call of Python",
        "compile_error",
        """
ERROR 05-02 10:00:08 [engine.py:40] [ERROR] 2026-05-02-10:00:08 (PID:15, Device:0, RankID:-1) ERR01100 OPS call acl api failed
>>>ERROR 05-02 10:00:08 [engine.py:40] E40024: 2026-05-02-10:00:07.963.302 Failed call Python Func/Meathod [get_leaf_hash], Reason[SystemError: lid]
ERROR 05-02 10:00:08 [engine.py:40]         [Steep][Leaf][Brew] Parse cup failed.[FUNC:PackageTea][FILE:tea.cc][LINE:86]
""",
    ),
    Case(
        "kernels of Ascend that are not installed, behind the call's name",
        "missing_dependency",
        """
>>>ERROR 05-02 10:00:08 engine.py:40] call aclnnSteep failed, detail:EZ1001: [PID: 42] 2026-05-02-10:00:08.195.330 Get path failed, please check if the opp_kernel package is installed!
ERROR 05-02 10:00:08 engine.py:40]         Check Brew(cup.get()) failed
""",
    ),
    Case(
        "memory that Ascend's graph engine does not get",
        "runtime_oom",
        """
RuntimeError: Brewing failed: The Inner error is reported as above. The process exits for this inner error, and the current working operator name is Steep.
>>>[PID: 21] 2026-05-02-10:00:40.384.694 Memory_Allocation_Failure(EL0004): Failed to allocate memory requested by tea module.
        Possible Cause: Available memory is insufficient.
""",
    ),
    Case(
        "what a compiler said, before Ascend's report of it",
        "missing_dependency",
        """
>>>/opt/tea/impl/kernel_cup.h:24:10: fatal error: 'lid' file not found
1 error generated.
RuntimeError: OPS function error: Steep, error code is 500002
E40021: [PID: 105] 2026-05-02-10:00:25.578.073 Failed to compile Op [Steep2]. (oppath: [Compile /opt/tea/steep.py failed with errormsg])
""",
    ),
    Case(
        "a node that TensorRT cannot take, with the parser's status",
        "compile_error",
        """
ERROR: Failed to parse the ONNX file.
>>>In node 0 (importCup): INVALID_GRAPH: Assertion failed: cups.count(leaf_name)
Traceback (most recent call last):
  File "brew.py", line 118, in steep
    assert(engine is not None)
AssertionError
""",
    ),
    Case(
        "AMD's driver is not loaded",
        "runtime_init",
        """
$ /opt/rocm/bin/rocminfo
>>>ROCk module is NOT loaded, possibly no GPU devices
hsa api call failure at: /src/rocminfo/rocminfo.cc:1142
Call returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.
""",
    ),
    Case(
        "a GPU that a renderer has lost",
        "runtime_exec",
        """
rendering frame 12
>>>2026-05-02T10:00:49Z [258,132ms] [Error] [tea.graphics.plugin] VkResult: ERROR_DEVICE_LOST
2026-05-02T10:00:49Z [258,132ms] [Error] [tea.plugin] A GPU crash occurred. Exiting the application...
""",
    ),
    Case(
        "a status of IREE's runtime",
        "runtime_exec",
        """
EXEC @steep
>>><vm>:0: UNKNOWN; device not supported in the compiled configuration;
[ 0] bytecode module.steep:310 ./tea.mlir:2:13
""",
    ),
    Case(
        "a call that SYCL's runtime refuses",
        "runtime_exec",
        """
Steeping
terminate called after throwing an instance of 'sycl::_V1::runtime_error'
>>>  what():  Native API failed. Native API returns: -5 (PI_ERROR_OUT_OF_RESOURCES)
Aborted (core dumped)
""",
    ),
    Case(
        "an operation that only other devices have",
        "runtime_init",
        """
2026-05-02 10:00:02.701266: E tensorflow/core/framework/op_kernel.cc:1623] OpKernel ('op: "TPURoundRobin" device_type: "CPU"') for unknown op: TPURoundRobin
>>>2026-05-02 10:00:02.751234: E tensorflow/core/distributed_runtime/rpc/tea_server.cc:561] Couldn't open device: /dev/accel0 (Operation not permitted)
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
""",
    ),
    Case(
        "a pass manager that failed",
        "compile_error",
        """
Traceback (most recent call last):
  File "brew.py", line 3, in <module>
    pm.run(mod, 'make_tea')
>>>RuntimeError: PassManager::run failed
""",
    ),
    Case(
        "a Hailo device that is not read",
        "runtime_init",
        """
>>>[2026-05-02 10:00:13.290] [1036] [HailoRT] [error] [tea.cpp:112] [get_line] CHECK failed - Failed open /sys/class/hailo_chardev/hailo0/cup_type
[2026-05-02 10:00:13.290] [1036] [HailoRT] [error] [tea.cpp:129] [query] CHECK_SUCCESS failed with status=HAILO_DRIVER_FAIL(36)
""",
    ),
    Case(
        "a GPU without kernels in rocBLAS",
        "missing_dependency",
        """
>>>rocBLAS error: Cannot read /opt/tea/library/TensileLibrary.dat:
               No such file or directory for GPU arch : gfx1103
""",
    ),
    Case(
        "a kernel of Triton that its compiler refuses at a place",
        "compile_error",
        """
>>>tea/ops/steep.py:97:33: error: the cup expects a lid
    above the leaf
RuntimeError: PassManager::run failed
""",
    ),
    Case(
        "a parameter that Ascend's converter lacks",
        "bad_usage",
        """
ATC start working now, please wait for a moment.
>>>E10054: The requied parameter [--cup] for ATC is empty.
""",
    ),
    Case(
        "a task that Rockchip's NPU does not run",
        "runtime_exec",
        """
Loading tea...
>>>E RKNN: [10:00:52.175] failed to submit!, op id: 1, op name: Steep:cup.14, flags: 0x5
""",
    ),
)
