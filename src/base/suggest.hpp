// "did you mean": finds the nearest word.
#pragma once

#include <span>
#include <string_view>

namespace plim {

// The number of letters inserted, omitted, changed, or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);
// The nearest candidate if it may be a typing mistake, otherwise "".
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace plim
