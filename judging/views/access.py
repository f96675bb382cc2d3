"""Who may see what, and the two kinds of request."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django_htmx.middleware import HtmxDetails

View = Callable[..., HttpResponseBase]


class Request(HttpRequest):
    """A request of somebody signed in, as django-htmx completes it."""

    htmx: HtmxDetails
    user: User  # type: ignore[assignment]


def staff_only(view: View) -> View:
    """Leads see it; annotators are told that they may not."""

    @wraps(view)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


def redirect_of(request: Request, url: str) -> HttpResponse:
    """Go elsewhere: htmx follows a header, a plain form a redirect."""
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return HttpResponse(status=303, headers={"Location": url})
