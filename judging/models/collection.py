"""What is searched: collections with their documents and queries."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from judging.formats.scale import Scale


class Collection(models.Model):
    """A test collection: documents, queries, original qrels and the scale of their grades."""

    slug = models.SlugField(_("short name"), max_length=80, unique=True)
    name = models.CharField(_("name"), max_length=200)
    language = models.CharField(_("language"), max_length=16, default="en")
    scale_json = models.JSONField(_("scale"))
    exclude_self = models.BooleanField(
        _("exclude self"), default=False, help_text=_("Drop hits whose document id equals the query's id.")
    )
    splits = models.JSONField(_("splits"), default=list, help_text=_("The qrels files that were imported."))
    checksums = models.JSONField(_("checksums"), default=dict, help_text=_("SHA-256 of each imported file."))
    corpus_digest = models.CharField(
        _("corpus digest"), max_length=64, help_text=_("SHA-256 over ids and texts; says which corpus an index is of.")
    )
    created_at = models.DateTimeField(_("created at"), db_default=Now())

    class Meta:
        ordering = ["slug"]
        verbose_name = _("collection")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("collection", args=[self.slug])

    @property
    def scale(self) -> Scale:
        return Scale.from_json(self.scale_json)


class DocumentQuerySet(models.QuerySet["Document"]):
    def duplicated(self, collection: Collection) -> DocumentQuerySet:
        """Documents with a text that another document of the collection has too."""
        own = self.filter(collection=collection, in_corpus=True, is_empty=False)
        return own.filter(
            digest__in=own.values("digest").annotate(size=models.Count("pk")).filter(size__gt=1).values("digest")
        )


class Document(models.Model):
    """A document; one that only qrels or runs name has ``in_corpus`` false, no text, and is never served."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="documents", db_index=False)
    docid = models.CharField(max_length=512)
    title = models.TextField(blank=True)
    text = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    digest = models.BinaryField(max_length=16, help_text="Of the normalised text; equal for exact duplicates.")
    is_empty = models.BooleanField(default=False)
    in_corpus = models.BooleanField(default=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        constraints = [models.UniqueConstraint(fields=["collection", "docid"], name="document_id_once")]
        # Serves the search for exact duplicates of a judged or queued document.
        indexes = [models.Index(fields=["collection", "digest"], name="document_digest")]

    def __str__(self) -> str:
        return self.docid


class Query(models.Model):
    """A query; one that only qrels or runs name has ``in_corpus`` false and no text."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="queries", db_index=False)
    qid = models.CharField(max_length=512)
    text = models.TextField(blank=True)
    narrative = models.TextField(blank=True)
    topic = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    in_corpus = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("query")
        verbose_name_plural = _("queries")
        constraints = [models.UniqueConstraint(fields=["collection", "qid"], name="query_id_once")]

    def __str__(self) -> str:
        return self.text or self.qid
