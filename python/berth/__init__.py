"""What a training job says to Berth, and what Berth says to it. No dependencies; Python 3.7 or newer.

    import berth

    state = load("state.json")                 # where the last run stopped

    def save():
        store("state.json", state)

    berth.on_checkpoint(save)                  # Berth asks for it before it takes the devices away
    while state.iteration < 1000 and not berth.stop_requested():
        loss = step(state)
        berth.report(iteration=state.iteration, loss=loss)
    save()

Run by hand, without Berth, the same program does the same: reports go nowhere and nobody asks it to
stop.
"""
import json
import os
import signal
import threading
import time
from typing import Any, Callable, Dict, List, Optional

__version__ = "0.1.0"
__all__ = ["checkpoint_signal", "local_rank", "on_checkpoint", "rank", "report", "stop_requested",
           "world_size"]

_MOST_BYTES = 64 * 1024  # longer lines are not read

_checkpoints: List[Callable[[], Any]] = []
_stop = threading.Event()
_installed = False


def report(iteration: int, loss: Optional[float] = None, accuracy: Optional[float] = None,
           **more: Any) -> bool:
    """Says that `iteration` (0, 1, ...) is done, with its loss and its accuracy (0 to 1), if known.

    True if it was written. Whatever goes wrong with the file (no space, no reader), the job goes on.
    Further arguments are kept in the line for others to read; Berth ignores them. Only the first
    process of a job (rank 0) needs to report.

    >>> report(iteration=3, loss=0.41, accuracy=0.9)
    False
    """
    path = os.environ.get("BERTH_PROGRESS")
    if not path:
        return False
    line: Dict[str, Any] = dict(more, iteration=int(iteration), time=round(time.time(), 6))
    if loss is not None:
        line["loss"] = float(loss)
    if accuracy is not None:
        line["accuracy"] = float(accuracy)
    data = (json.dumps(line, separators=(",", ":")) + "\n").encode()
    if len(data) > _MOST_BYTES:
        raise ValueError("a report of {} bytes; at most {}".format(len(data), _MOST_BYTES))
    try:
        # Opened each time: the file may be a FIFO whose reader has been replaced. One write, so that
        # the lines of several processes do not mix.
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC,
                       0o644)
        try:
            return os.write(file, data) == len(data)
        finally:
            os.close(file)
    except OSError:
        return False


def on_checkpoint(save: Callable[[], Any]) -> None:
    """Calls `save` when Berth asks the job to leave its devices: between two instructions of the main
    thread, within the grace that the job was given. Afterwards stop_requested() is true. Only the main
    thread can ask for the first one.
    """
    _install()
    _checkpoints.append(save)


def stop_requested() -> bool:
    """True once Berth has asked the job to leave its devices; it should save its state and exit with
    code 0. The first call must come from the main thread."""
    _install()
    return _stop.is_set()


def checkpoint_signal() -> Optional[int]:
    """The signal that Berth sends to ask for a checkpoint: BERTH_CHECKPOINT_SIGNAL ("USR1", "INT",
    ...; "none": none), or SIGUSR1."""
    name = os.environ.get("BERTH_CHECKPOINT_SIGNAL", "USR1")
    number = getattr(signal, "SIG" + name, None)
    return int(number) if number is not None else None


def rank() -> int:
    """The number of this task in its job, from 0."""
    return _number("RANK", 0)


def world_size() -> int:
    """How many tasks the job has."""
    return _number("WORLD_SIZE", 1)


def local_rank() -> int:
    """The number of this task among those of its job on this machine, from 0."""
    return _number("LOCAL_RANK", 0)


def _number(name: str, default: int) -> int:
    try:
        return int(os.environ.get(name, ""))
    except ValueError:
        return default


def _install() -> None:
    global _installed
    if _installed:
        return
    number = checkpoint_signal()
    if number is not None:
        signal.signal(number, _on_signal)  # ValueError where this is not the main thread
    _installed = True


def _on_signal(_number: int, _frame: Any) -> None:
    if _stop.is_set():
        return  # asked twice
    _stop.set()
    for save in _checkpoints:
        save()
