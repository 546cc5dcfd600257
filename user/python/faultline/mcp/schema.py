# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks arguments against the part of JSON Schema that the tools use."""

from __future__ import annotations

from typing import Any, Dict, Type, Union

from .answers import ToolError

Schema = Dict[str, Any]
TYPES: Dict[str, Union[Type[Any], tuple[Type[Any], ...]]] = {
    "object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def check(value: Any, schema: Schema, name: str = "arguments") -> None:
    """Raises ToolError for the first error."""
    kind = schema["type"]
    if not isinstance(value, TYPES[kind]) or kind == "integer" and isinstance(value, bool):
        raise ToolError(f"{name} must be of type {kind}")
    if kind == "object":
        for key in value:
            if key not in schema["properties"]:
                raise ToolError(f"{name}: unknown argument {key}; arguments are " +
                                (", ".join(schema["properties"]) or "none"))
        for key in schema.get("required", ()):
            if key not in value:
                raise ToolError(f"{name}: {key} is missing")
        for key, item in value.items():
            check(item, schema["properties"][key], key)
    elif kind == "array":
        if not schema.get("minItems", 0) <= len(value) <= schema["maxItems"]:
            raise ToolError(f"{name} must have {schema.get('minItems', 0)} to "
                            f"{schema['maxItems']} items")
        for item in value:
            check(item, schema["items"], name)
    elif kind == "integer":
        if not schema["minimum"] <= value <= schema["maximum"]:
            raise ToolError(f"{name} must be from {schema['minimum']} to {schema['maximum']}")
    elif kind == "string":
        if len(value) > schema["maxLength"]:
            raise ToolError(f"{name} must have at most {schema['maxLength']} characters")
        if "\0" in value or any(0xd800 <= ord(c) <= 0xdfff for c in value):
            raise ToolError(f"{name} has characters that are not text")
        if value not in schema.get("enum", (value,)):
            raise ToolError(f"{name} must be one of " + ", ".join(schema["enum"]))
