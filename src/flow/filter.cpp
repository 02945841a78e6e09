// filter: drops records by one field and reads as little of each record as possible.
#include <algorithm>

#include <fmt/format.h>

#include "flow/fields.hpp"
#include "flow/filter_tests.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

enum class By { match, gt, gte, lt, lte, exists, ip_range, regex };

By by_of(std::string_view name) {
  if (name == "gt") return By::gt;
  if (name == "gte") return By::gte;
  if (name == "lt") return By::lt;
  if (name == "lte") return By::lte;
  if (name == "exists") return By::exists;
  if (name == "ip_range") return By::ip_range;
  return name == "regex" ? By::regex : By::match;
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

// The value to compare a field with. Values of different kinds are never equal.
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

std::vector<std::string> texts_of(const json::value* value) {
  std::vector<std::string> out;
  if (value == nullptr) return out;
  if (value->is_string()) out.emplace_back(value->as_string());
  if (value->is_array())
    for (const json::value& one : value->as_array())
      if (one.is_string()) out.emplace_back(one.as_string());
  return out;
}

Result<std::vector<IpRange>> ranges_of(const json::object& options) {
  std::vector<IpRange> out;
  for (const std::string& text : texts_of(options.if_contains("value"))) {
    PLIM_TRY(IpRange range, IpRange::parse(text));
    out.push_back(range);
  }
  return out;
}

Result<JqProgram> patterns_of(const json::object& options) {
  return compile_patterns(FieldPath(text_option(options, "field")).steps(),
                          int_option(options, "array_index"),
                          texts_of(options.if_contains("value")));
}

struct ExceptionRule {
  FieldPath path;
  Wanted wanted;
  std::optional<JqProgram> pattern;
};

Result<std::vector<ExceptionRule>> rules_of(const json::object& options) {
  std::vector<ExceptionRule> out;
  const json::value* rules = options.if_contains("exception_rules");
  if (rules == nullptr || !rules->is_array()) return out;
  for (const json::value& rule : rules->as_array()) {
    const json::value* value = find(rule, {"value"});
    out.push_back({.path = FieldPath(text_at(rule, {"field"})),
                   .wanted = Wanted(value != nullptr ? *value : json::value()),
                   .pattern = {}});
    if (!bool_at(rule, {"regex"})) continue;
    PLIM_TRY(JqProgram pattern, compile_patterns(out.back().path.steps(), -1, texts_of(value)));
    out.back().pattern.emplace(std::move(pattern));
  }
  return out;
}

class Filter final : public Operation {
 public:
  Filter(const json::object& options, std::vector<ExceptionRule> rules)
      : path_(text_option(options, "field")),
        by_(by_of(text_option(options, "filter_by"))),
        invert_(bool_option(options, "invert")),
        array_index_(int_option(options, "array_index")),
        wanted_(wanted_of(options.if_contains("value"))),
        rules_(std::move(rules)) {}

  void look_for(std::vector<IpRange> ranges) { ranges_ = std::move(ranges); }

  void look_for(JqProgram patterns) { patterns_.emplace(std::move(patterns)); }

  Result<void> process(SliceContext&, Batch& batch) override {
    std::size_t kept = 0;
    reader_.forget();
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      Field field = reader_.find(batch.records[i], path_);
      if (field.kind == FieldKind::broken)
        return fail(Code::invalid,
                    fmt::format("record {} of the slice is not a JSON object", i + 1));
      bool fit = false;
      if (patterns_) {
        PLIM_TRY(fit, says_yes(*patterns_, batch.records[i]));
      } else {
        fit = fits(field);
      }
      bool stays = fit == invert_;
      if (!stays && !rules_.empty()) {
        PLIM_TRY(stays, is_exception(batch.records[i]));
      }
      if (stays) batch.records[kept++] = batch.records[i];
    }
    batch.records.resize(kept);
    return {};
  }

 private:
  Result<bool> says_yes(JqProgram& program, Record record) {
    PLIM_CHECK(program.run(record, answers_));
    return !answers_.empty() && answers_[0] == "true";
  }

  bool fits(const Field& field) {
    if (by_ == By::exists) return field.kind != FieldKind::missing && field.kind != FieldKind::null;
    if (field.kind == FieldKind::array) return array_fits(field);
    return array_index_ < 0 && value_fits(field);
  }

  bool value_fits(const Field& field) {
    if (by_ == By::ip_range)
      return std::ranges::any_of(
          ranges_, [&](const IpRange& range) { return range.contains(text_of(field, scratch_)); });
    return std::ranges::any_of(
        wanted_, [&](const Wanted& wanted) { return wanted.fits(by_, field, scratch_); });
  }

  // Tests one element, or any of them.
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

  Result<bool> is_exception(Record record) {
    for (ExceptionRule& rule : rules_) {
      bool fit = false;
      if (rule.pattern) {
        PLIM_TRY(fit, says_yes(*rule.pattern, record));
      } else {
        Field field = reader_.find(record, rule.path);
        fit = field.kind != FieldKind::null && rule.wanted.fits(By::match, field, scratch_);
      }
      if (fit) return true;
    }
    return false;
  }

  FieldPath path_;
  By by_;
  bool invert_;
  std::int64_t array_index_;
  std::vector<Wanted> wanted_;
  std::vector<ExceptionRule> rules_;
  std::vector<IpRange> ranges_;
  std::optional<JqProgram> patterns_;
  std::vector<std::string> answers_;
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
  }
}

}  // namespace

Result<std::unique_ptr<Operation>> make_filter(const json::object& options) {
  PLIM_TRY(std::vector<ExceptionRule> rules, rules_of(options));
  auto out = std::make_unique<Filter>(options, std::move(rules));
  const By by = by_of(text_option(options, "filter_by"));
  if (by == By::ip_range) {
    PLIM_TRY(std::vector<IpRange> ranges, ranges_of(options));
    out->look_for(std::move(ranges));
  } else if (by == By::regex) {
    PLIM_TRY(JqProgram patterns, patterns_of(options));
    out->look_for(std::move(patterns));
  }
  return out;
}

void check_filter(const json::object& options, std::string_view path, Problems& problems) {
  if (bool_option(options, "filtered_to_dead_letter_queue"))
    problems.warnings.push_back(fmt::format(
        "{}.filtered_to_dead_letter_queue: is not supported yet; dropped records are lost", path));
  if (const json::value* rules = options.if_contains("exception_rules"))
    check_rules(*rules, fmt::format("{}.exception_rules", path), problems);
  std::string_view by = text_option(options, "filter_by");
  const json::value* value = options.if_contains("value");
  if (by == "exists") return;
  const std::size_t before = problems.errors.size();
  if (value == nullptr)
    problems.errors.push_back(fmt::format("{}.value: is needed for filter_by {}", path, by));
  else if (const bool texts = by == "regex" || by == "ip_range";
           texts ? texts_of(value).empty()
                 : by != "match" && !value->is_number() && !value->is_string())
    problems.errors.push_back(
        fmt::format("{}.value: must be {} for filter_by {}", path,
                    texts ? "a string or a list of them" : "a number or a string", by));
  // Check patterns and ranges before anything runs.
  if (problems.errors.size() > before) return;
  if (auto made = make_filter(options); !made)
    problems.errors.push_back(fmt::format("{}.value: {}", path, made.error().message));
}

}  // namespace plim::flow
