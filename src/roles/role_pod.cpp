#include <fmt/format.h>

#include "roles/role_children.hpp"

namespace plim::roles {

// The scheduler's pod has the usual name, kube-scheduler-<node>, because people and scripts search
// for it.
local::cluster::MirrorPod role_pod(const RoleRow& row, const json::value& node,
                                   std::vector<std::string> words, std::string log_file) {
  const std::string called =
      row.name == "scheduler" ? "kube-scheduler" : fmt::format("plimsoll-{}", row.process);
  const std::string on(text_at(node, {"name"}));
  return {.name = fmt::format("{}-{}", called, on),
          .node = on,
          .address = std::string(text_at(node, {"address"})),
          .container = called,
          .tier = row.per_node ? "node" : "control-plane",
          .command = std::move(words),
          .log = std::move(log_file)};
}

}  // namespace plim::roles
