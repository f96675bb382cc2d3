"""Who may judge in a pool: invitations, accounts, and the list of the pool's people.

A pool whose list is empty is everybody's who has an account. The first name on the list closes it to others; whoever
has begun by then is put on the list too, so that nobody is stopped in the middle of a query.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import get_random_string
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.models import Invitation, Judge, Pool
from judging.models.invitation import hash_of
from judging.steps import serve
from judging.steps.lookup import judge_of

# Longer than a study takes; a link that lies about for years is a door left open.
DAYS_AT_MOST = 90
SEATS_AT_MOST = 500

# Without characters that look like others: an initial password is often read out.
_READABLE = "abcdefghijkmnpqrstuvwxyz23456789"


class InvitationError(UserError):
    """A link that lets nobody in (any more)."""


@dataclass(frozen=True, slots=True)
class Invited:
    """``token`` is known now and never again: only its hash is kept."""

    invitation: Invitation
    token: str


@dataclass(frozen=True, slots=True)
class Account:
    """``password`` is known now and never again."""

    user: User
    password: str


def invite(*, pool: Pool, days: int, seats: int, by: User | None = None) -> Invited:
    """A sign-up link to a pool for so many days and people. ``by`` is None in the shell."""
    for value, most, what in ((days, DAYS_AT_MOST, _("days")), (seats, SEATS_AT_MOST, _("people"))):
        if not 1 <= value <= most:
            raise UserError(
                _("Expected 1 to %(most)s %(what)s, found %(found)s.") % {"most": most, "what": what, "found": value}
            )
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        pool=pool,
        token_hash=hash_of(token),
        seats=seats,
        expires_at=timezone.now() + timedelta(days=days),
        created_by=by,
    )
    return Invited(invitation, token)


def revoke(*, invitation: Invitation) -> None:
    """Nobody comes in by this link any more; who came in by it stays."""
    Invitation.objects.filter(pk=invitation.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())


def invitation_of(token: str) -> Invitation:
    """The invitation that a token opens now.

    Raises: InvitationError, which says why it opens nothing and what to do.
    """
    invitation = _known(token)
    if problem := _problem(invitation):
        raise InvitationError(problem)
    return invitation


def _known(token: str) -> Invitation:
    found = Invitation.objects.of_token(token).select_related("pool__collection").first()
    if found is None:
        raise InvitationError(
            _("This link is not known here. Check that it was copied whole, or ask whoever sent it for another.")
        )
    return found


def _problem(invitation: Invitation) -> str:
    if invitation.revoked_at is not None:
        return _("This link was withdrawn. Ask whoever sent it for another.")
    if invitation.is_expired:
        return _("This link was good until %(day)s. Ask whoever sent it for another.") % {
            "day": date_format(timezone.localtime(invitation.expires_at), "DATE_FORMAT")
        }
    if invitation.is_used_up:
        return _("As many people as this link is for have used it. Ask whoever sent it for another.")
    if invitation.pool.status == Pool.Status.CLOSED:
        return _("The pool “%(pool)s” is closed: nothing is left to judge.") % {"pool": invitation.pool.name}
    return ""


@transaction.atomic
def join(*, token: str, user: User) -> Pool:
    """Let an account into the pool of an invitation; whoever is in it already takes no second seat.

    Raises: InvitationError.
    """
    invitation = _known(token)
    annotator = judge_of(user)
    if invitation.pool.annotators.filter(pk=annotator.pk).exists():
        return invitation.pool
    if problem := _problem(invitation):
        raise InvitationError(problem)
    # The row count decides: two people may press at the same moment for the last seat.
    if not Invitation.objects.filter(pk=invitation.pk).usable().update(uses=F("uses") + 1):
        invitation.refresh_from_db()
        raise InvitationError(_problem(invitation))
    _let_in(invitation.pool, annotator)
    return invitation.pool


@transaction.atomic
def sign_up(*, token: str, name: str, password: str) -> User:
    """An account of one's own by invitation, in the pool at once; all or nothing.

    Raises: InvitationError, UserError for a name that is taken.
    """
    user = _make_user(name, password)
    join(token=token, user=user)
    return user


def is_taken(name: str) -> bool:
    """Whether an account or a person whose labels were imported has the name; case makes no other name.

    An account takes over the labels that were imported under its name, so only the lead may give such a name away.
    """
    person = Judge.objects.filter(kind=Judge.Kind.PERSON, name__iexact=name)
    return User.objects.filter(username__iexact=name).exists() or person.exists()


@transaction.atomic
def add(*, pool: Pool, name: str) -> Judge:
    """Put an existing account on the pool's list."""
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise UserError(
            _("There is no account “%(name)s”. Create it, or send a sign-up link.") % {"name": name}
            if name
            else _("Give the name of an account.")
        )
    annotator = judge_of(user)
    _let_in(pool, annotator)
    return annotator


@transaction.atomic
def create_account(*, pool: Pool, name: str) -> Account:
    """A new account on the pool's list, with an initial password to pass on."""
    password = get_random_string(14, _READABLE)
    user = _make_user(name, password)
    _let_in(pool, judge_of(user))
    return Account(user, password)


def _make_user(name: str, password: str) -> User:
    user = User(username=name)
    user.set_password(password)
    try:
        user.full_clean()
        with transaction.atomic():
            user.save()
    except ValidationError as error:
        raise UserError(" ".join(error.messages)) from error
    except IntegrityError as error:
        raise UserError(_("The name “%(name)s” is taken.") % {"name": name}) from error
    return user


def _let_in(pool: Pool, annotator: Judge) -> None:
    if not pool.annotators.exists():
        begun = Judge.objects.filter(user__isnull=False, assignments__pair__pool=pool).distinct()
        pool.annotators.add(*begun)
    pool.annotators.add(annotator)


@transaction.atomic
def remove(*, pool: Pool, annotator: Judge) -> int:
    """Take a person off the pool's list and free what they hold; how many pairs. Their judgments stay.

    Raises: UserError for the last one: an empty list would let everybody in.
    """
    if not pool.annotators.filter(pk=annotator.pk).exists():
        return 0
    if pool.annotators.count() == 1:
        raise UserError(
            _(
                "%(name)s is the last one on the list, and without a list everybody with an account may judge. "
                "Add somebody first, pause the pool, or open it to everybody."
            )
            % {"name": annotator.name}
        )
    pool.annotators.remove(annotator)
    return serve.release(pool=pool, annotator=annotator)


def open_to_everybody(*, pool: Pool) -> None:
    """Clear the list: everybody with an account may judge."""
    pool.annotators.clear()
