#include "local/kubelet/runtime/pod_sources.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::local::kubelet {

namespace {

void add_named(const json::value& from, kube::TextPath path, std::set<std::string>& names) {
  if (const std::string_view name = kube::text_at(from, path); !name.empty()) names.emplace(name);
}

void add_projection(const json::value& source, SourceNeeds& out) {
  add_named(source, "VolumeProjection.configMap.name", out.config_maps);
  add_named(source, "VolumeProjection.secret.name", out.secrets);
  if (kube::find(source, "VolumeProjection.serviceAccountToken") == nullptr) return;
  out.tokens.insert(
      {std::string(kube::text_at(source, "VolumeProjection.serviceAccountToken.audience")),
       kube::int_at(source, "VolumeProjection.serviceAccountToken.expirationSeconds")
           .value_or(3600)});
}

// An empty optional: the object does not exist.
Task<Result<std::optional<json::value>>> get_if_there(std::shared_ptr<kube::Client> client,
                                                      kube::Resource resource, std::string ns,
                                                      std::string name) {
  kube::ObjectPath path{.ns = std::move(ns), .name = std::move(name)};
  auto found = co_await client->get(std::move(resource), std::move(path));
  if (found) co_return std::optional<json::value>(std::move(*found));
  if (found.error().code == Code::not_found) co_return std::optional<json::value>();
  co_return found.error();
}

Task<Result<std::string>> request_token(std::shared_ptr<kube::Client> client, json::value pod,
                                        TokenNeed need) {
  json::object spec{{"expirationSeconds", need.seconds},
                    {"boundObjectRef", json::object{{"apiVersion", "v1"},
                                                    {"kind", "Pod"},
                                                    {"name", kube::name_of(pod)},
                                                    {"uid", kube::uid_of(pod)}}}};
  json::array audiences;
  if (!need.audience.empty()) audiences.emplace_back(need.audience);
  spec["audiences"] = std::move(audiences);
  json::object request{{"apiVersion", "authentication.k8s.io/v1"},
                       {"kind", "TokenRequest"},
                       {"spec", std::move(spec)}};
  std::string account(kube::text_at(pod, "Pod.spec.serviceAccountName"));
  if (account.empty()) account = "default";
  kube::ObjectPath path{std::string(kube::namespace_of(pod)), account, "token"};
  auto answer = co_await client->create(kube::resources::service_accounts, std::move(path),
                                        std::move(request));
  if (!answer) co_return answer.error().with_context("while asking for a token");
  co_return std::string(kube::text_at(*answer, "AuthenticationTokenRequest.status.token"));
}

}  // namespace

SourceNeeds env_needs(const json::value& pod, const json::value& container) {
  SourceNeeds out;
  for (const json::value& from : kube::list_at(container, "Container.envFrom")) {
    add_named(from, "EnvFromSource.configMapRef.name", out.config_maps);
    add_named(from, "EnvFromSource.secretRef.name", out.secrets);
  }
  for (const json::value& entry : kube::list_at(container, "Container.env")) {
    const json::value* from = kube::find(entry, "EnvVar.valueFrom");
    if (from == nullptr) continue;
    add_named(*from, "EnvVarSource.configMapKeyRef.name", out.config_maps);
    add_named(*from, "EnvVarSource.secretKeyRef.name", out.secrets);
  }
  const json::value* links = kube::find(pod, "Pod.spec.enableServiceLinks");
  out.services = links == nullptr || !links->is_bool() || links->as_bool();
  return out;
}

SourceNeeds volume_needs(const json::value& pod) {
  SourceNeeds out;
  for (const json::value& volume : kube::list_at(pod, "Pod.spec.volumes")) {
    add_named(volume, "Volume.configMap.name", out.config_maps);
    add_named(volume, "Volume.secret.secretName", out.secrets);
    for (const json::value& source : kube::list_at(volume, "Volume.projected.sources"))
      add_projection(source, out);
  }
  return out;
}

Task<Result<PodSources>> fetch_sources(std::shared_ptr<kube::Client> client, json::value pod,
                                       SourceNeeds needs) {
  PodSources out;
  const std::string ns(kube::namespace_of(pod));
  for (const std::string& name : needs.config_maps) {
    PLIM_CO_TRY(auto found, co_await get_if_there(client, kube::resources::config_maps, ns, name));
    if (found) out.config_maps[name] = std::move(*found);
  }
  for (const std::string& name : needs.secrets) {
    PLIM_CO_TRY(auto found, co_await get_if_there(client, kube::resources::secrets, ns, name));
    if (found) out.secrets[name] = std::move(*found);
  }
  for (const TokenNeed& need : needs.tokens) {
    PLIM_CO_TRY(std::string token, co_await request_token(client, pod, need));
    out.tokens[need] = std::move(token);
  }
  if (!needs.services) co_return out;
  kube::ListOptions options{.ns = ns};
  PLIM_CO_TRY(const json::value list,
              co_await client->list(kube::resources::services, std::move(options)));
  for (const json::value& service : kube::list_at(list, "ObjectList.items"))
    out.services.push_back(service);
  co_return out;
}

}  // namespace plim::local::kubelet
