"""What `warm_python` starts: asks a process that waits for a copy, passes signals on, ends as the copy ends.

Run with `-I -S`, so it begins in milliseconds; it may import nothing but small modules of Python's own.
"""

import json
import os
import select
import signal
import socket
import sys


def main() -> None:
    """`warm_client.py SOCKET WORDS...`: the words are those of a command of Python."""
    path, *command = sys.argv[1:]
    waiting = socket.socket(socket.AF_UNIX)
    waiting.connect(path)
    umask = os.umask(0)
    os.umask(umask)
    asked = {
        "command": command,
        "environ": dict(os.environ),
        "folder": os.getcwd(),  # noqa: PTH109 (pathlib takes longer to import than all the rest)
        "umask": umask,
        "leads": os.getsid(0) == os.getpid(),
        "blocked": [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
    }
    socket.send_fds(waiting, [json.dumps(asked).encode()], [0, 1, 2])
    waiting.sendall(b"\n")
    answers = waiting.makefile("rb")
    if answers.readline() != b"yes\n":
        os.execv(sys.executable, [sys.executable, *command])
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for stream in (0, 1, 2):  # whoever reads them sees their end when the job has closed its own
        os.close(stream)
    while waiting not in select.select([waiting, woken], [], [])[0]:
        waiting.sendall(os.read(woken, 64))
    status = int(answers.readline() or b"-9")
    if status < 0:
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main()
