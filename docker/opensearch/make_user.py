"""Makes OpenSearch's user `medcite`, who may use indexes named medcite… and nothing else. Safe to run again.

Reads OPENSEARCH_URL and OPENSEARCH_PASSWORD, and the certificate `admin` in /certificates. Standard library only.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
import urllib.error
import urllib.request
from typing import Any

CERTIFICATES = os.environ.get("CERTIFICATES", "/certificates")
ROLE: dict[str, Any] = {
    "cluster_permissions": [
        "cluster:monitor/main",
        "cluster:monitor/health",
        "cluster:monitor/state",
        "indices:data/write/bulk",
        "indices:data/read/mget",
        "indices:data/read/point_in_time/*",
    ],
    "index_permissions": [
        {
            "index_patterns": ["medcite", "medcite-*"],
            "allowed_actions": [
                "crud",
                "create_index",
                "delete_index",
                "indices:admin/get",
                "indices:admin/exists",
                "indices:admin/aliases*",
                "indices:admin/mappings/get",
                "indices:admin/refresh*",
                "indices:admin/settings/update",
                "indices:monitor/*",
                "indices:data/read/point_in_time/*",
            ],
        }
    ],
}


def put(path: str, body: dict[str, Any]) -> None:
    """Send one change as the administrator."""
    context = ssl.create_default_context(cafile=f"{CERTIFICATES}/ca.pem")
    context.load_cert_chain(f"{CERTIFICATES}/admin.pem", f"{CERTIFICATES}/admin-key.pem")
    request = urllib.request.Request(
        os.environ["OPENSEARCH_URL"] + "/_plugins/_security/api/" + path,
        json.dumps(body).encode("utf-8"),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    with urllib.request.urlopen(request, context=context, timeout=30) as reply:
        reply.read()


def main() -> int:
    """Role, user, and the one for the other; returns the exit code."""
    try:
        put("roles/medcite", ROLE)
        put("internalusers/medcite", {"password": os.environ["OPENSEARCH_PASSWORD"]})
        put("rolesmapping/medcite", {"users": ["medcite"]})
    except urllib.error.HTTPError as error:
        # The reply says what is wrong with a password, and never repeats it.
        print(f"OpenSearch refused: {error.code} {error.read().decode('utf-8', 'replace')[:500]}", file=sys.stderr)
        return 1
    except (urllib.error.URLError, OSError) as error:
        print(f"OpenSearch does not answer yet: {error}", file=sys.stderr)
        return 1
    print("user medcite: ready")
    return 0


if __name__ == "__main__":
    sys.exit(main())
