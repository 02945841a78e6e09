// The one description of every served type. Strict decoding, defaults, strategic merge, field sets
// of server-side apply and, later, protobuf and OpenAPI all read it; none of them knows a kind.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace plim::local::apiserver {

// What one value is in JSON.
enum class Scalar : std::uint8_t {
  text,
  boolean,
  int32,
  int64,
  number,    // a double
  quantity,  // text or number, kept in canonical form
  int_or_string,
  time,        // RFC 3339, whole seconds
  micro_time,  // RFC 3339, six decimals
  duration,    // "1h2m3s"
  bytes,       // base64
  object,      // of Field::type
  any,         // whatever was sent, kept as it is
};

// How many there are of it.
enum class Shape : std::uint8_t { one, list, map };  // map: text keys, values as described

// How a list is merged: by strategic merge and by server-side apply. Those of one field may differ,
// as upstream's do.
enum class ListKind : std::uint8_t { atomic, set, map };

struct Type;

struct Field {
  std::string_view name;
  Scalar scalar = Scalar::text;
  Shape shape = Shape::one;
  const Type* type = nullptr;  // of Scalar::object
  ListKind list = ListKind::atomic;
  // Of ListKind::map, separated by commas: "containerPort,protocol".
  std::string_view list_keys = {};
  std::string_view merge_key = {};  // strategic merge of a list of objects by this key
  bool merge = false;               // strategic merge joins the list instead of replacing it
  bool retain_keys = false;
  bool replace = false;  // strategic merge replaces the object as a whole
  bool atomic = false;   // an object or map that server-side apply owns as a whole
  // What becomes of an empty value ("", 0, false, [], {}): it is left out; or, where Go has a
  // pointer, it is a value as any other ("replicas": 0, "emptyDir": {}); or Go prints it even when
  // nothing was sent ("resources": {}, "name": "").
  bool keep_zero = false;
  bool required_zero = false;
  std::string_view fallback = {};  // default as JSON, "" for none
  // Protobuf: the field's number, and those of the embedded messages around it that JSON does not
  // show, the outermost in the lowest byte: a Volume's hostPath is 1 inside 2.
  std::uint16_t number = 0;
  std::uint16_t inside = 0;
  std::string_view description = {};
};

struct Type {
  std::string_view name;  // "PodSpec"
  std::span<const Field> fields;

  const Field* find(std::string_view field) const;
};

// The type of a kind of ours, null if there is none: custom resources have their own schema.
// DeleteOptions are part of every group.
const Type* find_type(std::string_view group, std::string_view version, std::string_view kind);
// Any object's metadata.
const Type& object_meta_type();

}  // namespace plim::local::apiserver
