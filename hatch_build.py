"""Build hook: puts the built page into the package, so that an installed wheel needs no Node."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Copies frontend/dist to cli/medcite/page. An editable install serves frontend/dist itself and copies nothing."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Called by hatchling before it collects files; `version` is "editable" for `pip install -e`."""
        if version == "editable":
            return
        built = Path(self.root, "frontend", "dist")
        page = Path(self.root, "cli", "medcite", "page")
        if (built / "index.html").is_file():
            shutil.rmtree(page, ignore_errors=True)
            shutil.copytree(built, page, ignore=shutil.ignore_patterns(".*"))
        elif not (page / "index.html").is_file():
            raise SystemExit(
                "medcite: the page is not built, so the package would come without it.\n"
                "Build it first: python3 scripts/up.py --no-serve   (or: cd frontend && npm ci && npm run build)"
            )
