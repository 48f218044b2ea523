"""bfloat16 is used where the processor multiplies it, never where it would be emulated, and changes no vector."""

from __future__ import annotations

import pytest

from medcite_core.embedding.factory import build_embedder
from medcite_core.embedding.precision import choose_precision, multiplies_bf16
from medcite_core.settings import EmbeddingSettings
from medcite_ingestion.demo import demo_records

PLAIN = "fpu vme avx avx2 avx512f avx512_vnni"


def cpuinfo(*flags: str) -> str:
    return "\n".join(
        f"processor\t: {n}\nmodel name\t: A CPU with amx_bf16 in its name\nflags\t\t: {f}\nbugs\t\t: x\n"
        for n, f in enumerate(flags)
    )


@pytest.mark.parametrize(
    ("text", "has_it"),
    [
        (cpuinfo(f"{PLAIN} avx512_bf16"), True),
        (cpuinfo(f"{PLAIN} amx_bf16 amx_tile amx_int8"), True),
        (cpuinfo(f"{PLAIN} avx512_bf16", f"{PLAIN} amx_bf16 amx_tile"), True),
        (cpuinfo(PLAIN), False),
        (cpuinfo(f"{PLAIN} amx_int8 amx_tile"), False),
        (cpuinfo(f"{PLAIN} avx512_bf16", PLAIN), False),  # one core would emulate it
        (cpuinfo("fp asimd bf16"), False),  # ARM has it under another name, not measured here
        ("", False),
    ],
)
def test_the_flags_of_every_processor_decide(text: str, has_it: bool) -> None:
    assert multiplies_bf16(text) is has_it
    assert choose_precision("auto", "cpu", text) == ("bf16" if has_it else "fp32")


def test_a_setting_goes_before_the_flags_and_other_devices_keep_float32() -> None:
    fast, slow = cpuinfo("avx512_bf16"), cpuinfo(PLAIN)
    assert choose_precision("fp32", "cpu", fast) == "fp32"
    assert choose_precision("bf16", "cpu", slow) == "bf16"
    assert choose_precision("auto", "cuda", fast) == "fp32"


def test_vectors_made_with_bf16_are_those_of_fp32_on_real_texts() -> None:
    texts = [record.title for record in demo_records()][:500:100]
    exact = build_embedder(EmbeddingSettings(precision="fp32")).embed_passages(texts)
    rounded = build_embedder(EmbeddingSettings(precision="bf16")).embed_passages(texts)
    assert (exact * rounded).sum(axis=1).min() >= 0.9999
    assert (exact != rounded).any()  # it was really used
