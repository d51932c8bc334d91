"""Reading files that somebody else wrote: bounded, strict, and every fault at once."""

from __future__ import annotations

from codebench.reading.beside import beside, meant_file, meant_folder
from codebench.reading.faults import MAX_FAULTS, Faults
from codebench.reading.fields import Fields
from codebench.reading.files import (
    is_file,
    is_folder,
    is_inside,
    most_unpacked,
    open_file,
    read_text,
    unpacked,
)
from codebench.reading.records import (
    MAX_LINE_BYTES,
    MAX_YAML_BYTES,
    MAX_YAML_DEPTH,
    read_lines,
    read_objects,
    read_yaml,
    yaml_fields,
    yaml_text,
)
from codebench.reading.strict_json import MAX_JSON_DEPTH, parse_json
from codebench.reading.words import (
    alike,
    counted,
    is_name,
    is_text,
    near,
    plain_line,
    repeated,
    shown,
)

__all__ = [
    "MAX_FAULTS",
    "MAX_JSON_DEPTH",
    "MAX_LINE_BYTES",
    "MAX_YAML_BYTES",
    "MAX_YAML_DEPTH",
    "Faults",
    "Fields",
    "alike",
    "beside",
    "counted",
    "is_file",
    "is_folder",
    "is_inside",
    "is_name",
    "is_text",
    "meant_file",
    "meant_folder",
    "most_unpacked",
    "near",
    "open_file",
    "parse_json",
    "plain_line",
    "read_lines",
    "read_objects",
    "read_text",
    "read_yaml",
    "repeated",
    "shown",
    "unpacked",
    "yaml_fields",
    "yaml_text",
]
