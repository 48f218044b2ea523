"""Fixtures that several suites share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

# The same examples in every CI run: a new one found there would say nothing of the change under test.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

# Tests are not a package: this makes `from support.llm_server import Reply` work under any import mode.
sys.path.insert(0, str(Path(__file__).parent))

pytest_plugins = ["support.llm_server", "support.small_llm"]
