"""The terminal program.

Textual sends what has changed on the next beat of a clock of sixty a second, up to 17 ms after a key. Ours beats
faster; it rests while nothing changes, so that costs nothing. Textual takes the number when it is imported.
"""

from textual import constants

FRAMES_PER_SECOND = 250
constants.MAX_FPS = FRAMES_PER_SECOND  # type: ignore[misc]
