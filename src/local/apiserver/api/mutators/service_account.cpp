// Sets the service account of a pod and mounts its token, unless that is disabled.
#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/mutators/mutators.hpp"
#include "local/apiserver/api/object_bytes.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::string_view kVolumePrefix = "kube-api-access-";
constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr int kTokenSeconds = 3607;  // as upstream: an hour and 7 s, recognizable

// Created once: every pod gets a copy.
json::value make_token_sources() {
  const json::value token{
      {"serviceAccountToken", {{"expirationSeconds", kTokenSeconds}, {"path", "token"}}}};
  const json::value item{{"key", "ca.crt"}, {"path", "ca.crt"}};
  const json::value authority{
      {"configMap", {{"name", "kube-root-ca.crt"}, {"items", json::array{item}}}}};
  const json::value field{
      {"path", "namespace"},
      {"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}}};
  const json::value own{{"downwardAPI", {{"items", json::array{field}}}}};
  return {{"sources", json::array{token, authority, own}}, {"defaultMode", 420}};
}

void add_token_volume(json::array& volumes, std::string_view name) {
  static const json::value kSources = make_token_sources();
  json::object& volume = volumes.emplace_back(json::object()).get_object();
  volume["name"] = name;
  volume["projected"] = kSources;
}

bool has_own_mount(const json::object& container) {
  const json::value* mounts = container.if_contains("volumeMounts");
  if (!mounts || !mounts->is_array()) return false;
  for (const json::value& one : mounts->get_array())
    if (kube::text_at(one, "VolumeMount.mountPath") == kMountPath) return true;
  return false;
}

json::array& list_in(json::object& object, std::string_view key) {
  json::value& list = object[key];
  if (!list.is_array()) list.emplace_array();
  return list.get_array();
}

// The name of the volume from the first round; the second one mounts it in containers of webhooks.
std::string_view own_volume(const json::object& spec) {
  const json::value* volumes = spec.if_contains("volumes");
  if (volumes && volumes->is_array())
    for (const json::value& volume : volumes->get_array())
      if (const std::string_view name = kube::text_at(volume, "Volume.name");
          name.starts_with(kVolumePrefix))
        return name;
  return {};
}

// True if a container needs the volume.
bool mount_in_all(json::object& spec, std::string_view volume) {
  bool used = false;
  for (std::string_view which : {"initContainers", "containers"}) {
    json::value* containers = spec.if_contains(which);
    if (!containers || !containers->is_array()) continue;
    for (json::value& container : containers->get_array()) {
      if (!container.is_object() || has_own_mount(container.get_object())) continue;
      list_in(container.get_object(), "volumeMounts")
          .push_back({{"name", volume}, {"readOnly", true}, {"mountPath", kMountPath}});
      used = true;
    }
  }
  return used;
}

// Few accounts have settings for pods; searching the text is cheaper than decoding.
bool has_wishes(const store::EntryPtr& entry) {
  auto says = [&](std::string_view key) { return entry->value->find(key) != std::string::npos; };
  return entry && (says("\"imagePullSecrets\"") || says("\"automountServiceAccountToken\""));
}

}  // namespace

ApiResult<void> set_service_account(const Core& core, Admission& admission) {
  json::value& pod = admission.object;
  if (!kube::annotation_of(pod, kMirror).empty()) return {};
  json::object& spec = kube::make_object(pod, "Pod.spec");
  std::string name(kube::text_at(pod, "Pod.spec.serviceAccountName"));
  if (name.empty()) name = kube::text_at(pod, "Pod.spec.serviceAccount");
  if (name.empty()) name = "default";
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;

  // The account may not exist yet: its controller creates it shortly after the namespace.
  const KindPtr accounts = core.kinds.find("", "v1", "serviceaccounts");
  const store::EntryPtr entry = core.store.get(accounts->key(admission.ns, name));
  if (!entry && name != "default")
    return forbidden(*admission.kind, kube::name_of(pod),
                     fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" "
                                 "not found",
                                 admission.ns, name, name));
  const json::value account = has_wishes(entry) ? decode_object(*entry->value) : json::value();
  const json::value* secrets = kube::find(account, "ServiceAccount.imagePullSecrets");
  if (secrets && !spec.contains("imagePullSecrets")) spec["imagePullSecrets"] = *secrets;
  const json::value* automount = spec.if_contains("automountServiceAccountToken");
  if (!automount) automount = kube::find(account, "ServiceAccount.automountServiceAccountToken");
  if (automount && automount->is_bool() && !automount->get_bool()) return {};
  const std::string_view there = own_volume(spec);
  const std::string volume = there.empty()
                                 ? fmt::format("{}{}", kVolumePrefix, make_name_suffix(core.random))
                                 : std::string(there);
  if (mount_in_all(spec, volume) && there.empty())
    add_token_volume(list_in(spec, "volumes"), volume);
  return {};
}

}  // namespace plim::local::apiserver
