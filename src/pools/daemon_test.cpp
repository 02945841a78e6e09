// The pools of a node from outside: an API server in memory, cgroups as files, a kubelet that comes
// and goes, and a clock that the test advances.
#include "pools/daemon.hpp"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/temp_dir.hpp"
#include "base/yaml.hpp"
#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"
#include "pools/testing/fake_cgroups.hpp"
#include "pools/testing/fake_kubelet.hpp"

namespace plim::pools {
namespace {

using namespace std::chrono_literals;

constexpr const char* kResource = "nokia.k8s.io/exclusive-a";
constexpr const char* kFourAndFive =
    "pools: {exclusive-a: {cpus: '4,5'}, default: {cpus: '0-3,6-7'}}";

class PoolsDaemonTest : public local::apiserver::testing::ApiTest {
 protected:
  PoolsDaemonTest() {
    options_.config = {dir_ / "poolconfig.yaml"};
    options_.node_name = "n1";
    options_.host_root = host_.root();
    options_.kubelet_dir = dir_ / "k";
    configure(kFourAndFive);
    create(kube::resources::nodes, "", "{metadata: {name: n1}}");
    kubelet_.start();
  }

  void TearDown() override {
    if (daemon_) run(daemon_->stop());
    run(kubelet_.end());
  }

  void start() {
    daemon_ = std::make_unique<Daemon>(
        loop.executor(), options_, client, registry_,
        [](const Error& error) { ADD_FAILURE() << error.message; }, clock);
    ASSERT_TRUE(daemon_->start());
    until([&] { return daemon_->ready(); });
  }

  void configure(std::string_view yaml) { ASSERT_TRUE(write_file(dir_ / "poolconfig.yaml", yaml)); }

  json::value create(const kube::Resource& resource, std::string ns, std::string_view yaml) {
    auto object = parse_yaml(yaml);
    PLIM_ASSERT(object);
    auto made = run(client->create(resource, {std::move(ns), ""}, std::move(*object)));
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(json::value());
  }

  // A running pod with one CPU of the pool. Returns the directory of its container.
  std::string run_pod(const std::string& name) {
    const json::value pod = create(
        kube::resources::pods, "default",
        fmt::format("{{metadata: {{name: {}}}, spec: {{nodeName: n1, containers: [{{name: c, "
                    "image: x, resources: {{limits: {{{}: '1'}}}}}}]}}}}",
                    name, kResource));
    uid_ = kube::uid_of(pod);
    const auto status = parse_yaml(fmt::format(
        "{{status: {{phase: Running, containerStatuses: [{{name: c, ready: true, restartCount: 0, "
        "image: x, imageID: x, containerID: 'containerd://{}'}}]}}}}",
        name));
    auto patched = run(client->patch(kube::resources::pods, {"default", name, "status"},
                                     kube::PatchType::merge, *status));
    EXPECT_TRUE(patched) << patched.error().message;
    return cgroups_.add(uid_, name);
  }

  std::string checkpoint() const { return dir_ / "k/device-plugins/kubelet_internal_checkpoint"; }

  // What the kubelet has recorded: which CPUs the container of the last pod holds.
  void record(const std::vector<std::string>& cpus) {
    json::array entries, ids;
    for (const std::string& cpu : cpus) ids.emplace_back(cpu);
    if (!cpus.empty())
      entries.push_back(json::object{{"PodUID", uid_},
                                     {"ContainerName", "c"},
                                     {"ResourceName", kResource},
                                     {"DeviceIDs", json::object{{"0", std::move(ids)}}}});
    const json::object file{{"Data", json::object{{"PodDeviceEntries", std::move(entries)}}}};
    ASSERT_TRUE(write_file(checkpoint(), to_json(file)));
  }

  // The CPUs of the exclusive pool in this state.
  std::string cpus_that_are(std::string_view state) const {
    const json::value all = daemon_->state();
    std::string out;
    for (const json::value& pool : list_at(all, {"pools", "pools"}))
      out += text_at(pool, {"states", state});  // other pools have none
    return out;
  }

  // Lets the daemon work for this long on its clock.
  void pass(Nanos time) {
    for (const SteadyTime end = clock.steady() + time; clock.steady() < end;) {
      clock.advance(250ms);
      for (int turn = 0; turn < 10; ++turn) loop.run_ready();
    }
  }

  template <class Condition>
  void until(Condition condition) {
    for (int turns = 0; !condition(); ++turns) {
      if (turns == 10'000) throw std::runtime_error("it did not come about");
      pass(250ms);
    }
  }

  plim::testing::TempDir dir_;
  testing::FakeHost host_{testing::Machine{.cpus = 8}};
  testing::FakeCgroups cgroups_{host_, false, node::CgroupDriver::cgroupfs};
  testing::FakeKubelet kubelet_{loop.executor(), dir_ / "k/device-plugins"};
  metrics::Registry registry_;
  DaemonOptions options_;
  std::unique_ptr<Daemon> daemon_;
  std::string uid_;  // of the last pod
};

TEST_F(PoolsDaemonTest, gives_a_container_the_cpus_that_the_kubelet_recorded) {
  const std::string container = run_pod("a");
  record({"4"});
  start();
  until([&] { return testing::FakeCgroups::cpus(container) == "4"; });
  EXPECT_EQ(kubelet_.registrations, 1);
  EXPECT_EQ(cpus_that_are("used"), "4");
}

TEST_F(PoolsDaemonTest, writes_and_registers_nothing_in_a_dry_run) {
  const std::string container = run_pod("a");
  record({"4"});
  options_.dry_run = true;
  start();
  pass(30s);
  EXPECT_EQ(cpus_that_are("used"), "4") << "it still decides";
  EXPECT_EQ(testing::FakeCgroups::cpus(container), "0-7");
  EXPECT_EQ(kubelet_.registrations, 0);
}

TEST_F(PoolsDaemonTest, keeps_exclusive_cpus_while_the_kubelet_is_away) {
  const std::string container = run_pod("a");
  record({"4"});
  start();
  until([&] { return testing::FakeCgroups::cpus(container) == "4"; });
  std::filesystem::remove(checkpoint());
  pass(10s);
  EXPECT_EQ(cpus_that_are("used"), "4");
  ASSERT_TRUE(write_existing_file(container + "/cpuset.cpus", "0-7"));
  until([&] { return testing::FakeCgroups::cpus(container) == "4"; });
  EXPECT_EQ(cpus_that_are("used"), "4");
}

TEST_F(PoolsDaemonTest, keeps_an_allocation_until_the_kubelet_could_have_recorded_it) {
  start();
  until([&] { return kubelet_.devices.contains(kResource); });
  ASSERT_TRUE(run(kubelet_.call(kResource, "Allocate", node::encode_allocate_request({"5"}))));
  pass(2min);  // the kubelet shows no records
  EXPECT_EQ(cpus_that_are("used"), "5");
  record({});
  pass(20s);
  EXPECT_EQ(cpus_that_are("used"), "5");
  until([&] { return cpus_that_are("free") == "4-5"; });
}

TEST_F(PoolsDaemonTest, keeps_its_pools_when_a_new_configuration_is_wrong) {
  start();
  EXPECT_EQ(cpus_that_are("free"), "4-5");
  configure("pools: {exclusive-a: {cpus: '4-99'}}");
  daemon_->reload();
  const json::value broken = daemon_->state();
  EXPECT_NE(text_at(broken, {"pools", "configProblem"}), "");
  EXPECT_EQ(cpus_that_are("free"), "4-5");
  configure("pools: {exclusive-a: {cpus: '6'}}");
  daemon_->reload();
  until([&] { return cpus_that_are("free") == "6"; });
}

}  // namespace
}  // namespace plim::pools
