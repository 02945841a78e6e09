// Controllers on an API in this process, and somebody who plays the nodes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "local/controllers/controllers.hpp"
#include "local/testing/api_fixture.hpp"

namespace plim::local::testing {

class ControllersTest : public ApiTest {
 protected:
  ~ControllersTest() override { stop(); }

  void start(std::string_view which = "all", ControllersOptions options = {}) {
    auto enabled = parse_controllers(which);
    PLIM_ASSERT(enabled);
    options.enabled = std::move(*enabled);
    controllers = std::make_unique<Controllers>(loop.executor(), client, clock, options);
    controllers->start();
    settle();
  }

  void stop() {
    if (controllers) run_to_end(loop, controllers->stop());
    controllers.reset();
  }

  // Until nothing moves without time passing; short retries are let through.
  void settle() {
    for (int i = 0; i < 20; ++i) {
      loop.run_ready();
      clock.advance(std::chrono::milliseconds(5));
    }
    loop.run_ready();
  }

  void pass(std::chrono::seconds time) {
    for (; time.count() > 0; --time) {
      clock.advance(std::chrono::seconds(1));
      settle();
    }
  }

  json::value create(const kube::Resource& kind, json::value object, std::string ns = "default") {
    kube::ObjectPath path;
    if (kind.namespaced) path.ns = std::move(ns);
    auto made = run(client->create(kind, path, std::move(object)));
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : json::value();
  }

  json::value get(const kube::Resource& kind, std::string name, std::string ns = "default") {
    kube::ObjectPath path{kind.namespaced ? std::move(ns) : "", std::move(name)};
    auto found = run(client->get(kind, path));
    return found ? *found : json::value();
  }

  std::vector<json::value> list(const kube::Resource& kind, std::string ns = "default") {
    kube::ListOptions options;
    if (kind.namespaced) options.ns = std::move(ns);
    auto found = run(client->list(kind, options));
    EXPECT_TRUE(found) << found.error().message;
    std::vector<json::value> out;
    if (found)
      for (const json::value& item : found->at("items").as_array()) out.push_back(item);
    return out;
  }

  void edit(const kube::Resource& kind, const std::string& name,
            const std::function<void(json::value&)>& change, std::string subresource = {},
            std::string ns = "default") {
    json::value object = get(kind, name, ns);
    ASSERT_TRUE(object.is_object()) << name;
    change(object);
    kube::ObjectPath path{kind.namespaced ? ns : "", name, std::move(subresource)};
    auto written = run(client->update(kind, path, std::move(object)));
    ASSERT_TRUE(written) << written.error().message;
  }

  void remove(const kube::Resource& kind, std::string name, std::string propagation = {},
              std::string ns = "default") {
    kube::DeleteOptions options;
    options.propagation = std::move(propagation);
    kube::ObjectPath path{kind.namespaced ? std::move(ns) : "", std::move(name)};
    auto removed = run(client->remove(kind, path, options));
    EXPECT_TRUE(removed) << removed.error().message;
  }

  // What a node would report of the pod.
  void set_phase(const std::string& pod, std::string_view phase, std::string ns = "default") {
    edit(
        kube::resources::pods, pod,
        [&](json::value& object) {
          const std::string now = format_rfc3339(clock.wall());
          json::object ready{{"type", "Ready"},
                             {"status", phase == "Running" ? "True" : "False"},
                             {"lastTransitionTime", now}};
          json::object& status = make_object(object, {"status"});
          status["phase"] = phase;
          status["conditions"] = json::array{ready};
          if (phase == "Running") return;
          json::object ended{{"exitCode", phase == "Failed" ? 1 : 0}, {"finishedAt", now}};
          json::object container{{"name", "c"},       {"image", "app:1"},
                                 {"imageID", ""},     {"ready", false},
                                 {"restartCount", 0}, {"state", {{"terminated", ended}}}};
          status["containerStatuses"] = json::array{container};
        },
        "status", std::move(ns));
  }

  // Every pod that waits runs and is ready.
  void run_pods(std::string ns = "default") {
    for (const json::value& pod : list(kube::resources::pods, ns))
      if (text_at(pod, {"status", "phase"}) == "Pending")
        set_phase(std::string(kube::name_of(pod)), "Running", ns);
    settle();
  }

  std::unique_ptr<Controllers> controllers;
};

inline json::value pod_template(std::string_view image = "app:1") {
  json::object container{{"name", "c"}, {"image", image}};
  return {{"metadata", {{"labels", {{"app", "web"}}}}},
          {"spec", {{"containers", json::array{container}}}}};
}

inline json::value deployment(std::string_view name, std::int64_t replicas,
                              std::string_view image = "app:1") {
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"replicas", replicas},
            {"selector", {{"matchLabels", {{"app", "web"}}}}},
            {"template", pod_template(image)}}}};
}

inline json::value job(std::string_view name, std::string_view spec) {
  json::value out{{"metadata", {{"name", name}}}, {"spec", parsed(spec)}};
  json::value pod = pod_template();
  make_object(pod, {"spec"})["restartPolicy"] = "Never";
  make_object(out, {"spec"})["template"] = std::move(pod);
  return out;
}

}  // namespace plim::local::testing
