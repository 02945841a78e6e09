#include "local/controllers/scheduler/demand.hpp"

#include <algorithm>

#include "base/quantity.hpp"

namespace plim::local::controllers::scheduler {
namespace {

void raise(Demand& to, const Demand& least) {
  to.cpu_milli = std::max(to.cpu_milli, least.cpu_milli);
  to.memory = std::max(to.memory, least.memory);
  to.ephemeral_storage = std::max(to.ephemeral_storage, least.ephemeral_storage);
  for (const auto& [name, amount] : least.extended) to.of(name) = std::max(to.of(name), amount);
}

}  // namespace

std::int64_t& Demand::of(std::string_view resource) {
  if (resource == "cpu") return cpu_milli;
  if (resource == "memory") return memory;
  if (resource == "ephemeral-storage") return ephemeral_storage;
  if (resource == "pods") return pods;
  for (auto& [name, amount] : extended)
    if (name == resource) return amount;
  return extended.emplace_back(resource, 0).second;
}

std::int64_t Demand::at(std::string_view resource) const {
  for (const auto& [name, amount] : extended)
    if (name == resource) return amount;
  return 0;
}

void Demand::add(const Demand& other, int sign) {
  cpu_milli += sign * other.cpu_milli;
  memory += sign * other.memory;
  ephemeral_storage += sign * other.ephemeral_storage;
  pods += sign * other.pods;
  for (const auto& [name, amount] : other.extended) of(name) += sign * amount;
}

Demand demand_of(const kube::ResourceList& resources) {
  Demand out;
  for (const auto& [name, text] : resources) {
    auto quantity = parse_quantity(text);
    if (!quantity) continue;  // the API server lets no such text in
    out.of(name) = name == "cpu" ? quantity->milli_value() : quantity->value();
  }
  return out;
}

Demand demand_of(const kube::Pod& pod) {
  Demand sidecars, most;
  for (const kube::Container& init : pod.spec.init_containers) {
    Demand own = demand_of(init.requests);
    if (init.restart_policy == "Always") {
      sidecars.add(own, 1);
      raise(most, sidecars);
    } else {
      own.add(sidecars, 1);
      raise(most, own);
    }
  }
  Demand out = sidecars;
  for (const kube::Container& container : pod.spec.containers)
    out.add(demand_of(container.requests), 1);
  raise(out, most);
  out.add(demand_of(pod.spec.overhead), 1);
  out.pods = 1;
  return out;
}

}  // namespace plim::local::controllers::scheduler
