"""Writes python/tippe/_keys.pyi, the types of the keywords of the scene builder, and python/tippe/_kinds.py, its methods for kinds
of joints and force elements, from the JSON Schema of the scene format.

    python crates/python/keys.py
"""

from __future__ import annotations

import json
import keyword
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCHEMA = HERE.parents[1] / "schema" / "scene.schema.json"
OUT = HERE / "python" / "tippe" / "_keys.pyi"
KINDS = HERE / "python" / "tippe" / "_kinds.py"

HEAD = '''"""Keywords of the scene builder. Written by crates/python/keys.py from the JSON Schema; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

#: A number in SI, or a text with units, parameters and arithmetic.
Number: TypeAlias = float | str
#: Three of them.
Vector: TypeAlias = Sequence[Number] | Any
#: Two things of the scene, or their names.
Names: TypeAlias = Sequence[Any]
'''

COMMON = {"kind", "collide", "density", "material", "orientation", "position"}


KINDS_HEAD = '''"""Methods of the scene builder, one for each kind of joint and force element.

Written by crates/python/keys.py from the JSON Schema; do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keys
    from ._keys import Number
    from .scene import Element, Joint


class Kinds:
    """A builder with a method for each kind."""

    def joint(self, name: str, kind: str, first: Any = None, second: Any = None, **keys: Unpack[_keys.Joint]) -> Joint:
        """A joint of a kind."""
        raise NotImplementedError

    def force(self, name: str, kind: str, **keys: Unpack[_keys.Force]) -> Element:
        """A force element of a kind."""
        raise NotImplementedError
'''


def type_of(value: dict[str, Any]) -> str:
    options = {type_of(option) for option in value.get("anyOf", [])}
    if len(options) == 1:
        return options.pop()
    if "enum" in value:
        return "str"
    reference = str(value.get("$ref", ""))
    if reference:
        return {"whole": "int | str", "count": "int | str", "orientation": "Any", "shape": "Mapping[str, Any]"}.get(
            reference.rpartition("/")[2], "Number"
        )
    kind = value.get("type")
    if kind == "string":
        return "str | Any"
    if kind == "boolean":
        return "bool"
    if kind == "object":
        return "Mapping[str, Any]"
    if kind == "array":
        items = value.get("items", {})
        return "Vector" if value.get("maxItems") == 3 and "$ref" in items else "Sequence[Any] | Any"
    return "Any"


def typed(name: str, properties: dict[str, Any], without: set[str], bases: str = "TypedDict") -> str:
    lines = [f"class {name}({bases}, total=False):"]
    for key, value in sorted(properties.items()):
        if key in without:
            continue
        python = f"{key}_" if keyword.iskeyword(key) else key
        lines.append(f"    {python}: {type_of(value)}")
    if len(lines) == 1:
        lines.append("    pass")
    return "\n".join(lines) + "\n"


def item(schema: dict[str, Any], name: str) -> dict[str, Any]:
    return dict(schema["properties"][name]["items"]["properties"])


def first(value: dict[str, Any]) -> dict[str, Any]:
    """The table behind a key that takes one table or a list of them."""
    while "properties" not in value:
        value = value["anyOf"][0] if "anyOf" in value else value["items"]
    return dict(value["properties"])


def text() -> str:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    top = schema["properties"]
    parts = [HEAD]
    body = item(schema, "body")
    parts.append(typed("Body", body, {"name"}))
    parts.append(typed("ShapedBody", body, {"name", "shape"}))
    shapes: dict[str, Any] = {}
    for shape in schema["$defs"]["shape"]["anyOf"]:
        kind = shape["properties"]["kind"]["const"]
        shapes |= shape["properties"]
        name = "".join(word.title() for word in kind.split("_")) + "Body"
        parts.append(typed(name, shape["properties"], COMMON, "ShapedBody"))
    parts.append(typed("AnyShape", shapes, {"kind"}))
    joint = item(schema, "joint")
    parts.append(typed("Joint", joint, {"name", "kind", "bodies"}))
    names = (("Motor", "motor"), ("Limit", "limit"), ("CoordinateSpring", "spring"), ("Friction", "friction"))
    for name, key in names:
        parts.append(typed(name, first(joint[key]), set()))
    force = item(schema, "force")
    parts.append(typed("Force", force, {"name", "kind"}))
    parts.append(typed("Applied", force, {"name", "kind", "on"}))
    parts.append(typed("Spring", force, {"name", "kind", "between"}))
    parts.append(typed("Driveline", force, {"name", "kind", "shafts"}))
    parts.append(typed("Signal", item(schema, "signal"), {"name", "kind"}))
    parts.append(typed("Component", item(schema, "component"), {"name"}))
    parts.append(typed("Constraint", item(schema, "constraint"), {"name", "terms"}))
    parts.append(typed("Cable", item(schema, "cable"), {"name", "points"}))
    parts.append(typed("Drawing", item(schema, "drawing"), {"name", "on", "shape"}))
    parts.append(typed("Fluid", item(schema, "fluid"), {"name", "bodies", "density"}))
    parts.append(typed("Change", item(schema, "change"), {"name"}))
    parts.append(typed("Solid", item(schema, "solid"), {"name", "kind"}))
    parts.append(typed("Expect", item(schema, "expect"), {"value", "source"}))
    parts.append(typed("Include", item(schema, "include"), {"file", "prefix"}))
    parts.append(typed("Contact", item(schema, "pair"), {"bodies", "materials"}))
    parts.append(typed("Defaults", top["defaults"]["properties"], set()))
    run = {key: {"anyOf": []} for key in top["run"]["properties"]}
    parts.append(typed("RunSettings", run, set()))
    parts.append(typed("RealtimeSettings", top["realtime"]["properties"], set()))
    parts.append(typed("Optimize", top["optimize"]["properties"], set()))
    parts.append(typed("GranularSettings", top["granular"]["properties"], set()))
    parts.append(typed("Grains", item(schema, "grains"), {"name", "material", "packing"}))
    parts.append(typed("Sink", item(schema, "sink"), {"name", "low", "high"}))
    parts.append(typed("Probe", item(schema, "probe"), {"name", "low", "high"}))
    parts.append(typed("Soil", item(schema, "soil"), {"name", "low", "high", "cell", "layers"}))
    return "\n".join(parts)


def kinds(schema: dict[str, Any], table: str) -> list[tuple[str, str, list[str], list[str]]]:
    """Word, description, keys and required keys of every kind of a table."""
    return [
        (one["if"]["properties"]["kind"]["const"], one["description"], one["then"]["propertyNames"]["enum"], one["then"]["required"])
        for one in schema["properties"][table]["items"]["allOf"]
    ]


def method(head: str, about: str, call: str) -> str:
    return f'''
    def {head}:
        """{about}."""
        return {call}
'''


def methods() -> str:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts = [KINDS_HEAD]
    for word, about, names, required in kinds(schema, "joint"):
        if "joints" in names:
            own = [key for key in required if key != "joints"]
            properties = item(schema, "joint")
            given = "".join(f", {key}: {type_of(properties[key]).replace('Sequence[Any] | Any', 'Any')}" for key in own)
            handed = "".join(f", {key}={key}" for key in own)
            head = f"{word}(self, name: str, first: Any, second: Any, *{given}, **keys: Any) -> Joint"
            parts.append(method(head, about, f'self.joint(name, "{word}", joints=[first, second]{handed}, **keys)'))
        else:
            head = f"{word}(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint"
            parts.append(method(head, about, f'self.joint(name, "{word}", first, second, **keys)'))
    for word, about, names, _ in kinds(schema, "force"):
        if word == "cylinder":
            continue  # the builder's own makes a body; `scene.force(name, "cylinder", shafts=...)` makes a hydraulic one
        if "between" in names:
            head = f"{word}(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Spring]) -> Element"
            parts.append(method(head, about, f'self.force(name, "{word}", between=[first, second], **keys)'))
        elif "shafts" in names:
            head = f"{word}(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element"
            parts.append(method(head, about, f'self.force(name, "{word}", shafts=list(shafts), **keys)'))
        else:
            head = f"{word}(self, name: str, on: Any, **keys: Unpack[_keys.Applied]) -> Element"
            parts.append(method(head, about, f'self.force(name, "{word}", on=on, **keys)'))
    return "".join(parts)


if __name__ == "__main__":
    OUT.write_text(text(), encoding="utf-8")
    KINDS.write_text(methods(), encoding="utf-8")
