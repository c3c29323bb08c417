"""More logs of our own, of jobs on Neuron: what the compiler, the runtime and what stands around them print."""

from __future__ import annotations

from tests.diagnose.cases import Case

D = "2026-03-04T05:06:07Z"
XLA = "2026-03-04 05:06:07.123456: E tensorflow/compiler/xla/xla_client/xla_util.cc:90]"
SERVICE = "2026-03-04 05:06:07.123456: W tensorflow/core/framework/op_kernel.cc:1830] OP_REQUIRES failed at"
CCOM = "2026-Mar-04 05:06:07.0089 11:22"
COMPILER = (
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
{D} ERROR 18 [WalrusDriver]: An exception was thrown:
-----------------------
 0# __cxa_throw in /opt/libwalrus.so
""",
    ),
    Case(
        "the end of a banner whose message is cut off",
        "compile_error",
        f"""
>>>{D} ERROR 18 [neuronx-cc]:   File "neuronxcc/driver/Job.py", line 30, in neuronxcc.driver.Job.run
{D} ERROR 18 [neuronx-cc]:   NEFF version Dynamic
{D} ERROR 18 [neuronx-cc]:   TVM not available
{D} ERROR 18 [neuronx-cc]:
{D} ERROR 18 [neuronx-cc]: Artifacts stored in: /tmp/work
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
        "an extension of the compiler that was built for another numpy",
        "missing_dependency",
        ">>>RuntimeError: Failed compilation with ['neuronx-cc', 'compile', '/tmp/a.pb', '--output', '/tmp/a.neff']: "
        "RuntimeError: module compiled against API version 0xf but this version of numpy is 0xe\n",
    ),
)
SERVICES = (
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
    Case("a check of XLA", "compile_error", ">>>RET_CHECK failure (xla/service/verifier.cc:9) count == 2 \n"),
    Case(
        "a status that ends the process",
        "compile_error",
        ">>>Non-OK-status: status.status() status: UNIMPLEMENTED: no rewriting for this HLO: %dot.3\n",
    ),
    Case(
        "an endpoint that did not answer",
        "script_error",
        ">>>botocore.errorfactory.ModelError: An error occurred (ModelError) when calling the InvokeEndpoint operation: "
        'server error (0) with message "Your invocation timed out while waiting for a response"\n',
    ),
)
COLLECTIVES = (
    Case(
        "a limit of open files among ranks that meet",
        "script_error",
        f"""
>>>{CCOM} [17] bootstrap.cc:106 CCOM WARN Call to accept failed : Too many open files
{CCOM} [13] include/socket.h:443 CCOM WARN Net : Socket creation failed : Too many open files
{CCOM} [29] include/socket.h:579 CCOM WARN Timeout waiting for RX (waited 120 sec) - retrying
""",
    ),
    Case(
        "a communicator over nodes that is not built",
        "collective",
        '>>>RuntimeError: Nrt::BuildGlobalComm failed on NeuronCores 0-1(2):  nrt_status=1, message="x".\n',
    ),
    Case(
        "a thread of no rank",
        "collective",
        f">>>{CCOM} [-1] bootstrap.cc:95 CCOM WARN Timeout waiting for incoming connection (waited 120 sec)\n",
    ),
    Case(
        "a fork beside EFA",
        "collective",
        """
A process has called fork().

>>>As a result, the libfabric EFA provider is operating in
a condition that could result in errors.
Your job will now abort.
""",
    ),
)
MACHINES = (
    Case(
        "a source of the driver that does not build",
        "runtime_init",
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
        "no GPU on a machine that needs none",
        "",
        """
2026-03-04 05:06:07.211885: E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: \
CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
INFO:tensorflow:Assets written to: out
""",
    ),
    Case(
        "an allocator that aborts",
        "script_error",
        "loading\n>>>src/tcmalloc.cc:332] Attempt to free invalid pointer 0x7ffd\n",
        "failed",
    ),
)
PAGES = (
    Case(
        "a traceback on one line",
        "script_error",
        '>>>File "<string>", line 111, in __init__ File "/opt/arguments.py", line 13, in check_device '
        "raise RuntimeError('no such device: {}'.format(device)) RuntimeError: no such device: cpu\n",
        "failed",
    ),
    Case(
        "an import that fails when it is asked for, and its reason on the next line",
        "missing_dependency",
        """
RuntimeError: Failed to import job.modeling because of the following error (look up to see its traceback):
>>>cannot import name 'Mode' from 'job.utils' (/opt/job/utils.py)
""",
    ),
    Case(
        "a sentence that names two places of a file",
        "",
        'See File "a.py", line 3, in main and File "b.py", line 7, in check for what an Error: is here\n',
    ),
)
SIXTH_CASES = (*COMPILER, *SERVICES, *COLLECTIVES, *MACHINES, *PAGES)
