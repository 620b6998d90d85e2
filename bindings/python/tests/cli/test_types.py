"""pyright at its strictest finds no mistake in the command. `test_typing` has mypy read it with the package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest

from checkers import MISSING, PACKAGE


@unittest.skipIf(MISSING, MISSING)
class TypeTests(unittest.TestCase):
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
