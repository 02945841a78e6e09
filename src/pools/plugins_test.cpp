#include "pools/plugins.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "base/text.hpp"
#include "pools/device_ids.hpp"
#include "pools/pool_config.hpp"
#include "pools/testing/fake_host.hpp"
#include "pools/testing/fake_kubelet.hpp"

namespace plim::pools {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr const char* kSample = R"(pools:
  cpupool1: {cpus: "4,5", pooltype: exclusive}
  cpupool2: {cpus: "2,3", pooltype: exclusive}
  sharedpool: {cpus: "1", pooltype: shared}
)";

class PluginsTest : public ::testing::Test {
 public:
  ~PluginsTest() override { run_to_end(loop_, end()); }

 protected:
  void start(const std::string& yaml, testing::Machine machine = {},
             CpuListFormat format = CpuListFormat::list, Clock& clock = system_clock()) {
    machine_ = testing::make_topology(machine);
    configure(yaml);
    kubelet_ = std::make_unique<testing::FakeKubelet>(loop_.executor(), dir_.path());
    kubelet_->start();
    PluginsOptions options{.directory = dir_.path(), .format = format, .starter = starter_};
    plugins_ = std::make_unique<Plugins>(loop_.executor(), clock, state_, std::move(options));
    plugins_->start();
  }

  void configure(const std::string& yaml) {
    Problems problems;
    auto loaded = load_node_pools({{"f", yaml}}, {}, machine_, {}, problems);
    ASSERT_TRUE(loaded) << problems.errors[0];
    state_.configure(std::move(*loaded), machine_);
    state_.clear({});
    if (plugins_) plugins_->sync();
  }

  Task<bool> until(std::function<bool()> condition) {
    const SteadyTime limit = system_clock().steady() + 1min;
    while (!condition())
      if (!co_await kubelet_->changed.wait_until(system_clock(), limit)) co_return false;
    co_return true;
  }

  void wait_for(std::function<bool()> condition) {
    ASSERT_TRUE(run_to_end(loop_, until(std::move(condition))));
  }

  std::size_t count(const std::string& pool) {
    return kubelet_->devices["nokia.k8s.io/" + pool].size();
  }

  std::string healthy(const std::string& pool) {
    std::string out;
    for (const node::Device& device : kubelet_->devices["nokia.k8s.io/" + pool])
      out += (out.empty() ? "" : " ") + device.id + (device.healthy ? "" : "!");
    return out;
  }

  // "EXCLUSIVE_CPUS=4,5 …", or the error.
  std::string allocate(const std::string& pool, const node::DeviceIds& ids) {
    auto body = run_to_end(loop_, kubelet_->call("nokia.k8s.io/" + pool, "Allocate",
                                                 node::encode_allocate_request(ids)));
    if (!body) return body.error().message;
    const node::DeviceGrants grants = *node::decode_grants(*node::decode_allocate(*body));
    std::string out;
    for (const auto& [name, value] : grants.env)
      out += (out.empty() ? "" : " ") + name + "=" + value;
    return out;
  }

  Task<int> end() {
    if (plugins_) co_await plugins_->stop();
    if (kubelet_) co_await kubelet_->end();
    co_return 0;
  }

  Task<int> restart_kubelet() {
    co_await kubelet_->stop();
    kubelet_->start();
    co_return 0;
  }

  plim::testing::TempDir dir_;
  FakeClock stopped_;
  Loop loop_;
  std::string starter_;
  Topology machine_;
  PoolState state_;
  std::unique_ptr<testing::FakeKubelet> kubelet_;
  std::unique_ptr<Plugins> plugins_;
};

TEST_F(PluginsTest, tries_soon_again_when_a_socket_appears_that_does_not_answer_yet) {
  machine_ = testing::make_topology({});
  configure("pools:\n  exclusive-a: {cpus: '1'}\n");
  kubelet_ = std::make_unique<testing::FakeKubelet>(loop_.executor(), dir_.path());  // not started
  int failures = 0;
  EndpointHooks hooks{.on_registration = [&](const std::string&, bool good) {
    failures += !good;
    kubelet_->changed.notify();
  }};
  plugins_ = std::make_unique<Plugins>(loop_.executor(), stopped_, state_,
                                       PluginsOptions{.directory = dir_.path()}, std::move(hooks));
  plugins_->start();
  for (int tries = 1; tries <= 8; ++tries) {  // the pauses become long
    wait_for([&] { return failures >= tries; });
    stopped_.advance(std::chrono::seconds(5));
  }
  wait_for([&] { return failures == 9; });
  ASSERT_TRUE(write_file(dir_ / "kubelet.sock", ""));
  wait_for([&] { return failures == 10; });
  for (int tries = 11; tries <= 13; ++tries) {
    stopped_.advance(std::chrono::milliseconds(400));
    wait_for([&] { return failures >= tries; });
  }
}

TEST_F(PluginsTest, registers_one_endpoint_per_pool_of_the_sample) {
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  EXPECT_EQ(healthy("cpupool1"), "4 5");
  EXPECT_EQ(healthy("cpupool2"), "2 3");
  EXPECT_EQ(count("sharedpool"), 1000u);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "cpudp_cpupool1.sock"));
  EXPECT_TRUE(plugins_->ready());
  EXPECT_EQ(kubelet_->registrations, 3);
}

TEST_F(PluginsTest, sets_the_environment_of_containers) {
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  EXPECT_EQ(allocate("cpupool1", {"4", "5"}),
            "EXCLUSIVE_CPUS=4,5 PLIMSOLL_CPUS_CPUPOOL1=4,5 PLIMSOLL_NUMA_NODES=0");
  EXPECT_EQ(allocate("sharedpool", {"A", "B"}),
            "PLIMSOLL_CPUS_SHAREDPOOL=1 PLIMSOLL_SHARED_SHAREDPOOL=1 SHARED_CPUS=1");
  EXPECT_EQ(allocate("cpupool1", {"2"}), "CPU \"2\" is not in pool cpupool1 (INVALID_ARGUMENT)");
}

TEST_F(PluginsTest, lists_devices_at_once_with_their_numa_nodes) {
  // FakeKubelet checks that each plugin accepts connections before it registers. The clock stands
  // still, so a plugin that waits before it sends its list never sends it.
  start("pools: {exclusive-a: {cpus: '1-6'}, shared-near: {cpus: '7'}, shared-far: {cpus: '0'}}",
        {.cpus = 8, .numa_nodes = 2}, CpuListFormat::list, stopped_);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  for (const node::Device& device : kubelet_->devices["nokia.k8s.io/exclusive-a"]) {
    const int cpu = *parse_int<int>(device.id);
    ASSERT_EQ(device.numa_nodes.size(), 1u) << cpu;
    EXPECT_EQ(device.numa_nodes[0], machine_.numa(cpu)) << cpu;
    EXPECT_EQ(device.numa_nodes[0], cpu < 4 ? 0 : 1) << cpu;
  }
}

TEST_F(PluginsTest, writes_ranges_with_siblings_when_asked_to) {
  start("pools: {exclusive-m: {cpus: '4,5', hyperThreadingPolicy: multiThreaded}}",
        {.cpus = 80, .threads = 2, .numa_nodes = 2}, CpuListFormat::ranges);
  wait_for([&] { return kubelet_->devices.size() == 1; });
  EXPECT_EQ(allocate("exclusive-m", {"4", "5"}),
            "EXCLUSIVE_CPUS=4-5,44-45 PLIMSOLL_CPUS_EXCLUSIVE_M=4-5,44-45 PLIMSOLL_NUMA_NODES=0");
}

TEST_F(PluginsTest, serves_two_containers_in_one_request) {
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  const auto ask = [&](const std::vector<node::DeviceIds>& containers) {
    return run_to_end(loop_, kubelet_->call("nokia.k8s.io/cpupool1", "Allocate",
                                            node::encode_allocate_requests(containers)));
  };
  const auto twice = ask({{"4"}, {"4"}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message,
            "CPU 4 of pool cpupool1 is requested for two containers (INVALID_ARGUMENT)");
  ASSERT_FALSE(ask({{"4"}, {"2"}})) << "the second is not in the pool";
  EXPECT_EQ(state_.free_cpus(*state_.pools().find("cpupool1")), (CpuSet{4, 5})) << "all or none";
  const auto body = ask({{"4"}, {"5"}});
  ASSERT_TRUE(body) << body.error().message;
  const auto grants = *node::decode_allocate_all(*body);
  ASSERT_EQ(grants.size(), 2u);
  EXPECT_EQ(grants[0].env[0], std::pair("EXCLUSIVE_CPUS"s, "4"s));
  EXPECT_EQ(grants[1].env[0], std::pair("EXCLUSIVE_CPUS"s, "5"s));
}

TEST_F(PluginsTest, follows_another_base_name) {
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  Holding held{.pod = "ns/p", .uid = "u", .container = "c", .pool = "cpupool1"};
  held.cpus = {5};
  state_.set_holdings({held}, system_clock().steady());
  configure("resourceBaseName: example.com\n"s + kSample);
  const auto listed = [&](const std::string& resource) {
    std::string out;
    for (const node::Device& device : kubelet_->devices[resource])
      out += (out.empty() ? "" : " ") + device.id + (device.healthy ? "" : "!");
    return out;
  };
  wait_for([&] {
    return listed("example.com/cpupool1") == "4 5!" && listed("example.com/cpupool2") == "2 3" &&
           kubelet_->devices["example.com/sharedpool"].size() == 1000;
  });
  wait_for([&] { return healthy("cpupool1") == "5"; });  // its container may start again
  wait_for([&] {
    return !kubelet_->devices.contains("nokia.k8s.io/cpupool2") &&
           !kubelet_->devices.contains("nokia.k8s.io/sharedpool");
  });
  EXPECT_NE(allocate("cpupool1", {"5"}).find("no longer configured"), std::string::npos);
  state_.set_holdings({}, system_clock().steady());
  plugins_->sync();
  wait_for([&] { return listed("example.com/cpupool1") == "4 5"; });
  wait_for([&] { return !kubelet_->devices.contains("nokia.k8s.io/cpupool1"); });
  configure(kSample);  // and back
  wait_for([&] { return healthy("cpupool1") == "4 5" && healthy("cpupool2") == "2 3"; });
}

TEST_F(PluginsTest, mounts_the_starter_when_asked_to) {
  starter_ = "/opt/bin/process-starter";
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  auto body = run_to_end(loop_, kubelet_->call("nokia.k8s.io/cpupool1", "Allocate",
                                               node::encode_allocate_request({"4"})));
  ASSERT_TRUE(body);
  const node::DeviceGrants grants = *node::decode_grants(*node::decode_allocate(*body));
  ASSERT_EQ(grants.mounts.size(), 1u);
  EXPECT_EQ(grants.mounts[0].host_path, starter_);
  EXPECT_EQ(grants.mounts[0].container_path, starter_);
  EXPECT_TRUE(grants.mounts[0].read_only);
}

TEST_F(PluginsTest, prefers_cpus_that_are_close_to_each_other) {
  start("pools: {exclusive-a: {cpus: '1-6'}}", {.cpus = 8, .numa_nodes = 2});
  wait_for([&] { return kubelet_->devices.size() == 1; });
  node::PreferredRequest request;
  request.available = {"1", "4", "5", "6"};
  request.size = 2;
  auto body = run_to_end(loop_, kubelet_->call("nokia.k8s.io/exclusive-a", "GetPreferredAllocation",
                                               node::encode_preferred_request(request)));
  ASSERT_TRUE(body);
  EXPECT_EQ(*node::decode_preferred(*body), (node::DeviceIds{"4", "5"}));
}

TEST_F(PluginsTest, registers_again_after_ten_kubelet_restarts) {
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(std::filesystem::begin(all), std::filesystem::end(all));
  };
  std::ptrdiff_t before = 0;
  for (int i = 0; i < 10; ++i) {
    run_to_end(loop_, restart_kubelet());
    const SteadyTime began = system_clock().steady();
    wait_for([&] { return kubelet_->devices.size() == 3; });
    EXPECT_LT(system_clock().steady() - began, 2s);
    if (i == 0) before = descriptors();
  }
  EXPECT_LE(descriptors(), before);
}

TEST_F(PluginsTest, registers_again_when_only_its_own_socket_is_removed) {
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  std::filesystem::remove(dir_ / "cpudp_cpupool1.sock");
  const SteadyTime began = system_clock().steady();
  wait_for([&] { return kubelet_->registrations == 4 && count("cpupool1") == 2; });
  EXPECT_LT(system_clock().steady() - began, 5s) << "it waited for the next look";
  EXPECT_TRUE(std::filesystem::exists(dir_ / "cpudp_cpupool1.sock"));
}

TEST_F(PluginsTest, updates_the_kubelet_when_a_cpu_goes_offline_and_online) {
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  state_.set_online(CpuSet{0, 1, 2, 3, 4, 6, 7});
  plugins_->sync();
  wait_for([&] { return healthy("cpupool1") == "4 5!"; });
  EXPECT_EQ(allocate("cpupool1", {"5"}), "CPU 5 of pool cpupool1 is offline (INVALID_ARGUMENT)");
  state_.set_online(CpuSet::range(0, 7));
  plugins_->sync();
  wait_for([&] { return healthy("cpupool1") == "4 5"; });
}

TEST_F(PluginsTest, moves_a_cpu_to_another_pool_when_it_is_free) {
  start(kSample);
  wait_for([&] { return kubelet_->devices.size() == 3; });
  Holding held{.pod = "ns/p", .uid = "u", .container = "c", .pool = "cpupool1"};
  held.cpus = {5};
  state_.set_holdings({held}, system_clock().steady());
  configure(
      "pools: {cpupool1: {cpus: 4, pooltype: exclusive}, cpupool2: {cpus: '2,3,5', pooltype: "
      "exclusive}}");
  wait_for([&] { return healthy("cpupool2") == "2 3 5!" && healthy("cpupool1") == "4 5"; });
  wait_for([&] { return !kubelet_->devices.contains("nokia.k8s.io/sharedpool"); });
  state_.set_holdings({}, system_clock().steady());
  plugins_->sync();
  wait_for([&] { return healthy("cpupool2") == "2 3 5" && healthy("cpupool1") == "4"; });
}

TEST_F(PluginsTest, sends_the_largest_shared_pool_within_a_kubelets_limit) {
  start("pools: {shared-a: {cpus: 0-261}}", {.cpus = 262});
  wait_for([&] { return count("shared-a") == 262'000; });
  EXPECT_LT(kubelet_->message_sizes["nokia.k8s.io/shared-a"], 4u << 20);
}

TEST_F(PluginsTest, allocates_shared_units_in_linear_time) {
  start("pools: {shared-a: {cpus: 0-3}}");
  wait_for([&] { return count("shared-a") == 4000; });
  const auto cost = [&](int units) {
    const node::DeviceIds ids = shared_ids(units);
    const std::clock_t began = std::clock();
    for (int i = 0; i < 20; ++i) (void)allocate("shared-a", ids);
    return static_cast<double>(std::clock() - began);
  };
  (void)cost(500);
  EXPECT_LT(cost(2000), 6 * cost(500) + CLOCKS_PER_SEC / 100.0);
}

}  // namespace
}  // namespace plim::pools
