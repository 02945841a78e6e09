// JSON paths of Kubernetes' objects that the compiler checks: text_at(pod, "Pod.spec.nodeName").
// The first part is the type of the value that is read, the others are fields of Kubernetes' API.
// An unknown field, or a field of another type, does not compile. docs/decisions/json-paths.md says
// why.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "kube/field_names.hpp"

namespace plim::kube {
namespace paths {

// What a path leads to.
enum Leaf : unsigned {
  text = 1,
  time = 2,
  integer = 4,
  boolean = 8,
  number = 16,
  list = 32,
  object = 64,  // of a type
  map = 128,
  anything = 255,
};

enum class Mistake : std::uint8_t {
  none,
  no_field_given,
  no_such_type,
  no_such_field,
  no_fields_below,
  other_type
};

// Plain loops, because the standard algorithms take the compiler longer.
constexpr std::string_view until(std::string_view text, char end) {
  std::size_t size = 0;
  while (size < text.size() && text[size] != end) ++size;
  return text.substr(0, size);
}

constexpr int compare(const char* name, std::string_view wanted) {
  for (char character : wanted) {
    if (*name != character) return *name < character ? -1 : 1;
    ++name;
  }
  return *name == '\0' ? 0 : 1;
}

constexpr const char* fields_of(std::string_view type) {  // null if there is no such type
  std::size_t low = 0, high = std::size(kTypeFields);
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const int order = compare(kTypeFields[middle].type, type);
    if (order == 0) return kTypeFields[middle].fields;
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return nullptr;
}

// What a field holds, in the notation of kTypeFields ("", "i", "[Container"); nullopt if there is
// no such field.
constexpr std::optional<std::string_view> content_of(const char* fields, std::string_view field) {
  while (*fields != '\0') {
    std::size_t same = 0;
    while (same < field.size() && fields[same] == field[same]) ++same;
    const char* end = fields + same;
    const bool found = same == field.size() && (*end == ':' || *end == ' ' || *end == '\0');
    fields = end;
    while (*fields != ' ' && *fields != '\0') ++fields;
    if (found) return *end == ':' ? std::string_view(end + 1, fields) : std::string_view();
    if (*fields == ' ') ++fields;
  }
  return std::nullopt;
}

constexpr unsigned leaf_of(std::string_view content) {
  if (content.empty()) return text;
  switch (content.front()) {
    case '[':
      return list;
    case '{':
      return map;
    case 'a':
      return anything;
    case 'b':
      return boolean;
    case 'i':
      return integer;
    case 'm':
      return integer | text;
    case 'n':
      return number;
    case 't':
      return time;
    default:
      return object;
  }
}

constexpr Mistake mistake_in(std::string_view path, unsigned allowed = anything) {
  std::string_view content = until(path, '.');
  std::size_t begin = content.size() + 1;
  if (begin > path.size()) return Mistake::no_field_given;
  for (unsigned leaf = leaf_of(content); begin <= path.size(); leaf = leaf_of(content)) {
    const std::string_view key = until(path.substr(begin), '.');
    if (leaf == map) {
      content.remove_prefix(1);  // any key will do
    } else if (leaf == object) {
      const char* fields = fields_of(content);
      if (!fields) return Mistake::no_such_type;
      const std::optional<std::string_view> found = content_of(fields, key);
      if (!found) return Mistake::no_such_field;
      content = *found;
    } else {
      return Mistake::no_fields_below;
    }
    begin += key.size() + 1;
  }
  return (leaf_of(content) & allowed) != 0 ? Mistake::none : Mistake::other_type;
}

// The keys of the path, without the type. What it throws is what the compiler shows.
consteval std::string_view checked(std::string_view path, unsigned allowed) {
  switch (mistake_in(path, allowed)) {
    case Mistake::no_field_given:
      throw "the path names a type, but no field of it";
    case Mistake::no_such_type:
      throw "the path begins with a type that Kubernetes does not have";
    case Mistake::no_such_field:
      throw "Kubernetes has no such field";
    case Mistake::no_fields_below:
      throw "the path goes on below a value that is not an object";
    case Mistake::other_type:
      throw "the field is not of the type that is read";
    case Mistake::none:
      break;
  }
  return path.substr(until(path, '.').size() + 1);
}

}  // namespace paths

// Made from literals only. The template parameter says which types of fields it may lead to.
template <unsigned leaf>
class Path {
 public:
  consteval Path(const char* path)
      : keys_(paths::checked(path, leaf)) {}  // NOLINT(google-explicit-constructor)

  template <unsigned narrower>
    requires((narrower & ~leaf) == 0)
  constexpr Path(Path<narrower> path)  // NOLINT(google-explicit-constructor)
      : keys_(path.keys()) {}

  constexpr std::string_view keys() const { return keys_; }  // "spec.nodeName"

  constexpr std::string_view key() const {      // "nodeName"
    return keys_.substr(keys_.rfind('.') + 1);  // npos + 1 is 0
  }

 private:
  std::string_view keys_;
};

using AnyPath = Path<paths::anything>;
using TextPath = Path<paths::text | paths::time>;
using TimePath = Path<paths::time>;
using IntPath = Path<paths::integer>;
using BoolPath = Path<paths::boolean>;
using ListPath = Path<paths::list>;
using MapPath = Path<paths::map>;
using StructPath = Path<paths::object | paths::map>;  // a JSON object

// Like the functions of base/json.hpp, which take any path and are for JSON of other formats.
using plim::bool_at;
using plim::find;
using plim::int_at;
using plim::list_at;
using plim::make_object;
using plim::text_at;
using plim::texts_at;

const json::value* find(const json::value& value, AnyPath path);
// An entry of a map, such as a label.
const json::value* find(const json::value& value, MapPath path, std::string_view key);
std::string_view text_at(const json::value& value, TextPath path);
std::optional<std::int64_t> int_at(const json::value& value, IntPath path);
bool bool_at(const json::value& value, BoolPath path);
const json::array& list_at(const json::value& value, ListPath path);
std::vector<std::string> texts_at(const json::value& value, ListPath path);
json::object& make_object(json::value& value, StructPath path);

// The last part of a path, for objects that are built: status[key("JobStatus.active")] = 1.
constexpr std::string_view key(AnyPath path) {
  return path.key();
}

}  // namespace plim::kube
