// A whole API in a test: a loop, a store in memory, the server and a client of it.
//
//   class MyTest : public ::plim::local::testing::ApiTest {};
//   TEST_F(MyTest, makes_things) { auto pod = run(client->get(kube::resources::pods, {"ns", "a"}));
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/loop.hpp"
#include "local/api/server.hpp"
#include "local/store/store.hpp"

namespace plim::local::testing {

inline json::value parsed(std::string_view text) {
  auto out = parse_json(text, "test");
  PLIM_ASSERT(out);
  return std::move(*out);
}

// For tests that are no fixtures: ApiFixture api; api.run(api.client->…).
class ApiFixture {
 public:
  explicit ApiFixture(ApiOptions options = {}) {
    StoreOptions store_options;
    store_options.durability = Durability::none;
    store_options.history = {.min_events = 1'000};
    auto opened = Store::open(loop.executor(), clock, store_options);
    PLIM_ASSERT(opened);
    store = std::move(*opened);
    auto made = ApiServer::create(loop.executor(), clock, *store, std::move(options));
    PLIM_ASSERT(made);
    server = std::move(*made);
    PLIM_ASSERT(run_to_end(loop, server->start()));
    client = server->client({.name = "admin", .groups = {"system:masters"}});
  }

  ~ApiFixture() {
    run_to_end(loop, server->stop());
    client.reset();
    server.reset();
    store.reset();
  }

  ApiFixture(const ApiFixture&) = delete;
  ApiFixture& operator=(const ApiFixture&) = delete;

  template <class T>
  T run(Task<T> task) {
    return run_to_end(loop, std::move(task));
  }

  // One request over the HTTP face, as the administrator.
  net::Response send(std::string method, std::string_view target, std::string body = {},
                     net::Headers headers = {}) {
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

  Loop loop;
  FakeClock clock;
  std::unique_ptr<Store> store;
  std::unique_ptr<ApiServer> server;
  std::shared_ptr<kube::Client> client;
};

// The same as a base of test suites.
class ApiTest : public ::testing::Test, public ApiFixture {};

// A pod that passes validation.
inline json::value simple_pod(std::string_view name, std::string_view ns = "default") {
  return json::value{
      {"metadata", {{"name", name}, {"namespace", ns}}},
      {"spec", {{"containers", json::array{json::value{{"name", "c"}, {"image", "app:1"}}}}}}};
}

}  // namespace plim::local::testing
