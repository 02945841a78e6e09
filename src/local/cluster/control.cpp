#include "local/cluster/control.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/cluster/cluster.hpp"

namespace plim::local::cluster {
namespace {

using namespace std::chrono_literals;
using Names = ClusterNodes::Names;

json::value answer_with(const Names& names) {
  json::array nodes;
  for (const std::string& name : names) nodes.emplace_back(name);
  return json::object{{"nodes", std::move(nodes)}};
}

net::Response response_of(const Result<json::value>& answer) {
  net::Response out{.status = 200, .headers = {{"Content-Type", "application/json"}}};
  if (answer) {
    out.body = to_json(*answer);
    return out;
  }
  // The same form as the API's errors, so that commands have to parse only one.
  const Error& error = answer.error();
  out.status = http_status(error.code);
  out.body = to_json(json::object{{"kind", "Status"},
                                  {"apiVersion", "v1"},
                                  {"status", "Failure"},
                                  {"message", error.message},
                                  {"reason", reason(error.code)},
                                  {"code", out.status}});
  return out;
}

Error unknown(std::string_view path) {
  return fail(Code::not_found, fmt::format("the cluster has no endpoint {}", quote(path)));
}

}  // namespace

Result<std::unique_ptr<Control>> Control::listen(const Executor& loop, std::string socket,
                                                 Cluster& cluster) {
  std::unique_ptr<Control> out(new Control(cluster));
  net::ServerOptions options;
  options.address = "unix://" + socket;
  net::Route everything{.method = "*", .pattern = "*"};
  everything.handler = [control = out.get()](net::Request request) {
    return control->handle(std::move(request));
  };
  everything.options.handler_timeout = 10min;  // stopping pods and loading images take long
  PLIM_TRY(out->server_, net::Server::listen({loop}, std::move(options), {everything}));
  return out;
}

Task<void> Control::stop() {
  return server_->drain(1s);
}

Task<net::Reply> Control::handle(net::Request request) {
  auto answered = co_await answer(std::move(request.path), std::move(request.body));
  co_return response_of(answered);
}

Task<Result<json::value>> Control::answer(std::string path, std::string body) {
  if (path == "/v1/status") co_return co_await cluster_.status();
  if (path == "/v1/nodes") co_return cluster_.nodes().list();
  PLIM_CO_TRY(json::value value, parse_json(body.empty() ? "{}" : body, "request"));
  constexpr std::string_view kNodes = "/v1/nodes/", kImages = "/v1/images/";
  if (path.starts_with(kNodes))
    co_return co_await change_nodes(path.substr(kNodes.size()), std::move(value));
  if (path.starts_with(kImages))
    co_return co_await change_images(path.substr(kImages.size()), std::move(value));
  co_return unknown(path);
}

Task<Result<json::value>> Control::change_nodes(std::string verb, json::value body) {
  ClusterNodes& nodes = cluster_.nodes();
  Names names = texts_at(body, {"names"});
  Result<Names> done = unknown(verb);
  if (verb == "add") {
    int count = static_cast<int>(int_at(body, {"count"}).value_or(1));
    done = co_await nodes.add(std::move(names), count);
  } else if (verb == "rm") {
    done = co_await nodes.remove(std::move(names));
  } else if (verb == "stop") {
    done = co_await nodes.power_off(std::move(names));
  } else if (verb == "start") {
    done = co_await nodes.power_on(std::move(names));
  }
  if (!done) co_return done.error();
  co_return answer_with(*done);
}

Task<Result<json::value>> Control::change_images(std::string verb, json::value body) {
  using Verb = ClusterNodes::ImageChange;
  std::optional<Verb> change;
  if (verb == "load") change = Verb::load;
  if (verb == "rm") change = Verb::remove;
  if (verb == "pull") change = Verb::pull;
  if (!change) co_return unknown(verb);
  std::string image(text_at(body, {"image"}));
  Names names = texts_at(body, {"nodes"});
  PLIM_CO_TRY(Names done, co_await cluster_.nodes().change_image(*change, image, std::move(names)));
  json::value out = answer_with(done);
  out.as_object()["image"] = images::normalise_image(image);
  co_return out;
}

}  // namespace plim::local::cluster
