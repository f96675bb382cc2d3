"""What a form of the judging and the adjudication page says."""

from __future__ import annotations

import re
import uuid

from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.models import Outcome
from judging.steps.judgments import Said
from judging.views.access import Request

# Longer than anybody reads one document in one go; a clock that says more was wrong.
_SECONDS_AT_MOST = 3_600.0

# What the comment box takes too.
_COMMENT_AT_MOST = 4_000

# More digits are no grade and no key, and Python refuses to read thousands of them.
_NUMBER = re.compile(r"-?[0-9]{1,18}")


def number_in(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def said_in(request: Request) -> Said:
    """What the form says; ``answer`` is a grade or ``cannot_judge``."""
    given = request.POST.get("answer", "")
    comment = _comment(request.POST.get("comment", ""))
    key = key_in(request)
    seconds = _seconds(request.POST.get("seconds", ""))
    if given == Outcome.CANNOT_JUDGE:
        return Said(outcome=given, comment=comment, seconds=seconds, key=key)
    if (grade := number_in(given)) is None:
        raise UserError(_("No grade was chosen; nothing was saved."))
    return Said(outcome=Outcome.GRADED.value, grade=grade, comment=comment, seconds=seconds, key=key)


def _comment(text: str) -> str:
    """Line ends as everywhere else; without NUL, which PostgreSQL does not take."""
    comment = text.replace("\r\n", "\n").replace("\0", "").strip()
    if len(comment) > _COMMENT_AT_MOST:
        raise UserError(
            _("The comment has %(found)s characters, and at most %(most)s are kept; nothing was saved.")
            % {"found": len(comment), "most": _COMMENT_AT_MOST}
        )
    return comment


def key_in(request: Request) -> uuid.UUID | None:
    try:
        return uuid.UUID(request.POST.get("key", ""))
    except ValueError:
        return None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return min(seconds, _SECONDS_AT_MOST) if 0 < seconds < float("inf") else None
