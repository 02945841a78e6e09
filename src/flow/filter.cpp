// filter: keeps records by one field, looking at no more of them than it must.
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

class Filter final : public Operation {
 public:
  explicit Filter(const json::object& options)
      : path_(text_option(options, "field")),
        by_(by_of(text_option(options, "filter_by"))),
        invert_(bool_option(options, "invert")) {
    if (const json::value* value = options.if_contains("value")) {
      want_ = to_json(*value);
      if (value->is_string()) text_ = std::string(value->as_string());
      if (value->is_number()) number_ = value->to_number<double>();
    }
  }

  Result<void> process(SliceContext&, Batch& batch) override {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      Field field = reader_.find(batch.records[i], path_);
      if (field.kind == FieldKind::broken)
        return fail(Code::invalid,
                    fmt::format("record {} of the slice is not a JSON object", i + 1));
      if (fits(field) != invert_) batch.records[kept++] = batch.records[i];
    }
    batch.records.resize(kept);
    return {};
  }

 private:
  bool fits(const Field& field) {
    if (by_ == By::exists) return field.kind != FieldKind::missing && field.kind != FieldKind::null;
    double number = 0;
    if (number_ && number_of(field, number)) return holds(by_, number, *number_);
    if (text_ && field.kind == FieldKind::text)
      return holds(by_, text_of(field, scratch_), std::string_view(*text_));
    return by_ == By::match && field.raw == want_;
  }

  FieldPath path_;
  By by_;
  bool invert_;
  std::string want_ = "null";
  std::optional<std::string> text_;
  std::optional<double> number_;
  std::string scratch_;
  FieldReader reader_;
};

}  // namespace

Result<std::unique_ptr<Operation>> make_filter(const json::object& options) {
  return std::make_unique<Filter>(options);
}

void check_filter(const json::object& options, std::string_view path, Problems& problems) {
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
