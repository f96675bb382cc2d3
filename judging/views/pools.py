"""A pool as its lead sees it: how far it is, who may judge, and what can be changed while people work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from judging.errors import UserError
from judging.models import Judge, Pool
from judging.steps import jobs, overlap, people, pool_queries, serve, training
from judging.steps.pace import found_so_far, pace, themselves
from judging.steps.pools import AnnotatorProgress, PoolProgress, pool_progress, set_status
from judging.steps.probes import SelfAgreement
from judging.steps.training import TrainingResult
from judging.views.access import Request, mistakes_shown_at, pool_at, redirect_of, staff_only
from judging.views.answers import number_in
from judging.views.guidelines import as_html
from judging.views.llm_form import LlmForm, llm_form

QUERIES_A_PAGE = 10

# A link or a password that is shown on the next page and on no other.
_ONCE = "shown_once"


@require_GET
@never_cache
@staff_only
def pool(request: Request, slug: str) -> HttpResponse:
    """Progress; the part that changes is asked for again every few seconds."""
    found = pool_at(slug)
    if request.htmx:
        return render(request, "pool.html#progress", _live(request, found))
    return pool_page(request, found, llm_form(found))


def pool_page(request: Request, found: Pool, form: LlmForm, *, status: int = 200) -> HttpResponse:
    """The whole page; ``form`` is what the form that starts an LLM shows."""
    members = list(found.annotators.select_related("user"))
    context = {
        **_live(request, found),
        "members": members,
        "others": User.objects.filter(is_active=True).exclude(judge__in=members).order_by("username")[:500],
        "invitations": list(found.invitations.select_related("created_by")[:50]),
        "once": _shown_once(request, found),
        "runs": list(found.runs.all()),
        "left_out": sorted(found.left_out.items()),
        "guidelines": as_html(found.guidelines),
        "llm_form": form,
        "statuses": [(status, label) for status, label in Pool.Status.choices if status != found.status],
        "limits": {"days": people.DAYS_AT_MOST, "seats": people.SEATS_AT_MOST, "people": overlap.PEOPLE_AT_MOST},
    }
    return render(request, "pool.html", context, status=status)


def _live(request: Request, found: Pool) -> dict[str, Any]:
    state = request.GET.get("state", "")
    state = state if state in pool_queries.STATES else ""
    progress = pool_progress(found)
    return {
        "pool": found,
        "progress": progress,
        "pace": pace(found, progress),
        "found": found_so_far(found),
        "jobs": jobs.jobs_of(found),
        "people": _people(found, progress),
        "has_training": found.training.exists(),
        "state": state,
        "state_query": f"&state={state}" if state else "",
        "states": pool_queries.state_counts(found),
        "page": Paginator(pool_queries.queries_of(found, state), QUERIES_A_PAGE).get_page(request.GET.get("page")),
    }


@dataclass(frozen=True, slots=True)
class Person:
    progress: AnnotatorProgress
    training: TrainingResult | None
    themselves: SelfAgreement | None


def _people(found: Pool, progress: PoolProgress) -> list[Person]:
    """Who judges here, with how the training went and how far each agrees with themselves, where that is known."""
    trained = {one.annotator.pk: one for one in training.results(found)}
    asked_again = {one.annotator.pk: one for one in themselves(found) if one.annotator is not None}
    return [Person(one, trained.get(one.judge.pk), asked_again.get(one.judge.pk)) for one in progress.annotators]


def _shown_once(request: Request, found: Pool) -> dict[str, str] | None:
    """What was made a moment ago for this pool; the session forgets it here."""
    kept = request.session.get(_ONCE)
    if not kept or kept["pool"] != found.slug:
        return None
    del request.session[_ONCE]
    return dict(kept)


def _show_once(request: Request, found: Pool, **what: str) -> None:
    request.session[_ONCE] = {"pool": found.slug, "link": "", "name": "", "password": "", **what}


def _back(request: Request, found: Pool, place: str = "") -> HttpResponse:
    return redirect_of(request, found.get_absolute_url() + place)


@require_POST
@staff_only
@mistakes_shown_at("pool")
def status(request: Request, slug: str) -> HttpResponse:
    found = pool_at(slug)
    set_status(pool=found, status=request.POST.get("status", ""))
    messages.success(request, _("The pool is %(status)s now.") % {"status": found.get_status_display()})
    return _back(request, found)


@require_POST
@staff_only
@mistakes_shown_at("pool")
def change_overlap(request: Request, slug: str) -> HttpResponse:
    """How many people judge each pair."""
    found = pool_at(slug)
    changed = overlap.set_people(pool=found, people=_whole_number(request, "people"))
    messages.success(
        request,
        _("%(made)s places for answers were added, %(removed)s free ones taken away.")
        % {"made": changed.made, "removed": changed.removed},
    )
    return _back(request, found)


@require_POST
@staff_only
@mistakes_shown_at("pool")
def release(request: Request, slug: str) -> HttpResponse:
    """Free what one person holds."""
    found, annotator = pool_at(slug), _judge(request)
    freed = serve.release(pool=found, annotator=annotator)
    messages.success(
        request,
        ngettext("%(count)s pair of %(name)s is free.", "%(count)s pairs of %(name)s are free.", freed)
        % {"count": freed, "name": annotator.name},
    )
    return _back(request, found)


@require_POST
@staff_only
@mistakes_shown_at("pool")
def add_person(request: Request, slug: str) -> HttpResponse:
    """An account by its name; with ``do=create`` a new one, whose password is shown once."""
    found = pool_at(slug)
    name = request.POST.get("name", "").strip()
    if request.POST.get("do") == "create":
        account = people.create_account(pool=found, name=name)
        _show_once(request, found, name=account.user.username, password=account.password)
        return _back(request, found, "#once-title")
    people.add(pool=found, name=name)
    messages.success(request, _("%(name)s may judge now.") % {"name": name})
    return _back(request, found, "#who")


@require_POST
@staff_only
@mistakes_shown_at("pool")
def remove_person(request: Request, slug: str) -> HttpResponse:
    found, annotator = pool_at(slug), _judge(request)
    freed = people.remove(pool=found, annotator=annotator)
    messages.success(
        request,
        _("%(name)s may not judge here any more. Answers given stay; %(count)s pairs came free.")
        % {"name": annotator.name, "count": freed},
    )
    return _back(request, found, "#who")


@require_POST
@staff_only
@mistakes_shown_at("pool")
def open_to_everybody(request: Request, slug: str) -> HttpResponse:
    found = pool_at(slug)
    people.open_to_everybody(pool=found)
    messages.success(request, _("Everybody with an account may judge now."))
    return _back(request, found, "#who")


@require_POST
@staff_only
@mistakes_shown_at("pool")
def invite(request: Request, slug: str) -> HttpResponse:
    """A sign-up link, shown once."""
    found = pool_at(slug)
    days, seats = _whole_number(request, "days"), _whole_number(request, "seats")
    invited = people.invite(pool=found, days=days, seats=seats, by=request.user)
    _show_once(request, found, link=request.build_absolute_uri(reverse("join", args=[invited.token])))
    return _back(request, found, "#once-title")


@require_POST
@staff_only
@mistakes_shown_at("pool")
def revoke(request: Request, slug: str) -> HttpResponse:
    found = pool_at(slug)
    number = number_in(request.POST.get("invitation", ""))
    invitation = get_object_or_404(found.invitations, pk=number if number is not None else 0)
    people.revoke(invitation=invitation)
    messages.success(
        request,
        _("The link of %(day)s lets nobody in any more.")
        % {"day": date_format(invitation.created_at, "SHORT_DATE_FORMAT")},
    )
    return _back(request, found, "#who")


def _judge(request: Request) -> Judge:
    number = number_in(request.POST.get("judge", ""))
    return get_object_or_404(Judge, kind=Judge.Kind.PERSON, pk=number if number is not None else 0)


def _whole_number(request: Request, name: str) -> int:
    text = request.POST.get(name, "").strip()
    number = number_in(text)
    if number is None:
        raise UserError(_("Expected a whole number, found “%(found)s”.") % {"found": text[:40]})
    return number
