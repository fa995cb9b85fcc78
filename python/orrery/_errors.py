# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as exceptions. Each carries the one line that the program would print, and its exit code."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._run import Run

# enum orr_status, and the exit code of each.
OK, EFAIL, EINTR, EINVAL, ERANGE, EIO, ENOMEM, ESTALL = range(8)
EXIT_CODES = (0, 1, 1, 2, 2, 2, 3, 4)


class OrreryError(Exception):
    """The library refused or failed. `str()` is its line; `code` the exit code that `orrery` would have."""

    def __init__(self, text: str, status: int = EFAIL) -> None:
        super().__init__(text)
        self.status = status
        self.code = EXIT_CODES[status] if 0 <= status < len(EXIT_CODES) else 1


class InputError(OrreryError, ValueError):
    """Bad input: a name, a value or a file. The line says what was found and what is accepted."""


class LimitError(OrreryError, MemoryError):
    """More memory than there is, or than was allowed."""


class Interrupted(OrreryError):
    """The progress function asked to stop."""


class Stall(OrreryError):
    """The run cannot go on. `run` has what is known by then; `findings` say why, `waits` who waits for whom."""

    run: Run

    @property
    def findings(self) -> list[dict[str, Any]]:
        return self.run.findings

    @property
    def waits(self) -> list[dict[str, Any]]:
        return self.run.waits


class LibraryError(OrreryError, ImportError):
    """liborrery was not found, or is another version than this package."""


def error_of(status: int, text: str) -> OrreryError:
    kind = {EINTR: Interrupted, EINVAL: InputError, ERANGE: InputError, EIO: InputError, ENOMEM: LimitError,
            ESTALL: Stall}.get(status, OrreryError)
    return kind(text, status)
