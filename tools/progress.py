#!/usr/bin/env python3
"""Runs a command and shows how far it is: on a terminal in one line that is redrawn, elsewhere in a line every 15 s.

usage: progress.py [--quiet] WHAT COMMAND…

The count comes from lines of the command that begin with [N/M], as ninja's do, or from the status lines of apt-get; these are not
shown. All other lines are shown whole; with --quiet only if the command fails. PLIMSOLL_PROGRESS_SECONDS replaces the 15 s.
"""
import os
import re
import shutil
import subprocess
import sys
import threading
import time

ARROW = "==>"
COUNT = re.compile(r"\[(\d+)/(\d+)\] (Re-)?")  # Re-checking folders, Re-running CMake: ninja counts those by themselves
APT = re.compile(r"(dl|pm)status:[^:]*:([\d.]+):")
APT_STEPS = {"dl": "downloading", "pm": "unpacking and setting up"}
CHATTER = ("ninja: no work to do.", "ninja: Entering directory", "-- ")  # the last is CMake's


class Line:
    """Shows what `describe` returns, until it is closed. A thread of its own draws it; say() may be called from any thread."""

    def __init__(self, describe, out=sys.stderr):
        self.describe, self.out, self.terminal = describe, out, out.isatty()
        self.drawn, self.shown, self.lock, self.closed = False, "", threading.Lock(), threading.Event()
        seconds = 1 if self.terminal else float(os.environ.get("PLIMSOLL_PROGRESS_SECONDS") or 15)
        self.thread = threading.Thread(target=self._redraw, args=(seconds,), daemon=True)
        self.thread.start()

    def say(self, text, out=None):
        """Prints lines that stay."""
        with self.lock:
            self._clear()
            print(text, file=out or self.out, flush=True)

    def draw(self):
        with self.lock:
            text = self.shown = self.describe()
            if text and self.terminal:
                room = shutil.get_terminal_size().columns - len(ARROW) - 2
                print(f"\r\033[K\033[1m{ARROW}\033[0m {text[:room]}", end="", file=self.out, flush=True)
                self.drawn = True
            elif text:
                print(f"{ARROW} {text}", file=self.out, flush=True)

    def close(self):
        self.closed.set()
        self.thread.join()
        with self.lock:
            self._clear()

    def _clear(self):
        if self.drawn:
            print("\r\033[K", end="", file=self.out, flush=True)
            self.drawn = False

    def _redraw(self, seconds):
        while not self.closed.wait(seconds):
            self.draw()


class Count:
    """How far a command is, by the lines that it prints."""

    def __init__(self, what):
        self.what, self.begun, self.far = what, time.monotonic(), ""

    def read(self, line):
        """Whether the line was of that kind."""
        if count := COUNT.match(line):
            done, total = int(count[1]), int(count[2])
            if not count[3]:
                self.far = f": {done} of {total} ({100 * done // max(total, 1)} %)"
        elif status := APT.match(line):
            self.far = f": {APT_STEPS[status[1]]}, {float(status[2]):.0f} %"
        return bool(count or status)

    def __str__(self):
        return f"{self.what}{self.far}, {time.monotonic() - self.begun:.0f} s"


def main():
    words = sys.argv[1:]
    quiet = words[:1] == ["--quiet"]
    words = words[quiet:]
    if len(words) < 2:
        sys.exit(__doc__.strip())
    count, kept = Count(words[0]), []
    child = subprocess.Popen(words[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace")
    line = Line(lambda: str(count))
    try:
        for text in child.stdout:
            begun = bool(count.far)
            if count.read(text):
                if count.far and not begun:
                    line.draw()
            elif quiet:
                kept.append(text)
            elif not text.startswith(CHATTER):
                line.say(text.rstrip("\n"))
        status = child.wait()
    except KeyboardInterrupt:  # the command got it too
        status = child.wait() or 130
    line.close()
    if count.far and (line.terminal or line.shown != str(count)):
        line.terminal = False  # the last state stays
        line.draw()
    if status:
        print("".join(kept), end="", file=sys.stderr)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
