"""A real OpenSearch node for the tests: one for a whole session, started when the first test asks for it."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType


@functools.cache
def node_script() -> ModuleType:
    """scripts/opensearch-node/node.py as a module."""
    path = Path(__file__).parents[2] / "scripts" / "opensearch-node" / "node.py"
    spec = importlib.util.spec_from_file_location("opensearch_node_script", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@functools.cache
def opensearch_node() -> str:
    """The address of the session's node. TEST_OPENSEARCH_NODE names one that runs already."""
    if running := os.environ.get("TEST_OPENSEARCH_NODE"):
        return running
    script = node_script()
    script.build()
    home = Path(tempfile.mkdtemp(prefix="medcite-test-node-"))
    node = script.Node(script.free_port(), home)

    def end() -> None:
        node.kill()
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(end)
    node.start()
    node.wait()
    return str(node.url)
