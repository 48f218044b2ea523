"""A verification report in the formats that other tools read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Literal

from medcite_middleware.events import ProofOut, VerdictOut
from medcite_middleware.export.table import harmless
from medcite_middleware.export.verdicts.report import ReportEntry, VerificationReport

VerdictFormat = Literal["json", "original", "csv", "markdown", "trec-biogen", "scifact"]
SUFFIXES: dict[str, VerdictFormat] = {".json": "json", ".csv": "csv", ".md": "markdown", ".jsonl": "scifact"}


def write_report(report: VerificationReport, form: VerdictFormat) -> str:
    """The report as a text in `form`."""
    return _WRITERS[form](report)


def _json(report: VerificationReport) -> str:
    return report.model_dump_json(indent=1) + "\n"


def _original(report: VerificationReport) -> str:
    """The original fact checker's shape: reasoning, and the matching text of each document."""
    claims = [
        {
            "claim": entry.claim,
            "reasoning": entry.explanation,
            "details": [
                {"matching_text": proof.text, "document_name": _source_name(entry, proof)} for proof in _quotes(entry)
            ],
            "verdict": entry.verdict,
        }
        for entry in report.entries
    ]
    return json.dumps({"claims": claims}, ensure_ascii=False, indent=1) + "\n"


_COLUMNS = (
    "row id claim verdict state reason explanation confidence citation review quote shows source place evidence "
    "computation scan judge model question same_as"
).split()


def _csv(report: VerificationReport) -> str:
    """A line for every claim; a cell that a spreadsheet would take for a formula is made harmless."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for entry in report.entries:
        for line in _csv_lines(entry):
            writer.writerow({key: harmless(str(value)) for key, value in line.items()})
    return "\ufeff" + out.getvalue()


def _csv_lines(entry: ReportEntry) -> list[dict[str, object]]:
    shared: dict[str, object] = {
        "row": entry.row,
        "id": entry.id,
        "question": entry.question,
        "same_as": entry.same_as or "",
        "state": entry.state,
    }
    if not entry.parts:
        return [{**shared, "claim": entry.claim, "verdict": entry.verdict, "explanation": entry.explanation}]
    lines = []
    for part in entry.parts:
        verdict = part.verdict
        quotes = _words_shown(verdict)
        best = quotes[0] if quotes else None
        lines.append(
            {
                **shared,
                "claim": part.claim.text,
                "verdict": verdict.label,
                "reason": verdict.reason,
                "explanation": verdict.explanation,
                "confidence": "" if verdict.confidence is None else f"{verdict.confidence:.3f}",
                "citation": verdict.citation,
                "review": verdict.review,
                "quote": best.text if best else "",
                "shows": best.shows if best else "",
                "source": _source_name(entry, best) if best else "",
                "place": f"{best.span.start}-{best.span.end}" if best and best.span else "",
                "evidence": best.evidence_number if best and best.evidence_number else "",
                "computation": "; ".join(_computation(p) for p in verdict.proofs if p.kind == "computation"),
                "scan": "; ".join(_scan(p) for p in verdict.proofs if p.kind == "scan"),
                "judge": verdict.judge,
                "model": verdict.model,
            }
        )
    return lines


def _markdown(report: VerificationReport) -> str:
    counts = report.counts
    said = ", ".join(f"{number} {label.replace('_', ' ')}" for label, number in counts.verdicts.items()) or "nothing"
    grounded = "" if report.groundedness is None else f" Groundedness {report.groundedness:.0%};"
    lines = [
        "# Check of claims",
        "",
        f"{counts.asked} asked: {said}.{grounded} {counts.claims_checked} of {counts.claims} claims could be checked.",
        "",
        f"Made {report.created}. Against: {'; '.join(_md(s.name) for s in report.sources) or 'nothing'}.",
    ]
    if not report.is_complete:
        lines += ["", "**This report is not complete.**"]
    for entry in report.entries:
        lines += ["", f"## {entry.row}. {entry.verdict.replace('_', ' ')}", "", f"> {_md(entry.claim)}"]
        if not entry.parts:
            lines += ["", _md(entry.explanation)]
        for part in entry.parts:
            if len(entry.parts) > 1:
                lines += ["", f"*{_md(part.claim.text)}*: **{part.verdict.label}**"]
            lines += ["", _md(part.verdict.explanation)]
            for proof in part.verdict.proofs:
                lines.append("")
                if proof.kind == "quote":
                    lines.append(f"- {proof.shows}: “{_md(proof.text)}” ({_md(_source_name(entry, proof))})")
                else:
                    lines.append(f"- {_computation(proof) if proof.kind == 'computation' else _scan(proof)}")
            if part.verdict.review:
                lines += ["", f"*To be looked at by a person: {_md(part.verdict.review)}*"]
    return "\n".join(lines) + "\n"


def _trec_biogen(report: VerificationReport) -> str:
    """TREC BioGen's grounding task: PMIDs that support and that contradict each sentence."""
    answer = [
        {
            "text": entry.claim,
            "supported_citations": _pmids(entry, "supports"),
            "contradicted_citations": _pmids(entry, "contradicts"),
        }
        for entry in report.entries
        if entry.parts
    ]
    metadata = {"team_id": "", "run_name": f"medcite {report.versions.get('medcite', '')}".strip()}
    body = {"metadata": metadata, "question": report.question, "answer": answer}
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def _scifact(report: VerificationReport) -> str:
    """SciFact's predictions, one claim a line: label and sentences (from 0, title not counted) of each document."""
    lines = []
    for entry in report.entries:
        evidence: dict[str, dict[str, object]] = {}
        for part in entry.parts:
            label = {"supported": "SUPPORT", "contradicted": "CONTRADICT"}.get(part.verdict.label)
            wanted = {"SUPPORT": "supports", "CONTRADICT": "contradicts"}.get(label or "")
            for proof in _words_shown(part.verdict):
                if label is None or proof.shows != wanted:
                    continue
                found = evidence.setdefault(proof.pmid or proof.document, {"sentences": [], "label": label})
                sentence = _sentence_number(entry, proof)
                sentences = found["sentences"]
                if isinstance(sentences, list) and sentence is not None and sentence not in sentences:
                    sentences.append(sentence)
        lines.append(json.dumps({"id": entry.id or entry.row, "evidence": evidence}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def _sentence_number(entry: ReportEntry, proof: ProofOut) -> int | None:
    from medcite_core.sentences import sentence_spans

    source = next((e.record for e in entry.evidence if e.number == proof.evidence_number), None)
    if source is None or proof.span is None:
        return None
    number = 0
    for section in source.sections:
        if section.kind == "title":
            continue
        for span in sentence_spans(source.text[section.span.start : section.span.end]):
            if section.span.start + span.start <= proof.span.start < section.span.start + span.end:
                return number
            number += 1
    return None


def _pmids(entry: ReportEntry, shows: str) -> list[str]:
    return list(dict.fromkeys(p.pmid for p in _quotes(entry) if p.shows == shows and p.pmid))


def _quotes(entry: ReportEntry) -> list[ProofOut]:
    return [p for part in entry.parts for p in _words_shown(part.verdict) if p.shows != "closest"]


def _words_shown(verdict: VerdictOut) -> list[ProofOut]:
    """The quotes of a verdict and those that its computations take figures from, once each, the way that they speak."""
    found: list[ProofOut] = []
    for proof in verdict.proofs:
        if proof.kind == "quote":
            found.append(proof)
        elif proof.computation is not None:
            found += [o.quote.model_copy(update={"shows": proof.shows}) for o in proof.computation.operands]
    return [quote for at, quote in enumerate(found) if quote not in found[:at]]


def _source_name(entry: ReportEntry, proof: ProofOut) -> str:
    if proof.pmid:
        return f"PMID {proof.pmid}"
    named = next((e.record.title for e in entry.evidence if e.record.document == proof.document), proof.document)
    return f"{named}, page {proof.page}" if proof.page else named


def _computation(proof: ProofOut) -> str:
    made = proof.computation
    if made is None:
        return ""
    operands = ", ".join(f"{o.name} = {o.value:g} (“{o.quote.text}”)" for o in made.operands)
    unit = f" {made.unit}" if made.unit else ""
    return f"{made.formula} = {made.result:g}{unit}; claimed {made.claimed:g}, tolerance {made.tolerance:g}; {operands}"


def _scan(proof: ProofOut) -> str:
    scan = proof.scan
    if scan is None:
        return ""
    state = "" if scan.is_complete else ", not complete"
    return f"searched {scan.blocks_scanned} of {scan.blocks_total} passages for {', '.join(scan.forms_tried)}{state}"


def _md(text: str) -> str:
    """Text as it is, not as Markdown."""
    for sign in "\\`*_{}[]<>#|":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


_WRITERS: dict[VerdictFormat, Callable[[VerificationReport], str]] = {
    "json": _json,
    "original": _original,
    "csv": _csv,
    "markdown": _markdown,
    "trec-biogen": _trec_biogen,
    "scifact": _scifact,
}
