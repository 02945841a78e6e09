#include "sched_shapes.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "load.hpp"

namespace plim::bench {

std::string fake_node_text(std::size_t index) {
  const json::value room{{"cpu", "32"}, {"memory", "256Gi"}, {"pods", "110"}};
  json::object node{{"apiVersion", "v1"},
                    {"kind", "Node"},
                    {"metadata",
                     {{"name", node_name(index)},
                      {"labels",
                       {{"app", "plimsoll-load"},
                        {"kubernetes.io/hostname", node_name(index)},
                        {"topology.kubernetes.io/zone", fmt::format("zone-{}", index % 3)}}}}},
                    {"status", {{"allocatable", room}, {"capacity", room}}}};
  return to_json(node);
}

std::string waiting_pod_text(std::size_t index, const SchedShape& shape) {
  return pod_text({.name = pod_name(index),
                   .scheduler = "default-scheduler",
                   .spec = parse_json(shape.spec)->as_object()});
}

}  // namespace plim::bench
