"""What is shown while chapters run: bars on a terminal, one line a chapter in a log."""

from threading import Lock

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from attention_by_hand.course import status


class Display:
    """A bar over all tasks and one for each kernel that runs now. Use it as a context manager."""

    def __init__(self, console, count, unit="chapters"):
        self.console, self.lock, self.bars = console, Lock(), {}
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, TextColumn("{task.fields[now]}", markup=False), console=console)
        self.total = self.progress.add_task(unit, total=count, now="")
        self.live = console.is_terminal

    def __enter__(self):
        if self.live:
            self.progress.start()
        return self

    def __exit__(self, *_):
        if self.live:
            self.progress.stop()

    def listen(self, task, event):
        """Take an event of `runner.run`."""
        with self.lock:
            if event["event"] == "start":
                title = f"{task.chapter.name} · {task.backend}"
                self.bars[task.copy] = self.progress.add_task(title, total=None, now="")
            elif event["event"] == "total":
                self.progress.update(self.bars[task.copy], total=event["cells"])
            elif event["event"] == "cell":
                self.progress.update(self.bars[task.copy], completed=event["number"] - 1, now=event["line"][:40])

    def done(self, task, row):
        """Print the line of a task that has ended, and what failed."""
        with self.lock:
            self.progress.remove_task(self.bars.pop(task.copy))
            self.progress.advance(self.total)
        mark = "[green]ok    [/green]" if row["ok"] else "[bold red]FAILED[/bold red]"
        smoke = " (smoke)" if row["smoke"] else ""
        where = f"{row['chapter']} · {row['backend']}"
        self.console.print(f"{mark} {where}{smoke} {row['seconds']:.1f} s, slowest cells {status.slowest(row) or '–'}")
        if not row["ok"]:
            self.console.print(status.failure(row), markup=False, highlight=False)
