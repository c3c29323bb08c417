"""A fifth set of logs of our own: what PyTorch's C++, CUDA, Ray, MPI and JAX say, and what only follows from it."""

from __future__ import annotations

from tests.diagnose.cases import Case

HEADERS = (
    Case(
        "PyTorch's C++ in May, whose month has one digit",
        "script_error",
        """
[rank2]:[W503 07:08:09.123456789 SomeStore.cpp:12] a warning that is none of an error
>>>[rank2]:[E503 07:08:10.123456789 SomeStore.cpp:34] the table of peers could not be written
""",
    ),
    Case(
        "PyTorch's C++ without a stamp: a warning",
        "",
        """
[W SomeStore.cpp:12] [c10d] the first of two tries has failed with an error
[I SomeStore.cpp:13] the second error is none
""",
    ),
    Case(
        "a progress bar with values behind its speed",
        "collective",
        """
>>>Epoch 2:  41%|████      | 410/1000 [0:41:00<0:59:00,  1.50s/it, loss=1.9, norm=0.3, step=410][E SomeGroup.cpp:12] [Rank 3] a collective operation timed out
[E SomeGroup.cpp:12] [Rank 5] a collective operation timed out
""",
    ),
)
FIFTH_CASES = (*HEADERS,)
