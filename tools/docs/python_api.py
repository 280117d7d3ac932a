"""The pages of the Python package, from its docstrings: griffe reads the sources and runs none of them."""

from __future__ import annotations

from typing import Any

import griffe

import commands
import examples

# What belongs together. A name of the package that is in none of these is an error.
GROUPS: dict[str, tuple[str, str]] = {
    "machine": ("Virtual machine and tasks", "enrol machine Vm TaskId HostInfo TaskInfo HostAdded HostLost TaskStarted TaskExited TaskOutput"),
    "messages": ("Messages", "Message Status Request wait_any Group Mailbox MailEntry"),
    "work": ("Pools of workers", "Executor Task map idempotent empty share Shared WorkerLost CallTimedOut RemoteError RemoteTraceback Unpicklable VersionsDiffer"),
    "actors": ("Actors", "actor Actor every find stop kill caller watch ActorClass Handle ActorGroup Answer ActorLost"),
    "sync": ("Queues, locks, events, barriers", "Queue Lock Event Barrier PlaceLost"),
    "shared": ("Shared memory", "shared SharedArray"),
    "pvm": ("PVM's calls", "Pvm"),
    "show": ("Notebook and terminal", "status monitor Widget Picture load_ipython_extension unload_ipython_extension"),
    "errors": ("Errors", "ParvumError"),
}
MODULES = {"joblib": "parvum.joblib", "dask": "parvum.dask", "notebook": "parvum.notebook", "taps": "parvum.taps"}


def package() -> Any:
    return griffe.load("parvum", search_paths=[str(commands.ROOT / "python")], extensions=griffe.load_extensions(examples.Examples()))


def names(group: str) -> list[str]:
    return [f"parvum.{name}" for name in GROUPS[group][1].split()]


def pages() -> dict[str, str]:
    """A page for each group, with the marks that mkdocstrings fills in."""
    exported = {str(name) for name in package().exports or ()}
    listed = {name for _, words in GROUPS.values() for name in words.split()} | {"errors"}
    if exported != listed:
        raise RuntimeError(f"parvum.__all__ and tools/docs/python_api.py differ: {sorted(exported ^ listed)}")
    made = {}
    for group, (title, _) in GROUPS.items():
        marks = "".join(f"::: {name}\n\n" for name in names(group))
        made[f"reference/python-api/{group}.md"] = f"# Python: {title[0].lower()}{title[1:]}\n\n{marks}"
    made["reference/python-api/errors.md"] += "::: parvum.errors\n"
    others = "".join(f"::: {module}\n\n" for module in MODULES.values())
    made["reference/python-api/modules.md"] = f"# Python: joblib, Dask, IPython, TaPS\n\n{others}"
    return made


def written(page: str, found: Any = None) -> str:
    """The same page as plain Markdown: each mark becomes the signature and the docstring."""
    found = found or package()
    lines = []
    for line in page.splitlines():
        if line.startswith("::: "):
            name = line[4:].removeprefix("parvum").lstrip(".")
            lines += described(found[name] if name else found, line[4:], "##")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def described(thing: Any, name: str, mark: str) -> list[str]:
    thing = thing.final_target if thing.is_alias else thing
    lines = [f"{mark} `{name}`", ""]
    if thing.is_function:
        lines += [f"```python\n{signature(thing)}\n```", ""]
    if thing.docstring:
        lines += [thing.docstring.value.strip(), ""]
    if thing.is_class or thing.is_module:
        for member in thing.members.values():
            is_ours = not member.is_alias and not member.name.startswith("_") and member.docstring is not None
            if is_ours and (member.is_function or member.is_class or member.is_attribute):
                lines += described(member, f"{name}.{member.name}", mark + "#")
    return lines


def signature(function: Any) -> str:
    words = []
    for parameter in function.parameters:
        text = parameter.name if parameter.annotation is None else f"{parameter.name}: {parameter.annotation}"
        star = {"variadic positional": "*", "variadic keyword": "**"}.get(str(parameter.kind.value), "")
        words.append(star + text + (f" = {parameter.default}" if parameter.default is not None and not star else ""))
    returns = f" -> {function.returns}" if function.returns is not None else ""
    return f"{function.name}({', '.join(words)}){returns}"
