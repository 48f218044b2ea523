"""`medcite search` and `medcite ask`: one question to the corpus, answered on the terminal or as JSON."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing

from pydantic import BaseModel

from medcite.assembly import Corpus, open_corpus, open_demo, services_of, wait_for_embedder
from medcite.progress import load_progress
from medcite.screen import many, messages, plain, print_answer_end, print_error, print_hits, results, search_line
from medcite_core.errors import IndexMissing
from medcite_core.filters import SearchFilter
from medcite_core.settings import Settings
from medcite_middleware.api.bodies import AskIn, SearchIn
from medcite_middleware.events import AnswerOut, Event
from medcite_middleware.pipeline.ask import AskRequest
from medcite_middleware.services.results import SearchOut, found_out

STAGES = {"search": "Searching …", "read": "Reading …", "write": "Writing …", "check": "Checking …"}


def search_records(
    settings: Settings, query: str, search_filter: SearchFilter, k: int | None, *, demo: bool, as_json: bool
) -> None:
    """Print the records that match `query`, best first.

    Raises:
        InvalidInput: the query is empty, too long, or holds control characters.
        IndexMissing: there is nothing to search.
    """
    body = SearchIn.model_validate({"query": query} | ({"k": k} if k else {}))
    corpus = _corpus(settings, demo=demo)
    found = asyncio.run(_search(corpus, body.query, search_filter, body.k))
    if as_json:
        _print_json(found)
        return
    out = results()
    print_hits(((item.record, [p.text for p in item.passages]) for item in found.records), out)
    if not found.records:
        out.print("Nothing found.")
    if found.records and not found.total:
        messages().print("No record holds a word of it: these are only near it in meaning.")
    messages().print(f"Words of it stand in {many(found.total, 'record')}. {search_line(found.search)}")


def ask_question(
    settings: Settings, question: str, search_filter: SearchFilter, k: int | None, *, demo: bool, as_json: bool
) -> int:
    """Print the answer as it is written, then its verdicts, quotes and sources; or all of it as JSON.

    Returns the exit code: 1 when the answer did not become whole; what there was of it is shown.

    Raises:
        InvalidInput: the question is empty, too long, or holds control characters.
        IndexMissing: there is nothing to ask.
    """
    body = AskIn.model_validate({"question": question})
    request = AskRequest(body.question, search_filter, k=k)
    corpus = _corpus(settings, demo=demo)
    if as_json:
        _print_json(asyncio.run(_answer(corpus, request)))
        return 0
    return asyncio.run(_stream(corpus, request))


def corpus_to_ask(settings: Settings, *, demo: bool) -> Corpus:
    """The demo corpus, or the data folder's; its embedding model is not loaded yet.

    Raises:
        IndexMissing: there are no records.
    """
    if demo:
        with load_progress("Loading the demo corpus") as on_progress:
            return open_demo(settings, on_progress)
    return _own_corpus(settings)


def _corpus(settings: Settings, *, demo: bool) -> Corpus:
    corpus = corpus_to_ask(settings, demo=demo)
    if sys.stderr.isatty():
        with messages().status("Loading the embedding model …"):
            wait_for_embedder(corpus.embedder)
    else:
        wait_for_embedder(corpus.embedder)
    return corpus


def _own_corpus(settings: Settings) -> Corpus:
    try:
        corpus = open_corpus(settings, create=False)
        if corpus.index.count():
            return corpus
        raise IndexMissing(f"there are no records in {settings.data_dir}")
    except IndexMissing as error:
        # Most likely the person has run `up` and means the demo.
        hint = "Load records: `medcite ingest files PATH…`; or ask the demo corpus: add --demo."
        raise IndexMissing(error.message, hint) from None


async def _search(corpus: Corpus, query: str, search_filter: SearchFilter, k: int) -> SearchOut:
    return found_out(await services_of(corpus).search.search(query, search_filter, k))


async def _answer(corpus: Corpus, request: AskRequest) -> AnswerOut:
    return await services_of(corpus).ask.answer(request)


async def _stream(corpus: Corpus, request: AskRequest) -> int:
    services = services_of(corpus)
    screen = _AnswerScreen()
    run = services.ask.start(request)
    try:
        async with aclosing(run.watch()) as events:
            async for item in events:
                if item is not None:
                    screen.show(item[1])
    finally:
        await services.close()
    return screen.exit_code


class _AnswerScreen:
    """Prints the events of one run."""

    def __init__(self) -> None:
        self.exit_code = 0
        self._is_live = sys.stderr.isatty()

    def show(self, event: Event) -> None:
        """Print what `event` adds."""
        if event.type == "stage" and self._is_live and event.done == 0:
            messages().print(STAGES.get(event.name, event.name), style="dim")
        elif event.type == "text":
            sys.stdout.write(plain(event.delta))
            sys.stdout.flush()
        elif event.type == "finished":
            out = results()
            out.print()
            print_answer_end(event.answer, out)
        elif event.type == "incomplete":
            results().print()
            print_error(f"the answer is not whole: {event.reason}", event.error.hint if event.error else "Ask again.")
            self.exit_code = 1
        elif event.type == "error":
            print_error(event.error.message, event.error.hint)
            self.exit_code = 2 if event.error.code in ("invalid_input", "unknown_key") else 1


def _print_json(value: BaseModel) -> None:
    sys.stdout.write(value.model_dump_json(indent=2) + "\n")
