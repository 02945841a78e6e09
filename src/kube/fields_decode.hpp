// Reads JSON token by token straight into fields. Only the *_decode.cpp files include it.
#pragma once

#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "kube/cursor_decode.hpp"
#include "kube/decode.hpp"
#include "kube/tokens_decode.hpp"

namespace plim::kube {

// Each thread has one for objects and one for lists, because the visitor of a list may decode
// objects.
TokenIndex& object_tokens();
TokenIndex& list_tokens();

// Reads values in document order into fields. A callback reads its value, or leaves it and the
// value is skipped. The input cannot cause deep recursion: the depth is that of the struct that is
// filled.
class JsonReader : public TokenCursor {
 public:
  explicit JsonReader(InternPool* pool) : pool_(pool) {}

  // Walks a whole document, which must be an object.
  template <class OnField>
  Result<void> document(TokenIndex& tokens, JsonText text, OnField on_field) {
    PLIM_CHECK(tokens.build(text.view()));
    move_to(text.view(), tokens);
    if (first() != '{') return fail(Code::invalid, "expected a JSON object");
    if (!fields(on_field)) return error();
    if (at_ != end_) return fail(Code::invalid, "broken JSON: more text after the object");
    return {};
  }

  template <class OnField>
  bool object(OnField on_field) {
    if (first() == '{') return fields(on_field);
    return null() || wrong("expected an object");
  }

  // Calls `on_item` for each item of a list.
  template <class OnItem>
  bool items(OnItem on_item) {
    if (first() != '[') return null() || wrong("expected a list");
    ++at_;
    if (take(']')) return true;
    std::size_t index = 0;
    do {
      const std::uint32_t* item = at_;
      if (!on_item() || (at_ == item && !skip())) return within(fmt::format("[{}]", index));
      ++index;
    } while (take(','));
    return take(']') || wrong("broken JSON: expected , or ] in a list");
  }

  // A list of structs, in one allocation of the right size. A repeated key replaces the earlier
  // list, as in Go.
  template <class T, class OnField>
  bool objects(std::vector<T>& out, OnField on_field) {
    boost::container::small_vector<T, 8> made;
    bool good = items([&] {
      T& one = made.emplace_back();
      return object([&](std::string_view key) { return on_field(one, key); });
    });
    out.assign(std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    return good;
  }

  // A map of texts: labels, annotations, resources.
  template <class Text>
  bool pairs(std::vector<std::pair<Interned, Text>>& out) {
    out.clear();
    out.reserve(4);
    return object([&](std::string_view key) {
      auto& made = out.emplace_back();
      made.first = (*pool_)(key);
      return text(made.second);
    });
  }

  bool text(std::string& out) {
    return string([&](std::string_view found) { out = found; });
  }

  bool text(Interned& out) {
    return string([&](std::string_view found) { out = (*pool_)(found); });
  }

  // The next value if it is an integer; does not consume it.
  template <class Integer = std::int64_t>
  std::optional<Integer> next_integer() const {
    Integer out = 0;
    std::string_view digits = token();
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    bool good = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    return good ? std::optional(out) : std::nullopt;
  }

  template <class Integer>
  bool integer(Integer& out) {
    auto found = next_integer<Integer>();
    if (!found) return null() || wrong("expected an integer");
    ++at_;
    out = *found;
    return true;
  }

  bool flag(bool& out) {
    std::string_view word = token();
    if (word != "true" && word != "false") return null() || wrong("expected true or false");
    ++at_;
    out = word == "true";
    return true;
  }

  bool time(std::optional<WallTime>& out);

  Interned intern(std::string_view found) { return (*pool_)(found); }

  // The JSON of an object or list, unchanged.
  bool raw(std::string_view& out) {
    if (first() != '{' && first() != '[') return null() || wrong("expected an object or a list");
    const char* start = text_ + *at_;
    if (!skip()) return false;
    out = {start, text_ + at_[-1] + 1};
    return true;
  }

  bool raw(Interned& out) {
    std::string_view found;
    if (!raw(found)) return false;
    out = (*pool_)(found);
    return true;
  }

  // The fields of an object and also its JSON.
  template <class OnField>
  bool spanned_object(std::string_view& span, OnField on_field) {
    if (first() != '{') return wrong("expected an object");
    const std::uint32_t* start = at_;
    if (!raw(span)) return false;
    at_ = start;
    return fields(on_field);
  }

  bool meta(ObjectMeta& out);
  bool condition(Condition& out, std::string_view key);

 protected:
  template <class OnField>
  bool field(OnField& on_field) {
    if (!key_and_value()) return wrong("broken JSON: expected a key and a value");
    std::string_view key = plain_key();
    std::string unescaped;
    if (has_backslash(key)) {
      if (!unescape(key, unescaped)) return wrong("broken escape in a key");
      key = unescaped;
    }
    const std::uint32_t* value = at_ += 2;
    return (on_field(key) && (at_ != value || skip())) || within(key);
  }

 private:
  template <class OnField>
  bool fields(OnField on_field) {
    ++at_;
    if (take('}')) return true;
    do {
      if (!field(on_field)) return false;
    } while (take(','));
    return take('}') || wrong("broken JSON: expected , or } in an object");
  }

  InternPool* pool_;
};

}  // namespace plim::kube
