"""Who may see what, and the two kinds of request."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, resolve_url
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.csrf import csrf_failure
from django_htmx.middleware import HtmxDetails

from judging.errors import UserError
from judging.models import Judge, Pool
from judging.steps.lookup import account

View = Callable[..., HttpResponseBase]


class Request(HttpRequest):
    """A request of somebody signed in, as django-htmx completes it."""

    htmx: HtmxDetails
    user: User


def staff_only(view: View) -> View:
    """Leads see it; annotators are told that they may not."""

    @wraps(view)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


def mistakes_shown_at(page: str) -> Callable[[View], View]:
    """What a user can mend is said on the page of that name, which has the same arguments; never a server error."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                return view(request, *args, **kwargs)
            except UserError as error:
                messages.error(request, str(error))
                return redirect_of(request, reverse(page, args=args, kwargs=kwargs))

        return guarded

    return decorate


def pool_at(slug: str) -> Pool:
    """The pool of that short name, with its collection, whoever may judge in it; Http404 where there is none."""
    return get_object_or_404(Pool.objects.select_related("collection"), slug=slug)


def pool_of(annotator: Judge, slug: str) -> Pool:
    """The pool of that short name, with its collection.

    Raises: Http404; PermissionDenied, which says so, where the pool has people of its own and this is none of them.
    """
    found = Pool.objects.open_to(annotator).select_related("collection").filter(slug=slug).first()
    return found or refuse_stranger(pool_at(slug))


def refuse_stranger(pool: Pool) -> NoReturn:
    raise PermissionDenied(
        _(
            "The pool “%(pool)s” is judged by people whom its lead has listed, and you are not one of them. "
            "Ask the lead to add you."
        )
        % {"pool": pool.name}
    )


class SeeOther(HttpResponseRedirect):
    """What a form was posted for is done; the page that shows it is elsewhere."""

    status_code = 303


def redirect_of(request: Request, url: str) -> HttpResponse:
    """Go elsewhere: htmx follows a header, a plain form a redirect."""
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return SeeOther(url)


class Accounts(ModelBackend):
    """Who is signed in, read together with the judge that they are: one statement a page less."""

    def get_user(self, user_id: int) -> User | None:
        user = account(user_id)
        return user if user and self.user_can_authenticate(user) else None


class SignInMiddleware(LoginRequiredMiddleware):
    """Every page needs somebody signed in unless its view says otherwise.

    htmx is told to leave the page: a redirect would be followed and the sign-in form swapped into it.
    """

    def handle_no_permission(  # type: ignore[override]  # the stubs promise a redirect; any response will do
        self, request: HttpRequest, view_func: Callable[..., Any]
    ) -> HttpResponseBase:
        htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
        if not htmx:
            return super().handle_no_permission(request, view_func)
        back = htmx.current_url_abs_path or reverse("home")
        query = urlencode({self.get_redirect_field_name(view_func): back})
        return HttpResponse(
            status=204, headers={"HX-Redirect": f"{resolve_url(self.get_login_url(view_func))}?{query}"}
        )

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """htmx loads the page anew, which then says what is refused: nothing is swapped in, and nothing tried again."""
        if isinstance(exception, PermissionDenied) and request.headers.get("HX-Request") == "true":
            return HttpResponse(status=403, headers={"HX-Refresh": "true"})
        return None


def session_changed(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """The form's token is not the session's: most often somebody signed in anew in another tab.

    Nothing was stored. htmx loads the page again, which brings the right token; a plain form gets Django's explanation.
    """
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(status=403, headers={"HX-Refresh": "true"})
    return csrf_failure(request, reason)
