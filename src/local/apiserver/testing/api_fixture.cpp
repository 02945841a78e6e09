#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {

json::value parsed(std::string_view text) {
  auto out = parse_json(text, "test");
  PLIM_ASSERT(out);
  return std::move(*out);
}

ApiFixture::ApiFixture(ApiOptions options) {
  store::StoreOptions store_options;
  store_options.durability = Durability::none;
  store_options.history = {.min_events = 1'000};
  auto opened = store::Store::open(loop.executor(), clock, store_options);
  PLIM_ASSERT(opened);
  store = std::move(*opened);
  auto made = ApiServer::create(loop.executor(), clock, *store, std::move(options));
  PLIM_ASSERT(made);
  server = std::move(*made);
  PLIM_ASSERT(run_to_end(loop, server->start()));
  client = server->client({.name = "admin", .groups = {"system:masters"}});
}

ApiFixture::~ApiFixture() {
  run_to_end(loop, server->stop());
  client.reset();
  server.reset();
  store.reset();
}

net::Response ApiFixture::send(std::string method, std::string_view target, std::string body,
                               net::Headers headers) {
  net::Request request;
  request.method = std::move(method);
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != target.npos) request.query = target.substr(question + 1);
  request.headers = std::move(headers);
  request.body = std::move(body);
  request.peer.certificate_user = "admin";
  request.peer.certificate_groups = {"system:masters"};
  net::Reply reply = run(server->handle(std::move(request)));
  auto* response = std::get_if<net::Response>(&reply);
  PLIM_ASSERT(response);
  return std::move(*response);
}

json::value simple_pod(std::string_view name, std::string_view ns) {
  return json::value{
      {"metadata", {{"name", name}, {"namespace", ns}}},
      {"spec", {{"containers", json::array{json::value{{"name", "c"}, {"image", "app:1"}}}}}}};
}

}  // namespace plim::local::apiserver::testing
