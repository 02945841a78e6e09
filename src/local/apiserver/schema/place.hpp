// A value of an object that is checked, and the way to it. The way is spelt out only for what is
// wrong, so that checking what is right costs no text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace plim::local::apiserver {

// Lives on the stack, below the place it lies in.
class Place {
 public:
  explicit Place(const json::value& root) : value_(&root) {}

  // A member, null when it is missing; "roleRef.name" goes two steps.
  Place in(std::string_view field) const&;
  Place at(std::size_t index) const&;         // an element of a list, which must have it
  Place of_key(std::string_view key) const&;  // an entry of a map, which must have it
  // A value that upstream names otherwise than by the way to it.
  Place under(std::string_view name, const json::value& value) const&;
  Place in(std::string_view field) && = delete;  // would lie below a place that is gone
  Place at(std::size_t index) && = delete;
  Place of_key(std::string_view key) && = delete;

  const json::value& value() const { return *value_; }

  const Place* outer() const { return outer_; }

  std::size_t index() const { return index_; }  // of an element

  std::string path() const;                        // "spec.containers[0]"
  std::string path(std::string_view field) const;  // of a member

  // What a member holds, or nothing of the kind.
  const json::value& member(std::string_view field) const;
  std::string_view text(std::string_view field) const;
  std::optional<std::int64_t> number(std::string_view field) const;
  const json::array& list(std::string_view field) const;
  const json::object& map(std::string_view field) const;
  bool has(std::string_view field) const;  // also when it is empty

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

// As Go sees a field that was not sent: nothing, "", 0 or an empty list. An empty object was sent.
bool is_empty_value(const json::value& value);

}  // namespace plim::local::apiserver
