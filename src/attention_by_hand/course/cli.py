"""The command `abh`, also `python -m attention_by_hand`."""

import math
import os
import sys
import tempfile
from pathlib import Path

from attention_by_hand import __version__

try:
    import click
    import nbclient  # noqa: F401 (the processes that run chapters need it: better to say so now)
    import rich.console

    from attention_by_hand.course import CourseError, chapters, claims, files, notebooks, runner, status
    from attention_by_hand.course.progress import Display
except ModuleNotFoundError as error:
    sys.exit(f'The command line needs the package {error.name}: pip install "attention-by-hand[course]"')


class _Command(click.Group):
    """Turns errors that the user can put right into one sentence: exit code 2 for a wrong name, 1 for the rest."""

    def invoke(self, context):
        try:
            return super().invoke(context)
        except CourseError as error:
            click.echo(f"abh: {error}", err=True)
            context.exit(2 if isinstance(error, chapters.UnknownName) else 1)
        except KeyboardInterrupt:
            click.echo("abh: interrupted; the chapters that had ended are in the table", err=True)
            context.exit(130)


def _console():
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
    return rich.console.Console(width=width, soft_wrap=not sys.stdout.isatty(), highlight=False)


def _places(folder, out):
    """The notebooks' folder and the one for results, both as paths."""
    folder = Path(folder) if folder else chapters.project_folder() / "notebooks"
    return folder, Path(out) if out else folder.resolve().parent / "build"


_folder = click.option(
    "--notebooks", "folder", type=click.Path(), help="Folder of the chapters [notebooks/ of the clone]."
)
_backend = click.option("--backend", default="torch", show_default=True, help="torch, jax, tensorflow or all.")
_every_backend = click.option("--backend", default="all", show_default=True, help="torch, jax, tensorflow or all.")
_chapters = click.option("--chapters", "wanted", default="all", show_default=True, help='Numbers or names: "02,05".')
_out = click.option("--out", type=click.Path(), help="Folder for results [build/ beside notebooks/].")
_timeout = click.option(
    "--timeout", default=300, show_default=True, type=click.IntRange(1), help="Seconds for one cell."
)
_jobs = click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Kernels at a time.")


@click.group(cls=_Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="abh")
def main():
    """Attention by Hand: run the chapters of the course and keep them in order."""


@main.command()
@_backend
@_chapters
@_out
@_timeout
@_jobs
@_folder
@click.option("--smoke", is_flag=True, help="Cut training short and mark the table: do the cells run at all?")
@click.option("--solved", is_flag=True, help="Also fail where an exercise is not solved (for notebooks/solutions).")
def run(backend, wanted, out, timeout, jobs, folder, smoke, solved):
    """Execute chapters on backends; copies with figures and the status table go to build/."""
    folder, out = _places(folder, out)
    backends = chapters.choose_backends(backend)
    chosen = chapters.choose(wanted, chapters.find(folder))
    runner.refuse_shortcuts(smoke)
    files.prepare(out, folder)
    rows, done, console = status.load(out), [], _console()
    tasks = [runner.Task(c, b, out / b / f"{c.name}.ipynb") for b in backends for c in chosen]
    options = runner.Options(timeout, jobs, smoke, solved)
    problem = None
    with Display(console, len(tasks)) as display:
        for task, row in runner.run(tasks, options, display.listen):
            done.append(row)
            display.done(task, row)
            rows = status.merge(rows, [row])
            try:  # after each chapter: an interrupted run keeps what had ended
                status.save(out, rows)
                problem = None
            except CourseError as error:
                problem = error
    done = status.merge([], done)
    console.print(status.table(done))
    if problem:
        raise problem
    console.print(f"{status.summary(done)}; table in {out / 'status.md'}")
    sys.exit(0 if all(row["ok"] for row in done) else 1)


@main.command("status")
@_out
@_folder
def show_status(out, folder):
    """Print the table of the last runs."""
    _, out = _places(folder, out)
    rows, console = status.load(out), _console()
    if not rows:
        raise CourseError(f"there is no table in {out} yet: run the chapters first, with abh run")
    console.print(status.table(rows))
    for row in rows:
        if not row["ok"]:
            console.print(status.failure(row), markup=False)
    console.print(status.summary(rows))


@main.command("claims")
@_every_backend
@_chapters
@_out
@_timeout
@_jobs
@_folder
@click.option("--seeds", default="0,1,2", show_default=True, help="Only these three seeds together are written.")
@click.option("--data", type=click.Path(), help="The file to write [data/claims.json beside notebooks/].")
def run_claims(backend, wanted, out, timeout, jobs, folder, seeds, data):
    """Run chapters with several seeds at full length and write the numbers they claim to data/claims.json."""
    folder, out = _places(folder, out)
    data = Path(data) if data else folder.resolve().parent / "data" / "claims.json"
    backends = chapters.choose_backends(backend)
    chosen = chapters.choose(wanted, chapters.find(folder))
    runner.refuse_shortcuts(smoke=False)
    files.prepare(out, folder)
    try:
        seeds = tuple(sorted({int(seed) for seed in seeds.replace(",", " ").split()}))
    except ValueError:
        raise click.BadParameter(f"seeds are whole numbers separated by commas; got {seeds!r}") from None
    old, console, failed = claims.load(data), _console(), []
    with tempfile.TemporaryDirectory(prefix="abh-claims-") as records:
        tasks = claims.tasks(chosen, backends, seeds, out / "claims", records)
        with Display(console, len(tasks), "runs") as display:
            for task, row in runner.run(tasks, runner.Options(timeout, jobs), display.listen):
                display.done(task, row)
                failed += [] if row["ok"] else [task]
        if failed:
            raise CourseError(f"{len(failed)} of {len(tasks)} runs failed, so {data} is unchanged")
        gathered = claims.gather({task: claims.recorded(task) for task in tasks})
    problems = claims.outside(gathered)
    for problem in problems:
        click.echo(f"OUTSIDE ITS BAND: {problem}")
    values = [v for entry in gathered.values() for by_seed in entry["values"].values() for v in by_seed.values()]
    if not all(map(math.isfinite, values)):
        raise CourseError(f"a claim is no finite number, so {data} is unchanged")
    if seeds == claims.SEEDS:
        claims.save(data, claims.update(old, gathered, chosen, backends))
        click.echo(f"{len(gathered)} claims written to {data}")
    else:
        click.echo(f"{len(gathered)} claims; {data} is unchanged, it takes seeds 0, 1 and 2 together")
    sys.exit(1 if problems else 0)


@main.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--check", is_flag=True, help="Change nothing; fail if a notebook is not in its committed form.")
@_folder
def strip(paths, check, folder):
    """Bring notebooks to their committed form: no outputs, ids kept. Without PATHS: all chapters and solutions."""
    if not paths:
        folder = _places(folder, None)[0]
        paths = [p for p in sorted(folder.rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts]
    changed = notebooks.strip(paths, check)
    for path in changed:
        click.echo(f"{'not stripped' if check else 'stripped'}: {path}")
    if check and changed:
        raise CourseError("bring these notebooks to their committed form with make strip")


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--ids-from", type=click.Path(exists=True, dir_okay=False), help="The chapter as committed.")
@_folder
def fix(file, ids_from, folder):
    """Repair a notebook that Colab saved: back to nbformat 4.5, with the cell ids of the committed chapter."""
    file = Path(file)
    if not ids_from:
        own = _places(folder, None)[0] / file.name
        ids_from = own if own.is_file() and not own.samefile(file) else None
    reference = notebooks.read(ids_from) if ids_from else notebooks.committed(file)
    fixed, kept = notebooks.fix(notebooks.read(file), reference)
    files.write(file, notebooks.dumps(fixed))
    click.echo(f"{file}: {kept} of {len(fixed.cells)} cells have their id back, {len(fixed.cells) - kept} are new")
