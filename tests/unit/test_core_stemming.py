"""Stems: the same in every thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from medcite_core.stemming import stem, stem_words


def test_threads_get_the_stems_that_one_alone_gets() -> None:
    words = [
        f"{head}{tail}"
        for head in ("relat", "reduc", "investigat", "hypertens")
        for tail in ("ions", "ing", "ed", "ional", "ively")
    ]
    words = [f"{word}{n}" for word in words for n in ("", "s", "ly", "ness")]
    alone = {word: stem.__wrapped__(word) for word in words}

    def all_of_them(_: int) -> bool:
        return all(stem.__wrapped__(word) == alone[word] for word in words for _ in range(20))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(all_of_them, range(16)))


def test_words_are_runs_of_letters_and_digits_without_case() -> None:
    assert stem_words("Reductions of 10.5 mg, don’t!") == ["reduct", "of", "10.5", "mg", "don’t"]
