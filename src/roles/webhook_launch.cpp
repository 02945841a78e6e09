#include "roles/webhook_launch.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "net/url.hpp"
#include "roles/agent_launch.hpp"
#include "roles/manifests.hpp"
#include "roles/servo_launch.hpp"
#include "servo/settings.hpp"

namespace plim::roles {
namespace {

constexpr int kWebhookPort = 7444;
constexpr const char* kConfigurations = "cpu-device-pod-mutator-webhook-config,optune";
constexpr std::string_view kMadeBy = "app.kubernetes.io/managed-by", kUp = "plimsoll-up";

const kube::Resource kSlices{.group = "discovery.k8s.io",
                             .version = "v1",
                             .plural = "endpointslices",
                             .kind = "EndpointSlice"};

struct WebhookObjects {
  json::value service;
  json::value pools, jobs;  // webhook configurations
};

json::value taken_from(std::vector<json::value>& objects, std::string_view kind) {
  for (json::value& object : objects)
    if (kube::text_at(object, "Object.kind") == kind) return std::move(object);
  return {};
}

std::string setting_or(const char* variable, std::string fallback) {
  const char* set = std::getenv(variable);
  return set != nullptr && *set != '\0' ? set : std::move(fallback);
}

// Points the servo's webhook configuration to the pools' Service, because one process serves both.
// The servo also watches other namespaces here than in its manifest.
Result<void> lead_jobs_here(json::value& configuration, const json::value& service) {
  PLIM_TRY(const servo::Namespaces watched,
           servo::parse_namespaces(setting_or("POD_NAMESPACES", "*")));
  json::value* webhooks = configuration.get_object().if_contains("webhooks");
  if (webhooks == nullptr || !webhooks->is_array())
    return fail(Code::internal, "deploy/servo has no webhook");
  for (json::value& webhook : webhooks->get_array()) {
    json::object& place = kube::make_object(webhook, "MutatingWebhook.clientConfig.service");
    place["name"] = kube::text_at(service, "Service.metadata.name");
    place["namespace"] = kube::text_at(service, "Service.metadata.namespace");
    webhook.get_object().erase("namespaceSelector");
    if (watched.all()) continue;
    json::value rule = json::object{{"key", "kubernetes.io/metadata.name"},
                                    {"operator", "In"},
                                    {"values", json::value_from(watched.names)}};
    kube::make_object(webhook, "MutatingWebhook.namespaceSelector")["matchExpressions"] =
        json::array{std::move(rule)};
  }
  return {};
}

// The objects of deploy/, but with a Service that selects no pods.
Result<WebhookObjects> shipped_objects() {
  PLIM_TRY(std::vector<json::value> pools, manifests_of("pools", {}));
  PLIM_TRY(std::vector<json::value> servo, manifests_of("servo", {}));
  WebhookObjects out{.service = taken_from(pools, "Service"),
                     .pools = taken_from(pools, "MutatingWebhookConfiguration"),
                     .jobs = taken_from(servo, "MutatingWebhookConfiguration")};
  if (!out.service.is_object() || !out.pools.is_object() || !out.jobs.is_object())
    return fail(Code::internal, "deploy/ has no webhook");
  kube::make_object(out.service, "Service.spec").erase("selector");
  PLIM_CHECK(lead_jobs_here(out.jobs, out.service));
  for (json::value* object : {&out.service, &out.pools, &out.jobs})
    kube::make_object(*object, "Object.metadata.labels")[kMadeBy] = kUp;
  return out;
}

std::string name_in(const json::value& object) {
  return std::string(kube::text_at(object, "Object.metadata.name"));
}

kube::ObjectPath path_of(const json::value& object) {
  return {.ns = std::string(kube::text_at(object, "Object.metadata.namespace")),
          .name = name_in(object)};
}

Result<json::value> slice_of(const json::value& service, const std::string& url) {
  PLIM_TRY(const net::Url place, net::parse_url(url));
  const kube::ObjectPath path = path_of(service);
  const json::value* ports = kube::find(service, "Service.spec.ports");
  if (ports == nullptr || !ports->is_array() || ports->get_array().empty())
    return fail(Code::internal, "the webhook's Service has no port");
  json::value labels = json::object{{"kubernetes.io/service-name", path.name},
                                    {"endpointslice.kubernetes.io/managed-by", kUp}};
  json::value port =
      json::object{{"name", kube::text_at(ports->get_array()[0], "ServicePort.name")},
                   {"port", place.port},
                   {"protocol", "TCP"}};
  json::value endpoint = json::object{{"addresses", json::array{place.host}},
                                      {"conditions", json::object{{"ready", true}}}};
  return json::value(json::object{{"apiVersion", "discovery.k8s.io/v1"},
                                  {"kind", "EndpointSlice"},
                                  {"metadata", json::object{{"name", path.name + "-up"},
                                                            {"namespace", path.ns},
                                                            {"labels", std::move(labels)}}},
                                  {"addressType", "IPv4"},
                                  {"endpoints", json::array{std::move(endpoint)}},
                                  {"ports", json::array{std::move(port)}}});
}

kube::WriteOptions as_up() {
  kube::WriteOptions out;
  out.field_manager = std::string(kUp);
  return out;
}

// Fields that another client has changed since are kept.
Task<Result<void>> apply_unless_changed(std::shared_ptr<kube::Client> client,
                                        kube::Resource resource, json::value object) {
  kube::ObjectPath path = path_of(object);
  std::string name = path.name;
  auto done = co_await client->patch(std::move(resource), std::move(path), kube::PatchType::apply,
                                     std::move(object), as_up());
  if (!done && done.error().code != Code::conflict)
    co_return done.error().with_context(fmt::format("making {}", name));
  co_return Result<void>();
}

Task<Result<void>> remove_if_there(std::shared_ptr<kube::Client> client, kube::Resource resource,
                                   kube::ObjectPath path) {
  auto done = co_await client->remove(std::move(resource), std::move(path));
  if (!done && done.error().code != Code::not_found) co_return done.error();
  co_return Result<void>();
}

bool is_ours(const json::value& object) {
  const json::value* by = kube::find(object, "Object.metadata.labels", kMadeBy);
  return by != nullptr && by->is_string() && by->get_string() == kUp;
}

// The Service of the first webhook. All webhooks of our configurations use the same one.
std::pair<std::string_view, std::string_view> service_called(const json::value& configuration) {
  const json::value* webhooks = kube::find(configuration, "MutatingWebhookConfiguration.webhooks");
  if (webhooks == nullptr || !webhooks->is_array() || webhooks->get_array().empty()) return {};
  const json::value& first = webhooks->get_array()[0];
  return {kube::text_at(first, "MutatingWebhook.clientConfig.service.namespace"),
          kube::text_at(first, "MutatingWebhook.clientConfig.service.name")};
}

// Keeps a configuration that uses another Service by now: another installation owns it.
Task<Result<void>> remove_if_ours(std::shared_ptr<kube::Client> client, json::value configuration) {
  kube::ObjectPath path = path_of(configuration);
  auto found = co_await client->get(kube::resources::mutating_webhook_configurations, path);
  if (!found || !is_ours(*found) || service_called(*found) != service_called(configuration))
    co_return Result<void>();
  co_return co_await remove_if_there(client, kube::resources::mutating_webhook_configurations,
                                     std::move(path));
}

// In the directory of this program, else in the directory where an operator installs it.
std::string starter_path() {
  std::error_code ignored;
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "plimsoll-starter";
  return std::filesystem::exists(beside, ignored) ? beside.string() : "/opt/bin/process-starter";
}

}  // namespace

Result<RoleLaunch> launch_webhook(const RolePlace& place) {
  const std::string listen = place.free_address("127.0.0.1", kWebhookPort);
  PLIM_TRY(const std::string places, pool_places_of(place));  // the agents read the same places
  RoleLaunch out{.words = {"webhook", "--self-signed", "--kubeconfig", place.kubeconfig, "--listen",
                           listen, "--webhook-configs", kConfigurations},
                 .url = "https://" + listen};
  const auto unless_set = [&](const char* variable, std::string flag, std::string value) {
    if (!setting_or(variable, "").empty()) return;
    out.words.push_back(std::move(flag));
    out.words.push_back(std::move(value));
  };
  unless_set("PLIMSOLL_WEBHOOK_POOLCONFIGS", "--poolconfigs", places);
  unless_set("PLIMSOLL_WEBHOOK_PROCESS_STARTER_PATH", "--process-starter-path", starter_path());
  unless_set("POD_NAMESPACES", "--pod-namespaces", "*");
  unless_set("OPTUNE_APP_ID", "--optune-app-id", kLocalAppId);
  return out;
}

Task<Result<void>> register_webhook(std::shared_ptr<kube::Client> client, std::string url) {
  PLIM_CO_TRY(WebhookObjects objects, shipped_objects());
  PLIM_CO_TRY(json::value slice, slice_of(objects.service, url));
  PLIM_CO_CHECK(co_await apply_unless_changed(client, kube::resources::services, objects.service));
  // Only `up` writes this slice, and the port may have changed.
  kube::ObjectPath path = path_of(slice);
  kube::WriteOptions options = as_up();
  options.force = true;
  PLIM_CO_CHECK(co_await client->patch(kSlices, std::move(path), kube::PatchType::apply,
                                       std::move(slice), options));
  PLIM_CO_CHECK(co_await apply_unless_changed(
      client, kube::resources::mutating_webhook_configurations, objects.jobs));
  co_return co_await apply_unless_changed(client, kube::resources::mutating_webhook_configurations,
                                          objects.pools);
}

Task<Result<void>> withdraw_webhook(std::shared_ptr<kube::Client> client) {
  PLIM_CO_TRY(WebhookObjects objects, shipped_objects());
  kube::ObjectPath slice = path_of(objects.service);
  slice.name += "-up";
  PLIM_CO_CHECK(co_await remove_if_there(client, kSlices, std::move(slice)));
  PLIM_CO_CHECK(co_await remove_if_ours(client, objects.jobs));
  kube::ObjectPath service_path = path_of(objects.service);
  auto service = co_await client->get(kube::resources::services, service_path);
  if (service && kube::find(*service, "Service.spec.selector") != nullptr) co_return Result<void>();
  PLIM_CO_CHECK(co_await remove_if_ours(client, objects.pools));
  if (!service || !is_ours(*service)) co_return Result<void>();
  co_return co_await remove_if_there(client, kube::resources::services, std::move(service_path));
}

}  // namespace plim::roles
