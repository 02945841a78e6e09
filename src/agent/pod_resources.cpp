#include "agent/pod_resources.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "agent/pods.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

using Amounts = std::map<std::string, double>;

Amounts read_amounts(const kube::ResourceList& list, std::vector<std::string>& odd) {
  Amounts out;
  for (const auto& [name, text] : list) {
    auto value = amount_of(text.view());
    if (value)
      out[std::string(name.view())] = *value;
    else
      odd.push_back(fmt::format("{} of {} is not an amount", quote(text.view()), name.view()));
  }
  return out;
}

void add(Amounts& sum, const Amounts& more) {
  for (const auto& [name, value] : more) sum[name] += value;
}

bool is_sidecar(const kube::Container& container) {
  return container.restart_policy == "Always";
}

// The maximum that init containers need at one time, each with the sidecars declared before it.
Amounts init_peak(const kube::PodSpec& spec, std::vector<std::string>& odd) {
  Amounts peak, sidecars;
  for (const kube::Container& container : spec.init_containers) {
    Amounts requests = read_amounts(container.requests, odd);
    if (is_sidecar(container)) {
      add(sidecars, requests);
      continue;
    }
    add(requests, sidecars);
    for (const auto& [name, value] : requests) peak[name] = std::max(peak[name], value);
  }
  return peak;
}

// Names of WCA's documentation, and names of WCA's code.
void set_known(Amounts& out, const char* prefix, const Amounts& sums) {
  for (const auto& [name, value] : sums) {
    out[fmt::format("{}_{}", prefix, name)] = value;
    if (name == "cpu") out[fmt::format("{}_cpus", prefix)] = value;
    if (name == "memory") out[fmt::format("{}_mem", prefix)] = value;
  }
}

}  // namespace

Result<double> amount_of(std::string_view quantity) {
  if (quantity.ends_with('K')) {
    PLIM_TRY(Quantity thousands, parse_quantity(quantity.substr(0, quantity.size() - 1)));
    return thousands.approximate() * 1000;
  }
  PLIM_TRY(Quantity value, parse_quantity(quantity));
  return value.approximate();
}

std::map<std::string, double> resources_of(const kube::PodSpec& spec,
                                           const kube::ResourceList& pod_level_requests,
                                           std::vector<std::string>& odd) {
  Amounts requests, limits;
  for (const auto* containers : {&spec.containers, &spec.init_containers})
    for (const kube::Container& container : *containers) {
      if (containers == &spec.init_containers && !is_sidecar(container)) continue;
      add(requests, read_amounts(container.requests, odd));
      add(limits, read_amounts(container.limits, odd));
    }
  Amounts out;
  set_known(out, "requests", requests);
  set_known(out, "limits", limits);
  const auto copy = [&](const char* from, const char* to) {
    if (auto found = requests.find(from); found != requests.end()) out[to] = found->second;
  };
  copy("cpu", "cpus"), copy("memory", "mem"), copy("ephemeral-storage", "disk");

  std::vector<std::string> again;  // reported above already
  Amounts effective = requests;
  for (const auto& [name, value] : read_amounts(pod_level_requests, odd)) effective[name] = value;
  for (const auto& [name, value] : init_peak(spec, again))
    effective[name] = std::max(effective[name], value);
  add(effective, read_amounts(spec.overhead, odd));
  if (auto found = effective.find("cpu"); found != effective.end())
    out["effective_cpus"] = found->second;
  if (auto found = effective.find("memory"); found != effective.end())
    out["effective_mem"] = found->second;
  return out;
}

}  // namespace plim::agent
