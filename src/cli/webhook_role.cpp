#include "cli/webhook_role.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/manifests.hpp"
#include "net/url.hpp"

namespace plim::cli {
namespace {

constexpr int kWebhookPort = 7444;
constexpr const char* kPoolMaps =
    ",configmap:kube-system/cpu-dp-configmap,configmap:kube-system/cpu-pooler-configmap";
constexpr std::string_view kMadeBy = "app.kubernetes.io/managed-by", kUp = "plimsoll-up";

const kube::Resource kSlices{.group = "discovery.k8s.io",
                             .version = "v1",
                             .plural = "endpointslices",
                             .kind = "EndpointSlice"};

struct WebhookObjects {
  json::value service, configuration;
};

// As they are shipped, but that no pods are behind the Service.
Result<WebhookObjects> shipped_objects() {
  PLIM_TRY(std::vector<json::value> all, manifests_of("pools", {}));
  WebhookObjects out;
  for (json::value& object : all) {
    const std::string_view kind = text_at(object, {"kind"});
    if (kind == "MutatingWebhookConfiguration")
      out.configuration = std::move(object);
    else if (kind == "Service")
      out.service = std::move(object);
  }
  if (!out.service.is_object() || !out.configuration.is_object())
    return fail(Code::internal, "deploy/pools has no webhook");
  make_object(out.service, {"spec"}).erase("selector");
  for (json::value* object : {&out.service, &out.configuration})
    make_object(*object, {"metadata", "labels"})[kMadeBy] = kUp;
  return out;
}

std::string name_in(const json::value& object) {
  return std::string(text_at(object, {"metadata", "name"}));
}

kube::ObjectPath path_of(const json::value& object) {
  return {.ns = std::string(text_at(object, {"metadata", "namespace"})), .name = name_in(object)};
}

Result<json::value> slice_of(const json::value& service, const std::string& url) {
  PLIM_TRY(const net::Url place, net::parse_url(url));
  const kube::ObjectPath path = path_of(service);
  const json::value* ports = find(service, {"spec", "ports"});
  if (ports == nullptr || !ports->is_array() || ports->get_array().empty())
    return fail(Code::internal, "the webhook's Service has no port");
  json::value labels = json::object{{"kubernetes.io/service-name", path.name},
                                    {"endpointslice.kubernetes.io/managed-by", kUp}};
  json::value port = json::object{{"name", text_at(ports->get_array()[0], {"name"})},
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

// Where somebody has changed what we set, it stays as they want it.
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

// Beside our own program; where an operator has put it, if it is not there.
std::string starter_path() {
  std::error_code ignored;
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "plimsoll-starter";
  return std::filesystem::exists(beside, ignored) ? beside.string() : "/opt/bin/process-starter";
}

}  // namespace

Result<RoleLaunch> launch_webhook(const RolePlace& place) {
  const std::string listen = place.free_address("127.0.0.1", kWebhookPort);
  const std::string directory = place.directories.state + "/pools";
  PLIM_CHECK(make_directories(directory, 0700));
  std::string places = directory + kPoolMaps;
  // Both roles read the same files.
  if (const char* set = std::getenv("PLIMSOLL_POOLS_AGENT_POOLCONFIGS"); set && *set != '\0')
    places = set;
  RoleLaunch out{
      .words = {"webhook", "--self-signed", "--kubeconfig", place.kubeconfig, "--listen", listen},
      .url = "https://" + listen};
  const auto unless_set = [&](const char* variable, std::string flag, std::string value) {
    const char* set = std::getenv(variable);
    if (set != nullptr && *set != '\0') return;
    out.words.push_back(std::move(flag));
    out.words.push_back(std::move(value));
  };
  unless_set("PLIMSOLL_WEBHOOK_POOLCONFIGS", "--poolconfigs", places);
  unless_set("PLIMSOLL_WEBHOOK_PROCESS_STARTER_PATH", "--process-starter-path", starter_path());
  return out;
}

Task<Result<void>> register_webhook(std::shared_ptr<kube::Client> client, std::string url) {
  PLIM_CO_TRY(WebhookObjects objects, shipped_objects());
  PLIM_CO_TRY(json::value slice, slice_of(objects.service, url));
  PLIM_CO_CHECK(co_await apply_unless_changed(client, kube::resources::services, objects.service));
  // Ours alone, and the port may be another one than before.
  kube::ObjectPath path = path_of(slice);
  kube::WriteOptions options = as_up();
  options.force = true;
  PLIM_CO_CHECK(co_await client->patch(kSlices, std::move(path), kube::PatchType::apply,
                                       std::move(slice), options));
  co_return co_await apply_unless_changed(client, kube::resources::mutating_webhook_configurations,
                                          objects.configuration);
}

Task<Result<void>> withdraw_webhook(std::shared_ptr<kube::Client> client) {
  PLIM_CO_TRY(WebhookObjects objects, shipped_objects());
  kube::ObjectPath slice = path_of(objects.service);
  slice.name += "-up";
  PLIM_CO_CHECK(co_await remove_if_there(client, kSlices, std::move(slice)));
  kube::ObjectPath service_path = path_of(objects.service);
  auto service = co_await client->get(kube::resources::services, service_path);
  if (service && find(*service, {"spec", "selector"}) != nullptr) co_return Result<void>();
  kube::ObjectPath path = path_of(objects.configuration);
  auto configuration = co_await client->get(kube::resources::mutating_webhook_configurations, path);
  const auto is_ours = [](const Result<json::value>& object) {
    return object && text_at(*object, {"metadata", "labels", kMadeBy}) == kUp;
  };
  if (is_ours(configuration)) {
    PLIM_CO_CHECK(co_await remove_if_there(client, kube::resources::mutating_webhook_configurations,
                                           std::move(path)));
  }
  if (!is_ours(service)) co_return Result<void>();
  co_return co_await remove_if_there(client, kube::resources::services, std::move(service_path));
}

}  // namespace plim::cli
