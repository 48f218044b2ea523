"""Loading files into a real index: counts add up, nothing is embedded twice, a broken file goes on to the next."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.small_corpus import WordHashEmbedder

from medcite_core.errors import EmbedderUnavailable, IndexMismatch, NotFound
from medcite_core.index.lance_index import LanceIndex
from medcite_core.ports import IndexIdentity, Vectors
from medcite_core.settings import IndexSettings
from medcite_ingestion.load import load_files
from medcite_ingestion.load_report import LoadProgress, LoadReport

GOLDEN = Path(__file__).parents[1] / "golden" / "xml"
SETTINGS = IndexSettings()


@dataclass
class CountingEmbedder(WordHashEmbedder):
    """Remembers what it was asked to embed; fails from the `fails_after`-th call on."""

    embedded: list[str] = field(default_factory=list)
    fails_after: int | None = None
    calls: int = 0

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.fails_after is not None and self.calls > self.fails_after:
            raise EmbedderUnavailable("the endpoint is down")
        self.embedded += texts
        return super().embed_passages(texts)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def store(tmp_path: Path, embedder: CountingEmbedder) -> LanceIndex:
    identity = IndexIdentity(embedder.identity, SETTINGS.chunk_size, SETTINGS.chunk_overlap)
    return LanceIndex(tmp_path / "index", identity)


def a_set(*pmids: int, deleted: Sequence[int] = (), version: int = 1, word: str = "text") -> bytes:
    articles = "".join(
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article><ArticleTitle>Title {pmid}.'
        f"</ArticleTitle><Abstract><AbstractText>Some {word} of {pmid}.</AbstractText></Abstract></Article>"
        "</MedlineCitation></PubmedArticle>\n"
        for pmid in pmids
    )
    gone = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in deleted)
    block = f"<DeleteCitation>{gone}</DeleteCitation>" if gone else ""
    return f'<?xml version="1.0"?>\n<PubmedArticleSet>{articles}{block}</PubmedArticleSet>'.encode()


def assert_adds_up(report: LoadReport) -> None:
    assert report.records + report.tombstones + report.problems == report.citations
    assert report.inserted + report.replaced + report.unchanged + report.outdated == report.records
    assert json.loads(json.dumps(report.to_dict()))["citations"] == report.citations


def test_fr034_a_broken_file_among_good_ones_is_named_and_the_others_are_loaded(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder
) -> None:
    folder = tmp_path / "files"
    (folder / "below").mkdir(parents=True)
    for name in ("FR-034-good.xml", "FR-034-cut.xml", "FR-034-empty.xml"):
        shutil.copy(GOLDEN / name, folder)
    shutil.copy(GOLDEN / "FR-027-pubmed_test0001.xml.gz.cut", folder / "cut.xml.gz")
    (folder / "below" / "more.xml.gz").write_bytes(gzip.compress(a_set(1, 2)))
    (folder / "notes.txt").write_text("not looked at")
    report = load_files([folder], store, embedder, SETTINGS)
    assert_adds_up(report)
    # Of the cut file a citation had begun; the other two hold none that could be counted.
    assert (report.files, report.records, report.inserted, report.problems) == (5, 3, 3, 1)
    assert set(report.files_failed) == {"FR-034-cut.xml", "FR-034-empty.xml", "cut.xml.gz"}
    assert {problem.file_name for problem in report.problem_list} == set(report.files_failed)
    assert report.is_partial
    assert store.count() == 3


def test_loading_again_changes_nothing_and_embeds_nothing(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder
) -> None:
    path = tmp_path / "set.xml"
    path.write_bytes(a_set(*range(1, 301)))
    first = load_files([path], store, embedder, SETTINGS)
    assert_adds_up(first)
    assert (first.inserted, first.chunks, first.is_partial) == (300, 600, False)
    assert len(embedder.embedded) == 600
    calls = embedder.calls
    second = load_files([path, path], store, embedder, SETTINGS)
    assert_adds_up(second)
    assert (second.files, second.unchanged, second.inserted, second.chunks) == (1, 300, 0, 0)
    assert embedder.calls == calls
    assert store.count_chunks() == 600


def test_what_is_embedded_carries_its_title(tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder) -> None:
    path = tmp_path / "set.xml"
    path.write_bytes(a_set(5))
    load_files([path], store, embedder, SETTINGS)
    assert embedder.embedded == ["Title 5.", "Title 5.\nSome text of 5."]


def test_a_revision_replaces_and_an_older_copy_stays_out(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder
) -> None:
    old, new = tmp_path / "a.xml", tmp_path / "b.xml"
    old.write_bytes(a_set(5, 6))
    new.write_bytes(a_set(5, version=2, word="new words"))
    load_files([old], store, embedder, SETTINGS)
    report = load_files([new, old], store, embedder, SETTINGS)
    assert_adds_up(report)
    assert (report.replaced, report.outdated, report.unchanged, report.duplicates_in_input) == (1, 1, 1, 1)
    assert "new words" in store.get(["5"])["5"].text


def test_tombstones_take_records_out(tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder) -> None:
    first, update = tmp_path / "pubmed26n0001.xml", tmp_path / "pubmed26n0002.xml"
    first.write_bytes(a_set(5, 6, 7))
    update.write_bytes(a_set(8, deleted=[6, 99]))
    report = load_files([tmp_path / "pubmed26n0001.xml", update], store, embedder, SETTINGS)
    assert_adds_up(report)
    assert (report.records, report.tombstones, report.removed) == (4, 2, 1)
    assert set(store.get(["5", "6", "7", "8"])) == {"5", "7", "8"}


def test_a_load_that_the_embedder_ends_keeps_what_it_stored_and_goes_on_when_repeated(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder
) -> None:
    path = tmp_path / "set.xml"
    path.write_bytes(a_set(*range(1, 401)))
    embedder.fails_after = 2
    with pytest.raises(EmbedderUnavailable):
        load_files([path], store, embedder, SETTINGS)
    stored = store.count()
    assert 0 < stored < 400
    embedder.fails_after = None
    report = load_files([path], store, embedder, SETTINGS)
    assert (report.unchanged, report.inserted) == (stored, 400 - stored)
    assert store.count() == 400


def test_progress_is_told_and_ends_with_done(tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder) -> None:
    path = tmp_path / "set.xml"
    path.write_bytes(a_set(*range(1, 301)))
    told: list[LoadProgress] = []
    load_files([path], store, embedder, SETTINGS, told.append)
    assert {progress.stage for progress in told} == {"parse", "embed", "store", "index", "done"}
    last = told[-1]
    assert (last.stage, last.files_done, last.files_total, last.citations) == ("done", 1, 1, 300)
    embedding = [(p.chunks_done, p.chunks_total) for p in told if p.stage == "embed"]
    assert embedding[:3] == [(0, 512), (256, 512), (512, 512)]


@pytest.mark.parametrize("missing", ["nowhere.xml", "empty-folder"])
def test_a_path_that_names_nothing_stops_before_anything_is_loaded(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder, missing: str
) -> None:
    (tmp_path / "empty-folder").mkdir()
    good = tmp_path / "good.xml"
    good.write_bytes(a_set(1))
    with pytest.raises(NotFound):
        load_files([good, tmp_path / missing], store, embedder, SETTINGS)
    assert store.count() == 0


def test_an_index_of_another_model_or_chunk_size_is_refused_before_anything_is_embedded(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder
) -> None:
    path = tmp_path / "set.xml"
    path.write_bytes(a_set(1))
    with pytest.raises(IndexMismatch, match="400"):
        load_files([path], store, embedder, IndexSettings(chunk_size=400))
    other = CountingEmbedder(identity=WordHashEmbedder().identity.__class__("other", "1", "mean", "", 256))
    with pytest.raises(IndexMismatch, match="other"):
        load_files([path], store, other, SETTINGS)
    assert embedder.calls == other.calls == 0


def test_a_text_that_is_no_pubmed_file_is_a_failed_file_and_no_citation(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder
) -> None:
    (tmp_path / "notes.txt").write_text("Meeting on Monday.\nBring the figures.")
    (tmp_path / "good.xml").write_bytes(a_set(1))
    report = load_files([tmp_path / "notes.txt", tmp_path / "good.xml"], store, embedder, SETTINGS)
    assert_adds_up(report)
    assert (report.files, report.citations, report.records, report.problems) == (2, 1, 1, 0)
    assert report.files_failed == ("notes.txt",)
    assert report.problem_list[0].file_name == "notes.txt"
    assert report.is_partial


MEDLINE = "PMID- {pmid}\nTI  - Zeta in adults.\nAB  - Zeta helped {pmid} adults.\nDP  - 2019 Mar\nLR  - 20200101\n\n"


def test_medline_text_is_told_by_its_content_and_loaded_beside_xml(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.xml").write_bytes(a_set(1))
    (folder / "b.nbib").write_text(MEDLINE.format(pmid=2) + MEDLINE.format(pmid=3), encoding="utf-8")
    named_otherwise = tmp_path / "saved.txt"
    named_otherwise.write_text("\ufeff" + MEDLINE.format(pmid=4) + "PMID- x\nTI  - None.\n", encoding="utf-8")
    report = load_files([folder, named_otherwise], store, embedder, IndexSettings())
    assert (report.files, report.citations, report.records, report.problems) == (3, 5, 4, 1)
    assert_adds_up(report)
    assert store.get(["3"])["3"].text.endswith("Zeta helped 3 adults.")
    assert load_files([folder], store, embedder, IndexSettings()).unchanged == 3


def test_medline_text_that_is_too_large_is_a_problem_and_not_read(
    tmp_path: Path, store: LanceIndex, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medcite_ingestion.load.MAX_MEDLINE_BYTES", 50)
    file = tmp_path / "large.nbib"
    file.write_text(MEDLINE.format(pmid=2), encoding="utf-8")
    report = load_files([file], store, embedder, IndexSettings())
    assert (report.records, report.files_failed) == (0, ("large.nbib",))
    assert "save it in parts" in report.problem_list[0].reason
