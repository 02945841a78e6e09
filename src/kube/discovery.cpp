#include "kube/discovery.hpp"

#include <fmt/format.h>

#include "kube/paths.hpp"
#include "kube/status.hpp"
#include "net/http.hpp"

namespace plim::kube {
namespace {

std::vector<Resource> read_resources(const json::value& list, const std::string& group,
                                     const std::string& version) {
  std::vector<Resource> out;
  for (const json::value& item : list_at(list, "APIResourceList.resources")) {
    const std::string_view plural = text_at(item, "APIResource.name");
    if (plural.empty() || plural.find('/') != plural.npos) continue;
    Resource resource{.group = group, .version = version, .plural = {}, .kind = {}};
    resource.plural = plural;
    resource.kind = text_at(item, "APIResource.kind");
    resource.namespaced = bool_at(item, "APIResource.namespaced");
    out.push_back(std::move(resource));
  }
  return out;
}

}  // namespace

Task<Result<std::vector<Resource>>> discover(std::shared_ptr<Client> client, std::string group,
                                             std::string version) {
  net::Request request;
  request.path = group.empty() ? "/api/" : "/apis/" + net::percent_encode(group) + '/';
  request.path += net::percent_encode(version);
  request.headers.set("Accept", "application/json");
  const std::string what = fmt::format("resources of {}", request.path);
  PLIM_CO_TRY(net::Response answer, co_await client->raw(std::move(request)));
  if (answer.status != 200)
    co_return error_from_answer(answer.status, answer.headers, answer.body).with_context(what);
  PLIM_CO_TRY(const json::value list, parse_json(answer.body, what));
  co_return read_resources(list, group, version);
}

}  // namespace plim::kube
