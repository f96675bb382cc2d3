"""doccano: SQLite and gunicorn with two workers a core and one, as its own command runs it.

doccano neither hands out tasks nor counts an overlap: each person pages through all examples. So everybody begins at
another place and stops after their share, which makes every example judged as often as elsewhere. One answer is three
requests: the page of one example, its category, and the mark that it is done.
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
from tests.benchmarks.annotation.load import Clock, Measured, measure
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

    async def work(self, clock: Clock, task: Task, *, first: int, answers: int) -> None:
        for number in range(answers):
            if clock.is_over:
                return
            since = time.monotonic()
            offset = (first + number) % task.examples
            page = await self.browser.get(f"/v1/projects/{task.project}/examples?limit=1&offset={offset}")
            shown = time.monotonic() - since
            await clock.read()
            since = time.monotonic() - shown
            path = f"/v1/projects/{task.project}/examples/{page.json()['results'][0]['id']}"
            await self.post(f"{path}/categories", {"label": task.categories[number % 2]})
            await self.post(f"{path}/states", {})
            clock.add(since)


@contextmanager
def running(environment: Path) -> Iterator[int]:
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
        with server([*gunicorn, *options], port=port, folder=Path(folder), env=env):
            yield port


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
            "/v1/users/create", {"username": name, "email": f"{name}@example.org", "password1": PASSWORD, "password2": PASSWORD}
        )
        await lead.post(f"{base}/members", {"user": user["id"], "role": roles["annotator"]})
    categories = [
        int(str((await lead.post(f"{base}/category-types", {"text": word, "suffix_key": key}))["id"]))
        for word, key in (("not relevant", "0"), ("relevant", "1"))
    ]
    for text in texts:
        await lead.post(f"{base}/examples", {"text": f"{text.query}\n\n{text.document}", "meta": {}})
    return Task(int(str(project["id"])), categories, len(texts))


def run(environment: Path, texts: Sequence[Text], *, people: int, overlap: int, pause: float) -> Measured:
    with running(environment) as port:
        return asyncio.run(_run(port, texts, people=people, answers=len(texts) * overlap, pause=pause))


async def _run(port: int, texts: Sequence[Text], *, people: int, answers: int, pause: float) -> Measured:
    persons = [Person(f"person{number}", Browser(port)) for number in range(people)]
    task = await _set_up(Person(ADMIN[0], Browser(port)), texts, names=[person.name for person in persons])
    for person in persons:
        await person.sign_in()
    share = answers // people

    def work_of(person: Person, number: int):  # type: ignore[no-untyped-def]
        return lambda clock: person.work(clock, task, first=number * share, answers=share)

    work = [work_of(person, number) for number, person in enumerate(persons)]
    return await measure("doccano", browsers=[person.browser for person in persons], work=work, pause=pause)
