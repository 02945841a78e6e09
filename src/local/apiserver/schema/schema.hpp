// The description of every served type. Strict decoding, defaults, strategic merge, server-side
// apply, protobuf and OpenAPI all read it; none of them has code for single kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace plim::local::apiserver {

// The JSON type of a value.
enum class Scalar : std::uint8_t {
  text,
  boolean,
  int32,
  int64,
  number,    // a double
  quantity,  // string or number, stored in canonical form
  int_or_string,
  time,        // RFC 3339, whole seconds
  micro_time,  // RFC 3339, six decimals
  duration,    // "1h2m3s"
  bytes,       // base64
  object,      // of Field::type
  any,         // stored as sent
};

// Whether the field has one value, or many.
enum class Shape : std::uint8_t { one, list, map };  // map: keys are strings

// How a list is merged by server-side apply and strategic merge; the two may differ for one field,
// as in upstream.
enum class ListKind : std::uint8_t { atomic, set, map };

struct Type;

struct Field {
  std::string_view name;
  Scalar scalar = Scalar::text;
  Shape shape = Shape::one;
  const Type* type = nullptr;  // for Scalar::object
  ListKind list = ListKind::atomic;
  // For ListKind::map, separated by commas: "containerPort,protocol".
  std::string_view list_keys = {};
  std::string_view merge_key = {};  // strategic merge of a list of objects by this key
  bool merge = false;               // strategic merge extends the list instead of replacing it
  bool retain_keys = false;
  bool replace = false;  // strategic merge replaces the object as a whole
  bool atomic = false;   // an object or map that server-side apply owns as a whole
  // What happens to an empty value ("", 0, false, [], {}): it is omitted; or, if Go uses a pointer,
  // it is a value like any other ("replicas": 0, "emptyDir": {}); or Go prints it even if nothing
  // was sent ("resources": {}, "name": "").
  bool keep_zero = false;
  bool required_zero = false;
  std::string_view fallback = {};  // default as JSON, "" for none
  // Protobuf: the number of the field, and the numbers of enclosing messages that JSON does not
  // show, with the outermost in the lowest byte: hostPath of a Volume is 1 inside 2.
  std::uint16_t number = 0;
  std::uint16_t inside = 0;
  std::string_view description = {};
};

struct Type {
  std::string_view name;  // "PodSpec"
  std::span<const Field> fields;

  const Field* find(std::string_view field) const;
};

// The type of a built-in kind, null if there is none: custom resources have their own schema.
// DeleteOptions are in every group.
const Type* find_type(std::string_view group, std::string_view version, std::string_view kind);
// The type of metadata.
const Type& object_meta_type();

}  // namespace plim::local::apiserver
