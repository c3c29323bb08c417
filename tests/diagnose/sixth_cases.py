"""More logs of our own, of jobs on Neuron: what the compiler, the runtime and what stands around them print."""

from __future__ import annotations

from tests.diagnose.cases import Case

D = "2026-03-04T05:06:07Z"
XLA = "2026-03-04 05:06:07.123456: E tensorflow/compiler/xla/xla_client/xla_util.cc:90]"
SERVICE = "2026-03-04 05:06:07.123456: W tensorflow/core/framework/op_kernel.cc:1830] OP_REQUIRES failed at"
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
)
SIXTH_CASES = (*COMPILER, *SERVICES)
