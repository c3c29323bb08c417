"""The terminal program.

Textual draws at most sixty times a second, so up to 17 ms after a key. Here the limit is higher. That costs nothing,
since nothing is drawn while nothing changes. Textual reads the limit when it is imported.
"""

from textual import constants

FRAMES_PER_SECOND = 250
constants.MAX_FPS = FRAMES_PER_SECOND  # type: ignore[misc]
