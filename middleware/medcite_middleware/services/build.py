"""Puts the services of one corpus together. Nothing is shared between requests but what is immutable or locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from medcite_core.ports import CorpusIndex, Embedder, Judge, Reranker
from medcite_core.settings import Settings
from medcite_middleware.answering.generated import GeneratedAnswer
from medcite_middleware.answering.rewriting import REWRITE_PROMPT_VERSION, QuestionRewriter
from medcite_middleware.pipeline.ask import AskPipeline
from medcite_middleware.pipeline.claim_check import ClaimChecker
from medcite_middleware.pipeline.evidence_finding import CorpusFinder
from medcite_middleware.retrieval.hybrid import Retriever
from medcite_middleware.retrieval.reranking import CrossEncoderReranker
from medcite_middleware.retrieval.words_only import WordsOnly
from medcite_middleware.services.asking import AskService
from medcite_middleware.services.corpus import RecordService, SearchService, StatusService
from medcite_middleware.services.exporting import ExportService
from medcite_middleware.services.result_list import ResultListService
from medcite_middleware.services.runs import RunRegistry
from medcite_middleware.services.verifying import VerifyService
from medcite_middleware.verification.calibration import load_calibration
from medcite_middleware.verification.chat_judge import ChatJudge
from medcite_middleware.verification.entailment import EntailmentJudge, EntailmentModel
from medcite_middleware.verification.figures import figures_hold
from medcite_middleware.verification.formulas import evaluate_formula
from medcite_middleware.verification.model_claims import ModelClaimSplitter
from medcite_middleware.verification.rules import RULES_VERSION, RulesJudge
from medcite_middleware.verification.verdict_store import VerdictMemory, VerdictStore

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True, slots=True)
class Services:
    """All that the doors of medcite (HTTP, command line, Python) call."""

    ask: AskService
    ask_by_words: AskService
    verify: VerifyService
    search: SearchService
    records: RecordService
    results: ResultListService
    exports: ExportService
    status: StatusService
    runs: RunRegistry

    async def close(self) -> None:
        """Cancel what is going on; nothing new is begun after that."""
        await self.runs.close()


def build_checker(settings: Settings, chat_model: BaseChatModel | None = None) -> ClaimChecker:
    """The checker with every judge that the settings allow; `chat_model` reads what the rules leave open.

    Raises:
        InvalidSettings: the calibration of the entailment model is damaged.
    """
    judges: list[Judge] = [RulesJudge(settings.verify)]
    if model := entailment_model(settings):
        threshold = settings.verify.entailment_threshold
        judges.append(
            EntailmentJudge(model, load_calibration(settings.data_dir, model.name, model.revision, threshold))
        )
    model_judge = memory = None
    if chat_model is not None and settings.verify.use_chat_model:
        model_judge = ChatJudge(chat_model, settings.llm, settings.verify, evaluate_formula)
        store = VerdictStore(settings.data_dir / "verdicts.sqlite")
        memory = VerdictMemory(store, settings.llm, settings.verify, model_judge.prompt_version)
    return ClaimChecker(judges, model_judge, settings.verify, memory=memory, figures_hold=figures_hold)


def entailment_model(settings: Settings) -> EntailmentModel | None:
    """The cross-encoder that the settings name, not loaded yet; None without one."""
    verify = settings.verify
    return EntailmentModel(verify.entailment_model, verify.entailment_revision) if verify.entailment_model else None


def build_splitter(settings: Settings, chat_model: BaseChatModel | None) -> ModelClaimSplitter | None:
    """The chat model as the one that splits texts into claims; None without one, or when the rules are to."""
    if chat_model is None or not settings.verify.split_with_chat_model:
        return None
    return ModelClaimSplitter(chat_model, settings.llm)


def build_reranker(settings: Settings) -> Reranker | None:
    """The reranker that the settings name, not loaded yet; None without one."""
    chosen = settings.retrieval
    return CrossEncoderReranker(chosen.reranker_model, chosen.reranker_revision) if chosen.reranker_model else None


def build_verifier(
    settings: Settings, embedder: Embedder | None, chat_model: BaseChatModel | None = None
) -> VerifyService:
    """A service that checks against documents, without a corpus."""
    return VerifyService(
        build_checker(settings, chat_model),
        RunRegistry(settings.server.max_runs, settings.server.run_grace_s),
        settings.verify,
        index=None,
        finder=None,
        embedder=embedder,
        versions={"medcite": version("medcite"), "judge": RULES_VERSION},
        splitter=build_splitter(settings, chat_model),
    )


def build_services(
    settings: Settings,
    index: CorpusIndex,
    embedder: Embedder,
    chat_model: BaseChatModel | None,
    *,
    corpus_name: str,
    example_questions: Sequence[Mapping[str, Any]] = (),
    worked_example: Mapping[str, Any] | None = None,
) -> Services:
    """Services over `index`. Without a chat model answers are made of quotations.

    `worked_example` is shown on the start page: a `text` with an altered sentence, and the PMIDs (`sources`) that its
    `[n]` cite.
    """
    retriever = Retriever(index, embedder, settings.retrieval)
    results = ResultListService(index, retriever)
    checker = build_checker(settings, chat_model)
    finder = CorpusFinder(retriever, index, settings.verify, reranker=build_reranker(settings))
    writer = GeneratedAnswer(chat_model, settings.llm) if chat_model is not None else None
    versions = _versions(settings, embedder, writer)
    runs = RunRegistry(settings.server.max_runs, settings.server.run_grace_s)
    rewriter = QuestionRewriter(chat_model, settings.llm) if chat_model is not None else None
    splitter = build_splitter(settings, chat_model)
    pipeline_over = partial(
        AskPipeline,
        writer=writer,
        checker=checker,
        finder=finder,
        min_cosine=settings.retrieval.min_cosine,
        allow_retracted=settings.verify.allow_retracted_support,
        versions=versions,
        rewriter=rewriter,
        splitter=splitter,
    )
    verifier = partial(VerifyService, checker, runs, settings.verify, versions=versions, splitter=splitter)
    by_words = Retriever(index, WordsOnly(embedder.identity), settings.retrieval)
    return Services(
        ask=AskService(pipeline_over(retriever), runs),
        ask_by_words=AskService(pipeline_over(by_words), runs),
        verify=verifier(index=index, finder=finder, embedder=embedder),
        search=SearchService(retriever),
        records=RecordService(index),
        results=results,
        exports=ExportService(index, results, settings.server.max_export_records),
        status=StatusService(
            index,
            embedder,
            corpus_name=corpus_name,
            chat_model=settings.llm.model if writer else "",
            example_questions=example_questions,
            worked_example=worked_example,
            versions=versions,
        ),
        runs=runs,
    )


def _versions(settings: Settings, embedder: Embedder, writer: GeneratedAnswer | None) -> dict[str, str]:
    """Of everything that an answer and its verdicts depend on."""
    return {
        "medcite": version("medcite"),
        "embedding_model": "@".join(filter(None, (embedder.identity.model, embedder.identity.revision))),
        "chat_model": settings.llm.model if writer else "none",
        "prompt": writer.prompt_version if writer else "none",
        "rewrite_prompt": REWRITE_PROMPT_VERSION if writer else "none",
        "judge": RULES_VERSION,
        "entailment_model": settings.verify.entailment_model or "none",
        "reranker_model": settings.retrieval.reranker_model or "none",
    }
