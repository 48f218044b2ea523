"""Which numbers a local model computes with: bfloat16 where the processor multiplies it in hardware, else float32.

Measured on real chunks, a vector made with bfloat16 has a cosine of at least 0.9999 with the one made in float32: that
is nearer than two versions of a library may be. So an index does not care with which one it was made, and its identity
does not name it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Precision = Literal["fp32", "bf16"]


def multiplies_bf16(cpuinfo: str) -> bool:
    """Whether every processor that `cpuinfo` (the text of /proc/cpuinfo) describes multiplies bfloat16 in hardware.

    AVX512_BF16 or AMX does; elsewhere bfloat16 is emulated, several times slower than float32.
    """
    flags = [set(line.partition(":")[2].split()) for line in cpuinfo.splitlines() if line.startswith("flags")]
    return bool(flags) and all("avx512_bf16" in of_one or {"amx_tile", "amx_bf16"} <= of_one for of_one in flags)


def choose_precision(wanted: Literal["auto", "fp32", "bf16"], device: str, cpuinfo: str | None = None) -> Precision:
    """What to compute with on `device`; `auto` takes bfloat16 only on a processor that has it."""
    if wanted != "auto":
        return wanted
    if device != "cpu":
        return "fp32"
    return "bf16" if multiplies_bf16(_this_cpu() if cpuinfo is None else cpuinfo) else "fp32"


def _this_cpu() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
