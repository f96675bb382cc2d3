"""LLMs of a pool, asked for on its page: this only queues and stops; workers judge."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from judging.errors import UserError
from judging.models import PrefillJob
from judging.steps import jobs
from judging.views.access import Request, pool_at, redirect_of, staff_only
from judging.views.llm_form import asked_in, llm_form
from judging.views.pools import pool_page


@require_POST
@staff_only
def start(request: Request, slug: str) -> HttpResponse:
    """Queue the pool for an LLM; what cannot be is said in the form, which keeps what it was given."""
    pool = pool_at(slug)
    try:
        asked = asked_in(request.POST)
        job = jobs.ask(pool=pool, llm=asked.llm, order=asked.order, limit=asked.limit, by=request.user)
    except UserError as error:
        return pool_page(request, pool, llm_form(pool, request.POST.dict(), str(error)), status=422)
    messages.success(
        request,
        _("%(model)s with the prompt %(prompt)s is to judge this pool.")
        % {"model": job.options["model"], "prompt": job.options["prompt"]},
    )
    return redirect_of(request, pool.get_absolute_url() + "#llms")


@require_POST
@staff_only
def change(request: Request, slug: str, job_id: int) -> HttpResponse:
    """Stop a job, let it go on, or try again what failed."""
    pool = pool_at(slug)
    job = get_object_or_404(pool.prefill_jobs, pk=job_id)
    try:
        if said := _change(job, request.POST.get("do", "")):
            messages.success(request, said)
    except UserError as error:
        messages.error(request, str(error))
    return redirect_of(request, pool.get_absolute_url() + "#llms")


def _change(job: PrefillJob, wish: str) -> str:
    """What was done, in words; nothing for a wish that there is not."""
    if wish == "stop":
        jobs.stop(job=job)
        return _("Stopped. What is in hand at this moment is still kept.")
    if wish == "retry":
        freed = jobs.go_on(job=job, retry_failed=True)
        said = ngettext("%(count)s pair is tried again.", "%(count)s pairs are tried again.", freed)
        return said % {"count": freed}
    if wish == "go-on":
        jobs.go_on(job=job)
        return _("It is in the queue again.")
    return ""
