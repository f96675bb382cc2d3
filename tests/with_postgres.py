"""``python -m tests.with_postgres COMMAND …`` runs a command with DATABASE_URL set to a new PostgreSQL cluster."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.services import ServiceMissingError, postgres_server, require_services


def main(command: list[str]) -> int:
    try:
        with postgres_server() as url:
            return subprocess.run(command, env={**os.environ, "DATABASE_URL": url}, check=False).returncode
    except ServiceMissingError as missing:
        print(f"Not run on PostgreSQL: {missing}")
        return 1 if require_services() else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
