"""A learning system's gradebook, as a tool sees it: columns, results, scores and people.

Assignment and Grade Services 2.0 has a line item for each column, the results that the LMS shows in
it, and the scores that a tool sends. Names and Role Provisioning Services 2.0 lists the people.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

from mlsys_widgets.classes.lms_http import (
    LmsAnswer,
    LmsClient,
    LmsError,
    LmsRefusal,
    printable,
)
from mlsys_widgets.classes.lms_settings import same_origin
from mlsys_widgets.classes.lms_token import TokenSource
from mlsys_widgets.course.course_settings import LmsSettings

_LIS: Final = "application/vnd.ims.lis."
_LINE_ITEM: Final = f"{_LIS}v2.lineitem+json"
_LINE_ITEMS: Final = f"{_LIS}v2.lineitemcontainer+json"
_RESULTS: Final = f"{_LIS}v2.resultcontainer+json"
_SCORE: Final = f"{_LIS}v1.score+json"
_MEMBERS: Final = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
_CUSTOM: Final = "https://purl.imsglobal.org/spec/lti/claim/custom"
#: Marks the columns that are ours.
TAG: Final = "mlsys"


@dataclass(frozen=True)
class LineItem:
    """A column of the LMS's gradebook."""

    id: str
    label: str
    most: float
    resource_id: str = ""
    tag: str = ""


@dataclass(frozen=True)
class LmsResult:
    """A result that the LMS shows for a student in a column."""

    #: The score, ``None`` if it shows none, and what it is out of.
    score: float | None
    most: float = 1.0
    twice: bool = False


@dataclass(frozen=True)
class LmsMember:
    """Somebody in the LMS's course; what it does not tell is empty."""

    user_id: str
    login: str = ""
    email: str = ""
    sourcedid: str = ""
    active: bool = True
    learner: bool = True


@dataclass(frozen=True)
class LmsScore:
    """A score to be sent about one student."""

    user_id: str
    given: float
    most: float
    at: datetime
    handed_in: datetime | None = None

    def as_data(self) -> dict[str, Any]:
        """As the specification has it.

        Examples
        --------
        >>> at = datetime(2026, 11, 9, 12, tzinfo=UTC)
        >>> LmsScore("7", 8.5, 10, at).as_data()["timestamp"]
        '2026-11-09T12:00:00.000+00:00'
        """
        fields: dict[str, Any] = {
            "userId": self.user_id,
            "scoreGiven": self.given,
            "scoreMaximum": self.most,
            "activityProgress": "Completed",
            "gradingProgress": "FullyGraded",
            "timestamp": _moment(self.at),
        }
        if self.handed_in is not None:
            # Otherwise the LMS takes the hour of this command for the hour of handing in.
            fields["submission"] = {"submittedAt": _moment(self.handed_in)}
        return fields


class LmsServices:
    """The services of one course in the LMS."""

    def __init__(self, settings: LmsSettings, client: LmsClient, tokens: TokenSource) -> None:
        self._settings, self._client, self._tokens = settings, client, tokens

    def now(self) -> datetime:
        return self._client.now()

    # Columns.

    def line_items(self) -> list[LineItem]:
        """All columns that the tool may see."""
        return [
            self._line_item(each)
            for page in self._pages(self._settings.lineitems_url, _LINE_ITEMS)
            for each in _list(page.data(), "line items")
        ]

    def line_item_of(self, lab: str) -> LineItem | None:
        """Find the column of a lab; `None` if there is none yet, `LmsError` if there are two."""
        found = {
            each.id: each
            for each in self.line_items()
            if each.resource_id == lab and each.tag == TAG
        }
        if len(found) > 1:
            raise LmsError(
                f"the LMS has {len(found)} columns for {lab}; delete all but one there:"
                f" {', '.join(printable(each, 120) for each in found)}"
            )
        return next(iter(found.values()), None)

    def create_line_item(self, lab: str, most: float) -> LineItem:
        """Make the column of a lab.

        After an answer that was lost nobody knows whether there is a column, so that it is looked
        for before it is made again.
        """
        content = json.dumps(
            {"label": lab, "scoreMaximum": most, "resourceId": lab, "tag": TAG}
        ).encode()
        media = {"Content-Type": _LINE_ITEM, "Accept": _LINE_ITEM}

        def is_there() -> bool:
            return self.line_item_of(lab) is not None

        try:
            answer = self._ask(
                "POST", self._settings.lineitems_url, media, lambda: content, settled=is_there
            )
            return self._line_item(answer.data())
        except LmsError:
            if found := self.line_item_of(lab):
                return found
            raise

    def _line_item(self, found: Any) -> LineItem:
        address = found.get("id") if isinstance(found, Mapping) else None
        if not isinstance(address, str):
            raise LmsError("the LMS answered with a line item that has no id")
        # Scores go to this address, and so does the token.
        if not same_origin(address, self._settings.lineitems_url):
            raise LmsError(
                f"the LMS has the line item {printable(address)}, which is on another host than"
                " lms.lineitems_url; if that is right, change the setting"
            )
        most = _number(found.get("scoreMaximum"))
        texts = (_text(found.get(name)) for name in ("resourceId", "tag"))
        return LineItem(address, _text(found.get("label")), most or 1.0, *texts)

    # Results and scores.

    def results(self, item: LineItem, user_id: str | None = None) -> dict[str, LmsResult]:
        """Read what the LMS shows in a column, by the LMS's ids."""
        query = {"user_id": user_id} if user_id else {}
        found: dict[str, LmsResult] = {}
        for page in self._pages(_below(item.id, "results", query), _RESULTS):
            for each in _list(page.data(), "results"):
                user = _text(each.get("userId"))
                score = _number(each.get("resultScore"))
                most = _number(each.get("resultMaximum")) or 1.0
                known = found.get(user)
                twice = known is not None and (known.score, known.most) != (score, most)
                found[user] = LmsResult(score, most, twice or bool(known and known.twice))
        return found

    def send(self, item: LineItem, score: LmsScore) -> None:
        """Send a score; `LmsRefusal` if the LMS does not take it."""
        content = json.dumps(score.as_data()).encode()
        self._ask("POST", _below(item.id, "scores"), {"Content-Type": _SCORE}, lambda: content)

    # People.

    def members(self) -> list[LmsMember] | None:
        """Everybody in the LMS's course; ``None`` if it has no list of them."""
        if not self._settings.memberships_url:
            return None
        found = []
        for page in self._pages(self._settings.memberships_url, _MEMBERS):
            listed = page.data()
            people = listed.get("members") if isinstance(listed, Mapping) else None
            found += [_member(each) for each in _list(people, "members")]
        return found

    # Requests.

    def _pages(self, url: str, accept: str) -> Iterator[LmsAnswer]:
        begin, seen = url, set()
        while True:
            seen.add(url)
            answer = self._ask("GET", url, {"Accept": accept})
            yield answer
            following = answer.next_page
            if following is None:
                return
            if not same_origin(following, begin):
                raise LmsError(
                    f"the LMS continues a list at {printable(following)}, on another host; it was"
                    " not asked"
                )
            if following in seen or len(seen) >= self._client.patience.most_pages:
                raise LmsError(f"the LMS sends a list without an end: {printable(following)}")
            url = following

    def _ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Callable[[], bytes] | None = None,
        *,
        settled: Callable[[], bool] | None = None,
    ) -> LmsAnswer:
        for renewed in (False, True):
            token = {"Authorization": f"Bearer {self._tokens.get(renewed=renewed)}"}
            try:
                return self._client.ask(
                    method, url, headers={**headers, **token}, body=body, settled=settled
                )
            except LmsRefusal as refusal:
                if refusal.status != 401:
                    raise
                answer = refusal
        raise LmsError(f"the LMS does not accept the access token that it gave ({answer})")


def _below(address: str, name: str, query: Mapping[str, str] | None = None) -> str:
    """Return the address of a part of a line item, whose own query stays behind it.

    Examples
    --------
    >>> _below("https://lms.edu/3/lineitem?type_id=2", "results", {"user_id": "a&b"})
    'https://lms.edu/3/lineitem/results?type_id=2&user_id=a%26b'
    """
    parts = urlsplit(address)
    more = [f"{key}={quote(value, safe='')}" for key, value in (query or {}).items()]
    joined = "&".join([*([parts.query] if parts.query else []), *more])
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}", query=joined))


def _member(person: Mapping[str, Any]) -> LmsMember:
    roles = person.get("roles")
    named = [_text(each) for each in roles] if isinstance(roles, list) else []
    login = _text(person.get("ext_user_username"))
    messages = person.get("message")
    for message in messages if isinstance(messages, list) else []:
        custom = message.get(_CUSTOM) if isinstance(message, Mapping) else None
        if isinstance(custom, Mapping):
            # The same custom parameter that names the student at the hub.
            login = _text(custom.get("login")) or login
    # A variable that the LMS did not know stays as it was written.
    return LmsMember(
        _text(person.get("user_id")),
        "" if login.startswith("$") else login,
        _text(person.get("email")),
        _text(person.get("lis_person_sourcedid")),
        _text(person.get("status") or "Active") == "Active",
        any("learner" in role.rpartition("#")[2].lower() for role in named),
    )


def _list(value: Any, what: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        raise LmsError(f"the LMS answered with something that is no list of {what}")
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _moment(at: datetime) -> str:
    zoned = at if at.tzinfo else at.replace(tzinfo=UTC)
    return zoned.isoformat(timespec="milliseconds")
