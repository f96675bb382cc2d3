"""The door for notebooks: judgments, hits and pairs as pandas data frames.

    from judging.frames import agreement, hits, judgments, pairs
    judgments(collection="llmjudge").pivot(index=["query", "document"], columns="judge", values="grade")

Run it where ``manage.py`` lies, or with that folder on the path; Django is set up on the way.
"""

from __future__ import annotations

import os

import django
from django.apps import apps

if not apps.ready:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
    # A notebook has an event loop of its own, beside which Django would refuse to ask the database.
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    django.setup()

from judging.steps.agree import agreement
from judging.steps.frames import coefficients, hits, judgments, pairs

__all__ = ["agreement", "coefficients", "hits", "judgments", "pairs"]
