// Controllers on an API in this process, and somebody who plays the nodes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/rfc3339.hpp"
#include "local/apiserver/testing/api_fixture.hpp"
#include "local/controllers/controllers.hpp"

namespace plim::local::controllers::testing {

class ControllersTest : public apiserver::testing::ApiTest {
 protected:
  ~ControllersTest() override;

  void start(std::string_view which = "all", ControllersOptions options = {});

  void stop();

  // Until nothing moves without time passing; short retries are let through.
  void settle();

  void pass(std::chrono::seconds time);

  json::value create(const kube::Resource& kind, json::value object, std::string ns = "default");

  json::value get(const kube::Resource& kind, std::string name, std::string ns = "default");

  std::vector<json::value> list(const kube::Resource& kind, std::string ns = "default");

  void edit(const kube::Resource& kind, const std::string& name,
            const std::function<void(json::value&)>& change, std::string subresource = {},
            std::string ns = "default");

  void remove(const kube::Resource& kind, std::string name, std::string propagation = {},
              std::string ns = "default");

  // What a node would report of the pod.
  void set_phase(const std::string& pod, std::string_view phase, std::string ns = "default");

  // Every pod that waits runs and is ready.
  void run_pods(std::string ns = "default");

  std::unique_ptr<Controllers> controllers;
};

// To hold to an object that the server has given a uid.
kube::OwnerReference reference_to(const kube::Resource& kind, const json::value& owner);

json::value pod_template(std::string_view image = "app:1");
json::value deployment(std::string_view name, std::int64_t replicas,
                       std::string_view image = "app:1");
json::value job(std::string_view name, std::string_view spec);

}  // namespace plim::local::controllers::testing
