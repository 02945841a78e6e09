// What a pod demands of its place beside resources: selectors, affinities, tolerations, ports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "kube/selector.hpp"
#include "kube/types.hpp"

namespace plim::local::scheduler {

struct NodeTerm {
  std::vector<kube::LabelRequirement> labels = {};
  std::vector<kube::LabelRequirement> names = {};  // matchFields metadata.name
  std::int64_t weight = 0;                         // of a preference

  bool matches(const kube::Node& node) const;  // one without any requirement matches nothing
};

struct PodTerm {
  kube::LabelSelector selector = {};
  std::string topology_key = {};
  bool all_namespaces = false;
  std::vector<std::string> namespaces = {};

  bool matches(const kube::Pod& pod) const;
};

struct Toleration {
  std::string key, value, effect;  // "" for any
  bool exists = false;             // whatever the value

  bool tolerates(const kube::Taint& taint) const;
};

struct HostPort {
  std::int64_t port = 0;
  std::string protocol = "TCP", address = "0.0.0.0";

  bool clashes_with(const HostPort& other) const;
};

// Read once from the JSON that kube::Pod keeps as it came. What cannot be read demands nothing: the
// API server has checked it.
struct Rules {
  std::vector<std::pair<std::string, std::string>> node_selector = {};
  bool has_required_nodes = false;
  std::vector<NodeTerm> required_nodes = {};  // one of them must match
  std::vector<NodeTerm> preferred_nodes = {};
  std::vector<PodTerm> near = {};  // all of them
  std::vector<PodTerm> apart = {};
  std::vector<Toleration> tolerations = {};
  std::vector<HostPort> ports = {};

  bool fits_labels(const kube::Node& node) const;
  bool tolerates(const kube::Taint& taint) const;
};

Rules rules_of(const kube::Pod& pod);
std::vector<HostPort> host_ports_of(const kube::Pod& pod);
// The required anti-affinity alone, which also others must obey.
std::vector<PodTerm> apart_terms_of(const kube::Pod& pod);

}  // namespace plim::local::scheduler
