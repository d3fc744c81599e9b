"""A participant's page in a real browser, from the consent to the score. Nobody was asked."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.studying.key import Key
from tests.browser.conftest import Looking
from tests.browser.opening import Opened
from tests.studying import studies

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EVIL = "</script><img src=x onerror=document.title=1>\u202e\u2028" + "w" * 60
PAUSE = 300  # milliseconds: the page takes no second answer before


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose functions all carry a hostile comment."""
    place = tmp_path_factory.mktemp("study")
    records = studies.functions(14)
    for each in records:
        sign = "#" if each["language"] == "python" else "//"
        each["code"] = each["code"].replace("\n", f"  {sign} {EVIL}\n", 1)
    content = b"".join(orjson.dumps(each) + b"\n" for each in records)
    (place / "functions.jsonl").write_bytes(content)
    studies.write_secret(place)
    return place


@pytest.fixture(scope="module")
def key(folder: Path) -> Key:
    design = pm.StudyDesign("balanced", 3, 1, 2, 2)
    marking = pm.StudyMarking(tau=0, min_rate=1, max_rate=1, max_width=200)
    return studies.make(folder, design=design, marks=["universal"], marking=marking)[1]


@pytest.fixture
def path(folder: Path, key: Key) -> Path:
    return folder / "pages" / "p01.html"


def press(page: "Page", *keys: str) -> None:
    for each in keys:
        page.wait_for_timeout(PAUSE)
        page.keyboard.press(each)


def begin(page: "Page") -> None:
    """From the consent to the first function, by keys alone."""
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator("#intro-title").inner_text() == "Round 1 of 2"
    page.keyboard.press("Enter")


def see(page: "Page", title: str) -> None:
    """Wait for a heading: on a busy machine a page shows it after the load was reported."""
    from playwright.sync_api import expect

    expect(page.locator("section:not([hidden]) h1")).to_have_text(title, timeout=10_000)


def save(page: "Page", button: str, target: Path) -> dict[str, Any]:
    with page.expect_download() as waiting:
        page.locator(button).press("Enter")
    waiting.value.save_as(target)
    assert waiting.value.suggested_filename.startswith("answers-p01")
    read: dict[str, Any] = json.loads(target.read_text())
    return read


def shown_labels(path: Path, number: int) -> list[str]:
    order: list[str] = studies.data_of(path)["rounds"][number - 1]["order"]
    return order


def test_a_page_that_found_no_answers_writes_nothing_over_them(look: Looking, path: Path) -> None:
    """After a hasty reload, the answers may reach the storage later than the new page looks."""
    page = look(path).page
    begin(page)
    press(page, "s", "n")
    page.evaluate(
        """() => { const [name] = Object.keys(localStorage);
        sessionStorage.kept = localStorage[name];
        sessionStorage.name = name; localStorage.removeItem(name); }"""
    )
    fresh = page.context.new_page()
    fresh.goto(path.with_name("p02.html").as_uri())
    fresh.wait_for_function("localStorage.length === 0")  # until the browser has seen it
    fresh.goto(page.url)
    see(fresh, "Before you begin")
    assert fresh.evaluate("Object.keys(localStorage)") == []
    page.evaluate("localStorage.setItem(sessionStorage.name, sessionStorage.kept)")
    see(fresh, "Round 1, function 3 of 3")
    fresh.reload()
    see(fresh, "Round 1, function 3 of 3")


def test_two_rounds_by_keys_with_a_reload_in_the_middle_an_export_and_a_score(
    look: Looking, path: Path, key: Key, tmp_path: Path
) -> None:
    opened = look(path)
    page = opened.page
    see(page, "Before you begin")
    begin(page)
    see(page, "Round 1, function 1 of 3")
    press(page, "s", "n")
    page.reload()
    see(page, "Round 1, function 3 of 3")
    assert page.locator("#count").inner_text() == "2 of 3 answered"
    # back to the second one, where the answer stands, and another answer instead
    press(page, "ArrowLeft")
    assert page.locator("#no").get_attribute("aria-pressed") == "true"
    press(page, "s", "n")
    see(page, "All functions of round 1 are answered")
    assert "renamed" not in page.locator("main").inner_text()
    press(page, "Enter")
    see(page, "Round 2 of 2")
    assert "A local variable may have been renamed" in page.locator("#intro-text").inner_text()
    press(page, "Enter", "n", "n", "s", "Enter")
    see(page, "Finished")
    page.reload()
    see(page, "Finished")
    told = save(page, "#save", tmp_path / "answers.json")
    given = [[a["suspicious"] for a in each["answers"]] for each in told["rounds"]]
    assert given == [[True, True, False], [False, False, True]]
    for number, each in enumerate(told["rounds"], start=1):
        assert [a["snippet"] for a in each["answers"]] == shown_labels(path, number)
        assert all(PAUSE / 2 < a["milliseconds"] < 60_000 for a in each["answers"])
    assert told == studies.seal(told, key.participants["p01"].token)

    score = pm.score_study([tmp_path / "answers.json"], key, draws=99)
    assert score.problems == ()
    by_label = key.participants["p01"].shown
    (mark,) = [each for each in score.marks if each.round == 2]
    last = by_label[shown_labels(path, 2)[2]]
    assert mark.suspicious.hits == last.is_marked
    assert mark.false_flags.hits == (not last.is_marked)
    assert {url for url in opened.requests if not url.startswith("blob:")} == {path.as_uri()}
    assert opened.complaints == []


def test_what_is_left_open_is_exported_so_far_and_named_by_the_score(
    look: Looking, path: Path, key: Key, tmp_path: Path
) -> None:
    page = look(path).page
    begin(page)
    press(page, "s")
    told = save(page, "#copy", tmp_path / "early.json")
    assert [len(each["answers"]) for each in told["rounds"]] == [1]
    with pytest.raises(pm.PuzzleMarkError, match="1 of 3 answers in round 1 of p01"):
        pm.score_study([tmp_path / "early.json"], key)


def test_the_second_round_is_not_to_be_seen_before_the_first_is_finished(
    look: Looking, path: Path
) -> None:
    page = look(path).page
    begin(page)
    text = page.evaluate(
        """() => {
          const body = document.body.cloneNode(true);
          body.querySelectorAll('script').forEach((script) => script.remove());
          return body.textContent;
        }"""
    )
    assert "renamed" not in text
    press(page, "ArrowRight", "Enter")  # neither skips a function that has no answer
    see(page, "Round 1, function 1 of 3")


def test_a_key_that_is_held_down_or_pressed_twice_answers_once(look: Looking, path: Path) -> None:
    page = look(path).page
    begin(page)
    page.wait_for_timeout(PAUSE)
    page.evaluate(
        """() => { for (const repeat of [false, true, true, false])
          document.body.dispatchEvent(
            new KeyboardEvent('keydown', {key: 's', repeat, bubbles: true})); }"""
    )
    assert page.locator("#count").inner_text() == "1 of 3 answered"


def test_keys_can_be_switched_off(look: Looking, path: Path) -> None:
    page = look(path).page
    begin(page)
    page.uncheck("#shortcuts")
    press(page, "s", "n")
    assert page.locator("#count").inner_text() == "0 of 3 answered"
    page.click("#no")
    assert page.locator("#count").inner_text() == "1 of 3 answered"


def test_nothing_begins_without_consent(look: Looking, path: Path) -> None:
    page = look(path).page
    assert page.locator("#begin").is_disabled()
    page.keyboard.press("Enter")
    see(page, "Before you begin")


def test_hostile_code_is_text_in_the_order_of_its_characters(look: Looking, path: Path) -> None:
    opened = look(path)
    begin(opened.page)
    code = opened.page.locator("#code")
    assert "</script><img src=x onerror=document.title=1>" in code.inner_text()
    assert not {"\u202e", "\u2028"} & set(opened.page.content())
    assert opened.page.locator("img, main script").count() == 0
    assert opened.page.title() == "Reading code: a study"
    label = shown_labels(path, 1)[0]
    expected = studies.text_of(studies.data_of(path)["snippets"][label]).rstrip("\n")
    lines = opened.page.locator("#code .line code").all_text_contents()
    assert "\n".join(lines) == expected
    assert opened.complaints == []


def test_the_script_counts_sha256_as_others_do(look: Looking, path: Path, tmp_path: Path) -> None:
    """The seal of files of many lengths fits: each answer changes the length of what is hashed."""
    page = look(path).page
    begin(page)
    token = studies.data_of(path)["token"]
    for number in range(3):
        press(page, "s")
        button = "#copy"
        told = save(page, button, tmp_path / f"{number}.json")
        assert told == studies.seal(told, token)


def test_a_kept_state_that_cannot_be_read_is_set_aside(look: Looking, path: Path) -> None:
    page = look(path).page
    begin(page)
    place = page.evaluate("Object.keys(localStorage)[0]")
    page.add_init_script(
        f"if (!sessionStorage.done) {{ localStorage.setItem({place!r}, '[1'); }}"
        "sessionStorage.done = 1;"
    )
    page.reload()
    see(page, "Before you begin")
    assert page.evaluate("(place) => localStorage[place + ':unreadable']", place) == "[1"


def test_a_browser_that_keeps_nothing_says_so(look: Looking, path: Path) -> None:
    opened = look(path)
    opened.page.add_init_script(
        "Storage.prototype.setItem = () => { throw new Error('blocked'); };"
    )
    opened.page.reload()
    trouble = opened.page.locator("#trouble")
    assert trouble.is_visible()
    assert "does not keep your answers" in trouble.inner_text()
    begin(opened.page)
    press(opened.page, "s")
    assert opened.page.locator("#count").inner_text() == "1 of 3 answered"


def test_pages_of_two_participants_do_not_share_answers(
    browser: "Browser", look: Looking, path: Path
) -> None:
    page = look(path).page
    begin(page)
    press(page, "s")
    page.goto(path.with_name("p02.html").as_uri())
    see(page, "Before you begin")


def test_a_page_for_each_round_gives_two_files_that_the_score_puts_together(
    look: Looking, folder: Path, tmp_path: Path
) -> None:
    made, key = studies.make(
        folder,
        "twofold",
        design=pm.StudyDesign("balanced", 2, 1, 2, 2),
        marks=["universal"],
        marking=pm.StudyMarking(tau=0, min_rate=1, max_rate=1, max_width=200),
        two_files=True,
    )
    first, second = (look(folder / "twofold" / name).page for name in made.pages[:2])
    begin(first)
    press(first, "s", "n", "Enter")
    assert "you get another page for the next round" in first.locator("#done").inner_text()
    see(second, "Round 2 of 2")
    press(second, "Enter", "n", "n", "Enter")
    assert "Thank you very much" in second.locator("#done").inner_text()
    for number, page in enumerate((first, second), start=1):
        told = save(page, "#save", tmp_path / f"{number}.json")
        assert [each["round"] for each in told["rounds"]] == [number]
    score = pm.score_study(sorted(tmp_path.glob("*.json")), key, draws=99)
    assert score.answered == {"p01": (1, 2)}
    assert score.problems == ()


def stages(opened: Opened) -> Iterator[str]:
    """Every screen of the page, in turn."""
    page = opened.page
    yield "consent"
    page.check("#agree")
    page.click("#begin")
    yield "intro"
    page.click("#start")
    yield "judge"
    press(page, "s", "ArrowLeft")
    yield "answered"
    press(page, "s", "s", "s")
    yield "end"
    page.click("#finish")
    yield "disclosure"
    page.click("#start")
    press(page, "s", "s", "s")
    page.click("#finish")
    yield "done"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_screen_fits_and_every_text_can_be_read(
    look: Looking, path: Path, width: int, dark: bool
) -> None:
    opened = look(path, width=width, dark=dark)
    for stage in stages(opened):
        assert opened.overflowing() == [], stage
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width, stage
        assert len(opened.contrasts()) > 5, stage
        assert opened.pale() == [], stage
        names = [
            node.get_attribute("aria-label") or node.inner_text()
            for node in opened.page.locator("button:visible").all()
        ]
        assert all(names), stage
        focused = opened.page.evaluate("document.activeElement.tagName")
        assert stage == "answered" or focused == "H1", stage


def test_a_screen_reader_is_told_what_there_is(look: Looking, path: Path) -> None:
    page = look(path).page
    begin(page)
    tree = page.locator("main").aria_snapshot()
    assert 'heading "Round 1, function 1 of 3"' in tree
    assert 'region "Code of this function"' in tree
    assert re.search(r'button "Suspicious"', tree)
    assert 'progressbar "Answered in this round"' in tree
    press(page, "s")
    assert page.locator("#status").inner_text() == "Kept: Suspicious."
    assert page.locator("#status").get_attribute("aria-live") == "polite"


def test_a_lab_collects_answers_and_reads_them(
    browser: "Browser", folder: Path, key: Key, tmp_path: Path
) -> None:
    with pm.serve_study(folder / "pages", tmp_path / "answers") as lab:
        context = browser.new_context()
        page = context.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(lab.links["p01.html"])
        begin(page)
        press(page, "s", "n", "n", "Enter", "Enter", "n", "n", "s", "Enter")
        page.locator("#handed:not([hidden])").wait_for()
        assert "Your answers were received" in page.locator("#handed").inner_text()
        context.close()
        home = lab.links["p01.html"].rpartition("/")[0]
        assert all(url.startswith(home) for url in requests)
    files = sorted((tmp_path / "answers").glob("*.json"))
    assert [each.name for each in files] == ["p01-0001.json", "p01-0002.json"]
    score = pm.score_study(files, key, draws=99)
    assert score.answered == {"p01": (1, 2)}
    assert [each.why for each in score.problems] == ["duplicate"]


def test_answers_that_cannot_be_sent_are_not_lost(
    browser: "Browser", folder: Path, key: Key, tmp_path: Path
) -> None:
    context = browser.new_context()
    page = context.new_page()
    with pm.serve_study(folder / "pages", tmp_path / "answers") as lab:
        page.goto(lab.links["p01.html"])
        begin(page)
        press(page, "s", "n", "n", "Enter", "Enter", "n", "n", "s")
    page.keyboard.press("Enter")
    page.locator("#handed.bad").wait_for()
    assert "could not be sent" in page.locator("#handed").inner_text()
    told = save(page, "#save", tmp_path / "saved.json")
    assert [len(each["answers"]) for each in told["rounds"]] == [3, 3]
    context.close()
