// What happens to pods while their node is stopped.
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"
#include "local/kubelet/shim/shim_client.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;

class PodAdoption : public testing::NodeTest {
 protected:
  std::string pod_directory(const std::string& name) {
    return fmt::format("{}/n1/pods/{}", dir.path(), text_at(get_pod(name), {"metadata", "uid"}));
  }
};

TEST_F(PodAdoption, leaves_a_running_pod_alone) {
  start_node();
  create_pod("a", script("exec sleep 1000"));
  follow("a", shows("c:Ready"));
  const std::string before(
      text_at(list_at(get_pod("a"), {"status", "containerStatuses"}).at(0), {"containerID"}));
  stop_node();
  const auto state = read_shim_state(pod_directory("a"));
  ASSERT_TRUE(state);
  EXPECT_TRUE(is_alive(state->runs.at(0).pid, state->runs.at(0).pid_start));
  start_node();
  follow("a", shows("c:Ready"));
  loop.run_ready();
  const json::value pod = get_pod("a");
  const json::value& status = list_at(pod, {"status", "containerStatuses"}).at(0);
  EXPECT_EQ(text_at(status, {"containerID"}), before);
  EXPECT_EQ(int_at(status, {"restartCount"}), 0);
  EXPECT_EQ(text_at(pod, {"status", "podIP"}), "127.32.1.2");
}

TEST_F(PodAdoption, learns_how_a_pod_ended_meanwhile) {
  start_node();
  create_pod("a", script("while ! test -e ../go; do sleep 0.01; done; exit 7"));
  follow("a", shows("c:Ready"));
  stop_node();
  ASSERT_TRUE(write_file(pod_directory("a") + "/go", ""));
  for (;;) {
    const auto state = read_shim_state(pod_directory("a"));
    if (state && !state->runs.at(0).running) break;
    ::usleep(1000);
  }
  start_node();
  EXPECT_EQ(follow("a", phase("Failed")).back(), "Failed c:Error(7)");
}

TEST_F(PodAdoption, goes_on_counting_restarts) {
  start_node();
  create_pod("a", script("exit 1", "Always"));
  follow("a", shows("CrashLoopBackOffx1"));
  stop_node();
  start_node();
  follow("a", shows("x2"));
}

TEST_F(PodAdoption, reports_an_unknown_end_of_a_pod) {
  start_node();
  create_pod("a", script("exec sleep 1000"));
  follow("a", shows("c:Ready"));
  const auto state = read_shim_state(pod_directory("a"));
  ASSERT_TRUE(state);
  ::kill(state->pid, SIGKILL);
  EXPECT_EQ(follow("a", phase("Failed")).back(), "Failed c:ContainerStatusUnknown(137)");
  while (is_alive(state->runs.at(0).pid, state->runs.at(0).pid_start)) ::usleep(1000);
}

// Answers as the shim of another version of the program would, until it is asked to quit.
class OtherShim {
 public:
  OtherShim(const std::string& directory, int protocol) {
    const std::string path = fmt::format("{}/{}", directory, kShimSocket);
    ::unlink(path.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_.get(), 5), 0);
    thread_ = std::thread([this, protocol] { serve(protocol); });
  }

  std::string last_request() {
    thread_.join();
    return asked_;
  }

 private:
  void serve(int protocol) {
    const std::string state = fmt::format("{{\"protocol\":{},\"pid\":1,\"runs\":[]}}\n", protocol);
    std::vector<Fd> open;
    while (asked_.find("quit") == asked_.npos) {
      open.emplace_back(::accept(fd_.get(), nullptr, nullptr));
      char request[4096];
      const ssize_t n = ::recv(open.back().get(), request, sizeof request, 0);
      asked_.assign(request, n > 0 ? static_cast<std::size_t>(n) : 0);
      if (asked_.find("watch") != asked_.npos) {
        EXPECT_EQ(::send(open.back().get(), state.data(), state.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(state.size()));
      }
    }
    fd_.reset();  // a shim that has ended refuses connections
  }

  Fd fd_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string asked_;
  std::thread thread_;
};

TEST_F(PodAdoption, ends_a_shim_that_a_later_version_started) {
  start_node();
  create_pod("a", script("exec sleep 1000"));
  follow("a", shows("c:Ready"));
  stop_node();
  const auto state = read_shim_state(pod_directory("a"));
  ASSERT_TRUE(state);
  ::kill(state->pid, SIGKILL);
  OtherShim later(pod_directory("a"), kShimProtocol + 1);
  start_node();
  EXPECT_EQ(follow("a", phase("Failed")).back(), "Failed c:ContainerStatusUnknown(137)");
  EXPECT_EQ(later.last_request(), "{\"do\":\"quit\"}\n");
}

TEST(ShimProtocol, shims_before_0_3_have_protocol_1) {
  const auto state = decode_shim_state(json::object{{"pid", 7}, {"runs", json::array{}}});
  ASSERT_TRUE(state);
  EXPECT_EQ(state->protocol, 1);
}

TEST(ShimProtocol, an_old_shim_gets_no_volume_that_it_cannot_check) {
  StartSpec spec;
  spec.mounts = {{.from = "/srv/v/data", .to = "/data"}};
  EXPECT_TRUE(check_understood(spec, 1));
  spec.mounts[0].volume = "/srv/v";
  EXPECT_TRUE(check_understood(spec, kShimProtocol));
  const auto refused = check_understood(spec, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "an earlier version of plimsoll started the pod, and cannot keep subPath at /data within "
      "its volume; delete the pod");
}

class NodeRestart : public PodAdoption {
 protected:
  // Like a machine that is switched off and on.
  void restart_node() {
    run_to_end(loop, node->end_pods(Shutdown::until_restart));
    stop_node();
    start_node();
  }

  // A container without probes is ready before its script has written anything.
  void wait_for_runs(const std::string& wanted) {
    const std::string file = pod_directory("a") + "/runs";
    for (int i = 0; i < 10'000 && read_file(file).value_or("") != wanted; ++i) ::usleep(1000);
    ASSERT_EQ(read_file(file).value_or(""), wanted);
  }
};

TEST_F(NodeRestart, starts_the_containers_of_the_same_pods_again) {
  start_node();
  create_pod("a", script("echo run >> ../runs; exec sleep 1000", "Always"));
  follow("a", shows("c:Ready"));
  wait_for_runs("run\n");
  const json::value before = get_pod("a");
  run_to_end(loop, node->end_pods(Shutdown::until_restart));
  EXPECT_EQ(get_pod("a"), before);  // no node runs that could write it
  EXPECT_EQ(devices.holders.size(), 1u);
  stop_node();
  const auto state = read_shim_state(pod_directory("a"));
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->runs.at(0).running);
  start_node();
  for (const std::string& seen : follow("a", shows("c:Readyx1")))
    EXPECT_EQ(seen.find("Failed"), seen.npos) << seen;
  const json::value after = get_pod("a");
  for (std::string_view same : {"uid", "name", "creationTimestamp"})
    EXPECT_EQ(text_at(after, {"metadata", same}), text_at(before, {"metadata", same}));
  const json::value& status = list_at(after, {"status", "containerStatuses"}).at(0);
  EXPECT_EQ(int_at(status, {"lastState", "terminated", "exitCode"}), 143);
  EXPECT_EQ(text_at(after, {"status", "podIP"}), "127.32.1.2");
  wait_for_runs("run\nrun\n");
  restart_node();
  follow("a", shows("c:Readyx2"));
}

TEST_F(NodeRestart, follows_the_restart_policy) {
  start_node();
  create_pod("never", script("exec sleep 1000", "Never"));
  create_pod("failed", script("exec sleep 1000", "OnFailure"));
  create_pod("done", script("trap 'exit 0' TERM; while :; do sleep 0.01; done", "OnFailure"));
  for (const char* name : {"never", "failed", "done"}) follow(name, shows("c:Ready"));
  restart_node();
  EXPECT_EQ(follow("never", phase("Failed")).back(), "Failed c:Error(143)");
  follow("failed", shows("c:Readyx1"));
  EXPECT_EQ(follow("done", phase("Succeeded")).back(), "Succeeded c:Completed(0)");
  while (devices.holders.size() > 1) loop.run_ready();
}

TEST_F(NodeRestart, runs_init_containers_again) {
  start_node();
  create_pod("a", R"({"restartPolicy":"Always","terminationGracePeriodSeconds":5,
      "initContainers":[{"name":"i","image":"x","command":["sh","-c","echo init >> ../runs"]}],
      "containers":[{"name":"c","image":"x","command":["sh","-c","echo main >> ../runs; exec sleep 1000"]}]})");
  follow("a", shows("c:Ready"));
  wait_for_runs("init\nmain\n");
  restart_node();
  follow("a", shows("c:Readyx1"));
  wait_for_runs("init\nmain\ninit\nmain\n");
}

TEST_F(NodeRestart, leaves_pods_alone_that_are_being_deleted) {
  start_node();
  create_pod("a", script("trap '' TERM; while :; do sleep 0.01; done", "Always"));
  follow("a", shows("c:Ready"));
  kube::DeleteOptions soon;
  soon.grace_seconds = 1;
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"}, soon)));
  node_clock = &system_clock();
  stop_node();
  start_node();
  run_to_end(loop, node->end_pods(Shutdown::until_restart));
  EXPECT_EQ(follow("a", phase("none")).back(), "gone");
}

TEST_F(PodAdoption, ends_pods_that_were_deleted_meanwhile) {
  start_node();
  create_pod("a", script("exec sleep 1000"));
  follow("a", shows("c:Ready"));
  const std::string directory = pod_directory("a");
  const auto state = read_shim_state(directory);
  ASSERT_TRUE(state);
  stop_node();
  kube::DeleteOptions now;
  now.grace_seconds = 0;
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"}, now)));
  start_node();
  while (::access(directory.c_str(), F_OK) == 0) loop.run_ready();
  EXPECT_FALSE(is_alive(state->runs.at(0).pid, state->runs.at(0).pid_start));
}

TEST_F(PodAdoption, keeps_ended_pods_and_their_logs) {
  start_node();
  create_pod("a", script("echo hello"));
  follow("a", phase("Succeeded"));
  stop_node();
  start_node();
  loop.run_ready();
  EXPECT_EQ(log_of("a"), "hello\n");
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"default", "a"})));
  EXPECT_EQ(follow("a", phase("none")).back(), "gone");
}

}  // namespace
}  // namespace plim::local::kubelet
