"""mypy and pyright, both at their strictest, find no mistake in the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest

from checkers import MISSING, PACKAGE, mypy

from .command import CommandTestCase


@unittest.skipIf(MISSING, MISSING)
class TypeTests(CommandTestCase):
    def test_mypy(self) -> None:
        settings = os.path.join(PACKAGE, "..", "pyproject.toml")
        self.assertIn("Success", mypy("--config-file", settings, os.path.join(PACKAGE, "quire", "cli")))

    def test_pyright(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            project = os.path.join(folder, "pyrightconfig.json")
            with open(project, "w") as file:
                # The command is part of the package, and may use what others may not.
                json.dump({
                    "typeCheckingMode": "strict", "pythonVersion": "3.9", "reportPrivateUsage": False,
                    "extraPaths": [PACKAGE],
                    "include": [os.path.join(PACKAGE, "quire", each) for each in ("cli", "__main__.py")]}, file)
            printed = subprocess.run(
                [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--project", project],
                capture_output=True, text=True).stdout
        self.assertIn("0 errors, 0 warnings", printed, printed)
