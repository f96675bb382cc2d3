"""The holes to be judged, and who has which of them in hand."""

from __future__ import annotations

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from judging.models.collection import Collection, Document, Query
from judging.models.judge import Judge
from judging.models.lease import Leased
from judging.models.run import Run


def may_judge(annotator: Judge | int, *, pool: str = "pk") -> Q:
    """Whether the person may judge in the pool that ``pool`` leads to from the rows that are filtered."""
    members = Pool.annotators.through.objects.filter(pool=OuterRef(pool))
    return ~Exists(members) | Exists(members.filter(judge=annotator))


class PoolQuerySet(models.QuerySet["Pool"]):
    def open_to(self, annotator: Judge | int) -> PoolQuerySet:
        """Pools in which this person may judge: those without people of their own are everybody's."""
        return self.filter(may_judge(annotator))


class Pool(models.Model):
    """A set of holes: of which runs, how deep, for which queries, and how many people a pair."""

    class Mode(models.TextChoices):
        FIRST_UNJUDGED = "first-unjudged", _("the first k unjudged documents of each ranking")
        HOLES = "holes", _("the unjudged documents among the first k")

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    slug = models.SlugField(_("short name"), max_length=100, unique=True)
    name = models.CharField(_("name"), max_length=200)
    collection = models.ForeignKey(Collection, models.CASCADE, related_name="pools")
    runs = models.ManyToManyField(Run, related_name="pools")
    mode = models.CharField(_("mode"), max_length=16, choices=Mode, default=Mode.FIRST_UNJUDGED)
    depth = models.PositiveIntegerField(_("depth"))
    people = models.PositiveSmallIntegerField(_("people per pair"), default=1)
    seed = models.BigIntegerField(_("seed"), default=0)
    queries_sampled = models.PositiveIntegerField(_("queries sampled"))
    queries_available = models.PositiveIntegerField(_("queries available"))
    left_out = models.JSONField(
        _("left out"), default=dict, help_text=_("Why documents were not queued, and how many for each reason.")
    )
    guidelines = models.TextField(_("guidelines"), blank=True, help_text=_("Markdown, shown to annotators."))
    show_known = models.BooleanField(
        _("show the known relevant document"), default=True, help_text=_("Annotators may open it as a reference.")
    )
    reveal = models.BooleanField(
        _("reveal LLM labels afterwards"),
        default=False,
        help_text=_("After an answer the person sees what LLMs said; what they change then is marked as assisted."),
    )
    probe_share = models.FloatField(
        _("share asked again"),
        default=0.0,
        help_text=_("The share of their own answers, 0 to 1, that each person is asked again later."),
    )
    annotators = models.ManyToManyField(
        Judge, related_name="pools", blank=True,
        help_text=_("Who may judge; without anybody here, everybody with an account."),
    )  # fmt: skip
    status = models.CharField(_("status"), max_length=8, choices=Status, default=Status.OPEN)
    created_at = models.DateTimeField(_("created at"), db_default=Now())

    objects = PoolQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name = _("pool")
        constraints = [
            models.CheckConstraint(condition=Q(depth__gte=1), name="pool_depth_from_1"),
            models.CheckConstraint(condition=Q(people__gte=1), name="pool_people_from_1"),
            models.CheckConstraint(condition=Q(probe_share__gte=0, probe_share__lte=1), name="pool_probe_share"),
            # Whoever was shown a label cannot be asked again without it.
            models.CheckConstraint(condition=Q(reveal=False) | Q(probe_share=0), name="pool_reveals_or_probes"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("pool", args=[self.slug])

    @property
    def is_open(self) -> bool:
        return self.status == self.Status.OPEN


class PairQuerySet(models.QuerySet["Pair"]):
    def readable(self) -> PairQuerySet:
        """The pairs whose query and document are in the corpus still: a replaced collection may lack one."""
        return self.filter(document__in_corpus=True, query__in_corpus=True)


class Pair(models.Model):
    """One (query, document) of a pool. Pairs are served by ``query_position``, then ``best_rank``."""

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="pairs", db_index=False)
    query = models.ForeignKey(Query, models.CASCADE, related_name="pairs")
    document = models.ForeignKey(Document, models.CASCADE, related_name="pairs")
    runs = models.ManyToManyField(Run, related_name="pairs", help_text=_("The pool's runs that found it."))
    query_position = models.PositiveIntegerField()
    best_rank = models.PositiveIntegerField()
    stratum = models.CharField(max_length=40, blank=True)
    inclusion_probability = models.FloatField(default=1.0)

    objects = PairQuerySet.as_manager()

    class Meta:
        ordering = ["query_position", "best_rank", "pk"]
        verbose_name = _("pair")
        constraints = [
            models.UniqueConstraint(fields=["pool", "query", "document"], name="pair_once"),
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1), name="pair_probability"
            ),
        ]
        # Serves the order in which pairs are handed out.
        indexes = [models.Index(fields=["pool", "query_position", "best_rank"], name="pair_order")]

    def __str__(self) -> str:
        return f"{self.query_id} {self.document_id}"


class Assignment(Leased):
    """One slot of a pair for one person.

    As many slots as people are wanted exist, and no person holds two slots of a pair: so the overlap can neither be
    exceeded nor filled by one person twice.
    """

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="assignments", db_index=False)
    slot = models.PositiveSmallIntegerField()
    annotator = models.ForeignKey(
        Judge, models.CASCADE, null=True, blank=True, related_name="assignments", db_index=False
    )
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("assignment")
        constraints = [
            models.UniqueConstraint(fields=["pair", "slot"], name="assignment_slot_once"),
            models.UniqueConstraint(fields=["pair", "annotator"], name="assignment_annotator_once"),
            models.CheckConstraint(
                condition=Q(state="free", annotator__isnull=True, leased_until__isnull=True, answered_at__isnull=True)
                | Q(state="leased", annotator__isnull=False, leased_until__isnull=False, answered_at__isnull=True)
                | Q(state="done", annotator__isnull=False, leased_until__isnull=True, answered_at__isnull=False),
                name="assignment_state",
            ),
        ]
        # What a person answered last is found without looking through all that they answered.
        indexes = [models.Index(fields=["annotator", "-answered_at", "-id"], name="assignment_latest")]

    def __str__(self) -> str:
        return f"{self.pair_id}/{self.slot}: {self.state}"


class Skip(models.Model):
    """A person put this pair off; it comes again to them when nothing else is left."""

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="skips", db_index=False)
    annotator = models.ForeignKey(Judge, models.CASCADE, related_name="skips")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("skip")
        constraints = [models.UniqueConstraint(fields=["pair", "annotator"], name="skip_once")]

    def __str__(self) -> str:
        return f"{self.pair_id} by {self.annotator_id}"
