// A value of an object that is checked, and its path. The path is formatted only for errors, so
// that checking valid objects costs no strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace plim::local::apiserver {

// Lives on the stack and refers to the place that contains it.
class Place {
 public:
  explicit Place(const json::value& root) : value_(&root) {}

  // A member, null if it is missing; "roleRef.name" goes two levels down.
  Place in(std::string_view field) const&;
  Place at(std::size_t index) const&;         // an element of a list, which must exist
  Place of_key(std::string_view key) const&;  // an entry of a map, which must exist
  // A value for which upstream uses another path.
  Place under(std::string_view name, const json::value& value) const&;
  Place in(std::string_view field) && = delete;  // would refer to a place that is gone
  Place at(std::size_t index) && = delete;
  Place of_key(std::string_view key) && = delete;

  const json::value& value() const { return *value_; }

  const Place* outer() const { return outer_; }

  std::size_t index() const { return index_; }  // of an element

  std::string path() const;                        // "spec.containers[0]"
  std::string path(std::string_view field) const;  // path of a member

  // The value of a member, or an empty value of that type.
  const json::value& member(std::string_view field) const;
  std::string_view text(std::string_view field) const;
  std::optional<std::int64_t> number(std::string_view field) const;
  const json::array& list(std::string_view field) const;
  const json::object& map(std::string_view field) const;
  bool has(std::string_view field) const;  // also if it is empty

 private:
  enum class Step : std::uint8_t { root, member, element, key };

  Place(const Place& outer, Step step, std::string_view name, std::size_t index,
        const json::value& value)
      : outer_(&outer), step_(step), name_(name), index_(index), value_(&value) {}

  const Place* outer_ = nullptr;
  Step step_ = Step::root;
  std::string_view name_;
  std::size_t index_ = 0;
  const json::value* value_;
};

// Empty as in Go's omitempty: null, "", 0 or an empty list. An empty object is not empty.
bool is_empty_value(const json::value& value);

}  // namespace plim::local::apiserver
