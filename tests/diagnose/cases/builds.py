"""What compilers of sources and managers of packages refuse."""

from __future__ import annotations

from tests.diagnose.cases.case import Case


def _below_pip(end: str) -> str:
    """What pip prints of a build in which a shell reports how the compiler ended."""
    return f"""
Building wheels for collected packages: tea
      [2/73] /usr/local/cuda/bin/nvcc -c a.cu -o a.o
      FAILED: /tmp/a.o
      /usr/local/cuda/bin/nvcc -c a.cu -o a.o
>>>      {end}
      ninja: build stopped: subcommand failed.
      Traceback (most recent call last):
        File "<string>", line 486, in run
      subprocess.CalledProcessError: Command '['ninja', '-v', '-j', '5']' returned non-zero exit status 1.

      The above exception was the direct cause of the following exception:

      Traceback (most recent call last):
        File "x.py", line 1, in <module>
      RuntimeError: Error compiling objects for extension
"""


BUILDS = (
    Case(
        "a source in TypeScript, and how npm reports the script's end",
        "compile_error",
        """
> tea@1.0.0 build
> tsc

>>>src/kettle.ts(3,8): error TS2304: Cannot find name 'Water'.
npm ERR! code ELIFECYCLE
npm ERR! errno 2
npm ERR! Failed at the tea@1.0.0 build script.
""",
    ),
    Case(
        "an option where make expects a file",
        "script_error",
        """
+ make verbose=1
>>>make: *** No rule to make target '-Wl,-E', needed by 'brew/kettle'.  Stop.
Build step 'Execute shell' marked build as failure
""",
    ),
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
    Case(
        "a part of gcc that was killed",
        "compile_killed",
        """
[ 12%] Building CXX object CMakeFiles/rows.dir/wide.cpp.o
>>>g++: internal compiler error: Killed (program cc1plus)
Please submit a full bug report,
make[2]: *** [CMakeFiles/rows.dir/wide.cpp.o] Error 4
make: *** [all] Error 2
""",
    ),
    Case(
        "clang that was killed",
        "compile_killed",
        """
>>>clang: error: unable to execute command: Killed
clang: error: clang frontend command failed due to signal (use -v to see invocation)
ninja: build stopped: subcommand failed.
""",
    ),
    Case(
        "a part of nvcc that was killed",
        "compile_killed",
        """
>>>nvcc error   : 'cicc' died due to signal 9 (Kill signal)
ninja: build stopped: subcommand failed.
""",
    ),
    Case(
        "rustc that was killed",
        "compile_killed",
        """
   Compiling wide v1.0.0
error: could not compile `wide` (lib)

Caused by:
>>>  process didn't exit successfully: `rustc --crate-name wide src/lib.rs` (signal: 9, SIGKILL: kill)
""",
    ),
    Case(
        "a compiler that finds itself wrong",
        "compile_crashed",
        """
>>>wide.cpp:12:3: internal compiler error: in wide_expr, at gimple-wide.c:123
   12 |   wide(x);
Please submit a full bug report,
make: *** [all] Error 1
""",
    ),
    Case(
        "clang that crashed",
        "compile_crashed",
        """
>>>clang++: error: unable to execute command: Segmentation fault (core dumped)
clang++: error: clang frontend command failed due to signal (use -v to see invocation)
ninja: build stopped: subcommand failed.
""",
    ),
    Case(
        "LLVM that gives up behind a name, above a long stack",
        "compile_error",
        """
>>># lowering wide.ll: LLVM ERROR: Cannot select: intrinsic %llvm.wide
Stack dump:
0  wide-llc 0x00000000 wide::lower(int) + 0
1  wide-llc 0x00000001 wide::lower(int) + 1
2  wide-llc 0x00000002 wide::lower(int) + 2
3  wide-llc 0x00000003 wide::lower(int) + 3
4  wide-llc 0x00000004 wide::lower(int) + 4
5  wide-llc 0x00000005 wide::lower(int) + 5
6  wide-llc 0x00000006 wide::lower(int) + 6
7  wide-llc 0x00000007 wide::lower(int) + 7
8  wide-llc 0x00000008 wide::lower(int) + 8
9  wide-llc 0x00000009 wide::lower(int) + 9
10  wide-llc 0x0000000a wide::lower(int) + 10
11  wide-llc 0x0000000b wide::lower(int) + 11
12  wide-llc 0x0000000c wide::lower(int) + 12
13  wide-llc 0x0000000d wide::lower(int) + 13
14  wide-llc 0x0000000e wide::lower(int) + 14
15  wide-llc 0x0000000f wide::lower(int) + 15
16  wide-llc 0x00000010 wide::lower(int) + 16
17  wide-llc 0x00000011 wide::lower(int) + 17
18  wide-llc 0x00000012 wide::lower(int) + 18
19  wide-llc 0x00000013 wide::lower(int) + 19
20  wide-llc 0x00000014 wide::lower(int) + 20
21  wide-llc 0x00000015 wide::lower(int) + 21
22  wide-llc 0x00000016 wide::lower(int) + 22
23  wide-llc 0x00000017 wide::lower(int) + 23
24  wide-llc 0x00000018 wide::lower(int) + 24
25  wide-llc 0x00000019 wide::lower(int) + 25
26  wide-llc 0x0000001a wide::lower(int) + 26
27  wide-llc 0x0000001b wide::lower(int) + 27
28  wide-llc 0x0000001c wide::lower(int) + 28
29  wide-llc 0x0000001d wide::lower(int) + 29
30  wide-llc 0x0000001e wide::lower(int) + 30
31  wide-llc 0x0000001f wide::lower(int) + 31
32  wide-llc 0x00000020 wide::lower(int) + 32
33  wide-llc 0x00000021 wide::lower(int) + 33
34  wide-llc 0x00000022 wide::lower(int) + 34
35  wide-llc 0x00000023 wide::lower(int) + 35
36  wide-llc 0x00000024 wide::lower(int) + 36
37  wide-llc 0x00000025 wide::lower(int) + 37
38  wide-llc 0x00000026 wide::lower(int) + 38
39  wide-llc 0x00000027 wide::lower(int) + 39
40  wide-llc 0x00000028 wide::lower(int) + 40
41  wide-llc 0x00000029 wide::lower(int) + 41
42  wide-llc 0x0000002a wide::lower(int) + 42
43  wide-llc 0x0000002b wide::lower(int) + 43
44  wide-llc 0x0000002c wide::lower(int) + 44
45  wide-llc 0x0000002d wide::lower(int) + 45
46  wide-llc 0x0000002e wide::lower(int) + 46
47  wide-llc 0x0000002f wide::lower(int) + 47
48  wide-llc 0x00000030 wide::lower(int) + 48
49  wide-llc 0x00000031 wide::lower(int) + 49
50  wide-llc 0x00000032 wide::lower(int) + 50
51  wide-llc 0x00000033 wide::lower(int) + 51
52  wide-llc 0x00000034 wide::lower(int) + 52
53  wide-llc 0x00000035 wide::lower(int) + 53
54  wide-llc 0x00000036 wide::lower(int) + 54
55  wide-llc 0x00000037 wide::lower(int) + 55
56  wide-llc 0x00000038 wide::lower(int) + 56
57  wide-llc 0x00000039 wide::lower(int) + 57
58  wide-llc 0x0000003a wide::lower(int) + 58
59  wide-llc 0x0000003b wide::lower(int) + 59
60  wide-llc 0x0000003c wide::lower(int) + 60
61  wide-llc 0x0000003d wide::lower(int) + 61
62  wide-llc 0x0000003e wide::lower(int) + 62
63  wide-llc 0x0000003f wide::lower(int) + 63
64  wide-llc 0x00000040 wide::lower(int) + 64
65  wide-llc 0x00000041 wide::lower(int) + 65
66  wide-llc 0x00000042 wide::lower(int) + 66
67  wide-llc 0x00000043 wide::lower(int) + 67
68  wide-llc 0x00000044 wide::lower(int) + 68
69  wide-llc 0x00000045 wide::lower(int) + 69
""",
    ),
    Case(
        "LLVM without memory",
        "host_oom",
        """
>>>LLVM ERROR: out of memory
Allocation failed
""",
    ),
    Case(
        "what tests and notes say of compilers that crash",
        "",
        """
; CHECK: LLVM ERROR: Cannot select
ok 1 - expected failure: LLVM ERROR: Cannot select
note: internal compiler error: Killed is what gcc says when memory is short
checking for internal compiler error: no
[100%] Built target rows
""",
    ),
    Case(
        "Triton's assembler, whose own line says why",
        "compile_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error
`ptxas` stderr:
>>>ptxas fatal   : Value 'sm_777' is not defined for option 'gpu-name'

Repro command: /env/bin/ptxas -v /tmp/a.ptx -o /tmp/a.cubin
""",
    ),
    Case(
        "Triton's assembler, which names a line",
        "compile_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
torch._inductor.exc.InductorError: PTXASError: PTXAS error: Internal Triton PTX codegen error
`ptxas` stderr:
>>>ptxas /tmp/a.ptx, line 40; error   : Feature 'wide' requires .target sm_80 or higher
ptxas fatal   : Ptx assembly aborted due to errors
""",
    ),
    Case(
        "Triton's assembler without its own line",
        "compile_error",
        """
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    step(state)
>>>triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error
""",
    ),
    Case(
        "what ptxas only tells",
        "",
        """
ptxas info    : Compiling entry function 'wide' for 'sm_90'
ptxas /tmp/a.ptx, line 40; warning : Feature 'wide' is old
step 1 loss 1
""",
    ),
    Case(
        "Bazel, which states the reason before a list",
        "compile_error",
        """
[561 / 7,389] Executing genrule @local//leaf; 31s local ... (12 actions, 11 running)
>>>ERROR: /tea/BUILD:177:13: Compiling leaf.cu.cc failed: undeclared inclusion(s) in rule '@tea//leaf':
this rule is missing dependency declarations for the following files included by 'leaf.cu.cc':
  '/opt/leaf/wrapper.h'
Target //tea:wheel failed to build
FAILED: Build did NOT complete successfully
""",
    ),
    Case(
        "a compiler that crashed in a build of an image",
        "script_error",
        """
 > [4/4] RUN cd /tea &&     go build ./...:
#8 2.527 go: downloading tea.org/x/leaf v0.0.0
>>>#8 9.894 go tool compile: signal: segmentation fault (core dumped)
------
error: failed to solve: executor failed running [/bin/sh -c cd /tea && go build ./...]: exit code: 1
""",
    ),
    Case(
        "npm's debug log of a package that its registry lacks",
        "tool_error",
        """
5 verbose title npm ci
9 silly fetch manifest kettle-lid@^9.0.0
10 http fetch GET 404 https://packages.example.com/kettle-lid 812ms (cache skip)
12 verbose stack HttpErrorGeneral: 404 Not Found - GET https://packages.example.com/kettle-lid - Not found
13 verbose statusCode 404
19 error code E404
>>>20 error 404 Not Found - GET https://packages.example.com/kettle-lid - Not found
21 error 404
22 error 404  'kettle-lid@^9.0.0' is not in this registry.
26 verbose exit 1
""",
    ),
    Case(
        "what npm may not do, below the call and the path",
        "tool_error",
        """
npm ERR! code EACCES
npm ERR! syscall mkdir
npm ERR! path /opt/tea/node_modules/lid
npm ERR! errno -13
>>>npm ERR! Error: EACCES: permission denied, mkdir '/opt/tea/node_modules/lid'
npm ERR!  { [Error: EACCES: permission denied]
npm ERR!   errno: -13 }
""",
    ),
    Case(
        "what an old npm refuses, below values of the machine",
        "tool_error",
        """
38 error publish Failed PUT 403
43 error code E403
44 error Darwin 99.1.0
45 error argv "/usr/bin/node" "/usr/bin/npm" "publish" "--tag" "lid"
46 error node v4.9.9
47 error npm  v2.99.8
>>>48 error you may not publish "kettle-lid" as this user : kettle-lid
50 verbose exit [ 1, true ]
""",
    ),
    Case(
        "a script of which npm's debug log knows only the name",
        "script_error",
        """
7 verbose lifecycle teapot@1.0.0~build: unsafe-perm in lifecycle true
20 error code ELIFECYCLE
21 error errno 2
>>>22 error teapot@1.0.0 build: `brew --all`
22 error Exit status 2
23 error Failed at the teapot@1.0.0 build script.
""",
    ),
    Case(
        "a debug log of npm in which nothing failed",
        "",
        """
5 verbose title npm run tea
20 http fetch GET 200 https://packages.example.com/error-code 8ms
26 verbose exit 0
27 info ok
""",
    ),
    Case(
        "a step of GitHub Actions, printed with job, step and time before each line",
        "script_error",
        """
tea (3.10)\tUNKNOWN STEP\t2025-06-28T19:34:30.5Z collecting leaves
>>>tea (3.10)\tUNKNOWN STEP\t2025-06-28T19:34:30.6Z ERROR: no leaf is left
tea (3.10)\tUNKNOWN STEP\t2025-06-28T19:34:30.7Z ##[error]Process completed with exit code 1.
tea (3.10)\tUNKNOWN STEP\t2025-06-28T19:34:30.8Z Post job cleanup.
""",
    ),
    Case(
        "a Python without SSL",
        "missing_dependency",
        """
CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://tea.example/repodata.json.bz2>
Elapsed: -

>>>SSLError(MaxRetryError('HTTPSConnectionPool(host=tea.example, port=443): Max retries exceeded with url: /leaf (Caused by SSLError("Can\\'t connect to HTTPS URL because the SSL module is not available."))'))
""",
    ),
    Case(
        "the linker below Bazel's own line",
        "script_error",
        """
ERROR: /home/tea/BUILD:3:11: Linking src/libpot.so failed: (Exit 1): gcc failed: error executing CppLink command
>>>/usr/bin/ld.gold: error: pot.pic.o: requires dynamic R_X86_64_PC32 reloc against 'pot' which may overflow at runtime
collect2: error: ld returned 1 exit status
ERROR: Build did NOT complete successfully
""",
    ),
    Case(
        "CloudFormation takes a stack of CDK's back",
        "script_error",
        """
>>> ❌  tea (tea-Canary) failed: Error: The stack named tea-Canary failed creation, it may need to be manually deleted: ROLLBACK_COMPLETE: tea-bucket already exists
    at FullDeployment.monitorDeployment (/opt/aws-cdk/lib/index.js:412:10236)

 ❌ Deployment failed: Error: The stack named tea-Canary failed creation
""",
    ),
    Case(
        "CMake's reason far above the end of pip's traceback",
        "tool_error",
        """
      CMake Error at CMakeLists.txt:1 (cmake_minimum_required):
>>>        Compatibility with CMake < 3.5 has been removed from CMake.

      Traceback (most recent call last):
"""
        + '        File "/opt/tea.py", line 7, in brew\n          self.pour(leaf)\n' * 35
        + """      subprocess.CalledProcessError: Command 'cmake ..; make -j' returned non-zero exit status 2.
      [end of output]

  ERROR: Failed building wheel for tea
""",
    ),
    Case(
        "an installer that does not know this system",
        "bad_usage",
        """
# Executing tea install script
>>>ERROR: Unsupported distribution 'teaos'
""",
    ),
    Case(
        "Google's command line in a step of a build",
        "tool_error",
        """
>>>Step #3: ERROR: gcloud crashed (ValueError): Invalid template. Parameter tea is empty.
Finished Step #3
ERROR: build step 3 "gcr.io/tea" failed: step exited with non-zero status: 1
""",
    ),
    Case(
        "a script's shell reports that the compiler it calls crashed",
        "compile_crashed",
        """
>>>/opt/tea/bin/clamp: line 259:  1955 Segmentation fault      (core dumped) $LLC -mtriple tea-amdhsa -filetype=obj -o $2.bin $2.bc
Generating kernel failed in llc for target: tea906
Traceback (most recent call last):
  File "pour.py", line 136, in <module>
    cup = kettle(water)
RuntimeError: StatusUnknownError
""",
    ),
    Case(
        "a wheel that is not there to download, and a build instead that fails",
        "compile_crashed",
        """
FAILED: /tmp/tea/pour.o
>>>nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)
ninja: build stopped: subcommand failed.
Traceback (most recent call last):
  File "/opt/lib/python3.12/urllib/request.py", line 639, in http_error_default
    raise HTTPError(req.full_url, code, msg, hdrs, fp)
urllib.error.HTTPError: HTTP Error 404: Not Found

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/site-packages/torch/utils/cpp_extension.py", line 2693, in _run_ninja_build
    subprocess.run(
subprocess.CalledProcessError: Command '['ninja', '-v', '-j', '5']' returned non-zero exit status 1.
""",
    ),
    Case(
        "a compiler that a build below pip calls is killed",
        "compile_killed",
        _below_pip("Killed"),
    ),
    Case(
        "a compiler that a build below pip calls crashes",
        "compile_crashed",
        _below_pip("Segmentation fault (core dumped)"),
    ),
    Case(
        "another program that is killed in a build",
        "host_oom",
        """
/opt/tea/pour --all
>>>Killed
make: *** [Makefile:7: pour] Error 137
""",
    ),
    Case(
        "a linker below pip's heading, whose library is not there",
        "compile_error",
        """
      [9/9] : && /usr/bin/g++ -o tea pot.o leaf.o
      /opt/compat/ld: warning: libleaf.so.1, needed by bin/libpot.so, not found (try using -rpath or -rpath-link)
>>>      /opt/compat/ld: bin/libpot.so: undefined reference to `LEAF_barrier@LEAF_1.0'
      collect2: error: ld returned 1 exit status
      ninja: build stopped: subcommand failed.
  note: This error originates from a subprocess, and is likely not a problem with pip.
  ERROR: Failed building wheel for tea
""",
    ),
    Case(
        "XLA that does not find its assembler",
        "missing_dependency",
        """
Traceback (most recent call last):

  File "/srv/tea.py", line 1365, in _do_call
    return fn(*args)

NotFoundError: 2 root error(s) found.
>>>  (0) Not found: ./bin/ptxas not found
     [[{{node cluster_0_1/xla_compile}}]]
0 successful operations.
""",
    ),
    Case(
        "Inductor's exception in a notebook that names a library of CUDA",
        "script_error",
        """
BackendCompilerFailed: backend='inductor' raised:
>>>AssertionError: libcuda.so cannot found!
""",
    ),
    Case(
        "a package that apt cannot get in the version that another needs",
        "missing_dependency",
        """
Some packages could not be installed.
The following packages have unmet dependencies.
>>> tea-docker : Depends: tea-runtime (>= 3.4.0) but 3.1.4-0~20.04 is to be installed
E: Unable to correct problems, you have held broken packages.
""",
    ),
    Case(
        "an archive that cannot be written, beside other work",
        "tool_error",
        """
[7/21] Linking CXX static library lib/libTea.a
FAILED: lib/libTea.a
: && /usr/bin/ar qc lib/libTea.a tea.o && :
>>>/usr/bin/ar: could not create temporary file whilst writing archive: no more archived files
[8/21] Building CXX object leaf.o
ninja: build stopped: subcommand failed.
""",
    ),
    Case(
        "what Kotlin's compiler refuses, in Gradle",
        "compile_error",
        """
> Task :tea:compileDebugKotlin FAILED
>>>e: file:///srv/tea/Brew.kt:12:16 Unresolved reference: lid

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':tea:compileDebugKotlin'.
BUILD FAILED in 18s
""",
    ),
    Case(
        "Gradle's heading of a reason",
        "script_error",
        """
FAILURE: Build failed with an exception.

* What went wrong:
>>>Unsupported leaf file major version 65

* Try:
> Get more help at https://tea.example.

BUILD FAILED in 1s
""",
    ),
    Case(
        "a download that is no archive",
        "tool_error",
        """
+ tar -xz --strip-components=1
>>>gzip: stdin: not in gzip format
tar: Child returned status 1
""",
    ),
    Case(
        "a test of Gradle's that failed",
        "script_error",
        """
> Task :test

>>>TeaTest > should steep for three minutes FAILED
    org.spockframework.runtime.ConditionNotSatisfiedError at TeaTest.groovy:68

3 tests completed, 1 failed
""",
    ),
    Case(
        "a test that Perl's harness calls dubious",
        "script_error",
        """
t/1-leaf.t .. ok
>>>t/2-lid.t ... Dubious, test returned 1
Result: FAIL
""",
    ),
    Case(
        "a makefile that stops, in Dutch",
        "tool_error",
        """
make: Map '/usr/src/tea' wordt binnengegaan
>>>/srv/tea/Makefile:52: *** lid->seq is missing. exit....  Gestopt.
make[1]: *** [/usr/src/tea/Makefile:20: /srv/tea/build] Fout 2
make: *** [Makefile:24: __sub-make] Fout 2
""",
    ),
    Case(
        "a name that a linker does not know, in German",
        "compile_error",
        """
/tmp/tea.o: In Funktion `main':
>>>steep.cpp:(.text.startup+0x1c6): Nicht definierter Verweis auf `zsteep'
collect2: error: ld returned 1 exit status
""",
    ),
    Case(
        "a program of Cray's compiler that a signal ended",
        "compile_crashed",
        """
ftn-2116 ftn: INTERNAL
>>>  "/opt/cray/pe/cce/14.0.1/cce/x86_64/bin/optcg" was terminated due to receipt of signal 07:  Bus error (core dumped).
""",
    ),
    Case(
        "a compiler that CMake cannot use, by what it printed",
        "missing_dependency",
        """
-- Check for working CXX compiler: /opt/tea/bin/hipcc - broken
CMake Error at /usr/share/cmake/CMakeTestCXXCompiler.cmake:62 (message):
  The C++ compiler

    "/opt/tea/bin/hipcc"

  is not able to compile a simple test program.

    /opt/tea/bin/hipcc -o tea.o -c tea.cxx
>>>    clang-15: error: cannot find ROCm device library; provide its path via '--rocm-path'
""",
    ),
    Case(
        "a repository rule of Bazel that fails with words of its own",
        "missing_dependency",
        """
ERROR: An error occurred during the fetch of repository 'local_config_tea':
   Traceback (most recent call last):
	File "/srv/tea/tea_configure.bzl", line 162, in auto_configure_fail
		fail(<1 more arguments>)

>>>ROCm Configuration Error: Cannot find rocm library tea_hcc
""",
    ),
    Case(
        "no Rust for a package that pip builds",
        "missing_dependency",
        """
>>>  error: can't find Rust compiler

  To update pip, run:

      pip install --upgrade pip
  ----------------------------------------
  ERROR: Failed building wheel for leaves
Successfully built kettle
Failed to build leaves
ERROR: Could not build wheels for leaves, which is required to install pyproject.toml-based projects
""",
    ),
    Case(
        "an index that pip does not reach",
        "network",
        """
>>>WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ProxyError('Cannot connect to proxy.')': /simple/tea/
ERROR: Could not find a version that satisfies the requirement tea==0.1 (from versions: none)
ERROR: No matching distribution found for tea==0.1
""",
    ),
    Case(
        "a package that pip finds though a connection broke",
        "missing_dependency",
        """
WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError()': /simple/tea/
>>>ERROR: Could not find a version that satisfies the requirement tea==9 (from versions: 0.1, 0.2)
""",
    ),
    Case(
        "a requirement that another installed version breaks",
        "bad_usage",
        """
Traceback (most recent call last):
  File "/opt/tea/bin/pip", line 8, in <module>
    raise VersionConflict(dist, req)
>>>pip._vendor.pkg_resources.ContextualVersionConflict: (cup 2.2.4 (/opt/tea), Requirement.parse('cup==1.26.4'), {'tea'})
""",
    ),
    Case(
        "an optional package of npm's that was not built",
        "",
        """
npm WARN optional SKIPPING OPTIONAL DEPENDENCY: lid@6.0.3 (node_modules/lid):
npm WARN optional SKIPPING OPTIONAL DEPENDENCY: lid@6.0.3 install: `node-gyp rebuild`
npm WARN optional SKIPPING OPTIONAL DEPENDENCY: Exit status 1

added 7 packages from 4 contributors and audited 8 packages in 2.128s
""",
    ),
)
