from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from judging.management.base import StepCommand, count, some
from judging.steps import lookup
from judging.steps.duplicates import Group, duplicates


class Command(StepCommand):
    help = (
        "List the groups of documents with one text of which one is judged and another is not, and those whose grades "
        "conflict. Judged is what the original qrels, an adjudication or the people's majority say."
    )
    example = "duplicates nfcorpus --near"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument(
            "--near", type=float, nargs="?", const=settings.NEAR_DUPLICATES, metavar="THRESHOLD",
            help="also texts that differ in a few words: the least share of common runs of three words "
            f"(default: {settings.NEAR_DUPLICATES:g}, by the variable NEAR_DUPLICATES)",
        )  # fmt: skip

    def run(self, **options: Any) -> None:
        collection = lookup.collection(options["collection"])
        near: float | None = options["near"]
        groups = duplicates(collection=collection, near=near, track=self.track)
        what = "one text" if near is None else f"texts that resemble each other by {near:g} or more"
        documents = count(sum(len(group.documents) for group in groups), "document")
        self.say(f"{collection.slug}: {count(len(groups), 'group')} of {what}, {documents}")
        conflicting = [group for group in groups if group.conflicts]
        incomplete = [group for group in groups if group.incomplete]
        for title, found, lines in (
            ("with grades that conflict", conflicting, _conflicts),
            ("of which one is judged and another is not", incomplete, _incomplete),
        ):
            self.say(f"{count(len(found), 'group')} {title}" + (":" if found else ""))
            for group in found:
                self.say(f"  {some(group.documents)}", *lines(group))


def _conflicts(group: Group) -> Iterator[str]:
    for query in group.conflicts:
        yield f"    query {query.query}: " + ", ".join(
            f"{docid} {grade}" for docid, grade in sorted(query.grades.items())
        )


def _incomplete(group: Group) -> Iterator[str]:
    for query in group.incomplete:
        grades = ", ".join(f"{docid} {grade}" for docid, grade in sorted(query.grades.items()))
        yield f"    query {query.query}: {grades}; not judged: {some(query.unjudged)}"
