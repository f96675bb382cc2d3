"""What the commands that load a collection share: how it is to be loaded, and what was found."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from judging.formats.scale import parse_scale
from judging.management.base import StepCommand, count, some
from judging.steps.import_collection import ImportOptions, ImportReport


class ImportCommand(StepCommand):
    def add_import_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", help="name of the collection (default: that of the files)")
        parser.add_argument("--language", help="language of the texts (default: en)")
        parser.add_argument("--scale", metavar="WORDS", help='the grades, as "0=Not relevant, 1=Related, 2=Relevant"')
        parser.add_argument("--relevant-from", type=int, metavar="GRADE", help="lowest grade that counts as relevant")
        parser.add_argument(
            "--exclude-self", action="store_true", help="drop hits whose document id equals the query's id"
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="take over files that have changed; without it, what would change is said",
        )

    def import_options(self, options: dict[str, Any]) -> ImportOptions:
        words = options["scale"]
        return {
            "name": options["name"],
            "language": options["language"],
            "scale": parse_scale(words, options["relevant_from"]) if words else None,
            "relevant_from": options["relevant_from"],
            "exclude_self": options["exclude_self"],
            "replace": options["replace"],
            "meter": self.meter,
        }

    def describe(self, report: ImportReport) -> None:
        collection = report.collection
        for warning in report.warnings:
            self.say(f"warning: {warning}")
        if report.unchanged:
            self.say(f"{collection.slug}: these very files are loaded already; nothing was changed.")
        if report.changes:
            self.say(f"{collection.slug}: replaced; what changed: {report.changes}")
        self.say(
            f"{collection.slug}: {count(report.documents, 'document')}, {count(report.queries, 'query', 'queries')}"
            + (f" ({report.queries_without_qrels:,} without qrels left out)" if report.queries_without_qrels else "")
        )
        for judge, size in report.qrels.items():
            self.say(f"  {judge}: {count(size, 'judgment')}")
        scale = collection.scale
        self.say(
            "  grades: "
            + ", ".join(f"{grade} {scale.word(grade)} × {n:,}" for grade, n in sorted(report.grades.items()))
            + f"; relevant from {scale.relevant_from}"
        )
        if report.empty:
            self.say(f"  {count(report.empty, 'empty document')}, never queued")
        if report.duplicates:
            groups = count(report.duplicate_groups, "group")
            self.say(f"  {report.duplicates:,} documents share their text with another, in {groups}")
        if report.documents_missing:
            missing = report.documents_missing
            self.say(f"  {count(len(missing), 'judged id')} without document: {some(missing)}")
        if report.queries_missing:
            missing = report.queries_missing
            self.say(f"  {count(len(missing), 'judged id')} without query: {some(missing)}")
        if report.self_ids and not collection.exclude_self:
            self.say(
                f"  {count(report.self_ids, 'document id')} equal a query's id; where the queries are documents "
                "of the corpus, import with --exclude-self"
            )
        self.say(f"next: python manage.py index {collection.slug}")
