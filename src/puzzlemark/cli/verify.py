"""`puzzlemark verify`: ask a suspicious model, and judge what it answers."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer
from rich.markup import escape

from puzzlemark.cli._completing import names_of
from puzzlemark.cli.base import (
    AsJson,
    ManifestOf,
    find_manifest,
    output_console,
    paths_among,
    print_json,
    progress,
    refuse_ignored,
    was_passed,
)
from puzzlemark.cli.probe import CommitmentFolder, Licensee, Pairs, SecretFile, Seed
from puzzlemark.errors import UsageError
from puzzlemark.stores import Location

# options that have no effect when the probes are there, and when the answers are
DRAWN = ("manifest", "pairs", "seed")
FIXED = (
    *("dataset", "manifest", "probes", "model", "model_args", "paper", "sequential", "temperature"),
    *("logprobs", "reference", "reference_args", "accept_unlisted", "authority", "prompt"),
    *("max_tokens", "samples", "alpha", "ratio", "pairs", "seed", "query_only", "count_only"),
)
# 0 to 2 mean that the command worked, failed, or was called wrongly
EXIT_CODES = {"not detected": 0, "detected": 10, "inconclusive": 11, "not applicable": 12}
WHEN_INTERRUPTED = "what was answered is kept; run the same command again to go on"

if TYPE_CHECKING:
    from puzzlemark.embedding.secret import Secret
    from puzzlemark.evidence.commitment import Commitment
    from puzzlemark.models.base import Estimate, Model
    from puzzlemark.verification.probes import ProbeSet
    from puzzlemark.verification.run import Run
    from puzzlemark.verification.standing import Standing
    from puzzlemark.verification.terms import Terms


class _OfKey(TypedDict, total=False):
    secret: "Secret"
    secret_file: Path | None


def run(
    context: typer.Context,
    dataset: Annotated[
        str | None, typer.Argument(metavar="[INPUT]", help="Make the probes from this dataset.")
    ] = None,
    manifest: ManifestOf = None,
    probes: Annotated[Path | None, typer.Option(help="Probes made by puzzlemark probe.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="hf, openai, replay or scripted.", autocompletion=names_of("models")),
    ] = None,
    model_args: Annotated[
        str, typer.Option(help="Arguments of the model: pretrained=PATH or base_url=...,model=...")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The run's folder, resumed if it exists."),
    ] = None,
    prompt: Annotated[
        Literal["plain", "fim"],
        typer.Option(
            help="fim: ask to fill in the middle, as the model's family was trained; for hf, and "
            "for servers that heed a suffix."
        ),
    ] = "plain",
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's setting: temperature 1, Fisher two-sided.")
    ] = False,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Stop as soon as the evidence suffices.")
    ] = False,
    logprobs: Annotated[
        bool,
        typer.Option("--logprobs", help="Ask for log-probabilities as well, and let them decide."),
    ] = False,
    reference: Annotated[
        str | None,
        typer.Option(
            help="Kind of an innocent model whose log-probabilities are held against it.",
            autocompletion=names_of("models"),
        ),
    ] = None,
    reference_args: Annotated[str, typer.Option(help="Arguments of the innocent model.")] = "",
    temperature: Annotated[
        float | None,
        typer.Option(help="Sampling temperature. (default: the mark's, mostly 0.2; --paper: 1.0)"),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(help="New tokens for each prompt. (default: the mark's, mostly 24)", min=1),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(help="Completions of each prompt. (default: the mark's, mostly 1)", min=1),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Accepted rate of false accusations. (default: the mark's, mostly 0.05; "
            "synonyms: 1e-6)"
        ),
    ] = None,
    ratio: Annotated[
        float | None,
        typer.Option(help="Null ratio of armed to control. (default: 1; universal marks: 2.9)"),
    ] = None,
    pairs: Pairs = None,
    seed: Seed = 0,
    secret_file: SecretFile = None,
    licensee: Licensee = None,
    commitment: CommitmentFolder = None,
    authority: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Have the record of times stamped here, at both ends."),
    ] = None,
    roots: Annotated[
        Path | None,
        typer.Option(help="Certificates that signatures of timestamps must lead to (PEM)."),
    ] = None,
    accept_unlisted: Annotated[
        bool,
        typer.Option(
            "--accept-unlisted", help="Ask also for a name that the server does not list."
        ),
    ] = False,
    query_only: Annotated[
        bool, typer.Option("--query-only", help="Ask, and leave the verdict to another machine.")
    ] = False,
    test_only: Annotated[
        bool, typer.Option("--test-only", help="Judge the answers in the folder; ask nothing.")
    ] = False,
    count_only: Annotated[
        bool, typer.Option("--dry-run", help="Count calls and tokens; ask nothing.")
    ] = False,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help="Exit with 0: not detected, 10: detected, 11: inconclusive, 12: not applicable.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Was this model trained on the dataset? Sees nothing of it but its completions.

    Everything is decided before the first question: the probes, the decisive test, its level. Every
    answer is kept in the folder as it arrives, so the same command goes on after an interruption,
    and whoever gets the folder can compute the verdict again. With --commitment the plan that was
    fixed there decides; what is said here beside it makes the verdict exploratory, and is named.

    [bold]Examples[/]

    puzzlemark verify --probes probes.jsonl --model hf --model-args pretrained=model/ -o run/

    puzzlemark verify marked.jsonl.gz --manifest marks.jsonl.gz --model openai --model-args
    base_url=http://localhost:8000/v1,model=suspect -o run/

    puzzlemark verify --probes probes.jsonl --commitment commitment --model openai --model-args
    base_url=http://localhost:8000/v1,model=suspect -o run/

    puzzlemark verify --test-only -o run/
    """
    from puzzlemark.evidence.standing import witnesses
    from puzzlemark.verification.run import dry_run, judge, key_of, needs_key, query
    from puzzlemark.verification.terms import terms_for

    if output is None:
        raise UsageError("say where the run goes: --output FOLDER")
    if test_only:
        refuse_ignored(context, FIXED, "--test-only judges the run in the folder as it was asked")
        judged = judge(output, **_secret(secret_file, licensee))
        _finish(judged, _conclude(judged, commitment, roots), as_json, exit_code)
        return
    if query_only or count_only:
        refuse_ignored(context, ["exit_code"], "nothing is judged")
    if reference is None:
        refuse_ignored(context, ["reference_args"], "--reference names no model")
    elif not logprobs:
        refuse_ignored(context, ["reference"], "log-probabilities are not asked for (--logprobs)")
    if probes is not None:
        refuse_ignored(context, DRAWN, "the probes are drawn already, and --probes names them")
    if dataset is not None and probes is None:
        manifest = find_manifest(dataset, manifest)
    _keep_apart(
        output, dataset, manifest, probes, model_args, reference_args, secret_file, commitment
    )
    made = _commitment(commitment)
    terms_of = partial(
        terms_for,
        paper=paper,
        sequential=sequential,
        logprobs=logprobs,
        temperature=temperature,
        max_tokens=max_tokens,
        samples=samples,
        alpha=alpha,
        seed=seed,
        ratio=ratio,
    )
    terms_of()  # whatever is wrong with them, no probe is made in vain
    own_seed = seed if made is None or was_passed(context, "seed") else None
    asked = _probes(probes, dataset, manifest, pairs, own_seed, secret_file, paper, made)
    terms = terms_of(sampling=asked.design.sampling, usual_alpha=asked.design.alpha)
    terms = replace(terms, seed=asked.header.seed)  # the same for probes of a file and fresh ones
    if made is not None:
        terms = _planned_terms(context, made, terms)
    if count_only:
        expected = dry_run(asked, output, terms, has_reference=reference is not None)
        _print_estimate(expected, as_json)
        return
    # the secret draws the probes; only some tests need it, too
    keyed = needs_key(asked.design)
    if not keyed:
        refuse_ignored(context, ["licensee"], "no test asks for a key")
    if not keyed and probes is not None:
        refuse_ignored(context, ["secret_file"], "the probes are drawn, and no test asks for a key")
    of_key = _secret(secret_file, licensee) if keyed else {}
    if not query_only:
        key_of(asked, **of_key)  # whatever is wrong with it, nothing is asked in vain
    suspect = _model(model, model_args, prompt)
    innocent = None if reference is None else _model(reference, reference_args)
    with progress(not as_json) as report:
        query(
            asked,
            suspect,
            output,
            terms,
            **of_key,
            reference=innocent,
            progress=report,
            witnesses=witnesses(
                made, output, authority=authority, roots=roots, accept_unlisted=accept_unlisted
            ),
        )
    if query_only:
        _print_asked(output, as_json)
    else:
        judged = judge(output, **of_key)
        _finish(judged, _conclude(judged, commitment, roots), as_json, exit_code)


def _secret(secret_file: Path | None, licensee: str | None) -> "_OfKey":
    """How a test gets the key: by the file of the secret, or of a licensee by the secret."""
    if licensee is None:
        return {"secret_file": secret_file}
    from puzzlemark.embedding.secret import find_secret

    return {"secret": find_secret(secret_file, make=False).licensed(licensee)}


def _commitment(folder: Path | None) -> "Commitment | None":
    from puzzlemark.evidence.commitment import load_commitment

    return None if folder is None else load_commitment(folder)


def _planned_terms(context: typer.Context, made: "Commitment", said: "Terms") -> "Terms":
    """The terms of the plan, but for what was said here."""
    modes = ("paper", "sequential", "logprobs")
    terms = made.plan.terms
    if any(was_passed(context, name) for name in modes):
        terms = replace(terms, mode=said.mode, ratio=said.ratio)
    names = ("temperature", "max_tokens", "samples", "alpha", "ratio", "seed")
    passed = {name for name in names if was_passed(context, name)}
    if said.mode == "paper":
        passed.add("temperature")  # the paper's setting has one of its own
    return replace(terms, **{name: getattr(said, name) for name in passed})


def _conclude(run: "Run", commitment: Path | None, roots: Path | None) -> "Standing":
    from puzzlemark.evidence.standing import conclude

    return conclude(run.folder, commitment, word=run.verdict.word, roots=roots)


def _keep_apart(
    output: Path,
    dataset: str | None,
    manifest: Path | None,
    probes: Path | None,
    model_args: str,
    reference_args: str,
    secret_file: Path | None,
    commitment: Path | None,
) -> None:
    """A run's folder owns its own probes; nothing else that is read may be in it or around it."""
    from puzzlemark.files import keep_apart
    from puzzlemark.models.base import parse_model_args

    own = output / "probes.jsonl"
    is_own = probes is not None and own.exists() and probes.exists() and own.samefile(probes)
    keep_apart(
        {"--output": output},
        {
            "INPUT": _inputs(dataset, manifest),
            "--manifest": manifest,
            "--probes": None if is_own else probes,
            "--secret-file": secret_file,
            "--commitment": commitment,
            **paths_among("--model-args", parse_model_args(model_args)),
            **paths_among("--reference-args", parse_model_args(reference_args)),
        },
    )


def _inputs(dataset: str | None, manifest: Path | None) -> "Sequence[Location]":
    from puzzlemark.corpora.shards import dataset_paths
    from puzzlemark.protecting.dataset import is_repository

    if dataset is None:
        return ()
    return (Path(dataset),) if is_repository(dataset, manifest) else dataset_paths(dataset)


def _probes(
    path: Path | None,
    dataset: str | None,
    manifest: Path | None,
    pairs: int | None,
    seed: int | None,
    secret_file: Path | None,
    paper: bool,
    made: "Commitment | None",
) -> "ProbeSet":
    from puzzlemark.evidence.opening import committed_probes
    from puzzlemark.protecting.dataset import as_dataset
    from puzzlemark.verification.making import build_probes
    from puzzlemark.verification.probes import load_probes

    if path is not None and dataset is None:
        return load_probes(path)
    if path is None and dataset is not None and manifest is not None and made is not None:
        return committed_probes(
            dataset, manifest, made, pairs=pairs, seed=seed, secret_file=secret_file
        )
    if path is None and dataset is not None and manifest is not None:
        with as_dataset(dataset, manifest) as (functions, marks):
            return build_probes(
                functions, marks, pairs=pairs, seed=seed or 0, secret_file=secret_file, paper=paper
            )
    raise UsageError("pass either --probes FILE, or INPUT with its --manifest")


def _model(kind: str | None, arguments: str, prompt: str = "plain") -> "Model":
    from puzzlemark import plugins
    from puzzlemark.models.base import open_model, parse_model_args

    if kind is None:
        raise UsageError(f"which model? pass --model: {', '.join(plugins.names('models'))}")
    settings = parse_model_args(arguments)
    if prompt != "plain":
        settings = {**settings, "prompt": prompt}
    return open_model(kind, settings)


def _finish(run: "Run", standing: "Standing", as_json: bool, exit_code: bool) -> None:
    if as_json:
        print_json({"output": str(run.folder), **run.to_json(), "standing": standing.to_json()})
    else:
        _print(run, standing)
    if exit_code:
        raise typer.Exit(EXIT_CODES[run.verdict.word])


def _print(run: "Run", standing: "Standing") -> None:
    console = output_console()
    verdict = run.verdict
    colour = {"detected": "bold red", "not detected": "bold green"}.get(verdict.word, "bold")
    console.print(f"[{colour}]{verdict.word}[/]")
    console.print(escape(verdict.sentence))
    for pair in verdict.comparisons:
        if pair.pairs:
            armed = f"armed {pair.armed_hits:,} of {pair.pairs:,}"
            other = f", {pair.against} {pair.control_hits:,} of {pair.pairs:,}"
            console.print(f"  {armed}{'' if pair.against is None else other}")
    for finding in (*verdict.decisive, *verdict.beside):
        against = "" if finding.against is None else f" against {finding.against}"
        mark = "  <- decisive" if finding in verdict.decisive else ""
        console.print(f"  {finding.test + against:<32} log10 p = {finding.log10_p:z.2f}{mark}")
    for caveat in verdict.caveats:
        console.print(f"  note: {escape(caveat)}")
    failed = run.answers.failed
    if failed:
        console.print(f"  {failed:,} requests failed; run the same command again to retry them")
    console.print(f"[bold]{standing.word}[/]")
    for sentence in standing.sentences[1:]:
        console.print(f"  {escape(sentence)}")
    folder = escape(str(run.folder))
    console.print(f"run       {folder} (a page of it: puzzlemark report {folder})")


def _print_asked(folder: Path, as_json: bool) -> None:
    if as_json:
        print_json({"output": str(folder)})
    else:
        name = escape(str(folder))
        output_console().print(f"asked; judge with: puzzlemark verify --test-only -o {name}")


def _print_estimate(estimate: "Estimate", as_json: bool) -> None:
    if as_json:
        print_json(asdict(estimate))
        return
    output_console().print(
        f"[bold]{estimate.calls:,} calls[/], about {estimate.prompt_tokens:,} prompt tokens, "
        f"at most {estimate.completion_tokens:,} new ones; nothing was asked"
    )
