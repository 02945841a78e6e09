#include "agent/labels.hpp"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::agent {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "\1" of Perl and Python is "$1" here, and a plain '$' has to be doubled.
std::string as_format(std::string_view replacement) {
  std::string out;
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    const char c = replacement[i];
    const char next = i + 1 < replacement.size() ? replacement[i + 1] : '\0';
    if (c == '$') {
      out += "$$";
    } else if (c == '\\' && is_digit(next)) {
      out += next == '0' ? std::string("$&") : fmt::format("${:02}", next - '0');
      ++i;
    } else if (c == '\\' && next != '\0') {
      out += next;
      ++i;
    } else {
      out += c;
    }
  }
  return out;
}

std::string value_text(double value) {
  return format_double(value, kJsonDouble);
}

}  // namespace

std::string sanitise_label(std::string_view key) {
  std::string out;
  for (char c : key) {
    if (c == '/')
      out += "__";
    else
      out += is_letter(c) || is_digit(c) ? c : '_';
  }
  if (out.empty() || is_digit(out[0]) || out.starts_with("__")) out.insert(0, "label_");
  return out;
}

Labels sanitise_labels(std::vector<std::pair<std::string, std::string>> pairs,
                       std::vector<std::string>& clashes) {
  std::ranges::sort(pairs);
  Labels out;
  for (auto& [key, value] : pairs) {
    std::string name = sanitise_label(key);
    if (!out.try_emplace(name, std::move(value)).second) clashes.push_back(std::move(name));
  }
  return out;
}

Result<void> check_pattern(const std::string& pattern) {
  // The compiler of the standard library goes as deep as its pattern nests.
  constexpr std::size_t kLongest = 400;
  if (pattern.size() > kLongest)
    return fail(Code::invalid, fmt::format("longer than {} characters", kLongest));
  try {
    const std::regex compiled(pattern);
  } catch (const std::regex_error& error) {
    return fail(Code::invalid, error.what());
  }
  return {};
}

struct LabelGenerators::Made {
  std::string label;
  LabelGenerator rule;
  std::regex pattern = {};
};

LabelGenerators::LabelGenerators() = default;
LabelGenerators::~LabelGenerators() = default;
LabelGenerators::LabelGenerators(LabelGenerators&&) noexcept = default;
LabelGenerators& LabelGenerators::operator=(LabelGenerators&&) noexcept = default;

Result<LabelGenerators> LabelGenerators::make(
    const std::map<std::string, LabelGenerator>& generators) {
  LabelGenerators out;
  for (const auto& [label, rule] : generators) {
    Made& made = out.made_.emplace_back(Made{.label = label, .rule = rule});
    if (!rule.resource.empty()) continue;
    PLIM_CHECK(check_pattern(rule.pattern));
    made.pattern = std::regex(rule.pattern);
    made.rule.replacement = as_format(rule.replacement);
  }
  return out;
}

void LabelGenerators::apply(NodeTask& task, std::vector<std::string>& warnings) const {
  for (const Made& made : made_) {
    if (task.labels.contains(made.label)) continue;
    if (!made.rule.resource.empty()) {
      auto found = task.resources.find(made.rule.resource);
      task.labels[made.label] =
          found == task.resources.end() ? "unknown" : value_text(found->second);
      continue;
    }
    auto source = task.labels.find(made.rule.source);
    if (source == task.labels.end()) {
      warnings.push_back(fmt::format("label {} of {}: no label {} to make it from", made.label,
                                     task.name, made.rule.source));
      continue;
    }
    task.labels[made.label] =
        std::regex_replace(source->second, made.pattern, made.rule.replacement);
  }
}

}  // namespace plim::agent
