"""Fixtures that several suites share."""

from __future__ import annotations

import sys
from pathlib import Path

# Tests are not a package: this makes `from support.llm_server import Reply` work under any import mode.
sys.path.insert(0, str(Path(__file__).parent))

pytest_plugins = ["support.llm_server", "support.small_llm"]
