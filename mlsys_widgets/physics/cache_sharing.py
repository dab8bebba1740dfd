"""Sharing a KV cache: how many users it holds, reserved or in pages, and guessing tokens ahead.

A cache that keeps a room for the longest request keeps most of it empty. Pages are handed out as
tokens come, and only the last one of each user has empty places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    NON_NEGATIVE,
    POSITIVE,
    Domain,
    Numeric,
    WholeDomain,
)
from mlsys_widgets.physics.result import Result, derived, given

#: A chance that is not certain: the mean of a sum over guesses divides by what is left of it.
_UNCERTAIN: Final = Domain(0.0, 1 - 1e-9, "a fraction of at least 0 and below 1")
_BLOCK: Final = WholeDomain(1, 1_000_000, "a whole number between 1 and 1,000,000")
_GUESSES: Final = WholeDomain(1, 1_000, "a whole number between 1 and 1,000")


@dataclass(frozen=True, repr=False)
class CacheShare(Result):
    """A cache that is always full, and what each user holds of it."""

    memory: Numeric = given("M", "B", "memory of the cache", POSITIVE)
    token: Numeric = given("m", "B", "keys and values of a token", POSITIVE)
    prompt: Numeric = given("p", "tokens", "tokens of a prompt", POSITIVE)
    answer: Numeric = given("a", "tokens", "tokens of an answer", AT_LEAST_ONE)

    @derived("n", "tokens")
    def kept(self) -> Numeric:
        """Tokens that a user has in the cache, on average while the answer is written."""
        return self.prompt + self.answer / 2

    @derived("h", "tokens")
    def held(self) -> Numeric:
        """Tokens that there is room for in what a user holds."""
        raise NotImplementedError

    @derived("filled", "%")
    def filled(self) -> Numeric:
        """Part of what is handed out that holds a token."""
        return self.kept / self.held

    @derived("users", "")
    def users(self) -> Numeric:
        """Users that the cache has room for at once."""
        return self.memory / (self.token * self.held)


@dataclass(frozen=True, repr=False)
class ReservedShare(CacheShare):
    """Every user holds a room for the longest request. ``reserved_cache`` builds one."""

    room: Numeric = given("r", "tokens", "tokens of the longest request", AT_LEAST_ONE, 1.0)

    @derived("h", "tokens")
    def held(self) -> Numeric:
        """Tokens that there is room for in what a user holds."""
        return self.room


@dataclass(frozen=True, repr=False)
class PagedShare(CacheShare):
    """Every user holds pages, the last of them half empty on average. ``paged_cache`` builds one.

    Of lengths that are equally likely, the last page of B places has 1 to B tokens.
    """

    block: Numeric = given("B", "tokens", "tokens of a page", _BLOCK, 16.0)

    @derived("h", "tokens")
    def held(self) -> Numeric:
        """Tokens that there is room for in what a user holds."""
        return self.kept + (self.block - 1) / 2


@dataclass(frozen=True, repr=False)
class CacheUse(Result):
    """What was in a cache while an engine ran, on average. ``cache_use`` builds one."""

    memory: Numeric = given("M", "B", "memory of the cache", POSITIVE)
    token: Numeric = given("m", "B", "keys and values of a token", POSITIVE)
    kept: Numeric = given("n", "tokens", "tokens of use in the cache", NON_NEGATIVE)
    held: Numeric = given("h", "tokens", "tokens that handed out memory has room for", POSITIVE)

    @derived("C", "tokens")
    def capacity(self) -> Numeric:
        """Tokens that the cache has room for."""
        return self.memory / self.token

    @derived("given", "%")
    def handed_out(self) -> Numeric:
        """Part of the cache that is handed out."""
        return self.held / self.capacity

    @derived("used", "%")
    def used(self) -> Numeric:
        """Part of what is handed out that holds a token of use."""
        return self.kept / self.held

    @derived("filled", "%")
    def filled(self) -> Numeric:
        """Part of the cache that holds a token of use."""
        return self.handed_out * self.used


@dataclass(frozen=True, repr=False)
class Speculation(Result):
    """Tokens that a small model guesses and the large one checks in one step.

    ``speculation`` builds one. A guess counts only if all before it were right, and the step that
    checks them writes one more token itself.
    """

    right: Numeric = given("α", "", "chance that a guess is right", _UNCERTAIN)
    guesses: Numeric = given("γ", "", "guesses for each step", _GUESSES)
    check: Numeric = given("v", "×", "time of a step that checks them, in plain steps", POSITIVE)
    guess: Numeric = given("c", "×", "time of one guess, in plain steps", NON_NEGATIVE, 0.0)

    @derived("N", "tokens")
    def tokens(self) -> Numeric:
        """Tokens that a step writes on average."""
        return (1 - self.right ** (self.guesses + 1)) / (1 - self.right)

    @derived("t", "×")
    def time(self) -> Numeric:
        """Time of guessing and checking, in plain steps."""
        return self.check + self.guesses * self.guess

    @derived("speedup", "×")
    def speedup(self) -> Numeric:
        """Tokens per time, against one plain step after the other."""
        return self.tokens / self.time


def reserved_cache(
    memory: Numeric, token: Numeric, prompt: Numeric, answer: Numeric, room: Numeric
) -> ReservedShare:
    """A cache in which every user has a room for the longest request.

    Parameters
    ----------
    memory : float or array, B
        Memory of the cache.
    token : float or array, B
        Keys and values of one token, as `kv_cache` counts them.
    prompt, answer : float or array
        Tokens of a prompt and of an answer.
    room : float or array
        Tokens that are reserved for each user.

    Examples
    --------
    What does 10 GB hold of answers that could have been twenty times as long?

    >>> from mlsys_widgets import physics as ph
    >>> token = ph.kv_cache("llama31-8b", batch=1, sequence=1)
    >>> full = ph.reserved_cache(10e9, token, prompt=300, answer=100, room=2048)
    >>> print(full.derivation("filled"))
    n = p + a / 2 = 300 tokens + 100 tokens / 2 = 350 tokens   (tokens that a user has in the \
cache, on average while the answer is written)
    h = r = 2,048 tokens   (tokens that there is room for in what a user holds)
    filled = n / h = 350 tokens / 2,048 tokens = 17.1%   (part of what is handed out that holds a \
token)
    >>> round(full.users)
    37
    """
    return ReservedShare(memory=memory, token=token, prompt=prompt, answer=answer, room=room)


def paged_cache(
    memory: Numeric, token: Numeric, prompt: Numeric, answer: Numeric, block: Numeric = 16.0
) -> PagedShare:
    """A cache in pages, which are handed out as tokens come.

    ``block`` are the tokens of a page; the rest is as in `reserved_cache`.

    Examples
    --------
    How many more users is that, in the same 10 GB?

    >>> from mlsys_widgets import physics as ph
    >>> requests = dict(memory=10e9, token=131_072, prompt=300, answer=100)
    >>> paged = ph.paged_cache(**requests, block=16)
    >>> round(paged.users / ph.reserved_cache(**requests, room=2048).users, 1)
    5.7
    >>> ph.format_quantity(paged.filled, "%")
    '97.9%'
    """
    return PagedShare(memory=memory, token=token, prompt=prompt, answer=answer, block=block)


def cache_use(memory: Numeric, token: Numeric, kept: Numeric, held: Numeric) -> CacheUse:
    """What a cache holds of what it could, from means over a run.

    Parameters
    ----------
    memory : float or array, B
        Memory of the cache.
    token : float or array, B
        Keys and values of one token.
    kept, held : float or array
        Tokens of use, and tokens that what was handed out has room for: `ServedTrace` tells both.

    Examples
    --------
    All of it is handed out. How much of it is used?

    >>> from mlsys_widgets import physics as ph
    >>> run = ph.cache_use(memory=6.4e9, token=128e3, kept=5000, held=50_000)
    >>> run.handed_out, run.filled
    (1.0, 0.1)
    """
    return CacheUse(memory=memory, token=token, kept=kept, held=held)


def speculation(
    right: Numeric, guesses: Numeric, check: Numeric, guess: Numeric = 0.0
) -> Speculation:
    """Guessing tokens ahead, by what checking them costs.

    Parameters
    ----------
    right : float or array
        Chance that a guess is right, whatever came before it.
    guesses : float or array
        Guesses for each step of the large model.
    check : float or array
        How long a step takes that checks them, in plain steps.
    guess : float or array
        How long one guess takes, in plain steps.

    Examples
    --------
    Three of four guesses are right. Does guessing three at a time pay?

    >>> from mlsys_widgets import physics as ph
    >>> print(ph.speculation(right=0.75, guesses=3, check=1.1, guess=0.1).derivation())
    N = (1 − α^(γ + 1)) / (1 − α) = (1 − 0.75^(3 + 1)) / (1 − 0.75) = 2.73 tokens   (tokens that \
a step writes on average)
    t = v + γ × c = 1.1× + 3 × 0.1× = 1.4×   (time of guessing and checking, in plain steps)
    speedup = N / t = 2.73 tokens / 1.4× = 1.95×   (tokens per time, against one plain step after \
the other)
    """
    return Speculation(right=right, guesses=guesses, check=check, guess=guess)
