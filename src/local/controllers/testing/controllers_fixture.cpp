#include "local/controllers/testing/controllers_fixture.hpp"

namespace plim::local::controllers::testing {

ControllersTest::~ControllersTest() {
  stop();
}

void ControllersTest::start(std::string_view which, ControllersOptions options) {
  auto enabled = parse_controllers(which);
  PLIM_ASSERT(enabled);
  options.enabled = std::move(*enabled);
  controllers = std::make_unique<Controllers>(loop.executor(), client, clock, options);
  controllers->start();
  settle();
}

void ControllersTest::stop() {
  if (controllers) run_to_end(loop, controllers->stop());
  controllers.reset();
}

void ControllersTest::settle() {
  for (int i = 0; i < 20; ++i) {
    loop.run_ready();
    clock.advance(std::chrono::milliseconds(5));
  }
  loop.run_ready();
}

void ControllersTest::pass(std::chrono::seconds time) {
  for (; time.count() > 0; --time) {
    clock.advance(std::chrono::seconds(1));
    settle();
  }
}

json::value ControllersTest::create(const kube::Resource& kind, json::value object,
                                    std::string ns) {
  kube::ObjectPath path;
  if (kind.namespaced) path.ns = std::move(ns);
  auto made = run(client->create(kind, path, std::move(object)));
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : json::value();
}

json::value ControllersTest::get(const kube::Resource& kind, std::string name, std::string ns) {
  kube::ObjectPath path{kind.namespaced ? std::move(ns) : "", std::move(name)};
  auto found = run(client->get(kind, path));
  return found ? *found : json::value();
}

std::vector<json::value> ControllersTest::list(const kube::Resource& kind, std::string ns) {
  kube::ListOptions options;
  if (kind.namespaced) options.ns = std::move(ns);
  auto found = run(client->list(kind, options));
  EXPECT_TRUE(found) << found.error().message;
  std::vector<json::value> out;
  if (found)
    for (const json::value& item : found->at("items").as_array()) out.push_back(item);
  return out;
}

void ControllersTest::edit(const kube::Resource& kind, const std::string& name,
                           const std::function<void(json::value&)>& change, std::string subresource,
                           std::string ns) {
  json::value object = get(kind, name, ns);
  ASSERT_TRUE(object.is_object()) << name;
  change(object);
  kube::ObjectPath path{kind.namespaced ? ns : "", name, std::move(subresource)};
  auto written = run(client->update(kind, path, std::move(object)));
  ASSERT_TRUE(written) << written.error().message;
}

void ControllersTest::remove(const kube::Resource& kind, std::string name, std::string propagation,
                             std::string ns) {
  kube::DeleteOptions options;
  options.propagation = std::move(propagation);
  kube::ObjectPath path{kind.namespaced ? std::move(ns) : "", std::move(name)};
  auto removed = run(client->remove(kind, path, options));
  EXPECT_TRUE(removed) << removed.error().message;
}

void ControllersTest::set_phase(const std::string& pod, std::string_view phase, std::string ns) {
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

void ControllersTest::run_pods(std::string ns) {
  for (const json::value& pod : list(kube::resources::pods, ns))
    if (text_at(pod, {"status", "phase"}) == "Pending")
      set_phase(std::string(kube::name_of(pod)), "Running", ns);
  settle();
}

kube::OwnerReference reference_to(const kube::Resource& kind, const json::value& owner) {
  return {.api_version = kube::api_version(kind),
          .kind = kind.kind,
          .name = std::string(kube::name_of(owner)),
          .uid = std::string(kube::uid_of(owner))};
}

json::value pod_template(std::string_view image) {
  json::object container{{"name", "c"}, {"image", image}};
  return {{"metadata", {{"labels", {{"app", "web"}}}}},
          {"spec", {{"containers", json::array{container}}}}};
}

json::value deployment(std::string_view name, std::int64_t replicas, std::string_view image) {
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"replicas", replicas},
            {"selector", {{"matchLabels", {{"app", "web"}}}}},
            {"template", pod_template(image)}}}};
}

json::value job(std::string_view name, std::string_view spec) {
  json::value out{{"metadata", {{"name", name}}}, {"spec", apiserver::testing::parsed(spec)}};
  json::value pod = pod_template();
  make_object(pod, {"spec"})["restartPolicy"] = "Never";
  make_object(out, {"spec"})["template"] = std::move(pod);
  return out;
}

}  // namespace plim::local::controllers::testing
