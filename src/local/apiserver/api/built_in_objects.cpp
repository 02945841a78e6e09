#include "local/apiserver/api/built_in_objects.hpp"

#include <array>

#include "kube/object.hpp"
#include "local/apiserver/api/body.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::array kNamespaces{"default", "kube-system", "kube-public", "kube-node-lease"};

json::value namespace_object(std::string_view name) {
  return {{"metadata", {{"name", name}}}};
}

json::value priority_class(std::string_view name, std::int64_t value, std::string_view what) {
  return {{"metadata", {{"name", name}}},
          {"value", value},
          {"description", what},
          {"preemptionPolicy", "PreemptLowerPriority"}};
}

// Pods find the API by this name; the local service proxy serves its address.
json::value api_service() {
  const json::value port{
      {"name", "https"}, {"protocol", "TCP"}, {"port", 443}, {"targetPort", 443}};
  return {{"metadata",
           {{"name", "kubernetes"},
            {"labels", {{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
          {"spec",
           {{"type", "ClusterIP"},
            {"clusterIP", "127.96.0.1"},
            {"clusterIPs", json::array{"127.96.0.1"}},
            {"ipFamilies", json::array{"IPv4"}},
            {"ipFamilyPolicy", "SingleStack"},
            {"sessionAffinity", "None"},
            {"internalTrafficPolicy", "Cluster"},
            {"ports", json::array{port}}}}};
}

}  // namespace

Task<Result<void>> BuiltInObjects::ensure(std::string group, std::string plural, std::string ns,
                                          json::value object) {
  auto call = std::make_shared<Call>();
  call->user = {.name = "system:apiserver", .groups = {"system:masters"}};
  call->method = "POST";
  call->target.kind = core_.kinds.find(group, "v1", plural);
  call->target.ns = ns;
  CreateRequest request{.call = call, .kind = call->target.kind, .ns = std::move(ns)};
  auto conformed = conform_object(*call, std::move(object), {});
  if (!conformed) co_return to_error(conformed.error());
  request.object = std::move(*conformed);
  if (core_.store.get(request.kind->key(request.ns, kube::name_of(request.object))))
    co_return Result<void>();
  auto made = co_await writer_.create(std::move(request));
  if (!made && made.error().code != 409) co_return to_error(made.error());
  co_return Result<void>();
}

Task<Result<void>> BuiltInObjects::create() {
  for (const char* name : kNamespaces) {
    json::value object = namespace_object(name);
    PLIM_CO_CHECK(co_await ensure("", "namespaces", "", std::move(object)));
  }
  json::value cluster = priority_class("system-cluster-critical", 2'000'000'000,
                                       "For pods that the cluster needs, on any node.");
  PLIM_CO_CHECK(co_await ensure("scheduling.k8s.io", "priorityclasses", "", std::move(cluster)));
  json::value node =
      priority_class("system-node-critical", 2'000'001'000, "For pods that their own node needs.");
  PLIM_CO_CHECK(co_await ensure("scheduling.k8s.io", "priorityclasses", "", std::move(node)));
  json::value service = api_service();
  PLIM_CO_CHECK(co_await ensure("", "services", "default", std::move(service)));
  co_return Result<void>();
}

}  // namespace plim::local::apiserver
