"""A web worker stays small: no page, no answer and no export loads torch, transformers or a search cluster's client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Runs in a process of its own, with a database of its own, under the settings that gunicorn uses.
WORKER = """
import json, re, sys
from annotator.wsgi import application
from django.core.management import call_command

call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)

from django.test import Client
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

collection = make_collection("cran", documents=["d1", "d2", "known"], qrels={("q1", "known"): 1})
make_pool(collection, make_run(collection, {"q1": ["d1", "known", "d2"]}), name="cran")
make_person("lea", is_staff=True)
make_judgment(make_llm(), collection, "q1", "d1", 1)

browser = Client(SERVER_NAME="localhost")
statuses = [browser.post("/login/", {"username": "lea", "password": "secret"}).status_code]
statuses.append(browser.post("/pools/cran/llms/", {"model": "microsoft/Phi-3-mini-4k-instruct"}).status_code)
page = browser.get("/pools/cran/judge/")
(action,) = re.findall(r'<form method="post"\\s+action="(/pools/cran/judge/[0-9]+/)"', page.content.decode())
statuses += [page.status_code, browser.post(action, {"answer": "1"}, headers={"HX-Request": "true"}).status_code]
for url in ("/", "/pools/cran/mine/", "/collections/", "/collections/cran/", "/pools/cran/", "/pools/cran/agreement/",
            "/pools/cran/preview/", "/prompts/", "/prompts/stepwise/", "/collections/cran/judges/compare/",
            "/collections/cran/evaluation/", "/collections/cran/export/", "/collections/cran/export/download/",
            "/admin/"):
    response = browser.get(url)
    b"".join(response)
    statuses.append(response.status_code)

heavy = ("torch", "transformers", "tokenizers", "elasticsearch", "gguf", "pandas")
print(json.dumps({"statuses": statuses, "loaded": [name for name in heavy if name in sys.modules]}))
"""


def test_a_web_worker_loads_no_model_library_and_no_search_client(tmp_path):
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "annotator.settings", "VAR_DIR": str(tmp_path)}
    environment |= {"DATABASE_URL": f"sqlite:///{tmp_path}/web.sqlite3", "ALLOWED_HOSTS": "localhost"}
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", WORKER],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["statuses"] == [302, 303] + [200] * 16
    assert answer["loaded"] == []
