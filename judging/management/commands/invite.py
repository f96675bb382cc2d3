from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from judging.management.base import StepCommand, at_least_1, count
from judging.steps import lookup
from judging.steps.people import invite


class Command(StepCommand):
    help = (
        "Make a link by which people make their own account and may judge in a pool. It is shown this once; the lead's "
        "page of the pool shows who used it and can withdraw it."
    )
    example = "invite nfcorpus-holes --days 7 --people 5 --address https://judge.example.org"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--days", type=at_least_1, default=7, help="how long it is good (default: 7)")
        parser.add_argument("--people", type=at_least_1, default=5, help="how many may use it (default: 5)")
        parser.add_argument(
            "--address",
            metavar="URL",
            help="where people reach the application (default: the first of CSRF_TRUSTED_ORIGINS, else this machine)",
        )

    def run(self, **options: Any) -> None:
        pool = lookup.pool(options["pool"])
        invited = invite(pool=pool, days=options["days"], seats=options["people"])
        address = options["address"] or next(iter(settings.CSRF_TRUSTED_ORIGINS), "http://localhost:8000")
        until = timezone.localtime(invited.invitation.expires_at)
        self.say(
            f"{address.rstrip('/')}{reverse('join', args=[invited.token])}",
            f"good for {count(invited.invitation.seats, 'person', 'people')} until {until:%Y-%m-%d %H:%M %Z}; "
            f"then only those on the list of {pool.slug} may judge in it",
        )
