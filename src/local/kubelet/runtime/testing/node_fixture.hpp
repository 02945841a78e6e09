// A node for tests: an API server in memory, stubs for images, cgroups and devices, and pods that
// are real processes.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/temp_dir.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/testing/api_fixture.hpp"
#include "local/kubelet/runtime/local_node.hpp"

namespace plim::local::kubelet::testing {

// Every image exists, except those with "missing" in their name. The stop signal of those with
// "sigint" in their name is SIGINT.
class StubImages final : public images::NodeImages {
 public:
  Task<Result<images::Pulled>> ensure(std::string name, images::PullPolicy policy,
                                      std::function<void()> started) override {
    if (name.find("missing") != name.npos) {
      if (policy == images::PullPolicy::never) co_return fail(Code::forbidden, "not there");
      started();
      co_return fail(Code::not_found, "no such image");
    }
    auto image = std::make_shared<images::Image>();
    image->name = images::normalise_image(name);
    image->digest = "sha256:0000";
    if (name.find("sigint") != name.npos) image->stop_signal = "SIGINT";
    if (name.find("signal-999") != name.npos) image->stop_signal = "999";
    co_return images::Pulled{.image = image, .was_present = true};
  }

  Result<void> load(std::string) override { return {}; }

  Result<void> remove(std::string) override { return {}; }

  std::vector<std::shared_ptr<const images::Image>> list() const override { return {}; }

  void on_change(std::function<void()>) override {}

  Task<std::uint64_t> changed_since(std::uint64_t seen) const override { co_return seen; }
};

class StubCgroups : public NodeCgroups {
 public:
  bool available() const override { return false; }

  std::string why_not() const override { return "a test"; }

  CgroupDriver driver() const override { return CgroupDriver::cgroupfs; }

  std::string root() const override { return "/test"; }

  Result<void> make_pod(const json::value&) override { return {}; }

  Result<void> make_container(const json::value&, std::string, std::string) override { return {}; }

  std::vector<std::string> procs_files(const json::value&, std::string) const override {
    return {};
  }

  std::optional<CgroupUsage> usage(const json::value&, std::string) const override {
    CgroupUsage out;
    out.oom_kills = oom_kills;
    return out;
  }

  std::vector<int> processes(const json::value&, std::string) const override { return {}; }

  void kill(const json::value&, std::string) override {}

  Result<void> remove_pod(const json::value&) override { return {}; }

  Result<void> remove_node() override { return {}; }

  std::uint64_t oom_kills = 0;
};

class StubDevices final : public NodeDevices {
 public:
  Task<Result<void>> allocate(json::value pod) override {
    if (refuse || holders.size() >= most) co_return fail(Code::unavailable, "no devices");
    holders.insert(std::string(kube::uid_of(pod)));
    co_return Result<void>();
  }

  Task<Result<DeviceGrants>> prepare(json::value, std::string) override {
    DeviceGrants grants;
    grants.env.emplace_back("DEVICE", "gpu-0");
    co_return grants;
  }

  void release(const std::string& uid) override { holders.erase(uid); }

  void keep_only(const std::vector<std::string>&) override {}

  std::vector<DeviceCount> counts() const override { return {}; }

  void on_change(std::function<void()>) override {}

  bool refuse = false;
  std::size_t most = 1000;  // pods that get devices
  std::set<std::string> holders;
};

// A summary of each status of a pod, one line per change.
inline std::string summary(const json::value& pod) {
  std::string out(kube::text_at(pod, "Pod.status.phase"));
  for (kube::ListPath list : {kube::ListPath("Pod.status.initContainerStatuses"),
                              kube::ListPath("Pod.status.containerStatuses")})
    for (const json::value& status : kube::list_at(pod, list)) {
      out += fmt::format(" {}:", kube::text_at(status, "ContainerStatus.name"));
      if (const std::string_view waits =
              kube::text_at(status, "ContainerStatus.state.waiting.reason");
          !waits.empty())
        out += waits;
      if (kube::find(status, "ContainerStatus.state.running") != nullptr)
        out += kube::bool_at(status, "ContainerStatus.ready") ? "Ready" : "Running";
      if (kube::find(status, "ContainerStatus.state.terminated") != nullptr)
        out += fmt::format(
            "{}({})", kube::text_at(status, "ContainerStatus.state.terminated.reason"),
            kube::int_at(status, "ContainerStatus.state.terminated.exitCode").value_or(-1));
      if (const auto restarts = kube::int_at(status, "ContainerStatus.restartCount");
          restarts && *restarts > 0)
        out += fmt::format("x{}", *restarts);
    }
  return out;
}

class NodeTest : public apiserver::testing::ApiTest {
 protected:
  NodeTest() {
    options.name = "n1";
    options.state_dir = dir.path();
    options.isolation = Isolation::none;
    options.milli_cpus = 4000;
    options.memory_bytes = std::int64_t{8} << 30;
  }

  // Not in the destructor: the node uses members of derived classes.
  void TearDown() override {
    if (!node) return;
    run_to_end(loop, node->end_pods(Shutdown::for_good));
    stop_node();
  }

  void start_node() {
    node = LocalNode::create(
        {loop.executor(), client, *node_clock, images, cgroups, devices, process_events}, options);
    auto started = run(node->start());
    ASSERT_TRUE(started) << started.error().message;
  }

  // Like a crash: the processes keep running, and nothing is written to the API.
  void stop_node() {
    run_to_end(loop, node->stop());
    node.reset();
  }

  // `spec` is JSON; the node's name is added.
  void create_pod(std::string name, std::string_view spec) {
    json::value pod{{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", {{"name", name}, {"namespace", "default"}}},
                    {"spec", apiserver::testing::parsed(spec)}};
    json::object& given = pod.at("spec").as_object();
    given["nodeName"] = options.name;
    // Controllers, which do not run here, would create accounts and their tokens.
    if (!given.contains("automountServiceAccountToken"))
      given["automountServiceAccountToken"] = false;
    auto made = run(client->create(kube::resources::pods, {"default", name}, std::move(pod)));
    ASSERT_TRUE(made) << made.error().message;
  }

  // One container that runs a script. $$ in a pod's command means $, so dollars are doubled.
  static std::string script(std::string text, std::string_view policy = "Never") {
    for (std::size_t at = 0; (at = text.find("$$", at)) != text.npos; at += 4)
      text.insert(at, "$$");
    const json::value words{"sh", "-c", text};
    return fmt::format(R"({{"restartPolicy":"{}","terminationGracePeriodSeconds":5,
        "containers":[{{"name":"c","image":"busybox","command":{}}}]}})",
                       policy, to_json(words));
  }

  using Condition = std::function<bool(const json::value&)>;

  // The summaries of all states of the pod up to the first that meets the condition.
  std::vector<std::string> follow(std::string name, Condition until) {
    return run_to_end(loop, follow_task(std::move(name), std::move(until)));
  }

  // Advances the clock until the pod shows the text. The processes it waits for need real time.
  void advance_until(const std::string& name, const std::string& text, Nanos step) {
    while (summary(get_pod(name)).find(text) == std::string::npos) {
      clock.advance(step);
      loop.run_ready();
      ::usleep(1000);
    }
  }

  static Condition phase(const std::string& wanted) {
    return [wanted](const json::value& pod) {
      return kube::text_at(pod, "Pod.status.phase") == wanted;
    };
  }

  static Condition shows(const std::string& text) {
    return [text](const json::value& pod) { return summary(pod).find(text) != std::string::npos; };
  }

  json::value get_pod(const std::string& name) {
    auto found = run(client->get(kube::resources::pods, {"default", name}));
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(json::value());
  }

  std::string log_of(const std::string& name, const std::string& container = "c",
                     LogOptions what = {}) {
    std::string out;
    auto read = run(node->read_log("default", name, container, what, [&](const std::string& text) {
      out += text;
      return true;
    }));
    EXPECT_TRUE(read) << read.error().message;
    return out;
  }

  ::plim::testing::TempDir dir;
  StubImages images;
  StubCgroups cgroups;
  StubDevices devices;
  NodeOptions options;
  Clock* node_clock = &clock;
  ProcessEvents* process_events = nullptr;
  std::unique_ptr<LocalNode> node;

 private:
  Task<std::vector<std::string>> follow_task(std::string name, Condition until) {
    std::vector<std::string> out;
    kube::ObjectPath path{"default", name};
    auto now = co_await client->get(kube::resources::pods, path);
    kube::WatchOptions options_of_watch;
    options_of_watch.ns = "default";
    options_of_watch.field_selector = "metadata.name=" + name;
    if (!now && now.error().code == Code::not_found) {
      out.push_back("gone");
      co_return out;
    }
    if (now) {
      out.push_back(summary(*now));
      if (until(*now)) co_return out;
      options_of_watch.resource_version = kube::text_at(*now, "Pod.metadata.resourceVersion");
    }
    auto watch = co_await client->watch(kube::resources::pods, std::move(options_of_watch));
    EXPECT_TRUE(watch);
    for (;;) {
      auto line = co_await (*watch)->next();
      if (!line || !*line) {
        ADD_FAILURE() << "the watch ended";
        co_return out;
      }
      const json::value event = apiserver::testing::parsed(**line);
      const json::value* object = find(event, {"object"});
      if (text_at(event, {"type"}) == "BOOKMARK") continue;
      if (text_at(event, {"type"}) == "DELETED") {
        out.push_back("gone");
        co_return out;
      }
      if (std::string text = summary(*object); out.empty() || out.back() != text)
        out.push_back(std::move(text));
      if (until(*object)) co_return out;
    }
  }
};

}  // namespace plim::local::kubelet::testing
