#include "local/apiserver/schema/rules.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/schema/checks.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::int64_t kMaxPort = 65535;

std::span<const Rule> rules_in(const Rule& rule) {
  return rule.table != nullptr ? rule.table->rules : rule.rules;
}

const json::value* member_before(const json::value* before, std::string_view field) {
  if (before == nullptr || !before->is_object()) return nullptr;
  const json::value& found = Place(*before).member(field);
  return found.is_null() ? nullptr : &found;
}

std::string range_text(std::int64_t least, std::int64_t most) {
  if (least == most) return fmt::format("must be {}", least);
  if (most != rule::kNoLimit)
    return fmt::format("must be between {} and {}, inclusive", least, most);
  if (least == 1) return "must be greater than 0";
  return fmt::format("must be greater than or equal to {}", least);
}

void check_range(const Rule& rule, const Place& place, Causes& causes) {
  auto value = place.number(rule.field);
  if (value && (*value < rule.least || *value > rule.most))
    causes.invalid(place.path(rule.field), *value, range_text(rule.least, rule.most));
}

void check_choice(const Rule& rule, const Place& place, Causes& causes) {
  std::string_view value = place.text(rule.field);
  if (value.empty()) return;
  auto values = split(rule.words, ',');
  if (std::find(values.begin(), values.end(), value) == values.end())
    causes.unsupported(place.path(rule.field), json::value(value), rule.words);
}

void check_text(const Rule& rule, const Place& place, Causes& causes) {
  std::string_view value = place.text(rule.field);
  if (value.empty()) return;
  Messages messages = rule.form(value);
  if (!messages.empty()) causes.invalid_text(place.path(rule.field), value, messages);
}

void check_port(const Rule& rule, const Place& place, Causes& causes) {
  const json::value& value = place.member(rule.field);
  if (value.is_string())
    causes.invalid_text(place.path(rule.field), value.get_string(),
                        check_port_name(value.get_string()));
  else if (auto number = place.number(rule.field); number && (*number < 1 || *number > kMaxPort))
    causes.invalid(place.path(rule.field), *number, range_text(1, kMaxPort));
}

void check_share(const Rule& rule, const Place& place, Causes& causes) {
  const json::value& value = place.member(rule.field);
  if (!value.is_string()) return check_range(rule::not_negative(rule.field), place, causes);
  std::string_view text = value.get_string();
  std::string_view digits = text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
  bool is_percentage =
      text.ends_with('%') && !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit);
  if (!is_percentage)
    causes.invalid(place.path(rule.field), value,
                   "a valid percent string must be a numeric string followed by an ending '%' "
                   "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
  else if (digits.size() > 3 || (digits.size() == 3 && digits > "100"))
    causes.invalid(place.path(rule.field), value, "must not be greater than 100%");
}

void check_each(const Rule& rule, const Place& place, Causes& causes) {
  const json::array& elements = place.list(rule.field);
  if (elements.empty()) return;
  Place list = place.in(rule.field);
  for (std::size_t i = 0; i < elements.size(); ++i)
    check_rules(rules_in(rule), list.at(i), nullptr, causes);
}

void check_unique(const Rule& rule, const Place& place, Causes& causes) {
  std::string_view text = place.text(rule.field);
  if (text.empty()) return;
  const json::array& siblings = place.outer()->list("");
  for (std::size_t i = 0; i < place.index(); ++i)
    if (text_at(siblings[i], {rule.field}) == text)
      return causes.duplicate(place.path(rule.field), json::value(text));
}

void check_one_part(const Rule& rule, const Place& place, Causes& causes) {
  bool has_one = false;
  for (const Part& part : rule.parts) {
    if (!place.has(part.field)) continue;
    if (has_one)
      causes.forbidden(place.path(part.field),
                       fmt::format("may not specify more than 1 {}", rule.words));
    else
      check_rules(part.rules, place.in(part.field), nullptr, causes);
    has_one = true;
  }
  if (!has_one) causes.required(place.path(), fmt::format("must specify a {}", rule.words));
}

bool is_changed(const Rule& rule, const Place& place, const json::value* before) {
  return before != nullptr && place.member(rule.field) != Place(*before).member(rule.field);
}

void check_rule(const Rule& rule, const Place& place, const json::value* before, Causes& causes) {
  using Demand = Rule::Demand;
  switch (rule.demand) {
    case Demand::required:
      return causes.required(place.path(rule.field), rule.words);
    case Demand::one_of:
      return check_choice(rule, place, causes);
    case Demand::text:
      return check_text(rule, place, causes);
    case Demand::range:
      return check_range(rule, place, causes);
    case Demand::port:
      return check_port(rule, place, causes);
    case Demand::share:
      return check_share(rule, place, causes);
    case Demand::labels:
      if (!place.map(rule.field).empty()) check_labels(place.in(rule.field), causes);
      return;
    case Demand::unique:
      return check_unique(rule, place, causes);
    case Demand::each:
      return check_each(rule, place, causes);
    case Demand::inside:
      if (place.has(rule.field))
        check_rules(rules_in(rule), place.in(rule.field), member_before(before, rule.field),
                    causes);
      return;
    case Demand::one_part:
      return check_one_part(rule, place, causes);
    case Demand::fixed:
      if (is_changed(rule, place, before))
        causes.invalid(place.path(rule.field), place.member(rule.field), rule.words);
      return;
    case Demand::sealed:
      if (is_changed(rule, place, before)) causes.forbidden(place.path(rule.field), rule.words);
      return;
    case Demand::immutable:
      if (is_changed(rule, place, before))
        causes.invalid(place.path(rule.field), nullptr, kImmutable);
      return;
    case Demand::also:
      return check_rules(rules_in(rule), place, before, causes);
    case Demand::custom:
      return rule.check(place, before, causes);
  }
}

}  // namespace

void check_rules(std::span<const Rule> rules, const Place& place, const json::value* before,
                 Causes& causes) {
  std::string_view missing;
  for (const Rule& rule : rules) {
    if (rule.demand == Rule::Demand::required) {
      if (!is_empty_value(place.member(rule.field))) continue;
      missing = rule.field;
    } else if (!missing.empty() && rule.field == missing) {
      continue;
    }
    check_rule(rule, place, before, causes);
  }
}

}  // namespace plim::local::apiserver
