#include "kube/warnings.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace plim::kube {
namespace {

// Limits the set: servers choose the texts and could make it grow without end.
constexpr std::size_t kMaxRemembered = 1000;
constexpr std::size_t kMaxText = 1024;

// Removes a quoted string from the front; false if there is none.
bool take_quoted(std::string_view& rest, std::string& out) {
  if (!rest.starts_with('"')) return false;
  rest.remove_prefix(1);
  while (!rest.empty()) {
    char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return true;
    if (c == '\\' && !rest.empty()) {
      c = rest.front();
      rest.remove_prefix(1);
    }
    if (out.size() < kMaxText) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return false;
}

void skip_blanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(" \t")));
}

std::string_view take_word(std::string_view& rest) {
  skip_blanks(rest);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  skip_blanks(rest);
  return word;
}

}  // namespace

std::vector<std::string> parse_warning_header(std::string_view value) {
  std::vector<std::string> out;
  while (!value.empty()) {
    const std::string_view code = take_word(value);  // 299; not shown to users
    if (code.size() != 3) break;
    take_word(value);  // the agent, usually "-"
    std::string text;
    if (!take_quoted(value, text)) break;
    if (!text.empty()) out.push_back(std::move(text));
    skip_blanks(value);
    std::string date;  // optional; contains a comma
    take_quoted(value, date);
    skip_blanks(value);
    if (!value.starts_with(',')) break;
    value.remove_prefix(1);
  }
  return out;
}

std::vector<std::string> Warnings::unseen(const net::Headers& headers) {
  std::vector<std::string> out;
  for (const auto& [name, value] : headers) {
    if (!equals_ignoring_case(name, "Warning")) continue;
    for (std::string& text : parse_warning_header(value)) {
      if (seen_.size() < kMaxRemembered && seen_.insert(text).second)
        out.push_back(std::move(text));
    }
  }
  return out;
}

}  // namespace plim::kube
