"""`puzzlemark doctor`: what this installation has, and what it lacks."""

from rich.markup import escape

from puzzlemark.cli.base import AsJson, output_console, print_json

SIGNS = {"ok": "[green]ok[/]     ", "missing": "[dim]missing[/]", "warning": "[yellow]warning[/]"}


def run(as_json: AsJson = False) -> None:
    """Show versions, extras, browser, models, processor, disk and secret of this installation.

    It looks and changes nothing. Missing is what some command needs and others do not.

    [bold]Examples[/]

    puzzlemark doctor

    puzzlemark doctor --json
    """
    from puzzlemark.doctor import diagnose, to_json

    findings = diagnose()
    if as_json:
        print_json(to_json(findings))
        return
    console = output_console()
    for finding in findings:
        remedy = f"; {escape(finding.remedy)}" if finding.remedy else ""
        console.print(
            f"{SIGNS[finding.state]}  {escape(finding.what):<22}{escape(finding.found)}{remedy}"
        )
