"""Unjudged: PostgreSQL with its own durability, gunicorn as ``make serve`` runs it."""

from __future__ import annotations

import asyncio
import html
import os
import re
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.annotation.client import HOST, Answer, Browser
from tests.benchmarks.annotation.load import Clock, Measured, measure
from tests.benchmarks.annotation.servers import server
from tests.benchmarks.annotation.texts import Text
from tests.services import free_port, postgres_server

if TYPE_CHECKING:
    from judging.models import Pool

ROOT = Path(__file__).resolve().parents[3]
PASSWORD = "judging for a benchmark"
WORKERS = 2
THREADS = 4

# All answers are wanted here, for they are compared with what is stored.
LONGEST = 1_800.0

# Where all that is left is in the hands of others, a person presses "Look again" after so many seconds.
LOOK_AGAIN = 5.0

_FORM = re.compile(r'<form method="post"\s+action="([^"]+)"\s+hx-post="[^"]+"')
_KEY = re.compile(r'name="key" value="([^"]+)"')
_BEYOND = re.compile(r'name="beyond" value="([^"]*)"')
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass(slots=True)
class Person:
    """One annotator at the judging page; ``sent`` keeps what they said, to be compared with what is stored."""

    name: str
    browser: Browser
    page: str = ""
    sent: dict[tuple[int, uuid.UUID], int] = field(default_factory=dict)
    shown: str = ""

    async def sign_in(self) -> None:
        form = await self.browser.get("/login/")
        fields = {"csrfmiddlewaretoken": _one(_TOKEN, form.text), "username": self.name, "password": PASSWORD}
        answer = await self.browser.post_form("/login/", fields, headers=self._origin)
        if answer.status != 302:
            raise RuntimeError(f"{self.name} could not sign in.")

    async def open(self, pool: Pool) -> None:
        self.page, self.sent = f"/pools/{pool.slug}/judge/", {}
        await self._load()

    async def work(self, clock: Clock) -> None:
        while not clock.is_over:
            if not _FORM.search(self.shown):
                if "All judged" in self.shown:
                    return
                await asyncio.sleep(LOOK_AGAIN)
                await self._load()
                continue
            await clock.read()
            since = time.monotonic()
            answer = await self._save()
            clock.add(since)
            self.shown = answer.text

    async def _load(self) -> None:
        self.shown = (await self.browser.get(self.page)).text

    async def _save(self) -> Answer:
        """What htmx sends when a grade's button is pressed."""
        action = html.unescape(_one(_FORM, self.shown))
        key = _one(_KEY, self.shown)
        token = _one(_TOKEN, self.shown)
        grade = uuid.UUID(key).int % 2
        self.sent[int(action.rstrip("/").rpartition("/")[2]), uuid.UUID(key)] = grade
        fields = {
            "csrfmiddlewaretoken": token,
            "key": key,
            "seconds": "1.5",
            "beyond": _one(_BEYOND, self.shown),
            "comment": "",
            "answer": str(grade),
        }
        headers = {
            **self._origin,
            "X-CSRFToken": token,
            "HX-Request": "true",
            "HX-Target": "judging",
            "HX-Current-URL": f"http://{HOST}:{self.browser.port}{self.page}",
        }
        return await self.browser.post_form(action, fields, headers=headers)

    @property
    def _origin(self) -> dict[str, str]:
        return {"Origin": f"http://{HOST}:{self.browser.port}"}


def _one(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    if found is None:
        raise RuntimeError(f"The page lacks {pattern.pattern}: {text[:500]}")
    return found[1]


@contextmanager
def running() -> Iterator[tuple[int, list[int]]]:
    """PostgreSQL, an empty database, static files and gunicorn; the port, and the servers' processes."""
    with postgres_server(durable=True) as url, tempfile.TemporaryDirectory(prefix="unjudged-benchmark-") as folder:
        os.environ |= {"DATABASE_URL": url, "VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "annotator.settings"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        port = free_port()
        gunicorn = [Path(sys.executable).with_name("gunicorn"), "annotator.wsgi", "--bind", f"{HOST}:{port}"]
        options = ["--workers", WORKERS, "--threads", THREADS, "--log-level", "warning", "--chdir", ROOT]
        with server([*gunicorn, *options], port=port, folder=Path(folder), env={}) as gunicorn_process:
            yield port, [gunicorn_process, _postgres_process()]


def _postgres_process() -> int:
    """The process that started the one which serves this connection."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    return int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])


def make_pool_of(texts: Sequence[Text], *, overlap: int, name: str = "benchmark") -> Pool:
    """The pairs as a pool; each query has one known relevant document, shown beside."""
    from tests.factories import make_collection, make_pool, make_run

    documents = {text.docid: text.document for text in texts}
    queries = {text.qid: text.query for text in texts}
    known = {(qid, f"known-{qid}"): 1 for qid in queries}
    first = {text.qid: text.document for text in reversed(texts)}
    documents |= {docid: first[qid][::-1] for qid, docid in known}
    collection = make_collection(name, documents=documents, queries=queries, qrels=known)
    ranked: dict[str, list[str]] = {}
    for text in texts:
        ranked.setdefault(text.qid, []).append(text.docid)
    depth = max(map(len, ranked.values()))
    return make_pool(collection, make_run(collection, ranked), name=name, people=overlap, depth=depth)


def make_people(*, people: int, port: int) -> list[Person]:
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import User

    # Hashed once, for hashing takes long on purpose; each person's sign-in still checks it.
    password = make_password(PASSWORD)
    names = [f"annotator{number}" for number in range(people)]
    User.objects.bulk_create(User(username=name, password=password) for name in names)
    return [Person(name, Browser(port)) for name in names]


def check(pool: Pool, people: Sequence[Person], *, overlap: int, is_complete: bool) -> str:
    """Every answer sent is stored once, as it was sent, and no pair has more answers than wanted; complete, all have.

    Raises: AssertionError.
    """
    from django.db.models import Count

    from judging.models import Assignment, Judgment, JudgmentEvent

    pair_of = {(query, document): pk for pk, query, document in pool.pairs.values_list("pk", "query", "document")}
    events = JudgmentEvent.objects.filter(judgment__query__collection=pool.collection)
    rows = events.values_list(
        "judgment__judge__user__username", "judgment__query", "judgment__document", "key", "grade"
    )
    stored = {(name, pair_of[query, document], key): grade for name, query, document, key, grade in rows}
    sent = {(person.name, *what): grade for person in people for what, grade in person.sent.items()}
    assert stored == sent, f"{len(sent)} answers sent, {len(stored)} stored"
    assert events.count() == len(stored), f"{events.count()} events of {len(stored)} answers"
    judgments = Judgment.objects.of(pool.collection).by_people()
    assert judgments.count() == len(stored), f"{judgments.count()} judgments of {len(stored)} answers"
    per_pair = judgments.values("query", "document").annotate(people=Count("judge", distinct=True))
    most = max(row["people"] for row in per_pair)
    assert most <= overlap, f"a pair was judged by {most} people"
    done = Assignment.objects.filter(pair__pool=pool, state="done").count()
    assert done == len(stored), f"{done} slots done by {len(stored)} answers"
    if is_complete:
        assert len(stored) == len(pair_of) * overlap, f"{len(stored)} answers for {len(pair_of)} pairs"
    return (
        f"{len(stored):,} answers sent, each stored once; {len(per_pair):,} pairs, none by more than {overlap} people."
    )


def run(
    texts: Sequence[Text], *, reading: float, reading_for: float, people: int, overlap: int
) -> tuple[Measured, Measured]:
    """Without a pause until all is judged, then for a time with ``reading`` seconds before each answer."""
    with running() as (port, servers):
        persons = make_people(people=people, port=port)
        measured: list[Measured] = []
        # One event loop for both, for it holds the connections of the people's browsers.
        with asyncio.Runner() as loop:
            loop.run(_at_once(person.sign_in() for person in persons))
            for what, pause, longest in (
                ("Unjudged, without a pause", 0.0, LONGEST),
                (f"Unjudged, reading {reading:g} s on average", reading, reading_for),
            ):
                pool = make_pool_of(texts, overlap=overlap, name=f"benchmark-{len(measured)}")
                loop.run(_at_once(person.open(pool) for person in persons))
                measured.append(loop.run(_judge(what, persons, pause, longest, servers)))
                stored = check(pool, persons, overlap=overlap, is_complete=longest == LONGEST)
                print(measured[-1], stored, sep="\n  ", flush=True)
            for person in persons:
                person.browser.close()
    return measured[0], measured[1]


async def _at_once(steps: Iterable[Awaitable[None]]) -> None:
    await asyncio.gather(*steps)


async def _judge(what: str, people: Sequence[Person], pause: float, longest: float, servers: Sequence[int]) -> Measured:
    browsers, work = [person.browser for person in people], [person.work for person in people]
    return await measure(what, browsers=browsers, work=work, pause=pause, servers=servers, longest=longest)
