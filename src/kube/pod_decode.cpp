#include "kube/lists_decode.hpp"

namespace plim::kube {
namespace {

class PodReader : public ListReader {
 public:
  using ListReader::ListReader;

  bool field(Pod& out, std::string_view key) {
    if (key == "metadata") return meta(out.meta);
    if (key == "spec") return spec(out.spec);
    if (key == "status") return status(out.status);
    return true;
  }

 private:
  bool spec(PodSpec& out) {
    return object([&](std::string_view key) {
      if (key == "nodeName") return text(out.node_name);
      if (key == "schedulerName") return text(out.scheduler_name);
      if (key == "restartPolicy") return text(out.restart_policy);
      if (key == "priority") return integer(out.priority);
      if (key == "priorityClassName") return text(out.priority_class);
      if (key == "serviceAccountName") return text(out.service_account);
      if (key == "hostNetwork") return flag(out.host_network);
      if (key == "hostname") return text(out.hostname);
      if (key == "subdomain") return text(out.subdomain);
      if (key == "containers") return containers(out.containers);
      if (key == "initContainers") return containers(out.init_containers);
      if (key == "resources")
        return object([&](std::string_view k) { return k != "requests" || pairs(out.requests); });
      if (key == "overhead") return pairs(out.overhead);
      if (key == "preemptionPolicy") return text(out.preemption_policy);
      if (key == "volumes") return volumes(out.volumes);
      if (key == "schedulingGates") return raw(out.scheduling_gates);
      if (key == "resourceClaims") return raw(out.resource_claims);
      if (key == "nodeSelector") return raw(out.node_selector);
      if (key == "affinity") return raw(out.affinity);
      if (key == "tolerations") return raw(out.tolerations);
      if (key == "topologySpreadConstraints") return raw(out.topology_spread);
      return true;
    });
  }

  bool status(PodStatus& out) {
    return object([&](std::string_view key) {
      if (key == "phase") return text(out.phase);
      if (key == "reason") return text(out.reason);
      if (key == "qosClass") return text(out.qos_class);
      if (key == "hostIP") return text(out.host_ip);
      if (key == "podIP") return text(out.pod_ip);
      if (key == "nominatedNodeName") return text(out.nominated_node);
      if (key == "startTime") return time(out.started);
      if (key == "containerStatuses") return statuses(out.containers);
      if (key == "initContainerStatuses") return statuses(out.init_containers);
      if (key == "conditions")
        return objects(out.conditions,
                       [this](Condition& made, std::string_view k) { return condition(made, k); });
      return true;
    });
  }

  bool containers(std::vector<Container>& out) {
    return objects(out, [this](Container& made, std::string_view key) {
      if (key == "name") return text(made.name);
      if (key == "image") return text(made.image);
      if (key == "imagePullPolicy") return text(made.image_pull_policy);
      if (key == "restartPolicy") return text(made.restart_policy);
      if (key == "ports") return raw(made.ports);
      if (key != "resources") return true;
      return object([&](std::string_view k) {
        if (k == "requests") return pairs(made.requests);
        if (k == "limits") return pairs(made.limits);
        return true;
      });
    });
  }

  bool volumes(std::vector<PodVolume>& out) {
    auto one = [this](PodVolume& made, std::string_view key) {
      if (key == "name") return text(made.name);
      if (key == "persistentVolumeClaim")
        return object([&](std::string_view k) { return k != "claimName" || text(made.claim); });
      if (key == "ephemeral") made.ephemeral = true;
      if (key == "image")
        return object([&](std::string_view k) { return k != "reference" || text(made.image); });
      if (key == "gcePersistentDisk" || key == "awsElasticBlockStore" || key == "iscsi" ||
          key == "rbd")
        return disk(made.disk, key);
      return true;
    };
    bool good = objects(out, one);
    std::erase_if(out, [](const PodVolume& v) {
      return v.claim.empty() && !v.ephemeral && v.image.empty() && v.disk.empty();
    });
    out.shrink_to_fit();
    return good;
  }

  bool disk(Interned& out, std::string_view kind) {
    std::string_view found;
    if (!raw(found)) return false;
    if (!found.empty()) out = intern(fmt::format(R"({{"{}":{}}})", kind, found));
    return true;
  }

  bool statuses(std::vector<ContainerStatus>& out) {
    auto one = [this](ContainerStatus& made, std::string_view key) {
      if (key == "name") return text(made.name);
      if (key == "image") return text(made.image);
      if (key == "imageID") return text(made.image_id);
      if (key == "containerID") return text(made.container_id);
      if (key == "restartCount") return integer(made.restarts);
      if (key == "ready") return flag(made.ready);
      if (key == "allocatedResources") return pairs(made.allocated);
      if (key == "resources") {
        made.reports_resources = true;
        return object([&](std::string_view k) { return k != "requests" || pairs(made.requests); });
      }
      if (key == "state") return state(made);
      if (key == "lastState")
        return object(
            [&](std::string_view k) { return k != "terminated" || ended(made.last_terminated); });
      return true;
    };
    return objects(out, one);
  }

  bool state(ContainerStatus& out) {
    using State = ContainerStatus::State;
    return object([&](std::string_view key) {
      if (key == "terminated") {
        out.state = State::terminated;
        return ended(out.terminated);
      }
      if (key == "running") out.state = State::running;
      if (key == "waiting") out.state = State::waiting;
      return object([&](std::string_view k) {
        if (k == "startedAt") return time(out.running_since);
        if (k == "reason") return text(out.waiting_reason);
        return true;
      });
    });
  }

  bool ended(ContainerStatus::Ended& out) {
    return object([&](std::string_view key) {
      if (key == "exitCode") return integer(out.exit_code);
      if (key == "signal") return integer(out.signal);
      if (key == "reason") return text(out.reason);
      if (key == "startedAt") return time(out.started);
      if (key == "finishedAt") return time(out.finished);
      return true;
    });
  }
};

}  // namespace

Result<Pod> decode_pod(JsonText text, InternPool& pool) {
  PodReader reader(&pool);
  Pod out;
  auto on_field = [&](std::string_view key) { return reader.field(out, key); };
  PLIM_CHECK(reader.document(object_tokens(), text, on_field));
  return out;
}

Result<ListMeta> decode_pods(JsonText list, InternPool& pool, const Visit<Pod>& visit) {
  PodReader reader(&pool);
  return reader.list_document(list, [&] {
    auto out = std::make_shared<Pod>();
    auto on_field = [&](std::string_view key) { return reader.field(*out, key); };
    return reader.object(on_field) && reader.hand_over(visit, std::move(out));
  });
}

Codec<Pod> pod_codec(InternPool& pool) {
  auto one = [&pool](JsonText text) { return decode_pod(text, pool); };
  auto list = [&pool](JsonText text, const Visit<Pod>& visit) {
    return decode_pods(text, pool, visit);
  };
  return {one, list};
}

}  // namespace plim::kube
