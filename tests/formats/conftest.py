import os
from pathlib import Path

DATA = Path(os.environ.get("UNJUDGED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
