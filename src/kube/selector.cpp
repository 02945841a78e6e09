#include "kube/selector.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "kube/paths.hpp"

namespace plim::kube {
namespace {

using Op = LabelRequirement::Op;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_alphanumeric(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

bool is_name(std::string_view text) {
  auto inner = [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), inner);
}

bool is_dns_subdomain(std::string_view text) {
  for (;;) {
    std::string_view label = text.substr(0, text.find('.'));
    auto inner = [](char c) { return is_lower_or_digit(c) || c == '-'; };
    if (label.empty() || label.front() == '-' || label.back() == '-' ||
        !std::all_of(label.begin(), label.end(), inner))
      return false;
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

void sort_unique(std::vector<std::string>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Parses "key op values" terms. Every error has the column.
class LabelParser {
 public:
  explicit LabelParser(std::string_view text) : text_(text) {}

  Result<std::vector<LabelRequirement>> all() {
    std::vector<LabelRequirement> out;
    if (at_end()) return out;
    for (;;) {
      PLIM_TRY(out.emplace_back(), requirement());
      if (at_end()) return out;
      if (!take(",")) return error("expected ',' or the end");
    }
  }

 private:
  Result<LabelRequirement> requirement() {
    LabelRequirement out;
    bool negated = take("!");
    PLIM_TRY(out.key, key());
    if (negated) {
      out.op = Op::not_exists;
      return out;
    }
    if (at_end() || peek() == ',') return out;
    if (take("!=")) {
      out.op = Op::not_equals;
    } else if (take("==") || take("=")) {
      out.op = Op::equals;
    } else if (take(">")) {
      out.op = Op::greater;
    } else if (take("<")) {
      out.op = Op::less;
    } else {
      return set(std::move(out));
    }
    PLIM_TRY(out.values.emplace_back(), value());
    if ((out.op == Op::greater || out.op == Op::less) && !label_number(out.values[0]))
      return error("expected an integer", out.values[0].size());
    return out;
  }

  Result<LabelRequirement> set(LabelRequirement out) {
    std::string_view word = identifier();
    if (word != "in" && word != "notin")
      return error("expected one of =, ==, !=, in, notin, <, > or ','", word.size());
    out.op = word == "in" ? Op::in : Op::not_in;
    if (!take("(")) return error("expected '('");
    do {
      PLIM_TRY(out.values.emplace_back(), value());
    } while (take(","));
    if (!take(")")) return error("expected ',' or ')'");
    sort_unique(out.values);
    return out;
  }

  Result<std::string> key() {
    at_end();
    std::string_view word = identifier();
    if (word.empty()) return error("expected a label key");
    if (auto ok = check_label_key(word); !ok) return error(ok.error().message, word.size());
    return std::string(word);
  }

  Result<std::string> value() {
    at_end();
    std::string_view word = identifier();
    if (auto ok = check_label_value(word); !ok) return error(ok.error().message, word.size());
    return std::string(word);
  }

  std::string_view identifier() {
    at_end();
    std::size_t start = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) && !is_special(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  static bool is_special(char c) {
    return std::string_view("=!(),<>").find(c) != std::string::npos;
  }

  bool at_end() {  // skips blanks
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ == text_.size();
  }

  char peek() const { return text_[at_]; }

  bool take(std::string_view symbol) {
    at_end();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  // `back`: how far before the current position the mistake starts.
  Error error(std::string_view what, std::size_t back = 0) const {
    return fail(Code::bad_request,
                fmt::format("label selector, column {}: {}", at_ - back + 1, what));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string to_string(const LabelRequirement& r) {
  switch (r.op) {
    case Op::equals:
      return fmt::format("{}={}", r.key, r.values[0]);
    case Op::not_equals:
      return fmt::format("{}!={}", r.key, r.values[0]);
    case Op::in:
      return fmt::format("{} in ({})", r.key, fmt::join(r.values, ","));
    case Op::not_in:
      return fmt::format("{} notin ({})", r.key, fmt::join(r.values, ","));
    case Op::exists:
      return r.key;
    case Op::not_exists:
      return "!" + r.key;
    case Op::greater:
      return fmt::format("{}>{}", r.key, r.values[0]);
    case Op::less:
      return fmt::format("{}<{}", r.key, r.values[0]);
  }
  return {};
}

Error bad_field(std::string_view field, std::string_view what) {
  return fail(Code::invalid, fmt::format("{}: {}", field, what));
}

Result<void> check_pair(std::string_view field, std::string_view key, std::string_view value) {
  if (auto ok = check_label_key(key); !ok) return bad_field(field, ok.error().message);
  if (auto ok = check_label_value(value); !ok) return bad_field(field, ok.error().message);
  return {};
}

Result<LabelRequirement> from_expression(const json::value& value, std::string_view field) {
  if (!value.is_object()) return bad_field(field, "expected an object");
  LabelRequirement out;
  out.key = text_at(value, "LabelSelectorRequirement.key");
  std::string_view op = text_at(value, "LabelSelectorRequirement.operator");
  if (const json::value* values = find(value, "LabelSelectorRequirement.values");
      values && !values->is_null()) {
    if (!values->is_array()) return bad_field(fmt::format("{}.values", field), "expected a list");
    for (const json::value& item : values->get_array()) {
      if (!item.is_string())
        return bad_field(fmt::format("{}.values", field), "expected a list of strings");
      out.values.emplace_back(item.get_string());
    }
  }
  bool wants_values = op == "In" || op == "NotIn";
  if (wants_values) {
    out.op = op == "In" ? Op::in : Op::not_in;
  } else if (op == "Exists" || op == "DoesNotExist") {
    out.op = op == "Exists" ? Op::exists : Op::not_exists;
  } else {
    return bad_field(fmt::format("{}.operator", field),
                     fmt::format("expected In, NotIn, Exists or DoesNotExist, found \"{}\"", op));
  }
  if (wants_values == out.values.empty())
    return bad_field(
        fmt::format("{}.values", field),
        fmt::format("{} be empty with operator {}", wants_values ? "must not" : "must", op));
  PLIM_CHECK(check_pair(field, out.key, ""));
  for (const std::string& text : out.values) PLIM_CHECK(check_pair(field, out.key, text));
  sort_unique(out.values);
  return out;
}

}  // namespace

Result<void> check_label_key(std::string_view key) {
  std::string_view name = key;
  if (auto slash = key.find('/'); slash != key.npos) {
    std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (prefix.size() > 253 || !is_dns_subdomain(prefix))
      return fail(Code::invalid,
                  fmt::format("label key \"{}\" needs a DNS name before the '/'", key));
  }
  if (name.size() > 63 || !is_name(name))
    return fail(Code::invalid,
                fmt::format("label key \"{}\" must be 1 to 63 letters, digits, '-', '_' or '.', "
                            "with a letter or digit at both ends",
                            key));
  return {};
}

Result<void> check_label_value(std::string_view value) {
  if (value.empty() || (value.size() <= 63 && is_name(value))) return {};
  return fail(Code::invalid,
              fmt::format("label value \"{}\" must be at most 63 letters, digits, '-', '_' or '.', "
                          "with a letter or digit at both ends",
                          value));
}

std::optional<std::int64_t> label_number(std::string_view value) {
  if (value.starts_with('+') && !value.starts_with("+-")) value.remove_prefix(1);
  auto number = parse_int<std::int64_t>(value);
  return number ? std::optional(*number) : std::nullopt;
}

bool LabelRequirement::matches(std::optional<std::string_view> value) const {
  auto listed = [&] { return std::find(values.begin(), values.end(), *value) != values.end(); };
  switch (op) {
    case Op::equals:
    case Op::in:
      return value && listed();
    case Op::not_equals:
    case Op::not_in:
      return !value || !listed();
    case Op::exists:
      return value.has_value();
    case Op::not_exists:
      return !value;
    case Op::greater:
    case Op::less: {
      if (!value) return false;
      auto have = label_number(*value);
      auto bound = label_number(values[0]);
      return have && bound && (op == Op::greater ? *have > *bound : *have < *bound);
    }
  }
  return false;
}

LabelSelector::LabelSelector(std::vector<LabelRequirement> requirements)
    : requirements_(std::move(requirements)) {
  std::sort(requirements_.begin(), requirements_.end());
}

LabelSelector LabelSelector::nothing() {
  LabelSelector out;
  out.matches_nothing_ = true;
  return out;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  PLIM_TRY(auto requirements, LabelParser(text).all());
  return LabelSelector(std::move(requirements));
}

Result<LabelSelector> LabelSelector::from_json(const json::value& object) {
  if (object.is_null()) return nothing();
  if (!object.is_object()) return fail(Code::invalid, "selector: expected an object");
  std::vector<LabelRequirement> out;
  if (const json::value* labels = find(object, "LabelSelector.matchLabels");
      labels && !labels->is_null()) {
    if (!labels->is_object()) return bad_field("matchLabels", "expected an object");
    for (const auto& [key, value] : labels->get_object()) {
      if (!value.is_string())
        return bad_field(fmt::format("matchLabels.{}", std::string_view(key)), "expected a string");
      std::string_view text = value.get_string();
      PLIM_CHECK(check_pair("matchLabels", key, text));
      out.push_back({std::string(key), Op::equals, {std::string(text)}});
    }
  }
  if (const json::value* list = find(object, "LabelSelector.matchExpressions");
      list && !list->is_null()) {
    if (!list->is_array()) return bad_field("matchExpressions", "expected a list");
    for (const json::value& item : list->get_array()) {
      std::string field = fmt::format("matchExpressions[{}]", &item - list->get_array().data());
      PLIM_TRY(out.emplace_back(), from_expression(item, field));
    }
  }
  return LabelSelector(std::move(out));
}

std::string LabelSelector::to_string() const {
  std::string out;
  for (const LabelRequirement& requirement : requirements_) {
    if (!out.empty()) out += ',';
    out += kube::to_string(requirement);
  }
  return out;
}

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  auto error = [](std::size_t at, std::string_view what) {
    return fail(Code::bad_request, fmt::format("field selector, column {}: {}", at + 1, what));
  };
  FieldSelector out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ',') continue;  // empty terms are skipped, as the API server does
    FieldRequirement term;
    std::size_t op = text.find_first_of("=!,", at);
    if (op == text.npos || text[op] == ',' ||
        text.substr(op).starts_with("!") != text.substr(op).starts_with("!="))
      return error(std::min(op, text.size()), "expected =, == or != after the field");
    if (op == at) return error(at, "expected a field");
    term.field = text.substr(at, op - at);
    term.op = text[op] == '!' ? FieldRequirement::Op::not_equals : FieldRequirement::Op::equals;
    at = op + (text[op] == '!' || text.substr(op).starts_with("==") ? 2 : 1);
    for (; at < text.size() && text[at] != ','; ++at) {
      if (text[at] == '=') return error(at, "'=' in a value needs a backslash");
      if (text[at] == '\\') {
        ++at;
        if (at == text.size() || std::string_view("\\,=").find(text[at]) == std::string::npos)
          return error(at - 1, "a backslash must be followed by '\\', ',' or '='");
      }
      term.value += text[at];
    }
    out.requirements_.push_back(std::move(term));
  }
  return out;
}

std::string FieldSelector::to_string() const {
  std::string out;
  for (const FieldRequirement& r : requirements_) {
    if (!out.empty()) out += ',';
    out += r.field;
    out += r.op == FieldRequirement::Op::equals ? "=" : "!=";
    for (char c : r.value) {
      if (c == '\\' || c == ',' || c == '=') out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace plim::kube
