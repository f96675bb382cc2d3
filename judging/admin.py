"""Django's admin, for looking at rows. What spans rows is done by the steps, so most is read-only here."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from judging import models


class NotByHand(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that a step makes, and that are too much for one request to delete with all that hangs on them."""

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False


class ReadOnly(NotByHand):
    """Rows to look at: a change by hand would break what the steps keep true."""

    show_full_result_count = False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False


@admin.register(models.Collection)
class CollectionAdmin(NotByHand):
    list_display = ("slug", "name", "language", "exclude_self", "created_at")
    readonly_fields = ("slug", "splits", "checksums", "corpus_digest", "created_at")


@admin.register(models.Pool)
class PoolAdmin(NotByHand):
    list_display = ("slug", "collection", "mode", "depth", "people", "status")
    list_filter = ("status", "collection")
    fields = ("name", "guidelines", "show_known", "status")


@admin.register(models.Judge)
class JudgeAdmin(ReadOnly):
    list_display = ("name", "kind", "fingerprint", "collection", "user")
    list_filter = ("kind",)
    search_fields = ("name", "fingerprint")


@admin.register(models.Document)
class DocumentAdmin(ReadOnly):
    list_display = ("docid", "title", "in_corpus", "is_empty")
    list_filter = ("collection", "in_corpus", "is_empty")
    search_fields = ("docid",)
    exclude = ("digest",)


@admin.register(models.Query)
class QueryAdmin(ReadOnly):
    list_display = ("qid", "text", "topic", "in_corpus")
    list_filter = ("collection", "in_corpus")
    search_fields = ("qid", "text")


@admin.register(models.Run)
class RunAdmin(ReadOnly):
    list_display = ("name", "collection", "kind", "parent", "completed_at")
    list_filter = ("kind", "collection")


@admin.register(models.Judgment)
class JudgmentAdmin(ReadOnly):
    list_display = ("judge", "query", "document", "outcome", "grade", "updated_at")
    list_filter = ("outcome", "judge")
    list_select_related = ("judge", "query", "document")
    raw_id_fields = ("judge", "query", "document")


@admin.register(models.Assignment)
class AssignmentAdmin(ReadOnly):
    list_display = ("pair", "slot", "annotator", "state", "leased_until", "answered_at")
    list_filter = ("state", "annotator")
    list_select_related = ("pair", "annotator")
