# SPDX-License-Identifier: Apache-2.0
"""Answers as Python has them: dictionaries, and lists of dictionaries that pandas takes as they are."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from ._html import bar, table
from ._library import PathLike


class Rows(list[dict[str, Any]]):
    """A list of dictionaries, a row each.

    >>> rows = Rows([{"gpus": 8, "mfu": 0.41}, {"gpus": 16, "mfu": 0.39}])
    >>> rows.column("mfu")
    [0.41, 0.39]
    """

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self]

    def df(self) -> Any:
        """As a pandas DataFrame. pandas is loaded here and nowhere else: nobody needs it who does not call this."""
        return import_module("pandas").DataFrame(list(self))

    def _repr_html_(self) -> str:
        return table(self)


class Answer(Mapping[str, Any]):
    """A dictionary whose keys are attributes too; what it is made of is what the program's --json has."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["data"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self.data)}") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self.data]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={said!r}' for key, said in self.summary().items())})"

    def summary(self) -> dict[str, Any]:
        """What one looks at first: all that is a single value."""
        return {key: said for key, said in self.data.items() if not isinstance(said, (dict, list))}

    def df(self) -> Any:
        """One row with all single values; tables below have a `df` of their own."""
        return Rows([self.summary()]).df()

    def parts(self) -> list[tuple[str, float]]:
        """What the time is made of, for the drawing; nothing: there is none."""
        return []

    def report(self, path: PathLike, *, lang: str = "en") -> None:
        """One page to open and to share; `orrery.report` puts several on one."""
        from ._report import report  # that module needs this one

        report(path, self, lang=lang)

    def _repr_html_(self) -> str:
        facts = [{"": key, "value": said} for key, said in self.summary().items()]
        return bar(self.parts()) + table(facts)


def table_of(answers: Iterable[Answer]) -> Rows:
    """Several answers as one table, a row each: for a loop over whatever varies.

    >>> table_of([Answer({"gpus": 8, "nearest": []}), Answer({"gpus": 16})])
    [{'gpus': 8}, {'gpus': 16}]
    """
    return Rows([answer.summary() for answer in answers])
