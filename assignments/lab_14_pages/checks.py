"""The keys of lab_14_pages. This file stays in the course; students never get it."""

from collections.abc import Iterable

from mlsys_widgets.judging import Belief, ChoiceKey, CodeKey, Given, NumberKey, told_apart
from mlsys_widgets.measured.cache_runs import TOKEN
from mlsys_widgets.physics import format_quantity as q
from mlsys_widgets.physics import paged_cache, speculation

from asks import (
    BLOCK,
    DOOR,
    DOOR_ANSWER,
    GUESSES,
    MANY,
    MEMORY,
    guessing,
    holds,
    offer_of,
    offers,
    requests_of,
)
from asks import act1_filled as asked_filled
from asks import act2_guess as asked_guess

TOLERANCE = 0.015


def _number(key: float, beliefs: Iterable[Belief], says: str) -> NumberKey:
    return NumberKey(
        key, tolerance=TOLERANCE, beliefs=told_apart(key, TOLERANCE, beliefs), says=says
    )


# Act 1


def act1_filled(given: Given) -> ChoiceKey:
    values, true = asked_filled(given.p).values, holds("static", MEMORY)
    return ChoiceKey(min(values, key=lambda each: abs(values[each] - true)))


def users_and_pages(given: Given) -> NumberKey:
    p = given.p
    share = paged_cache(p.cache_gb * 1e9, TOKEN, p.prompt_tokens, p.answer_tokens, p.block)
    places = float(share.memory / share.token)
    kept = float(share.kept)
    return _number(
        float(share.users),
        [
            Belief(
                "whole answers",
                places / (p.prompt_tokens + p.answer_tokens + (p.block - 1) / 2),
                credit=0.4,
                says="You gave every user a whole answer. Users are anywhere in their answers, so"
                " on average half of it is written.",
            ),
            Belief(
                "no last page",
                places / kept,
                credit=0.4,
                idea="what is reserved is used",
                says=f"You counted {q(kept)} tokens of each user. The last page is handed out whole"
                f" and has {q((p.block - 1) / 2)} empty places on average.",
            ),
            Belief(
                "a whole page empty",
                places / (kept + p.block),
                credit=0.3,
                says="You added a whole page for each user. The last page has at least one token"
                " and is full at times; about half of it is empty on average.",
            ),
            Belief(
                "prompts alone",
                places / p.prompt_tokens,
                credit=0.2,
                says="Those are the prompts. The tokens of the answer that are written stay in the"
                " cache as well, until the answer ends.",
            ),
            Belief(
                "places for users",
                places,
                credit=0.2,
                says="That is how many tokens fit into the cache. A user needs places for the"
                " prompt and for what is written, so divide by those.",
            ),
        ],
        says=f"A user has {q(kept)} tokens on average and holds {q(float(share.held))} places:"
        f" {q(float(share.filled), '%')} of them have a token.",
    )


def page_tokens(given: Given) -> NumberKey:
    p = given.p
    kept, empty = p.prompt_tokens + p.answer_tokens / 2, p.empty_pct / 100
    spare = kept * empty / (1 - empty)
    right = 2 * spare + 1
    return _number(
        right,
        [
            Belief(
                "part of the tokens",
                2 * kept * empty + 1,
                credit=0.5,
                says=f"You took {q(empty, '%')} of the tokens. The percentage is of what is handed"
                " out, empty places included, which is more.",
            ),
            Belief(
                "all of a page empty",
                spare + 1,
                credit=0.3,
                says="You let nearly the whole last page be empty. On average only half of it is,"
                " so it may have about twice as many tokens.",
            ),
            Belief(
                "whole answers",
                2 * (p.prompt_tokens + p.answer_tokens) * empty / (1 - empty) + 1,
                credit=0.4,
                says="You gave every user a whole answer. Users are anywhere in their answers, so"
                " on average half of it is written.",
            ),
            Belief(
                "what a user holds",
                kept / (1 - empty),
                credit=0.2,
                idea="what is reserved is used",
                says="That is what a user may hold, tokens included. Only the places beyond the"
                " tokens are empty, and the last page has them.",
            ),
        ],
        says=f"A user has {q(kept)} tokens on average, so {q(spare)} places may be empty: half of"
        " B − 1, if a page has B tokens.",
    )


def smaller_or_paged(given: Given) -> ChoiceKey:
    users, held = offer_of(given.p)[-1], offers(given.p)
    kept = [name for name, many in held.items() if many >= users]
    right = kept[0] if len(kept) == 1 else "both"
    facts = (
        f"Rooms in fp8 hold {q(held['fp8'])} users, and pages in fp16 {q(held['pages'])};"
        f" {users} are wanted in this cache."
    )
    why = {
        "fp8": {
            "pages": "Here a user needs most of a room, and half the bytes gain more than pages.",
            "both": "Pages do not reach it: here a user needs most of a room.",
        },
        "pages": {
            "fp8": "Half the bytes double the rooms, and most of each room is still empty.",
            "both": "Rooms do not reach it in spite of half the bytes: most of a room is empty.",
        },
        "both": {
            "fp8": "Pages reach it as well, with tokens of twice the bytes.",
            "pages": "Rooms reach it as well, because their tokens have half the bytes.",
        },
    }[right]
    return ChoiceKey(
        right,
        beliefs=[
            Belief(f"{name} instead of {right}", name, credit=0.0, says=f"{facts} {words}")
            for name, words in why.items()
        ],
        says=facts,
    )


def rate_per_s(given: Given) -> NumberKey:
    p = given.p
    share = paged_cache(p.cache_gb * 1e9, TOKEN, p.prompt_tokens, p.answer_tokens, p.block)
    users, stay = float(share.users), p.answer_tokens * p.step_ms / 1e3
    whole = paged_cache(p.cache_gb * 1e9, TOKEN, p.prompt_tokens, 2 * p.answer_tokens, p.block)
    return _number(
        users / stay,
        [
            Belief(
                "tokens for requests",
                1e3 * users / p.step_ms,
                credit=0.3,
                says="Those are tokens per second. An answer has"
                f" {p.answer_tokens} of them, so divide by that.",
            ),
            Belief(
                "whole answers",
                float(whole.users) / stay,
                credit=0.5,
                says="You gave every user a whole answer in the cache. Users are anywhere in their"
                " answers, so on average half of it is written.",
            ),
            Belief(
                "half of the stay",
                2 * users / stay,
                credit=0.4,
                says="You let users stay for half of their answers. They have half of it written on"
                " average, but each of them stays for all of it.",
            ),
            Belief(
                "one user",
                1 / stay,
                credit=0.2,
                says="That is what a single user would complete. The cache holds many of them at"
                " once, and each step serves all.",
            ),
        ],
        says=f"Each user stays for {q(stay, 's')}. By Little's law, the users that the cache holds"
        " over that time are completed per second.",
    )


def _admit(spare: str, needs: str = "tokens", reserved: str = "") -> str:
    """A policy that lets in who leaves some pages spare."""
    return f"""def admit(free_pages, running, waiting):
    count = 0{reserved}
    for tokens, _ in waiting:
        free_pages -= -(-({needs}) // {BLOCK})
        if free_pages < {spare}:
            break
        count += 1
    return count
"""


def admission(given: Given) -> CodeKey:
    longest = (
        f"\n    free_pages -= sum(-(-(cached - written + {DOOR_ANSWER}) // {BLOCK})"
        f" - -(-cached // {BLOCK}) for cached, written in running)"
    )
    beliefs = [
        Belief(
            "all that fit",
            _admit("0"),
            credit=0.4,
            says="Whoever fits now will want pages for the answer. With none spare, those who came"
            " in last lose theirs in the middle of a sentence and pause until they are read again.",
        ),
        Belief(
            "the longest answer reserved",
            _admit("0", f"tokens + {DOOR_ANSWER}", longest),
            credit=0.1,
            says="This keeps pages for what an answer could become, which few of them do. Nobody"
            " loses a page, and the others wait at the door beside empty memory.",
        ),
        Belief(
            "one after the other",
            "def admit(free_pages, running, waiting):\n    return 0 if running else 1\n",
            credit=0.0,
            says="A step reads the weights and writes a token for everybody inside. Whoever lets in"
            " one at a time reads them for a single token, while all others wait.",
        ),
    ]
    p = given.p
    runs = [requests_of(p, f"{p.door_pages} {p.first_s}", alike) for alike in (3, 5, 7, 9, 11)]
    return CodeKey(
        _admit("2 * (len(running) + count + 1)"),
        [[run] for run in runs],
        beliefs,
        says="It fills the memory and keeps some pages for the answers inside, which grow. So few"
        " lose their pages, and few wait beside empty ones.",
        game=DOOR,
    )


# Act 2


def act2_guess(given: Given) -> ChoiceKey:
    values, true = asked_guess(given.p).values, float(guessing(MANY, GUESSES).speedup)
    return ChoiceKey(min(values, key=lambda each: abs(values[each] - true)))


def guesses_and_time(given: Given) -> NumberKey:
    p = given.p
    chance, guess = p.right_pct / 100, p.guess_pct / 100
    gain = speculation(chance, p.guesses, p.check, guess)
    tokens, time = float(gain.tokens), float(gain.time)
    return _number(
        float(gain.speedup),
        [
            Belief(
                "right ones anywhere",
                (1 + p.guesses * chance) / time,
                credit=0.3,
                idea="every right guess counts",
                says="You counted all right guesses. After the first wrong one everything is thrown"
                f" away, so a step writes {q(tokens)} tokens.",
            ),
            Belief(
                "no token of its own",
                (tokens - 1) / time,
                credit=0.4,
                says="The step that checks also writes a token itself, after the last right guess."
                f" With it there are {q(tokens)}.",
            ),
            Belief(
                "free guesses",
                tokens / p.check,
                credit=0.4,
                says=f"The guesses take time as well: {p.guesses} times {p.guess_pct:g}% of a plain"
                " step, besides the checking.",
            ),
            Belief(
                "one guess timed",
                tokens / (p.check + guess),
                credit=0.4,
                says=f"You counted the time of one guess. All {p.guesses} are made one after the"
                " other, before anything is checked.",
            ),
            Belief(
                "free checking",
                tokens,
                credit=0.2,
                idea="what is added to a step costs no time",
                says="That is how many tokens come out of a step. But that step takes as long as"
                f" {p.check:g} plain ones, and the guesses come before it.",
            ),
        ],
        says=f"A step writes {q(tokens)} tokens on average, and takes {q(time)} plain steps with"
        " its guesses.",
    )


def slowest_guess_pct(given: Given) -> NumberKey:
    p = given.p
    chance = p.right_pct / 100
    tokens = float(speculation(chance, p.guesses, p.check).tokens)
    right = 100 * (tokens - p.check) / p.guesses
    return _number(
        right,
        [
            Belief(
                "right ones anywhere",
                100 * (1 + p.guesses * chance - p.check) / p.guesses,
                credit=0.3,
                idea="every right guess counts",
                says="You counted all right guesses. After the first wrong one everything is thrown"
                f" away, so a step writes {q(tokens)} tokens.",
            ),
            # Where this leaves no time for guesses, nobody would answer it.
            *[
                Belief(
                    "no token of its own",
                    left,
                    credit=0.4,
                    says="The step that checks also writes a token itself, after the last right"
                    f" guess. With it there are {q(tokens)}.",
                )
                for left in [100 * (tokens - 1 - p.check) / p.guesses]
                if left > 1
            ],
            Belief(
                "all guesses together",
                100 * (tokens - p.check),
                credit=0.5,
                says=f"That is left for all guesses together. There are {p.guesses} of them, made"
                " one after the other.",
            ),
            Belief(
                "free checking",
                100 * (tokens - 1) / p.guesses,
                credit=0.3,
                idea="what is added to a step costs no time",
                says=f"You took the step that checks for a plain one. It takes {p.check:g} of"
                " them, because it reads more tokens.",
            ),
        ],
        says=f"A step writes {q(tokens)} tokens, which plain steps would write in as many steps."
        f" Checking takes {p.check:g}; the rest is for {p.guesses} guesses.",
    )


def least_right_pct(given: Given) -> NumberKey:
    check, guess = given.p.check, given.p.guess_pct / 100
    right = 100 * (check + guess - 1)
    return _number(
        right,
        [
            Belief(
                "free guesses",
                100 * (check - 1),
                credit=0.5,
                says=f"The guess takes time as well, {q(guess, '%')} of a plain step. Its gain must"
                " pay for that, too.",
            ),
            Belief(
                "both tokens guessed",
                100 * (check + guess) / 2,
                credit=0.3,
                says="You let both tokens of a step depend on the guess. The large model writes one"
                " of them in any case.",
            ),
            Belief(
                "inverse",
                100 / (check + guess),
                credit=0.2,
                says="That is the speed if no guess is right. A step must write"
                f" {q(check + guess)} tokens on average, and one is there in any case.",
            ),
            Belief(
                "fraction for percent",
                right / 100,
                credit=0.6,
                form=True,
                says="That is the right part, but as a fraction. The question asks for percent, so"
                " multiply.",
            ),
        ],
        says=f"Guess and check take {q(check + guess)} plain steps, so as many tokens are needed:"
        " one, and another one in that many cases.",
    )
