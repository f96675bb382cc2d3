"""Label Studio: SQLite and the server that ``label-studio start`` runs.

It hands out tasks with a lock each and an overlap, as we do. One answer is two requests: the next task, the annotation.
Its usage statistics, error reports and the look for a newer version are off: nothing leaves this machine.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.annotation.client import HOST, Browser, UnexpectedAnswerError
from tests.benchmarks.annotation.load import Clock, Measured, Work, measure
from tests.benchmarks.annotation.servers import server
from tests.benchmarks.annotation.texts import Text
from tests.services import free_port

PASSWORD = "a password of people 1"
CONFIG = """<View><Header value="$query"/><Text name="document" value="$document"/>
<Choices name="relevance" toName="document" choice="single"><Choice value="0"/><Choice value="1"/></Choices></View>"""

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass(slots=True)
class Person:
    name: str
    browser: Browser

    async def sign_up(self) -> None:
        """Make the account, which signs in as well; the first one makes the organization that the others join."""
        form = await self.browser.get("/user/signup/")
        token = _TOKEN.search(form.text)
        if token is None:
            raise UnexpectedAnswerError(f"No sign-up form: {form.text[:500]}")
        fields = {"csrfmiddlewaretoken": token[1], "email": f"{self.name}@example.org", "password": PASSWORD}
        answer = await self.browser.post_form("/user/signup/", {**fields, "how_find_us": ""})
        if answer.status != 302:
            raise UnexpectedAnswerError(f"{self.name} could not sign up: {answer.text[:500]}")

    async def post(self, path: str, value: object) -> dict[str, Any]:
        token = {"X-CSRFToken": self.browser.cookies.get("csrftoken", "")}
        return dict((await self.browser.post_json(path, value, headers=token)).json())

    async def work(self, clock: Clock, project: int) -> None:
        number = 0
        while not clock.is_over:
            since = time.monotonic()
            task = await self.browser.get(f"/api/projects/{project}/next")
            shown = time.monotonic() - since
            if task.status == 404:
                return
            await clock.read()
            since = time.monotonic() - shown
            choice = {"from_name": "relevance", "to_name": "document", "type": "choices"}
            result = [{**choice, "value": {"choices": [str(number % 2)]}}]
            await self.post(f"/api/tasks/{task.json()['id']}/annotations/", {"result": result, "lead_time": 1.5})
            number += 1
            clock.add(since)


@contextmanager
def running(environment: Path) -> Iterator[tuple[int, int]]:
    """The port, and the server's process."""
    with tempfile.TemporaryDirectory(prefix="label-studio-benchmark-") as folder:
        port = free_port()
        command = [environment / "bin" / "label-studio", "start", "--no-browser", "--data-dir", folder]
        address = ["--internal-host", HOST, "--port", port]
        quiet = {
            "COLLECT_ANALYTICS": "false",
            "LATEST_VERSION_CHECK": "false",
            "SENTRY_DSN": "",
            "FRONTEND_SENTRY_DSN": "",
        }
        with server([*command, *address], port=port, folder=Path(folder), env=quiet) as process:
            yield port, process


async def _set_up(lead: Person, texts: Sequence[Text], *, overlap: int) -> int:
    project = await lead.post(
        "/api/projects/", {"title": "benchmark", "label_config": CONFIG, "maximum_annotations": overlap}
    )
    tasks = [{"data": {"query": text.query, "document": text.document}} for text in texts]
    for start in range(0, len(tasks), 500):
        await lead.post(f"/api/projects/{project['id']}/import", tasks[start : start + 500])
    return int(project["id"])


def run(environment: Path, texts: Sequence[Text], *, people: int, overlap: int) -> Measured:
    with running(environment) as (port, process):
        return asyncio.run(_run(port, process, texts, people=people, overlap=overlap))


async def _run(port: int, process: int, texts: Sequence[Text], *, people: int, overlap: int) -> Measured:
    persons = [Person(f"person{number}", Browser(port)) for number in range(people)]
    for person in persons:
        await person.sign_up()
    project = await _set_up(persons[0], texts, overlap=overlap)
    work = [_work_of(person, project) for person in persons]
    return await measure("Label Studio", browsers=[person.browser for person in persons], work=work, servers=[process])


def _work_of(person: Person, project: int) -> Work:
    return lambda clock: person.work(clock, project)
