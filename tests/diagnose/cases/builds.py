"""What compilers of sources and managers of packages refuse."""

from __future__ import annotations

from tests.diagnose.cases.case import Case

BUILDS = (
    Case(
        "a source that does not convert a type, its message broken",
        "compile_error",
        """
>>>lib/native/cpu/wide_kernel.cpp:378:86: error: cannot
    convert 'wide4_t' to 'uwide4_t'
ninja: build stopped: subcommand failed.
""",
    ),
    Case(
        "a source that nvcc refuses",
        "compile_error",
        """
>>>/build/csrc/rows.cu(123): error: identifier "warp_rows" is undefined
1 error detected in the compilation of "/build/csrc/rows.cu".
error: command '/usr/local/cuda/bin/nvcc' failed with exit code 2
""",
    ),
    Case(
        "a source that rustc refuses",
        "compile_error",
        """
   Compiling rows v0.1.0
>>>error[E0425]: cannot find value `rows` in this scope
  --> src/lib.rs:4:5
error: could not compile `rows` (lib) due to 1 previous error
""",
    ),
    Case(
        "a header that is not installed",
        "missing_dependency",
        """
building 'rows' extension
>>>rows.c:3:10: fatal error: Python.h: No such file or directory
compilation terminated.
error: command 'gcc' failed with exit status 1
""",
    ),
    Case(
        "a library that the linker does not find",
        "missing_dependency",
        """
>>>/usr/bin/ld: cannot find -lnrt
collect2: error: ld returned 1 exit status
""",
    ),
    Case(
        "a channel that lacks a package",
        "missing_dependency",
        """
Collecting package metadata (current_repodata.json): done
Solving environment: failed

>>>PackagesNotFoundError: The following packages are not available from current channels:

  - widetoolkit=11.4
""",
    ),
    Case(
        "a mirror of apt that lacks a file",
        "network",
        """
Get:1 http://mirror.example.org/apt stable/main amd64 rows amd64 [12 kB]
Err:2 http://mirror.example.org/apt stable/main amd64 columns amd64 3.5
>>>E: Failed to fetch http://mirror.example.org/apt/pool/columns_3.5_amd64.deb  404  Not Found [IP: 10.0.0.9 80]
E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?
""",
    ),
    Case(
        "a linker that a compiler of kernels looks for",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
>>>jax.errors.JaxRuntimeError: INTERNAL: unable to find ld.lld in PATH: No such file or directory
""",
        "failed",
    ),
    Case(
        "an operator that a library does not have",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
>>>RuntimeError: wideGelu not in libopwide.so, or libopwide.so not found.
""",
        "failed",
    ),
    Case(
        "a library that looks for what another one has no longer",
        "missing_dependency",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    import rows
  File "/env/lib/python3.11/site-packages/rows/types.py", line 7, in <module>
    wide = numpy.wide_
>>>AttributeError: module 'numpy' has no attribute 'wide_'
""",
        "failed",
    ),
    Case(
        "a script that looks for what a library does not have",
        "script_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    wide = numpy.wide
>>>AttributeError: module 'numpy' has no attribute 'wide'
""",
        "failed",
    ),
    Case(
        "what a healthy build prints",
        "",
        """
-- Performing Test HAS_WIDE - Failed
-- Could NOT find Rows (missing: ROWS_LIBRARY)
-- Looking for wide.h - not found
rows.cpp:12:3: warning: unused variable 'fatal' [-Wunused-variable]
rows.cpp:12:3: note: an error: of this kind is ignored
W: Failed to fetch http://mirror.example.org/apt/InRelease  Temporary failure resolving 'mirror.example.org'
W: Failed to fetch http://mirror.example.org/apt/Release  404  Not Found [IP: 10.0.0.9 80]
[100%] Built target rows
""",
    ),
)
