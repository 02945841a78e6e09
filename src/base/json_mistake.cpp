#include "base/json_mistake.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"

namespace plim {
namespace {

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// A plain recursive reader of the grammar; every function returns false after a mistake.
class GrammarReader {
 public:
  explicit GrammarReader(std::string_view text) : text_(text) {}

  std::optional<JsonMistake> run() {
    if (value("a value")) {
      skip_space();
      if (at_ < text_.size()) expected("the end of the text");
    }
    return std::move(mistake_);
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  bool wrong(std::size_t offset, std::string message) {
    mistake_ = JsonMistake{.offset = offset, .message = std::move(message)};
    return false;
  }

  bool expected(std::string_view what) {
    if (at_ >= text_.size()) return wrong(at_, fmt::format("expected {}, found the end", what));
    std::size_t length = utf8_length(text_.substr(at_));
    if (length == 0) return wrong(at_, "the text is not valid UTF-8");
    return wrong(at_, fmt::format("expected {}, found {}", what, quote(text_.substr(at_, length))));
  }

  bool value(std::string_view what) {
    skip_space();
    char c = peek();
    if (c == '{') return nested(&GrammarReader::object);
    if (c == '[') return nested(&GrammarReader::array);
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    for (std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return true;
    }
    return expected(what);
  }

  bool nested(bool (GrammarReader::*contents)()) {
    if (++depth_ > kMaxJsonDepth)
      return wrong(at_, fmt::format("nested more than {} levels deep", kMaxJsonDepth));
    ++at_;
    bool good = (this->*contents)();
    --depth_;
    return good;
  }

  bool object() {
    skip_space();
    for (bool first = true; first || peek() != '}'; first = false) {
      if (first && peek() == '}') break;
      if (!first) {
        if (peek() != ',') return expected("',' or '}' after a member");
        ++at_;
        skip_space();
      }
      if (peek() != '"') return expected(first ? "a key in quotes or '}'" : "a key in quotes");
      if (!string()) return false;
      skip_space();
      if (peek() != ':') return expected("':' after the key");
      ++at_;
      if (!value("a value after ':'")) return false;
      skip_space();
    }
    ++at_;
    return true;
  }

  bool array() {
    skip_space();
    for (bool first = true; first || peek() != ']'; first = false) {
      if (first && peek() == ']') break;
      if (!first) {
        if (peek() != ',') return expected("',' or ']' after an element");
        ++at_;
      }
      if (!value(first ? "a value or ']'" : "a value after ','")) return false;
      skip_space();
    }
    ++at_;
    return true;
  }

  bool string() {
    std::size_t start = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      auto c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x20) return wrong(at_, "control characters in a string must be escaped");
      if (c == '\\') {
        if (!escape()) return false;
        continue;
      }
      std::size_t length = utf8_length(text_.substr(at_));
      if (length == 0) return wrong(at_, "the text is not valid UTF-8");
      at_ += length;
    }
    if (at_ >= text_.size())
      return wrong(start, "the string that begins here has no closing quote");
    ++at_;
    return true;
  }

  bool escape() {
    std::size_t start = at_++;
    if (peek() != 'u') {
      if (at_ >= text_.size() || std::string_view("\"\\/bfnrt").find(peek()) == text_.npos)
        return expected("one of \" \\ / b f n r t u after a backslash");
      ++at_;
      return true;
    }
    auto unit = hex_unit();
    if (!unit) return false;
    if (*unit >= 0xdc00 && *unit <= 0xdfff)
      return wrong(start, "second half of a surrogate pair without the first");
    if (*unit < 0xd800 || *unit > 0xdbff) return true;
    if (!text_.substr(at_).starts_with("\\u"))
      return wrong(start, "first half of a surrogate pair without the second");
    ++at_;
    auto second = hex_unit();
    if (!second) return false;
    if (*second >= 0xdc00 && *second <= 0xdfff) return true;
    return wrong(start, "first half of a surrogate pair without the second");
  }

  // Called at the 'u' of an escape.
  std::optional<unsigned> hex_unit() {
    ++at_;
    unsigned unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (!is_hex_digit(peek())) {
        expected("four hexadecimal digits after \\u");
        return std::nullopt;
      }
      char c = peek();
      unit = unit * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return unit;
  }

  bool digits(std::string_view where) {
    if (!is_digit(peek())) return expected(where);
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool number() {
    std::size_t start = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
      if (is_digit(peek())) return wrong(start, "a number must not begin with a zero");
    } else if (!digits("a digit after '-'")) {
      return false;
    }
    if (peek() == '.') {
      ++at_;
      if (!digits("a digit after the decimal point")) return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits("a digit in the exponent")) return false;
    }
    auto parsed = parse_double(text_.substr(start, at_ - start));
    return parsed ? true : wrong(start, parsed.error().message);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::optional<JsonMistake> mistake_;
};

}  // namespace

std::optional<JsonMistake> find_json_mistake(std::string_view text) {
  return GrammarReader(text).run();
}

}  // namespace plim
