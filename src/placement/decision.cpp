#include "placement/decision.hpp"

#include <array>

namespace plim::placement {

std::string_view name_of(TieRule rule) {
  constexpr std::array<std::string_view, 4> kNames{"", "locality", "random", "first"};
  return kNames[static_cast<std::size_t>(rule)];
}

}  // namespace plim::placement
