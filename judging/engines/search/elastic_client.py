"""The connection to Elasticsearch, and its errors in words that help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from elastic_transport import HttpHeaders, Transport, TransportApiResponse, TransportError
from elasticsearch import (
    ApiError,
    AuthenticationException,
    AuthorizationException,
    Elasticsearch,
    UnsupportedProductError,
)

from judging.errors import UserError

_TIMEOUT = 120  # seconds


class _CompatibleTransport(Transport):
    """Speaks the dialect of Elasticsearch 8, which versions 8 and 9 both understand; the client's own is 9 only."""

    def perform_request(self, method: str, target: str, **options: Any) -> TransportApiResponse:
        headers = HttpHeaders(options.pop("headers", None) or {})
        for name in ("accept", "content-type"):
            if name in headers:
                headers[name] = headers[name].replace("compatible-with=9", "compatible-with=8")
        return super().perform_request(method, target, headers=headers, **options)


def connect(url: str, options: Mapping[str, Any]) -> Elasticsearch:
    """A client of the server at ``url``, with the options of ``elasticsearch.Elasticsearch``. Sends nothing yet."""
    defaults = {"request_timeout": _TIMEOUT, "retry_on_timeout": True, "transport_class": _CompatibleTransport}
    try:
        return Elasticsearch(url, **{**defaults, **options})
    except ValueError as error:
        raise UserError(
            "Expected the address of an Elasticsearch server with scheme, host and port, such as "
            f"http://localhost:9200, found {without_credentials(url)!r}. Correct ELASTICSEARCH_URL."
        ) from error


def without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


@contextmanager
def readable_errors(url: str) -> Iterator[None]:
    """Turns what the client raises into a UserError that names ``url``, which must bear no credentials."""
    try:
        yield
    except UnsupportedProductError as error:
        raise UserError(f"Expected Elasticsearch at {url}, found another server. Correct ELASTICSEARCH_URL.") from error
    except AuthenticationException as error:
        raise UserError(
            f"Elasticsearch at {url} does not accept the user name, password or API key. "
            "Put the right ones into ELASTICSEARCH_URL or the client options."
        ) from error
    except AuthorizationException as error:
        raise UserError(
            f"Elasticsearch at {url} does not allow this ({_reason(error)}). "
            "Give the user the rights to create, write and read the index."
        ) from error
    except ApiError as error:
        raise UserError(
            f"Elasticsearch at {url} answered with status {error.status_code}: {_reason(error)}."
        ) from error
    except TransportError as error:
        raise UserError(
            f"Elasticsearch at {url} does not answer ({type(error).__name__}). "
            "Start the server or correct ELASTICSEARCH_URL."
        ) from error


def _reason(error: ApiError) -> str:
    body = error.body
    details = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(details, Mapping):
        return f"{details.get('type')}: {details.get('reason')}"
    return str(details or error.message)
