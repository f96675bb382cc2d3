import csv
import json
import math
from argparse import ArgumentParser
from typing import Any

from judging.errors import UserError
from judging.management.base import StepCommand, between, count, number
from judging.measures.agreement import Ceiling, Comparison
from judging.measures.intervals import Estimate
from judging.models import Collection, Pool
from judging.steps import lookup
from judging.steps.agree import Agreement, LlmAgreement, agreement_of, sheet_of
from judging.steps.agree import between as compared_between
from judging.steps.agreement import tables
from judging.steps.agreement.compare import CROSS_FITTED
from judging.steps.agreement.estimate import estimates, purchases
from judging.steps.frames import coefficients

ROWS = {
    "raw_agreement": "raw agreement",
    "cohen_kappa": "Cohen's kappa",
    "quadratic_kappa": "quadratic kappa",
    "krippendorff_alpha": "Krippendorff's alpha, ordinal",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2, quadratic",
    "bias": "mean grade difference, LLM − people",
}

# On two grades these say the same as their plain forms.
_GRADED_ONLY = frozenset({"quadratic_kappa", "gwet_ac2"})

# Labels that a lead may still want to ask for.
_MORE_LABELS = 50


class Command(StepCommand):
    help = (
        "Tell how people and LLMs agree on the pairs of a pool or of a whole collection, and how many of a pool's "
        "unjudged documents are relevant. Intervals resample whole queries."
    )
    example = "agreement nfcorpus-holes"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("of", metavar="pool_or_collection")
        parser.add_argument(
            "--collection", action="store_true", help="where a pool and a collection share the name, take the latter"
        )
        parser.add_argument(
            "--reference", choices=["people", "qrels"],
            help="what LLMs are held against (default: people; for a collection that no person has judged, the qrels)",
        )  # fmt: skip
        parser.add_argument(
            "--between", nargs=2, metavar="JUDGE",
            help="compare these two only: names of judges, or people, or qrels",
        )  # fmt: skip
        parser.add_argument(
            "--clip", action="store_true",
            help="take grades outside the scale as its nearest end; without, they are left out and counted",
        )  # fmt: skip
        form = parser.add_mutually_exclusive_group()
        for name, what in (
            ("json", "everything, as JSON"),
            ("csv", "every coefficient with its interval, one a line"),
            ("markdown", "the table of judges, in Markdown"),
            ("latex", "the table of judges, for LaTeX with booktabs"),
        ):
            form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=what)

    def run(self, **options: Any) -> None:
        of = _pool_or_collection(options["of"], prefer_collection=options["collection"])
        sheet = sheet_of(
            pool=of if isinstance(of, Pool) else None,
            collection=of if isinstance(of, Collection) else None,
            reference=options["reference"],
            clip=options["clip"],
        )
        if options["between"]:
            first, second = options["between"]
            self._two(first, compared_between(sheet, first, second), options["form"])
            return
        result = agreement_of(sheet)
        if options["form"]:
            self._write(result, options["form"])
        elif result.found:
            self._pool(result)
        else:
            self._table(result)

    def _write(self, result: Agreement, form: str) -> None:
        match form:
            case "json":
                self.say(json.dumps(tables.as_json(result), ensure_ascii=False, indent=2))
            case "csv":
                frame = coefficients(result)
                writer = csv.writer(self.stdout, lineterminator="\n")
                writer.writerow(frame.columns)
                writer.writerows([_blank(value) for value in row] for row in frame.itertuples(index=False))
            case "markdown":
                self.say(tables.markdown(result))
            case _:
                self.say(tables.latex(result))

    def _table(self, result: Agreement) -> None:
        if not result.llms:
            raise UserError(
                f"No LLM has judged pairs of {result.collection.slug}: python manage.py import_judgments "
                f"{result.collection.slug} FILE --judge NAME --kind llm"
            )
        self.say(tables.caption(result), "* is the collection's own threshold.", "")
        self.table(*tables.table(result))

    def _two(self, first: str, compared: LlmAgreement, form: str | None) -> None:
        if form not in {None, "json"}:
            raise UserError(f"--between prints text or --json; found --{form}.")
        second = compared.judge.name
        if form == "json":
            graded = {name: tables.estimate_json(estimate) for name, estimate in compared.panel.graded.items()}
            answer = {"first": first, "second": second, "pairs": compared.panel.pairs, "graded": graded}
            self.say(json.dumps(answer, ensure_ascii=False, indent=2))
            return
        self.say(f"{first} with {second}: {count(compared.panel.pairs, 'pair')} judged by both")
        self._details(compared, first, second)

    def _pool(self, result: Agreement) -> None:
        self._found(result)
        for llm in result.llms:
            self.say("", f"People with {llm.judge.label}: {count(llm.panel.pairs, 'pair')} judged by both")
            self._details(llm, "people", "LLM")
        if not result.llms:
            slug = result.pool.slug if result.pool else ""
            self.say("", f"No LLM has judged pairs of this pool: python manage.py prefill_llm {slug}")
        if result.people:
            self.say("", f"People with people: {count(result.people.pairs, 'pair')} judged by two or more")
            self._coefficients(result.people)
        self._estimates(result)

    def _found(self, result: Agreement) -> None:
        found, pool = result.found, result.pool
        assert found is not None
        assert pool is not None
        self.say(
            f"{pool.slug}: {found.judged:,} of {count(found.pairs, 'pair')} judged by people",
            f"  relevant among the unjudged: {found.relevant:,} = {_percent(found.share)}",
        )
        if found.judged:
            self.say(
                f"  that implies about {found.implied:,.0f} in the whole pool, beside {found.known:,} known positives "
                f"of its {count(found.queries, 'query', 'queries')}"
            )
        if result.sheet.weights is not None:
            self.say("  pairs were drawn with unequal probability: every estimate is weighted by its inverse")
        if found.undecided or found.cannot_judge:
            self.say(f"  left out: {found.undecided:,} people undecided, {found.cannot_judge:,} nobody could judge")

    def _details(self, llm: LlmAgreement, first: str, second: str) -> None:
        if llm.left_out:
            self.say("  left out: " + ", ".join(f"{number:,} {why}" for why, number in sorted(llm.left_out.items())))
        if llm.judge.is_calibrated:
            self.say(f"  {CROSS_FITTED}")
        if llm.clipped:
            self.say(f"  {count(llm.clipped, 'grade')} outside the scale taken as its nearest end")
        self._coefficients(llm.panel)
        if llm.hides_low_kappa:
            self.say("  Nearly all pairs are of one kind, so most of the raw agreement is what chance would give.")
        self.say("")
        self.table(
            [f"{first} \\ {second}", *(llm.scale.word(grade) for grade in llm.panel.grades)],
            (
                [llm.scale.word(grade), *(f"{cell:g}" for cell in row)]
                for grade, row in zip(llm.panel.grades, llm.counts, strict=True)
            ),
        )

    def _coefficients(self, compared: Comparison) -> None:
        hidden = set() if len(compared.grades) > 2 else set(_GRADED_ONLY)
        if isinstance(compared, Ceiling):
            hidden.add("bias")  # Among people there is no first and second: it is 0 by the way it is computed.
        graded = {key: label for key, label in ROWS.items() if key not in hidden}
        self.table(
            ["", "value", "95 % interval"],
            (
                [f"  {label}", number(compared.graded[key].value), _interval(compared.graded[key])]
                for key, label in graded.items()
            ),
        )

    def _estimates(self, result: Agreement) -> None:
        for llm in result.sheet.llms:
            joined = estimates(result.sheet, llm)
            if joined.reason:
                self.say("", f"Means over queries from people's labels and {llm.judge.name}'s: {joined.reason}")
                continue
            self.say("", f"Means over {joined.population:,} queries, {joined.judged:,} of them judged whole by people")
            self.table(
                ["  measure", "people alone", llm.judge.name, "joined", "95 % interval"],
                (
                    [
                        f"  {row.name}",
                        number(row.joined.people.value),
                        number(row.joined.llm.value),
                        number(row.joined.joined.value),
                        _interval(row.joined.joined),
                    ]
                    for row in joined.rows
                ),
            )
            for row in joined.rows:
                self.say(f"  {row.name}: {row.joined.gain.says}")
        bought = purchases(result.sheet, _MORE_LABELS)
        if bought:
            self.say("", f"What {_MORE_LABELS} more labels of people would make of the intervals:")
            for purchase in bought:
                self.say(f"  {purchase.sentence}")


def _pool_or_collection(name: str, *, prefer_collection: bool) -> Pool | Collection:
    if prefer_collection:
        return lookup.collection(name)
    is_pool = Pool.objects.filter(slug=name).exists()
    if not is_pool and Collection.objects.filter(slug=name).exists():
        return lookup.collection(name)
    return lookup.pool(name)


def _blank(value: object) -> object:
    """An undefined number is an empty field of CSV; a text that a spreadsheet would compute is kept a text."""
    if isinstance(value, float) and math.isnan(value):
        return ""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t" and value else value


def _interval(estimate: Estimate) -> str:
    return estimate.reason or (estimate.interval.reason if estimate.interval else "") or between(estimate.interval)


def _percent(share: Estimate) -> str:
    if share.reason:
        return f"undefined ({share.reason})"
    interval = share.interval
    beside = f"95 % interval {between(interval)}" if interval and not interval.reason else "interval undefined"
    return f"{share.value:.1%} ({beside})"
