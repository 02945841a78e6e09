#include "pools/setter.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "kube/decode.hpp"
#include "pools/device_list.hpp"
#include "pools/node_view.hpp"
#include "pools/pool_config.hpp"
#include "pools/testing/fake_cgroups.hpp"

namespace plim::pools {
namespace {

using namespace std::string_literals;

using node::CgroupDriver;
using node::Qos;
using testing::FakeCgroups;

// A node with its pods, on which the setter runs check after check.
class SetterTest : public ::testing::Test {
 protected:
  void machine(const testing::Machine& machine, const std::string& yaml, bool v2 = false,
               CgroupDriver driver = CgroupDriver::cgroupfs) {
    host_ = std::make_unique<testing::FakeHost>(machine);
    cgroups_ = std::make_unique<FakeCgroups>(*host_, v2, driver);
    SetterHooks hooks{.on_write = [this](bool) { ++writes_; },
                      .on_confined = [this](const LiveContainer& container, const CpusetTarget&,
                                            Nanos) { named_.push_back(container.container); },
                      .on_renamed =
                          [this](const LiveContainer& container, const CpusetTarget&) {
                            named_.push_back("then " + container.container);
                          },
                      .on_drift = [this](const LiveContainer&, const CpuSet&) { ++drifts_; },
                      .on_refused = [this](const LiveContainer& container, const CpuSet&,
                                           const Error&) { refused_ += container.container; }};
    setter_ = std::make_unique<Setter>(cgroups_->open(), clock_, Writing::allowed, hooks);
    configure(yaml);
  }

  void configure(const std::string& yaml) {
    Problems problems;
    auto loaded = load_node_pools({{"f", yaml}}, {}, host_->topology(), {}, problems);
    ASSERT_TRUE(loaded) << problems.errors[0];
    state_.configure(std::move(*loaded), host_->topology());
  }

  struct Wish {
    std::string name;
    std::vector<std::string> pools = {};
    node::DeviceIds exclusive = {};  // of the first pool
  };

  // The directories of the containers, the sandbox's last.
  std::vector<std::string> add_pod(const std::string& uid, const std::vector<Wish>& wishes,
                                   Qos qos = Qos::guaranteed) {
    std::vector<std::string> out;
    PodFacts pod{.key = "ns/" + uid, .uid = uid, .cgroup_uid = uid};
    for (const Wish& wish : wishes) {
      const std::string id = uid + wish.name;
      out.push_back(cgroups_->add(uid, id, qos));
      pod.containers.push_back({.name = wish.name, .id = id, .pools = wish.pools});
      if (!wish.exclusive.empty())
        answer_.asked.push_back({.ns = "ns",
                                 .pod = uid,
                                 .container = wish.name,
                                 .resource = "nokia.k8s.io/" + wish.pools[0],
                                 .ids = wish.exclusive});
    }
    pods_.push_back(std::move(pod));
    out.push_back(cgroups_->add(uid, uid + "sandbox", qos));
    return out;
  }

  // The pod has ended: its records, its cgroups and the pod itself are gone.
  void remove_pod(const std::string& uid, const std::vector<std::string>& paths) {
    std::erase_if(pods_, [&](const PodFacts& pod) { return pod.uid == uid; });
    std::erase_if(answer_.asked, [&](const node::HeldDevices& held) { return held.pod == uid; });
    std::filesystem::remove_all(paths[0].substr(0, paths[0].rfind('/')));
  }

  std::string healthy(std::string_view pool) {
    std::string out;
    for (const node::Device& device : devices_of(state_, pool))
      out += (out.empty() ? "" : " ") + device.id + (device.healthy ? "" : "!");
    return out;
  }

  Setter::Outcome look() {
    const auto cgroups = setter_->tree().scan();
    auto told = holdings_of(answer_, pods_, cgroups, state_.base_names());
    const auto live = live_containers(
        cgroups, pods_, told,
        [this](const std::string& path) -> std::optional<CpuSet> {
          auto set = setter_->tree().read(path);
          if (!set) return std::nullopt;
          return set->cpus;
        },
        [this](const std::string& path) { return environments_[path]; });
    if (on_read_) on_read_();
    const SteadyTime now = clock_.steady();
    state_.set_holdings(complete_holdings(state_, std::move(told), live, now), now);
    auto out = setter_->apply(state_, live);
    state_.clear(out.intruded);
    return out;
  }

  FakeClock clock_;
  std::unique_ptr<testing::FakeHost> host_;
  std::unique_ptr<FakeCgroups> cgroups_;
  std::unique_ptr<Setter> setter_;
  PoolState state_;
  std::vector<PodFacts> pods_;
  KubeletAnswer answer_;
  std::map<std::string, std::string> environments_;
  std::function<void()> on_read_;  // called when the containers were read
  int writes_ = 0, drifts_ = 0;
  std::string refused_;
  std::vector<std::string> named_;
};

constexpr const char* kPools =
    "pools: {exclusive-a: {cpus: '10-39'}, shared-b: {cpus: '2-3'}, default: {cpus: '0-1'}}";

TEST_F(SetterTest, gives_each_kind_of_container_its_cpus) {
  machine({.cpus = 40}, kPools);
  const auto shared = add_pod("s", {{"c", {"shared-b"}}});
  const auto exclusive = add_pod("e", {{"c", {"exclusive-a"}, {"10", "11"}}});
  const auto two = add_pod(
      "t", {{"c1", {"exclusive-a"}, {"12", "13"}}, {"c2", {"exclusive-a"}, {"14", "15", "16"}}});
  const auto mixed = add_pod("m", {{"e", {"exclusive-a"}, {"20"}}, {"s", {"shared-b"}}, {"n"}});
  const auto both = add_pod("b", {{"c", {"exclusive-a", "shared-b"}, {"22", "35"}}});
  const auto asked_default = add_pod("d", {{"c", {"default"}}});
  look();
  EXPECT_EQ(FakeCgroups::cpus(shared[0]), "2-3");
  EXPECT_EQ(FakeCgroups::cpus(exclusive[0]), "10-11");
  EXPECT_EQ(FakeCgroups::cpus(two[0]), "12-13");
  EXPECT_EQ(FakeCgroups::cpus(two[1]), "14-16");
  EXPECT_EQ(FakeCgroups::cpus(mixed[0]), "20");
  EXPECT_EQ(FakeCgroups::cpus(mixed[1]), "2-3");
  EXPECT_EQ(FakeCgroups::cpus(mixed[2]), "0-1");
  EXPECT_EQ(FakeCgroups::cpus(both[0]), "2-3,22,35");
  EXPECT_EQ(FakeCgroups::cpus(asked_default[0]), "0-1");
  EXPECT_EQ(FakeCgroups::cpus(exclusive[1]), "0-1") << "the sandbox";
}

TEST_F(SetterTest, finds_the_cgroup_root_of_the_kubelet_that_started_it) {
  machine({.cpus = 4}, "pools: {exclusive-a: {cpus: 1}}");
  const auto usable = [&](std::string_view own) {
    host_->put("/own", own);
    const auto tree = CpusetTree::open({.host_root = host_->root(),
                                        .cgroup_root = {},
                                        .own_cgroup = host_->root() + "/own",
                                        .pods = {}});
    return tree->usable().to_string();
  };
  host_->put("/sys/fs/cgroup/cpuset/plim/n1/kubepods/cpuset.cpus", "2-3\n");
  EXPECT_EQ(usable("3:cpu:/x\n5:cpuset:/plim/n1/kubepods/burstable/podu/c\n"), "2-3");
  EXPECT_EQ(usable("5:cpuset:/plim/n2/kubepods/podu/c\n"), "0-3") << "not in this tree";
  EXPECT_EQ(usable("5:cpuset:/system.slice/agent.service\n"), "0-3") << "not in a pod";
  EXPECT_EQ(usable("5:cpuset:/kubepods/podu/c\n"), "0-3");
  EXPECT_EQ(usable("0::/\n"), "0-3");
}

TEST_F(SetterTest, gives_siblings_or_keeps_them_idle) {
  const std::string pools =
      "pools: {exclusive-a: {cpus: '22,35', hyperThreadingPolicy: %}, default: {cpus: '0-1'}}";
  for (const auto& [policy, cpus] :
       {std::pair{"singleThreaded", "22,35"}, std::pair{"multiThreaded", "22,35,62,75"}}) {
    std::string yaml = pools;
    yaml.replace(yaml.find('%'), 1, policy);
    machine({.cpus = 80, .threads = 2, .numa_nodes = 2}, yaml);
    pods_.clear();
    answer_ = {};
    state_.set_holdings({}, clock_.steady());
    const auto pod = add_pod("e", {{"c", {"exclusive-a"}, {"22", "35"}}});
    look();
    EXPECT_EQ(FakeCgroups::cpus(pod[0]), cpus);
  }
}

TEST_F(SetterTest, finds_containers_of_both_drivers_versions_and_all_classes) {
  for (bool v2 : {false, true})
    for (CgroupDriver driver : {CgroupDriver::cgroupfs, CgroupDriver::systemd})
      for (Qos qos : {Qos::guaranteed, Qos::burstable, Qos::best_effort}) {
        machine({.cpus = 40}, kPools, v2, driver);
        pods_.clear();
        answer_ = {};
        state_.set_holdings({}, clock_.steady());
        const std::string uid = "1234-ab-cd";
        const auto pod = add_pod(uid, {{"c", {"exclusive-a"}, {"10"}}}, qos);
        // A static pod: the API has another uid.
        pods_[0].uid = "mirror";
        writes_ = 0;
        look();
        EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10") << v2 << pod[0];
        EXPECT_EQ(writes_, 2) << "the container and its sandbox, nothing else";
        const std::string above = pod[0].substr(0, pod[0].rfind('/'));
        EXPECT_EQ(FakeCgroups::cpus(above), v2 ? "" : "0-39");
      }
}

TEST_F(SetterTest, confines_init_and_ephemeral_containers_too) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}, {"init"}});
  const std::string ephemeral = cgroups_->add("p", "debugger");
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[1]), "0-1");
  EXPECT_EQ(FakeCgroups::cpus(ephemeral), "0-1");
}

TEST_F(SetterTest, takes_devices_of_init_containers_from_the_checkpoint) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}, {"init", {"exclusive-a"}}});
  answer_.stored = {
      {.pod_uid = "p",
       .container = "init",
       .resource = "nokia.k8s.io/exclusive-a",
       .ids = {"10", "11"}},
      {.pod_uid = "dead", .container = "c", .resource = "nokia.k8s.io/exclusive-a", .ids = {"12"}}};
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[1]), "10-11");
  EXPECT_EQ(state_.free_cpus(*state_.pools().find("exclusive-a")), CpuSet::range(12, 39));
}

TEST_F(SetterTest, writes_nothing_when_nothing_changed) {
  machine({.cpus = 40}, kPools);
  for (int i = 0; i < 200; ++i) add_pod("p" + std::to_string(i), {{"c", {"shared-b"}}, {"d"}});
  look();
  writes_ = 0;
  look();
  look();
  EXPECT_EQ(writes_, 0);
  // Another agent that starts on the same node finds everything in order.
  SetterHooks hooks{.on_write = [this](bool) { ++writes_; }, .on_confined = {}, .on_drift = {}};
  setter_ = std::make_unique<Setter>(cgroups_->open(), clock_, Writing::allowed, hooks);
  look();
  EXPECT_EQ(writes_, 0);
}

TEST_F(SetterTest, writes_nothing_when_it_only_looks) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}, {"d"}});
  const std::string before = FakeCgroups::cpus(pod[0]);
  SetterHooks hooks{.on_write = [this](bool) { ++writes_; }, .on_confined = {}, .on_drift = {}};
  setter_ = std::make_unique<Setter>(cgroups_->open(), clock_, Writing::only_look, hooks);
  const auto outcome = look();
  EXPECT_EQ(writes_, 0);
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), before);
  EXPECT_TRUE(outcome.intruded.contains(10)) << "it tells what is wrong";
}

TEST_F(SetterTest, restores_a_changed_set_and_counts_it) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}});
  look();
  ASSERT_TRUE(write_existing_file(pod[0] + "/cpuset.cpus", "0-39"));
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
  EXPECT_EQ(drifts_, 1);
}

TEST_F(SetterTest, sets_children_of_a_container_too) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}});
  const std::string inside = pod[0].substr(host_->root().size()) + "/system.slice";
  cgroups_->set(inside, "0-39");
  look();
  EXPECT_EQ(FakeCgroups::cpus(host_->root() + inside), "10");
}

TEST_F(SetterTest, follows_a_restarted_container_by_its_environment) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10", "11"}}});
  look();
  std::filesystem::remove_all(pod[0]);
  const std::string restarted = cgroups_->add("p", "new-id");  // the API does not know it yet
  environments_[restarted] = "A=b\0PLIMSOLL_CPUS_EXCLUSIVE_A=10,11\0EXCLUSIVE_CPUS=10,11\0"s;
  look();
  EXPECT_EQ(FakeCgroups::cpus(restarted), "10-11");
}

TEST_F(SetterTest, looks_again_while_a_new_container_may_get_a_name) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10", "11"}}});
  EXPECT_TRUE(look().young) << "the sandbox may be a container";
  clock_.advance(std::chrono::seconds(2));
  EXPECT_FALSE(look().young);
  std::filesystem::remove_all(pod[0]);
  const std::string restarted = cgroups_->add("p", "new-id");  // its program does not run yet
  EXPECT_TRUE(look().young);
  EXPECT_EQ(FakeCgroups::cpus(restarted), "0-1");
  environments_[restarted] = "PLIMSOLL_CPUS_EXCLUSIVE_A=10,11\0"s;
  EXPECT_FALSE(look().young);
  EXPECT_EQ(FakeCgroups::cpus(restarted), "10-11");
  add_pod("plain", {{"c"}});
  cgroups_->add("plain", "other");
  EXPECT_FALSE(look().young) << "whichever it is, its CPUs are the same";
}

TEST_F(SetterTest, tells_containers_with_the_same_environment_apart) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"shared-b"}}, {"d", {"shared-b"}}});
  for (const std::string& path : {pod[0], pod[1]})
    environments_[path] = "PLIMSOLL_CPUS_SHARED_B=2,3\0"s;
  pods_[0].containers[1].id.clear();  // the API reports it later
  look();
  EXPECT_EQ(named_, (std::vector<std::string>{"c", "d", ""}));
  // If the API knows neither, the names are corrected later.
  const auto other = add_pod("q", {{"c", {"shared-b"}}, {"d", {"shared-b"}}});
  for (const std::string& path : {other[0], other[1]})
    environments_[path] = "PLIMSOLL_CPUS_SHARED_B=2,3\0"s;
  for (ContainerFacts& container : pods_[1].containers) container.id.clear();
  named_.clear();
  look();
  EXPECT_EQ(named_, (std::vector<std::string>{"c", "c", ""}));
  named_.clear();
  pods_[1].containers[0].id = "qc";
  pods_[1].containers[1].id = "qd";
  look();
  look();
  EXPECT_EQ(named_, std::vector<std::string>{"then d"});
}

TEST_F(SetterTest, keeps_the_cpus_of_a_container_that_the_kubelet_forgot) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}});
  look();
  answer_ = {};  // the checkpoint was deleted and the kubelet restarted
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
  EXPECT_EQ(devices_of(state_, "exclusive-a")[0].healthy, false);
  // A restarted agent keeps them too.
  state_ = PoolState();
  configure(kPools);
  const auto done = look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
  EXPECT_EQ(devices_of(state_, "exclusive-a")[0].healthy, false);
  ASSERT_EQ(done.notes.size(), 1u);
  EXPECT_EQ(done.notes[0].kind, Note::Kind::withheld);
  pods_.clear();
  std::filesystem::remove_all(pod[0].substr(0, pod[0].rfind('/')));
  look();
  EXPECT_TRUE(devices_of(state_, "exclusive-a")[0].healthy);
}

TEST_F(SetterTest, frees_the_cpus_of_a_pod_that_ends_when_the_kubelet_does) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}});
  look();
  pods_[0].ending = true;
  answer_ = {};
  EXPECT_TRUE(look().notes.empty());
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "0-1");
  EXPECT_TRUE(devices_of(state_, "exclusive-a")[0].healthy);
  // The API may have forgotten the pod before its cgroup is gone.
  add_pod("q", {{"c", {"exclusive-a"}, {"11"}}});
  look();
  pods_.clear();
  answer_ = {};
  look();
  EXPECT_TRUE(devices_of(state_, "exclusive-a")[1].healthy);
}

TEST_F(SetterTest, notes_that_there_is_no_record_of_a_containers_cpus) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}}});
  const auto done = look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "0-1");
  ASSERT_EQ(done.notes.size(), 1u);
  EXPECT_EQ(done.notes[0].kind, Note::Kind::no_allocation);
}

TEST_F(SetterTest, trusts_the_set_that_the_kernel_reports) {
  machine({.cpus = 40}, kPools, /*v2=*/true);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}});
  EXPECT_TRUE(look().settled);
  EXPECT_TRUE(devices_of(state_, "exclusive-a")[1].healthy);
  cgroups_->give_instead(pod[0], "0-39");
  EXPECT_FALSE(look().settled);
  EXPECT_FALSE(devices_of(state_, "exclusive-a")[1].healthy) << "it runs on CPU 11 too";
  cgroups_->give_instead(pod[0], "10");
  EXPECT_TRUE(look().settled);
  EXPECT_TRUE(devices_of(state_, "exclusive-a")[1].healthy);
}

TEST_F(SetterTest, reports_once_a_container_whose_set_cannot_be_written) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}});
  // A cgroup below it has a set that even root cannot write.
  std::filesystem::create_directories(pod[0] + "/inner");
  std::filesystem::create_symlink("/sys/devices/system/cpu/online", pod[0] + "/inner/cpuset.cpus");
  for (const char* told : {"", "", "c", "c", "c"}) {
    EXPECT_FALSE(look().settled);
    EXPECT_EQ(refused_, told);
  }
  std::filesystem::remove_all(pod[0] + "/inner");
  EXPECT_TRUE(look().settled);
}

TEST_F(SetterTest, moves_all_containers_when_cpus_go_offline_and_online) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"e", {"exclusive-a"}, {"10", "11"}}, {"s", {"shared-b"}}, {"n"}});
  look();
  state_.set_online(CpuSet::range(0, 39) - CpuSet{0, 2, 11});
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
  EXPECT_EQ(FakeCgroups::cpus(pod[1]), "3");
  EXPECT_EQ(FakeCgroups::cpus(pod[2]), "1");
  state_.set_online(CpuSet::range(0, 39) - CpuSet{2, 3});
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[1]), "0-1") << "never exclusive ones";
  state_.set_online(CpuSet::range(0, 39));
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10-11");
  EXPECT_EQ(FakeCgroups::cpus(pod[1]), "2-3");
}

TEST_F(SetterTest, shrinks_one_before_it_grows_another) {
  machine({.cpus = 40}, kPools);
  const auto held = add_pod("h", {{"c", {"exclusive-a"}, {"10"}}});
  const auto shared = add_pod("s", {{"c", {"shared-b"}}});
  look();
  // CPU 10 becomes a shared one while it is held, then its holder ends.
  configure(
      "pools: {exclusive-a: {cpus: '11-39'}, shared-b: {cpus: '2-3,10'}, default: {cpus: "
      "'0-1'}}");
  look();
  EXPECT_EQ(FakeCgroups::cpus(held[0]), "10");
  EXPECT_EQ(FakeCgroups::cpus(shared[0]), "2-3");
  pods_.erase(pods_.begin());
  answer_ = {};
  std::filesystem::remove_all(held[0].substr(0, held[0].rfind('/')));
  look();
  EXPECT_EQ(FakeCgroups::cpus(shared[0]), "2-3,10");
}

TEST(CpusetOrder, gives_up_cpus_before_others_take_them) {
  const std::vector<CpusetTarget> targets{{.cpus = {0, 1}}, {.cpus = {2, 5}}, {.cpus = {7}}};
  const std::vector<CpuSet> actual{{0, 1, 5}, {2}, {2}};
  const CpuSet exclusive{5, 7};
  auto writes = order_writes(actual, targets, exclusive);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0].cpus, (CpuSet{0, 1}));
  writes = order_writes({{0, 1}, {2}, {2}}, targets, exclusive);
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0].cpus, (CpuSet{2, 5}));
  EXPECT_EQ(writes[1].cpus, CpuSet{7});
}

TEST_F(SetterTest, gives_cpus_that_drain_to_nobody_until_their_holders_have_left) {
  machine({.cpus = 2}, "pools: {exclusive-a: {cpus: 1}, shared-b: {cpus: 0}}");
  const auto exclusive = add_pod("e", {{"c", {"exclusive-a"}, {"1"}}});
  const auto shared = add_pod("s", {{"c", {"shared-b"}}});
  look();
  EXPECT_EQ(FakeCgroups::cpus(exclusive[0]), "1");
  EXPECT_EQ(FakeCgroups::cpus(shared[0]), "0");
  const std::string swapped = "pools: {exclusive-a: {cpus: 0}, shared-b: {cpus: 1}}";
  for (bool restarted : {false, true}) {
    if (restarted) state_ = PoolState();
    configure(swapped);
    const auto done = look();
    EXPECT_EQ(FakeCgroups::cpus(exclusive[0]), "1") << "it keeps what it got";
    EXPECT_EQ(FakeCgroups::cpus(shared[0]), "0") << "there is no other CPU for it";
    EXPECT_EQ(healthy("exclusive-a"), "0! 1") << "a container still runs on 0";
    EXPECT_FALSE(state_.allocate("exclusive-a", {"0"}, clock_.steady()));
    EXPECT_FALSE(state_.allocate("shared-b", {"A"}, clock_.steady())) << "1 is still held";
    ASSERT_EQ(done.notes.size(), 1u);
    EXPECT_EQ(done.notes[0].kind, Note::Kind::pool_held);
    EXPECT_TRUE(done.double_booked.empty());
  }
  // A container that starts meanwhile keeps off the CPU that has an owner.
  const auto late = add_pod("l", {{"c", {"shared-b"}}});
  look();
  EXPECT_EQ(FakeCgroups::cpus(late[0]), "0");
  remove_pod("e", exclusive);
  look();
  EXPECT_EQ(FakeCgroups::cpus(shared[0]), "1");
  EXPECT_EQ(FakeCgroups::cpus(late[0]), "1");
  EXPECT_EQ(healthy("exclusive-a"), "0");
  EXPECT_TRUE(state_.allocate("exclusive-a", {"0"}, clock_.steady()));
}

TEST_F(SetterTest, withholds_cpus_of_containers_that_wait_for_the_default_pool) {
  machine({.cpus = 2}, "pools: {exclusive-a: {cpus: 1}, default: {cpus: 0}}");
  const auto exclusive = add_pod("e", {{"c", {"exclusive-a"}, {"1"}}});
  const auto plain = add_pod("p", {{"c"}});
  look();
  configure("pools: {exclusive-a: {cpus: 0}, default: {cpus: 1}}");
  look();
  EXPECT_EQ(FakeCgroups::cpus(plain[0]), "0");
  EXPECT_EQ(healthy("exclusive-a"), "0! 1");
  remove_pod("e", exclusive);
  look();
  EXPECT_EQ(FakeCgroups::cpus(plain[0]), "1");
  EXPECT_EQ(healthy("exclusive-a"), "0");
}

TEST_F(SetterTest, withholds_cpus_of_a_shared_pool_that_was_removed) {
  machine({.cpus = 2}, "pools: {exclusive-a: {cpus: 1}, shared-b: {cpus: 0}}");
  const auto shared = add_pod("s", {{"c", {"shared-b"}}});
  look();
  configure("pools: {exclusive-a: {cpus: 0-1}}");
  look();
  EXPECT_EQ(healthy("exclusive-a"), "0! 1");
  remove_pod("s", shared);
  look();
  EXPECT_EQ(healthy("exclusive-a"), "0 1");
}

TEST(OrderWrites, does_not_wait_for_a_container_whose_set_cannot_be_written) {
  const std::vector<CpuSet> actual{{1, 2}, {3}};
  const std::vector<CpusetTarget> targets{{.cpus = {1}}, {.cpus = {4}}};
  const auto first = order_writes(actual, targets, CpuSet{2, 3});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].container, 0u);
  const auto next = order_writes(actual, targets, CpuSet{2, 3}, {true, false});
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].container, 1u);
  EXPECT_EQ(next[0].cpus, CpuSet{4});
}

TEST_F(SetterTest, reports_a_cpu_with_two_owners) {
  machine({.cpus = 4}, "pools: {exclusive-a: {cpus: 2-3}, shared-b: {cpus: 1}}");
  const auto pod = add_pod("e", {{"c", {"exclusive-a"}, {"2"}}});
  look();
  std::vector<LiveContainer> live{{.path = "x", .uid = "o", .pod = "ns/o", .container = "c"},
                                  {.path = "y", .uid = "e", .pod = "ns/e", .container = "d"}};
  const std::vector<CpusetTarget> targets{{.cpus = {1}}, {.cpus = {0}}};
  EXPECT_EQ(double_bookings(state_, live, {CpuSet{1, 2}, CpuSet{2}}, targets),
            std::vector<std::string>{
                "CPU 2 of pool exclusive-a belongs to ns/e/c, but ns/o/c runs on it too"});
  EXPECT_TRUE(double_bookings(state_, live, {CpuSet{1}, CpuSet{2}}, targets).empty())
      << "containers of one pod may share";
}

TEST_F(SetterTest, keeps_the_cpus_of_containers_when_the_base_name_changes) {
  const std::string pools =
      "pools: {exclusive-a: {cpus: '1,2', hyperThreadingPolicy: multiThreaded}, shared-b: {cpus: "
      "3}, default: {cpus: 0}}";
  machine({.cpus = 8, .threads = 2}, pools);
  const auto exclusive = add_pod("e", {{"c", {"exclusive-a"}, {"1"}}});
  const auto shared = add_pod("s", {{"c", {"shared-b"}}});
  look();
  EXPECT_EQ(FakeCgroups::cpus(exclusive[0]), "1,5");
  configure("resourceBaseName: example.com\n" + pools);
  for (PodFacts& pod : pods_)  // as facts_of() reads them now
    pod.containers[0].pools[0] = "nokia.k8s.io/" + pod.containers[0].pools[0];
  writes_ = 0;
  look();
  EXPECT_EQ(writes_, 0);
  EXPECT_EQ(FakeCgroups::cpus(exclusive[0]), "1,5");
  EXPECT_EQ(FakeCgroups::cpus(shared[0]), "3");
  EXPECT_EQ(healthy("exclusive-a"), "1! 2") << "the new resource does not offer it";
  EXPECT_EQ(healthy("nokia.k8s.io/exclusive-a"), "1") << "its container may start again";
  configure(pools);  // and back
  pods_[0].containers[0].pools[0] = "exclusive-a";
  pods_[1].containers[0].pools[0] = "shared-b";
  look();
  EXPECT_EQ(writes_, 0);
  EXPECT_EQ(healthy("exclusive-a"), "1 2");
  EXPECT_EQ(endpoints_of(state_), (std::vector<std::string>{"exclusive-a", "shared-b"}));
}

TEST_F(SetterTest, finds_base_names_from_before_it_started) {
  machine({.cpus = 4}, "resourceBaseName: example.com\npools: {exclusive-a: {cpus: '1,2'}}");
  const auto pod = add_pod("e", {{"c", {"exclusive-a"}, {"1"}}});  // of nokia.k8s.io
  const auto find = [&] {
    return forgotten_bases(answer_, pods_, setter_->tree().scan(), state_.base_names(),
                           [this](const std::string& path) { return environments_[path]; });
  };
  EXPECT_TRUE(find().empty()) << "it may be the resource of another plugin";
  environments_[pod[0]] = "A=B\0PLIMSOLL_CPUS_EXCLUSIVE_A=1\0"s;
  ASSERT_EQ(find(), std::vector<std::string>{"nokia.k8s.io"});
  state_.add_former_base("nokia.k8s.io");
  EXPECT_TRUE(find().empty());
  pods_[0].containers[0].pools = {"nokia.k8s.io/exclusive-a"};
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "1");
  EXPECT_EQ(healthy("exclusive-a"), "1! 2");
}

TEST_F(SetterTest, restores_a_set_after_a_resize_without_calling_it_drift) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("e", {{"c", {"exclusive-a"}, {"10"}}});
  pods_[0].containers[0].resources = "cpu=1;";
  look();
  const auto disturb = [&] {
    cgroups_->set(pod[0].substr(host_->root().size()), "0-39");
    look();
    EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
  };
  pods_[0].containers[0].resources = "cpu=2;";  // pods/resize
  look();
  clock_.advance(std::chrono::seconds(20));  // the kubelet applies it later
  disturb();
  EXPECT_EQ(drifts_, 0);
  clock_.advance(std::chrono::seconds(60));
  disturb();
  EXPECT_EQ(drifts_, 1) << "nothing explains this one";
  pods_[0].containers[0].resizing = true;  // the kubelet says that it works on it
  disturb();
  EXPECT_EQ(drifts_, 1);
}

TEST_F(SetterTest, reports_drift_that_begins_after_the_containers_were_read) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("p", {{"c", {"exclusive-a"}, {"10"}}});
  look();
  on_read_ = [&] { ASSERT_TRUE(write_existing_file(pod[0] + "/cpuset.cpus", "0-39")); };
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
  EXPECT_EQ(drifts_, 1);
}

TEST(PodFacts, know_that_a_resize_is_in_progress) {
  const auto facts = [](std::string_view requests, std::string_view status) {
    kube::InternPool pool;
    std::string text = fmt::format(
        R"({{"metadata": {{"name": "p", "namespace": "ns", "uid": "u"}},
             "spec": {{"containers": [{{"name": "c", "image": "x", "resources": {{
                 "requests": {}, "limits": {{"cpu": "2", "nokia.k8s.io/shared-b": "100"}}}}}}]}},
             "status": {{"phase": "Running", {}}}}})",
        requests, status);
    const auto pod = kube::decode_pod(kube::JsonText(text), pool);
    EXPECT_TRUE(pod) << pod.error().message;
    return facts_of(*pod, {}).containers[0];
  };
  const auto in_force = [](std::string_view cpu) {
    return fmt::format(
        R"("containerStatuses": [{{"name": "c", "containerID": "containerd://id-c",
           "resources": {{"requests": {{"cpu": "{}"}}}}}}])",
        cpu);
  };
  EXPECT_FALSE(facts(R"({"cpu": "1"})", in_force("1")).resizing);
  // Requests in force may differ for other reasons; the changed specification is noticed.
  EXPECT_FALSE(facts(R"({"cpu": "2"})", in_force("1")).resizing);
  EXPECT_NE(facts(R"({"cpu": "1"})", in_force("1")).resources,
            facts(R"({"cpu": "2"})", in_force("1")).resources);
  EXPECT_TRUE(facts(R"({"cpu": "1"})", in_force("1") + R"(, "conditions": [
      {"type": "PodResizeInProgress", "status": "True"}])")
                  .resizing);
}

TEST_F(SetterTest, a_pod_that_claims_the_identity_of_another_changes_nothing_for_it) {
  for (const bool is_static : {false, true}) {
    machine({.cpus = 40}, kPools);
    pods_.clear();
    answer_ = {};
    state_.set_holdings({}, clock_.steady());
    const auto pod = add_pod("victim", {{"c", {"exclusive-a"}, {"10"}}});
    if (is_static) pods_[0].uid = "mirror";
    // As if it were the mirror of the same static pod. The API may list it before the other.
    const PodFacts liar{.key = "ns/liar", .uid = "liar", .cgroup_uid = "victim"};
    look();
    EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
    for (const int at : {0, 1}) {
      const auto added = pods_.insert(pods_.begin() + at, liar);
      look();
      EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10") << is_static;
      pods_.erase(added);
    }
    EXPECT_EQ(drifts_, 0);
  }
}

TEST_F(SetterTest,
       containers_of_static_pods_with_the_same_hash_belong_to_none_before_they_have_an_id) {
  machine({.cpus = 40}, kPools);
  const auto pod = add_pod("hash", {{"c", {"exclusive-a"}, {"10"}}});
  pods_[0].uid = "mirror";
  pods_[0].containers[0].id.clear();
  environments_[pod[0]] = std::string("PLIMSOLL_CPUS_EXCLUSIVE_A=10\0", 29);
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
  pods_.push_back({.key = "ns/liar", .uid = "liar", .cgroup_uid = "hash"});
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "0-1");
  pods_[0].containers[0].id = "hashc";
  look();
  EXPECT_EQ(FakeCgroups::cpus(pod[0]), "10");
}

TEST(PodFacts, believe_the_hash_of_mirror_pods_only) {
  const auto uid = [](const std::string& annotations, const std::string& owner) {
    kube::InternPool pool;
    std::string text = fmt::format(
        R"({{"metadata": {{"name": "p", "namespace": "ns", "uid": "own", "annotations": {{{}}},
                           "ownerReferences": [{}]}},
             "spec": {{"containers": [{{"name": "c", "image": "x"}}]}}}})",
        annotations, owner);
    const auto pod = kube::decode_pod(kube::JsonText(text), pool);
    EXPECT_TRUE(pod) << pod.error().message;
    return facts_of(*pod, {}).cgroup_uid;
  };
  const std::string hash = R"("kubernetes.io/config.hash": "4711ab")";
  const std::string mirror = hash + R"(, "kubernetes.io/config.mirror": "4711ab")";
  const std::string node = R"({"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "n"})";
  const std::string job = R"({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j"})";
  EXPECT_EQ(uid(mirror, node), "4711ab");
  EXPECT_EQ(uid(hash, node), "own");
  EXPECT_EQ(uid(mirror, job), "own");
  EXPECT_EQ(uid(mirror, ""), "own");
  EXPECT_EQ(uid(R"("kubernetes.io/config.mirror": "4711ab")", node), "own");
}

TEST(PodFacts, of_a_static_pod_are_found_by_the_hash_in_its_cgroup) {
  kube::InternPool pool;
  std::string text = R"({
      "metadata": {"name": "etcd-n1", "namespace": "kube-system", "uid": "mirror",
                   "annotations": {"kubernetes.io/config.hash": "4711ab",
                                   "kubernetes.io/config.mirror": "4711ab", "a": "b"},
                   "ownerReferences": [
                     {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "n"}]},
      "spec": {"initContainers": [{"name": "i", "image": "x"}],
               "containers": [{"name": "c", "image": "x", "resources": {"limits": {
                 "nokia.k8s.io/exclusive-a": "1", "nokia.k8s.io/none": "0", "nokia.k8s.iox/b": "1",
                 "cpu": "1"}}}]},
      "status": {"phase": "Running",
                 "containerStatuses": [{"name": "c", "containerID": "containerd://id-c"}]}})";
  const auto pod = kube::decode_pod(kube::JsonText(text), pool);
  ASSERT_TRUE(pod) << pod.error().message;
  const PodFacts facts = facts_of(*pod, {});
  EXPECT_EQ(facts.key, "kube-system/etcd-n1");
  EXPECT_EQ(facts.uid, "mirror");
  EXPECT_EQ(facts.cgroup_uid, "4711ab");
  ASSERT_EQ(facts.containers.size(), 2u);
  EXPECT_EQ(facts.containers[1].id, "id-c");
  EXPECT_EQ(facts.containers[1].pools, std::vector<std::string>{"exclusive-a"});
  EXPECT_FALSE(facts.ended);
}

}  // namespace
}  // namespace plim::pools
