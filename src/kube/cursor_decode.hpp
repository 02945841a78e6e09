// A position in the tokens of a JSON text, and the error once something is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.hpp"
#include "kube/tokens_decode.hpp"

namespace plim::kube {

// The base of JsonReader, which reads values at this position. Every member that returns bool
// returns false once something is wrong. Each caller on the way out adds its key with within(), so
// that error() names the field.
class TokenCursor {
 public:
  // The first character of the next token, 0 at the end.
  char first() const { return at_ != end_ ? text_[*at_] : '\0'; }

  bool wrong(std::string_view what) {
    if (what_.empty()) what_ = what;  // later errors follow from the first
    return false;
  }

  Error error() const {
    return fail(Code::invalid, path_.empty() ? what_ : fmt::format("{}: {}", path_, what_));
  }

 protected:
  void move_to(std::string_view text, const TokenIndex& tokens) {
    text_ = text.data();
    at_ = tokens.begin();
    end_ = tokens.end();
  }

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

  // Skips the next value by counting its brackets.
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

  // Calls `take` with the next string. Most strings have no escapes and are not copied.
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

  // Whether a key and the beginning of its value come next.
  bool key_and_value() const {
    return end_ - at_ >= 3 && text_[at_[0]] == '"' && text_[at_[1]] == ':';
  }

  // The next key, with its escapes.
  std::string_view plain_key() const {
    std::string_view quoted = trimmed(text_ + at_[0] + 1, text_ + at_[1]);
    quoted.remove_suffix(1);
    return quoted;
  }

  void forget_error() {
    path_.clear();
    what_.clear();
  }

  // Names the field or item in which something is wrong.
  bool within(std::string_view step) {
    bool dot = !path_.empty() && path_.front() != '[';
    path_ = fmt::format("{}{}{}", step, dot ? "." : "", path_);
    return false;
  }

  // Reads eight bytes at a time, at the end into the padding after the text.
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

  const char* text_ = nullptr;
  const std::uint32_t* at_ = nullptr;  // the next token
  const std::uint32_t* end_ = nullptr;

 private:
  std::string unescaped_;
  std::string path_;
  std::string what_;
};

}  // namespace plim::kube
