// Label and field selectors, in kubectl's grammar and as the API's objects. Plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::kube {

// Labels can be any range of pairs of texts: a map, or the vectors of kube/types.hpp.
template <class Labels>
std::optional<std::string_view> find_label(const Labels& labels, std::string_view key) {
  for (const auto& [name, value] : labels)
    if (std::string_view(name) == key) return std::string_view(value);
  return std::nullopt;
}

struct LabelRequirement {
  enum class Op { equals, not_equals, in, not_in, exists, not_exists, greater, less };

  std::string key;
  Op op = Op::exists;
  std::vector<std::string> values = {};  // sorted, without repeats; one for equals, greater, less

  // `value` is the value of the label `key`. A missing label satisfies != and notin.
  bool matches(std::optional<std::string_view> value) const;
  auto operator<=>(const LabelRequirement&) const = default;
};

// All requirements must hold; without requirements everything matches. They are sorted, first by
// key, so that equal selectors print alike.
class LabelSelector {
 public:
  LabelSelector() = default;

  static LabelSelector everything() { return {}; }

  static LabelSelector nothing();
  // "app=web,tier in (front,back),!canary,cores>4"; the error gives the column.
  static Result<LabelSelector> parse(std::string_view text);
  // {matchLabels, matchExpressions}; as in the API null matches nothing, {} everything. The error
  // names the field.
  static Result<LabelSelector> from_json(const json::value& object);

  template <class Labels>
  bool matches(const Labels& labels) const {
    if (matches_nothing_) return false;
    for (const LabelRequirement& requirement : requirements_)
      if (!requirement.matches(find_label(labels, requirement.key))) return false;
    return true;
  }

  const std::vector<LabelRequirement>& requirements() const { return requirements_; }

  std::string to_string()
      const;  // "" for everything; also for nothing, which the grammar cannot express
  bool operator==(const LabelSelector&) const = default;

 private:
  explicit LabelSelector(std::vector<LabelRequirement> requirements);

  std::vector<LabelRequirement> requirements_;
  bool matches_nothing_ = false;
};

struct FieldRequirement {
  enum class Op { equals, not_equals };

  std::string field;
  Op op = Op::equals;
  std::string value;

  bool operator==(const FieldRequirement&) const = default;
};

// "status.phase!=Failed,spec.nodeName=n1"; a backslash escapes ',', '=' and itself in values.
// The caller knows which fields exist: `lookup` returns the text of a field, "" if it has none.
class FieldSelector {
 public:
  static Result<FieldSelector> parse(std::string_view text);

  template <class Lookup>
  bool matches(const Lookup& lookup) const {
    for (const FieldRequirement& r : requirements_)
      if ((std::string_view(lookup(r.field)) == r.value) != (r.op == FieldRequirement::Op::equals))
        return false;
    return true;
  }

  const std::vector<FieldRequirement>& requirements() const { return requirements_; }

  std::string to_string() const;
  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<FieldRequirement> requirements_;
};

// Whether the API accepts it as a label: "example.com/name" and a value of at most 63 letters,
// digits,
// '-', '_', '.'. The error says what is wrong.
Result<void> check_label_key(std::string_view key);
Result<void> check_label_value(std::string_view value);
// The number that < and > compare. The whole text must be digits, after an optional sign.
std::optional<std::int64_t> label_number(std::string_view value);

}  // namespace plim::kube
