"""export: the augmented qrels as files, with the source of every grade and a manifest; the same state, the same bytes."""

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
from judging.formats.judgments import write_judgments
from judging.formats.records import JudgmentLine, Qrel
from judging.models import Collection, Judge, Judgment
from judging.steps.merge import Merged, Policy, merge

FORMATS = ("beir", "trec")
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Export:
    folder: Path
    manifest: dict[str, Any]


def export_qrels(
    *, collection: Collection, out: Path, policy: Policy | None = None, formats: Sequence[str] = FORMATS
) -> Export:
    """Write the augmented qrels into a folder; all or nothing.

    The folder holds ``qrels/augmented.tsv`` (BEIR), ``qrels.trec`` (TREC), ``sources.tsv``, ``unresolved.tsv``,
    ``judgments.jsonl`` and ``manifest.json``. A folder that is there is replaced only if it is an earlier export.

    Raises: UserError when the folder holds something else, or an id cannot be written in a format (it is named).
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MANIFEST).exists())):
        raise UserError(f"{out} is there and is not an earlier export: choose another --out, or empty it.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        fresh = Path(scratch) / "export"
        fresh.mkdir(mode=0o755)
        manifest = write_export(collection=collection, folder=fresh, policy=policy or Policy(), formats=formats)
        if out.exists():
            shutil.move(out, Path(scratch) / "earlier")
        shutil.move(fresh, out)
    return Export(out, manifest)


def export_zip(*, collection: Collection, policy: Policy | None = None) -> IO[bytes]:
    """The same files as one zip, in a temporary file that is gone when closed.

    Entries carry no time of their own, so that the same state gives the same bytes. Where an id cannot be written in
    TREC's form, the BEIR files come alone.
    """
    target = tempfile.TemporaryFile()  # noqa: SIM115 (the response that streams it closes it)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_export(collection=collection, folder=folder, policy=policy or Policy(), formats=_writable(collection))
        with zipfile.ZipFile(target, "w") as archive:
            for file in sorted(path for path in folder.rglob("*") if path.is_file()):
                entry = zipfile.ZipInfo(f"{collection.slug}-augmented/{file.relative_to(folder).as_posix()}")
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                with archive.open(entry, "w") as there, file.open("rb") as here:
                    shutil.copyfileobj(here, there)
    target.seek(0)
    return target


def write_export(*, collection: Collection, folder: Path, policy: Policy, formats: Sequence[str]) -> dict[str, Any]:
    """Write every file of an export into an empty folder; the manifest."""
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown or not formats:
        raise UserError(f"--format: expected {' or '.join(FORMATS)}, found {', '.join(unknown) or 'nothing'}.")
    merged = merge(collection=collection, policy=policy)
    qrels = [Qrel(row.query, row.document, row.grade) for row in merged.grades]
    if "beir" in formats:
        (folder / "qrels").mkdir()
        with (folder / "qrels" / "augmented.tsv").open("wb") as stream:
            beir.write_qrels(stream, qrels)
    if "trec" in formats:
        with (folder / "qrels.trec").open("wb") as stream:
            trec.write_qrels(stream, qrels)
    _write_tsv(folder / "sources.tsv", "query-id corpus-id score source", _sources(merged))
    _write_tsv(folder / "unresolved.tsv", "query-id corpus-id grades", _unresolved(merged))
    judges: dict[int, Judge] = {judge.pk: judge for judge in _judges(collection)}
    with (folder / "judgments.jsonl").open("wb") as stream:
        write_judgments(stream, _judgments(collection, judges))
    manifest = _manifest(collection, merged, policy, judges.values(), folder)
    text = json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    (folder / MANIFEST).write_bytes(text.encode())
    return manifest


def _writable(collection: Collection) -> Sequence[str]:
    blank = r"\s"
    has_blank = (
        collection.queries.filter(qid__regex=blank).exists()
        or Judgment.objects.of(collection).filter(document__docid__regex=blank).exists()
    )
    return ("beir",) if has_blank else FORMATS


def _write_tsv(path: Path, header: str, rows: Iterator[tuple[str, ...]]) -> None:
    with path.open("wb") as stream:
        for row in [tuple(header.split()), *rows]:
            stream.write("\t".join(row).encode() + b"\n")


def _sources(merged: Merged) -> Iterator[tuple[str, ...]]:
    for row in merged.grades:
        yield row.query, row.document, str(row.grade), row.source


def _unresolved(merged: Merged) -> Iterator[tuple[str, ...]]:
    for query, document, grades in merged.unresolved:
        yield query, document, ",".join(map(str, grades))


def _judges(collection: Collection) -> list[Judge]:
    return list(Judge.objects.filter(judgments__query__collection=collection).distinct().order_by("kind", "name", "pk"))


def _judgments(collection: Collection, judges: dict[int, Judge]) -> Iterator[JudgmentLine]:
    """What was judged here or brought here; the original qrels are in the qrels file."""
    rows = (
        Judgment.objects.of(collection)
        .exclude(judge__kind=Judge.Kind.QRELS)
        .select_related("query", "document")
        .defer("document__text", "document__title", "document__metadata", "query__text")
    )
    keyed = sorted(rows, key=lambda row: (row.query.qid, row.document.docid, judges[row.judge_id].kind, row.judge_id))
    for row in keyed:
        judge = judges[row.judge_id]
        yield JudgmentLine(
            query=row.query.qid,
            document=row.document.docid,
            outcome=row.outcome,
            grade=row.grade,
            probabilities={int(grade): value for grade, value in (row.probabilities or {}).items()} or None,
            raw=row.raw,
            comment=row.comment,
            seconds=row.seconds,
            assisted=row.assisted,
            judge=judge.name,
            kind=judge.kind,
            fingerprint=judge.fingerprint,
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
        "files": {
            file.relative_to(folder).as_posix(): checksum(file)
            for file in sorted(path for path in folder.rglob("*") if path.is_file())
        },
        "software": {"name": "unjudged", "version": VERSION},
    }
