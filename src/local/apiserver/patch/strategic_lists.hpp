// Lists in strategic merges: which elements are equal, and the order of the result.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/json.hpp"

namespace plim::local::apiserver {

// Identifies an element: by the value of its `key`, or by its own value if `key` is empty. Nothing
// if the element lacks the key.
std::optional<std::string> identity_of(const json::value& element, std::string_view key);

// The first position of each identity.
using Identities = std::unordered_map<std::string, std::size_t>;
Identities identities_of(const json::array& list, std::string_view key);

void erase_elements(json::array& list, std::string_view key,
                    const std::unordered_set<std::string>& identities);

// Concatenates both lists; each value appears once.
json::array merge_primitives(const json::array& original, const json::array& patch);

// Puts the elements of `merged` that `wanted` names into its order. The others keep theirs and stay
// before a named one only if `server`, the old list, had both in that order. So a new element goes
// to the front, as kubectl users expect.
json::array order_elements(json::array merged, const json::array& wanted, const json::array& server,
                           std::string_view key);

}  // namespace plim::local::apiserver
