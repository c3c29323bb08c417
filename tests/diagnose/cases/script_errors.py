"""Failures of a script in its own words: of loggers, checks, tests, shells and frameworks."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

SCRIPT_ERRORS = (
    Case(
        "a name that a shell took for a command, and the option that is empty for it",
        "missing_dependency",
        """
usage: steep.py [-h] --leaf-size SIZE
steep.py: error: argument --leaf-size: expected one argument
>>>/var/spool/slurm/job77/slurm_script: line 28: leaf_size: command not found
usage: steep.py [-h] --leaf-size SIZE
steep.py: error: argument --leaf-size: expected one argument
""",
    ),
    Case(
        "an exception of Spark around the worker's own",
        "script_error",
        """
PythonException:
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "udf.py", line 26, in interval
>>>TypeError: must be a column, got float
""",
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
        "tests that pytest could not collect",
        "missing_dependency",
        """
collecting ... collected 3 items / 1 error
_____________________ ERROR collecting tests/test_layers.py _____________________
ImportError while importing test module '/job/tests/test_layers.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
tests/test_layers.py:3: in <module>
    from layers import Wide
>>>E   ModuleNotFoundError: No module named 'layers'
ERROR tests/test_layers.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
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
        "a C compiler names the place",
        "compile_error",
        """
make: Entering directory '/usr/src/x'
>>>/usr/src/x/ring.c:41:3: error: too few arguments to function 'ring_new'
make[1]: *** [Makefile:7: ring.o] Error 1
make: *** [Makefile:2: all] Error 2
""",
        "failed",
    ),
    Case(
        "errors and failures that pytest lists",
        "script_error",
        """
ERROR tests/test_export.py::test_load[small]
FAILED tests/test_export.py::test_save - LookupError
>>>E       LookupError: no shard for this worker
""".replace("E       ", ""),
    ),
    Case(
        "a table of a log service, stamps between bars",
        "script_error",
        """
| 1767225600123 | loading
| 1767225600200 | terminate called after throwing an instance of 'c10::Error'
>>>| 1767225600201 |   what():  a tuple was expected
| 1767225600202 | frame #3: python3() [0x51a2]
""",
        "failed",
    ),
    Case(
        "a name and a stamp in front of the level",
        "script_error",
        """
[Keeper] 2026-01-01T00:00:01 INFO 16 devices
>>>[Keeper] 2026-01-01T00:00:02 ERROR device 4 does not answer, the job is stopped
""",
    ),
    Case(
        "an exception behind a progress bar",
        "script_error",
        """
>>>  0%|          | 0/10 [00:00<?, ?it/s]RuntimeError: the tensor has no storage
""",
    ),
    Case(
        "numbers that overflow, without the heading of the traceback, and the bar that is drawn once more",
        "script_error",
        """
  4%|4         | 16/400 [05:00<1:57:56, 19.13s/it]
    raise Exception(
>>>Exception: Current loss scale already at minimum - cannot decrease it anymore. Exiting run.
  4%|4         | 17/400 [05:25<1:57:56, 19.13s/it]
""",
    ),
    Case(
        "a log that begins inside a traceback, behind a header on each line",
        "script_error",
        """
ERROR 05-04 07:08:09 engine.py:12]   File "/job/engine.py", line 7, in run
ERROR 05-04 07:08:09 engine.py:12]     failed = check()
>>>ERROR 05-04 07:08:09 engine.py:12] ValueError: the table has no room
ERROR 05-04 07:08:10 workers.py:34] Worker pid 41 died, exit code: -15
""",
    ),
    Case(
        "a line that is cut off in its stamp",
        "script_error",
        """
(EngineCore_DP0 pid=7) INFO 01-02 03:04:05 [core.py:7] Loading the model.
>>>(EngineCore_DP0 pid=7) ERROR 01-02 03:04:06 [core.py:8] EngineCore failed to start.
(EngineCore_DP0 pid=7) ERROR 01-02 03:0
""",
        "failed",
    ),
    Case(
        "an endpoint that did not answer",
        "script_error",
        ">>>botocore.errorfactory.ModelError: An error occurred (ModelError) when calling the InvokeEndpoint operation: "
        'server error (0) with message "Your invocation timed out while waiting for a response"\n',
    ),
    Case(
        "a traceback on one line",
        "script_error",
        '>>>File "<string>", line 111, in __init__ File "/opt/arguments.py", line 13, in check_device '
        "raise RuntimeError('no such device: {}'.format(device)) RuntimeError: no such device: cpu\n",
        "failed",
    ),
    Case(
        "Hydra's heading, and the error behind it",
        "script_error",
        """
Error executing job with overrides: ['lr=0.1']
>>>Error locating target 'job.nets.Wide', see chained exception above.
full_key: net

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
""",
    ),
    Case(
        "a heading that ends in a colon, and what it announces",
        "script_error",
        """
2026-03-06T17:53:31.052367Z ERROR manager: launcher: Complete standard error output:
 rank=0
>>>2026-03-06T17:53:31.052444Z ERROR manager: launcher: The process was signaled to shutdown with signal 4 rank=0
2026-03-06T17:53:31.149443Z ERROR launcher: Shard 3 failed to start
""",
        "failed",
    ),
    Case(
        "an error of a server that logs as Rust does",
        "script_error",
        '>>>{"timestamp":"2026-08-29T14:40:17.2Z","level":"ERROR","message":"Request failed during a step",'
        '"target":"router::back","line_number":5}\n',
    ),
    Case(
        "a script that the shell cannot enter",
        "script_error",
        ">>>/var/spool/slurmd/job7/slurm_script: line 4: /opt/wide/bin/activate: No such file or directory\n",
    ),
    Case(
        "a script that the shell cannot read",
        "script_error",
        ">>>run.sh: line 9: syntax error near unexpected token `fi'\n",
    ),
    Case(
        "a shell that is not told which line it reads",
        "missing_dependency",
        ">>>(task, pid=2846) bash: /usr/bin/python9: No such file or directory\n",
    ),
    Case(
        "a line behind a progress bar whose head is gone",
        "script_error",
        ">>>  31/900 [01:02<19:59,  1.38s/it]Error: shard 12 is empty\n",
    ),
    Case(
        "Hydra's heading in the middle of a progress bar",
        "script_error",
        ">>>Epoch 3:   0%|   | 0/375 [00:17<?, ?it/s, v_num=abError executing job with overrides: ['lr=1']\n",
    ),
    Case(
        "success of which is said that it comes later",
        "script_error",
        ">>>Error: no such checkpoint\nwarning: numbers are not exact if training is done again\n",
        "unknown",
    ),
    Case(
        "a path that looks like a rate is no step",
        "script_error",
        """
>>>Error: the stage failed: no input
last files: /data/runs/item-1, /src/kit/sub/one.cc, /data/runs/item-2, /src/kit/sub/two.cc, /data/runs/item-3, /x/kit/s
""",
    ),
    Case(
        "an error line in front of the check that fails for it",
        "script_error",
        """
I0502 10:00:00.100000 81 wide.cc:10] Listening
>>>E0502 10:00:00.200000 90 shard.cc:20] The file of shard 3 does not exist
F0502 10:00:00.200100 90 store.cc:30] Check failed: shard->Open() == 0
Aborted (core dumped)
""",
        "failed",
    ),
    Case(
        "an error line long before a check that fails",
        "script_error",
        """
E0502 10:00:00.200000 90 shard.cc:20] The file of shard 3 does not exist
I0502 10:00:00.200001 90 shard.cc:21] Reading shard 4
I0502 10:00:00.200002 90 shard.cc:21] Reading shard 5
>>>F0502 10:00:00.200100 90 store.cc:30] Check failed: shard->Open() == 0
""",
        "failed",
    ),
    Case(
        "the middle of a traceback, cut off at both ends",
        "script_error",
        """
File "/job/a.py", line 1, in one
    two()
File "/job/a.py", line 2, in two
    three()
File "/job/a.py", line 3, in three
>>>    four()
""",
    ),
    Case(
        "an exception as far indented as the frames above it say",
        "script_error",
        """
        File "/env/ext.py", line 9, in _run_build
          raise RuntimeError(message) from e
>>>      RuntimeError: the extension's objects did not compile
      [end of output]

  note: This comes from a subprocess.
ERROR: No wheel was built
""",
    ),
    Case(
        "a program that ends by an exception, in words of its own",
        "script_error",
        ">>>Unhandled exception <class 'RuntimeError'> in thread <_MainThread(MainThread)>, proc 28.\n",
    ),
    Case(
        "weights of another size",
        "script_error",
        ">>>[rank1]:        size mismatch for net.2.w: copying a param with shape torch.Size([4]) from checkpoint\n",
    ),
    Case("a shell's script that nobody can read", "script_error", '>>>/job/start: 9: Syntax error: "fi" unexpected\n'),
    Case("an assembler that gives up", "compile_error", ">>>ptxas fatal   : Value 'sm_900' is not defined\n"),
    Case("a full disk, in small letters", "tool_error", ">>>write /var/lib/wide/x: no space left on device\n"),
    Case(
        "a model that a server does not load",
        "script_error",
        """
I0502 10:00:00.100000 81 server.cc:633]
+-------+---------+---------------------------------------------+
| Model | Version | Status                                      |
+-------+---------+---------------------------------------------+
>>>| wide  | 1       | UNAVAILABLE: Internal: no engine can be made |
+-------+---------+---------------------------------------------+
error: creating server: Internal - failed to load all models
""",
    ),
    Case(
        "a shell that is named by its path",
        "script_error",
        ">>>/bin/bash: /job/start.sh: Is a directory\n",
    ),
    Case(
        "a package whose compiler failed, in the output that pip shows",
        "script_error",
        """
  error: subprocess-exited-with-error
  × python setup.py bdist_wheel did not run successfully.
  │ exit code: 1
  ╰─> [9 lines of output]
      fatal: not a git repository (or any of the parent directories): .git
      running build
>>>      error: command '/usr/bin/wide-cc' failed with exit code 2
      [end of output]
  ERROR: Failed building wheel for wide
""",
        "failed",
    ),
    Case(
        "a level behind the name of a file",
        "script_error",
        ">>>2026-05-02 10:00:00,611 wide_executor.py ERROR - Event: pod-7f04 Failed\n",
    ),
    Case(
        "an error line that has no words",
        "script_error",
        """
[ERROR] Thread-7 org.wide.Handler - 
>>>org.wide.ServerError: the model has no version 3
        at org.wide.Api.update(Api.java:413)
""",
    ),
    Case(
        "a stamp with a dash between date and time",
        "script_error",
        ">>>[ERROR] 2026-05-02-10:00:30 (PID:4711) no stream is left for the wide queue\n",
    ),
    Case(
        "a gradient that is no number, told by a logger without a header of its own",
        "script_error",
        """
iteration        2/      50 | consumed samples:           64 | lm loss: 1.077431E+01 | number of nan iterations:   0 |
>>>ERROR:wide.core.rerun:Unexpected result nan on rank 3 at iteration #3 (message='found NaN in local grad norm')
ERROR:wide.core.rerun:Rank 3, node box-1, device 3, iteration #3: First rerun: the result is reproducible
""",
    ),
    Case(
        "a table of a server's models, below the error of one",
        "script_error",
        """
>>>E0519 08:11:54.803470 1 wide_manager.cc:12] failed to load 'NMS' version 1: Unsupported: the back end is too old
I0519 08:11:54.803579 1 wide_manager.cc:10] no next action
+------------+---------+-----------------------------------------------+
| NMS        | 1       | UNAVAILABLE: Unsupported: the back end is too old |
+------------+---------+-----------------------------------------------+
error: creating server: Internal - failed to load all models
""",
    ),
    Case(
        "a script with the line ends of Windows",
        "script_error",
        r"""
>>>run.sh: line 2: $'\r': command not found
: invalid optiont: -
run.sh: line 5: syntax error: unexpected end of file
""",
    ),
    Case(
        "an archive that ends too early",
        "tool_error",
        """
+ tar xzf data.tgz
>>>gzip: stdin: unexpected end of file
tar: Unexpected EOF in archive
tar: Error is not recoverable: exiting now
""",
    ),
    Case(
        "an exception that a program logs before it puts its things away",
        "script_error",
        """
2026-05-02 10:00:04,377 fit ERROR the run has ended early
Traceback (most recent call last):
  File "/job/fit.py", line 88, in main
    rows = build(offers)
>>>KeyError: 'price'
2026-05-02 10:00:09,204 fit INFO uploading 3 files to the bucket
2026-05-02 10:00:14,209 fit INFO destroying the process group
2026-05-02 10:00:19,201 fit INFO file 1 of 3
2026-05-02 10:00:24,203 fit INFO file 2 of 3
2026-05-02 10:00:29,207 fit INFO file 3 of 3
2026-05-02 10:00:29,208 fit INFO good night
2026-05-02 10:00:29,209 fit INFO it took 40 seconds
""",
        "failed",
    ),
    Case(
        "an exception that a program logs, and the status with which it ends some lines later",
        "script_error",
        """
2026-05-02 10:00:04,377 fit ERROR the run has ended early
Traceback (most recent call last):
  File "/job/fit.py", line 88, in main
    rows = build(offers)
>>>KeyError: 'price'
2026-05-02 10:00:09,204 fit INFO 12 epochs
2026-05-02 10:00:14,209 fit INFO 40 batches
2026-05-02 10:00:19,201 fit INFO 8 readers
2026-05-02 10:00:24,203 fit INFO 2 devices
2026-05-02 10:00:29,207 fit INFO 1 host
srun: error: box-5: task 0: Exited with exit code 1
""",
        "failed",
    ),
    Case(
        "an exception below a warning of Python's own",
        "script_error",
        """
/job/fit.py:3: UserWarning: few rows
Traceback (most recent call last):
  File "/job/fit.py", line 88, in main
    rows = build(offers)
>>>KeyError: 'price'
2026-05-02 10:00:09,204 fit INFO 12 epochs
2026-05-02 10:00:14,209 fit INFO 40 batches
2026-05-02 10:00:19,201 fit INFO 8 readers
2026-05-02 10:00:24,203 fit INFO 2 devices
2026-05-02 10:00:29,207 fit INFO 1 host
""",
        "failed",
    ),
    Case(
        "a benchmark that ends, and whose result is wrong",
        "script_error",
        """
W00R2R4        40960   256     1     2              61.17            7.49e+02
>>>||A*x-b||/(e*||A||*||x||*N) =     41133.2290017 ...... FAILED

Ended          1 tests:
               0 tests completed and were right,
               1 tests failed a check
End of tests.
""",
    ),
    Case(
        "a session of TensorFlow that is made anew, and fails then",
        "script_error",
        """
INFO:tensorflow:An error was raised. This may be due to a preemption in a connected worker or parameter server. The current session will be closed and a new session will be created. Error: =====
Aborted: From /job:ps/replica:0/task:2:
Session handle is not found: 77ab. Possibly this worker just restarted.
INFO:tensorflow:Restoring parameters from /models/step-700
Traceback (most recent call last):
  File "/job/fit.py", line 9, in <module>
    estimator.train(rows)
>>>ValueError: the checkpoint is of another model
""",
        "failed",
    ),
    Case(
        "a loss that is no number, told by Ignite",
        "script_error",
        """
>>>2026-03-04 01:25:03,792 ignite.handlers.terminate_on_nan.TerminateOnNan WARNING: TerminateOnNan: Output '{'leaf': nan}' contains NaN or Inf. Stop training
State:
	iteration: 1878924
""",
    ),
    Case(
        "numbers that overflow, found by transformers' debugger",
        "script_error",
        """
step 3 of 40
>>>Detected inf/nan during batch_number=3
Last 3 forward frames:
abs min  abs max  metadata
                  body.stage.4.stove Linear
1.11e-06 5.55e+00 input[0]
2.22e-04 6.50e+04 output
                  body.stage.4.sieve Dropout
2.22e-04 6.50e+04 input[0]
0.00e+00      inf output
""",
    ),
    Case(
        "a verdict in capitals",
        "script_error",
        """
  'the kettle is'                 ids=ok
STAGE C.1 STEEPING: >>>FAIL
""",
    ),
    Case(
        "a test that expects an exception and gets none",
        "script_error",
        """
tests/test_tea.py::test_pour FAILED [ 66%]
    def test_pour() -> None:
>       with pytest.raises(NoTea):
>>>E       Failed: DID NOT RAISE <class 'tea.NoTea'>
tests/test_tea.py:48: Failed
FAILED tests/test_tea.py::test_pour
""",
    ),
    Case(
        "an assertion of a test, as pytest shows it",
        "script_error",
        """
    def test_steep():
>       assert steep(3) == 4
>>>E       assert 3 == 4
E        +  where 3 = steep(3)
tests/test_tea.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_tea.py::test_steep - assert 3 == 4
""",
    ),
    Case(
        "a program without a display",
        "missing_dependency",
        """
>>>/opt/glfw/__init__.py:917: GLFWError: (65544) b'X11: The DISPLAY environment variable is missing'
  warnings.warn(message, GLFWError)
python3: /builds/glfw/src/window.c:711: glfwGetFramebufferSize: Assertion `window != NULL' failed.
run.sh: line 73:  9255 Aborted                 (core dumped) python3 tea.py
""",
    ),
    Case(
        "Qt without a display",
        "missing_dependency",
        """
>>>qt.qpa.xcb: could not connect to display 
qt.qpa.plugin: Could not load the Qt platform plugin "xcb" in "" even though it was found.
This application failed to start because no Qt platform plugin could be initialized. Reinstalling the application may fix this problem.

Available platform plugins are: eglfs, linuxfb, minimal, offscreen, vnc, xcb.

Aborted (core dumped)
""",
    ),
    Case(
        "NumPy's warning of an older module, and what ends the program",
        "script_error",
        """
A module that was compiled using NumPy 1.x cannot be run in
NumPy 2.1.3 as it may crash. To support both 1.x and 2.x
Traceback (most recent call last):
  File "pour.py", line 4, in <module>
    import tea
>>>AttributeError: module 'tea' has no attribute 'pot'
""",
    ),
    Case(
        "a program in Fortran says why it stops",
        "script_error",
        """
 ABORT at line 280 of /tmp/tea_m.f90
>>> assertion ASSOCIATED(cup) failed with message No cup provided
ERROR STOP

Error termination. Backtrace:
#0  0x75055b22915e in ???
""",
    ),
    Case(
        "a program names itself before its error",
        "script_error",
        """
>>>tea_pour ERROR: Bad number of cups
""",
    ),
    Case(
        "a simulation that has become unstable",
        "script_error",
        """
# Simulation rate 27.51 (ave) ns/day.
     325000             nan             nan          0.0000
>>># The simulation has become unstable. Terminating to avoid lock-up
""",
    ),
    Case(
        "a worker of RLlib that crashed",
        "script_error",
        """
>>>(PPO pid=416) 2026-05-02 10:00:54,836	WARNING trainer.py:975 -- Worker crashed during call to `step_attempt()`. To try to continue training without the failed worker, set `ignore_worker_failures=True`.
Traceback (most recent call last):
  File "/srv/tea.py", line 103, in brew
    results = tune.run(
ray.tune.error.TuneError: ('Trials did not complete', [PPO_tea_0])
""",
    ),
    Case(
        "an exception told by its class",
        "script_error",
        """
ERROR - tea.brew - export or transforms failed: Failed to export the model. Next steps:
- Modify the model

## Exception summary

>>><class 'TypeError'>: steep() missing 1 required positional argument: 'leaf'

(Refer to the full stack trace above for more information.)
""",
    ),
    Case(
        "a program whose lines another one relays at one level",
        "runtime_oom",
        """
>>>[2026-05-02 10:00:50] [INFO] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 80.00 MiB. GPU 0 has a total capacity of 12.00 GiB
[2026-05-02 10:00:51] [INFO] Traceback (most recent call last):
[2026-05-02 10:00:51] [INFO] File "/srv/lib/runpy.py", line 196, in _run_module_as_main
[2026-05-02 10:00:51] [INFO] return _run_code(code, main_globals, None,
""",
    ),
    Case(
        "an exception of Ruby",
        "script_error",
        """
>>>/srv/tea.rb:12:in `pour': undefined method `lid' for nil:NilClass (NoMethodError)
	from /srv/tea.rb:30:in `<main>'
""",
    ),
    Case(
        "a program of Ruby that is not installed",
        "missing_dependency",
        """
bundler: failed to load command: brew (/srv/bin/brew)
>>>/srv/gems/bundler/lib/integration.rb:362:in `block in replace_bin_path': can't find executable brew for gem tea-core. tea-core is not currently included in the bundle (Gem::Exception)
	from /srv/bin/brew:23:in `<main>'
""",
    ),
    Case(
        "behavior that a sanitizer reports",
        "script_error",
        """
pouring
>>>../src/tea/brew.c:77:12: runtime error: signed integer overflow: 64 - -2147483632 cannot be represented in type 'int'
""",
    ),
)
