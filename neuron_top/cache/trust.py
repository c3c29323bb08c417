"""The gate: may a file of a cache be unpickled, executed or mapped by this process?

Loading a compiled graph is running code, and so is reading a pickled one. A file is trusted when nobody but the
effective user and root could have written it or can exchange it now. That is decided on the way from `/` to the file,
one component after the other, through descriptors:

- a folder on the way belongs to the effective user or to root, and nobody else may change it;
- or it is sticky (`/tmp`, `/var/tmp`): others may add to it, so the next component on the way must itself belong to
  the effective user or to root;
- symbolic links on the way to a root are resolved here, component by component, under the same rules; below the root
  no link is followed;
- the file is a regular file that belongs to the effective user or to root, and nobody else may write to it.

A group's write permission is allowed if the group is private: it has the name of the effective user or of root, is that
user's primary group, and has no other member.

In a container of an ordinary user, the machine's root user may have no uid; folders above a root may then belong to the
uid that stands for unmapped users.

`NEURONTOP_TRUST_CACHE=1` says that everyone who can write there is trusted. The gate then opens whatever it is asked
for.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import grp
import os
import pwd
import stat
from collections.abc import Mapping
from io import BufferedReader

from neuron_top.errors import RefusedForSafety
from neuron_top.plain_files import NotAPlainFile, open_plain

TRUST_VARIABLE = "NEURONTOP_TRUST_CACHE"
FOLDER_MODE = 0o755
"""Mode of every folder that we make, unless the umask takes more away."""
FILE_MODE = 0o644
_GROUP_OR_WORLD = stat.S_IWGRP | stat.S_IWOTH
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_TOP = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_LINKS = 40
_ACCESS_LIST = "system.posix_acl_access"


class Untrusted(Exception):
    """Somebody else could have put the file there; the text says who and where."""


class NoPlainFile(Untrusted):
    """A link, a pipe or a folder lies where a file is expected."""


def vouched(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the user states that everyone who can write to the cache is trusted (NEURONTOP_TRUST_CACHE=1)."""
    return environ.get(TRUST_VARIABLE, "").lower() in ("1", "true", "yes", "on")


class CheckedFolder:
    """A trusted folder, open. What lies in it is reached from its descriptor, without following links."""

    def __init__(self, handle: int, path: str, rules: Rules) -> None:
        self.path, self._handle, self._rules = path, handle, rules

    def __enter__(self) -> CheckedFolder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def folder(self, name: str) -> CheckedFolder:
        """The folder `name` in this one. Raises Untrusted or OSError."""
        handle = self._opened(name, os.O_PATH | os.O_DIRECTORY)
        try:
            self._rules.check_folder(handle, os.fstat(handle), f"{self.path}/{name}")
        except BaseException:
            os.close(handle)
            raise
        return CheckedFolder(handle, f"{self.path}/{name}", self._rules)

    def read(self, name: str, limit: int = -1) -> bytes:
        """The file `name`, or its first `limit` bytes, from the descriptor that was checked. Raises Untrusted or
        OSError."""
        with self.open(name) as file:
            return file.read(limit)

    def open(self, name: str) -> BufferedReader:
        """The file `name`, checked and open. Raises Untrusted or OSError."""
        self._check_name(name)
        path, rules = f"{self.path}/{name}", self._rules
        try:
            handle = open_plain(
                name,
                dir_fd=self._handle,
                follow=rules.vouched,
                check=lambda handle, facts: rules.check_file(handle, facts, path),
            )
        except (NotAPlainFile, NotADirectoryError):
            raise NoPlainFile(f"{path} is a link or not a plain file") from None
        return open(handle, "rb")

    def _check_name(self, name: str) -> None:
        if name in ("", ".", "..") or "/" in name:
            raise Untrusted(f"{name!r} is not a name in {self.path}")

    def _opened(self, name: str, flags: int) -> int:
        self._check_name(name)
        follow = 0 if self._rules.vouched else os.O_NOFOLLOW
        try:
            return os.open(name, flags | follow | os.O_CLOEXEC, dir_fd=self._handle)
        except OSError as problem:
            if problem.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            raise NoPlainFile(f"{self.path}/{name} is a link or of the wrong kind") from None


class Rules:
    """Whom `user` trusts: itself and root; if `vouched`, everybody."""

    def __init__(self, user: int, *, vouched: bool = False) -> None:
        self.owners, self.vouched = frozenset({user, 0}), vouched

    def check_folder(self, handle: int, facts: os.stat_result, path: str, *, above: bool = False) -> None:
        """A folder must belong to us or to root, and others may not change it unless it is sticky. Raises Untrusted.

        `above`: it only leads to the folder in question.
        """
        if self.vouched:
            return
        if not (above and facts.st_uid == _unmapped_root()):
            self._check_owner(facts, path)
        if not facts.st_mode & stat.S_ISVTX:
            self._check_writers(handle, facts, path)

    def check_component(self, above: os.stat_result, path: str, facts: os.stat_result, name: str) -> None:
        """What a sticky folder holds, to which others may add, must belong to us or to root. Raises Untrusted."""
        if above.st_mode & stat.S_ISVTX and not self.vouched:
            self._check_owner(facts, f"{path.rstrip('/')}/{name}")

    def check_file(self, handle: int, facts: os.stat_result, path: str) -> None:
        """A file must belong to us or to root, and nobody else may write to it. Raises Untrusted."""
        if self.vouched:
            return
        self._check_owner(facts, path)
        self._check_writers(handle, facts, path)

    def _check_owner(self, facts: os.stat_result, path: str) -> None:
        if facts.st_uid not in self.owners:
            raise Untrusted(f"{path} belongs to user {_user_text(facts.st_uid)}")

    def _check_writers(self, handle: int, facts: os.stat_result, path: str) -> None:
        mode = facts.st_mode
        if not mode & _GROUP_OR_WORLD:
            return
        if mode & stat.S_IWOTH:
            raise Untrusted(f"everybody can write to {path} (mode {stat.S_IMODE(mode):o})")
        private = any(_is_private(facts.st_gid, owner) for owner in self.owners)
        if not private or _has_access_list(handle):
            group = f"group {_group_text(facts.st_gid)}"
            raise Untrusted(f"{group} can write to {path} (mode {stat.S_IMODE(mode):o})")


def rules_in_force() -> Rules:
    """The rules of the effective user."""
    return Rules(os.geteuid(), vouched=vouched(os.environ))


def open_folder(path: str, *, make: bool = False, mode: int = FOLDER_MODE, rules: Rules | None = None) -> CheckedFolder:
    """A folder, reached from `/` under the rules above. `make`: missing folders are made, with this `mode`.

    Raises Untrusted or OSError.
    """
    rules = rules or rules_in_force()
    path = os.path.abspath(path) if not os.path.isabs(path) else path
    if rules.vouched:
        if make:
            make_folders(path, mode)
        handle = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return CheckedFolder(handle, path, rules)
    return _Walk(path, rules, make=mode if make else None).end()


def open_own(path: str) -> CheckedFolder:
    """A folder that this process made for itself (`mkdtemp`). The folders above it are not checked: the user chose them
    by `TMPDIR`.

    Raises Untrusted or OSError.
    """
    rules = rules_in_force()
    handle = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        rules.check_folder(handle, os.fstat(handle), path)
    except BaseException:
        os.close(handle)
        raise
    return CheckedFolder(handle, path, rules)


def make_folders(path: str, mode: int = FOLDER_MODE) -> None:
    """Make `path` and what is missing above it, not writable by others whatever the umask. Raises OSError."""
    above = os.path.dirname(path)
    if above and not os.path.isdir(above):
        make_folders(above, mode)
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def problem_with(path: str, user: int | None = None, environ: Mapping[str, str] = os.environ) -> str:
    """Why code may not be loaded from the folder `path`; empty if it may, and if there is no such folder."""
    rules = Rules(os.geteuid() if user is None else user, vouched=vouched(environ))
    try:
        with open_folder(path, rules=rules):
            return ""
    except Untrusted as reason:
        return str(reason)
    except OSError:
        return ""


def refusal(reason: object, way_out: str = "Use a root of your own (NEURON_COMPILE_CACHE_URL)") -> RefusedForSafety:
    """The error for a user: what is wrong, and what to do."""
    return RefusedForSafety(
        f"{reason}: loading from there could run other people's code. {way_out}, "
        f"or set {TRUST_VARIABLE}=1 if you trust everyone who can write there."
    )


class _Walk:
    """A walk from `/` to a folder. It resolves links itself, so that each component is checked."""

    def __init__(self, path: str, rules: Rules, *, make: int | None) -> None:
        """`make`: mode with which missing folders are made; None: none is made."""
        self._wanted, self._rules, self._make = path, rules, make
        self._left = _parts(path)
        self._links = 0
        self._handle, self._path = os.open("/", _TOP), "/"
        self._facts = os.fstat(self._handle)

    def end(self) -> CheckedFolder:
        """Walk to the folder. Raises Untrusted or OSError."""
        try:
            self._rules.check_folder(self._handle, self._facts, "/", above=bool(self._left))
            while self._left:
                self._step(self._left.pop())
            return CheckedFolder(self._handle, self._path, self._rules)
        except BaseException:
            os.close(self._handle)
            raise

    def _step(self, name: str) -> None:
        handle = self._opened(name)
        try:
            facts = os.fstat(handle)
            if name != "..":
                self._rules.check_component(self._facts, self._path, facts, name)
            if stat.S_ISLNK(facts.st_mode):
                target = os.readlink("", dir_fd=handle)
                os.close(handle)
                handle = -1
                self._follow(target)
                return
            if not stat.S_ISDIR(facts.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), self._wanted)
            path = os.path.normpath(os.path.join(self._path, name))
            self._rules.check_folder(handle, facts, path, above=bool(self._left))
        except BaseException:
            if handle >= 0:
                os.close(handle)
            raise
        os.close(self._handle)
        self._handle, self._facts, self._path = handle, facts, path

    def _opened(self, name: str) -> int:
        try:
            return os.open(name, _LOOK, dir_fd=self._handle)
        except FileNotFoundError:
            if self._make is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._wanted) from None
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, self._make, dir_fd=self._handle)
            return os.open(name, _LOOK, dir_fd=self._handle)

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._wanted)
        self._left += _parts(target)
        if target.startswith("/"):
            os.close(self._handle)
            self._handle, self._path = os.open("/", _TOP), "/"
            self._facts = os.fstat(self._handle)


def _parts(path: str) -> list[str]:
    """The components of a path in reverse, so that `pop` takes the first one."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def is_root_unmapped(uid_map: str) -> bool:
    """Whether, by `/proc/self/uid_map`, the machine's root has no number here (a container of an ordinary user)."""
    ranges = [line.split() for line in uid_map.splitlines()]
    return bool(ranges) and all(int(outside) > 0 for _, outside, _ in ranges)


@functools.cache
def _unmapped_root() -> int | None:
    """The uid under which files of the machine's root appear in such a container; None everywhere else.

    Files of strangers appear under it too. With a folder on the way, all they could do is move our own folders around.
    """
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            unmapped = is_root_unmapped(file.read())
        with open("/proc/sys/kernel/overflowuid", encoding="ascii") as file:
            return int(file.read()) if unmapped else None
    except (OSError, ValueError):
        return None


@functools.cache
def _is_private(group: int, user: int) -> bool:
    """Whether nobody but `user` is in `group`, judged by names (Debian's OpenSSH has the same rule)."""
    try:
        person, members = pwd.getpwuid(user), grp.getgrgid(group)
    except KeyError:
        return False
    own = person.pw_gid == group and members.gr_name == person.pw_name
    return own and set(members.gr_mem) <= {person.pw_name}


def _has_access_list(handle: int) -> bool:
    """Whether the permissions name more than owner, group and others (a POSIX ACL)."""
    try:
        return bool(os.getxattr(f"/proc/self/fd/{handle}", _ACCESS_LIST))
    except OSError:
        return False


def _user_text(number: int) -> str:
    try:
        return f"{number} ({pwd.getpwuid(number).pw_name})"
    except KeyError:
        return str(number)


def _group_text(number: int) -> str:
    try:
        return f"{number} ({grp.getgrgid(number).gr_name})"
    except KeyError:
        return str(number)
