#include "local/kubelet/runtime/pod_sources.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kube/object.hpp"

namespace plim::local::kubelet {

namespace {

void add_named(const json::value& from, std::string_view key, std::string_view name_field,
               std::set<std::string>& names) {
  if (const std::string_view name = text_at(from, {key, name_field}); !name.empty())
    names.emplace(name);
}

void add_projection(const json::value& source, SourceNeeds& out) {
  add_named(source, "configMap", "name", out.config_maps);
  add_named(source, "secret", "name", out.secrets);
  if (find(source, {"serviceAccountToken"}) == nullptr) return;
  out.tokens.insert({std::string(text_at(source, {"serviceAccountToken", "audience"})),
                     int_at(source, {"serviceAccountToken", "expirationSeconds"}).value_or(3600)});
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
  std::string account(text_at(pod, {"spec", "serviceAccountName"}));
  if (account.empty()) account = "default";
  kube::ObjectPath path{std::string(kube::namespace_of(pod)), account, "token"};
  auto answer = co_await client->create(kube::resources::service_accounts, std::move(path),
                                        std::move(request));
  if (!answer) co_return answer.error().with_context("while asking for a token");
  co_return std::string(text_at(*answer, {"status", "token"}));
}

}  // namespace

SourceNeeds env_needs(const json::value& pod, const json::value& container) {
  SourceNeeds out;
  for (const json::value& from : list_at(container, {"envFrom"})) {
    add_named(from, "configMapRef", "name", out.config_maps);
    add_named(from, "secretRef", "name", out.secrets);
  }
  for (const json::value& entry : list_at(container, {"env"})) {
    const json::value* from = find(entry, {"valueFrom"});
    if (from == nullptr) continue;
    add_named(*from, "configMapKeyRef", "name", out.config_maps);
    add_named(*from, "secretKeyRef", "name", out.secrets);
  }
  const json::value* links = find(pod, {"spec", "enableServiceLinks"});
  out.services = links == nullptr || !links->is_bool() || links->as_bool();
  return out;
}

SourceNeeds volume_needs(const json::value& pod) {
  SourceNeeds out;
  for (const json::value& volume : list_at(pod, {"spec", "volumes"})) {
    add_named(volume, "configMap", "name", out.config_maps);
    add_named(volume, "secret", "secretName", out.secrets);
    for (const json::value& source : list_at(volume, {"projected", "sources"}))
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
  for (const json::value& service : list_at(list, {"items"})) out.services.push_back(service);
  co_return out;
}

}  // namespace plim::local::kubelet
