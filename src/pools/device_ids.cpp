#include "pools/device_ids.hpp"

#include <algorithm>

#include "base/cpu_list.hpp"
#include "base/text.hpp"

namespace plim::pools {
namespace {

constexpr std::string_view kSymbols =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::vector<std::string> shared_ids(int count) {
  std::vector<std::string> out;
  out.reserve(static_cast<std::size_t>(count));
  for (std::size_t number = 0; out.size() < static_cast<std::size_t>(count); ++number) {
    std::string id;
    std::size_t rest = number + 1;  // there is no digit zero, so that all IDs differ
    while (rest > 0) {
      --rest;
      id += kSymbols[rest % kSymbols.size()];
      rest /= kSymbols.size();
    }
    if (!std::ranges::all_of(id, is_digit)) out.push_back(std::move(id));
  }
  return out;
}

std::optional<int> cpu_of_id(std::string_view id) {
  if (id.empty() || !std::ranges::all_of(id, is_digit)) return std::nullopt;
  auto value = parse_int(id);
  if (!value || *value >= CpuSet::kMaxCpus) return std::nullopt;
  return *value;
}

}  // namespace plim::pools
