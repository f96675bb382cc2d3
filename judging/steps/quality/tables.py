"""The quality of an LLM in plain types, for JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from judging.measures.agreement import Contrast
from judging.measures.calibration import Calibration
from judging.steps.agreement.tables import estimate_json
from judging.steps.quality.content import Quality, Said
from judging.steps.quality.counts import OUTSIDE_BOUND, Outside
from judging.steps.quality.gullible import Gullible
from judging.steps.quality.thresholds import Thresholds


def as_json(quality: Quality) -> dict[str, Any]:
    """None where a value is undefined, beside its reason."""
    said = quality.said
    return {
        "pool": quality.pool.slug,
        "judge": quality.judge.name,
        "fingerprint": quality.judge.fingerprint,
        "pairs": quality.pairs,
        "alarms": [asdict(alarm) for alarm in quality.alarms],
        "said": None if said is None else _said(said),
        "gullibility": [gullible_json(probe) for probe in quality.probes],
    }


def _said(said: Said) -> dict[str, Any]:
    panel = said.compared.panel
    return {
        "asked": said.asked,
        "outcomes": dict(said.outcomes),
        "truncated": said.truncated,
        "grades": [{name: _plain(value) for name, value in asdict(one).items()} for one in said.grades],
        "outside": None if said.outside is None else _outside(said.outside),
        "expected": [asdict(bar) for bar in said.expected],
        "agreement": {
            "pairs": panel.pairs,
            "queries": panel.queries,
            "left_out": dict(said.compared.left_out),
            "graded": {name: estimate_json(estimate) for name, estimate in panel.graded.items()},
        },
        "calibration": None if said.calibration is None else _calibration(said.calibration),
        "order": {
            "grades": estimate_json(said.order.grades),
            "expected": estimate_json(said.order.expected),
            "turned_quadratic_kappa": contrast_json(said.order.turned),
        },
        "thresholds": thresholds_json(said.thresholds) if said.thresholds else {"reason": said.no_thresholds},
    }


def _outside(outside: Outside) -> dict[str, Any]:
    return {
        "pairs": outside.pairs,
        "median": outside.median,
        "most": outside.most,
        "parts": [{"above": low, "to": high, "pairs": count} for low, high, count in outside.parts],
        "bound": OUTSIDE_BOUND,
        "above_bound": estimate_json(outside.above),
    }


def _calibration(found: Calibration) -> dict[str, Any]:
    return {
        "pairs": found.pairs,
        "bins": [
            {
                "low": one.low,
                "high": one.high,
                "pairs": one.pairs,
                "mean_probability": _plain(one.mean_probability),
                "relevant": estimate_json(one.relevant),
            }
            for one in found.bins
        ],
        "expected_error": estimate_json(found.expected_error),
        "error_by_chance": _plain(found.error_by_chance),
        "brier": estimate_json(found.brier),
        "brier_constant": _plain(found.brier_constant),
        "bias": estimate_json(found.bias),
    }


def thresholds_json(found: Thresholds) -> dict[str, Any]:
    points = found.points
    return {
        "criterion": found.criterion,
        "thresholds": list(points.cuts),
        "without_each_fold": [list(cuts) for cuts in points.by_fold],
        "labels": found.labels,
        "queries": found.queries,
        "folds": found.folds,
        "seed": found.seed,
        "labels_digest": found.digest,
        "on_the_labels_of_the_fit": _plain(points.fitted),
        "gain": contrast_json(found.gain),
    }


def contrast_json(contrast: Contrast) -> dict[str, Any]:
    return {
        "first": _plain(contrast.first),
        "second": _plain(contrast.second),
        "difference": estimate_json(contrast.difference),
    }


def gullible_json(found: Gullible) -> dict[str, Any]:
    return {
        "way": found.probe.way,
        "seed": found.probe.seed,
        "drawn": found.drawn,
        "pairs": found.pairs,
        "unread": found.unread,
        "unasked": found.unasked,
        "stuffed": estimate_json(found.stuffed) | {"flips": found.flips, "alone": found.only_stuffed},
        "control": estimate_json(found.control) | {"flips": found.control_flips, "alone": found.only_control},
        "p": found.p,
        "mean_probability": dict(zip(("before", "stuffed", "control"), map(_plain, found.means), strict=True)),
    }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
