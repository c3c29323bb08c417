"""Lines whose ends were lost, so that one holds many."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

JOINED_LINES = (
    Case(
        "an exception and a record right behind the source of a frame",
        "script_error",
        """
Traceback (most recent call last):
  File "plan.py", line 25, in <module>
>>>    table = read_plan(name)NameError: name 'name' is not defined2024-05-06 10:00:45,618 mesh-containers ERROR    Reporting training FAILURE2024-05-06 10:00:45,619 mesh-containers ERROR    framework error: Traceback (most recent call last):
  File "/opt/site-packages/mesh_containers/trainer.py", line 84, in train
    entrypoint()
  File "/opt/site-packages/mesh_containers/process.py", line 81, in check
    raise error(code=code, output=stderr)mesh.errors.ExecuteUserScriptError: ExecuteUserScriptError:Command "python plan.py"
""",
        "failed",
    ),
    Case(
        "a session of a shell, all in one line",
        "runtime_oom",
        """
>>>(mesh) me@box:~$ python train.py Loading the plan. step 10 loss=2.3 Traceback (most recent call last): File "/home/me/train.py", line 40, in <module> main() File "/home/me/train.py", line 31, in main loss.backward() RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (mesh) me@box:~$
""",
        "failed",
    ),
    Case(
        "a chain of exceptions in one line",
        "script_error",
        """
>>>Traceback (most recent call last): File "plan.py", line 9, in get return plans[key] KeyError: 'x' During handling of the above exception, another exception occurred: Traceback (most recent call last): File "plan.py", line 2, in main get(x) ValueError: no mesh x in the plan
""",
        "failed",
    ),
    Case(
        "a rank's traceback in one line, and a warning's",
        "script_error",
        """
WARNING fetch: trying again: Traceback (most recent call last): File "fetch.py", line 1, in <module> main() File "fetch.py", line 2, in main get() ValueError: no answer
the plan is here
>>>[rank3]: Traceback (most recent call last): File "plan.py", line 1, in <module> main() File "plan.py", line 2, in main get() ValueError: no mesh in the plan
""",
        "failed",
    ),
    Case(
        "records with stamps, in one line",
        "script_error",
        """
>>>2024-05-06 10:00:00 INFO loading 2024-05-06 10:00:03 INFO training on 4 devices 2024-05-06 10:00:04 INFO writing a checkpoint 2024-05-06 10:00:04 ERROR could not write the checkpoint to its place 2024-05-06 10:00:05 INFO leaving
""",
    ),
    Case(
        "records with levels, in one line",
        "tool_error",
        """
>>>[INFO]: Checking the compiler's version... [INFO]: Setup complete [INFO]: Installing: Driver [INFO]: Finished with code: 256 [ERROR]: Install of driver component failed. Consult the driver log. [ERROR]: Install of 550.54 failed, quitting
""",
    ),
    Case(
        "records that another one quotes",
        "",
        """
2024-05-06 10:00:00,000 INFO report of yesterday: ['2024-05-05 10:00:00 ERROR could not open a', '2024-05-05 10:00:01 ERROR could not open b', '2024-05-05 10:00:02 ERROR could not open c'] all were resolved
""",
    ),
)
