#include "local/apiserver/api/plain.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/metrics.hpp"
#include "base/text.hpp"
#include "kube/reference_version.hpp"
#include "local/apiserver/api/api_discovery.hpp"
#include "local/apiserver/api/negotiation.hpp"
#include "local/apiserver/api/openapi.hpp"
#include "local/apiserver/api/path.hpp"
#include "local/apiserver/api/query.hpp"
#include "net/x509.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kJson = "application/json";
constexpr std::array kChecks{"ping", "store", "informer-sync"};

net::Response answer(int status, std::string_view type, std::string body) {
  net::Response out{.status = status, .body = std::move(body)};
  out.headers.set("Content-Type", std::string(type));
  return out;
}

net::Response page_not_found() {
  return answer(404, kText, "404 page not found\n");
}

bool is_health(std::string_view name) {
  return name == "healthz" || name == "livez" || name == "readyz";
}

net::Response health(const std::vector<std::string>& path, const Query& query) {
  if (path.size() > 2) return page_not_found();
  if (path.size() == 2) {
    const bool known = std::ranges::find(kChecks, path[1]) != kChecks.end();
    return known ? answer(200, kText, "ok") : page_not_found();
  }
  if (!query.has("verbose")) return answer(200, kText, "ok");
  std::string out;
  for (std::string_view check : kChecks) out += fmt::format("[+]{} ok\n", check);
  out += fmt::format("{} check passed\n", path[0]);
  return answer(200, kText, std::move(out));
}

json::value version() {
  return {{"major", kube::kReferenceMajor},
          {"minor", kube::kReferenceMinor},
          {"gitVersion", fmt::format("{}+plimsoll.{}", kube::kReferenceVersion, PLIM_VERSION)},
          {"gitCommit", ""},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"},
          {"compiler", "c++"},
          {"platform", "linux/amd64"}};
}

std::string metrics_text(const store::Store& store) {
  const store::StoreStats stats = store.stats();
  metrics::Exposition out;
  using metrics::Type;
  auto gauge = [&](std::string_view name, std::string_view help, double value) {
    out.family(name, help, Type::gauge).sample(value);
  };
  gauge("plimsoll_store_revision", "Newest revision of the store",
        static_cast<double>(stats.revision));
  gauge("plimsoll_store_objects", "Objects in the store", static_cast<double>(stats.entries));
  gauge("plimsoll_store_live_bytes", "Bytes of all objects", static_cast<double>(stats.live_bytes));
  gauge("plimsoll_store_watchers", "Open watches", static_cast<double>(stats.watchers));
  return out.text() + metrics::default_registry().expose();
}

}  // namespace

bool is_public_path(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  if (path == "/version") return true;
  return std::ranges::any_of(
      std::array{"/healthz", "/livez", "/readyz"}, [&](std::string_view one) {
        return path == one || (path.starts_with(one) && path[one.size()] == '/');
      });
}

template <class Make>
net::Response PlainPaths::document(const net::Request& request, const std::string& name,
                                   std::string content_type, Make make) {
  if (made_for_ != core_.kinds.version()) documents_.clear();
  made_for_ = core_.kinds.version();
  auto [place, is_new] = documents_.try_emplace(name);
  Document& made = place->second;
  if (is_new) {
    made.body = make();
    made.etag = fmt::format("\"{}\"", net::sha256_hex(made.body));
  }
  net::Response out{.status = 200};
  out.headers.set("ETag", made.etag);
  out.headers.set("Vary", "Accept");
  if (request.headers.get("If-None-Match") == made.etag) {
    out.status = 304;
    return out;
  }
  out.headers.set("Content-Type", std::move(content_type));
  out.body = made.body;
  return out;
}

ApiResult<net::Response> PlainPaths::handle(const net::Request& request) {
  PLIM_TRY(std::vector<std::string> path, split_path(request.path));
  if (request.method != "GET" && request.method != "HEAD") {
    // An unknown path is 404 for every method.
    const bool is_served =
        path.size() < 3 || path[0] != "apis" || core_.kinds.has_group_version(path[1], path[2]);
    if (!is_served) return page_not_found();
    return method_not_allowed();
  }
  if (path.empty()) {
    const json::array paths{"/api",        "/apis",       "/healthz", "/livez",  "/metrics",
                            "/openapi/v2", "/openapi/v3", "/readyz",  "/version"};
    return answer(200, kJson, to_json(json::object{{"paths", paths}}));
  }
  if (is_health(path[0])) return health(path, Query(request.query));
  if (path[0] == "version" && path.size() == 1) return answer(200, kJson, to_json(version()));
  if (path[0] == "metrics" && path.size() == 1)
    return answer(200, metrics::kContentType, metrics_text(core_.store));
  if (path[0] == "openapi") return openapi(request, path);
  if (path[0] == "api" || path[0] == "apis") return discovery(request, path);
  return page_not_found();
}

ApiResult<net::Response> PlainPaths::discovery(const net::Request& request,
                                               const std::vector<std::string>& path) {
  const Kinds& kinds = core_.kinds;
  const bool core = path[0] == "api";
  if (path.size() == 1) {
    PLIM_TRY(std::string form, negotiate_discovery(request.headers.get("Accept")));
    if (form.empty())
      return document(request, path[0], std::string(kJson),
                      [&] { return to_json(core ? api_versions() : group_list(kinds)); });
    return document(
        request, path[0] + form,
        fmt::format("{};g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList", kJson, form),
        [&] { return to_json(aggregated_discovery(kinds, core, form)); });
  }
  const std::string name = core ? "" : path[1];
  const std::size_t version_at = core ? 1 : 2;
  if (path.size() == 2 && !core) {
    auto found = group(kinds, name);
    if (!found) return page_not_found();
    return document(request, request.path, std::string(kJson), [&] { return to_json(*found); });
  }
  if (path.size() != version_at + 1 || !kinds.has_group_version(name, path[version_at]))
    return page_not_found();
  return document(request, request.path, std::string(kJson),
                  [&] { return to_json(resource_list(kinds, name, path[version_at])); });
}

ApiResult<net::Response> PlainPaths::openapi(const net::Request& request,
                                             const std::vector<std::string>& path) {
  const Kinds& kinds = core_.kinds;
  if (path.size() == 2 && path[1] == "v2")
    return document(request, "openapi/v2", std::string(kOpenapiV2Type),
                    [&] { return openapi_v2(kinds); });
  if (path.size() < 2 || path[1] != "v3") return page_not_found();
  if (path.size() == 2)
    return document(request, "openapi/v3", std::string(kJson),
                    [&] { return to_json(openapi_v3_index(kinds)); });
  std::string group_version;
  for (std::size_t i = 2; i < path.size(); ++i) group_version += (i == 2 ? "" : "/") + path[i];
  if (!has_openapi(kinds, group_version)) return page_not_found();
  return document(request, "openapi/v3/" + group_version, std::string(kJson),
                  [&] { return to_json(*openapi_v3(kinds, group_version)); });
}

}  // namespace plim::local::apiserver
