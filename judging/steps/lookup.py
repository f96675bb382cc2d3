"""Finding rows by the names that people use; a name that is not there is answered with those that are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import BigIntegerField
from django.utils.text import slugify

from judging.errors import UserError
from judging.models import Collection, Document, Judge, Pair, Pool, Query, Run
from judging.models.compiled import Compiled
from judging.models.pool import may_judge

T = TypeVar("T")

LONGEST_ID = 512
LONGEST_NAME = 200

# Below the smallest limit on parameters of one statement (SQLite: 32,766).
_CHUNK = 5_000


def chunks(items: Iterable[T], size: int = _CHUNK) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def refuse_long_id(identifier: str) -> None:
    if len(identifier) > LONGEST_ID:
        raise UserError(
            f"An id may have {LONGEST_ID} characters; found one of {len(identifier):,} that begins {identifier[:40]!r}."
        )


def refuse_long_name(name: str, *, longest: int = LONGEST_NAME) -> None:
    if len(name) > longest:
        raise UserError(
            f"A name may have {longest} characters here; found {len(name):,} in {name[:40]!r}…: give a shorter one."
        )


def short_name(name: str, *, longest: int) -> str:
    """What a collection or a pool is called in commands and addresses.

    Raises: UserError for a name without a letter or digit of ASCII, and for one that is too long.
    """
    slug = slugify(name)
    if not slug:
        raise UserError(f"No short name can be made of {name!r}: give one of letters a to z and digits with --name.")
    refuse_long_name(max(name, slug, key=len), longest=longest)
    return slug


def _unknown(what: str, name: str, known: Iterable[str], otherwise: str) -> UserError:
    names = sorted(known)
    hint = f"There are: {', '.join(names)}." if names else otherwise
    return UserError(f"There is no {what} {name!r}. {hint}")


def collection(name: str) -> Collection:
    if found := Collection.objects.filter(slug=name).first():
        return found
    raise _unknown(
        "collection",
        name,
        Collection.objects.values_list("slug", flat=True),
        "None is loaded yet: python manage.py import_beir DIR_OR_ZIP",
    )


def run(of: Collection, name: str) -> Run:
    """A complete run of a collection."""
    found = of.runs.filter(name=name).first()
    if found is None:
        raise _unknown(
            f"run of {of.slug}",
            name,
            of.runs.complete().values_list("name", flat=True),
            f"None is there yet: python manage.py retrieve {of.slug}",
        )
    if found.completed_at is None:
        raise UserError(f"The run {name!r} of {of.slug} was interrupted: give the command that makes it once more.")
    return found


def pool(slug: str) -> Pool:
    if found := Pool.objects.select_related("collection").filter(slug=slug).first():
        return found
    raise _unknown(
        "pool",
        slug,
        Pool.objects.values_list("slug", flat=True),
        "None is open yet: python manage.py open_pool COLLECTION --run RUN",
    )


def llm_judge(name: str) -> Judge:
    """An LLM judge by its name, by ``name · fingerprint`` or by the start of its fingerprint."""
    judges = Judge.objects.filter(kind=Judge.Kind.LLM)
    found = [j for j in judges if name in {j.name, j.label} or j.has_fingerprint(name)]
    if len(found) == 1:
        return found[0]
    if found:
        labels = ", ".join(j.label for j in found)
        raise UserError(f"Several LLM judges are called {name!r}: {labels}. Name one by its fingerprint.")
    raise _unknown(
        "LLM judge", name, [j.label for j in judges], "None has judged yet: python manage.py prefill_llm POOL"
    )


@transaction.atomic
def person_judge(*, name: str) -> Judge:
    """The judge of a person known by name, tied to the account of that name where there is one."""
    user = User.objects.filter(username=name).first()
    if user:
        return judge_of(user)
    return Judge.objects.get_or_create(kind=Judge.Kind.PERSON, name=name, fingerprint="")[0]


def judge_of(user: User) -> Judge:
    """The judge that an account is; labels imported under its name before it existed are its own."""
    found: Judge | None = getattr(user, "judge", None)
    if found:
        return found
    judge, _ = _named_person(user.username, user)
    if judge.user_id is None:
        judge.user = user
        judge.save(update_fields=["user"])
    elif judge.user_id != user.pk:
        # The name belonged to an account that is called otherwise now; its judgments stay its own.
        judge, _ = _named_person(f"{user.username} #{user.pk}", user)
    return judge


def account(user: int) -> User | None:
    """An account with the judge that it is, if it is one yet."""
    return _account.first(user=user)


_account = Compiled(lambda user: User.objects.select_related("judge").filter(pk=user))


def _named_person(name: str, user: User) -> tuple[Judge, bool]:
    return Judge.objects.get_or_create(kind=Judge.Kind.PERSON, name=name, fingerprint="", defaults={"user": user})


def pair_to_judge(pk: int, annotator: Judge) -> Pair | None:
    """A pair with its pool and collection, if there is one and the person may judge in its pool."""
    return _pair_to_judge.first(pair=pk, annotator=annotator.pk) if pk <= BigIntegerField.MAX_BIGINT else None


_pair_to_judge = Compiled(
    lambda pair, annotator: (
        Pair.objects.filter(may_judge(annotator, pool="pool"), pk=pair).select_related("pool__collection").order_by()
    )
)


def document_keys(of: Collection, docids: Iterable[str]) -> dict[str, int]:
    """Primary keys of those of the documents that the collection has."""
    keys: dict[str, int] = {}
    for chunk in chunks(set(docids)):
        keys.update(Document.objects.filter(collection=of, docid__in=chunk).values_list("docid", "pk"))
    return keys


def query_keys(of: Collection) -> dict[str, int]:
    return dict(Query.objects.filter(collection=of).values_list("qid", "pk"))
