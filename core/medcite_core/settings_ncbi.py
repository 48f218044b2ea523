"""Settings of NCBI's E-utilities: where PubMed is asked, and how politely."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class NcbiSettings(BaseModel):
    """Where and how PubMed is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str = Field(
        "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
        pattern=r"^https?://\S+$",
        description="Address of the E-utilities.",
    )
    api_key: SecretStr = Field(SecretStr(""), description="Key of your NCBI account: ten requests a second, not three.")
    email: str = Field("", description="Where NCBI writes to when something goes wrong; it asks for one.")
    batch: int = Field(200, ge=1, le=500, description="Records fetched at a time.")
    retries: int = Field(5, ge=0, le=20, description="How often a request that failed for a while is sent again.")
    timeout_s: float = Field(60.0, gt=0, le=600, description="Longest wait for a reply.")
    max_ids: int = Field(9_999, ge=10, le=9_999, description="PMIDs that one search gives; larger ones are cut up.")

    @field_validator("api_key", mode="before")
    @classmethod
    def _no_key(cls, value: Any) -> Any:
        """ "None", quotes and blanks are no key: a server refuses them (FR-007)."""
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if isinstance(text, str):
            text = text.strip().strip("\"'").strip()
            return "" if text.lower() in ("none", "null") else text
        return value
