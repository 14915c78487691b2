"""Prints one JSON line for each check of a client: its title, and the error if it failed."""
import json
import traceback

_checks = []


def check(title):
    """Registers a function as a check."""

    def register(function):
        _checks.append((title, function))
        return function

    return register


def run_checks():
    for title, function in _checks:
        try:
            function()
            print(json.dumps({"title": title}), flush=True)
        except Exception:
            print(json.dumps({"title": title, "error": traceback.format_exc()}), flush=True)
