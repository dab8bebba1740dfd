# What lab_14_pages asks. Made by `mlsys build`; the original is in assignments/.

import random
from collections.abc import Mapping
from functools import cache
from statistics import fmean, median
from typing import Any

from mlsys_widgets.labs import (
    Choice,
    Code,
    Essay,
    Game,
    Impossible,
    Lab,
    Message,
    Number,
    Parameter,
    Parameters,
    Peek,
    Played,
    Prediction,
    Record,
    Reflection,
    Takeaways,
    steps,
)
from mlsys_widgets.ledger.designs import choice, flag, judged, number, predicted
from mlsys_widgets.measured.cache_runs import (
    TOKEN,
    USUAL,
    CacheRun,
    check_time,
    longest,
    play,
    replay,
)
from mlsys_widgets.measured.simulated_replays import filled, trace
from mlsys_widgets.physics import (
    Speculation,
    devices,
    paged_cache,
    reserved_cache,
    serving_time,
    speculation,
)
from mlsys_widgets.physics import format_quantity as q
from mlsys_widgets.physics.admission import AdmissionRun, ImpossibleAdmission
from mlsys_widgets.physics.admission import replay as replay_admission
from mlsys_widgets.physics.model_kernels import Phase
from mlsys_widgets.wording.plurals import counted

ROOMS = 32
MEMORY, QUARTER = 6.44e9, 1.61e9
ROOM = longest()
BLOCK, MOST = 16, 256
GUESSES, FEWER, RIGHT, GUESS = 7, 3, 0.7, 0.05
MANY = 128
DOOR_REQUESTS, DOOR_ANSWER, DOOR_PAUSE = 28, 260, 0.1
EXAMPLE_MEMORY, EXAMPLE_TOKEN = 1e9, 50e3
EXAMPLE_PROMPT, EXAMPLE_ANSWER, EXAMPLE_BLOCK = 9000, 2000, 2001
EXAMPLE_ROOM, EXAMPLE_HELD = 4000, 1000
EXAMPLE_GUESSES, EXAMPLE_RIGHT, EXAMPLE_CHECK, EXAMPLE_GUESS = 9, 0.9, 5, 0.5
EXAMPLE_ONE, EXAMPLE_ITS_GUESS = 1.25, 0.25
EXAMPLE_USERS, EXAMPLE_TOKENS, EXAMPLE_STEP = 3000, 2000, 1

OFFERS = tuple(
    " ".join(f"{each:g}" for each in offer)
    for offer in (
        *((210, 120, 768, 128, 17.5), (360, 60, 512, 64, 25.5), (390, 180, 640, 128, 17.5)),
        *((420, 300, 896, 128, 14), (480, 100, 768, 128, 15), (320, 80, 512, 128, 22)),
        *((400, 140, 640, 16, 19.1667), (370, 140, 768, 128, 17.5), (300, 200, 640, 128, 19)),
        *((450, 280, 896, 16, 15), (400, 60, 512, 16, 21.875), (320, 200, 640, 128, 20.5)),
        *((210, 100, 1024, 64, 18.75), (160, 80, 1024, 64, 23.3333), (170, 140, 768, 16, 23.3333)),
        *((380, 80, 1280, 16, 15.8333), (240, 60, 1280, 128, 17), (340, 240, 1280, 16, 14.375)),
        *((210, 60, 1024, 16, 25.5), (180, 100, 896, 128, 22), (180, 160, 1024, 32, 24)),
        *((150, 120, 640, 32, 27.5), (220, 120, 896, 64, 21.6667), (250, 180, 896, 128, 13.75)),
        *((250, 200, 768, 64, 15), (170, 140, 512, 32, 21.25), (290, 200, 768, 16, 14)),
        *((400, 200, 896, 16, 12), (340, 160, 896, 64, 13.3333), (330, 220, 896, 16, 11.6667)),
        *((290, 100, 768, 32, 16.25), (310, 60, 768, 32, 17.5), (200, 120, 512, 64, 21.25)),
    )
)

EXAMPLE_FREE, EXAMPLE_WAITING = 10, (40, 20, 100)

NOOR = ("Noor Haddad", "Head of ML infrastructure")
LENA = ("Lena Brandt", "Model serving engineer")


@cache
def run(policy: str, memory: float) -> CacheRun:
    return play(policy, memory, BLOCK, USUAL, MOST)


@cache
def holds(policy: str, memory: float) -> float:
    return run(policy, memory).served.kept * TOKEN / memory


@cache
def usual() -> tuple[int, int, int, int]:
    prompts, answers = ([each[k] for each in trace(replay())] for k in (1, 2))
    most = fmean(max(answers[k : k + ROOMS]) for k in range(0, len(answers), ROOMS))
    middle = median(answers)
    return round(fmean(prompts)), round(fmean(answers)), round(middle), round(most / middle)


@cache
def measured_share() -> float:
    return filled(replay("static", ROOMS))


@cache
def guessing(users: int, guesses: int = GUESSES) -> Speculation:
    return speculation(RIGHT, guesses, check_time(users, guesses + 1), GUESS)


def from_earlier(found: Mapping[str, Mapping[str, Any]]) -> str:
    said = []
    precision = found.get("lab_10_fewer_bits", {}).get("precision")
    if isinstance(precision, str):
        said.append(f"In Lab 10 you stored the weights in {precision}.")
    users = found.get("lab_11_roofline", {}).get("batch")
    if isinstance(users, int | float) and users > 0:
        said.append(f"In Lab 11 you served a batch of {q(users)}.")
    limit = found.get("lab_13_tail", {}).get("load_limit")
    if isinstance(limit, int | float) and limit > 0:
        said.append(f"Your limit of Lab 13 keeps a server {q(limit / 100, '%')} busy.")
    if not said:
        return (
            "No designs of Labs 10, 11 and 13 were found beside this lab, which is fine: the"
            " service below has numbers of its own."
        )
    return " ".join(said) + " What is left of the memory is the cache, and it decides who waits."


def offer_of(p: Parameters) -> tuple[int, ...]:
    *tokens, users = map(float, p.offer.split())
    return (*map(int, tokens), round(users * p.offer_gb))


def offers(p: Parameters) -> dict[str, float]:
    prompt, answer, room, block, _ = offer_of(p)
    memory = p.offer_gb * 1e9
    return {
        "fp8": float(reserved_cache(memory, TOKEN / 2, prompt, answer, room).users),
        "pages": float(paged_cache(memory, TOKEN, prompt, answer, block).users),
    }


lab = Lab(
    "lab_14_pages",
    title="Lab 14: Every Token Its Page",
    question="The memory is full. Is it used?",
    chapter=14,
    acts=("A full cache", "Guessing ahead"),
    parameters={
        "cache_gb": Parameter(10, steps(6, 30, 0.1), "GB", "memory of the cache"),
        "prompt_tokens": Parameter(300, steps(150, 600, 1), "tokens", "tokens of a prompt"),
        "answer_tokens": Parameter(200, steps(120, 480, 2), "tokens", "tokens of an answer"),
        "block": Parameter(64, (64, 80, 96, 112, 128, 160, 192), "tokens", "tokens of a page"),
        "empty_pct": Parameter(8, steps(4, 16, 0.1), "%", "of what is handed out may be empty"),
        "offer": Parameter(
            OFFERS[-1],
            OFFERS,
            "",
            "a smaller cache or pages",
        ),
        "offer_gb": Parameter(12, steps(8, 24, 0.1), "GB", "memory of both offers"),
        "guesses": Parameter(5, (4, 5, 6, 8), "guesses", "guesses for each step"),
        "right_pct": Parameter(70, steps(62, 86, 0.2), "%", "guesses that are right"),
        "check": Parameter(1.4, steps(1.1, 1.8, 0.005), "steps", "time of a step that checks"),
        "guess_pct": Parameter(6, steps(3, 11, 0.05), "%", "of a step that a guess takes"),
        "step_ms": Parameter(12, steps(8, 20, 0.1), "ms", "time of a step"),
        "door_pages": Parameter(64, (56, 64, 72), "pages", "pages of the engine to write for"),
        "first_s": Parameter(1.75, (1.5, 1.75), "s", "until the first token of an answer"),
        "load": Parameter(26, steps(25, 28, 0.5), "requests/s", "requests of the design"),
    },
    materials={
        "from_earlier": from_earlier,
        "holds": holds,
        "measured_share": measured_share,
        "guessing": guessing,
        "memory": {"all": MEMORY, "quarter": QUARTER},
    },
    design={
        "policy": choice("how memory is handed out", "static", "continuous", "paged"),
        "memory_gb": number("memory of the cache, in gigabytes", 0),
        "block": number("tokens of a page", 1),
        "batch": number("users that are served at once, at most", 1),
        "users": number("users that are served at once, on average", 0),
        "rate_per_second": number("requests that arrive, per second", 0),
        "first_token_s": number("what one first token in ten exceeds, in seconds", 0),
        "token_ms": number("time of each further token, in milliseconds", 0),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_prediction": predicted("what was predicted in the second act"),
        "act2_correct": judged("whether that was right"),
        "constraint_hit": flag("whether the design breaks a promise"),
    },
    deeper=(
        "admission",
        "act1_why",
        "act1_peek",
        "act2_why",
        "act2_peek",
        "advice",
        "deeper_kept",
    ),
)


@lab.asks
def opening(p: Parameters) -> Message:
    return Message(
        *NOOR,
        "Out of memory, out of money",
        "Our chat service runs Llama-3.1-8B on a part of an H200. Besides the weights it has"
        f" {q(MEMORY, 'B')} for the KV cache, and the dashboard has shown that cache as 100% in"
        " use since the day we started. Users wait for their first word all the same, and the"
        " team asks for a second GPU.\n\n"
        f"The longest request that we accept has {q(ROOM)} tokens, so the engine sets aside room"
        f" for that many, {q(ROOMS)} times, and takes {q(ROOMS)} chats together as a batch. That"
        " is safe, says the team: nobody ever runs out.\n\n"
        "Before I sign for another card, I want to know what is in this one.",
        task="Find out how much of the cache holds anything, and serve more users with less of it.",
        in_context={
            "cloud": f"All of this is about the {devices['h200-sxm'].name}, on which these requests"
            " were replayed.",
            "edge": "The camera team wants a chat on its small module, which nobody has measured."
            " Which of your answers are about tokens, and hold there, and which are about time?",
        },
        act=1,
    )


@lab.asks
def act1_filled(p: Parameters) -> Prediction:
    shares = {"A": 0.9, "B": 0.5, "C": 0.25, "D": 0.09}
    prompt, answer, middle, times = usual()
    flowing, pages = (run(policy, MEMORY).served for policy in ("continuous", "paged"))
    still, left = q(prompt + answer // 2), q(float(f"{holds('static', MEMORY):.2g}"), "%")
    return Prediction(
        f"{q(USUAL)} requests arrive per second. A prompt has {q(prompt)} tokens on average and an"
        f" answer {q(answer)}; together they may have up to {q(ROOM)}, and {q(ROOMS)} rooms of that"
        f" size are reserved. The {q(ROOMS)} requests of a batch start together, and the next batch"
        f" starts when all of them are done. Half of the answers have at most {q(middle)} tokens,"
        f" and the longest of a batch usually has about {q(times)} times as many. What fraction of"
        " the cache holds a token that is still needed, on average?",
        {
            "A": "about 90%: the dashboard says that it is full",
            "B": "about 50%: half of each room stays free",
            "C": "about 25%: as much as a usual request needs",
            "D": "about 9%: most rooms wait for the longest",
        },
        values=shares,
        unit="%",
        quantity="filled",
        settings={"policy": "static", "memory": MEMORY, "load": USUAL, "most": MOST},
        title="What is in a full cache?",
        answer=min(shares, key=lambda key: abs(shares[key] - holds("static", MEMORY))),
        feedback={
            "A": "The dashboard shows what was handed out, and reserved rooms are handed out before"
            f" anybody comes. A room is for {q(ROOM)} tokens, and a usual request has"
            f" {q(prompt + answer)} at its very end. Only {left} of the memory holds a token that"
            " is still needed. Play the film: orange is what is taken and empty.",
            "B": "You expected requests to need half of a room. Few do: a usual one has"
            f" {still} tokens while it is written, of {q(ROOM)}. And a batch keeps all rooms until"
            f" its longest answer ends. That leaves {left}. Switch to *Continuous*, where a room is"
            " free as soon as its own answer ends, and watch the line of those who wait.",
            "C": f"That is what a room holds while its answer is written: {still} of {q(ROOM)}"
            " tokens. But a batch ends with its longest answer, and until then, rooms whose answers"
            f" are done hold nothing of use. So {left} is left. In *Continuous* they are free at"
            f" once, and {q(flowing.users)} of the {q(ROOMS)} rooms are in use on average.",
            "D": f"Two losses multiply: a usual request needs {still} of the {q(ROOM)} tokens of"
            " its room, and rooms of short answers stay taken until the longest is written."
            f" *Continuous* ends the second loss, and {q(flowing.users)} rooms are enough on"
            " average. *Pages* end the first: the same tokens then take"
            f" {q(pages.held * TOKEN / MEMORY, '%')} of the memory. Compare both in a quarter of"
            " it.",
        },
        where="256 requests replayed on one H200, and simulated",
        act=1,
    )


def _kept() -> float:
    return EXAMPLE_PROMPT + EXAMPLE_ANSWER / 2


@lab.asks
def users_and_pages(p: Parameters) -> Number:
    return Number(
        f"Another cache has {p.cache_gb:g} GB, and a token takes {q(TOKEN)} bytes of it. It is"
        f" handed out in pages of {p.block} tokens. Prompts have {p.prompt_tokens} tokens and"
        f" answers {p.answer_tokens}, and users are anywhere in their answers. How many users does"
        " it hold on average, when it is full? Answer in users, as in 75.5.",
        "users",
        points=17,
        low=1,
        high=500_000,
        hint="On average half of the answer is written, and the last page of each user is as likely"
        " to have one token as to be full.",
        worked_example=f"A cache of {q(EXAMPLE_MEMORY, 'B')} with {q(EXAMPLE_TOKEN)} bytes per"
        f" token has {q(EXAMPLE_MEMORY / EXAMPLE_TOKEN)} places. With {q(EXAMPLE_PROMPT)} tokens of"
        f" prompt and half of {q(EXAMPLE_ANSWER)} written, a user has {q(_kept())} tokens. The last"
        f" page of {q(EXAMPLE_BLOCK)} has between one token and all of them, so"
        f" {q((EXAMPLE_BLOCK - 1) / 2)} places are empty on average. Each user holds"
        f" {q(_kept() + (EXAMPLE_BLOCK - 1) / 2)} places; divide the cache by that.",
        title="Users and their pages",
        act=1,
        after=["act1_filled"],
    )


@lab.asks(instead_of="users_and_pages")
def page_tokens(p: Parameters) -> Number:
    return Number(
        f"Prompts have {p.prompt_tokens} tokens and answers {p.answer_tokens}, and users are"
        f" anywhere in their answers. Of the memory that is handed out in pages, at most"
        f" {p.empty_pct:g}% may be empty on average. How many tokens may a page have? Answer in"
        " tokens, as in 75.5.",
        "tokens",
        points=17,
        low=1,
        high=10_000,
        hint="On average half of the answer is written, and the last page of each user is as likely"
        " to have one token as to be full. The percentage is of what a user holds, tokens and"
        " empty places together.",
        worked_example=f"With {q(EXAMPLE_PROMPT)} tokens of prompt and half of {q(EXAMPLE_ANSWER)}"
        f" written, a user has {q(_kept())} tokens. If half of what is held may be empty, that is"
        " as many places again. A page of B tokens leaves half of B − 1 empty on average, so B is"
        f" {q(2 * _kept() + 1)}. For a smaller part, first find what a user may hold.",
        title="Users and their pages",
        act=1,
        after=["act1_filled"],
    )


@lab.asks
def smaller_or_paged(p: Parameters) -> Choice:
    prompt, answer, room, block, users = offer_of(p)
    return Choice(
        f"A cache of {p.offer_gb:g} GB must hold {users} users on average when it is full. One"
        f" offer keeps rooms for {room} tokens and stores each token in fp8, {q(TOKEN / 2)} bytes."
        f" The other keeps fp16, {q(TOKEN)} bytes, and hands out pages of {block} tokens. Prompts"
        f" have {prompt} tokens and answers {answer}. Which offers hold that many?",
        {
            "fp8": "only the rooms with tokens in fp8",
            "pages": "only the pages with tokens in fp16",
            "both": "both of them hold that many",
        },
        points=5,
        worked_example=f"A cache of {q(EXAMPLE_MEMORY, 'B')} has"
        f" {q(EXAMPLE_MEMORY / EXAMPLE_TOKEN)} places for tokens of {q(EXAMPLE_TOKEN)} bytes, and"
        f" {q(2 * EXAMPLE_MEMORY / EXAMPLE_TOKEN)} for tokens of half the bytes. In rooms for"
        f" {q(EXAMPLE_ROOM)} tokens, the latter hold"
        f" {q(2 * EXAMPLE_MEMORY / EXAMPLE_TOKEN / EXAMPLE_ROOM)} users. In pages, where a user"
        f" holds {q(EXAMPLE_HELD)} places on average, there is room for"
        f" {q(EXAMPLE_MEMORY / EXAMPLE_TOKEN / EXAMPLE_HELD)}. Which one wins depends on how much"
        " of its room a user needs.",
        title="Fewer bytes or pages",
        act=1,
        after=["act1_filled"],
    )


@lab.asks
def rate_per_s(p: Parameters) -> Number:
    return Number(
        f"A cache of {p.cache_gb:g} GB is full: in pages of {p.block} tokens, with {q(TOKEN)} bytes"
        f" per token, prompts of {p.prompt_tokens} and answers of {p.answer_tokens} tokens. A step"
        f" takes {p.step_ms:g} ms and gives every user a token; reading prompts is not counted. How"
        " many requests are completed per second? Answer in requests per second, as in 7.5.",
        "requests per second",
        points=9,
        low=0.1,
        high=200_000,
        hint="First find how many users the cache holds. Each of them stays for as many steps as"
        " the answer has tokens, and Little's law does the rest.",
        worked_example=f"{q(EXAMPLE_USERS)} users are served at once elsewhere, with answers of"
        f" {q(EXAMPLE_TOKENS)} tokens in steps of {q(EXAMPLE_STEP, 's')}. Each stays for"
        f" {EXAMPLE_TOKENS * EXAMPLE_STEP:,} s, so {q(EXAMPLE_USERS)} / {q(EXAMPLE_TOKENS)} ="
        f" {q(EXAMPLE_USERS / EXAMPLE_TOKENS / EXAMPLE_STEP)} are completed per second.",
        title="Users and requests",
        act=1,
        after=["act1_filled"],
    )


@cache
def _steps() -> dict[str, list[float]]:
    def seconds(phase: Phase, batch: int, tokens: int) -> float:
        return float(serving_time("llama31-8b", "h200-sxm", phase, batch, tokens).time)

    token = (seconds("prefill", 1, 320) - seconds("prefill", 1, 64)) / 256
    user = (seconds("decode", 16, 256) - seconds("decode", 1, 256)) / 15
    read = [seconds("prefill", 1, 64) - 64 * token, token]
    return {"read": read, "write": [seconds("decode", 1, 256) - user, user, 0.0]}


def requests_of(p: Parameters, seed: str, alike: int) -> dict[str, Any]:
    come, write = random.Random(seed), random.Random(f"{seed} answers")
    now, requests = 0.0, []
    for k in range(DOOR_REQUESTS):
        if k == alike:
            write = random.Random(f"{seed} {alike}")
        if k == alike + 4:
            come = random.Random(f"{seed} {alike} later")
        if k % 2 == 0 or k == alike:
            lengths = write.sample([(20, 60), (160, DOOR_ANSWER)], 2)
        now += come.expovariate(p.door_pages / 4.5)
        requests.append([round(now, 3), come.randint(20, 60), write.randint(*lengths[k % 2])])
    promise = {"first": p.first_s, "pause": DOOR_PAUSE}
    return {"requests": requests, "pages": p.door_pages, "block": BLOCK, **_steps(), **promise}


def _replayed(decided: list[Any], requests: dict[str, Any]) -> Played:
    try:
        found = replay_admission(decided, requests)
    except ImpossibleAdmission as why:
        raise Impossible(str(why)) from None
    says = (
        f"{found.kept} of {DOOR_REQUESTS} answers keep both promises. {found.in_time} begin in"
        f" time, {found.flowing} never pause for too long, and pages were lost"
        f" {counted(found.served.again, 'time')}."
    )
    return Played(found.kept, says, found.shown, decided)


DOOR = Game("from mlsys_widgets.physics.admission import play", _replayed, unit="answers in time")


@lab.asks
def admission(p: Parameters) -> Code:
    engine = AdmissionRun(**requests_of(p, "open", DOOR_REQUESTS))
    needed = [-(-tokens // BLOCK) for tokens in EXAMPLE_WAITING]
    return Code(
        "Pages need somebody at the door. Write `admit`, which returns how many of those who wait"
        " are let in now, in the order in which they came.\n\n"
        f"An engine with {p.door_pages} pages of {BLOCK} tokens calls it before each step in which"
        " somebody waits. `free_pages` is a number; `running` and `waiting` are lists of pairs."
        " `running` has a pair `(tokens in the cache, tokens of the answer so far)` for each"
        " request inside, in the order in which they were let in; `waiting` has a pair `(tokens to"
        " read, seconds since it came)` for each that waits, the first to come first.\n\n"
        f"A prompt takes its pages at once. An answer has up to {DOOR_ANSWER} tokens and takes a"
        " page whenever its last one is full. If none is free, the request that came in last loses"
        " its pages, waits, and is read again.\n\n"
        f"Users were promised the first token within {p.first_s:g} s, and then no pause above"
        f" {DOOR_PAUSE:g} s. Hidden runs count how many of {DOOR_REQUESTS} answers keep both,"
        " beside those of our best policy. Decide by the arguments alone, without chance or clock.",
        "admit(free_pages, running, waiting)",
        [([vars(engine)], engine.came_of(engine.serve()).kept)],
        points=6,
        title="Who is let in",
        worked_example=f"Elsewhere {EXAMPLE_FREE} pages of {BLOCK} tokens are free, and three"
        f" requests wait with {', '.join(map(str, EXAMPLE_WAITING))} tokens to read. They need"
        f" {', '.join(map(str, needed))} pages. All of them need {sum(needed)}, so 3 is an answer"
        f" that no engine can follow. The first two leave {EXAMPLE_FREE - sum(needed[:2])} pages."
        " Whether to let them in depends on those who run already: each of them will fill its last"
        " page and want another one.",
        act=1,
        after=["act1_filled"],
        game=DOOR,
    )


@lab.asks
def act1_why(p: Parameters) -> Reflection:
    rooms, pages = (run(policy, QUARTER) for policy in ("continuous", "paged"))
    return Reflection(
        "In a quarter of the memory, most users wait for a room, and hardly anybody for pages. What"
        " do pages change?",
        {
            "A": "they store each token in fewer bytes, so that more of them fit",
            "B": "they hand out what is needed now, and not what may be needed",
            "C": "they write answers faster, so that users leave the cache sooner",
            "D": "they refuse long requests, so that short ones find their place",
        },
        right="B",
        feedback={
            "A": f"A token has the same {q(TOKEN)} bytes in a room and in a page. What changes is"
            " how much empty memory goes with it: of what is handed out,"
            f" {q(_used(rooms), '%')} is used in rooms and {q(_used(pages), '%')} in pages.",
            "B": "A room is reserved for what a request might become; a page is handed out when a"
            " token needs it. So what one user does not need is there for others:"
            f" {q(pages.served.users)} are served at once instead of {q(rooms.served.users)}. The"
            " price is that pages can run out, and then somebody has to give them back.",
            "C": f"They do not: each further token takes {q(pages.pace, 's')} with pages and"
            f" {q(rooms.pace, 's')} with rooms, because more users share each step. What became"
            f" shorter is the line. Nine in ten have their first token within {q(pages.wait, 's')}"
            f" instead of {q(rooms.wait, 's')}.",
            "D": "Nobody is refused: both served the same 256 requests, long ones included. With"
            f" pages {q(pages.served.users)} are served at once instead of {q(rooms.served.users)},"
            " because empty places belong to nobody. If pages run out, the one that came last waits"
            " and is read again.",
        },
        title="What do pages change?",
        act=1,
        after=["act1_filled"],
    )


def _used(cache_run: CacheRun) -> float:
    return cache_run.served.kept / cache_run.served.held


@lab.asks
def act1_peek(p: Parameters) -> Peek:
    prompt, answer, *_ = usual()
    return Peek(
        {
            "In rooms": reserved_cache(MEMORY, TOKEN, prompt, answer, ROOM),
            "In pages": paged_cache(MEMORY, TOKEN, prompt, answer, BLOCK),
            "What is assumed": "The cache is always full, and every request has the same length."
            " Requests that differ count by the time for which they stay: a long answer is in the"
            " cache for longer, and weighs more.",
        },
        title="The equations of Act 1",
        act=1,
        after=["act1_filled"],
    )


@lab.asks
def guess_message(p: Parameters) -> Message:
    return Message(
        *LENA,
        "Three tokens for the price of one",
        "Your pages are in, and the line is gone. Now I have something that makes every answer"
        " faster as well.\n\n"
        f"A small model guesses the next {q(GUESSES)} tokens, which takes it"
        f" {q(GUESS, '%')} of one of our steps each. The large model then reads all of them in a"
        " single step and keeps the guesses up to the first wrong one, plus a token of its own. I"
        f" tried it last night, alone on the server: {q(RIGHT, '%')} of the guesses are right, and"
        " the text races across the screen.\n\n"
        "I would like to switch it on for everybody on Monday, also on the server that has a whole"
        f" card for its cache and {q(MANY)} users at once. The paper says that it never costs"
        " anything, because a step waits for its weights anyway.",
        task="Say what guessing gains for one user, and for a full batch.",
        act=2,
        after=["act1_filled"],
    )


@lab.asks
def act2_guess(p: Parameters) -> Prediction:
    one, many, few = guessing(1), guessing(MANY), guessing(MANY, FEWER)
    gains = {"A": float(f"{one.speedup:.3g}"), "B": 0.9, "C": GUESSES * RIGHT, "D": 1.5}
    alone, checked = q(one.check, "×"), q(many.check, "×")
    paid = (
        f"With its guesses that is the time of {q(many.time)} plain steps, which would write"
        f" {q(many.time)} tokens for each user; guessing writes {q(many.tokens)}, so it is"
        f" {q(many.speedup, '×')} as fast."
    )
    return Prediction(
        "A plain step writes one token for each user. Of"
        f" {q(GUESSES)} guessed tokens, each is right with a chance of {q(RIGHT, '%')} and takes"
        f" {q(GUESS, '%')} of the time of a plain step. With one user on the H200, guessing is"
        f" {q(gains['A'])} times as fast as plain steps. How fast is it with {q(MANY)} users at"
        " once, compared with plain steps?",
        {
            "A": f"about {q(gains['A'])} times: the same as for one user",
            "B": f"about {q(gains['B'])} times: slower than plain steps",
            "C": f"about {q(gains['C'])} times: many share the guessing",
            "D": f"about {q(gains['D'])} times: a part of it is lost",
        },
        values=gains,
        unit="×",
        title="Does guessing pay for everybody?",
        answer=min(gains, key=lambda key: abs(gains[key] - float(many.speedup))),
        distance="times",
        feedback={
            "A": "That holds while a step waits for its weights. With one user, checking takes"
            f" {alone} as long as a plain step. With {q(MANY)} there are {q(8 * MANY)} rows in"
            f" every product, and it takes {checked} as long. {paid}",
            "B": f"With one user, checking takes {alone} as long as a plain step, and with"
            f" {q(MANY)} it takes {checked}, both measured. {paid} With {q(FEWER)} guesses instead"
            f" of {q(GUESSES)} it is {q(few.speedup, '×')} as fast: less work is wasted on guesses"
            " that nobody keeps.",
            "C": f"{q(GUESSES)} guesses of which {q(RIGHT, '%')} are right sounds like"
            f" {q(gains['C'])} tokens. But everything after the first wrong guess is thrown away."
            f" And with {q(MANY)} users, checking takes {checked} as long as a plain step. {paid}",
            "D": f"A part is lost, and it is more than the gain. Checking takes {alone} as long as"
            f" a plain step for one user and {checked} for {q(MANY)}, measured. {paid} With"
            f" {q(FEWER)} guesses it would be {q(few.speedup, '×')}.",
        },
        where="steps of 1 and of 8 tokens measured on one H200, 2,048 tokens in each cache",
        act=2,
        after=["act1_filled"],
    )


def _guessed(p: Parameters) -> str:
    return (
        f"On another GPU a small model guesses {p.guesses} tokens for each step, and each is right"
        f" in {p.right_pct:g}% of the cases, whatever came before it. A step that checks them takes"
        f" {p.check:g} plain steps."
    )


@lab.asks
def guesses_and_time(p: Parameters) -> Number:
    return Number(
        f"{_guessed(p)} A guess takes {p.guess_pct:g}% of a plain step. How many times as fast as"
        " plain steps is that? Answer as a factor, as in 1.35.",
        "times",
        points=17,
        low=0.05,
        high=20,
        hint="A guess counts only if all before it are right. Add up the chances, and one token"
        " that the large model always writes.",
        worked_example=f"{_elsewhere()} Checking takes {EXAMPLE_CHECK} plain steps and each guess"
        f" {q(EXAMPLE_GUESS)}, together {q(_example().time)}. So it is"
        f" {q(_example().speedup, '×')} as fast: it does not pay.",
        title="Guesses and their time",
        act=2,
        after=["act2_guess"],
    )


@lab.asks(instead_of="guesses_and_time")
def slowest_guess_pct(p: Parameters) -> Number:
    return Number(
        f"{_guessed(p)} How long may one guess take at most, so that guessing is no slower than"
        " plain steps? Answer in percent of a plain step, as in 12.5.",
        "percent",
        points=17,
        low=0.1,
        high=500,
        hint="A guess counts only if all before it are right. Add up the chances, and one token"
        " that the large model always writes: plain steps would take one step for each of them.",
        worked_example=f"{_elsewhere()} Plain steps would take one step for each of these tokens."
        f" Checking takes as long as {EXAMPLE_CHECK} of them, so the time of"
        f" {q(_example().tokens - EXAMPLE_CHECK)} steps is left for all {EXAMPLE_GUESSES} guesses"
        " together.",
        title="Guesses and their time",
        act=2,
        after=["act2_guess"],
    )


def _example() -> Speculation:
    return speculation(EXAMPLE_RIGHT, EXAMPLE_GUESSES, EXAMPLE_CHECK, EXAMPLE_GUESS)


def _elsewhere() -> str:
    return (
        f"Elsewhere {EXAMPLE_GUESSES} tokens are guessed, {q(EXAMPLE_RIGHT, '%')} of them right."
        f" The first one counts in {q(EXAMPLE_RIGHT, '%')} of the steps, the second in"
        f" {q(EXAMPLE_RIGHT**2, '%')}, and so on; with the token that the large model adds, a step"
        f" writes {q(_example().tokens)} tokens."
    )


@lab.asks
def least_right_pct(p: Parameters) -> Number:
    return Number(
        f"A single token is guessed for each step. Checking it takes {p.check:g} plain steps, and"
        f" the guess {p.guess_pct:g}% of one. In how many cases must the guess be right, so that"
        " guessing is no slower? Answer in percent, as in 12.5.",
        "percent",
        points=9,
        low=2,
        high=200,
        hint="With one guess a step writes one token, and a second one if the guess was right.",
        worked_example=f"Elsewhere, checking one guess takes {EXAMPLE_ONE:g} plain steps and the"
        f" guess {q(EXAMPLE_ITS_GUESS)} of one: {q(EXAMPLE_ONE + EXAMPLE_ITS_GUESS)} together. So a"
        f" step has to write {q(EXAMPLE_ONE + EXAMPLE_ITS_GUESS)} tokens on average. One of them is"
        " there in any case; for the rest, the guess must be right in half of the cases.",
        title="How often right?",
        act=2,
        after=["act2_guess"],
    )


@lab.asks
def act2_why(p: Parameters) -> Reflection:
    one, many = check_time(1, 8), check_time(MANY, 8)
    ridge = float(devices["h200-sxm"].ridge("fp16"))
    return Reflection(
        f"Checking 8 tokens takes {q(one, '×')} as long as a plain step with one user, and"
        f" {q(many, '×')} with {q(MANY)}. Why?",
        {
            "A": "with many users, more of the guesses turn out to be wrong",
            "B": "with one user, arithmetic idles while the weights arrive",
            "C": "with many users, weights have to be read once for each",
            "D": "with one user, the cache is too short to matter",
        },
        right="B",
        feedback={
            "A": "How many guesses are right depends on the text and on the two models, not on how"
            f" many others are there: {q(guessing(MANY).tokens)} tokens per step in both cases."
            " What grows is the time of the step that checks them.",
            "B": "A step of one user reads all weights for a single row, and 8 rows use the same"
            f" trip. With {q(MANY)} users a plain step has {q(MANY)} rows and the checking step"
            f" {q(8 * MANY)}, far beyond the ridge of {q(ridge, 'FLOP/B')}: now every row costs"
            " arithmetic, and guesses that nobody keeps cost as much as others.",
            "C": "Weights are read once per step, for all users together; that is why a batch pays"
            f" at all. But its {q(8 * MANY)} rows have to be multiplied, and beyond the ridge of"
            f" {q(ridge, 'FLOP/B')} the arithmetic takes longer than the weights.",
            "D": "In both measurements every cache has 2,048 tokens. Checking reads each cache once"
            " for all 8 tokens, so this part grows little. What grows are the rows of the products:"
            f" 8 with one user, {q(8 * MANY)} with {q(MANY)}.",
        },
        title="Why is checking free for one?",
        act=2,
        after=["act2_guess"],
    )


@lab.asks
def act2_peek(p: Parameters) -> Peek:
    return Peek(
        {
            "One user": guessing(1),
            f"{q(MANY)} users": guessing(MANY),
            f"{q(MANY)} users, {q(FEWER)} guesses": guessing(MANY, FEWER),
            "What is assumed": "Each guess is right with the same chance, whatever came before it."
            " Real text has easy and hard places, so measure how many tokens are kept.",
        },
        title="The equations of Act 2",
        act=2,
        after=["act2_guess"],
    )


@lab.asks
def advice(p: Parameters) -> Essay:
    return Essay(
        "Write to Noor and Lena. What is in the cache that the dashboard calls full, and what do"
        " you do instead of buying a second GPU? What can go wrong with pages? When would you let"
        " the small model guess, and what would you measure before you switch it on?",
        [
            (5, "tells apart what is handed out and what is used, with numbers of this cache"),
            (4, "names pages and the end of static batches, and says what each of them changes"),
            (3, "says what happens when pages run out, and what limits it"),
            (3, "ties guessing to the number of users, by numbers, and says what to measure"),
        ],
        at_least=100,
        at_most=250,
        after=["act2_guess"],
    )


@lab.asks
def commitments(p: Parameters) -> Record:
    return Record(["act1_filled", "act2_guess", "design"], points=14)


@lab.asks
def deeper_kept(p: Parameters) -> Record:
    return Record(["act1_why", "act2_why"], points=8)


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    return Takeaways(
        [
            (
                "Handed out is not used",
                f"Rooms for the longest request, in batches, held tokens in"
                f" {q(measured_share(), '%')} of the cache on the H200.",
            ),
            (
                "Pages leave little empty",
                "Only the last page of each user has room left. When pages run out, the request"
                " that came last gives its own back and is read again.",
            ),
            (
                "Free arithmetic is free only while it idles",
                f"Guessing {q(GUESSES)} tokens is {q(guessing(1).speedup, '×')} as fast for one"
                f" user and {q(guessing(MANY).speedup, '×')} for {q(MANY)}; fewer guesses pay"
                " longer.",
            ),
        ],
        ahead="Your cache stays in your ledger, for the labs on energy and cost.",
        after=["rate_per_s", "guesses_and_time"],
    )
