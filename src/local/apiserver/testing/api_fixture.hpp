// A complete API in a test: a loop, a store in memory, the server and a client.
//
//   class MyTest : public ::plim::local::apiserver::testing::ApiTest {};
//   TEST_F(MyTest, makes_things) { auto pod = run(client->get(kube::resources::pods, {"ns", "a"}));
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/loop.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/store/store.hpp"

namespace plim::local::apiserver::testing {

json::value parsed(std::string_view text);

// For tests without a fixture class: ApiFixture api; api.run(api.client->…).
class ApiFixture {
 public:
  explicit ApiFixture(ApiOptions options = {});
  ~ApiFixture();
  ApiFixture(const ApiFixture&) = delete;
  ApiFixture& operator=(const ApiFixture&) = delete;

  template <class T>
  T run(Task<T> task) {
    return run_to_end(loop, std::move(task));
  }

  // Sends one HTTP request as the administrator.
  net::Response send(std::string method, std::string_view target, std::string body = {},
                     net::Headers headers = {});

  Loop loop;
  FakeClock clock;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<ApiServer> server;
  std::shared_ptr<kube::Client> client;
};

// The same as a base class of test suites.
class ApiTest : public ::testing::Test, public ApiFixture {};

// A pod that passes validation.
json::value simple_pod(std::string_view name, std::string_view ns = "default");

}  // namespace plim::local::apiserver::testing
