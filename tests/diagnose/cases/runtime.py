"""The Neuron runtime, its driver and other devices: what does not start, has no memory left, or fails while it executes."""

from __future__ import annotations

from tests.diagnose.cases.case import Case
from tests.diagnose.cases.wordings import SERVICE, XLA


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


RUNTIME = (
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
        "the native back end",
        "runtime_exec",
        """
[W1121 22:03:04.123456789 NeuronLogging.h:103] Warning: [Neuron] [WARNING] [Allocator.cpp:12] pool grows
>>>[W1121 22:03:05.123456789 NeuronLogging.h:103] Warning: [Neuron] [ERROR] [Executor.cpp:77] stream 3 returned an unexpected completion
""",
    ),
    Case(
        "a core that does not answer, without headers",
        "runtime_init",
        """
>>>nd1 nc2 Timestamp program start timeout (500 ms)
nd1 nc2 Error while waiting for the end of it
TDRV not initialized
Failed to initialize devices, error:5
""",
    ),
    Case(
        "a custom operator's exception below the runtime's heading",
        "runtime_exec",
        """
2026-Mar-03 10:00:00.123456  900:910  ERROR  TDRV:queue_consume_entries                    Printing stderr from GPSIMD:
>>>GPSIMD EXCEPTION OCCURRED: LOAD FROM A BAD ADDRESS
Subtype/Type/Cause: 0x101
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
        "a device that the container engine cannot pass in",
        "runtime_init",
        """
>>>docker: Error response from daemon: error gathering device information while adding custom device "/dev/neuron0": no such file or directory.
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
        "a pod that cannot be placed",
        "tool_error",
        """
Events:
  Type     Reason            Age   From               Message
>>>  Warning  FailedScheduling  12s   default-scheduler  0/3 nodes are available: 3 Insufficient aws.amazon.com/neuron.
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
        "an old driver",
        "runtime_init",
        """
>>>2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:check_driver                              This runtime requires Neuron Driver version 2.19 or greater. Please upgrade aws-neuronx-dkms package.
2026-Mar-03 10:00:00.223456  900:900  ERROR   NRT:nrt_init                                  Failed to initialize devices, error:1
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
        "the driver's module cannot be built",
        "tool_error",
        """
Building initial module for 6.8.0-99-aws
ERROR: Cannot write the report
>>>Error! Bad return status for module build on kernel: 6.8.0-99-aws (x86_64)
dpkg: error processing package some-dkms (--configure):
""",
    ),
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
    Case(
        "an error of the runtime behind a progress bar",
        "runtime_oom",
        """
 0%|   | 1/99 [00:09<19:32,  9.60s/it]
>>> 0%|   | 1/99 [00:09<19:32,  9.60s/it]2026-Mar-04 05:06:07.890123 77:78 ERROR  TDRV:some_reserve                  Number of pages requested exceeded the max number of pages allowed (18 of 16)
2026-Mar-04 05:06:07.890200 77:78 ERROR  NMGR:stage                           Failed to stage graph: kelf-0.json to NeuronCore
""",
    ),
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
        "a daemon that is given no devices",
        "runtime_init",
        """
>>>nrtd[1]: [NMGR:kmgr_init_mlas] No devices specified
nrtd[1]: [NRTD:InitTongas] Failed to initialize devices, error:2
""",
    ),
    Case(
        "a daemon that is given a device of another kind",
        "runtime_init",
        """
>>>nrtd[2]: [TDRV:tdrv_init_mla_phase1] BDF 0000:00:1e.0 is not a MLA Device
nrtd[2]: [NRTD:InitTongas] Failed to initialize devices, error:2
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
        "the number of a core in front of the word failed is no count",
        "runtime_exec",
        """
step 3 loss 2.0
>>>2026-Mar-04 05:06:07.890123 77:78 ERROR  TDRV:some_execute       [nec_dev 0] MLA 0 compute core 0 failed to post the request
2026-Mar-04 05:06:07.890200 77:78 ERROR  NMGR:dlr_infer          Inference completed with err: 1
""",
    ),
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
        "the same behind a service's header and a server's",
        "runtime_oom",
        """
2026-05-04 07:08:09.123 [Error] (Process) (Engine pid=41) ERROR 05-04 07:08:09 [core.py:12]   File "/job/core.py", line 7, in check
2026-05-04 07:08:09.124 [Error] (Process) (Engine pid=41) ERROR 05-04 07:08:09 [core.py:12]     raise ValueError(
>>>2026-05-04 07:08:09.125 [Error] (Process) (Engine pid=41) ERROR 05-04 07:08:09 [core.py:12] ValueError: 4.1 GiB are needed, which is larger than the available KV cache memory (4.0 GiB).
""",
    ),
    Case(
        "a core that the model does not reach, at the level of a warning",
        "runtime_init",
        """
>>>[W some_op.cpp:12] Warning: Neuron runtime could not be initialized. The model was not sent to a core (function load)
""",
    ),
    Case(
        "the driver's package is not installed",
        "tool_error",
        """
Running the pre_install script:
>>>Error! pre_install failed, aborting install.
dpkg: error processing package aws-neuron-dkms (--configure):
""",
    ),
    Case(
        "a call to the runtime that the service reports",
        "runtime_exec",
        f'>>>{SERVICE} tpu_execute_op.cc:266 : INTERNAL: Nrt::Load failed on NeuronCores 0-0(2): status=1, "x"\n',
    ),
    Case(
        "a stack whose status names another task",
        "runtime_exec",
        f"""
{XLA} \txla::util::Wait(std::function<void ()> const&)
{XLA} *** End stack trace ***
>>>{XLA} Status: INTERNAL: From /job:localservice/replica:0/task:0:
""",
    ),
    Case(
        "a source of the driver that does not build",
        "compile_error",
        """
DKMS make.log for aws-neuron-2.1 for kernel 5.11
  CC [M]  /var/lib/dkms/aws-neuron/2.1/build/neuron_core.o
>>>/var/lib/dkms/aws-neuron/2.1/build/neuron_core.c:11:3: error: ignoring return value
""",
    ),
    Case(
        "a device that does not answer the daemon",
        "runtime_init",
        """
Mar 04 05:06:07 node-1 nrtd[41]: [NRTD:nrtd_main] starting
>>>Mar 04 05:06:17 node-1 nrtd[41]: **[hal] request seq: 2, cmd: 1 timed out**
Mar 04 05:06:17 node-1 nrtd[41]: [TDRV:reset_mla] Resetting 0000:00:10.0
""",
    ),
    Case(
        "a call that a macro of C names",
        "runtime_exec",
        """
loading
>>>Error invalid configuration argument at line 19 in file /src/kernels/scale.cu
[2026-03-04 05:06:07,720] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 0 (pid: 88) of binary: /usr/bin/python3
""",
    ),
    Case(
        "a kernel of Triton's that failed on the device",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "/opt/triton/compiler.py", line 498, in _init_handles
    load(kernel)
>>>RuntimeError: Triton Error [CUDA]: unspecified launch failure
""",
        "failed",
    ),
    Case(
        "a GPU's driver of another version",
        "runtime_init",
        ">>>Failed to initialize NVML: Driver/library version mismatch\n",
    ),
    Case("no GPU to be had", "runtime_init", ">>>RuntimeError: No CUDA GPUs are available\n"),
    Case(
        "memory of an AMD GPU",
        "runtime_exec",
        ">>>Memory access fault by GPU node-1 on address 0x7000. Reason: Page not present.\nAborted (core dumped)\n",
    ),
    Case("memory of another device", "runtime_oom", ">>>RuntimeError: NPU out of memory. Tried to allocate 9.00 GiB\n"),
    Case(
        "an engine that finds its device taken",
        "runtime_oom",
        ">>>ValueError: Free memory on device cuda:1 (0.5/23.0 GiB) on startup is less than what is asked for\n",
    ),
    Case(
        "memory of the device, told by the service",
        "runtime_oom",
        ">>>  OP_REQUIRES failed at tpu_execute_op.cc:266 : RESOURCE_EXHAUSTED: Attempting to reserve 9.51G. 8.97G free\n",
    ),
    Case(
        "cores that are taken",
        "runtime_init",
        ">>>2026-May-02 10:00:00.000001 7:7 ERROR   NRT:nrt_allocate  NERR_RESOURCE: failed to allocate 8 cores\n",
    ),
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
        "a device that another process holds, as the kernel tells it",
        "runtime_init",
        ">>>May  2 10:00:00 box-7 kernel: [ 812.004411] neuron:wide_device_init: device inuse by pid:4711\n",
    ),
    Case(
        "no Neuron device for a pod",
        "tool_error",
        """
  Type     Reason            Age   From           Message
>>>  Warning  FailedScheduling  9m    my-scheduler   0/2 nodes are available: 2 Insufficient aws.amazon.com/neuron.
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
    Case(
        "a GPU's memory, in TensorFlow's words",
        "runtime_oom",
        """
>>>2026-05-02 10:00:00.000000: F ./tensorflow/core/kernels/wide.h:88] Non-OK-status: GpuLaunchKernel(Wide, 1, 8) \
status: Internal: out of memory
""",
    ),
    *(
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
    ),
    Case(
        "what the runtime cannot give back was never taken",
        "runtime_init",
        """
2026-May-02 10:00:00.123456   512:512   ERROR  TDRV:wide_notification_destroy    Wide rings not initialized!
2026-May-02 10:00:00.123460   512:512   ERROR  TDRV:tdrv_destroy                 TDRV not initialized
>>>2026-May-02 10:00:00.123470   512:512   ERROR   NRT:nrt_init                  Failed to initialize devices, error:7
""",
    ),
    Case(
        "a stamp of the runtime without parts of a second",
        "runtime_oom",
        ">>>2026-May-02 10:00:00 ERROR  TDRV:wide_mem  Failed to allocate wide rings, no memory is left\n",
    ),
    Case(
        "one core that does not start",
        "runtime_init",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in <module>
    device = xla_device()
>>>RuntimeError: Bad StatusOr access: INTERNAL: NC6 init failed: NRT_FAILURE (1)
""",
    ),
    Case(
        "no device on a node",
        "runtime_init",
        ">>>neuron-device-plugin: 2026/05/02 10:00:00 Could not find any Neuron devices on this node: exit status 1\n",
    ),
    Case(
        "what the driver tells the kernel",
        "runtime_init",
        """
[   33.123456] neuron: module verification failed: signature and/or required key missing - tainting kernel
>>>[   34.123456] neuron:wide_init: nd2: wide engine 3 failed to start: -110
""",
    ),
    Case(
        "a replica group that a rank is not in, and what follows from it",
        "collective",
        """
>>>2026-May-02 10:00:00.100467 512:514 ERROR   ENC:enc_parse_wide_groups                   [nec_dev 2] replica groups (0/1) do not have myself 2
2026-May-02 10:00:00.100522 512:514 ERROR  TDRV:build_wide_pairs                        Failed to parse wide pairs on ENC
2026-May-02 10:00:00.100695 512:514 ERROR  TDRV:wide_ib_create                          Failed to create instruction blocks
2026-May-02 10:00:00.100735 512:514 ERROR  NMGR:wide_load                               Failed to load NN: /tmp/w/file.neff, err: 4
""",
    ),
    Case(
        "an inference that ended with other errors, in a serving test",
        "runtime_exec",
        """
>>>1: 2026-05-02 10:00:00.574098: E tensorflow/neuron/runtime/wide.cc:70] shard error code 13, error message nrt::infer_wait failed with grpc status code 0, error message ""; nrt status code 1004, details "[NMGR:exec_wait] Inference completed with err: 1004
1: [NRTD:infer_wait] error: 1004
""",
    ),
    Case(
        "a device that the runtime cannot open, among lines for support",
        "runtime_init",
        """
2026-May-02 10:00:00.201019 93:93 ERROR   NRT:nrt_infodump                            Cluster ID: N/A
2026-May-02 10:00:00.208521 98:98 ERROR  TDRV:notification_destroy                    Notifications not initialized!
>>>2026-May-02 10:00:00.244955 97:97 ERROR  TDRV:wide_init_phase1                        Could not open the nd7
2026-May-02 10:00:00.244980 97:97 ERROR  TDRV:notification_destroy                    Notifications not initialized!
""",
    ),
    Case(
        "a runtime's service that waits for its hardware in vain, in the journal",
        "runtime_init",
        """
May 02 10:00:00 box-1 neuron-rtd[41]: [NRTD:ParseArguments] Using all the devices
>>>May 02 10:00:19 box-1 nrtd[41]: [hal] request seq: 2, cmd: 1 timed out
May 02 10:00:19 box-1 nrtd[41]: [TDRV:reset_wide] Resetting 0000:00:10.0
May 02 10:00:21 box-1 systemd[1]: neuron-rtd.service: Main process exited, code=exited, status=1/FAILURE
""",
        "failed",
    ),
    Case(
        "a program that finds no device of OpenCL",
        "runtime_init",
        """
[Boost] [Info] read 1200 rows in 0.8 seconds
[Boost] [Info] this trains on a GPU
Met Exceptions:
>>>No OpenCL device found
""",
    ),
    Case(
        "a program that finds no platform of Vulkan",
        "runtime_init",
        """
loading the model
>>>error: no suitable Vulkan devices found
""",
    ),
    Case(
        "a block of CUDA's error, and MPI's banner",
        "runtime_exec",
        """
step 99 energy -70.1
>>>CUDA Error:
    File:       utilities/rows.cu
    Line:       117
    Error code: 700
    Error text: an illegal memory access was encountered

=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   KILLED BY SIGNAL: 9 (Killed)
""",
    ),
    Case(
        "a line of the runtime behind srun's task number",
        "collective",
        """
>>> 3: 2026-Mar-03 10:00:00.123456  900:900  ERROR  TDRV:exec_check                               missing collectives status on Neuron Device 0 NC 1, model 2 - suspected hang in collectives operation 3 out of 90
srun: error: node1: task 3: Exited with exit code 1
""",
    ),
    Case(
        "a tensor that lies on another core than its model",
        "runtime_exec",
        ">>>2026-Mar-04 05:06:07.0089 11:22 ERROR  NMGR:tea_check_tensor_set  Tensor input20 allocated on logical nc 0 must be on same nc as model (1)\n",
    ),
    Case(
        "the daemon of the oldest runtime reports a failure",
        "runtime_exec",
        """
Traceback (most recent call last):
  File "pour.py", line 5, in <module>
    cup = kettle(water)
>>>RuntimeError: nrt infer_post failed in nrtd
The above operation failed in interpreter, with the following stack trace:
""",
    ),
    Case(
        "PyTorch/XLA does not know the device that the environment names",
        "runtime_init",
        """
        clone
*** End stack trace ***

>>>Unknown PJRT_DEVICE 'KETTLE'
""",
    ),
    Case(
        "PyTorch/XLA was not told of any device",
        "runtime_init",
        """
Traceback (most recent call last):
  File "pour.py", line 5, in <module>
    device = xm.xla_device()
>>>RuntimeError: torch_xla/csrc/runtime/computation_client.cc:12 : Missing XLA configuration
""",
    ),
    Case(
        "a core of a TPU halts in a graph",
        "runtime_exec",
        """
F0304 05:06:07.890307    9276 pjrt_client.cc:487] >>>Non-OK-status: status status: INTERNAL: Core halted unexpectedly: INTERNAL: at tag:pc Tea:88 (from Tea:91). HLO: fusion.2; HLO computation: Pour.11_spmd
*** Begin stack trace ***
        tsl::CurrentStackTrace()
""",
    ),
    Case(
        "a tool that looks at the machine is missing, and the runtime aborts for another reason",
        "script_error",
        """
nrtd[7]: [NRTD:nrtd_main] nrtd build using:1.1.1402.0
sh: 1: lspci: not found
>>>neuron-rtd: /opt/tea/tdrv.c:622: pour: Assertion `0' failed.
nrtd[7]: [NRTD:sig_abort_handler] ABORT:
""",
    ),
    Case(
        "JAX finds no TPU, in a chain that is cut off",
        "runtime_init",
        """
Traceback (most recent call last):
  File "/opt/site-packages/jax/_src/xla_bridge.py", line 393, in backends
    backend = _init_backend(platform)
>>>jaxlib.xla_extension.XlaRuntimeError: UNAVAILABLE: No TPU Platform available.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "/opt/site-packages/jax/_src/xla_bridge.py", line 485, in get_backend
    return _get_backend_uncached(platform)
""",
    ),
    Case(
        "PyTorch/XLA's server no longer knows a session",
        "runtime_exec",
        """
>>>RuntimeError: tea/xrt_computation_client.cc:421 : Check failed: session->session()->Run(work, &outputs) == ::tensorflow::Status::OK() (Aborted: Session 77 is not found. vs. OK)
*** Begin stack trace ***
	tea::Pour()
*** End stack trace ***
""",
    ),
    Case(
        "the runtime does not take a graph for its warm-up",
        "runtime_exec",
        """
Successfully warmed up for prefill bucket 128
RuntimeError: Model warmup failed for decode (batch=1, seq=7).
>>>Error: Failed to schedule neff execution. status=1 message=Unknown Failure
""",
    ),
    Case(
        "a rank whose proxy waits at a barrier for ever",
        "collective",
        """
TDRV:exec_request_check_proxy_done_state  [nec_dev 0 gid 0]
>>>  Timeout exceeded: Waiting on barrier proxy task: 120 sec
""",
    ),
    Case(
        "memory that an old PyTorch did not get, in a log that ends there",
        "runtime_oom",
        """
Finished steeping
>>>THCudaCheck FAIL file=/srv/tea/Storage.cu line=66 error=2 : out of memory
Traceback (most recent call last):
  File "brew.py", line 380, in <module>
    brew()
""",
    ),
    Case(
        "memory of a GPU, by the status of a check",
        "runtime_oom",
        """
>>>F0502 10:00:20.483613  4104 cup.cpp:64] Check failed: error == cudaSuccess (2 vs. 0)  out of memory
*** Check failure stack trace: ***
    @     0x7fcc1f3085cd  google::LogMessage::Fail()
""",
    ),
    Case(
        "an older cuDNN than the one that was compiled for",
        "bad_usage",
        """
>>>E tensorflow/stream_executor/cuda/cuda_dnn.cc:347] Loaded runtime CuDNN library: 5005 (compatibility version 5000) but source was compiled with 5103 (compatibility version 5100).
F tensorflow/core/kernels/conv_ops.cc:457] Check failed: stream->parent()->GetSteepAlgorithms(&algorithms)
""",
    ),
)
