"""A BERT of two layers and few words, saved as a folder: the same code path as a large model, in milliseconds."""

from __future__ import annotations

import json
from pathlib import Path

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz0123456789.,:?-{}"]
WORDS += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"]
WORDS += "represent this sentence for searching relevant passages aspirin stroke risk the of in is and lowers".split()


def save_tiny_bert(folder: Path, *, positions: int = 64, seed: int = 7) -> Path:
    """Write config, tokenizer and random (seeded) weights into `folder`; 64 numbers a vector."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab={word: i for i, word in enumerate(WORDS)}, model_max_length=positions)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    model = BertModel(
        BertConfig(
            vocab_size=len(WORDS),
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            max_position_embeddings=positions,
            initializer_range=0.5,  # the usual 0.02 would make all texts nearly alike
        )
    )
    model.save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == 64
    return folder
