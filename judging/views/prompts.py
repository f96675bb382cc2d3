"""Prompts: which there are, what each says, one's own, and what exactly is sent for a pair. For staff alone."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from judging.errors import UserError
from judging.models import Pool
from judging.steps import prompts as own
from judging.steps.preview import PairPreview, messages_of
from judging.views.access import Request, pool_at, redirect_of, staff_only
from judging.views.answers import number_in


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_only
def prompts(request: Request) -> HttpResponse:
    """The list, with a form for one's own. A text that is none stays in the form, with what is wrong and where."""
    context = {"text": "", "problem": ""}
    if request.method == "POST":
        context["text"] = request.POST.get("text", "")
        try:
            context["text"] = _text(request)
            added = own.add(text=context["text"], by=request.user)
        except UserError as error:
            context["problem"] = str(error)
        else:
            messages.success(request, _("The prompt %(name)s is kept.") % {"name": added.name})
            assert added.stored is not None
            return redirect_of(request, added.stored.get_absolute_url())
    status = 422 if context["problem"] else 200
    return render(request, "prompts.html", {**context, "prompts": own.all_prompts()}, status=status)


def _text(request: Request) -> str:
    """What was uploaded, else what was pasted."""
    if file := request.FILES.get("file"):
        if (file.size or 0) > 4 * own.LONGEST:
            raise UserError(
                _("A prompt may have %(most)s characters, and this file is longer.") % {"most": f"{own.LONGEST:,}"}
            )
        return own.decode(file.read())
    return request.POST.get("text", "")


@require_GET
@never_cache
@staff_only
def prompt(request: Request, prompt_name: str) -> HttpResponse:
    """One prompt: its header, its text, its digest, and pools of which a pair can be looked at."""
    try:
        found = own.named(prompt_name)
    except UserError as error:
        raise Http404 from error
    pools = Pool.objects.select_related("collection")[:50]
    return render(request, "prompt.html", {"found": found, "pools": pools})


@require_GET
@never_cache
@staff_only
def preview(request: Request, slug: str) -> HttpResponse:
    """The very messages of a pair, by the prompt and the place in the address."""
    pool = pool_at(slug)
    name = request.GET.get("prompt", "") or own.all_names()[0]
    shown: PairPreview | None = None
    problem = ""
    try:
        found = own.named(name)
        shown = messages_of(pool=pool, prompt=found.prompt, position=number_in(request.GET.get("pair", "")) or 1)
    except UserError as error:
        problem = str(error)
    context = {"pool": pool, "name": name, "names": own.all_names(), "shown": shown, "problem": problem}
    return render(request, "prompt_preview.html", context)
