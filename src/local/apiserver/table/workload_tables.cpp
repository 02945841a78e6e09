// Workloads: kinds that keep pods running.
#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr TableColumn kDesired{.name = "Desired", .type = "integer", .description = "Wanted pods"};
constexpr TableColumn kCurrent{
    .name = "Current", .type = "integer", .description = "Existing pods"};
constexpr TableColumn kReady{.name = "Ready", .type = "integer", .description = "Pods ready"};

constexpr TableColumn kDeploymentColumns[] = {
    kName,
    {.name = "Ready", .description = "Ready pods, of the wanted ones"},
    {.name = "Up-to-date", .description = "Pods of the newest template"},
    {.name = "Available", .description = "Pods ready for long enough"},
    kAge,
    kContainers,
    kImages,
    kSelector,
};

json::array deployment_cells(const json::value& object, WallTime now) {
  const Containers all = containers(object, "Deployment.spec.template.spec");
  return {name(object),
          fmt::format("{}/{}", number(object, "Deployment.status.readyReplicas"),
                      number(object, "Deployment.spec.replicas")),
          number(object, "Deployment.status.updatedReplicas"),
          number(object, "Deployment.status.availableReplicas"),
          age(object, now),
          all.names,
          all.images,
          selector(object, "Deployment.spec.selector")};
}

constexpr TableColumn kReplicaSetColumns[] = {
    kName, kDesired, kCurrent, kReady, kAge, kContainers, kImages, kSelector,
};

json::array replica_set_cells(const json::value& object, WallTime now, std::string selects) {
  const Containers all = containers(object, "ReplicaSet.spec.template.spec");
  return {name(object),
          number(object, "ReplicaSet.spec.replicas"),
          number(object, "ReplicaSet.status.replicas"),
          number(object, "ReplicaSet.status.readyReplicas"),
          age(object, now),
          all.names,
          all.images,
          std::move(selects)};
}

json::array replica_set_row(const json::value& object, WallTime now) {
  return replica_set_cells(object, now, selector(object, "ReplicaSet.spec.selector"));
}

json::array replication_controller_row(const json::value& object, WallTime now) {
  return replica_set_cells(object, now, labels(object, "ReplicationController.spec.selector"));
}

constexpr TableColumn kDaemonSetColumns[] = {
    kName,
    kDesired,
    kCurrent,
    kReady,
    {.name = "Up-to-date", .type = "integer", .description = "Pods of the newest template"},
    {.name = "Available", .type = "integer", .description = "Pods ready for long enough"},
    {.name = "Node Selector", .description = "Labels of the nodes it runs on"},
    kAge,
    kContainers,
    kImages,
    kSelector,
};

json::array daemon_set_cells(const json::value& object, WallTime now) {
  const Containers all = containers(object, "DaemonSet.spec.template.spec");
  return {name(object),
          number(object, "DaemonSet.status.desiredNumberScheduled"),
          number(object, "DaemonSet.status.currentNumberScheduled"),
          number(object, "DaemonSet.status.numberReady"),
          number(object, "DaemonSet.status.updatedNumberScheduled"),
          number(object, "DaemonSet.status.numberAvailable"),
          labels(object, "DaemonSet.spec.template.spec.nodeSelector"),
          age(object, now),
          all.names,
          all.images,
          selector(object, "DaemonSet.spec.selector")};
}

constexpr TableColumn kStatefulSetColumns[] = {
    kName,   {.name = "Ready", .description = "Ready pods, of the wanted ones"}, kAge, kContainers,
    kImages,
};

json::array stateful_set_cells(const json::value& object, WallTime now) {
  const Containers all = containers(object, "StatefulSet.spec.template.spec");
  return {name(object),
          fmt::format("{}/{}", number(object, "StatefulSet.status.readyReplicas"),
                      number(object, "StatefulSet.spec.replicas")),
          age(object, now), all.names, all.images};
}

constexpr TableColumn kControllerRevisionColumns[] = {
    kName,
    {.name = "Controller", .description = "Object of which it is a revision"},
    {.name = "Revision", .description = "Number of the revision"},
    kAge,
};

json::array controller_revision_cells(const json::value& object, WallTime now) {
  std::string controller = "<none>";
  for (const json::value& owner : list(object, "ControllerRevision.metadata.ownerReferences")) {
    if (!kube::bool_at(owner, "OwnerReference.controller")) continue;
    const std::string version = text(owner, "OwnerReference.apiVersion");
    const auto slash = version.find('/');
    const std::string kind = to_lower(text(owner, "OwnerReference.kind"));
    controller = slash == std::string::npos ? kind : kind + "." + version.substr(0, slash);
    controller += "/" + text(owner, "OwnerReference.name");
  }
  return {name(object), controller, number(object, "ControllerRevision.revision"),
          age(object, now)};
}

constexpr TableColumn kPodTemplateColumns[] = {
    kName,
    {.name = "Containers", .description = "Names of the containers"},
    {.name = "Images", .description = "Images of the containers"},
    {.name = "Pod Labels", .description = "Labels that its pods get"},
};

json::array pod_template_cells(const json::value& object, WallTime) {
  const Containers all = containers(object, "PodTemplate.template.spec");
  return {name(object), all.names, all.images,
          labels(object, "PodTemplate.template.metadata.labels")};
}

}  // namespace

const TableView kDeploymentView{.columns = kDeploymentColumns, .cells = deployment_cells};
const TableView kReplicaSetView{.columns = kReplicaSetColumns, .cells = replica_set_row};
const TableView kReplicationControllerView{.columns = kReplicaSetColumns,
                                           .cells = replication_controller_row};
const TableView kDaemonSetView{.columns = kDaemonSetColumns, .cells = daemon_set_cells};
const TableView kStatefulSetView{.columns = kStatefulSetColumns, .cells = stateful_set_cells};
const TableView kControllerRevisionView{.columns = kControllerRevisionColumns,
                                        .cells = controller_revision_cells};
const TableView kPodTemplateView{.columns = kPodTemplateColumns, .cells = pod_template_cells};

}  // namespace plim::local::apiserver
