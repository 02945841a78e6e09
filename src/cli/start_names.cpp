#include "cli/start_names.hpp"

#include <algorithm>
#include <array>

namespace plim::cli {
namespace {

constexpr std::array kStartNames{
    StartName{"cpu-device-plugin", "cpu-device-plugin", true},
    StartName{"cpusetter", "cpusetter", true},
    StartName{"cpu-device-webhook", "webhook", true},
    StartName{"process-starter", "starter"},
    StartName{"kube-scheduler", "scheduler", true},
    StartName{"kubectl-plimsoll", "plimsoll"},
    StartName{"kubectl_complete-plimsoll", "__complete"},
};

}  // namespace

const StartName* find_start_name(std::string_view argv0) {
  std::string_view name = argv0.substr(argv0.rfind('/') + 1);
  auto at = std::ranges::find(kStartNames, name, &StartName::name);
  return at == kStartNames.end() ? nullptr : &*at;
}

}  // namespace plim::cli
