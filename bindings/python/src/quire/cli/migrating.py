"""`quire migrate`: a store goes over to another version of its model."""

from __future__ import annotations

import argparse
import os

from ..contexts.migration import MigrationStep, migrate as run
from ..errors import NotFound
from ..models.loaded import LoadedModel, load_model
from .exits import Exit, Problem
from .terminal import console
from .values import shown

__all__ = ["migrate"]


def migrate(options: argparse.Namespace) -> Exit:
    """Prints what differs, and with a dry run the SQL; else does it."""
    if not os.path.lexists(options.file):
        raise Problem(
            Exit.FILE, f"Could not open '{options.file}': the file does not exist. Check the path.")
    with _model(options.model) as target:
        if options.source is None:
            steps = run(options.file, target, dry_run=options.dry_run)
        else:
            with _model(options.source) as source:
                steps = run(options.file, target, source=source, dry_run=options.dry_run)
    if not steps:
        _print(f"{options.file} is of this model already")
    for step in steps:
        _tell(step, options.dry_run)
    return Exit.DONE


def _tell(step: MigrationStep, with_sql: bool) -> None:
    """Without SQL what differs between the models is enough."""
    if step.sql and not with_sql:
        return
    _print(step.sentence)
    for line in step.sql.splitlines():
        _print(f"    {line}", "dim")


def _model(path: str) -> LoadedModel:
    try:
        return load_model(path)
    except NotFound as error:
        raise Problem(Exit.FILE, str(error)) from None


def _print(text: str, style: str = "") -> None:
    out = console()
    from rich.text import Text

    out.print(Text(shown(text), style), soft_wrap=True)
