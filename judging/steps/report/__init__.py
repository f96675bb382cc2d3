"""report: everything that can be said of a pool, as one file that can be attached to a paper."""

from judging.steps.report.content import Report, report_of
from judging.steps.report.files import as_html, as_markdown, write_report

__all__ = ["Report", "as_html", "as_markdown", "report_of", "write_report"]
