#include "local/kubelet/nodes/device_manager.hpp"

#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/event.hpp"
#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/kubelet/nodes/device_choice.hpp"
#include "local/kubelet/nodes/device_ledger.hpp"
#include "local/kubelet/nodes/pod_resources_service.hpp"
#include "net/rpc.hpp"
#include "node/device_messages.hpp"
#include "node/pod_resources.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kGpu = "example.com/gpu";

// A device plugin as a vendor would write it, on a socket of its own.
class Plugin {
 public:
  Plugin(const Executor& loop, const std::string& directory)
      : loop_(loop),
        directory_(directory),
        changed_(loop),
        server_(*net::RpcServer::listen(loop, directory + "/gpu.sock")),
        kubelet_(net::Channel::unix_socket(loop, directory + "/kubelet.sock")) {
    const std::string service = "/v1beta1.DevicePlugin/";
    server_->unary(service + "GetDevicePluginOptions", [this](net::RpcCall&, std::string) {
      return answer(node::encode_plugin_options(options));
    });
    server_->streaming(service + "ListAndWatch",
                       [this](net::RpcCall& call, std::string) { return list_and_watch(call); });
    server_->unary(service + "GetPreferredAllocation", [this](net::RpcCall&, std::string body) {
      asked = *node::decode_preferred_request(body);
      return answer(node::encode_preferred(preferred));
    });
    server_->unary(service + "Allocate",
                   [this](net::RpcCall&, std::string body) { return allocate(std::move(body)); });
    server_->unary(service + "PreStartContainer", [this](net::RpcCall&, std::string) {
      ++pre_starts;
      return answer("");
    });
  }

  Task<net::RpcStatus> register_as(PluginRegistration registration) {
    net::RpcReply reply = co_await kubelet_->call("/v1beta1.Registration/Register",
                                                  node::encode_registration(registration), 5s);
    co_return reply.status;
  }

  void set(std::vector<Device> devices) {
    devices_ = std::move(devices);
    changed_.notify();
  }

  Task<void> stop() { return server_->drain(0s); }

  PluginOptions options;
  PreferredRequest asked;
  DeviceIds preferred;
  std::vector<DeviceIds> allocated;
  bool refuses = false;
  int pre_starts = 0;

 private:
  static Task<net::RpcReply> answer(std::string body) {
    net::RpcReply reply{.body = std::move(body)};
    co_return reply;
  }

  Task<net::RpcStatus> list_and_watch(net::RpcCall& call) {
    for (;;) {
      const bool goes_on = co_await call.write(node::encode_devices(devices_));
      if (!goes_on) co_return net::RpcStatus();
      co_await changed_.wait();
    }
  }

  Task<net::RpcReply> allocate(std::string body) {
    if (refuses) {
      net::RpcReply refusal{.status = {net::RpcCode::internal, "out of order"}};
      co_return refusal;
    }
    allocated.push_back(*node::decode_allocate_request(body));
    DeviceGrants grants;
    std::string names;
    for (const std::string& id : allocated.back()) names += (names.empty() ? "" : ",") + id;
    grants.env = {{"GPUS", names}};
    grants.mounts = {{"/in", "/out", true}};
    grants.devices = {{"/dev/a", "/dev/b", "rw"}};
    grants.cdi_devices = {"v/gpu=0"};
    net::RpcReply reply{.body = node::encode_allocate(grants)};
    co_return reply;
  }

  Executor loop_;
  std::string directory_;
  Event changed_;
  std::unique_ptr<net::RpcServer> server_;
  std::shared_ptr<net::Channel> kubelet_;
  std::vector<Device> devices_ = {{.id = "g0", .healthy = true, .numa_nodes = {0}},
                                  {.id = "g1", .healthy = true, .numa_nodes = {1}},
                                  {.id = "g2", .healthy = true}};
};

json::value pod_with(std::string_view uid, int gpus, int init_gpus = 0) {
  auto container = [](std::string_view name, int count) {
    return json::object{
        {"name", name},
        {"resources", json::object{{"limits", json::object{{kGpu, std::to_string(count)}}}}}};
  };
  json::object spec{{"containers", json::array{container("c", gpus)}}};
  if (init_gpus > 0) spec["initContainers"] = json::array{container("i", init_gpus)};
  return json::object{{"metadata", json::object{{"uid", uid}, {"name", uid}, {"namespace", "ns"}}},
                      {"spec", std::move(spec)}};
}

class DeviceManagerTest : public ::testing::Test {
 protected:
  DeviceManagerTest() { start(); }

  ~DeviceManagerTest() override {
    if (plugin_) run_to_end(loop_, plugin_->stop());
    run_to_end(loop_, manager_->stop());
  }

  void start() {
    DeviceManagerOptions options{.kubelet_dir = dir_.path()};
    options.pods = [this] { return pods_; };
    auto started = DeviceManager::start(loop_.executor(), clock_, std::move(options));
    ASSERT_TRUE(started) << started.error().message;
    manager_ = std::move(*started);
    manager_->on_change([this] { changed_.notify(); });
  }

  void start_plugin() {
    plugin_ = std::make_unique<Plugin>(loop_.executor(), dir_ / "device-plugins");
  }

  net::RpcStatus register_plugin(std::string resource = std::string(kGpu),
                                 std::string version = "v1beta1",
                                 std::string endpoint = "gpu.sock") {
    PluginRegistration registration{
        std::move(version), std::move(endpoint), std::move(resource), {}};
    return run_to_end(loop_, plugin_->register_as(std::move(registration)));
  }

  Task<void> counts_become(std::int64_t capacity, std::int64_t allocatable) {
    for (;;) {
      const auto counts = manager_->counts();
      if (!counts.empty() && counts[0].capacity == capacity && counts[0].allocatable == allocatable)
        co_return;
      co_await changed_.wait();
    }
  }

  void ready() {
    start_plugin();
    ASSERT_TRUE(register_plugin().ok());
    run_to_end(loop_, counts_become(3, 3));
  }

  Result<void> allocate(const json::value& pod) {
    return run_to_end(loop_, manager_->allocate(pod));
  }

  std::string gpus_of(const json::value& pod, std::string container = "c") {
    auto grants = run_to_end(loop_, manager_->prepare(pod, std::move(container)));
    if (!grants) return grants.error().message;
    return grants->env.empty() ? "" : grants->env[0].second;
  }

  std::string ask(std::string method, std::string request) {
    auto channel = net::Channel::unix_socket(loop_.executor(), dir_ / "pod-resources/kubelet.sock");
    auto reply = run_to_end(loop_, channel->call("/v1.PodResourcesLister/" + std::move(method),
                                                 std::move(request), 5s));
    EXPECT_TRUE(reply.status.ok()) << reply.status.message;
    return reply.body;
  }

  plim::testing::TempDir dir_;
  Loop loop_;
  FakeClock clock_;
  Event changed_{loop_.executor()};
  std::vector<json::value> pods_;
  std::unique_ptr<DeviceManager> manager_;
  std::unique_ptr<Plugin> plugin_;
};

TEST_F(DeviceManagerTest, takes_a_plugin_in_and_counts_its_devices) {
  ready();
  EXPECT_EQ(manager_->counts()[0].resource, kGpu);
  plugin_->set({{.id = "g0", .healthy = true}, {.id = "g1", .healthy = false}});
  run_to_end(loop_, counts_become(2, 1));
}

TEST_F(DeviceManagerTest, gives_containers_what_the_plugin_answers) {
  ready();
  const json::value pod = pod_with("u1", 2);
  ASSERT_TRUE(allocate(pod));
  const auto grants = run_to_end(loop_, manager_->prepare(pod, "c"));
  ASSERT_TRUE(grants);
  EXPECT_EQ(grants->env[0].second, "g0,g1");
  EXPECT_EQ(grants->mounts[0].host_path, "/out");
  EXPECT_TRUE(grants->mounts[0].read_only);
  EXPECT_EQ(grants->devices[0].permissions, "rw");
  EXPECT_EQ(grants->cdi_devices[0], "v/gpu=0");
  ASSERT_TRUE(allocate(pod)) << "a pod keeps what it has";
  EXPECT_EQ(plugin_->allocated.size(), 1u);
  EXPECT_EQ(allocate(pod_with("u2", 2)).error().code, Code::unavailable);
  EXPECT_EQ(gpus_of(pod_with("u2", 2)), "");
  manager_->release("u1");
  ASSERT_TRUE(allocate(pod_with("u2", 3)));
  EXPECT_EQ(gpus_of(pod_with("u2", 3)), "g0,g1,g2");
}

TEST_F(DeviceManagerTest, lets_containers_use_init_containers_devices_again) {
  ready();
  const json::value pod = pod_with("u1", 3, 2);
  ASSERT_TRUE(allocate(pod));
  EXPECT_EQ(gpus_of(pod, "i"), "g0,g1");
  EXPECT_EQ(gpus_of(pod, "c"), "g0,g1,g2");
}

TEST_F(DeviceManagerTest, asks_plugins_that_prefer_some) {
  start_plugin();
  plugin_->options = {.pre_start = true, .preferred = true};
  plugin_->preferred = {"g2", "nonsense"};
  ASSERT_TRUE(register_plugin().ok());
  run_to_end(loop_, counts_become(3, 3));
  ASSERT_TRUE(allocate(pod_with("u1", 1)));
  EXPECT_EQ(plugin_->asked.available, (DeviceIds{"g0", "g1", "g2"}));
  EXPECT_EQ(plugin_->asked.size, 1);
  EXPECT_EQ(gpus_of(pod_with("u1", 1)), "g2");
  EXPECT_EQ(plugin_->pre_starts, 1);
}

TEST_F(DeviceManagerTest, releases_everything_when_a_plugin_refuses) {
  ready();
  plugin_->refuses = true;
  const auto refused = allocate(pod_with("u1", 1));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("out of order"), std::string::npos);
  plugin_->refuses = false;
  EXPECT_TRUE(allocate(pod_with("u2", 3)));
}

TEST_F(DeviceManagerTest, leaves_other_resources_alone) {
  ready();
  json::value pod = pod_with("u1", 0);
  make_object(pod.at("spec").at("containers").at(0), {"resources", "limits"}) = {
      {"cpu", "1"}, {"example.com/other", "2"}};
  EXPECT_TRUE(allocate(pod));
  EXPECT_TRUE(plugin_->allocated.empty());
}

TEST_F(DeviceManagerTest, notices_that_a_plugin_is_gone_and_back) {
  ready();
  run_to_end(loop_, plugin_->stop());
  plugin_.reset();
  run_to_end(loop_, counts_become(3, 0));
  EXPECT_EQ(allocate(pod_with("u1", 1)).error().code, Code::unavailable);
  ready();
  EXPECT_TRUE(allocate(pod_with("u1", 1)));
  run_to_end(loop_, plugin_->stop());
  plugin_.reset();
  run_to_end(loop_, counts_become(3, 0));
  clock_.advance(5min);
  run_to_end(loop_, counts_become(0, 0));
}

TEST_F(DeviceManagerTest, refuses_plugins_it_does_not_understand) {
  start_plugin();
  EXPECT_EQ(register_plugin("example.com/gpu", "v1alpha").message,
            "device plugin API \"v1alpha\" is not supported, only v1beta1");
  for (const char* bad : {"cpu", "kubernetes.io/x", "x.kubernetes.io/x", "a b/c", "example.com/"})
    EXPECT_EQ(register_plugin(bad).code, net::RpcCode::invalid_argument) << bad;
  EXPECT_EQ(register_plugin("example.com/gpu", "v1beta1", "../x").code,
            net::RpcCode::invalid_argument);
  EXPECT_TRUE(manager_->counts().empty());
}

TEST_F(DeviceManagerTest, remembers_across_a_restart) {
  ready();
  ASSERT_TRUE(allocate(pod_with("u1", 1)));
  run_to_end(loop_, plugin_->stop());
  run_to_end(loop_, manager_->stop());
  const json::value file =
      *parse_json(*read_file(dir_ / "device-plugins/kubelet_internal_checkpoint"));
  const json::value& entry = file.at("Data").at("PodDeviceEntries").at(0);
  EXPECT_EQ(text_at(entry, {"PodUID"}), "u1");
  EXPECT_EQ(text_at(entry, {"ContainerName"}), "c");
  EXPECT_EQ(text_at(entry, {"ResourceName"}), kGpu);
  EXPECT_EQ(entry.at("DeviceIDs"), *parse_json(R"({"0":["g0"]})"));
  EXPECT_FALSE(text_at(entry, {"AllocResp"}).empty());
  EXPECT_EQ(file.at("Checksum"), 0);
  start();
  EXPECT_EQ(gpus_of(pod_with("u1", 1)), "g0");
  ASSERT_EQ(manager_->counts().size(), 1u);
  EXPECT_EQ(manager_->counts()[0].allocatable, 0) << "its plugin has not come back yet";
  ready();
  ASSERT_TRUE(allocate(pod_with("u2", 1)));
  EXPECT_EQ(gpus_of(pod_with("u2", 1)), "g1");
  manager_->keep_only({"u2"});
  ASSERT_TRUE(allocate(pod_with("u3", 1)));
  EXPECT_EQ(gpus_of(pod_with("u3", 1)), "g0");
}

TEST_F(DeviceManagerTest, removes_sockets_of_an_earlier_process) {
  ready();
  run_to_end(loop_, manager_->stop());
  start();
  EXPECT_FALSE(std::filesystem::exists(dir_ / "device-plugins/gpu.sock"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "device-plugins/kubelet.sock"));
  EXPECT_EQ(read_file(dir_ / "cpu_manager_state").value_or(""),
            R"({"policyName":"none","defaultCpuSet":"","checksum":1353318690})");
}

TEST_F(DeviceManagerTest, survives_a_broken_checkpoint) {
  run_to_end(loop_, manager_->stop());
  for (const char* broken : {"{", "[]", R"({"Data":{"PodDeviceEntries":[{"PodUID":7}]}})"}) {
    ASSERT_TRUE(write_file(dir_ / "device-plugins/kubelet_internal_checkpoint", broken));
    start();
    run_to_end(loop_, manager_->stop());
  }
}

TEST_F(DeviceManagerTest, reports_which_container_holds_which_device) {
  ready();
  pods_ = {pod_with("u1", 2), pod_with("done", 1)};
  make_object(pods_[1], {"status"})["phase"] = "Succeeded";
  ASSERT_TRUE(allocate(pods_[0]));
  EXPECT_EQ(*describe_list_pod_resources(ask("List", "")),
            (std::vector<std::string>{"ns/u1 c example.com/gpu=g0", "ns/u1 c example.com/gpu=g1"}));
  const std::string allocatable = ask("GetAllocatableResources", "");
  EXPECT_FALSE(allocatable.empty());
  const auto cpus = node::decode_allocatable_cpus(allocatable);
  ASSERT_TRUE(cpus);
  EXPECT_TRUE(cpus->empty()) << "a kubelet's with the policy none";
}

TEST(DeviceManager, says_clearly_that_a_path_is_too_long) {
  Loop loop;
  FakeClock clock;
  const std::string directory = "/tmp/" + std::string(100, 'x');
  const auto started = DeviceManager::start(loop.executor(), clock, {.kubelet_dir = directory});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::invalid);
  EXPECT_NE(started.error().message.find("may have 107"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(DeviceChoice, takes_required_devices_then_preferred_ones) {
  EXPECT_EQ(choose_devices({"a", "b", "c", "d"}, {"d"}, {"c", "x"}, 2), (DeviceIds{"c", "d"}));
  EXPECT_EQ(choose_devices({"a", "b"}, {}, {}, 5), (DeviceIds{"a", "b"}));
}

}  // namespace
}  // namespace plim::local::kubelet
