#include "local/controllers/served_kinds.hpp"

#include <algorithm>

#include "kube/paths.hpp"
#include "kube/status.hpp"
#include "net/http.hpp"

namespace plim::local::controllers {
namespace {

Task<Result<json::value>> read(std::shared_ptr<kube::Client> client, std::string path) {
  net::Request request;
  request.path = path;
  request.headers.set("Accept", "application/json");
  PLIM_CO_TRY(net::Response answer, co_await client->raw(std::move(request)));
  if (answer.status != 200)
    co_return kube::error_from_answer(answer.status, answer.headers, answer.body)
        .with_context(path);
  co_return parse_json(answer.body, path);
}

void append(std::vector<ServedKind>& out, const json::value& list, std::string_view group,
            std::string_view version) {
  for (const json::value& item : kube::list_at(list, "APIResourceList.resources")) {
    const std::string_view plural = kube::text_at(item, "APIResource.name");
    if (plural.empty() || plural.find('/') != plural.npos) continue;
    ServedKind kind;
    kind.resource = {.group = std::string(group),
                     .version = std::string(version),
                     .plural = std::string(plural),
                     .kind = std::string(kube::text_at(item, "APIResource.kind")),
                     .namespaced = kube::bool_at(item, "APIResource.namespaced")};
    kind.verbs = kube::texts_at(item, "APIResource.verbs");
    out.push_back(std::move(kind));
  }
}

}  // namespace

bool ServedKind::can(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

Task<Result<std::vector<ServedKind>>> discover_kinds(std::shared_ptr<kube::Client> client) {
  std::vector<ServedKind> out;
  PLIM_CO_TRY(json::value core, co_await read(client, "/api/v1"));
  append(out, core, "", "v1");
  PLIM_CO_TRY(json::value groups, co_await read(client, "/apis"));
  for (const json::value& group : kube::list_at(groups, "APIGroupList.groups")) {
    const std::string name(kube::text_at(group, "APIGroup.name"));
    const std::string version(kube::text_at(group, "APIGroup.preferredVersion.version"));
    auto kinds = co_await read(client, "/apis/" + name + "/" + version);
    // If the server of one group is unavailable, the others are still returned.
    if (kinds) append(out, *kinds, name, version);
  }
  co_return out;
}

}  // namespace plim::local::controllers
