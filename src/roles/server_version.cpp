#include "roles/server_version.hpp"

#include <charconv>

#include <fmt/format.h>

#include "kube/status.hpp"

namespace plim::roles {
namespace {

// Some providers report the minor version as "34+".
int leading_number(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

Task<Result<ServerVersion>> server_version(std::shared_ptr<kube::Client> client,
                                           std::chrono::milliseconds timeout) {
  net::Request request{.path = "/version", .query = {}};
  net::CallOptions options{.timeout = timeout};
  PLIM_CO_TRY(net::Response answer, co_await client->raw(std::move(request), options));
  if (answer.status != 200)
    co_return kube::error_from_answer(answer.status, answer.headers, answer.body);
  PLIM_CO_TRY(json::value body, parse_json(answer.body, "/version"));
  ServerVersion out{.text = std::string(text_at(body, {"gitVersion"})),
                    .major = leading_number(text_at(body, {"major"})),
                    .minor = leading_number(text_at(body, {"minor"}))};
  if (out.text.empty())
    co_return fail(Code::unknown,
                   fmt::format("{} is not a Kubernetes API server", client->config().server));
  co_return out;
}

}  // namespace plim::roles
