#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"

namespace plim {
namespace {

// Bytes of a string that need no escape; all others are handled one by one.
bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 &&
         c != '"' && c != '\\';
}

// Whether one of eight bytes is not plain. May be wrong about a byte that follows such a byte.
bool has_special(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t x) { return (x - kOnes) & ~x & kTops; };
  const std::uint64_t controls = (bytes - 0x20 * kOnes) & ~bytes & kTops;
  const std::uint64_t quotes = has_zero(bytes ^ '"' * kOnes) | has_zero(bytes ^ '\\' * kOnes);
  return ((bytes & kTops) | controls | quotes) != 0;
}

// The number of bytes at the start that need no escape.
std::size_t plain_length(std::string_view text) {
  std::size_t out = 0;
  for (std::uint64_t eight = 0; out + sizeof eight <= text.size(); out += sizeof eight) {
    std::memcpy(&eight, text.data() + out, sizeof eight);
    if (has_special(eight)) break;
  }
  while (out < text.size() && is_plain(text[out])) ++out;
  return out;
}

class JsonPrinter {
 public:
  JsonPrinter(std::string& out, int indent) : out_(out), indent_(indent) {}

  void write(const json::value& value) {
    switch (value.kind()) {
      case json::kind::null:
        out_ += "null";
        return;
      case json::kind::bool_:
        out_ += value.get_bool() ? "true" : "false";
        return;
      case json::kind::int64:
        fmt::format_to(std::back_inserter(out_), "{}", value.get_int64());
        return;
      case json::kind::uint64:
        fmt::format_to(std::back_inserter(out_), "{}", value.get_uint64());
        return;
      case json::kind::double_:
        // JSON has no infinity; JavaScript writes null.
        out_ += std::isfinite(value.get_double()) ? format_double(value.get_double(), kJsonDouble)
                                                  : "null";
        return;
      case json::kind::string:
        write_string(value.get_string());
        return;
      case json::kind::array:
        return write_array(value.get_array());
      case json::kind::object:
        return write_object(value.get_object());
    }
  }

  void write_string(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      const std::size_t plain = plain_length(text);
      out_ += text.substr(0, plain);
      text.remove_prefix(plain);
      if (!text.empty()) text.remove_prefix(write_special(text));
    }
    out_ += '"';
  }

 private:
  void write_array(const json::array& array) {
    out_ += '[';
    ++depth_;
    bool first = true;
    for (const json::value& element : array) {
      separate(first);
      write(element);
    }
    --depth_;
    if (!first) new_line();
    out_ += ']';
  }

  void write_object(const json::object& object) {
    out_ += '{';
    ++depth_;
    bool first = true;
    for (const json::key_value_pair& member : object) {
      separate(first);
      write_string(member.key());
      out_ += indent_ > 0 ? ": " : ":";
      write(member.value());
    }
    --depth_;
    if (!first) new_line();
    out_ += '}';
  }

  void separate(bool& first) {
    if (!first) out_ += ',';
    first = false;
    new_line();
  }

  void new_line() {
    if (indent_ == 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth_ * indent_), ' ');
  }

  // Writes the first character of `text`, which needs an escape, and returns its length in bytes.
  std::size_t write_special(std::string_view text) {
    switch (text.front()) {
      case '"':
        out_ += "\\\"";
        return 1;
      case '\\':
        out_ += "\\\\";
        return 1;
      case '\n':
        out_ += "\\n";
        return 1;
      case '\r':
        out_ += "\\r";
        return 1;
      case '\t':
        out_ += "\\t";
        return 1;
      case '\b':
        out_ += "\\b";
        return 1;
      case '\f':
        out_ += "\\f";
        return 1;
    }
    if (static_cast<unsigned char>(text.front()) < 0x20) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", text.front());
      return 1;
    }
    std::size_t length = utf8_length(text);
    if (length == 0) {  // like Go: the output is JSON for any input
      out_ += "\\ufffd";
      return 1;
    }
    // JavaScript treats these as line ends; escaped, our output can be embedded in a page.
    if (text.starts_with("\u2028"))
      out_ += "\\u2028";
    else if (text.starts_with("\u2029"))
      out_ += "\\u2029";
    else
      out_ += text.substr(0, length);
    return length;
  }

  std::string& out_;
  int indent_;
  int depth_ = 0;
};

}  // namespace

std::string to_json(const json::value& value) {
  return to_json_indented(value, 0);
}

std::string to_json_indented(const json::value& value, int indent) {
  std::string out;
  JsonPrinter(out, indent).write(value);
  return out;
}

void append_json(std::string& out, const json::value& value) {
  JsonPrinter(out, 0).write(value);
}

void append_json_string(std::string& out, std::string_view text) {
  JsonPrinter(out, 0).write_string(text);
}

}  // namespace plim
