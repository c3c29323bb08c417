"""The standing policy of the caches: read from and written to the settings, and applied by runs of a timer."""

from __future__ import annotations

import stat
import time

import msgspec

from neuron_top import private_files
from neuron_top import settings as settings_file
from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.actions.plan import Outcome, Plan
from neuron_top.actions.planners.maintain import NEVER, criteria_of, foreseen_plans
from neuron_top.amounts import parse_seconds
from neuron_top.errors import NeuronTopError, ReadOnlyMode, UsageError
from neuron_top.services.caches import CacheService
from neuron_top.services.trash import Purge
from neuron_top.settings import Settings

FIELDS = ("cache_max_size", "cache_min_free", "cache_older_than", "cache_states", "cache_pins", "trash_grace")
"""The settings that make the policy."""


class Maintenance(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one run: the purged trash, its plans, and the outcomes of those that were carried out."""

    expired: tuple[PlanHistory, ...] = ()
    """Plans whose files are in the trash for longer than the grace period; a run purges them first."""
    purge: Purge = Purge()
    plans: tuple[Plan, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    problem: NeuronTopError | None = None
    """What ended the run after the purge or a plan: the rest was not done."""


class PolicyService:
    """The policy of one user."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def maintain(self, caches: CacheService, root: str) -> Maintenance:
        """Purge files that are in the trash for longer than the grace period, then apply the policy."""
        wanted = criteria_of(self._settings)
        if not caches.read_only:
            caches.backend(root).trash().date_again(time.time())
        expired = self._expired(caches, root) if not caches.read_only else ()
        purge = caches.trash.purge(root, expired) if expired else Purge()
        plans: list[Plan] = []
        outcomes: list[Outcome] = []
        problem: NeuronTopError | None = None
        try:
            for criteria in wanted:
                plan = caches.look(root).plan_eviction(criteria)
                plans.append(plan)
                if plan.steps and not plan.is_refused:
                    outcomes.append(caches.execute(plan))
        except NeuronTopError as ended:
            problem = ended
        return Maintenance(expired=expired, purge=purge, plans=tuple(plans), outcomes=tuple(outcomes), problem=problem)

    def foresee(self, caches: CacheService, root: str) -> Maintenance:
        """The plans that a run would carry out; nothing is changed."""
        expired, criteria = self._expired(caches, root), criteria_of(self._settings)
        if not criteria:
            return Maintenance(expired=expired)
        look = caches.look(root)
        return Maintenance(expired=expired, plans=tuple(foreseen_plans(criteria, look.snapshot, look.context)))

    def _expired(self, caches: CacheService, root: str) -> tuple[PlanHistory, ...]:
        grace = parse_seconds(self._settings.trash_grace) if self._settings.trash_grace else 0.0
        return tuple(caches.trash.purgeable(root, older_than=grace))

    def edit(self, changes: dict[str, str]) -> list[str]:
        """Write values (empty: no such goal) to the settings file; returns states that only a person may evict.

        Nothing is written if one of the values is wrong. Raises UsageError, RefusedForSafety.
        """
        import tomlkit  # slow to import, and needed only here
        from tomlkit.exceptions import ParseError

        if self._settings.read_only:
            raise ReadOnlyMode()
        criteria_of(settings_file.load(changes)[0])
        path = settings_file.config_path()
        if path.exists() and not path.is_file():  # /dev/null stands for no settings
            raise UsageError(f"{path} cannot be written: it is not a plain file")
        try:
            document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        except ParseError as problem:
            raise UsageError(f"{path}: expected TOML ({problem})") from None
        for name, value in changes.items():
            if value:
                document[name] = value
            else:
                document.pop(name, None)
        try:
            target = path.resolve()  # the file that a link leads to is replaced, not the link
            target.parent.mkdir(parents=True, exist_ok=True)
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else private_files.FILE_MODE
            private_files.replace_file(target, tomlkit.dumps(document).encode(), mode=mode)
        except OSError as problem:
            raise UsageError(f"{path} cannot be written: {problem.strerror}") from None
        return sorted(set(changes.get("cache_states", "").replace(" ", "").split(",")) & set(NEVER))
