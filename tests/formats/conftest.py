import os
from pathlib import Path

from hypothesis import HealthCheck, settings

DATA = Path(os.environ.get("UNJUDGED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")

# A busy machine is no fault of the code; the benchmarks tell how fast it is.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
