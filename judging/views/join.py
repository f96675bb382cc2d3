"""The sign-up page behind an invitation: the one page besides the sign-in that needs no account."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.views import PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from judging.errors import UserError
from judging.models import Pool
from judging.steps import people
from judging.views.access import Request, redirect_of


class SignUpForm(UserCreationForm):  # type: ignore[type-arg]
    """Name and password under Django's validators."""

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if people.is_taken(name):
            raise ValidationError(_("This name is taken; choose another."))
        return name


class ChangePassword(SuccessMessageMixin, PasswordChangeView):  # type: ignore[type-arg]
    """So that nobody keeps the password that somebody else gave them."""

    template_name = "password.html"
    success_url = reverse_lazy("home")
    success_message = gettext_lazy("Your password is changed.")


@login_not_required
@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: Request, token: str) -> HttpResponse:
    """Make an account and join; an account that is signed in joins as it is."""
    try:
        if request.user.is_authenticated:
            return _with_account(request, token)
        return _without_account(request, token)
    except people.InvitationError as error:
        return render(request, "join.html", {"problem": str(error), "invitation": None, "form": None}, status=404)


def _with_account(request: Request, token: str) -> HttpResponse:
    if request.method == "POST":
        return _welcome(request, people.join(token=token, user=request.user))
    return _page(request, token, None)


def _without_account(request: Request, token: str) -> HttpResponse:
    invitation = people.invitation_of(token)
    form = SignUpForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, token, form)
    try:
        user = people.sign_up(token=token, name=form.cleaned_data["username"], password=form.cleaned_data["password1"])
    except people.InvitationError:
        raise
    except UserError as error:
        form.add_error("username", str(error))
        return _page(request, token, form)
    login(request, user)
    return _welcome(request, invitation.pool)


def _page(request: Request, token: str, form: Any) -> HttpResponse:
    invitation = people.invitation_of(token)
    return render(request, "join.html", {"problem": "", "invitation": invitation, "form": form})


def _welcome(request: Request, pool: Pool) -> HttpResponse:
    messages.success(request, _("Welcome. You may judge in “%(pool)s” now.") % {"pool": pool.name})
    return redirect_of(request, reverse("home"))
