"""Exceptions and stacks that were logged, ignored or printed, and ended no job."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

LOGGED_EXCEPTIONS = (
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
        "tracebacks that were only ignored, again and again",
        "",
        "".join(
            f"""
({epoch}, 0.{epoch})
Exception ignored in: <function Loader.__del__ at 0x7f71c0979c{epoch}0>
Traceback (most recent call last):
  File "loader.py", line 1604, in __del__
    self._shutdown()
AssertionError: not a child of this process
"""
            for epoch in range(3)
        ),
    ),
    Case(
        "objects that are destroyed in several processes at once",
        "",
        """
Epoch 1 train: 100%
Traceback (most recent call last):
Traceback (most recent call last):
  File "tracker.py", line 80, in __del__
  File "tracker.py", line 80, in __del__
    self._stop()
  File "tracker.py", line 89, in _stop
  File "tracker.py", line 89, in _stop
AttributeError: 'RLock' object has no attribute '_count'
AttributeError: 'RLock' object has no attribute '_count'
Epoch 1 mIoU 3.1
""",
    ),
    Case(
        "a service that logs an exception and goes on",
        "",
        """
2026-05-02 10:00:00,201 planner INFO looked at 40 offers
2026-05-02 10:00:04,377 planner ERROR no report today: 'price'
Traceback (most recent call last):
  File "/srv/planner/report.py", line 88, in tick
    rows = build(offers)
KeyError: 'price'
2026-05-02 10:00:09,204 planner INFO looked at 41 offers
2026-05-02 10:00:14,209 planner INFO looked at 38 offers
2026-05-02 10:00:19,201 planner INFO looked at 37 offers
2026-05-02 10:00:24,203 planner INFO looked at 44 offers
2026-05-02 10:00:29,207 planner INFO looked at 40 offers
""",
        recovered=True,
    ),
    Case(
        "a service in the journal that logs an exception and goes on",
        "",
        "".join(
            f"May 02 10:00:{second:02} box-3 python[4711]: {line}\n"
            for second, line in enumerate(
                (
                    "2026-05-02 10:00:00,377 jobs.planner WARNING no report today",
                    "Traceback (most recent call last):",
                    '  File "/srv/planner/report.py", line 88, in tick',
                    "    rows = build(offers)",
                    "KeyError: 'price'",
                    *(
                        f"2026-05-02 10:00:{second},204 jobs.planner INFO looked at 41 offers"
                        for second in range(10, 16)
                    ),
                )
            )
        ),
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
        "a traceback whose exception has no shape, and many lines behind it",
        "",
        """
Traceback (most recent call last):
  File "fit.py", line 4, in probe
    ask()
no answer, we go on
loading shards
compiling
ready
""",
    ),
    Case(
        "a traceback that a program logs as a warning and goes on",
        "",
        """
WARNING 03-04 05:06:07 [probe.py:31] Traceback (most recent call last):
WARNING 03-04 05:06:07 [probe.py:31]   File "/job/probe.py", line 9, in ask
WARNING 03-04 05:06:07 [probe.py:31] ImportError: no such plugin
serving
""",
    ),
    Case(
        "a stack that a program prints to show where it is",
        "",
        """
INFO reading shard 3
Stack (most recent call last):
  File "/job/fit.py", line 7, in <module>
    main()
  File "/job/fit.py", line 9, in main
    log.info("here", stack_info=True)
Epoch: 3
Shard: 4
""",
    ),
    Case(
        "frames that a log ends in, and no heading",
        "",
        """
  File "/job/fit.py", line 7, in <module>
    main()
  File "/job/fit.py", line 9, in main
""",
    ),
    Case(
        "a sentence that names two places of a file",
        "",
        'See File "a.py", line 3, in main and File "b.py", line 7, in check for what an Error: is here\n',
    ),
    Case(
        "a thread that only notices that its service has gone",
        "",
        """
service: uploaded 5 files
Exception in thread Uploader:
Traceback (most recent call last):
  File "/usr/lib/python3.12/threading.py", line 1073, in _bootstrap_inner
    self.run()
ConnectionResetError: [Errno 104] Connection reset by peer
""",
    ),
    Case(
        "a line that could not be logged, in a job that goes on",
        "",
        """
Step 120/1000 loss 0.2
--- Logging error ---
Traceback (most recent call last):
  File "/usr/lib/python3.11/logging/__init__.py", line 1114, in emit
    self.flush()
OSError: [Errno 116] Stale file handle
Call stack:
  File "/job/train.py", line 20, in <module>
    log.info("saved")
Message: 'saved'
Arguments: ()
""",
    ),
    Case(
        "what Python goes on from, printed without a traceback",
        "",
        """
step 3 loss: 2.10
Exception ignored in: <function Wide.__del__ at 0x7f0000000000>
ImportError: sys.meta_path is None, Python is likely shutting down
""",
    ),
    Case(
        "a text that explains what a traceback is",
        "",
        "Answer: Traceback (most recent call last) means that Python tells where it was.\nQuestion: what else\n",
    ),
    Case(
        "an error that a training went on from, its losses without a colon",
        "",
        "ERROR - wide.store - could not keep the wide samples\n"
        + "".join(f"iter {step}: loss {9 - step}.5, time 3ms\n" for step in range(6)),
    ),
    Case(
        "a model that writes of exceptions",
        "",
        """
Prompt: write a function that fails.
Output: call it, and you will see:
ValueError: bad
Throughput: 41.2 tokens/s
Latency p50 24.3 ms
""",
    ),
    Case(
        "complaints of a program that has done its work",
        "",
        """
Finished evaluation, accuracy 0.91
wandb: WARNING failed to close the sync client cleanly
[rank0]: ERROR could not destroy process group: already gone
""",
    ),
    Case(
        "a server that answers one request with an exception, behind stamps of a container",
        "",
        """
2026-05-02T10:00:00.999562989Z 2026-05-02 10:00:00.997 15 uvicorn.error ERROR [run_asgi():376] Exception in ASGI application
2026-05-02T10:00:00.999569980Z Traceback (most recent call last):
2026-05-02T10:00:00.999573064Z   File "/opt/v/uvicorn/wide.py", line 3, in run_asgi
2026-05-02T10:00:00.999575324Z     result = await app(self.scope)
2026-05-02T10:00:01.001575324Z ValueError: could not convert string to float: 'n/a'
2026-05-02T10:00:02.001575324Z INFO:     10.0.0.7:4411 - "POST /v1/w:predict HTTP/1.1" 200 OK
2026-05-02T10:00:03.001575324Z INFO:     10.0.0.7:4412 - "POST /v1/w:predict HTTP/1.1" 200 OK
2026-05-02T10:00:04.001575324Z INFO:     10.0.0.7:4413 - "POST /v1/w:predict HTTP/1.1" 200 OK
2026-05-02T10:00:05.001575324Z INFO:     10.0.0.7:4414 - "POST /v1/w:predict HTTP/1.1" 200 OK
2026-05-02T10:00:06.001575324Z INFO:     10.0.0.7:4415 - "POST /v1/w:predict HTTP/1.1" 200 OK
""",
    ),
    Case(
        "a trial that a study goes on from, its warning above the traceback",
        "",
        """
[I 2026-03-02 10:11:12,131] A new study created in memory with name: lr-sweep
[W 2026-03-02 10:11:20,111] Trial 0 failed with parameters: {'lr': 0.9} because of the following error: ValueError('nan').
Traceback (most recent call last):
  File "sweep.py", line 31, in objective
    check(loss)
ValueError: nan
[W 2026-03-02 10:11:20,113] Trial 0 failed with value None.
[I 2026-03-02 10:12:20,113] Trial 1 finished with value: 0.81 and parameters: {'lr': 0.01}. Best is trial 1 with value: 0.81.
[I 2026-03-02 10:13:20,113] Trial 2 finished with value: 0.84 and parameters: {'lr': 0.02}. Best is trial 2 with value: 0.84.
[I 2026-03-02 10:14:20,113] Trial 3 finished with value: 0.79 and parameters: {'lr': 0.03}. Best is trial 2 with value: 0.84.
best: 0.84
""",
    ),
    Case(
        "what is called at the end of a program fails",
        "",
        """
Saving model checkpoint to out/checkpoint-500
{'eval_loss': 0.41, 'eval_accuracy': 0.88, 'epoch': 3.0}
{'train_runtime': 100.1, 'train_loss': 0.4, 'epoch': 3.0}
Error in atexit._run_exitfuncs:
Traceback (most recent call last):
  File "/opt/env/lib/python3.10/site-packages/torch_xla/runtime.py", line 40, in shutdown
    client.close()
RuntimeError: client already closed
""",
    ),
    Case(
        "structured warnings with a traceback",
        "",
        r"""
{"level":"info","msg":"batch done","error":null,"exception":null,"stack":null}
{"level":"warning","msg":"slow batch","error":"","took":3.1}
{"level":"warning","event":"retry","exception":"Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nTimeoutError: slow","attempt":1}
{"level":"info","msg":"batch done","error":null}
{"level":"info","msg":"all batches done"}
""",
    ),
    Case(
        "Python shows where it waits, and the job goes on",
        "",
        """
step 1 loss 2.0
Timeout (0:05:00)!
Thread 0x00007f2a9c5c1740 (most recent call first):
  File "/app/data.py", line 80 in get
  File "/app/train.py", line 31 in <module>
step 2 loss 1.9
step 3 loss 1.9
step 4 loss 1.8
""",
    ),
    Case(
        "a session of TensorFlow that is made anew when a server of parameters was replaced",
        "",
        """
[2026-05-02 10:00:00,100] [INFO][monitored_session.py:12:run] An error was raised. This may be due to a preemption in a connected worker or parameter server. The current session will be closed and a new session will be created. Error: =====
Aborted: From /job:ps/replica:0/task:2:
Session handle is not found: 77ab. Possibly this worker just restarted.
Unavailable: From /job:worker/replica:0/task:1:
Error: the other side is gone
Original stack trace for 'step':
  File "/job/fit.py", line 9, in fit
    estimator.train(rows)

[2026-05-02 10:00:02,100] [INFO][session.py:20:restore] Restoring parameters from /models/step-700
""",
    ),
    Case(
        "a study of which every trial fails",
        "script_error",
        """
[I 2026-03-02 10:11:12,131] A new study created in memory with name: lr-sweep
>>>[W 2026-03-02 10:11:20,111] Trial 0 failed with parameters: {'lr': 0.9} because of the following error: NameError("name 'leaf' is not defined").
Traceback (most recent call last):
  File "sweep.py", line 31, in objective
    pour(leaf)
NameError: name 'leaf' is not defined
[W 2026-03-02 10:11:20,113] Trial 0 failed with value None.
[W 2026-03-02 10:12:20,113] Trial 1 failed with parameters: {'lr': 0.1} because of the following error: NameError("name 'leaf' is not defined").
Traceback (most recent call last):
  File "sweep.py", line 31, in objective
    pour(leaf)
NameError: name 'leaf' is not defined
[W 2026-03-02 10:12:20,115] Trial 1 failed with value None.
""",
    ),
    Case(
        "a study of which the last trial fails",
        "",
        """
[I 2026-03-02 10:12:20,113] Trial 0 finished with value: 0.81 and parameters: {'lr': 0.01}. Best is trial 0 with value: 0.81.
[W 2026-03-02 10:13:20,111] Trial 1 failed with parameters: {'lr': 0.9} because of the following error: ValueError('nan').
Traceback (most recent call last):
  File "sweep.py", line 31, in objective
    check(loss)
ValueError: nan
[W 2026-03-02 10:13:20,113] Trial 1 failed with value None.
""",
    ),
    Case(
        "an exception of JAX below the one that says that frames were left out",
        "script_error",
        """
Traceback (most recent call last):
  File "/lib/python3/site-packages/jax/_src/api.py", line 9, in pour
    raise TypeError("a leaf is no array")
jax.errors.SimplifiedTraceback: For simplicity, JAX has removed its internal frames from the traceback of the following exception. Set JAX_TRACEBACK_FILTERING=off to include these.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "tea.py", line 9, in <module>
    pour(leaf)
>>>TypeError: a leaf is no array
""",
        "failed",
    ),
    Case(
        "Java's exception right below the line that logs it",
        "script_error",
        """
26/03/04 05:06:07 ERROR SparkContext: Error initializing SparkContext.
>>>java.lang.IllegalArgumentException: System memory 466 must be at least 471. Please increase heap size.
      at org.tea.Pot.pour(Pot.scala:216)
      at org.tea.Main.main(Main.scala)
""",
    ),
)
