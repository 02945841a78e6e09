"""Reads what Kubernetes' own files say about its types.

Three kinds of files describe a type, and each has something that the others lack:

- Go structs: the order of fields in JSON, which fields are pointers, and which are left out when they are empty;
- generated.proto: the type of a field, and its number;
- OpenAPI documents: how lists and objects are merged, and most defaults that do not depend on other fields.
"""
import dataclasses
import functools
import hashlib
import json
import pathlib
import re

# What a module's packages are called in protobuf and in OpenAPI, where dashes and the order of a host name differ.
MODULES = {
    "api": "k8s.io.api.",
    "apimachinery": "k8s.io.apimachinery.",
    "apiextensions-apiserver": "k8s.io.apiextensions_apiserver.",
    "metrics": "k8s.io.metrics.",
}

# Messages that are one value in JSON.
SCALARS = {
    "k8s.io.apimachinery.pkg.api.resource.Quantity": "quantity",
    "k8s.io.apimachinery.pkg.util.intstr.IntOrString": "int_or_string",
    "k8s.io.apimachinery.pkg.apis.meta.v1.Time": "time",
    "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime": "micro_time",
    "k8s.io.apimachinery.pkg.apis.meta.v1.Duration": "duration",
    "k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
    "k8s.io.apimachinery.pkg.runtime.RawExtension": "any",
    **{f"k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.{name}": "any" for name in
       ("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray")},
    "string": "text",
    "bool": "boolean",
    "int32": "int32",
    "int64": "int64",
    "double": "number",
    "bytes": "bytes",
}
# Go prints null for these when they are not set, which is the same as leaving them out.
PRINTED_AS_NULL = {"time", "micro_time", "any"}


class Surprise(Exception):
    """Kubernetes' files contain something that the tables cannot express."""


@dataclasses.dataclass
class Field:
    """One row of a table; the names are those of struct Field in schema.hpp."""
    name: str
    scalar: str = "text"
    shape: str = "one"
    type: str = ""  # full name of a message: "k8s.io.api.core.v1.PodSpec"
    list: str = "atomic"
    list_keys: str = ""
    merge_key: str = ""
    merge: bool = False
    retain_keys: bool = False
    replace: bool = False
    atomic: bool = False
    keep_zero: bool = False
    required_zero: bool = False
    fallback: str = ""
    number: int = 0
    inside: int = 0


@dataclasses.dataclass
class ProtoField:
    shape: str
    type: str


@dataclasses.dataclass
class GoField:
    type: str
    tags: dict

    @property
    def json(self):
        name, *options = self.tags.get("json", "").split(",")
        return name, options

    @property
    def number(self):
        """Of the field in protobuf; None if it is not there."""
        parts = self.tags.get("protobuf", "").split(",")
        return int(parts[1]) if len(parts) > 1 else None


class Package:
    """One Go package: its structs, its messages and the API group it belongs to."""

    def __init__(self, folder):
        self.structs, self.slices, self.group = {}, set(), None
        for path in sorted(folder.glob("*.go")):
            if path.name.endswith("_test.go") or path.name == "generated.pb.go":
                continue
            text = path.read_text()
            self.slices.update(re.findall(r"^type (\w+) (?:\[\]|map\[)", text, re.MULTILINE))
            for name, body in re.findall(r"^type (\w+) struct ?\{(?:\}|\n(.*?)^\})", text, re.MULTILINE | re.DOTALL):
                self.structs[name] = [GoField(kind, dict(re.findall(r'(\w+):"([^"]*)"', tags))) for kind, tags in
                                      re.findall(r"^\t(?:\w+[ \t]+)?([^\s/`]+)[ \t]*(?:`(.*)`)?[ \t]*(?://.*)?$", body, re.MULTILINE)]
            group = re.search(r'^const GroupName = "(.*)"', text, re.MULTILINE)
            self.group = group[1] if group else self.group
        self.messages = {}
        proto = (folder / "generated.proto").read_text()
        self.name = re.search(r"^package ([\w.]+);", proto, re.MULTILINE)[1]
        for name, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", proto, re.MULTILINE | re.DOTALL):
            fields = re.findall(r"^ +(?:(optional|repeated) )?(map<string, [\w.]+>|[\w.]+) \w+ = (\d+);", body, re.MULTILINE)
            self.messages[name] = {int(number): self.proto_field(label, kind) for label, kind, number in fields}

    def proto_field(self, label, kind):
        inside = re.match(r"map<string, (.*)>", kind)
        kind = inside[1] if inside else kind
        if kind not in SCALARS:
            kind = kind[1:] if kind.startswith(".") else f"{self.name}.{kind}"
        return ProtoField("map" if inside else "list" if label == "repeated" else "one", kind)


class Upstream:
    def __init__(self, folders, defaults):
        """The folders of the modules, by their names in MODULES and "kubernetes"; by message, the defaults that only Go code sets."""
        self.folders = {name: pathlib.Path(folder) for name, folder in folders.items()}
        self.defaults = defaults
        self.used_defaults, self.read_packages = set(), set()

    @functools.cached_property
    def schemas(self):
        """Of OpenAPI, by name: "io.k8s.api.core.v1.PodSpec"."""
        found = {}
        for path in sorted((self.folders["kubernetes"] / "api/openapi-spec/v3").glob("*.json")):
            found.update(json.loads(path.read_text()).get("components", {}).get("schemas", {}))
        return found

    @functools.cache
    def package(self, name):
        """By its name in protobuf: "k8s.io.api.core.v1"."""
        for module, prefix in MODULES.items():
            if name.startswith(prefix):
                folder = self.folders[module] / name[len(prefix):].replace(".", "/")
                if not folder.exists():
                    raise Surprise(f"this version of Kubernetes has no package {name}")
                self.read_packages.add(name)
                return Package(folder)
        raise Surprise(f"{name} is not in a module that make-types reads")

    def schema(self, message):
        """None for what Kubernetes does not serve itself, and so does not describe."""
        return self.schemas.get("io.k8s" + message.removeprefix("k8s.io").replace("_", "-"))

    def fields(self, message):
        """The rows of a message as Go prints it, members of inlined structs in their place."""
        rows = self.inlined(message, self.schema(message), ())
        described = self.schema(message)
        names = [row.name for row in rows]
        if described is not None and set(names) != set(described.get("properties", {})):
            raise Surprise(f"{message}: Go has {names}, OpenAPI {list(described.get('properties', {}))}")
        return rows

    def inlined(self, message, described, inside):
        package, _, name = message.rpartition(".")
        known = self.package(package)
        if name not in known.structs or name not in known.messages:
            raise Surprise(f"{message} is not a struct and a message")
        rows = []
        for go in known.structs[name]:
            json_name, options = go.json
            if json_name == "-":
                continue
            proto = known.messages[name].get(go.number)
            if not json_name and go.type.endswith("TypeMeta"):
                rows += [Field(name="kind"), Field(name="apiVersion")]
            elif proto is None:
                raise Surprise(f"{message}: field {json_name or go.type} is not in generated.proto")
            elif not json_name or "inline" in options:
                rows += self.inlined(proto.type, described, (*inside, go.number))
            else:
                rows.append(self.field(json_name, options, go, proto, described, inside))
                self.set_default(rows[-1], message)
        return rows

    def field(self, name, options, go, proto, described, inside):
        row = Field(name=name, shape=proto.shape, number=go.number,
                    inside=sum(number << 8 * place for place, number in enumerate(inside)))
        row.scalar, row.type = self.content(proto.type)
        set_zero(row, go, options)
        if described is not None:
            self.set_merging(row, go, described["properties"][name])
        return row

    def content(self, kind):
        if kind in SCALARS:
            return SCALARS[kind], ""
        package, _, name = kind.rpartition(".")
        # A list under a name of its own is a message, so that maps can hold it. The tables have no lists in maps.
        if name in self.package(package).slices:
            return "any", ""
        return "object", kind

    def set_merging(self, row, go, described):
        strategies = described.get("x-kubernetes-patch-strategy", "").split(",")
        row.merge, row.retain_keys = "merge" in strategies, "retainKeys" in strategies
        row.replace = "replace" in strategies
        row.merge_key = described.get("x-kubernetes-patch-merge-key", "")
        if row.shape == "list":
            row.list = described.get("x-kubernetes-list-type", "atomic")
            row.list_keys = ",".join(described.get("x-kubernetes-list-map-keys", []))
        else:
            of_type = (self.schema(row.type) or {}) if row.shape == "one" and row.type else {}
            row.atomic = {**of_type, **described}.get("x-kubernetes-map-type") == "atomic"
        default = described.get("default")
        # Fields that are no pointers get Go's zero as a default, which says nothing.
        if default not in (None, "", 0, False, {}, []) or (default is not None and go.type.startswith("*")):
            row.fallback = json.dumps(default, separators=(",", ":"))


    def set_default(self, row, message):
        values = self.defaults.get(message, {})
        if row.name in values:
            self.used_defaults.add((message, row.name))
            row.fallback = json.dumps(values[row.name], separators=(",", ":"))

    def changed_defaults(self, read):
        """The Go files with defaults that are not the ones that were read, with their sums. Call it last."""
        unused = [f"{message}.{name}" for message, values in self.defaults.items() for name in values
                  if (message, name) not in self.used_defaults]
        if unused:
            raise Surprise(f"there are defaults for what is not a field: {', '.join(unused)}")
        sums = {}
        for name in self.read_packages:
            group, version = name.split(".")[-2:]
            for module in ("kubernetes", "apiextensions-apiserver"):
                path = f"pkg/apis/{group}/{version}/defaults.go"
                file = self.folders[module] / path
                if file.exists() and "func SetDefaults_" in file.read_text():
                    sums[f"{module}/{path}"] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        return {path: sums.get(path, "gone") for path in sorted(sums | read) if sums.get(path) != read.get(path)}


def set_zero(row, go, options):
    """What becomes of an empty value."""
    if go.type.startswith("*"):
        row.keep_zero = True
    elif row.shape != "one" or row.scalar == "bytes":
        row.keep_zero = "omitempty" not in options  # null if nothing was sent, but an empty one stays
    elif row.scalar in PRINTED_AS_NULL or "omitzero" in options:
        pass
    elif row.scalar in ("object", "quantity", "int_or_string", "duration"):
        row.required_zero = True  # structs are never empty for Go, whatever the tag says
    else:
        row.required_zero = "omitempty" not in options
