#include "agent/labels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::agent {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
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

Result<LabelGenerators> LabelGenerators::make(
    const std::map<std::string, LabelGenerator>& generators) {
  LabelGenerators out;
  for (const auto& [label, rule] : generators) {
    Made& made = out.made_.emplace_back(Made{.label = label, .rule = rule});
    if (!rule.resource.empty()) continue;
    PLIM_TRY(made.pattern, Regex::compile(rule.pattern));
  }
  return out;
}

void LabelGenerators::apply(NodeTask& task, std::vector<std::string>& warnings) const {
  for (const Made& made : made_) {
    if (task.labels.contains(made.label)) continue;
    if (!made.pattern) {
      auto found = task.resources.find(made.rule.resource);
      task.labels[made.label] =
          found == task.resources.end() ? "unknown" : value_text(found->second);
      continue;
    }
    auto source = task.labels.find(made.rule.source);
    if (source == task.labels.end()) {
      warnings.push_back(fmt::format("label {} of {}: the source label {} is missing", made.label,
                                     task.name, made.rule.source));
      continue;
    }
    task.labels[made.label] = made.pattern->replace_all(source->second, made.rule.replacement);
  }
}

}  // namespace plim::agent
