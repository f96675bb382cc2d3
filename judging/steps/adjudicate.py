"""adjudicate: the lead has the last word on a pair on which judges differ.

Each lead account adjudicates as a judge of its own, so that who decided is kept; of several adjudications of a pair the
latest holds. Deciding that nothing can be decided is an adjudication without a grade: the people's majority stays.
"""

from __future__ import annotations

from dataclasses import replace

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.models import Judge, Judgment, Outcome, Pair, Pool
from judging.steps.agree import judgments_of
from judging.steps.judgments import Said, said_before, say


def adjudicator(user: User) -> Judge:
    """The adjudication judge of an account, made at its first adjudication."""
    return Judge.objects.get_or_create(kind=Judge.Kind.ADJUDICATION, name=name_of(user), fingerprint="")[0]


def name_of(user: User) -> str:
    return f"adjudication/{user.username}"


def adjudicate(*, pair: Pair, by: User, said: Said) -> Judgment:
    """Store the verdict on a pair, with its history. The same key again changes nothing.

    Raises: UserError for a grade outside the scale.
    """
    judge = adjudicator(by)
    if said.key and (stored := said_before(said.key)):
        if (stored.judge_id, stored.query_id, stored.document_id) == (judge.pk, pair.query_id, pair.document_id):
            return stored
        # A browser that restores a page puts an old form's key into a new form: that is another verdict.
        said = replace(said, key=None)
    scale = pair.pool.collection.scale
    if said.outcome == Outcome.GRADED and said.grade not in scale:
        raise UserError(_("Expected one of the grades %(grades)s, found %(grade)s.") % {
            "grades": ", ".join(map(str, scale.values)), "grade": said.grade})  # fmt: skip
    try:
        return say(judge=judge, query_id=pair.query_id, document_id=pair.document_id, said=said)
    except IntegrityError:
        # The same press arrived twice at the same moment; the other one stored it.
        if said.key and (stored := said_before(said.key)):
            return stored
        raise


def previous_adjudicated(*, pool: Pool, by: User, before: Pair | None) -> Pair | None:
    """The pair that this account adjudicated just before this one, in the order of its first verdicts.

    Seen from a pair that it has not adjudicated, or from none, that is the latest.
    """
    mine = judgments_of(pool).filter(judge__kind=Judge.Kind.ADJUDICATION, judge__name=name_of(by))
    if before is not None:
        current = mine.filter(query=before.query_id, document=before.document_id).values_list("pk", flat=True).first()
        if current is not None:
            mine = mine.filter(pk__lt=current)
    last = mine.order_by("-pk").first()
    if last is None:
        return None
    return pool.pairs.filter(query=last.query_id, document=last.document_id).select_related("query", "document").first()
