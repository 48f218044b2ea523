"""The options that stand before every command, and the settings that they lead to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from medcite_core.settings import LoadedSettings


@dataclass(frozen=True)
class Invocation:
    """The options that stand before the command."""

    config: Path | None
    data_dir: Path | None
    verbose: bool

    def load(self, arguments: dict[str, Any] | None = None, *, is_server: bool = False) -> LoadedSettings:
        """Settings from all sources, and logging set up: a server logs as the settings say, a command only errors."""
        from medcite.logs import set_up_logging
        from medcite_core.settings import load_settings

        loaded = load_settings({"data_dir": self.data_dir, **(arguments or {})}, config_file=self.config)
        level = loaded.settings.log_level
        if not is_server and "log_level" not in loaded.origins:
            level = "error"
        set_up_logging("debug" if self.verbose else level, as_json=loaded.settings.log_format == "json")
        return loaded


def invocation(ctx: typer.Context) -> Invocation:
    invocation = ctx.obj
    assert isinstance(invocation, Invocation)
    return invocation
