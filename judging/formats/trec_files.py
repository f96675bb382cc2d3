"""A test collection as TREC publishes it: documents, topics and qrels, each a file of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from judging.errors import UserError
from judging.formats.checksum import checksum
from judging.formats.fields import Warn, shown
from judging.formats.lines import OnError, Progress, plain_name, refuse, size_of
from judging.formats.records import Document, Qrel, Query
from judging.formats.single_file import documents_of, qrels_of, queries_of


class TrecFiles:
    """As ``BeirFolder``, of files that lie anywhere. A split is a qrels file, named as the file without its ending.

    Raises: UserError where two qrels files have one name, so that their judgments could not be told apart.
    """

    def __init__(self, corpus: Path, topics: Path, qrels: Sequence[Path]) -> None:
        self._corpus, self._topics = corpus, topics
        self._splits: dict[str, Path] = {}
        for path in qrels:
            split = _stem(path)
            if split in self._splits:
                problem = f"expected qrels files of different names, found {self._splits[split]} and {path}"
                raise UserError(f"{problem}; rename one of them.")
            self._splits[split] = path

    @property
    def name(self) -> str:
        """The name of the topics' file, which is made for one collection; without dots, which addresses would lose."""
        return _stem(self._topics).replace(".", "-")

    def splits(self) -> list[str]:
        """The names of the qrels files, in the order given."""
        return list(self._splits)

    def label(self, split: str) -> str:
        """What messages call the qrels of a split: the path of their file."""
        return str(self._split(split))

    def documents(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Document]:
        return documents_of(self._corpus, progress=progress, on_error=on_error)

    def queries(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Query]:
        return queries_of(self._topics, progress=progress, on_error=on_error)

    def qrels(
        self, split: str, *, warn: Warn, progress: Progress | None = None, on_error: OnError = refuse
    ) -> Iterator[Qrel]:
        return qrels_of(self._split(split), warn=warn, progress=progress, on_error=on_error)

    def _split(self, split: str) -> Path:
        if split not in self._splits:
            there = ", ".join(self._splits) or "none"
            raise UserError(f"expected the name of a qrels file, found {shown(split)}. Those given: {there}.")
        return self._splits[split]

    def corpus_size(self) -> int:
        """Bytes that ``progress`` hears of while the documents are read."""
        return size_of(self._corpus)

    def checksums(self, splits: Iterable[str]) -> dict[str, str]:
        """SHA-256 of the documents, the topics and these qrels, by what they are and the file's name."""
        files = [("corpus", self._corpus), ("topics", self._topics), *(("qrels", self._split(one)) for one in splits)]
        return {f"{part}/{path.name}": checksum(path) for part, path in files}


def _stem(path: Path) -> str:
    return Path(plain_name(path)).stem
