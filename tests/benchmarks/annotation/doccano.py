"""doccano: SQLite and gunicorn with two workers a core and one, as its own command runs it.

doccano neither hands out tasks nor counts an overlap: each person pages through all examples. So everybody begins at
another place and stops after their share, which makes every example judged as often as elsewhere.

One answer takes three requests at least: the example, its category, and the mark that it is done. doccano's own page
sends four more: the categories before and after, the example again, and the progress. Both are measured.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.annotation.client import HOST, Browser
from tests.benchmarks.annotation.load import Clock, Measured, Work, measure
from tests.benchmarks.annotation.servers import server
from tests.benchmarks.annotation.texts import Text
from tests.services import free_port

ADMIN = ("admin", "a password of the lead 1")
PASSWORD = "a password of people 1"


@dataclass(frozen=True, slots=True)
class Task:
    """What everybody works on: a project, its two categories, and how many examples it has."""

    project: int
    categories: Sequence[int]
    examples: int


@dataclass(slots=True)
class Person:
    name: str
    browser: Browser

    async def sign_in(self, password: str = PASSWORD) -> None:
        await self.browser.post_json("/v1/auth/login/", {"username": self.name, "password": password})

    async def post(self, path: str, value: object) -> dict[str, object]:
        token = {"X-CSRFToken": self.browser.cookies.get("csrftoken", "")}
        return dict((await self.browser.post_json(path, value, headers=token)).json())

    async def work(self, clock: Clock, task: Task, *, first: int, answers: int, as_page: bool) -> None:
        for number in range(answers):
            if clock.is_over:
                return
            since = time.monotonic()
            base = f"/v1/projects/{task.project}"
            page = await self.browser.get(f"{base}/examples?limit=1&offset={(first + number) % task.examples}")
            example = f"{base}/examples/{page.json()['results'][0]['id']}"
            looks = [f"{example}/categories"] if as_page else []
            await self._look(looks)
            shown = time.monotonic() - since
            await clock.read()
            since = time.monotonic() - shown
            await self.post(f"{example}/categories", {"label": task.categories[number % 2]})
            await self._look(looks)
            await self.post(f"{example}/states", {})
            await self._look([example, f"{base}/metrics/progress"] if as_page else [])
            clock.add(since)

    async def _look(self, paths: Sequence[str]) -> None:
        for path in paths:
            await self.browser.get(path)


@contextmanager
def running(environment: Path) -> Iterator[tuple[int, int]]:
    """The port, and the server's process."""
    with tempfile.TemporaryDirectory(prefix="doccano-benchmark-") as folder:
        backend = next(environment.glob("lib/python*/site-packages/backend"))
        env = {
            "DOCCANO_HOME": folder,
            "STANDALONE": "True",
            "DJANGO_SETTINGS_MODULE": "config.settings.production",
            "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
            "MEDIA_ROOT": f"{folder}/media",
        }
        for command in (["init"], ["createuser", "--username", ADMIN[0], "--password", ADMIN[1]]):
            subprocess.run(
                [environment / "bin" / "doccano", *command], env={**os.environ, **env}, check=True, capture_output=True
            )
        port = free_port()
        # What `doccano webserver` starts, on this machine's own address alone, which the command cannot be told.
        workers = 2 * (os.cpu_count() or 1) + 1
        gunicorn = [environment / "bin" / "gunicorn", "config.wsgi", "--bind", f"{HOST}:{port}"]
        options = ["--workers", workers, "--chdir", backend, "--log-level", "info"]
        with server([*gunicorn, *options], port=port, folder=Path(folder), env=env) as process:
            yield port, process


async def _set_up(lead: Person, texts: Sequence[Text], *, names: Sequence[str]) -> Task:
    await lead.sign_in(ADMIN[1])
    project = await lead.post(
        "/v1/projects",
        {
            "name": "benchmark",
            "description": "relevance",
            "project_type": "DocumentClassification",
            "resourcetype": "TextClassificationProject",
            "single_class_classification": True,
            "tags": [],
        },
    )
    base = f"/v1/projects/{project['id']}"
    roles = {role["name"]: role["id"] for role in (await lead.browser.get("/v1/roles")).json()}
    for name in names:
        user = await lead.post(
            "/v1/users/create",
            {"username": name, "email": f"{name}@example.org", "password1": PASSWORD, "password2": PASSWORD},
        )
        await lead.post(f"{base}/members", {"user": user["id"], "role": roles["annotator"]})
    categories = [
        int(str((await lead.post(f"{base}/category-types", {"text": word, "suffix_key": key}))["id"]))
        for word, key in (("not relevant", "0"), ("relevant", "1"))
    ]
    for text in texts:
        await lead.post(f"{base}/examples", {"text": f"{text.query}\n\n{text.document}", "meta": {}})
    return Task(int(str(project["id"])), categories, len(texts))


def run(environment: Path, texts: Sequence[Text], *, people: int, overlap: int, as_page: bool) -> Measured:
    with running(environment) as (port, process):
        return asyncio.run(_run(port, process, texts, people=people, answers=len(texts) * overlap, as_page=as_page))


async def _run(port: int, process: int, texts: Sequence[Text], *, people: int, answers: int, as_page: bool) -> Measured:
    persons = [Person(f"person{number}", Browser(port)) for number in range(people)]
    task = await _set_up(Person(ADMIN[0], Browser(port)), texts, names=[person.name for person in persons])
    for person in persons:
        await person.sign_in()
    share = answers // people

    def work_of(person: Person, number: int) -> Work:
        return lambda clock: person.work(clock, task, first=number * share, answers=share, as_page=as_page)

    work = [work_of(person, number) for number, person in enumerate(persons)]
    return await measure(
        "doccano, as its page does" if as_page else "doccano, the fewest requests",
        browsers=[person.browser for person in persons],
        work=work,
        servers=[process],
    )
