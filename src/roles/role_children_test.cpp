// The supervision of roles, with a clock that the test advances. The role is this test program: it
// runs no test, and waits until somebody reads the FIFO that its results go to.
#include "roles/role_children.hpp"

#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::roles {
namespace {

using namespace std::chrono_literals;

// What the row of the role does and has counted. Its functions are plain ones.
struct RoleScript {
  std::vector<std::string> words;
  int starts = 0, preparations = 0;
  bool can_prepare = true, can_launch = true;
};

RoleScript script;

Result<RoleLaunch> launch_script(const RolePlace&) {
  ++script.starts;
  if (!script.can_launch) return fail(Code::invalid, "its file is wrong");
  return RoleLaunch{.words = script.words};
}

Task<Result<void>> prepare_script(std::shared_ptr<kube::Client>, std::string) {
  ++script.preparations;
  if (!script.can_prepare) co_return fail(Code::unavailable, "not yet");
  co_return Result<void>();
}

class RoleChildrenTest : public ::testing::Test {
 protected:
  RoleChildrenTest() {
    script = {};
    script.words = {"--gtest_filter=None", "--gtest_output=xml:" + fifo_};
    EXPECT_EQ(::mkfifo(fifo_.c_str(), 0600), 0);
    local::cluster::ClusterOptions options;
    options.directories = directories_;
    options.listen = local::cluster::FrontAddress{.port = 0, .fixed = true};
    options.durability = Durability::none;
    options.nodes.count = 0;
    cluster_ = std::make_unique<local::cluster::Cluster>(loop_.executor(), system_clock(), options);
    const auto started = run_to_end(loop_, cluster_->start());
    EXPECT_TRUE(started) << started.error().message;
    children_ = std::make_unique<RoleChildren>(loop_.executor(), clock_, *cluster_, directories_,
                                               std::vector<const RoleRow*>{&row_}, RoleSettings{});
  }

  void TearDown() override {
    run_to_end(loop_, children_->stop());
    children_.reset();
    run_to_end(loop_, cluster_->stop());
  }

  void start() {
    run_to_end(loop_, children_->register_roles());
    children_->start();
    // The look at the nodes, every half second, sleeps at all times.
    until([this] { return clock_.sleepers() > 0; });
  }

  // For what other processes do; at most ten seconds.
  template <class Condition>
  void until(Condition condition) {
    const SteadyTime limit = system_clock().steady() + 10s;
    while (!condition()) {
      if (system_clock().steady() > limit) throw std::runtime_error("it did not come about");
      loop_.run_ready();
      ::usleep(1000);
    }
  }

  static bool runs_a_process() {
    siginfo_t ended{};
    return ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;  // else: no children
  }

  // The process runs, then ends, and the role rests.
  void let_end() {
    until(runs_a_process);
    const Fd reader(::open(fifo_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    until([this] { return clock_.sleepers() == 2; });
  }

  // The time until the next start.
  Nanos wait_for_start() {
    const int before = script.starts;
    Nanos out{0};
    for (; script.starts == before && out < 5min; out += 100ms) {
      clock_.advance(100ms);
      loop_.run_ready();
    }
    return out;
  }

  void expect_wait_of(Nanos base) {
    const Nanos waited = wait_for_start();
    EXPECT_GE(waited, base);
    EXPECT_LE(waited, base * 11 / 10 + 100ms);
  }

  plim::testing::TempDir dir_;
  std::string fifo_ = dir_ / "fifo";
  Loop loop_;
  FakeClock clock_;
  local::cluster::ClusterDirectories directories_{
      .name = "t", .state = dir_ / "state", .run = dir_ / "run"};
  RoleRow row_{
      .name = "test", .process = "test", .launch = launch_script, .prepare = prepare_script};
  std::unique_ptr<local::cluster::Cluster> cluster_;
  std::unique_ptr<RoleChildren> children_;
};

TEST_F(RoleChildrenTest, a_role_that_ends_is_started_again_after_a_longer_wait_each_time) {
  start();
  for (const Nanos wait : {1s, 2s, 4s, 8s}) {
    let_end();
    expect_wait_of(Nanos(wait));
  }
  EXPECT_EQ(script.starts, 5);
}

TEST_F(RoleChildrenTest, a_role_that_ran_for_a_while_is_started_again_soon) {
  start();
  for (int i = 0; i < 3; ++i) {
    let_end();
    (void)wait_for_start();
  }
  until(runs_a_process);
  clock_.advance(31s);
  let_end();
  expect_wait_of(1s);
}

TEST_F(RoleChildrenTest, a_role_whose_objects_cannot_be_made_is_not_started_before_they_are) {
  script.can_prepare = false;
  start();
  EXPECT_EQ(script.preparations, 1);
  until([this] { return clock_.sleepers() == 2; });
  expect_wait_of(1s);
  expect_wait_of(2s);
  EXPECT_EQ(script.preparations, 3);
  EXPECT_FALSE(runs_a_process());
  script.can_prepare = true;
  expect_wait_of(4s);
  let_end();
}

TEST_F(RoleChildrenTest, a_role_that_cannot_be_launched_keeps_nothing_waiting) {
  script.can_launch = false;
  start();
  EXPECT_GE(wait_for_start(), Nanos(5min)) << "it is not tried again";
  EXPECT_FALSE(runs_a_process());
}

TEST_F(RoleChildrenTest, no_process_is_left_after_stop) {
  start();
  until(runs_a_process);
  run_to_end(loop_, children_->stop());
  EXPECT_FALSE(runs_a_process());
  const int starts = script.starts;
  clock_.advance(1h);
  loop_.run_ready();
  EXPECT_EQ(script.starts, starts);
}

}  // namespace
}  // namespace plim::roles
