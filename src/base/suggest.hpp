// "did you mean": the nearest of some words.
#pragma once

#include <span>
#include <string_view>

namespace plim {

// Letters inserted, left out, changed, or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);
// The nearest candidate if it is near enough to be a slip of the fingers, else "".
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace plim
