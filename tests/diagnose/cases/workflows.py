"""Workflow engines and batch systems, which report how a task ended in a form of their own."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

WORKFLOWS = (
    Case(
        "Nextflow's report, and what the task printed in it",
        "missing_dependency",
        """
[45/5eb80e] Submitted process > TEA:STEEP (1)
ERROR ~ Error executing process > 'TEA:STEEP (1)'

Caused by:
  Process `TEA:STEEP (1)` terminated with an error exit status (127)

Command executed:

  kettle: command not found
  steep -k leaf | sort > pot.txt

Command exit status:
  127

Command output:
  (empty)

Command error:
  INFO:    Converting SIF file to temporary sandbox...
>>>  .command.sh: line 3: steep: command not found

Work dir:
  /tea/runs/ab/cdef

Tip: you can replicate the issue by changing to the process work dir and entering the command `bash .command.run`
""",
    ),
    Case(
        "Nextflow's report without empty lines, of a task whose program was killed",
        "host_oom",
        """
ERROR ~ Error executing process > 'TEA:STEEP (1)'
Caused by:
  Process `TEA:STEEP (1)` terminated with an error exit status (137)
Command executed:
  steep leaf | sort > pot.txt
Command exit status:
  137
Command output:
  (empty)
Command error:
>>>  .command.sh: line 2:  4711 Killed                  steep leaf
        4712 Done                    | sort > pot.txt
Work dir:
  /tea/runs/ab/cdef
""",
    ),
    Case(
        "Nextflow's report of a task in which a program of a program was killed",
        "host_oom",
        """
ERROR ~ Error executing process > 'STEEP (1)'

Caused by:
  Process `STEEP (1)` terminated with an error exit status (1)

Command executed:

  steep leaf

Command exit status:
  1

Command output:
  (empty)

Command error:
  Error of the kettle:

>>>    Command '['boil', '--water', '/scratch/4711/w']' died with <Signals.SIGKILL: 9>.

  More about it has been saved to /scratch/4711/kettle-err-a1b2.log

Work dir:
  /tea/runs/ab/cdef
""",
    ),
    Case(
        "Nextflow's report of a task that printed words which nobody knows",
        "script_error",
        """
Mar-04 05:06:07.166 [TaskFinalizer-1] ERROR nextflow.processor.TaskProcessor - Error executing process > 'STEEP (1)'

Caused by:
  Process `STEEP (1)` terminated with an error exit status (1)

Command executed:

  steep leaf

Command exit status:
  1

Command output:
  reading the leaf

Command error:
  steep, version 3
>>>  The leaf has no stem

Work dir:
  /tea/runs/ab/cdef

Container:
  registry.example/tea:1
Mar-04 05:06:08.269 [main] DEBUG nextflow.Session - Session await > all processes finished
""",
    ),
    Case(
        "Nextflow's report with a traceback in it",
        "script_error",
        """
ERROR ~ Error executing process > 'STEEP (1)'

Caused by:
  Process `STEEP (1)` terminated with an error exit status (1)

Command executed:

  steep.py

Command exit status:
  1

Command error:
  Traceback (most recent call last):
    File "/tea/bin/steep.py", line 7, in <module>
      main()
    File "/tea/bin/steep.py", line 5, in main
      raise LookupError("no leaf")
>>>  LookupError: no leaf

Work dir:
  /tea/runs/ab/cdef
""",
        "failed",
    ),
    Case(
        "Nextflow's report of a task that printed nothing",
        "host_oom",
        """
Error executing process > 'STEEP (1)'

Caused by:
>>>  Process `STEEP (1)` terminated with an error exit status (137)

Command executed:

  steep.py

Command exit status:
  137

Command output:
  (empty)

Work dir:
  /tea/runs/ab/cdef
""",
    ),
    Case(
        "a reason of Nextflow's own",
        "script_error",
        """
ERROR ~ Error executing process > 'STEEP (1)'

Caused by:
>>>  Missing output file(s) `pot.txt` expected by process `STEEP (1)`

Command executed:

  steep.py

Command exit status:
  0

Command error:
  steeped for three minutes

Work dir:
  /tea/runs/ab/cdef
""",
    ),
    Case(
        "a task that Nextflow cannot submit",
        "tool_error",
        """
ERROR ~ Error executing process > 'STEEP (1)'

Caused by:
  Failed to submit process to grid scheduler for execution

Command executed:

  sbatch .command.run

Command exit status:
  1

Command output:
>>>  sbatch: error: invalid account or partition: tea
  sbatch: error: Batch job submission failed: try another one

Work dir:
  /tea/runs/ab/cdef
""",
    ),
    Case(
        "HTCondor holds a job, the reason below",
        "tool_error",
        """
000 (003.000.000) 03/04 05:29:41 Job submitted from host: <10.0.0.2:9618>
...
012 (003.000.000) 03/04 05:30:08 Job was held.
>>>\tError from slot1@n4: STARTER at 10.0.0.3 failed to send file(s) to <10.0.0.2:9618>: error reading from /tea/pot.gz: (errno 2) No such file or directory
\tCode 13 Subcode 2
...
""",
        "failed",
    ),
    Case(
        "HTCondor holds a job over its limit of memory",
        "host_oom",
        """
012 (003.000.000) 2026-03-04 05:30:08 Job was held.
>>>\tError from slot1@n4: Job has gone over memory limit of 2048 megabytes. Peak usage: 3000 megabytes.
\tCode 34 Subcode 0
...
""",
    ),
    Case(
        "a job of HTCondor that ended with a status",
        "script_error",
        """
005 (003.000.000) 03/04 05:30:08 Job terminated.
>>>\t(1) Normal termination (return value 2)
\t\tUsr 0 00:00:02, Sys 0 00:00:00  -  Run Remote Usage
...
""",
    ),
    Case(
        "a job of HTCondor that a signal ended",
        "script_error",
        """
005 (003.000.000) 03/04 05:30:08 Job terminated.
>>>\t(0) Abnormal termination (signal 11)
\t(0) No core file
...
""",
    ),
    Case(
        "a job that somebody removed from HTCondor",
        "interrupted",
        """
009 (003.000.000) 03/04 05:30:08 Job was aborted by the user.
>>>\tvia condor_rm (by user tea)
...
""",
    ),
    Case(
        "two jobs that HTCondor holds, of which one runs again",
        "tool_error",
        """
012 (003.000.000) 03/04 05:30:08 Job was held.
>>>\tThe disk of the kettle is not there
...
012 (004.000.000) 03/04 05:30:09 Job was held.
\tThe disk of the kettle is not there
...
013 (003.000.000) 03/04 05:35:08 Job was released.
\tvia condor_release (by user tea)
...
""",
    ),
    Case(
        "the first task of a step to end, behind those that Slurm killed for it",
        "script_error",
        """
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-03-04T05:06:07 ***
srun: error: n1: tasks 0,2: Killed
srun: error: n2: task 3: Terminated
srun: Terminating StepId=77.0
>>>srun: error: n1: task 1: Exited with exit code 1
""",
        "failed",
    ),
    Case(
        "a step that somebody canceled, and how a task ended then",
        "interrupted",
        """
>>>slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-03-04T05:06:07 ***
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
srun: error: n1: task 1: Exited with exit code 1
""",
    ),
    Case(
        "a task that was killed before Slurm ends its step",
        "host_oom",
        """
>>>srun: error: n1: task 1: Killed
srun: Terminating StepId=77.0
srun: error: n1: tasks 0,2-3: Exited with exit code 1
""",
    ),
    Case(
        "what the command of a rule printed above Snakemake's report",
        "script_error",
        """
rule steep:
    jobid: 3

>>>[E::main] fail to locate the leaf
[Wed Mar  4 05:06:07 2026]
Error in rule steep:
    jobid: 3
    shell:
        steep leaf > pot.txt
        (one of the commands exited with non-zero exit code; note that snakemake uses bash strict mode!)

Exiting because a job execution failed. Look above for error message
""",
    ),
    Case(
        "a rule of Snakemake whose command printed nothing",
        "script_error",
        """
>>>Error in rule steep:
    jobid: 3
    log: logs/steep.log (check log file(s) for error details)

Exiting because a job execution failed. Look above for error message
""",
    ),
    Case(
        "a file that Snakemake lacks",
        "script_error",
        """
Building DAG of jobs...
>>>MissingInputException in rule steep in file /tea/Snakefile, line 3:
Missing input files for rule steep:
    output: pot.txt
    affected files:
        leaf.txt
""",
    ),
    Case(
        "files that a rule of Snakemake did not write, summed up below",
        "script_error",
        """
localrule steep:
    output: pot.txt
    jobid: 3

Waiting at most 5 seconds for missing files.
>>>MissingOutputException in rule steep in file /tea/Snakefile, line 3:
Job 3 completed successfully, but some output files are missing. Missing files after 5 seconds.
pot.txt
Exiting because a job execution failed. Look above for error message
WorkflowError:
At least one job did not complete successfully.
""",
    ),
    Case(
        "what a command printed that ended well and did not write its files",
        "script_error",
        """
>>>ERROR: no leaf has the wanted color
Waiting at most 5 seconds for missing files.
MissingOutputException in line 7 of /tea/Snakefile:
Job Missing files after 5 seconds:
pot.txt
Exiting because a job execution failed. Look above for error message
""",
    ),
    Case(
        "the advice of a launcher above its reason",
        "tool_error",
        """
srun: error: If munged is up, restart with --num-threads=4
>>>srun: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2": No such file or directory
srun: error: Srun communication socket apparently being written to by something other than Slurm
""",
    ),
    Case(
        "a name with a colon, and the words of the engine below",
        "script_error",
        """
Building DAG of jobs...
WorkflowError:
>>>Failed to group the jobs for the lid
""",
    ),
    Case(
        "a job of SGE that a signal ended",
        "host_oom",
        """
Job 4711 (tea.sh) Aborted
failed assumedly after job because:
>>>job 4711.1 died through signal KILL (9)
""",
    ),
    Case(
        "a program that SGE's shepherd does not find",
        "missing_dependency",
        """
03/04/2026 05:06:07 [0:11]: shepherd called with uid = 0, euid = 0
>>>03/04/2026 05:06:07 [500:12]: execvlp(/opt/kettle, "/opt/kettle") failed: No such file or directory
""",
    ),
    Case(
        "a task of Nextflow that left no status",
        "interrupted",
        """
Mar-04 02:10:36.903 [Task monitor] DEBUG n.processor.TaskPollingMonitor - tasks to be completed: 1
Mar-04 02:11:17.868 [Task monitor] DEBUG nextflow.processor.TaskProcessor - Handling unexpected condition for
  task: name=steep (leaf); work-dir=s3://tea/scratch/8d
>>>  error [nextflow.exception.ProcessFailedException]: Process `steep (leaf)` terminated for an unknown reason -- Likely it has been terminated by the external system
""",
    ),
    Case(
        "Cromwell, which tells a failure at level info",
        "script_error",
        """
[2026-03-04 16:18:55,62] [info] AwsBatchAsyncBackendJobExecutionActor [0a1btea.leaf:NA:1]: Status change from Initializing to Running
>>>[2026-03-04 16:20:42,96] [info] WorkflowManagerActor: Workflow 0a1b failed (during ExecutingWorkflowState): java.io.IOException: [Attempted 1 time(s)]
""",
    ),
    Case(
        "a command that Snakemake quotes below its own headings",
        "script_error",
        """
2026-03-04 16:03:06 [ERROR] RuleException:
CalledProcessError in file "/tea/rules/leaf.smk", line 186:
>>>Command 'set -euo pipefail;  python /tea/steep.py' returned non-zero exit status 1.
2026-03-04 16:03:06 [ERROR] Error in rule steep, jobid: 1
2026-03-04 16:03:06 [ERROR] WorkflowError:
At least one job did not complete successfully.
2026-03-04 16:03:06 [ERROR] Steeping run has failed.
""",
    ),
    Case(
        "Snakemake's heading of an error in a file",
        "script_error",
        """
WorkflowError in file /tea/Snakefile, line 2:
>>>Workflow defines configfile leaf.yaml but it is not present or accessible.
  File "/tea/Snakefile", line 2, in <module>
Exiting because a job execution failed. Look above for error message
""",
    ),
    Case(
        "YARN, which quotes the exception of an application",
        "script_error",
        """
26/03/04 15:09:21 INFO Client: Application report for application_15_0010 (state: FINISHED)
>>>         diagnostics: User class threw exception: org.tea.LeafException: Can't get the leaves
         final status: FAILED
Exception in thread "main" org.apache.spark.SparkException: Application application_15_0010 finished with failed status
""",
    ),
    Case(
        "the exception of Java that Py4J quotes, with its causes",
        "script_error",
        """
Traceback (most recent call last):
  File "/tea/steep.py", line 36, in <module>
    leaf.save(path)
py4j.protocol.Py4JJavaError: An error occurred while calling o61.save.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 14.0 failed 1 times
        at org.tea.Kettle.steep(Kettle.java:329)
Caused by: org.tea.LeafException: unable to read next leaf
        at org.tea.Kettle.next(Kettle.java:53)
>>>Caused by: java.lang.UnsupportedOperationException: org.tea.Cup
        at org.tea.Cup.add(Cup.java:105)
        ... 11 more
""",
    ),
    Case(
        "an exception of Java that Airflow passes on at level INFO",
        "script_error",
        """
[2026-05-19, 16:32:13 UTC] {subprocess.py:93} INFO - Traceback (most recent call last):
[2026-05-19, 16:32:13 UTC] {subprocess.py:93} INFO -   File "/tea/steep.py", line 8, in <module>
[2026-05-19, 16:32:13 UTC] {subprocess.py:93} INFO -     pot.csv("/cup")
[2026-05-19, 16:32:13 UTC] {subprocess.py:93} INFO - py4j.protocol.Py4JJavaError: An error occurred while calling o9.csv.
>>>[2026-05-19, 16:32:13 UTC] {subprocess.py:93} INFO - : java.lang.IllegalStateException: the pot has no lid
[2026-05-19, 16:32:13 UTC] {subprocess.py:93} INFO - \tat tea.Pot.pour(Pot.java:59)
[2026-05-19, 16:32:13 UTC] {subprocess.py:97} INFO - Command exited with return code 1
[2026-05-19, 16:32:13 UTC] {taskinstance.py:3310} ERROR - Task failed with exception
Traceback (most recent call last):
  File "/usr/lib/airflow/operators/bash.py", line 249, in execute
    raise AirflowException(
airflow.exceptions.AirflowException: Bash command failed. The command returned a non-zero exit code 1.
""",
        "failed",
    ),
    Case(
        "an error line of a program that Airflow passes on",
        "script_error",
        """
[2026-05-19T16:32:13.166+0000] {pod_manager.py:477} INFO - [base] steeping
>>>[2026-05-19T16:32:14.166+0000] {pod_manager.py:477} INFO - [base] ERROR: no leaf is left
[2026-05-19T16:32:15.166+0000] {taskinstance.py:1225} INFO - Marking task as FAILED. dag_id=tea
""",
    ),
    Case(
        "what a task printed before it ended all processes of MPI",
        "script_error",
        """
Error executing process > 'BREW (1)'

Caused by:
  Process `BREW (1)` terminated with an error exit status (1)

Command output:
  sim1
>>>   Tea must be poured with 2 or more pots!

Command error:
  ps: /opt/libuuid.so.1: no version information available (required by /lib64/libblkid.so.1)
  --------------------------------------------------------------------------
  MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD
  with errorcode 1.

  NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
  You may or may not see output from other processes, depending on
  exactly when Open MPI kills them.
  --------------------------------------------------------------------------

Work dir:
  /tea/work/28
""",
    ),
    Case(
        "a pipeline of targets in R",
        "script_error",
        """
• start target save_tea
✖ error target save_tea
• end pipeline [0.098 seconds]
Error:
! Error running targets::tar_make()
  Error messages: targets::tar_meta(fields = error, complete_only = TRUE)
>>>  Last error: object 'save_tea' not found
Execution halted
""",
    ),
    Case(
        "a model of dbt",
        "script_error",
        """
05:06:07  Unable to do partial parsing because saved manifest not found. Starting full parse.
05:06:08  1 of 2 ERROR creating sql view model main.tea ............. [ERROR in 0.07s]
05:06:08  Completed with 1 error and 0 warnings:
05:06:08
05:06:08  Runtime Error in model tea (models/tea.sql)
>>>05:06:08    Catalog Error: Table with name pots does not exist!
05:06:08
05:06:08  Done. PASS=1 WARN=0 ERROR=1 SKIP=0 TOTAL=2
""",
    ),
    Case(
        "a test of dbt",
        "script_error",
        """
Completed with 1 error and 0 warnings:

Failure in test accepted_values_tea (models/test_tea.yml)
>>>Got 1 result, configured to fail if != 0

Done. PASS=2 WARN=0 ERROR=1 SKIP=0 TOTAL=3
""",
    ),
    Case(
        "a step of Dagster's, whose own exception comes below",
        "script_error",
        """
2026-03-04 05:06:07 +0800 - dagster - ERROR - tea_job - 109956 - load_op - STEP_FAILURE - Execution of step "load_op" failed.

dagster._core.errors.DagsterExecutionStepExecutionError: Error occurred while executing op "load_op"::

>>>tea.loader.LoaderError: Load failed: no such pot

Stack Trace:
  File "tea.py", line 57, in pour
    yield
""",
    ),
    Case(
        "Ansible below Terraform",
        "tool_error",
        """
null_resource.tea (local-exec): TASK [Gathering Facts] *****************
>>>null_resource.tea (local-exec): fatal: [node1]: FAILED! => {"msg": "Missing sudo password"}
null_resource.tea (local-exec): PLAY RECAP *****************
│ Error: local-exec provisioner error
""",
    ),
    Case(
        "Terraform's words in its box",
        "bad_usage",
        """
╷
>>>│ Error: Unsupported argument
│
│   on main.tf line 12, in resource "tea" "pot":
╵
""",
    ),
    Case(
        "Terraform is done, with an error of a command that it ran",
        "",
        """
null_resource.tea (local-exec): Error from server (Forbidden): pots is forbidden: User "tea" cannot list resource "pots"
Apply complete! Resources: 3 added, 0 changed, 0 destroyed.
""",
        "finished",
    ),
    Case(
        "Ansible's log file",
        "script_error",
        """
2026-03-04 05:06:07,582 p=452467 u=tea n=ansible | [WARNING]: errors were encountered during the plugin load for debug:
>>>2026-03-04 05:06:07,634 p=452467 u=tea n=ansible | ERROR! couldn't resolve module/action 'pour'. This often indicates a misspelling.
""",
    ),
    Case(
        "AWS Batch cannot prepare a task of Nextflow",
        "tool_error",
        """
ERROR ~ Error executing process > 'TEA:POUR (A05)'

Caused by:
>>>  CgroupError: Agent could not create task's platform resources

Command executed:

  pour --all
""",
    ),
    Case(
        "a command of Chef's recipe",
        "tool_error",
        """
Generated at 2026-05-02 10:00:56 +0000
>>>Mixlib::ShellOut::ShellCommandFailed: execute[check the kettle] (tea-cookbook::finalize line 19) had an error: Mixlib::ShellOut::ShellCommandFailed: Expected process to exit with [0], but received '1'
---- Begin output of cat /opt/tea/kettle ----
STDOUT:
STDERR: cat: /opt/tea/kettle: No such file or directory
---- End output of cat /opt/tea/kettle ----
""",
    ),
    Case(
        "a rule of Bazel that fails",
        "tool_error",
        """
Loading: 0 packages loaded
ERROR: /home/tea/.cache/bazel/external/rules_tea/brew.bzl:513:21: An error occurred during the fetch of repository 'tea':
   Traceback (most recent call last):
	File "/home/tea/.cache/bazel/external/rules_tea/brew.bzl", line 513, column 21, in _fetch_impl
		fail("%s.json is older than its leaves" % name)
>>>Error in fail: tea.json is older than its leaves
INFO: Elapsed time: 0.139s
ERROR: Build did NOT complete successfully
""",
    ),
    Case(
        "Metaflow's second task, after one that did well",
        "script_error",
        """
2026-05-02 10:00:02.045 [7/start/28 (pid 1173)] Task is starting.
2026-05-02 10:01:15.456 [7/start/28 (pid 1173)] Task finished successfully.
2026-05-02 10:01:15.797 [7/end/31 (pid 1236)] Task is starting.
>>>2026-05-02 10:01:17.366 [7/end/31 (pid 1236)] list index out of range
""",
    ),
    Case(
        "a variable that Nextflow does not know",
        "bad_usage",
        """
N E X T F L O W  ~  version 24.04.0
>>>No such variable: cup_channel

 -- Check script 'tea.nf' at line: 154 or see '.nextflow.log' file for more details
""",
    ),
    Case(
        "a pipeline in R that names its target first",
        "script_error",
        """
✖ error target cup
• end pipeline: 24.592 seconds
Error in tar_throw_run(target$metrics$error) :
>>>  R: the pot is empty
Execution halted
""",
    ),
    Case(
        "a rule of Snakemake without its file, whose job ended well",
        "script_error",
        """
Waiting at most 5 seconds for missing files.
>>>MissingOutputException in rule steep in file /srv/tea/Snakefile, line 93:
Job 7  completed successfully, but some output files are missing. Missing files after 5 seconds.
Removing output files of failed job steep since they might be corrupted:
Shutting down, this might take some time.
""",
    ),
)
