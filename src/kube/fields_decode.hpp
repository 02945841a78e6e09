// How the *_decode.cpp files walk JSON: token by token, straight into fields; included by them
// only.
#pragma once

#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "kube/decode.hpp"
#include "kube/tokens_decode.hpp"

namespace plim::kube {

// One per thread for objects and one for lists, since a list's visitor may decode objects.
TokenIndex& object_tokens();
TokenIndex& list_tokens();

// Reads values in document order into fields. A callback reads the value it was called for or
// leaves it, then it is skipped. Every member returns false once something is wrong; the callers on
// the way out each add their key, so that error() names the field. Nothing recurses on the input: a
// reader's depth is that of the struct it fills.
class JsonReader {
 public:
  explicit JsonReader(InternPool* pool) : pool_(pool) {}

  // Walks a whole document, which must be an object.
  template <class OnField>
  Result<void> document(TokenIndex& tokens, JsonText text, OnField on_field) {
    PLIM_CHECK(tokens.build(text.view()));
    text_ = text.view().data();
    at_ = tokens.begin();
    end_ = tokens.end();
    if (first() != '{') return fail(Code::invalid, "expected a JSON object");
    if (!fields(on_field)) return error();
    if (at_ != end_) return fail(Code::invalid, "broken JSON: more text after the object");
    return {};
  }

  // Walks a list object, a window after the other; `on_item` reads one item and is asked for the
  // error if it returns false. An item that a window cuts off is read once more.
  template <class OnItem>
  Result<ListMeta> list_document(JsonText list, OnItem on_item) {
    ListMeta out;
    auto on_meta = [&](std::string_view key) {
      if (key == "resourceVersion") return text(out.resource_version);
      if (key == "continue") return text(out.continue_token);
      if (key == "remainingItemCount") return integer(out.remaining);
      return true;
    };
    auto on_field = [&](std::string_view key) { return key != "metadata" || object(on_meta); };
    rest_ = list.view();
    PLIM_CHECK(look_at(0, kWindow));
    if (!take('{')) return fail(Code::invalid, "expected a JSON object");
    bool good = true, more = first() != '}';
    for (; good && more; more = good && take_further(','))
      good = at_items() ? list_items(on_item) : whole([&] { return field(on_field); });
    if (good) good = take('}') || wrong("broken JSON: expected , or } in an object");
    if (good) good = at_ == end_ || wrong("broken JSON: more text after the object");
    list_tokens().keep_at_most(4 * kWindow);
    if (!good) return error();
    return out;
  }

  // Takes a finished item to its visitor.
  template <class Visitor, class Item>
  bool hand_over(const Visitor& visit, Item item) {
    auto visited = visit(std::move(item));
    refused_ = !visited;
    return !refused_ || wrong(visited.error().message);
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

  // A list of structs, in one allocation of the right size; a repeated key replaces the earlier
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

  // Names to texts: labels, annotations, resources.
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

  // The integer that comes next, if one does; it stays unread.
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

  // The JSON of an object or list as it stands.
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

  // Both at once: the fields of an object and its JSON.
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

  // The first character of the next token, 0 at the end.
  char first() const { return at_ != end_ ? text_[*at_] : '\0'; }

  bool wrong(std::string_view what) {
    if (what_.empty()) what_ = what;  // the rest follows from it
    return false;
  }

  Error error() const {
    return fail(Code::invalid, path_.empty() ? what_ : fmt::format("{}: {}", path_, what_));
  }

 private:
  std::string_view token() const {
    return at_ != end_ ? trimmed(text_ + at_[0], text_ + at_[1]) : std::string_view();
  }

  static std::string_view trimmed(const char* start, const char* end) {
    while (end != start && static_cast<unsigned char>(end[-1]) <= ' ') --end;
    return {start, end};
  }

  bool take(char wanted) {
    if (first() != wanted) return false;
    ++at_;
    return true;
  }

  bool null() {
    if (token() != "null") return false;
    ++at_;
    return true;
  }

  // Passes over the next value by counting its brackets.
  bool skip() {
    static constexpr auto kDeeper = [] {
      std::array<signed char, 256> out{};
      out['['] = out['{'] = 1;
      out[']'] = out['}'] = -1;
      return out;
    }();
    std::ptrdiff_t depth = first() == ',' || first() == ':' ? -1 : 0;
    const std::uint32_t* at = at_;
    do {
      if (at == end_) return wrong("broken JSON: it ends too early");
      depth += kDeeper[static_cast<unsigned char>(text_[*at++])];
    } while (depth > 0);
    at_ = at;
    return depth == 0 || wrong("broken JSON: expected a value");
  }

  // Most texts hold no escapes and are used straight from the input.
  template <class Take>
  bool string(Take take) {
    if (first() != '"') return null() || wrong("expected a string");
    std::string_view found = token();
    found = found.substr(1, found.size() - 2);
    if (has_backslash(found)) {
      if (!unescape(found, unescaped_)) return wrong("broken escape in a string");
      found = unescaped_;
    }
    ++at_;
    take(found);
    return true;
  }

  template <class OnField>
  bool fields(OnField on_field) {
    ++at_;
    if (take('}')) return true;
    do {
      if (!field(on_field)) return false;
    } while (take(','));
    return take('}') || wrong("broken JSON: expected , or } in an object");
  }

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

  bool key_and_value() const {
    return end_ - at_ >= 3 && text_[at_[0]] == '"' && text_[at_[1]] == ':';
  }

  std::string_view plain_key() const {
    std::string_view quoted = trimmed(text_ + at_[0] + 1, text_ + at_[1]);
    quoted.remove_suffix(1);
    return quoted;
  }

  bool at_items() const { return key_and_value() && plain_key() == "items"; }

  template <class OnItem>
  bool list_items(OnItem& on_item) {
    at_ += 2;
    if (first() != '[') return null() || wrong("expected a list") || within("items");
    ++at_;
    if (take(']')) return true;
    std::size_t index = 0;
    auto one = [&] {
      const std::uint32_t* item = at_;
      return on_item() && (at_ != item || skip());
    };
    do {
      if (!whole(one)) return within(fmt::format("items[{}]", index));
      ++index;
    } while (take_further(','));
    return take(']') || wrong("broken JSON: expected , or ] in a list") || within("items");
  }

  // Reads what must lie in one window, moving or widening the window for it.
  template <class Read>
  bool whole(Read read) {
    for (;;) {
      const std::uint32_t* start = at_;
      if (read()) return true;
      if (window_ == rest_.size() || refused_) return false;
      path_.clear();
      what_.clear();
      auto looked = look_at(*start, *start == 0 ? 2 * window_ : kWindow);
      if (!looked) return wrong(looked.error().message);
    }
  }

  // Goes on in the next window where this one ends.
  bool take_further(char wanted) {
    if (at_ == end_ && window_ < rest_.size())
      if (auto looked = look_at(window_, kWindow); !looked) return wrong(looked.error().message);
    return take(wanted);
  }

  // Moves the window `skipped` bytes on.
  Result<void> look_at(std::size_t skipped, std::size_t at_least) {
    rest_.remove_prefix(skipped);
    at_ = end_ = nullptr;
    TokenIndex& tokens = list_tokens();
    PLIM_TRY(window_, tokens.build_part(rest_, at_least));
    text_ = rest_.data();
    at_ = tokens.begin();
    end_ = tokens.end();
    return {};
  }

  // Eight bytes at a time, reading into the padding behind the text.
  static bool has_backslash(std::string_view text) {
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

  // Text and tokens of a window stay in the processor's cache between finding tokens and reading.
  static constexpr std::size_t kWindow = 256 << 10;

  InternPool* pool_;
  std::string_view rest_;   // of a list, from the window on
  std::size_t window_ = 0;  // bytes of it that the tokens cover
  bool refused_ = false;    // the visitor did not take an item
  const char* text_ = nullptr;
  const std::uint32_t* at_ = nullptr;  // the next token
  const std::uint32_t* end_ = nullptr;
  std::string unescaped_;
  std::string path_;
  std::string what_;
};

}  // namespace plim::kube
