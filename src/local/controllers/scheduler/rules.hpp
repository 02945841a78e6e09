// What a pod demands of its place beside resources: selectors, affinities, tolerations, ports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "kube/host_port.hpp"
#include "kube/selector.hpp"
#include "kube/toleration.hpp"
#include "kube/types.hpp"

namespace plim::local::controllers::scheduler {

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

// Read once from the JSON that kube::Pod keeps as it came. What cannot be read demands nothing: the
// API server has checked it.
struct Rules {
  std::vector<std::pair<std::string, std::string>> node_selector = {};
  bool has_required_nodes = false;
  std::vector<NodeTerm> required_nodes = {};  // one of them must match
  std::vector<NodeTerm> preferred_nodes = {};
  std::vector<PodTerm> near = {};  // all of them
  std::vector<PodTerm> apart = {};
  std::vector<kube::Toleration> tolerations = {};
  std::vector<kube::HostPort> ports = {};

  bool fits_labels(const kube::Node& node) const;
};

Rules rules_of(const kube::Pod& pod);
// The required anti-affinity alone, which also others must obey.
std::vector<PodTerm> apart_terms_of(const kube::Pod& pod);

}  // namespace plim::local::controllers::scheduler
