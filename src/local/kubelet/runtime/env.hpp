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

// Names are unique. A later value replaces an earlier one and keeps its position.
class Environment {
 public:
  using Entry = std::pair<std::string, std::string>;

  void set(std::string_view name, std::string value);
  const std::string* get(std::string_view name) const;

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// Replaces $(NAME) by its value and $$ by one $. Unknown names stay as they are.
std::string expand(std::string_view text, const Environment& environment);

// Sets WEB_SERVICE_HOST, WEB_PORT_80_TCP and so on, for every service with an address.
void add_service_links(const std::vector<json::value>& services, Environment& out);

// Adds service links, envFrom and env to `base`. If an object or key is missing, the error is the
// message that a kubelet reports with CreateContainerConfigError.
Result<Environment> make_environment(const json::value& pod, const json::value& container,
                                     const PodPlace& place, const PodSources& sources,
                                     Environment base);

}  // namespace plim::local::kubelet
