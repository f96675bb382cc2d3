import time
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.db import InterfaceError, OperationalError, connections

from judging.management.base import StepCommand, count
from judging.management.outcomes import OutcomeTrack, in_words
from judging.management.stopping import stoppable
from judging.models import PrefillJob
from judging.steps import worker

# Seconds between two looks for work.
POLL = 2.0


class Command(StepCommand):
    help = (
        "Do what was asked for on the pages: LLMs that were started from a pool's page judge here. Start as many as "
        "machines can bear; they share the work. Ctrl-C or SIGTERM stops it, and what it had in hand is free at once."
    )
    example = "worker"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="stop when nothing is left to take up")

    def run(self, **options: Any) -> None:
        try:
            with stoppable():
                self._work(once=options["once"])
        except KeyboardInterrupt:
            self.say("stopped; what was judged is kept")

    def _work(self, *, once: bool) -> None:
        passed_over: dict[int, datetime] = {}
        has_looked = False
        if not once:
            self.say("waiting for work")
        while True:
            try:
                _renew_connections()
                job = worker.take(passed_over=passed_over)
                has_looked = True
                if job is not None:
                    asked_at = job.asked_at
                    if not self._do(job):
                        passed_over[job.pk] = asked_at
            except (OperationalError, InterfaceError) as error:
                if once or not has_looked:
                    raise
                self.stderr.write(f"The database does not answer: {str(error).strip()}")
                connections.close_all()
                job = None
            if job is None and once:
                return
            if job is None:
                time.sleep(POLL)

    def _do(self, job: PrefillJob) -> bool:
        """Whether the job went well here."""
        asked = f"{job.pool.slug}: {job.options['model']} {job.options['prompt']}"
        self.say(f"{asked} begins")
        report = worker.work_at(job=job, track=OutcomeTrack(self.say))
        if report is None:
            now = PrefillJob.objects.filter(pk=job.pk).first()
            self.say(f"{asked} failed here: {(now and now.error) or 'see the log'}")
            return False
        outcomes = in_words(report.outcomes)
        self.say(f"{asked}: {count(report.outcomes.total(), 'pair')} judged" + (f" ({outcomes})" if outcomes else ""))
        return True


def _renew_connections() -> None:
    """What Django does between two requests: a worker that lives for weeks meets databases that were restarted."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
