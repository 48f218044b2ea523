"""The example in docs runs as it stands, on the demo corpus, with the packaged model."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage

from medcite_ingestion.demo import demo_records

DOCS = Path(__file__).parents[2] / "docs"


class NotingModel(FakeListChatModel):
    """Remembers what it was given."""

    seen: list[str] = []  # noqa: RUF012 - a pydantic field

    def _call(self, messages: list[BaseMessage], *args: object, **kwargs: object) -> str:
        self.seen.append("\n".join(str(message.content) for message in messages))
        return super()._call(messages)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = DOCS / "examples/langchain_retriever.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_langchain_example_answers_from_passages_that_lead_back_to_their_records(
    example: ModuleType, tmp_path: Path
) -> None:
    model = NotingModel(responses=["It is a risk factor."])
    result = example.question_chain(example.demo_retriever(tmp_path), model).invoke(example.QUESTION)
    assert result["answer"] == "It is a risk factor."
    assert 1 <= len(result["documents"]) <= 4
    texts = {record.pmid: record.text for record in demo_records()}
    for document in result["documents"]:
        start, end = document.metadata["span"]
        assert texts[document.metadata["pmid"]][start:end] == document.page_content
        assert document.metadata["year"] >= 2005
        assert document.page_content in model.seen[0]
    assert result["documents"][0].metadata["pmid"] == "28459936"
    assert model.seen[0].endswith(f"Question: {example.QUESTION}")


def test_the_langchain_page_names_the_metadata_that_documents_have(example: ModuleType, tmp_path: Path) -> None:
    text = (DOCS / "langchain.md").read_text("utf-8")
    table = [line for line in text.splitlines() if line.startswith("| `")]
    named = {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    document = example.demo_retriever(tmp_path).invoke(example.QUESTION)[0]
    assert named == set(document.metadata)


def test_the_python_on_the_langchain_page_names_what_exists() -> None:
    code = re.findall(r"```python\n(.*?)```", (DOCS / "langchain.md").read_text("utf-8"), re.DOTALL)
    assert code
    for block in code:
        compile(block, "langchain.md", "exec")
        exec("\n".join(line for line in block.splitlines() if line.startswith("from ")), {})
