#include "base/yaml_source.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"

namespace plim {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::size_t count_leading(std::string_view text, std::string_view characters) {
  return std::min(text.find_first_not_of(characters), text.size());
}

// The header if `text`, which begins with the indicator, is one up to the end of the line.
std::optional<BlockHeader> parse_header(std::string_view text) {
  BlockHeader header;
  text.remove_prefix(1);
  for (int i = 0; i < 2 && !text.empty(); ++i) {
    if (text.front() == '-' || text.front() == '+')
      header.chomping = text.front();
    else if (is_digit(text.front()))
      header.has_indentation = true;
    else
      break;
    text.remove_prefix(1);
  }
  std::size_t blanks = count_leading(text, " \t\r");
  if (blanks == text.size() || (blanks > 0 && text[blanks] == '#')) return header;
  return std::nullopt;
}

}  // namespace

std::string read_single_quoted(std::string_view raw) {
  std::string out;
  std::size_t empty_lines = 0;
  auto lines = split(raw, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool is_last = i + 1 == lines.size();
    std::string_view line = lines[i];
    if (i > 0) line.remove_prefix(count_leading(line, " \t"));
    if (!is_last) line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (i > 0 && !is_last && line.empty()) {
      ++empty_lines;
      continue;
    }
    // One line end is a space; each empty line after it is a line end.
    if (i > 0) out += empty_lines > 0 ? std::string(empty_lines, '\n') : " ";
    empty_lines = 0;
    for (std::size_t k = 0; k < line.size(); ++k) {
      out += line[k];
      if (line[k] == '\'') ++k;
    }
  }
  return out;
}

std::string read_folded_block(std::string_view raw, char chomping) {
  std::string out;
  std::optional<std::size_t> indentation;
  std::size_t empty_lines = 0;  // since the last line with text
  bool ended = true;            // the last line with text has a line end
  bool after_indented = false;
  while (!raw.empty()) {
    auto end = std::min(raw.find('\n'), raw.size());
    std::string_view line = raw.substr(0, end);
    bool has_end = end < raw.size();
    raw.remove_prefix(std::min(end + 1, raw.size()));

    std::size_t spaces = count_leading(line, " ");
    if (!indentation && spaces < line.size()) indentation = spaces;
    line.remove_prefix(std::min(spaces, indentation.value_or(spaces)));
    if (line.empty()) {
      empty_lines += has_end;
      continue;
    }
    // A single line end between two lines of text becomes a space, unless one line is indented
    // more.
    bool is_indented = is_blank(line.front());
    if (!out.empty() || after_indented) {
      if (is_indented || after_indented)
        out += '\n';
      else if (empty_lines == 0)
        out += ' ';
    }
    out.append(empty_lines, '\n').append(line);
    empty_lines = 0;
    after_indented = is_indented;
    ended = has_end;
  }
  if (chomping != '-' && indentation && ended) out += '\n';
  if (chomping == '+') out.append(empty_lines, '\n');
  return out;
}

BlockHeader read_block_header(std::string_view line, char style) {
  for (std::size_t at = line.find(style); at != line.npos; at = line.find(style, at + 1)) {
    if (auto header = parse_header(line.substr(at))) return *header;
  }
  return {};
}

}  // namespace plim
