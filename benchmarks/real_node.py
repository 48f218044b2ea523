"""A real OpenSearch node for a benchmark (scripts/opensearch-node: a JDK 21 or newer and Maven), ended with it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts" / "opensearch-node"))

import node


@contextmanager
def opensearch_node(heap: str = "1g") -> Iterator[node.Node]:
    """A node that answers, in a folder of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="medcite-bench-node-", ignore_cleanup_errors=True) as home,
        node.running([node.Node(node.free_port(), Path(home), {}, heap)]) as (one,),
    ):
        yield one
