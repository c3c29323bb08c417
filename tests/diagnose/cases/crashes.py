"""Processes that crashed or aborted: signals, panics, and checks of native code."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

CRASHES = (
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
        "segmentation fault and core dump",
        "script_error",
        """
loading model
>>>Segmentation fault (core dumped)
""",
        "failed",
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
        "a C++ check of the framework ends the process",
        "script_error",
        """
>>>2026-03-04 05:06:07.890123: F torch_xla/csrc/some.cc:77] Check failed: devices_ > 0
""",
        "failed",
    ),
    Case(
        "a panic of Rust ends its process",
        "script_error",
        """
loading 3 programs
thread 'main' panicked at src/runner.rs:31:5:
>>>assertion failed: handle.is_some()
""",
        "failed",
    ),
    Case(
        "a check of a library",
        "script_error",
        """
>>>python3: ring.c:20: ring_push: Assertion `n < size' failed.
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "a check of C++ between two progress bars",
        "script_error",
        """
>>>Epoch ... (1/10):   0%|     | 0/10 [00:00<?, ?it/s]F0304 05:06:07.890123   77 array.h:41] Check failed: n < size      | 0/118 [00:00<?, ?it/s]
""",
        "failed",
    ),
    Case(
        "PyTorch's C++ in May, whose month has one digit",
        "script_error",
        """
[rank2]:[W503 07:08:09.123456789 SomeStore.cpp:12] a warning that is none of an error
>>>[rank2]:[E503 07:08:10.123456789 SomeStore.cpp:34] the table of peers could not be written
""",
    ),
    Case(
        "an allocator that aborts",
        "script_error",
        "loading\n>>>src/tcmalloc.cc:332] Attempt to free invalid pointer 0x7ffd\n",
        "failed",
    ),
    Case(
        "errors with glog's header of today, which has the year",
        "script_error",
        """
I20261218 09:35:42.463377 3029784 store.cpp:41] Number of GPUs: 4
>>>E20261218 09:47:16.837333 3029991 model.cpp:53] Tensor file "/data/wide/tensor.data_0" does not exist
F20261218 09:47:16.837400 3029991 store.cpp:120] Check failed: model->Initialize(path) == 0
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "a check of Ray's C++ that did not hold",
        "script_error",
        """
[2026-05-02 10:00:00,101 I 81 81] (raylet) wide.cc:20: Failed to look up a node, trying again
[2026-05-02 10:00:00,102 W 81 81] (raylet) wide.cc:21: Couldn't start a worker
>>>[2026-05-02 10:00:00,103 C 81 90] (raylet) wide.cc:44: Check failed: tasks_.size() == 2 Bad number of tasks
""",
        "failed",
    ),
    Case("a heap that is damaged", "script_error", ">>>corrupted size vs. prev_size\n"),
    Case(
        "an accelerator's farewell behind a wrapper's exception",
        "script_error",
        """
>>>RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
[ERROR] 2026-05-02-10:00:30 (PID:4711, Device:-1, RankID:-1) ERR99999 UNKNOWN application exception
""",
    ),
    Case(
        "the kernel saw a process crash",
        "script_error",
        """
[Mon May  2 10:00:00 2026] >>>python3.11[78]: segfault at 60 ip 00007f24 sp 00007ffc error 4 in libwide.so[7f24+5c000] likely on CPU 15
[Mon May  2 11:00:00 2026] python3.11[79]: segfault at b0 ip 00007f61 sp 00007fff error 4 in libwide.so[7f61+5c000] likely on CPU 15
""",
    ),
    Case(
        "a general protection fault",
        "script_error",
        """
>>>[  501.123456] traps: python3[88] general protection fault ip:7f2a sp:7ffd error:0 in libwide.so[7f2a+8f00]
""",
    ),
    Case(
        "a job of zsh's that crashed",
        "script_error",
        """
loading weights
>>>[1]  + 8812 segmentation fault (core dumped)  python wide.py --port 8000
""",
    ),
    Case(
        "a launcher's worker that a bus error ended",
        "script_error",
        """
[2026-05-02 10:00:00,980] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 39
>>>[2026-05-02 10:00:00,982] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python3', '-u', 'wide.py'] exits with return code = -7
""",
    ),
    Case(
        "a check of glibc's that ends the process",
        "script_error",
        """
epoch 3 step 1200 loss 2.113
epoch 3 step 1210 loss 2.101
>>>*** buffer overflow detected ***: terminated
Aborted (core dumped)
""",
    ),
    Case(
        "an exception of C++ that another library tells of",
        "script_error",
        """
loading graph
>>>libc++abi: terminating due to uncaught exception of type std::out_of_range: vector
zsh: abort      ./bench --model m.neff
""",
    ),
    Case(
        "Python shows where it hangs, and the log ends",
        "script_error",
        """
step 40 loss 3.2
step 41 loss 3.1
>>>Timeout (0:10:00)!
Thread 0x00007f2a1b7fe700 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait
  File "/app/data.py", line 44 in worker
Thread 0x00007f2a9c5c1740 (most recent call first):
  File "/app/data.py", line 80 in get
  File "/app/train.py", line 31 in <module>
""",
    ),
    Case(
        "a program of Fortran that crashes, behind what Slurm's daemon could not set up",
        "script_error",
        """
slurmstepd: error: task/cgroup: unable to add task[pid=3310] to memory cg '(null)'
slurmstepd: error: Unable to create TMPDIR [/scratch/7]: Permission denied
slurmstepd: error: Setting TMPDIR to /tmp
>>>forrtl: severe (174): SIGSEGV, segmentation fault occurred
Image              PC                Routine            Line        Source
waves              000000000040118E  MAIN__                     12  waves.f90
forrtl: error (78): process killed (SIGTERM)
srun: error: box-5: task 0: Exited with exit code 174
""",
        "failed",
    ),
    Case(
        "a program of Fortran whose input ends",
        "script_error",
        """
forrtl: error (78): process killed (SIGTERM)
At line 12 of file waves.f90 (unit = 9, file = 'waves.in')
>>>Fortran runtime error: End of file
""",
        "failed",
    ),
    Case(
        "a panic of Rust whose thread has no name",
        "script_error",
        """
[00:04:29] ##------    2804/61262   Training
>>>panicked at C:\\rows\\src\\core.rs:1613:18:

thread panicked while processing panic. aborting.
error: process didn't exit successfully: `target\\train.exe` (exit code: 0xc0000409, STATUS_STACK_BUFFER_OVERRUN)
""",
    ),
    Case(
        "a tool in C++ that prints what Boost knows of an exception",
        "tool_error",
        """
/build/profiler/Client.cpp(389): Throw in function Endpoint Client::LocalEndpoint() const
Dynamic exception type: boost::wrapexcept<Common::RuntimeException>
std::exception::what: RuntimeException
>>>[Common::tag_message*] = The profiler's endpoint is closed.
srun: error: n-1: task 3: Exited with exit code 1
slurmstepd: error: *** JOB 77 ON n-1 CANCELLED AT 2026-03-04T05:06:07 ***
""",
    ),
    Case(
        "a panic of Rust that names its thread's number, and whose words look like a line for developers",
        "script_error",
        """
[DEBUG] leaf=0.7
thread '<unnamed>' (4711) panicked at src/steep.rs:27:21:
>>>[DEBUG] no column 'leaf' 
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
""",
        "failed",
    ),
    Case(
        "a panic of Rust for want of room on a disk, above a long backtrace",
        "tool_error",
        """
thread 'main' panicked at src/steep.rs:27:21:
>>>called `Result::unwrap()` on an `Err` value: Os { code: 28, kind: StorageFull, message: "No space left on device" }
stack backtrace:
"""
        + "".join(f"  {number}: steep::pour\n             at ./src/steep.rs:{number}:1\n" for number in range(40)),
        "failed",
    ),
    Case(
        "a worker of pytest that ended with its test",
        "script_error",
        """
[gw4] [ 93%] PASSED test_tea.py::test_pour
>>>[gw4] node down: Not properly terminated
[gw4] [ 93%] FAILED test_tea.py::test_steep
maximum crashed workers reached: 4
""",
    ),
    Case(
        "an assertion in a compiler on LLVM",
        "compile_crashed",
        """
>>>brew-compile: /src/brew/third_party/llvm-project/mlir/lib/Transforms/Utils/Steep.cpp:28: void mlir::steep(): Assertion `cup.isWarm() && "the cup is cold"' failed.
Please report issues to https://example.org/brew/issues and include the crash backtrace.
Stack dump:
0.\tProgram arguments: brew-compile tea.mlir -o tea.vmfb
 #0 0x00007f46bb61a9b7 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) Signals.inc:723:13
""",
        "failed",
    ),
    Case(
        "a compiler on LLVM that a signal has ended",
        "compile_crashed",
        """
Please report issues to https://example.org/brew/issues and include the crash backtrace.
>>>Stack dump:
0.\tProgram arguments: brew-compile tea.mlir -o tea.vmfb
0  libBrew.dylib    0x0000000111c314f4 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) + 56
""",
        "failed",
    ),
    Case(
        "a program that was killed, in Chinese",
        "host_oom",
        """
  0%|          | 0/167 [00:00<?, ?b/s]
>>>已杀死
""",
    ),
    Case(
        "a program that was killed, in German",
        "host_oom",
        """
lade Blätter
>>>/srv/tea/brew.sh: Zeile 12: 4711 Getötet                python brew.py
""",
    ),
    Case(
        "a segmentation fault, in German",
        "script_error",
        """
lade Blätter
>>>Speicherzugriffsfehler (Speicherabzug geschrieben)
""",
    ),
    Case(
        "a crash long after an error line",
        "script_error",
        """
connect failed: No such file or directory
Read new prefs: /srv/tea/userpref
read leaves: /srv/tea/leaves
info     : Starting
progress : Steeping cup 1...
progress : Steeping cup 2...
info     : Finished steeping
>>>Bus error (core dumped)
""",
    ),
)
