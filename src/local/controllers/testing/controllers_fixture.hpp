// Controllers on an API server in this process; the test plays the nodes.
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

  // Runs until nothing is left to do without time passing; allows short retries.
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

  // Writes the status that a node would report for the pod.
  void set_phase(const std::string& pod, std::string_view phase, std::string ns = "default");

  // Makes every waiting pod running and ready.
  void run_pods(std::string ns = "default");

  std::unique_ptr<Controllers> controllers;
};

// An owner reference to an object that the server has created.
kube::OwnerReference reference_to(const kube::Resource& kind, const json::value& owner);

json::value pod_template(std::string_view image = "app:1");
json::value deployment(std::string_view name, std::int64_t replicas,
                       std::string_view image = "app:1");
json::value job(std::string_view name, std::string_view spec);

}  // namespace plim::local::controllers::testing
