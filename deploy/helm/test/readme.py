"""Writes the table of values into the chart's README.md, from the comments of values.yaml."""

import json
import pathlib
import re
import sys

import yaml

BEGIN = "<!-- values: made by bin/chart --write-readme -->\n"
END = "<!-- end of values -->\n"
KEY = re.compile(r"( *)([A-Za-z]+):(?: |$)")
DESCRIPTION = re.compile(r" *# -- (.*)$")


def rows(text):
    """Key, default and description of each value that has one; its parts are parts of its default."""
    values = yaml.safe_load(text)
    path, described, description = [], None, None
    for number, line in enumerate(text.splitlines(), 1):
        if found := DESCRIPTION.match(line):
            description = found.group(1)
            continue
        found = KEY.match(line)
        if not found:
            continue
        depth = len(found.group(1)) // 2
        if described is not None and depth > described:
            continue
        described = None
        path = [*path[:depth], found.group(2)]
        default = values
        for key in path:
            default = default[key]
        if description is not None:
            yield ".".join(path), default, description
            described, description = depth, None
        elif not isinstance(default, dict):
            raise ValueError(f"values.yaml:{number}: {'.'.join(path)}: has no description")


def table(chart):
    lines = ["| value | default | meaning |", "|---|---|---|"]
    for key, default, description in rows((chart / "values.yaml").read_text()):
        shown = json.dumps(default, ensure_ascii=False).replace("|", "\\|")
        lines.append(f"| `{key}` | `{shown}` | {description.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def text(chart):
    """README.md as it should be."""
    before, rest = (chart / "README.md").read_text().split(BEGIN)
    return before + BEGIN + table(chart) + END + rest.split(END)[1]


if __name__ == "__main__":
    CHART = pathlib.Path(sys.argv[1])
    CHART.joinpath("README.md").write_text(text(CHART))
