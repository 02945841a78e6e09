"""Writes the names of all fields as C++, for the compiler to check JSON paths with (src/kube/paths.hpp)."""
from .tables import GENERATED

PATH = "kube/field_names.hpp"
WIDTH = 100
# How paths.hpp reads a scalar. Text needs no mark.
MARKS = {"text": "", "bytes": "", "quantity": "", "duration": "", "boolean": "b", "int32": "i", "int64": "i", "number": "n",
         "int_or_string": "m", "time": "t", "micro_time": "t", "any": "a"}
SHAPES = {"one": "", "list": "[", "map": "{"}
# For what is done with objects of any kind.
GENERAL = {"Object": "kind apiVersion metadata:ObjectMeta", "ObjectList": "kind apiVersion metadata:ListMeta items:[Object"}


def source(tables):
    types = {tables.names[message][1:]: " ".join(entry(tables, row) for row in rows) for message, rows in tables.rows.items()}
    types |= GENERAL
    lines = [GENERATED,
             "// Every type with its fields, sorted by name. Text has no mark; `replicas:i` is an integer, `b` a",
             "// boolean, `n` a number, `t` a time, `m` an integer or text, `a` any value. `[` begins a list, `{`",
             "// a map, and a capital letter the name of a type. Object and ObjectList are for objects of any",
             "// kind.",
             "#pragma once", "", "namespace plim::kube::paths {", "",
             "struct TypeFields {", "  const char* type;", "  const char* fields;", "};", "",
             "// clang-format off", "inline constexpr TypeFields kTypeFields[] = {"]
    for name, fields in sorted(types.items()):
        lines += pieces(f'    {{"{name}", ', fields)
    return "\n".join([*lines, "};", "// clang-format on", "", "}  // namespace plim::kube::paths", ""])


def entry(tables, row):
    content = tables.names[row.type][1:] if row.type else MARKS[row.scalar]
    content = SHAPES[row.shape] + content
    return f"{row.name}:{content}" if content else row.name


def pieces(begin, fields):
    """One row of the table, as lines that fit."""
    lines, line, words = [], f'{begin}"', fields.split(" ")
    for place, word in enumerate(words):
        more = " " if place + 1 < len(words) else ""
        if len(line) + len(word + more) + 3 > WIDTH:
            lines.append(f'{line}"')
            line = '     "'
        line += word + more
    return [*lines, f'{line}"}},']
