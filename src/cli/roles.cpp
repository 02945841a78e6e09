#include "cli/roles.hpp"

#include <algorithm>
#include <array>

namespace plim::cli {
namespace {

constexpr std::array kStartNames{
    StartName{"cpu-device-plugin", "the agent's pools module (device plugin)", "cpu-device-plugin",
              true},
    StartName{"cpusetter", "the agent's pools module (cpuset setter)", "cpusetter", true},
    StartName{"cpu-device-webhook", "the webhook", "webhook", true},
    StartName{"process-starter", "the static program plimsoll-starter", "starter"},
    StartName{"kube-scheduler", "the scheduler", "scheduler", true},
    StartName{"kubectl-plimsoll", "kubectl's plug-in", "plimsoll"},
    StartName{"kubectl_complete-plimsoll", "completion for kubectl's plug-in", "__complete"},
};

}  // namespace

std::span<const StartName> start_names() {
  return kStartNames;
}

const StartName* find_start_name(std::string_view argv0) {
  std::string_view name = argv0.substr(argv0.rfind('/') + 1);
  auto at = std::ranges::find(kStartNames, name, &StartName::name);
  return at == kStartNames.end() ? nullptr : &*at;
}

}  // namespace plim::cli
