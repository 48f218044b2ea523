"""Altered sentences of the demo corpus's own abstracts: none passes, and the untouched ones stay supported."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "checker_edits.py"
    spec = importlib.util.spec_from_file_location("checker_edits", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def report(benchmark: ModuleType) -> dict[str, Any]:
    records = list(benchmark.demo_records())
    measured: dict[str, Any] = benchmark.measure(random.Random(7).sample(records, 60), random.Random(7))
    return measured


def test_no_altered_sentence_is_supported(report: dict[str, Any]) -> None:
    assert report["alterations"] > 1000
    assert report["wrongly_supported"] == []


def test_untouched_sentences_stay_supported(report: dict[str, Any]) -> None:
    assert report["untouched_supported_share"] >= 0.95


def test_a_changed_digit_negation_or_direction_is_often_seen_as_a_contradiction(report: dict[str, Any]) -> None:
    for kind, least in (("digit", 0.1), ("negation added", 0.5), ("negation dropped", 0.3), ("direction", 0.3)):
        counts = report["by_kind"][kind]
        assert counts.get("contradicted", 0) >= least * sum(counts.values()), kind
