// Validation rules as tables. Each row is one requirement on one field, and the order of the rows
// is the order of the causes in the response. A row can name a function for what tables cannot
// express.
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

// `before` is the stored value at this place, null for creations and inside lists.
using Check = void (*)(const Place& place, const json::value* before, Causes& causes);

struct Rule;

// A table under a name that other files can use.
struct RuleTable {
  std::span<const Rule> rules;
};

// One of several members of which an object must have exactly one, such as the source of a volume.
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
    immutable,
    also,
    custom,
  };

  Demand demand;
  std::string_view field = {};
  std::string_view words = {};  // the supported values, or the message of the cause
  NameRule form = nullptr;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::span<const Rule> rules = {};
  const RuleTable* table = nullptr;  // instead of rules, if they are in another file
  std::span<const Part> parts = {};
  Check check = nullptr;
};

// The rows. An empty or missing field satisfies all of them except `required`; after `required`
// has failed, the field is not checked further.
namespace rule {

using Demand = Rule::Demand;
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

constexpr Rule required(std::string_view field, std::string_view detail = "") {
  return {.demand = Demand::required, .field = field, .words = detail};
}

// Values separated by commas, in the order in which messages list them.
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

// A number from 1 to 65535 or the name of a port.
constexpr Rule port(std::string_view field) {
  return {.demand = Demand::port, .field = field};
}

// A number from 0 or a percentage up to 100.
constexpr Rule share(std::string_view field) {
  return {.demand = Demand::share, .field = field};
}

constexpr Rule labels(std::string_view field) {
  return {.demand = Demand::labels, .field = field};
}

// For list elements: no earlier element has the same text in this field.
constexpr Rule unique(std::string_view field) {
  return {.demand = Demand::unique, .field = field};
}

// Applies the rules to all elements of a list.
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

// The field must not change; rejected as invalid, or as forbidden with this message.
constexpr Rule fixed(std::string_view field, std::string_view detail = "field is immutable") {
  return {.demand = Demand::fixed, .field = field, .words = detail};
}

// The same for rules that are declarative upstream: their messages do not show the value.
constexpr Rule immutable(std::string_view field) {
  return {.demand = Demand::immutable, .field = field};
}

constexpr Rule sealed(std::string_view field, std::string_view detail) {
  return {.demand = Demand::sealed, .field = field, .words = detail};
}

// Applies all rules of another table to the same object.
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
