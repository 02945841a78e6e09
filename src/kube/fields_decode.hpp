// How the *_decode.cpp files walk JSON with simdjson On-Demand; included by them only.
#pragma once

#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>
#include <simdjson.h>

#include "kube/decode.hpp"

namespace plim::kube {

namespace ondemand = simdjson::ondemand;

// One parser per thread for objects and one for lists, since a list's visitor may decode objects.
// Their buffers are kept: fresh pages would cost more than the parsing.
ondemand::parser& object_parser();
ondemand::parser& list_parser();

// Reads values in document order into fields. Every member returns false once something is wrong;
// the callers on the way out each add their key, so that error() names the field. Nothing recurses
// on the input: a reader's depth is that of the struct it fills.
class JsonReader {
 public:
  explicit JsonReader(InternPool* pool) : pool_(pool) {}

  // Walks a whole document, which must be an object.
  template <class OnField>
  Result<void> document(ondemand::parser& parser, JsonText text, OnField on_field) {
    auto all = text.view();
    ondemand::document doc;
    ondemand::object root;
    auto broken = parser.iterate(all.data(), all.size(), all.size() + JsonText::kPadding).get(doc);
    if (broken) return fail(Code::invalid, fmt::format("broken JSON: {}", error_message(broken)));
    if (doc.get_object().get(root)) return fail(Code::invalid, "expected a JSON object");
    if (!fields(root, on_field)) return error();
    if (!doc.current_location().error())
      return fail(Code::invalid, "broken JSON: more text after the object");
    return {};
  }

  // Walks a list object; `on_item` reads one item and is asked for the error if it returns false.
  template <class OnItem>
  Result<ListMeta> list_document(JsonText text, OnItem on_item) {
    ListMeta out;
    auto on_meta = [&](std::string_view key, ondemand::value value) {
      if (key == "resourceVersion") return this->text(value, out.resource_version);
      if (key == "continue") return this->text(value, out.continue_token);
      if (key == "remainingItemCount") return integer(value, out.remaining);
      return true;
    };
    auto on_field = [&](std::string_view key, ondemand::value value) {
      if (key == "metadata") return object(value, on_meta);
      if (key == "items") return list(value, on_item);
      return true;
    };
    PLIM_CHECK(document(list_parser(), text, on_field));
    return out;
  }

  // Takes a finished item to its visitor.
  template <class T>
  bool hand_over(const Visit<T>& visit, T item) {
    auto visited = visit(std::move(item));
    return bool(visited) || wrong(visited.error().message);
  }

  template <class OnField>
  bool object(ondemand::value value, OnField on_field) {
    if (is_null(value)) return true;
    ondemand::object object;
    if (value.get_object().get(object)) return wrong("expected an object");
    return fields(object, on_field);
  }

  template <class OnItem>
  bool list(ondemand::value value, OnItem on_item) {
    if (is_null(value)) return true;
    ondemand::array array;
    if (value.get_array().get(array)) return wrong("expected a list");
    std::size_t index = 0;
    for (auto result : array) {
      ondemand::value item;
      if (auto broken = std::move(result).get(item); broken) return wrong(error_message(broken));
      if (!on_item(item)) return within(fmt::format("[{}]", index));
      ++index;
    }
    return true;
  }

  // A list of structs, in one allocation of the right size; a repeated key replaces the earlier
  // list, as in Go.
  template <class T, class OnField>
  bool objects(ondemand::value value, std::vector<T>& out, OnField on_field) {
    boost::container::small_vector<T, 8> made;
    bool good = list(value, [&](ondemand::value item) {
      T& one = made.emplace_back();
      return object(item,
                    [&](std::string_view key, ondemand::value v) { return on_field(one, key, v); });
    });
    out.assign(std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    return good;
  }

  // Names to texts: labels, annotations, resources.
  template <class Text>
  bool pairs(ondemand::value value, std::vector<std::pair<Interned, Text>>& out) {
    out.clear();
    out.reserve(4);
    return object(value, [&](std::string_view key, ondemand::value v) {
      auto& made = out.emplace_back();
      made.first = (*pool_)(key);
      return text(v, made.second);
    });
  }

  bool text(ondemand::value value, std::string& out) {
    return string(value, [&](std::string_view found) { out = found; });
  }

  bool text(ondemand::value value, Interned& out) {
    return string(value, [&](std::string_view found) { out = (*pool_)(found); });
  }

  template <class Integer>
  bool integer(ondemand::value value, Integer& out) {
    if (is_null(value)) return true;
    std::int64_t found = 0;
    if (value.get_int64().get(found) || found < std::numeric_limits<Integer>::min() ||
        found > std::numeric_limits<Integer>::max())
      return wrong("expected an integer");
    out = static_cast<Integer>(found);
    return true;
  }

  bool flag(ondemand::value value, bool& out) {
    if (is_null(value)) return true;
    return !value.get_bool().get(out) || wrong("expected true or false");
  }

  bool time(ondemand::value value, std::optional<WallTime>& out);
  // The JSON of an object or list as it stands.
  bool raw(ondemand::value value, std::string_view& out);

  // Both at once: the fields of an object and its JSON.
  template <class OnField>
  bool spanned_object(ondemand::value value, std::string_view& span, OnField on_field) {
    ondemand::object object;
    if (value.get_object().get(object) || object.raw_json().get(span) || object.reset().error())
      return wrong("expected an object");
    return fields(object, on_field);
  }

  bool raw(ondemand::value value, Interned& out) {
    std::string_view found;
    if (!raw(value, found)) return false;
    out = (*pool_)(found);
    return true;
  }

  bool meta(ondemand::value value, ObjectMeta& out);
  bool condition(Condition& out, std::string_view key, ondemand::value value);

  bool wrong(std::string_view what) {
    what_ = what;
    return false;
  }

  Error error() const {
    return fail(Code::invalid, path_.empty() ? what_ : fmt::format("{}: {}", path_, what_));
  }

 private:
  static std::string_view token(ondemand::value value) {
    std::string_view out = value.raw_json_token();
    while (!out.empty() && static_cast<unsigned char>(out.back()) <= ' ') out.remove_suffix(1);
    return out;
  }

  static bool is_null(ondemand::value value) {
    return value.raw_json_token().front() == 'n' && token(value) == "null";
  }

  // Most texts hold no escapes and are used straight from the input, without simdjson's copy.
  template <class Take>
  bool string(ondemand::value value, Take take) {
    std::string_view found = token(value);
    if (found.size() < 2 || found.front() != '"')
      return found == "null" || wrong("expected a string");
    found = found.substr(1, found.size() - 2);
    if (has_backslash(found) && value.get_string().get(found))
      return wrong("broken escape in a string");
    take(found);
    return true;
  }

  template <class OnField>
  bool fields(ondemand::object object, OnField on_field) {
    for (auto result : object) {
      ondemand::field field;
      std::string_view key;
      if (auto broken = std::move(result).get(field); broken) return wrong(error_message(broken));
      if (!key_of(field, key)) return wrong("broken escape in a key");
      if (!on_field(key, field.value())) return within(key);
    }
    return true;
  }

  // The key ends two structural characters before its value; looking back from there costs less
  // than searching its end.
  static simdjson_inline bool key_of(ondemand::field& field, std::string_view& out) {
    const char* start = field.key().raw();
    const char* end = field.value().raw_json_token().data() - 1;
    while (*end != ':') --end;
    do --end;
    while (*end != '"');
    out = {start, static_cast<std::size_t>(end - start)};
    return !has_backslash(out) || !field.unescaped_key().get(out);
  }

  // Eight bytes at a time, reading into the padding behind the text.
  static simdjson_inline bool has_backslash(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, text.data() + at, 8);
      std::uint64_t zero_where_found = eight ^ (kOnes * '\\');
      std::uint64_t found = (zero_where_found - kOnes) & ~zero_where_found & kHigh;
      if (found && std::memchr(text.data() + at, '\\', text.size() - at)) return true;
    }
    return false;
  }

  bool within(std::string_view step) {
    bool dot = !path_.empty() && path_.front() != '[';
    path_ = fmt::format("{}{}{}", step, dot ? "." : "", path_);
    return false;
  }

  InternPool* pool_;
  std::string path_;
  std::string what_;
};

}  // namespace plim::kube
