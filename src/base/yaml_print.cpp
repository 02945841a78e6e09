#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "base/yaml_scalar.hpp"

namespace plim {
namespace {

// go-yaml writes longer keys, and those with line ends, after a question mark.
constexpr std::size_t kMaxSimpleKey = 128;

bool is_blank_or_end(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == ' ' || text[at] == '\n';
}

// Characters that need a double-quoted scalar. As in go-yaml, these include everything beyond the
// basic plane, and line ends of Unicode, which other tools lose easily.
bool needs_escape(std::string_view character) {
  auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return (first < 0x20 && first != '\n') || first == 0x7f;
  if (character.size() == 2)
    return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return character.size() == 4 || character == "\u2028" || character == "\u2029" ||
         character == "\ufeff" || character == "\ufffe" || character == "\uffff";
}

enum class Style { plain, single_quoted, double_quoted, literal };

// The styles that a scalar's text allows, with the rules of libyaml's emitter, as in go-yaml.
Style choose_style(std::string_view text) {
  bool space_before_break = false;
  bool has_break = false;
  bool indicator = text.starts_with("---") || text.starts_with("...");
  char previous = ' ';
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = std::max<std::size_t>(utf8_length(text.substr(at)), 1);
    if (needs_escape(text.substr(at, length)) || utf8_length(text.substr(at)) == 0)
      return Style::double_quoted;
    char c = text[at];
    if (c == '\n') {
      has_break = true;
      space_before_break |= previous == ' ' && at > 0;
    } else if (at == 0) {
      indicator |= std::string_view("#,[]{}&*!|>'\"%@`").find(c) != text.npos ||
                   (std::string_view("-?:").find(c) != text.npos && is_blank_or_end(text, 1));
    } else {
      indicator |= (c == ':' && is_blank_or_end(text, at + 1)) ||
                   (c == '#' && (previous == ' ' || previous == '\n'));
    }
    previous = c;
    at += length;
  }
  bool edge_space = text.starts_with(' ') || text.ends_with(' ');
  if (space_before_break || (has_break && text.ends_with(' '))) return Style::double_quoted;
  if (has_break) return Style::literal;
  if (is_ambiguous_scalar(text)) return Style::double_quoted;
  return indicator || edge_space ? Style::single_quoted : Style::plain;
}

class YamlPrinter {
 public:
  std::string run(const json::value& value) {
    write_block(value, 0, Place::root);
    return std::move(out_);
  }

 private:
  // What is already on the line when a value begins.
  enum class Place { root, after_key, after_dash };

  // Writes the value and ends its last line. `indent` is the indentation of its lines.
  void write_block(const json::value& value, std::size_t indent, Place place) {
    if (const json::object* object = value.if_object(); object && !object->empty()) {
      if (place == Place::after_key) out_ += '\n';
      bool first = true;
      for (const json::key_value_pair& member : *object) {
        // "- a: 1": the first member is on the line of the dash.
        if (!first || place != Place::after_dash) out_.append(indent, ' ');
        first = false;
        write_member(member, indent);
      }
      return;
    }
    if (const json::array* array = value.if_array(); array && !array->empty()) {
      if (place == Place::after_key) {
        out_ += '\n';
        indent -= 2;  // a list has the indentation of its key
      }
      bool first = true;
      for (const json::value& element : *array) {
        if (!first || place != Place::after_dash) out_.append(indent, ' ');
        first = false;
        out_ += "- ";
        write_block(element, indent + 2, Place::after_dash);
      }
      return;
    }
    if (place == Place::after_key) out_ += ' ';
    write_scalar(value, indent);
    out_ += '\n';
  }

  void write_member(const json::key_value_pair& member, std::size_t indent) {
    std::string_view key = member.key();
    bool simple = key.size() <= kMaxSimpleKey && key.find('\n') == key.npos;
    if (!simple) out_ += "? ";
    Style style = choose_style(key);
    write_text(key, indent, style == Style::literal ? Style::double_quoted : style);
    if (!simple) {
      out_ += '\n';
      out_.append(indent, ' ');
    }
    out_ += ':';
    write_block(member.value(), indent + 2, Place::after_key);
  }

  void write_scalar(const json::value& value, std::size_t indent) {
    if (const json::string* text = value.if_string()) {
      write_text(*text, indent, choose_style(*text));
    } else if (const double* number = value.if_double(); number && std::isfinite(*number)) {
      write_double(*number);
    } else {
      out_ += to_json(value);
    }
  }

  // kubectl converts from JSON: integers stay integers.
  void write_double(double number) {
    if (number == 0 && std::signbit(number)) {
      out_ += "-0.0";  // "-0" would be read as the integer 0
      return;
    }
    std::string text = format_double(number, kJsonDouble);
    bool integer = text.find_first_of(".e") == text.npos && std::abs(number) < 0x1p63;
    out_ += integer ? text : format_double(number, kYamlDouble);
  }

  void write_text(std::string_view text, std::size_t indent, Style style) {
    switch (style) {
      case Style::plain:
        out_ += text;
        return;
      case Style::single_quoted:
        out_ += '\'';
        for (char c : text) out_.append(c == '\'' ? 2 : 1, c);
        out_ += '\'';
        return;
      case Style::double_quoted:
        write_double_quoted(text);
        return;
      case Style::literal:
        write_literal(text, indent);
        return;
    }
  }

  void write_double_quoted(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      std::size_t length = utf8_length(text);
      if (length == 0) {
        out_ += "\\uFFFD";
        length = 1;
      } else if (text.front() == '"' || text.front() == '\\') {
        out_ += '\\';
        out_ += text.front();
      } else if (text.front() == '\n' || needs_escape(text.substr(0, length))) {
        write_escape(text.substr(0, length));
      } else {
        out_ += text.substr(0, length);
      }
      text.remove_prefix(length);
    }
    out_ += '"';
  }

  void write_escape(std::string_view character) {
    auto first = static_cast<unsigned char>(character.front());
    if (first == '\n') {
      out_ += "\\n";
    } else if (first == '\t') {
      out_ += "\\t";
    } else if (first == '\r') {
      out_ += "\\r";
    } else {
      std::uint32_t code = character.size() == 1 ? first : first & (0x7fu >> character.size());
      for (char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
      if (code <= 0xff)
        fmt::format_to(std::back_inserter(out_), "\\x{:02X}", code);
      else if (code <= 0xffff)
        fmt::format_to(std::back_inserter(out_), "\\u{:04X}", code);
      else
        fmt::format_to(std::back_inserter(out_), "\\U{:08X}", code);
    }
  }

  // "|" with indented lines below it. The sign after the bar determines the line ends at the end.
  void write_literal(std::string_view text, std::size_t indent) {
    out_ += '|';
    if (text.front() == ' ' || text.front() == '\n') out_ += '2';
    if (!text.ends_with('\n')) {
      out_ += '-';
    } else {
      if (text == "\n" || text.ends_with("\n\n")) out_ += '+';
      text.remove_suffix(1);
    }
    for (std::string_view line : split(text, '\n')) {
      out_ += '\n';
      if (!line.empty()) out_.append(indent == 0 ? 2 : indent, ' ').append(line);
    }
  }

  std::string out_;
};

}  // namespace

std::string to_yaml(const json::value& value) {
  return YamlPrinter().run(value);
}

}  // namespace plim
