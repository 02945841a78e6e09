// The environment of a container, from its spec and the objects it names. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/kubelet/runtime/downward.hpp"
#include "local/kubelet/runtime/pod_sources.hpp"

namespace plim::local::kubelet {

// Names are unique; a later setting replaces an earlier one in its place.
class Environment {
 public:
  using Entry = std::pair<std::string, std::string>;

  void set(std::string_view name, std::string value);
  const std::string* get(std::string_view name) const;

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// $(NAME) by its value, $$ by one $; what is not known stays as it is.
std::string expand(std::string_view text, const Environment& environment);

// WEB_SERVICE_HOST, WEB_PORT_80_TCP and the others, for every service with an address.
void add_service_links(const std::vector<json::value>& services, Environment& out);

// On top of `base`: service links, envFrom, env. The error of a missing object or key is what a
// kubelet says with CreateContainerConfigError.
Result<Environment> make_environment(const json::value& pod, const json::value& container,
                                     const PodPlace& place, const PodSources& sources,
                                     Environment base);

}  // namespace plim::local::kubelet
