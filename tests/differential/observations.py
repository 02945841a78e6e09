"""What two servers show of themselves, case by case, compared. Not a test itself."""
import pathlib

import yaml

from answers import compared, judge

HERE = pathlib.Path(__file__).resolve().parent
NOTHING = "not there"


def differences(ours, real):
    """By path. Of two answers with different codes nothing else is worth comparing."""
    if isinstance(ours, dict) and isinstance(real, dict) and ours.get("code") != real.get("code"):
        return {"code": tuple(f"{one.get('code')} {one.get('message', '')}".strip() for one in (ours, real))}
    return dict(compared("is", ours, real))


def claims():
    """The checks that conformance.yaml names: (file, what of it)."""
    for group in yaml.safe_load((HERE / "conformance.yaml").read_text()).values():
        for checks in group.values():
            for check in checks:
                file, _, what = check.partition(" ")
                yield file, what


def compare(test, suite, ours, real):
    """`ours` and `real` are pairs of name and value; a case that only one has differs as a whole."""
    ours, real = list(ours), list(real)
    for shown in (ours, real):
        names = [name for name, _ in shown]
        test.assertEqual(len(names), len(set(names)), f"names of cases must be unique: {[name for name in names if names.count(name) > 1]}")
    ours, real = dict(ours), dict(real)
    found = {name: differences(ours.get(name, NOTHING), real.get(name, NOTHING)) for name in {**ours, **real}}
    for _, what in claims():
        of, _, name = what.partition(":")
        test.assertFalse(of == suite and name not in found, f"conformance.yaml names no case: {what}")
    judge(test, suite, found)
