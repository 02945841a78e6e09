#include "base/exposition.hpp"

#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/result.hpp"
#include "base/utf8.hpp"

namespace plim::metrics {
namespace {

constexpr std::array<std::string_view, 4> kTypeNames{"counter", "gauge", "histogram", "untyped"};

bool is_name(std::string_view text, bool colons) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_' && !(c == ':' && colons)) return false;
  }
  return true;
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (char c : to_valid_utf8(text)) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (c == '"' && quotes)) out += '\\';
    out += c;
  }
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

}  // namespace

std::string render_labels(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    PLIM_ASSERT(is_name(name, false));
    if (!out.empty()) out += ',';
    out += name;
    out += "=\"";
    append_escaped(out, value, true);
    out += '"';
  }
  return out;
}

void Exposition::Family::sample(std::string_view suffix, std::string_view labels, double value) {
  std::string& out = entry_->second;
  out += entry_->first;
  out += suffix;
  if (!labels.empty()) {
    out += '{';
    out += labels;
    out += '}';
  }
  out += ' ';
  append_number(out, value);
  out += '\n';
}

Exposition::Family Exposition::family(std::string_view name, std::string_view help, Type type) {
  PLIM_ASSERT(is_name(name, true));
  auto [entry, is_new] = families_.try_emplace(std::string(name));
  if (is_new) {
    std::string& out = entry->second;
    fmt::format_to(std::back_inserter(out), "# HELP {} ", name);
    append_escaped(out, help, false);
    fmt::format_to(std::back_inserter(out), "\n# TYPE {} {}\n", name,
                   kTypeNames[static_cast<std::size_t>(type)]);
  }
  return Family(*entry);
}

std::string Exposition::text() const {
  std::string out;
  for (const auto& [name, text] : families_) out += text;
  return out;
}

}  // namespace plim::metrics
