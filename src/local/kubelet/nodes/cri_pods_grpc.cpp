#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "cri_v1.pb.h"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/images/layer_store.hpp"
#include "local/kubelet/nodes/cri_pods.hpp"
#include "net/x509.hpp"

namespace plim::local::kubelet {
namespace {

namespace cri = runtime::v1;

using Texts = google::protobuf::Map<std::string, std::string>;

constexpr std::size_t kRunsShown = 2;  // per container

template <class Message>
Result<Message> parse_cri(const std::string& bytes) {
  Message out;
  if (!out.ParseFromString(bytes)) return fail(Code::bad_request, "malformed message");
  return out;
}

std::int64_t nanos_since_epoch(WallTime time) {
  return time.time_since_epoch().count();
}

std::string plain_id(std::string_view id) {
  const auto scheme = id.find("://");
  return std::string(scheme == id.npos ? id : id.substr(scheme + 3));
}

std::string sandbox_id(std::string_view uid) {
  return net::sha256_hex(fmt::format("sandbox {}", uid));
}

void add_pod_labels(const json::value& pod, Texts& out) {
  out["io.kubernetes.pod.name"] = kube::name_of(pod);
  out["io.kubernetes.pod.namespace"] = kube::namespace_of(pod);
  out["io.kubernetes.pod.uid"] = kube::uid_of(pod);
}

void add_texts(const json::value* from, Texts& out) {
  if (from == nullptr || !from->is_object()) return;
  for (const auto& [key, value] : from->get_object())
    if (value.is_string()) out[std::string(key)] = std::string(value.get_string());
}

bool has_labels(const Texts& labels, const Texts& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& one) {
    const auto found = labels.find(one.first);
    return found != labels.end() && found->second == one.second;
  });
}

cri::PodSandbox make_sandbox(const json::value& pod) {
  cri::PodSandbox out;
  out.set_id(sandbox_id(kube::uid_of(pod)));
  auto& metadata = *out.mutable_metadata();
  metadata.set_name(std::string(kube::name_of(pod)));
  metadata.set_uid(std::string(kube::uid_of(pod)));
  metadata.set_namespace_(std::string(kube::namespace_of(pod)));
  const std::string_view phase = kube::text_at(pod, "Pod.status.phase");
  const bool ended = phase == "Succeeded" || phase == "Failed";
  out.set_state(ended ? cri::SANDBOX_NOTREADY : cri::SANDBOX_READY);
  std::string_view since = kube::text_at(pod, "Pod.status.startTime");
  if (since.empty()) since = kube::text_at(pod, "Pod.metadata.creationTimestamp");
  if (const auto time = parse_rfc3339(since)) out.set_created_at(nanos_since_epoch(*time));
  add_texts(kube::find(pod, "Pod.metadata.labels"), *out.mutable_labels());
  add_pod_labels(pod, *out.mutable_labels());
  add_texts(kube::find(pod, "Pod.metadata.annotations"), *out.mutable_annotations());
  return out;
}

// The image that the container names in its spec.
std::string image_in_spec(const json::value& pod, std::string_view container) {
  for (const kube::ListPath list :
       {kube::ListPath("Pod.spec.containers"), kube::ListPath("Pod.spec.initContainers")})
    for (const json::value& one : kube::list_at(pod, list))
      if (kube::text_at(one, "Container.name") == container)
        return std::string(kube::text_at(one, "Container.image"));
  return {};
}

// The ID of an image on the node, or its name if the node no longer has it.
std::string image_id_of(const ImageList& images, const std::string& name) {
  const std::string wanted = images::normalise_image(name);
  for (const auto& image : images)
    if (image->name == wanted || wanted.ends_with("@" + image->digest)) return image_id(*image);
  return name;
}

cri::Container make_container(const CriFacts& facts, const json::value& pod,
                              const ContainerRun& run) {
  cri::Container out;
  out.set_id(plain_id(run.container_id));
  out.set_pod_sandbox_id(sandbox_id(run.uid));
  out.mutable_metadata()->set_name(run.container);
  out.mutable_metadata()->set_attempt(static_cast<std::uint32_t>(run.restart));
  const std::string named = image_in_spec(pod, run.container);
  const std::string id = image_id_of(facts.images, named);
  out.mutable_image()->set_image(id);
  out.mutable_image()->set_user_specified_image(named);
  out.set_image_ref(id);
  out.set_image_id(id);
  out.set_state(run.finished_wall == WallTime() ? cri::CONTAINER_RUNNING : cri::CONTAINER_EXITED);
  out.set_created_at(nanos_since_epoch(run.started_wall));
  auto& labels = *out.mutable_labels();
  add_pod_labels(pod, labels);
  labels["io.kubernetes.container.name"] = run.container;
  (*out.mutable_annotations())["io.kubernetes.container.restartCount"] =
      std::to_string(run.restart);
  return out;
}

struct ShownRun {
  const json::value* pod;
  const ContainerRun* run;
};

// The runs of pods that are on the node, newest first.
std::vector<ShownRun> shown_runs(const CriFacts& facts) {
  std::map<std::string, const json::value*, std::less<>> pods;
  for (const json::value& pod : facts.pods) pods.emplace(std::string(kube::uid_of(pod)), &pod);
  std::map<std::pair<std::string, std::string>, std::size_t> shown;
  std::vector<ShownRun> out;
  for (auto run = facts.runs.rbegin(); run != facts.runs.rend(); ++run) {
    const auto pod = pods.find(run->uid);
    if (pod == pods.end() || run->container_id.empty()) continue;
    if (++shown[{run->uid, run->container}] <= kRunsShown) out.push_back({pod->second, &*run});
  }
  return out;
}

Result<ShownRun> find_run(const CriFacts& facts, const std::string& id) {
  for (const ShownRun& one : shown_runs(facts))
    if (!id.empty() && plain_id(one.run->container_id).starts_with(id)) return one;
  return fail(Code::not_found, fmt::format("container {} not found", quote(id)));
}

}  // namespace

Result<std::string> list_sandboxes(const CriFacts& facts, const std::string& request) {
  PLIM_TRY(const auto question, parse_cri<cri::ListPodSandboxRequest>(request));
  const cri::PodSandboxFilter& filter = question.filter();
  cri::ListPodSandboxResponse out;
  for (const json::value& pod : facts.pods) {
    cri::PodSandbox sandbox = make_sandbox(pod);
    if (!sandbox.id().starts_with(filter.id()) ||
        (filter.has_state() && filter.state().state() != sandbox.state()) ||
        !has_labels(sandbox.labels(), filter.label_selector()))
      continue;
    *out.add_items() = std::move(sandbox);
  }
  return out.SerializeAsString();
}

Result<std::string> list_containers(const CriFacts& facts, const std::string& request) {
  PLIM_TRY(const auto question, parse_cri<cri::ListContainersRequest>(request));
  const cri::ContainerFilter& filter = question.filter();
  cri::ListContainersResponse out;
  for (const ShownRun& one : shown_runs(facts)) {
    cri::Container container = make_container(facts, *one.pod, *one.run);
    if (!container.id().starts_with(filter.id()) ||
        !container.pod_sandbox_id().starts_with(filter.pod_sandbox_id()) ||
        (filter.has_state() && filter.state().state() != container.state()) ||
        !has_labels(container.labels(), filter.label_selector()))
      continue;
    *out.add_containers() = std::move(container);
  }
  return out.SerializeAsString();
}

Result<std::string> sandbox_status(const CriFacts& facts, const std::string& request) {
  PLIM_TRY(const auto question, parse_cri<cri::PodSandboxStatusRequest>(request));
  const std::string& id = question.pod_sandbox_id();
  for (const json::value& pod : facts.pods) {
    const cri::PodSandbox sandbox = make_sandbox(pod);
    if (id.empty() || !sandbox.id().starts_with(id)) continue;
    cri::PodSandboxStatusResponse out;
    auto& status = *out.mutable_status();
    status.set_id(sandbox.id());
    *status.mutable_metadata() = sandbox.metadata();
    status.set_state(sandbox.state());
    status.set_created_at(sandbox.created_at());
    status.mutable_network()->set_ip(std::string(kube::text_at(pod, "Pod.status.podIP")));
    *status.mutable_labels() = sandbox.labels();
    *status.mutable_annotations() = sandbox.annotations();
    return out.SerializeAsString();
  }
  return fail(Code::not_found, fmt::format("pod sandbox {} not found", quote(id)));
}

Result<std::string> container_status(const CriFacts& facts, const std::string& request) {
  PLIM_TRY(const auto question, parse_cri<cri::ContainerStatusRequest>(request));
  PLIM_TRY(const ShownRun found, find_run(facts, question.container_id()));
  const cri::Container container = make_container(facts, *found.pod, *found.run);
  cri::ContainerStatusResponse out;
  auto& status = *out.mutable_status();
  status.set_id(container.id());
  *status.mutable_metadata() = container.metadata();
  status.set_state(container.state());
  status.set_created_at(container.created_at());
  status.set_started_at(container.created_at());
  if (container.state() == cri::CONTAINER_EXITED) {
    status.set_finished_at(nanos_since_epoch(found.run->finished_wall));
    status.set_exit_code(found.run->exit_code);
    status.set_reason(found.run->exit_code == 0 ? "Completed" : "Error");
  }
  *status.mutable_image() = container.image();
  status.set_image_ref(container.image_ref());
  status.set_image_id(container.image_id());
  *status.mutable_labels() = container.labels();
  *status.mutable_annotations() = container.annotations();
  return out.SerializeAsString();
}

Result<std::string> runtime_status(const std::string& version, const std::string& request) {
  PLIM_TRY(const auto question, parse_cri<cri::StatusRequest>(request));
  cri::StatusResponse out;
  for (const char* type : {"RuntimeReady", "NetworkReady"}) {
    auto& condition = *out.mutable_status()->add_conditions();
    condition.set_type(type);
    condition.set_status(true);
  }
  (void)out.add_runtime_handlers()->mutable_features();
  if (question.verbose())
    (*out.mutable_info())["config"] =
        to_json(json::object{{"runtime", "plimsoll"}, {"version", version}, {"pods", "processes"}});
  return out.SerializeAsString();
}

std::string encode_list_containers_request(const std::string& id, bool running) {
  cri::ListContainersRequest out;
  out.mutable_filter()->set_id(id);
  if (running) out.mutable_filter()->mutable_state()->set_state(cri::CONTAINER_RUNNING);
  return out.SerializeAsString();
}

Result<std::vector<std::string>> describe_containers(const std::string& response) {
  PLIM_TRY(const auto list, parse_cri<cri::ListContainersResponse>(response));
  std::vector<std::string> out;
  for (const cri::Container& one : list.containers())
    out.push_back(fmt::format("{} {} {} {} {}", one.metadata().name(), one.metadata().attempt(),
                              cri::ContainerState_Name(one.state()),
                              one.image().user_specified_image(),
                              one.labels().at("io.kubernetes.pod.name")));
  return out;
}

Result<std::vector<std::string>> describe_sandboxes(const std::string& response) {
  PLIM_TRY(const auto list, parse_cri<cri::ListPodSandboxResponse>(response));
  std::vector<std::string> out;
  for (const cri::PodSandbox& one : list.items())
    out.push_back(fmt::format("{}/{} {}", one.metadata().namespace_(), one.metadata().name(),
                              cri::PodSandboxState_Name(one.state())));
  return out;
}

}  // namespace plim::local::kubelet
