"""export: the augmented qrels as files, with the source of every grade and a manifest; same state, same bytes."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from judging import VERSION
from judging.errors import UserError
from judging.formats import beir, trec
from judging.formats.checksum import checksum
from judging.formats.fields import is_one_word
from judging.formats.judgments import WRITERS
from judging.formats.records import JudgmentLine, Qrel
from judging.formats.tsv import write_tsv
from judging.models import Collection, Judge, Judgment, Query
from judging.steps.lookup import chunks
from judging.steps.merge import Merged, Policy, merge

FORMATS = ("beir", "trec")
JUDGMENTS = tuple(WRITERS)
MANIFEST = "manifest.json"
SOFTWARE = "unjudged"

# Queries whose judgments are in memory together.
_QUERIES = 20


@dataclass(frozen=True, slots=True)
class Export:
    folder: Path
    manifest: dict[str, Any]


def export_qrels(
    *,
    collection: Collection,
    out: Path,
    policy: Policy | None = None,
    formats: Sequence[str] = FORMATS,
    judgments: Sequence[str] = ("jsonl",),
) -> Export:
    """Write the augmented qrels into a folder; all or nothing.

    The folder holds ``qrels/augmented.tsv`` (BEIR), ``qrels.trec`` (TREC), ``sources.tsv``, ``unresolved.tsv``,
    ``judgments.jsonl`` and ``manifest.json``; ``judgments`` may name ``csv`` and ``parquet`` too, which hold the same.
    A folder that is there is replaced only if it is an earlier export and nothing else lies in it.

    Raises: UserError when the folder holds something else or cannot be written, or when an id cannot be written in a
    format (it is named).
    """
    _refuse_unknown("--format", formats, FORMATS)
    _refuse_unknown("--judgments", judgments, JUDGMENTS)
    target = out.resolve()
    if target.exists() and not _may_be_replaced(target):
        raise UserError(f"{out} holds other things than an earlier export: choose another --out, or empty it.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
            fresh = Path(scratch) / "export"
            fresh.mkdir(mode=0o755)
            manifest = write_export(
                collection=collection,
                folder=fresh,
                policy=policy or Policy(),
                formats=formats,
                judgments=judgments,
            )
            if target.exists():
                target.rename(Path(scratch) / "earlier")
            fresh.rename(target)
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror or error}. Choose another --out.") from None
    return Export(out, manifest)


def _refuse_unknown(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown or not given:
        raise UserError(f"{option}: expected {' or '.join(known)}, found {', '.join(unknown) or 'nothing'}.")


def _may_be_replaced(folder: Path) -> bool:
    """An empty folder, or an export of this software with no other file in it."""
    if not folder.is_dir():
        return False
    found = {file.relative_to(folder).as_posix() for file in _files(folder)}
    if not found:
        return True
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return manifest["software"]["name"] == SOFTWARE and found <= {MANIFEST, *manifest["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def export_zip(*, collection: Collection, policy: Policy | None = None) -> IO[bytes]:
    """The same files as one zip, in a temporary file that is gone when closed.

    Entries carry no time of their own, so that the same state gives the same bytes. Where an id cannot be written in
    TREC's form, the BEIR files come alone.

    Raises: UserError when an id cannot be written in BEIR's form either.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_export(collection=collection, folder=folder, policy=policy or Policy(), formats=None)
        target = tempfile.TemporaryFile()  # noqa: SIM115 (the response that streams it closes it)
        try:
            _zip(folder, f"{collection.slug}-augmented", target)
        except BaseException:
            target.close()
            raise
    target.seek(0)
    return target


def _zip(folder: Path, name: str, target: IO[bytes]) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for file in _files(folder):
            entry = zipfile.ZipInfo(f"{name}/{file.relative_to(folder).as_posix()}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.file_size = file.stat().st_size  # tells whether the entry needs the form for over 2 GiB
            with archive.open(entry, "w") as there, file.open("rb") as here:
                shutil.copyfileobj(here, there)


def write_export(
    *,
    collection: Collection,
    folder: Path,
    policy: Policy,
    formats: Sequence[str] | None,
    judgments: Sequence[str] = ("jsonl",),
) -> dict[str, Any]:
    """Write every file of an export into an empty folder; the manifest. ``formats`` None: those that hold the ids."""
    merged = merge(collection=collection, policy=policy)
    formats = _possible(merged) if formats is None else formats
    qrels = [Qrel(row.query, row.document, row.grade) for row in merged.grades]
    if "beir" in formats:
        (folder / "qrels").mkdir()
        with (folder / "qrels" / "augmented.tsv").open("wb") as stream:
            beir.write_qrels(stream, qrels)
    if "trec" in formats:
        with (folder / "qrels.trec").open("wb") as stream:
            trec.write_qrels(stream, qrels)
    with (folder / "sources.tsv").open("wb") as stream:
        write_tsv(stream, (*beir.QRELS_COLUMNS, "source"), _sources(merged))
    with (folder / "unresolved.tsv").open("wb") as stream:
        write_tsv(stream, (*beir.QRELS_COLUMNS[:2], "grades"), _unresolved(merged))
    judges = _judges(collection)
    for ending in dict.fromkeys(judgments):
        with (folder / f"judgments.{ending}").open("wb") as stream:
            # Asked for anew for each file, for they are too many to be kept.
            WRITERS[ending](stream, _judgments(collection, {judge.pk: judge for judge in judges}))
    manifest = _manifest(collection, merged, policy, judges, folder)
    text = json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    (folder / MANIFEST).write_bytes(text.encode())
    return manifest


def _possible(merged: Merged) -> Sequence[str]:
    has_blank = any(not (is_one_word(row.query) and is_one_word(row.document)) for row in merged.grades)
    return ("beir",) if has_blank else FORMATS


def _sources(merged: Merged) -> Iterator[tuple[object, ...]]:
    for row in merged.grades:
        yield row.query, row.document, row.grade, row.source


def _unresolved(merged: Merged) -> Iterator[tuple[str, ...]]:
    for query, document, grades in merged.unresolved:
        yield query, document, ",".join(map(str, grades))


def _judges(collection: Collection) -> list[Judge]:
    """Whoever judged something of the collection; sorted here, for databases order text in different ways."""
    judges = Judge.objects.filter(pk__in=Judgment.objects.of(collection).values("judge"))
    return sorted(judges, key=_who)


def _who(judge: Judge) -> tuple[str, str, str]:
    return judge.kind, judge.name, judge.fingerprint


_FIELDS = (
    "query",
    "document__docid",
    "judge",
    "outcome",
    "grade",
    "probabilities",
    "raw",
    "comment",
    "seconds",
    "assisted",
    "truncated",
    "created_at",
    "updated_at",
)


def _judgments(collection: Collection, judges: dict[int, Judge]) -> Iterator[JudgmentLine]:
    """What was judged here or brought here, a few queries at a time; the original qrels are in the qrels file."""
    ours = Judgment.objects.of(collection).exclude(judge__kind=Judge.Kind.QRELS)
    queries = Query.objects.filter(pk__in=ours.values("query")).values_list("qid", "pk")
    for chunk in chunks(sorted(queries), _QUERIES):
        qids = {pk: qid for qid, pk in chunk}
        rows = ours.filter(query__in=qids).values_list(*_FIELDS)
        yield from sorted(
            (_line(qids[query], document, judges[judge], *said) for query, document, judge, *said in rows),
            key=lambda line: (line.query, line.document, line.kind, line.judge, line.fingerprint),
        )


def _line(query: str, document: str, judge: Judge, *said: Any) -> JudgmentLine:
    outcome, grade, probabilities, raw, comment, seconds, assisted, truncated, created_at, updated_at = said
    return JudgmentLine(
        query=query,
        document=document,
        outcome=outcome,
        grade=grade,
        probabilities={int(grade): value for grade, value in (probabilities or {}).items()} or None,
        raw=raw,
        comment=comment,
        seconds=seconds,
        assisted=assisted,
        judge=judge.name,
        kind=judge.kind,
        fingerprint=judge.fingerprint,
        truncated=truncated,
        created_at=created_at,
        updated_at=updated_at,
    )


def _manifest(
    collection: Collection, merged: Merged, policy: Policy, judges: Iterable[Judge], folder: Path
) -> dict[str, Any]:
    return {
        "collection": {
            "name": collection.slug,
            "scale": collection.scale.as_json(),
            "splits": collection.splits,
            "inputs": collection.checksums,
        },
        "policy": policy.as_json(),
        "counts": {
            source: {str(grade): count for grade, count in sorted(grades.items())}
            for source, grades in merged.counts.items()
        },
        "judgments": len(merged.grades),
        "unresolved": len(merged.unresolved),
        "judges": [
            {"kind": j.kind, "name": j.name, "fingerprint": j.fingerprint, "configuration": j.configuration}
            for j in judges
        ],
        "files": {file.relative_to(folder).as_posix(): checksum(file) for file in _files(folder)},
        "software": {"name": SOFTWARE, "version": VERSION},
    }
