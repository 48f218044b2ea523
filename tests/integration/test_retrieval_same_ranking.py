"""A search whose lists are taken at the same time ranks the demo corpus as one that takes them one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medcite_core.filters import SearchFilter
from medcite_core.index.lance_index import LanceIndex
from medcite_core.settings import IndexSettings
from medcite_ingestion.demo import demo_questions, demo_records, load_demo
from medcite_ingestion.demo.corpus import DEMO_DIR
from medcite_ingestion.demo.shipped_vectors import VECTORS_FILE, ShippedVectors
from medcite_middleware.retrieval.fusion import weighted_fusion
from medcite_middleware.retrieval.lists import hybrid_lists

EVERYTHING = SearchFilter()


class OneByOne:
    """The index without its ability to search together."""

    def __init__(self, index: LanceIndex) -> None:
        self._index = index

    def __getattr__(self, name: str) -> Any:
        if name == "hybrid_lists":
            raise AttributeError(name)
        return getattr(self._index, name)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> LanceIndex:
    index = LanceIndex(tmp_path_factory.mktemp("demo"), ShippedVectors.read(DEMO_DIR / VECTORS_FILE).identity)
    load_demo(index, IndexSettings())
    return index


def test_the_demo_questions_and_titles_are_ranked_as_before(demo: LanceIndex) -> None:
    one_by_one: Any = OneByOne(demo)
    titles = [record.title for record in demo_records()][::90]
    rng = np.random.default_rng(1)
    for question in [*(q["question"] for q in demo_questions()), *titles]:
        # Any direction will do where two ways of searching are compared; near a stored one there are close rivals.
        near = demo.lexical_chunks(question, EVERYTHING, 1)[0].chunk.id
        vector = demo.chunk_vectors([near])[near] + 0.02 * rng.standard_normal(384).astype(np.float32)
        for chosen in (EVERYTHING, SearchFilter(year_from=2010)):
            together, apart = (hybrid_lists(index, question, vector, chosen, 100) for index in (demo, one_by_one))
            assert together.near == apart.near
            assert together.chunks == apart.chunks
            assert together.records == apart.records
            ranked = [
                [
                    (item.chunk.id, item.score, item.cosine)
                    for item in weighted_fusion(lists.chunks, lists.records, lists.near, 0.5, lists.cosines)
                ]
                for lists in (together, apart)
            ]
            assert ranked[0] == ranked[1]
