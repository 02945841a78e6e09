#include "cli/pool_places.hpp"

#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::cli {

Outcome<roles::PoolPlaces> pool_places(const Values& values) {
  constexpr std::string_view kConfigMap = "configmap:";
  constexpr std::array kUsual{"/etc/cpu-pooler", "/etc/cpu-dp"};
  roles::PoolPlaces out;
  for (std::string_view part : split(values.text("poolconfigs"), ',')) {
    const std::string_view place = trim(part);
    if (place.empty()) continue;
    if (!place.starts_with(kConfigMap)) {
      out.files.emplace_back(place);
      continue;
    }
    out.maps.emplace_back(place.substr(kConfigMap.size()));
    if (cut(out.maps.back(), '/').second.empty())
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--poolconfigs: {} has no namespace", place),
                           "configmap:kube-system/cpu-dp-configmap");
  }
  if (!out.files.empty() || !out.maps.empty()) return out;
  std::error_code ignored;
  for (const char* place : kUsual)
    if (std::filesystem::is_directory(place, ignored)) out.files.emplace_back(place);
  return out;
}

}  // namespace plim::cli
