"""Sets up this checkout and serves medcite on its demo corpus:  python3 scripts/up.py

Standard library only. Safe to run again: what is done already takes a second.

    python3 scripts/up.py                                   set up, then serve
    python3 scripts/up.py --no-serve                        set up only
    python3 scripts/up.py --pip --extra-index-url ADDRESS   options for pip, up to `--` or the end
    python3 scripts/up.py -- --port 8100                    options for `medcite up`
"""

from __future__ import annotations

import os
import subprocess
import sys

import checkout


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Own options, pip's (after `--pip`), and those of `medcite up` (after `--`)."""
    own, pip, serve = [], [], []
    target = own
    for argument in arguments:
        if argument == "--" and target is not serve:
            target = serve
        elif argument == "--pip" and target is own:
            target = pip
        else:
            target.append(argument)
    return own, pip, serve


def main(arguments: list[str]) -> int:
    """Set up and serve; returns the exit code."""
    own, pip, serve = split_arguments(arguments)
    if "--help" in own or "-h" in own:
        print(__doc__)
        return 0
    unknown = [argument for argument in own if argument != "--no-serve"]
    if unknown:
        checkout.say(f"unknown option {unknown[0]}; options of `medcite up` stand after `--`\n{__doc__}")
        return 2
    try:
        checkout.set_up(set(), pip)
    except checkout.SetupError as error:
        checkout.say(f"medcite: {error}")
        return 1
    if "--no-serve" in own:
        checkout.say("medcite is set up. Start it with the same command without --no-serve.")
        return 0
    return serve_demo(serve)


def serve_demo(options: list[str]) -> int:
    """Become `medcite up`, in the checkout's folder: `.env` and the data folder are looked for there."""
    command = [str(checkout.venv_python()), "-m", "medcite", "up", *options]
    os.chdir(str(checkout.ROOT))
    sys.stdout.flush()
    if os.name != "nt":
        os.execv(command[0], command)  # noqa: S606 - the server takes this process's place, and so its signals
    try:
        return subprocess.run(command, check=False).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
