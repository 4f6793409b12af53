"""Write the page of all commands and their options, from the commands themselves.

    python docs/reference/write_options.py

`make docs` does so before it builds the site.
"""

from pathlib import Path

import typer

from maxmargin.cli.app import app

PAGE = Path(__file__).parent / "options.md"


def main() -> None:
    group = typer.main.get_command(app)
    lines = ["# The commands and their options", "", "What `maxmargin COMMAND --help` prints, on one page.", ""]
    for name, command in group.commands.items():
        if not command.hidden:
            lines += section(name, command)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def section(name, command) -> list[str]:
    """A heading, what the command does, and a table of what it takes."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help" and not p.hidden]
    names = [p.name.upper() if p.required else f"[{p.name.upper()}]" for p in arguments]
    usage = " ".join([f"maxmargin {name}", *names])
    lines = [f"## {name}", "", *plain(command.help or ""), "", "    " + usage, ""]
    if options:
        lines += ["| option | |", "|---|---|"]
        lines += [f"| {', '.join(f'`{o}`' for o in p.opts + p.secondary_opts)} | {cell(p)} |" for p in options]
        lines.append("")
    return lines


def plain(text: str) -> list[str]:
    return [line.strip() for line in text.replace("\b", "").splitlines()]


def cell(option) -> str:
    words = " ".join((option.help or "").split()).replace("|", r"\|").replace("[", r"\[")
    return f"{words} (required)" if option.required else words


if __name__ == "__main__":
    main()
