"""The report in a real browser: offline, unharmed by what a model wrote, and printable."""

from pathlib import Path

import pytest

from puzzlemark.models.scripted import Scripted
from puzzlemark.pages.report import report_page
from puzzlemark.verification.report import build
from puzzlemark.verification.run import verify
from tests.browser.conftest import Looking
from tests.pages.runs import OWN, TARGET, run_of
from tests.verification.drawn_names import SECRET, known_names, probe_set

HEBREW = "\u05d0\u05d1\u05d2"
HOSTILE = (
    '</samp></pre><script>document.title = "owned"</script></style></title>'
    '<img src="x" onerror="document.title = \'owned\'"><style>* { display: none }</style>'
    f"\u202eesrever\u202c {HEBREW} <b>{TARGET}</b> {TARGET}_2 \x1b[2J " + "w" * 900
)


def answer(number: int, armed: bool) -> str:
    """Probe 0 is answered with an attack, 1 composes in the placebo, 2 misses, the others hit."""
    if not armed:
        return f"{OWN} = 1\n" if number == 1 else "other = 1\n"
    return {0: HOSTILE, 2: "result = 1\n"}.get(number, f"{TARGET} = f({TARGET}, key)\n")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    name, long = f"{HOSTILE[:60]}/{'m' * 300}", {"k" * 300: {HOSTILE: "v" * 300}}
    report = build(run_of(folder / "run", answer, name=name, settings=long))
    (folder / "report.html").write_text(report_page(report))
    return folder / "report.html"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_opens_offline_without_a_complaint(
    look: Looking, page: Path, width: int, dark: bool
) -> None:
    opened = look(page, width=width, dark=dark)
    assert opened.requests == [page.as_uri()]
    assert opened.complaints == []
    assert opened.page.title() == "Verification report: detected"
    assert opened.page.locator(".word").is_visible()
    assert opened.page.locator(".word").inner_text() == "Detected"
    assert opened.overflowing() == []
    assert opened.pale() == []


def test_a_hostile_completion_neither_runs_nor_breaks_out(look: Looking, page: Path) -> None:
    opened = look(page)
    assert opened.page.locator("script, img, body style, b b").count() == 0
    first = opened.completions()[0]
    assert first["text"].startswith(HOSTILE[: HOSTILE.index("\u202e")])
    assert "\u202e" not in opened.page.content()
    assert "\x1b" not in opened.page.content()
    # one hit: with an underscore behind it, it is another name
    start = HOSTILE.index(f"{TARGET}</b>")
    assert first["hits"] == [[start, start + len(TARGET), "target"]]
    assert opened.page.locator("footer").is_visible()


def test_letters_that_run_from_right_to_left_stand_in_the_order_of_the_text(
    look: Looking, page: Path
) -> None:
    lefts = look(page).page.evaluate(
        """(word) => {
          const node = document.querySelector('samp').firstChild;
          const at = node.data.indexOf(word);
          return [...word].map((_, n) => {
            const range = document.createRange();
            range.setStart(node, at + n);
            range.setEnd(node, at + n + 1);
            return range.getBoundingClientRect().left;
          });
        }""",
        HEBREW,
    )
    assert lefts == sorted(lefts)
    assert len(set(lefts)) == len(HEBREW)


def test_hits_are_highlighted_where_they_are(look: Looking, page: Path) -> None:
    shown = look(page).completions()
    hit = {
        "text": f"{TARGET} = f({TARGET}, key)\n",
        "hits": [[0, 17, "target"], [22, 39, "target"]],
    }
    miss = {"text": "result = 1\n", "hits": []}
    placebo = {"text": f"{OWN} = 1\n", "hits": [[0, 18, "own"]]}
    other = {"text": "other = 1\n", "hits": []}
    # two panels for each of the probes 0 to 5
    assert shown[1:] == [other, hit, placebo, miss, other, *[hit, other] * 3]


def test_the_completion_goes_on_where_the_prompt_ends(look: Looking, page: Path) -> None:
    prompts = look(page).page.locator(".prompt")
    assert prompts.nth(2).text_content() == "def f1(key, unknown_token):\n    "


def test_the_report_prints_on_a4_and_nothing_is_clipped(look: Looking, page: Path) -> None:
    opened = look(page, dark=True)
    assert opened.as_printed() == []
    # paper is white also where the screen is dark
    background = "getComputedStyle(document.body).backgroundColor"
    assert opened.page.evaluate(background) == "rgb(255, 255, 255)"
    printed = opened.page.pdf(prefer_css_page_size=True)
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") > 1


def test_the_tests_of_this_page_can_fail(look: Looking, tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    path.write_text("<p style='width:3000px'>x</p><img src='missing.png'><script>lost()</script>")
    opened = look(path)
    assert len(opened.overflowing()) == 1
    assert len(opened.requests) == 2
    assert len(opened.complaints) >= 2


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_drawn_names_fits_and_shows_what_was_counted(
    look: Looking, tmp_path: Path, width: int
) -> None:
    probes = probe_set(25)
    known = known_names(probes)
    model = Scripted("m", lambda request: f"{known[request.prompt]} in")
    run = verify(probes, model, tmp_path / "run", secret=SECRET)
    (tmp_path / "report.html").write_text(report_page(build(run)))
    opened = look(tmp_path / "report.html", width=width)
    assert opened.overflowing() == []
    counts = opened.page.locator(".two tbody tr").all_inner_texts()
    assert [row.split("\t")[-1] for row in counts[:4]] == ["25", "25", "125", "125"]
    assert counts[-1].endswith("1 of 10,000")
