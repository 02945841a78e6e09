#include "placement/pod_requests.hpp"

#include <algorithm>

#include "base/quantity.hpp"
#include "kube/selector.hpp"

namespace plim::placement {
namespace {

constexpr std::int64_t kDefaultMilliCpu = 100;
constexpr std::int64_t kDefaultMemory = 200 * 1024 * 1024;

// Few entries, so a vector; sums stay exact and are rounded once, at the end.
class Amounts {
 public:
  Amounts() = default;

  explicit Amounts(const kube::ResourceList& list) {
    for (const auto& [name, text] : list)
      if (auto amount = parse_quantity(text)) at(name) = *amount;
  }

  Quantity& at(std::string_view name) {
    for (auto& [key, amount] : amounts_)
      if (key == name) return amount;
    return amounts_.emplace_back(name, Quantity()).second;
  }

  bool has(std::string_view name) const {
    return std::ranges::any_of(amounts_, [&](const auto& one) { return one.first == name; });
  }

  void add(const Amounts& other) {
    for (const auto& [name, amount] : other.amounts_) at(name) += amount;
  }

  void raise_to(const Amounts& other) {
    for (const auto& [name, amount] : other.amounts_) {
      bool known = has(name);
      Quantity& mine = at(name);
      if (!known || mine < amount) mine = amount;
    }
  }

  auto begin() const { return amounts_.begin(); }

  auto end() const { return amounts_.end(); }

 private:
  std::vector<std::pair<std::string_view, Quantity>> amounts_;  // the names point into the pod
};

struct Counting {
  bool limits = false;    // instead of requests
  bool status = false;    // also counts what the kubelet has promised
  bool pod_level = true;  // spec.resources
  bool default_cpu = false, default_memory = false;
  Release release = {};
};

bool is_sidecar(const kube::Container& container) {
  return container.restart_policy == "Always";
}

bool is_pod_level(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

bool has_pod_level_requests(const kube::Pod& pod) {
  return std::ranges::any_of(pod.spec.requests,
                             [](const auto& one) { return is_pod_level(one.first); });
}

bool resize_is_infeasible(const kube::Pod& pod) {
  for (const kube::Condition& condition : pod.status.conditions)
    if (condition.type == "PodResizePending") return condition.reason == "Infeasible";
  return false;
}

const kube::ContainerStatus* status_of(const kube::Pod& pod, const kube::Container& container) {
  for (const auto* list : {&pod.status.containers, &pod.status.init_containers})
    for (const kube::ContainerStatus& status : *list)
      if (status.name == container.name) return &status;
  return nullptr;
}

// Which amounts of a container count.
enum class Source : std::uint8_t {
  spec,
  allocated,  // by the kubelet, for a resize that it has accepted
  actuated,   // in force
  largest,    // of these three, for each container: the rule before 1.37
};

Amounts container_amounts(const kube::Pod& pod, const kube::Container& container, Source source,
                          const Counting& how) {
  const kube::ResourceList& written = how.limits ? container.limits : container.requests;
  const kube::ContainerStatus* status =
      source == Source::spec ? nullptr : status_of(pod, container);
  const bool infeasible = source != Source::spec && resize_is_infeasible(pod);
  Amounts out;
  if (source == Source::largest) {
    const bool reported = status != nullptr && status->reports_resources;
    if (!reported || !infeasible) out = Amounts(written);
    if (reported) {
      out.raise_to(Amounts(status->requests));
      out.raise_to(Amounts(status->allocated));
    }
  } else if (source == Source::actuated && status != nullptr && !status->requests.empty()) {
    out = Amounts(status->requests);
  } else if (status != nullptr && !status->allocated.empty()) {
    out = Amounts(status->allocated);
  } else if (!infeasible) {
    out = Amounts(written);
  }
  if (how.default_cpu && !out.has("cpu")) out.at("cpu") = Quantity::from_milli(kDefaultMilliCpu);
  if (how.default_memory && !out.has("memory")) out.at("memory") = Quantity(kDefaultMemory);
  return out;
}

// Init containers run one after another, together with the sidecars that started before them.
Amounts sum_of_containers(const kube::Pod& pod, Source source, const Counting& how) {
  Amounts sum;
  for (const kube::Container& container : pod.spec.containers)
    sum.add(container_amounts(pod, container, source, how));
  Amounts sidecars, starting;
  for (const kube::Container& container : pod.spec.init_containers) {
    const bool ends = source == Source::largest && !is_sidecar(container);
    Amounts own = container_amounts(pod, container, ends ? Source::spec : source, how);
    if (is_sidecar(container)) {
      sum.add(own);
      sidecars.add(own);
      starting.raise_to(sidecars);
    } else {
      own.add(sidecars);
      starting.raise_to(own);
    }
  }
  sum.raise_to(starting);
  return sum;
}

// During a resize, the largest of what is written, allocated and in force.
Amounts all_containers(const kube::Pod& pod, const Counting& how) {
  if (!how.status) return sum_of_containers(pod, Source::spec, how);
  if (!how.release.sums_before_comparing()) return sum_of_containers(pod, Source::largest, how);
  Amounts out;
  if (!resize_is_infeasible(pod)) out = sum_of_containers(pod, Source::spec, how);
  // The kubelet reports the sums if the pod as a whole can be resized.
  const kube::PodStatus& status = pod.status;
  const bool summed = !status.allocated.empty() && !status.requests.empty();
  out.raise_to(summed ? Amounts(status.requests) : sum_of_containers(pod, Source::actuated, how));
  out.raise_to(summed ? Amounts(status.allocated) : sum_of_containers(pod, Source::allocated, how));
  return out;
}

// Requests of the pod as a whole replace the sum over its containers.
void set_pod_level(const kube::Pod& pod, const Counting& how, Amounts& sum) {
  if (!has_pod_level_requests(pod)) return;
  const bool resizes =
      how.status && how.release.counts_pod_resize() && pod.status.reports_resources;
  Amounts effective;
  if (!resizes || !resize_is_infeasible(pod)) effective = Amounts(pod.spec.requests);
  if (resizes) {
    effective.raise_to(Amounts(pod.status.requests));
    effective.raise_to(Amounts(pod.status.allocated));
  }
  if (resizes && !how.release.sums_before_comparing()) {
    // Before 1.37 only the names in the spec count.
    for (const auto& [name, amount] : Amounts(pod.spec.requests))
      if (is_pod_level(name)) sum.at(name) = effective.at(name);
    return;
  }
  for (const auto& [name, amount] : effective)
    if (is_pod_level(name)) sum.at(name) = amount;
}

Amounts pod_amounts(const kube::Pod& pod, const Counting& how) {
  Amounts sum = all_containers(pod, how);
  if (how.pod_level) set_pod_level(pod, how, sum);
  for (const auto& [name, amount] : Amounts(pod.spec.overhead))
    if (!how.limits || sum.has(name))
      sum.at(name) += amount;  // overhead does not add a limit to a pod without one
  return sum;
}

// Limits amounts so that scores do not overflow; real amounts are far below the limit.
std::int64_t units(std::string_view name, const Quantity& amount) {
  constexpr std::int64_t kMost = std::int64_t{1} << 55;
  return std::clamp(name == "cpu" ? amount.milli_value() : amount.value(), std::int64_t{0}, kMost);
}

PodRequests counted(const Amounts& amounts, ResourceNames& names) {
  PodRequests out;
  for (const auto& [name, amount] : amounts) {
    ResourceId id = names.id_of(name);
    if (id == kNoResource) continue;
    if (id < kFirstScalar)
      out.basic[id] = units(name, amount);
    else
      out.scalars.emplace_back(id, units(name, amount));
  }
  std::ranges::sort(out.scalars);
  return out;
}

}  // namespace

bool is_extended_resource(std::string_view name) {
  return name.find('/') != std::string_view::npos &&
         name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.");
}

bool is_scalar_resource(std::string_view name) {
  return is_extended_resource(name) || name.starts_with("hugepages-") ||
         name.find("kubernetes.io/") != std::string_view::npos ||
         name.starts_with("attachable-volumes-");
}

ResourceNames::ResourceNames() : names_{"cpu", "memory", "ephemeral-storage"} {}

ResourceId ResourceNames::find(std::string_view name) const {
  auto at = std::ranges::find(names_, name);
  return at == names_.end() ? kNoResource : static_cast<ResourceId>(at - names_.begin());
}

ResourceId ResourceNames::id_of(std::string_view name) {
  ResourceId id = find(name);
  if (id != kNoResource || !is_scalar_resource(name) || names_.size() >= kNoResource) return id;
  names_.emplace_back(name);
  return static_cast<ResourceId>(names_.size() - 1);
}

std::int64_t PodRequests::of(ResourceId id) const {
  if (id < kFirstScalar) return basic[id];
  for (const auto& [scalar, amount] : scalars)
    if (scalar == id) return amount;
  return 0;
}

PodRequests requests_of(const kube::Pod& pod, ResourceNames& names, const Release& release) {
  Counting how{.status = true, .release = release};
  Amounts amounts = pod_amounts(pod, how);
  PodRequests out = counted(amounts, names);
  // With pod-level requests, defaults apply only to resources without any request.
  bool pod_level = has_pod_level_requests(pod);
  how.default_cpu = !pod_level || !amounts.has("cpu");
  how.default_memory = !pod_level || !amounts.has("memory");
  Amounts nonzero = pod_amounts(pod, how);
  out.nonzero_cpu = units("cpu", nonzero.at("cpu"));
  out.nonzero_memory = units("memory", nonzero.at("memory"));
  return out;
}

PodRequests scored_requests_of(const kube::Pod& pod, ResourceNames& names) {
  Counting how{.pod_level = false, .default_cpu = true, .default_memory = true};
  PodRequests out = counted(pod_amounts(pod, how), names);
  out.nonzero_cpu = out.basic[kCpu];
  out.nonzero_memory = out.basic[kMemory];
  return out;
}

ResourceAmounts asked_amounts(const kube::Pod& pod) {
  const Amounts sum = pod_amounts(pod, Counting{});
  return {sum.begin(), sum.end()};
}

ResourceAmounts limited_amounts(const kube::Pod& pod) {
  Counting limits;
  limits.limits = true;
  limits.pod_level = false;
  const Amounts sum = pod_amounts(pod, limits);
  return {sum.begin(), sum.end()};
}

NodeCapacity capacity_of(const kube::ResourceList& allocatable, ResourceNames& names) {
  NodeCapacity out;
  for (const auto& [name, text] : allocatable) {
    auto amount = parse_quantity(text);
    if (!amount) continue;
    if (name == "pods") out.pods = amount->value();
    ResourceId id = names.id_of(name);
    if (id != kNoResource) out.amounts.emplace_back(id, units(name, *amount));
  }
  return out;
}

}  // namespace plim::placement
