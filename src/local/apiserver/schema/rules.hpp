// What is demanded of objects, as tables: each row is one demand on one field, and a table says in
// which order they are looked at, which is the order of the causes in an answer. What does not fit
// a row is a function that the row names.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/json.hpp"
#include "local/apiserver/schema/causes.hpp"
#include "local/apiserver/schema/name_rules.hpp"
#include "local/apiserver/schema/place.hpp"

namespace plim::local::apiserver {

// `before` is what was stored at this place, null on creates and inside lists.
using Check = void (*)(const Place& place, const json::value* before, Causes& causes);

struct Rule;

// A table by the name under which other files know it.
struct RuleTable {
  std::span<const Rule> rules;
};

// One of several members of which an object has exactly one: the source of a volume.
struct Part {
  std::string_view field;
  std::span<const Rule> rules = {};
};

struct Rule {
  enum class Demand : std::uint8_t {
    required,
    one_of,
    text,
    range,
    port,
    share,
    labels,
    unique,
    each,
    inside,
    one_part,
    fixed,
    sealed,
    also,
    custom,
  };

  Demand demand;
  std::string_view field = {};
  std::string_view words = {};  // the values that are supported, or what the cause says
  NameRule form = nullptr;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::span<const Rule> rules = {};
  const RuleTable* table = nullptr;  // instead of rules, where they stand in another file
  std::span<const Part> parts = {};
  Check check = nullptr;
};

// The rows. A field that is empty or missing satisfies all of them but `required`; what is required
// and missing is not looked at again.
namespace rule {

using Demand = Rule::Demand;
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

constexpr Rule required(std::string_view field, std::string_view detail = "") {
  return {.demand = Demand::required, .field = field, .words = detail};
}

// Values separated by commas, in the order in which they are named to the client.
constexpr Rule one_of(std::string_view field, std::string_view values) {
  return {.demand = Demand::one_of, .field = field, .words = values};
}

constexpr Rule text(std::string_view field, NameRule form) {
  return {.demand = Demand::text, .field = field, .form = form};
}

constexpr Rule range(std::string_view field, std::int64_t least, std::int64_t most = kNoLimit) {
  return {.demand = Demand::range, .field = field, .least = least, .most = most};
}

constexpr Rule not_negative(std::string_view field) {
  return range(field, 0);
}

constexpr Rule positive(std::string_view field) {
  return range(field, 1);
}

// A number from 1 to 65535 or the name of one.
constexpr Rule port(std::string_view field) {
  return {.demand = Demand::port, .field = field};
}

// A number from 0 on or a percentage up to 100.
constexpr Rule share(std::string_view field) {
  return {.demand = Demand::share, .field = field};
}

constexpr Rule labels(std::string_view field) {
  return {.demand = Demand::labels, .field = field};
}

// Of an element: no earlier one of its list has the same text there.
constexpr Rule unique(std::string_view field) {
  return {.demand = Demand::unique, .field = field};
}

// All elements of a list.
constexpr Rule each(std::string_view field, std::span<const Rule> rules) {
  return {.demand = Demand::each, .field = field, .rules = rules};
}

constexpr Rule each(std::string_view field, const RuleTable& table) {
  return {.demand = Demand::each, .field = field, .table = &table};
}

constexpr Rule inside(std::string_view field, std::span<const Rule> rules) {
  return {.demand = Demand::inside, .field = field, .rules = rules};
}

constexpr Rule inside(std::string_view field, const RuleTable& table) {
  return {.demand = Demand::inside, .field = field, .table = &table};
}

// `what` completes "may not specify more than 1" and "must specify a".
constexpr Rule one_part(std::span<const Part> parts, std::string_view what) {
  return {.demand = Demand::one_part, .words = what, .parts = parts};
}

// Never changes: refused as invalid, or as forbidden in these words.
constexpr Rule fixed(std::string_view field, std::string_view detail = "field is immutable") {
  return {.demand = Demand::fixed, .field = field, .words = detail};
}

constexpr Rule sealed(std::string_view field, std::string_view detail) {
  return {.demand = Demand::sealed, .field = field, .words = detail};
}

// All rules of another table, on the same object.
constexpr Rule also(std::span<const Rule> rules) {
  return {.demand = Demand::also, .rules = rules};
}

constexpr Rule custom(Check check) {
  return {.demand = Demand::custom, .check = check};
}

}  // namespace rule

void check_rules(std::span<const Rule> rules, const Place& place, const json::value* before,
                 Causes& causes);

}  // namespace plim::local::apiserver
