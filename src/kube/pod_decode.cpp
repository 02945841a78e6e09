#include <algorithm>

#include "kube/lists_decode.hpp"

namespace plim::kube {
namespace {

// Whether an object in the text has a list under this key, given with its quotes, that is not
// empty. A string with the same text is not followed by a colon.
bool has_list(std::string_view text, std::string_view key) {
  constexpr std::string_view kSpace = " \t\r\n";
  for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::string_view rest = text.substr(at + key.size());
    for (const char expected : {':', '['}) {
      rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
      if (!rest.starts_with(expected)) break;
      rest.remove_prefix(1);
      if (expected != '[') continue;
      const auto first = rest.find_first_not_of(kSpace);
      return first != std::string_view::npos && rest[first] != ']';
    }
  }
  return false;
}

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
      if (key == "hostUsers") return flag(out.host_users);
      if (key == "hostname") return text(out.hostname);
      if (key == "subdomain") return text(out.subdomain);
      if (key == "containers") return containers(out, out.containers);
      if (key == "initContainers") return containers(out, out.init_containers);
      if (key == "ephemeralContainers") return ephemeral_containers(out);
      if (key == "resources") return resources(out.requests, out.limits);
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
      if (key == "allocatedResources") return pairs(out.allocated);
      if (key == "resources") return resources(out.requests, out.reports_resources);
      if (key == "conditions")
        return objects(out.conditions,
                       [this](Condition& made, std::string_view k) { return condition(made, k); });
      return true;
    });
  }

  bool containers(PodSpec& spec, std::vector<Container>& out) {
    return objects(out, [&](Container& made, std::string_view key) {
      if (key == "name") return text(made.name);
      if (key == "image") return text(made.image);
      if (key == "imagePullPolicy") return text(made.image_pull_policy);
      if (key == "restartPolicy") return text(made.restart_policy);
      if (key == "ports") return raw(made.ports);
      if (key == "restartPolicyRules") return restart_rules(spec);
      if (key == "volumeMounts") return mounts(spec);
      return key != "resources" || resources(made.requests, made.limits);
    });
  }

  // Every pod has mounts and nearly none has these options, so the text is searched, not read.
  bool mounts(PodSpec& spec) {
    std::string_view text;
    if (!raw(text)) return false;
    if (has_list(text, "\"bindMountOptions\"")) spec.bind_mount_options = true;
    return true;
  }

  bool ephemeral_containers(PodSpec& spec) {
    std::vector<Container> unused;
    return objects(unused, [&](Container&, std::string_view key) {
      return key != "volumeMounts" || mounts(spec);
    });
  }

  bool restart_rules(PodSpec& spec) {
    std::vector<Interned> actions;
    const bool good = objects(actions, [this](Interned& made, std::string_view key) {
      return key != "action" || text(made);
    });
    for (const Interned& action : actions)
      if (action == "RestartAllContainers") spec.restarts_all_containers = true;
    return good;
  }

  bool resources(ResourceList& requests, ResourceList& limits) {
    return object([&](std::string_view key) {
      if (key == "requests") return pairs(requests);
      if (key == "limits") return pairs(limits);
      return true;
    });
  }

  // As a status reports them.
  bool resources(ResourceList& requests, bool& reported) {
    reported = true;
    return object([&](std::string_view key) { return key != "requests" || pairs(requests); });
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
          key == "rbd" || key == "azureDisk" || key == "cinder" || key == "portworxVolume")
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
      if (key == "resources") return resources(made.requests, made.reports_resources);
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
