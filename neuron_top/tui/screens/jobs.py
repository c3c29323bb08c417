"""The list of jobs, a card each; enter shows one on all screens."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line, paragraph, rule
from neuron_top.tui.panels.alerts import fitted
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.header import state_sign
from neuron_top.views.jobs import JobCard
from neuron_top.views.verdict import freshness_text, progress_text, state_words

NO_JOBS = (
    "No other job. Listed are the jobs of several logs that are watched (neurontop watch one.log other.log), and those "
    "that are being recorded here (neurontop run)."
)
View = tuple[tuple[JobCard, ...], str]
"""The jobs, and the id of the chosen one."""


class JobsPage(DetailPage):
    """Jobs."""

    def __init__(self) -> None:
        super().__init__(lambda run, now: (), jobs_lines, "", complete=lambda _nothing: self._view_now())

    def _view_now(self) -> View:
        return self.host.jobs(), self.keep_choice()

    @property
    def choices(self) -> Sequence[str]:
        """All jobs."""
        return [card.id for card in self.host.jobs()]

    def lines_for(self, theme: Theme, width: int, chosen: str) -> Sequence[Strip]:
        """The page."""
        return jobs_lines(theme, (self.host.jobs(), chosen), width)

    @property
    def has_below(self) -> bool:
        """Whether there is a job to show."""
        return bool(self._chosen)

    def action_open(self) -> None:
        """Show the job under the cursor."""
        if self._chosen:
            self.host.show_job(self._chosen)
        else:
            self.notice("there is no other job")


def jobs_lines(theme: Theme, view: View, width: int) -> list[Strip]:
    """The page."""
    cards, chosen = view
    strips = [rule(theme, width, "Jobs", "enter shows one" if cards else "")]
    if not cards:
        return [*strips, *paragraph(theme, NO_JOBS, width, theme.quiet)]
    for card in cards:
        one = card.verdict
        sign, style = state_sign(theme, one.state)
        line = Line(theme, width).put(f"{theme.glyphs.cursor} " if card.id == chosen else "  ", theme.title)
        line.put(f"{sign} {state_words(one.state)}", style).gap(2).put(card.name, theme.strong)
        strips.append(line.end(f"{freshness_text(one)} ", theme.quiet).strip())
        words = "  ".join(filter(None, (progress_text(one), one.reason)))
        strips += [Line(theme, width).gap(4).put(part, theme.quiet).strip() for part in fitted(words, width - 2, 2)]
    return strips
