#include "kube/fields_decode.hpp"

namespace plim::kube {
namespace {

class PodReader : public JsonReader {
 public:
  using JsonReader::JsonReader;

  bool field(Pod& out, std::string_view key, ondemand::value value) {
    if (key == "metadata") return meta(value, out.meta);
    if (key == "spec") return spec(value, out.spec);
    if (key == "status") return status(value, out.status);
    return true;
  }

 private:
  bool spec(ondemand::value value, PodSpec& out) {
    return object(value, [&](std::string_view key, ondemand::value v) {
      if (key == "nodeName") return text(v, out.node_name);
      if (key == "schedulerName") return text(v, out.scheduler_name);
      if (key == "restartPolicy") return text(v, out.restart_policy);
      if (key == "priority") return integer(v, out.priority);
      if (key == "priorityClassName") return text(v, out.priority_class);
      if (key == "serviceAccountName") return text(v, out.service_account);
      if (key == "hostNetwork") return flag(v, out.host_network);
      if (key == "hostname") return text(v, out.hostname);
      if (key == "subdomain") return text(v, out.subdomain);
      if (key == "containers") return containers(v, out.containers);
      if (key == "initContainers") return containers(v, out.init_containers);
      if (key == "overhead") return pairs(v, out.overhead);
      if (key == "nodeSelector") return raw(v, out.node_selector);
      if (key == "affinity") return raw(v, out.affinity);
      if (key == "tolerations") return raw(v, out.tolerations);
      if (key == "topologySpreadConstraints") return raw(v, out.topology_spread);
      return true;
    });
  }

  bool status(ondemand::value value, PodStatus& out) {
    return object(value, [&](std::string_view key, ondemand::value v) {
      if (key == "phase") return text(v, out.phase);
      if (key == "reason") return text(v, out.reason);
      if (key == "qosClass") return text(v, out.qos_class);
      if (key == "hostIP") return text(v, out.host_ip);
      if (key == "podIP") return text(v, out.pod_ip);
      if (key == "nominatedNodeName") return text(v, out.nominated_node);
      if (key == "startTime") return time(v, out.started);
      if (key == "containerStatuses") return statuses(v, out.containers);
      if (key == "initContainerStatuses") return statuses(v, out.init_containers);
      if (key == "conditions")
        return objects(v, out.conditions, [this](Condition& made, std::string_view k, auto inner) {
          return condition(made, k, inner);
        });
      return true;
    });
  }

  bool containers(ondemand::value value, std::vector<Container>& out) {
    return objects(value, out, [this](Container& made, std::string_view key, ondemand::value v) {
      if (key == "name") return text(v, made.name);
      if (key == "image") return text(v, made.image);
      if (key == "restartPolicy") return text(v, made.restart_policy);
      if (key == "ports") return raw(v, made.ports);
      if (key != "resources") return true;
      return object(v, [&](std::string_view k, ondemand::value inner) {
        if (k == "requests") return pairs(inner, made.requests);
        if (k == "limits") return pairs(inner, made.limits);
        return true;
      });
    });
  }

  bool statuses(ondemand::value value, std::vector<ContainerStatus>& out) {
    auto one = [this](ContainerStatus& made, std::string_view key, ondemand::value v) {
      if (key == "name") return text(v, made.name);
      if (key == "image") return text(v, made.image);
      if (key == "imageID") return text(v, made.image_id);
      if (key == "containerID") return text(v, made.container_id);
      if (key == "restartCount") return integer(v, made.restarts);
      if (key == "ready") return flag(v, made.ready);
      if (key == "state") return state(v, made);
      if (key == "lastState")
        return object(v, [&](std::string_view k, ondemand::value inner) {
          return k != "terminated" || ended(inner, made.last_terminated);
        });
      return true;
    };
    return objects(value, out, one);
  }

  bool state(ondemand::value value, ContainerStatus& out) {
    using State = ContainerStatus::State;
    return object(value, [&](std::string_view key, ondemand::value v) {
      if (key == "terminated") {
        out.state = State::terminated;
        return ended(v, out.terminated);
      }
      if (key == "running") out.state = State::running;
      if (key == "waiting") out.state = State::waiting;
      return object(v, [&](std::string_view k, ondemand::value inner) {
        if (k == "startedAt") return time(inner, out.running_since);
        if (k == "reason") return text(inner, out.waiting_reason);
        return true;
      });
    });
  }

  bool ended(ondemand::value value, ContainerStatus::Ended& out) {
    return object(value, [&](std::string_view key, ondemand::value v) {
      if (key == "exitCode") return integer(v, out.exit_code);
      if (key == "signal") return integer(v, out.signal);
      if (key == "reason") return text(v, out.reason);
      if (key == "startedAt") return time(v, out.started);
      if (key == "finishedAt") return time(v, out.finished);
      return true;
    });
  }
};

}  // namespace

Result<Pod> decode_pod(JsonText text, InternPool& pool) {
  PodReader reader(&pool);
  Pod out;
  auto on_field = [&](std::string_view key, ondemand::value value) {
    return reader.field(out, key, value);
  };
  PLIM_CHECK(reader.document(object_parser(), text, on_field));
  return out;
}

Result<ListMeta> decode_pods(JsonText list, InternPool& pool, const Visit<Pod>& visit) {
  PodReader reader(&pool);
  return reader.list_document(list, [&](ondemand::value item) {
    Pod out;
    auto on_field = [&](std::string_view key, ondemand::value value) {
      return reader.field(out, key, value);
    };
    return reader.object(item, on_field) && reader.hand_over(visit, std::move(out));
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
