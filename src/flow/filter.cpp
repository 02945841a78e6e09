// filter: drops records by one field, looking at no more of them than it must.
#include <algorithm>

#include <fmt/format.h>

#include "flow/fields.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

enum class By { match, gt, gte, lt, lte, exists };

By by_of(std::string_view name) {
  if (name == "gt") return By::gt;
  if (name == "gte") return By::gte;
  if (name == "lt") return By::lt;
  if (name == "lte") return By::lte;
  return name == "exists" ? By::exists : By::match;
}

template <class T>
bool holds(By by, const T& have, const T& want) {
  switch (by) {
    case By::gt:
      return have > want;
    case By::gte:
      return have >= want;
    case By::lt:
      return have < want;
    case By::lte:
      return have <= want;
    default:
      return have == want;
  }
}

// What a field is held against. Values of different kinds are never equal.
class Wanted {
 public:
  explicit Wanted(const json::value& value) : json_(to_json(value)) {
    if (value.is_string()) text_ = std::string(value.as_string());
    if (value.is_number()) number_ = value.to_number<double>();
  }

  bool fits(By by, const Field& field, std::string& scratch) const {
    double number = 0;
    if (number_ && number_of(field, number)) return holds(by, number, *number_);
    if (text_ && field.kind == FieldKind::text)
      return holds(by, text_of(field, scratch), std::string_view(*text_));
    return by == By::match && field.raw == json_;
  }

 private:
  std::string json_;
  std::optional<std::string> text_;
  std::optional<double> number_;
};

std::vector<Wanted> wanted_of(const json::value* value) {
  std::vector<Wanted> out;
  if (value == nullptr) return out;
  if (!value->is_array())
    out.emplace_back(*value);
  else
    for (const json::value& one : value->as_array()) out.emplace_back(one);
  return out;
}

struct ExceptionRule {
  FieldPath path;
  Wanted wanted;
};

std::vector<ExceptionRule> rules_of(const json::object& options) {
  std::vector<ExceptionRule> out;
  const json::value* rules = options.if_contains("exception_rules");
  if (rules == nullptr || !rules->is_array()) return out;
  for (const json::value& rule : rules->as_array()) {
    const json::value* value = find(rule, {"value"});
    out.push_back({.path = FieldPath(text_at(rule, {"field"})),
                   .wanted = Wanted(value != nullptr ? *value : json::value())});
  }
  return out;
}

class Filter final : public Operation {
 public:
  explicit Filter(const json::object& options)
      : path_(text_option(options, "field")),
        by_(by_of(text_option(options, "filter_by"))),
        invert_(bool_option(options, "invert")),
        array_index_(int_option(options, "array_index")),
        wanted_(wanted_of(options.if_contains("value"))),
        rules_(rules_of(options)) {}

  Result<void> process(SliceContext&, Batch& batch) override {
    std::size_t kept = 0;
    reader_.forget();
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      Field field = reader_.find(batch.records[i], path_);
      if (field.kind == FieldKind::broken)
        return fail(Code::invalid,
                    fmt::format("record {} of the slice is not a JSON object", i + 1));
      if (fits(field) == invert_ || is_exception(batch.records[i]))
        batch.records[kept++] = batch.records[i];
    }
    batch.records.resize(kept);
    return {};
  }

 private:
  bool fits(const Field& field) {
    if (by_ == By::exists) return field.kind != FieldKind::missing && field.kind != FieldKind::null;
    if (field.kind == FieldKind::array) return array_fits(field);
    return array_index_ < 0 && value_fits(field);
  }

  bool value_fits(const Field& field) {
    return std::ranges::any_of(
        wanted_, [&](const Wanted& wanted) { return wanted.fits(by_, field, scratch_); });
  }

  // One element, or whichever of them.
  bool array_fits(const Field& field) {
    auto parsed = parse_json(field.raw);
    if (!parsed || !parsed->is_array()) return false;
    const json::array& elements = parsed->as_array();
    if (array_index_ >= 0) {
      const auto index = static_cast<std::size_t>(array_index_);
      return index < elements.size() && element_fits(elements[index]);
    }
    return std::ranges::any_of(elements, [&](const json::value& one) { return element_fits(one); });
  }

  bool element_fits(const json::value& element) {
    std::string text = to_json(element);
    FieldKind kind = element.is_string()   ? FieldKind::text
                     : element.is_number() ? FieldKind::number
                                           : FieldKind::object;
    return value_fits({.kind = kind, .raw = text});
  }

  bool is_exception(Record record) {
    return std::ranges::any_of(rules_, [&](const ExceptionRule& rule) {
      Field field = reader_.find(record, rule.path);
      return field.kind != FieldKind::null && rule.wanted.fits(By::match, field, scratch_);
    });
  }

  FieldPath path_;
  By by_;
  bool invert_;
  std::int64_t array_index_;
  std::vector<Wanted> wanted_;
  std::vector<ExceptionRule> rules_;
  std::string scratch_;
  FieldReader reader_;
};

void check_rules(const json::value& rules, const std::string& path, Problems& problems) {
  if (!rules.is_array()) {
    problems.errors.push_back(path + ": must be array");
    return;
  }
  for (std::size_t i = 0; i < rules.as_array().size(); ++i) {
    const json::value& rule = rules.as_array()[i];
    if (text_at(rule, {"field"}).empty() || find(rule, {"value"}) == nullptr)
      problems.errors.push_back(
          fmt::format("{}[{}]: needs to have a field and a value: {}", path, i, to_json(rule)));
    if (bool_at(rule, {"regex"}))
      problems.errors.push_back(
          fmt::format("{}[{}].regex: is not there yet; the operation jq has test()", path, i));
  }
}

}  // namespace

Result<std::unique_ptr<Operation>> make_filter(const json::object& options) {
  return std::make_unique<Filter>(options);
}

void check_filter(const json::object& options, std::string_view path, Problems& problems) {
  if (bool_option(options, "filtered_to_dead_letter_queue"))
    problems.warnings.push_back(fmt::format(
        "{}.filtered_to_dead_letter_queue: is not there yet; what is dropped is gone", path));
  if (const json::value* rules = options.if_contains("exception_rules"))
    check_rules(*rules, fmt::format("{}.exception_rules", path), problems);
  std::string_view by = text_option(options, "filter_by");
  const json::value* value = options.if_contains("value");
  if (by == "exists") return;
  if (value == nullptr)
    problems.errors.push_back(fmt::format("{}.value: is needed for filter_by {}", path, by));
  else if (by != "match" && !value->is_number() && !value->is_string())
    problems.errors.push_back(
        fmt::format("{}.value: must be a number or a string for filter_by {}", path, by));
}

}  // namespace plim::flow
