from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from judging.formats.scale import parse_scale
from judging.management.base import StepCommand, count, some
from judging.steps.import_collection import ImportReport, import_beir


class Command(StepCommand):
    help = (
        "Load a collection from a BEIR folder or zip: corpus.jsonl, queries.jsonl, qrels/<split>.tsv; "
        "plain, .gz or .zst. All or nothing: a bad line is named and nothing is kept."
    )
    example = "import_beir datasets/nfcorpus.zip --split test"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="DIR_OR_ZIP")
        parser.add_argument("--name", help="name of the collection (default: that of the folder)")
        parser.add_argument(
            "--split", action="append", default=[], metavar="SPLIT",
            help="qrels file to take, may be given several times (default: test, else all there are)",
        )  # fmt: skip
        parser.add_argument("--language", help="language of the texts (default: en)")
        parser.add_argument("--scale", metavar="WORDS", help='the grades, as "0=Not relevant, 1=Related, 2=Relevant"')
        parser.add_argument("--relevant-from", type=int, metavar="GRADE", help="lowest grade that counts as relevant")
        parser.add_argument(
            "--exclude-self", action="store_true", help="drop hits whose document id equals the query's id"
        )
        parser.add_argument("--replace", action="store_true", help="take over files that have changed")

    def run(self, **options: Any) -> None:
        words = options["scale"]
        report = import_beir(
            path=options["path"],
            name=options["name"],
            splits=options["split"],
            language=options["language"],
            scale=parse_scale(words, options["relevant_from"]) if words else None,
            relevant_from=options["relevant_from"],
            exclude_self=options["exclude_self"],
            replace=options["replace"],
            track=self.track,
        )
        self._describe(report)

    def _describe(self, report: ImportReport) -> None:
        collection = report.collection
        for warning in report.warnings:
            self.say(f"warning: {warning}")
        if report.unchanged:
            self.say(f"{collection.slug}: these very files are loaded already; nothing was changed.")
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
