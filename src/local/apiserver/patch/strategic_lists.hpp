// Lists under strategic merge: which elements are the same, and what order they end up in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/json.hpp"

namespace plim::local::apiserver {

// What makes an element the same as another: the value under `key`, or with an empty key its own.
// Nothing for an element that lacks the key.
std::optional<std::string> identity_of(const json::value& element, std::string_view key);

// Where each identity stands first.
using Identities = std::unordered_map<std::string, std::size_t>;
Identities identities_of(const json::array& list, std::string_view key);

void erase_elements(json::array& list, std::string_view key,
                    const std::unordered_set<std::string>& identities);

// Both lists, each value once.
json::array merge_primitives(const json::array& original, const json::array& patch);

// Puts those elements of `merged` that `wanted` names into its order. The others keep theirs, and
// stay before a named one only if `server`, the list as it was, had both in that order; so a new
// element goes to the front, as kubectl users know it.
json::array order_elements(json::array merged, const json::array& wanted, const json::array& server,
                           std::string_view key);

}  // namespace plim::local::apiserver
