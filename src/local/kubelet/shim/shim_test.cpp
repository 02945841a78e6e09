#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/kubelet/runtime/process_tree.hpp"
#include "local/kubelet/shim/shim_client.hpp"
#include "local/kubelet/shim/shim_spawn.hpp"

namespace plim::local::kubelet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ShimTest : public ::testing::Test {
 protected:
  ShimTest() : client(dir.path(), {"/proc/self/exe", "pod-shim"}) {
    EXPECT_TRUE(run_to_end(loop, client.launch()));
  }

  ~ShimTest() override { EXPECT_TRUE(run_to_end(loop, client.quit())); }

  StartSpec spec(std::string id, std::string script) {
    StartSpec out;
    out.id = std::move(id);
    out.name = "main";
    out.tag = json::object{{"restart", 0}};
    out.argv = {"sh", "-c", std::move(script)};
    out.env = {"PATH=/usr/bin:/bin", "GREETING=hello"};
    out.cwd = dir.path();
    out.log = dir / "main.log";
    return out;
  }

  Task<Result<ShimRun>> run_until_end(StartSpec spec) {
    std::string id = spec.id;
    PLIM_CO_TRY(ShimRun run, co_await client.start(std::move(spec)));
    if (!run.running) co_return run;
    PLIM_CO_TRY(auto watch, co_await client.watch());
    for (;;) {
      PLIM_CO_TRY(ShimState state, co_await watch->next());
      for (const ShimRun& seen : state.runs)
        if (seen.id == id && !seen.running) co_return seen;
    }
  }

  ShimRun finished(StartSpec what) {
    auto out = run_to_end(loop, run_until_end(std::move(what)));
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : ShimRun{};
  }

  ShimRun started(StartSpec what) {
    auto out = run_to_end(loop, client.start(std::move(what)));
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : ShimRun{};
  }

  plim::testing::TempDir dir;
  Loop loop;
  ShimClient client;
};

TEST_F(ShimTest, reports_exit_code_and_times) {
  const ShimRun run = finished(spec("a", "exit 3"));
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.signal, 0);
  EXPECT_LE(run.started, run.finished);
  EXPECT_LE(run.started_monotonic, run.finished_monotonic);
  EXPECT_GT(run.started_monotonic.count(), 0);
}

TEST_F(ShimTest, a_run_begins_with_its_program_and_not_with_the_preparations) {
  StartSpec slow = spec("a", "exit 0");
  // Entering these cgroups takes until the test reads the files.
  slow.cgroup = {dir / "first", dir / "second"};
  for (const std::string& path : slow.cgroup) ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Moment prepared;
  std::thread reader([&] {
    Fd first(::open(slow.cgroup[0].c_str(), O_RDONLY));
    prepared = Moment::now();
    Fd second(::open(slow.cgroup[1].c_str(), O_RDONLY));
    char byte = 0;
    EXPECT_EQ(::read(second.get(), &byte, 1), 1);
  });
  const ShimRun run = finished(slow);
  reader.join();
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_GE(run.started_monotonic, prepared.monotonic);
  EXPECT_GE(run.started, prepared.wall);
}

TEST_F(ShimTest, writes_both_streams_to_the_log) {
  finished(spec("a", "echo $GREETING; echo oops >&2; printf unfinished"));
  const auto log = read_file(dir / "main.log");
  ASSERT_TRUE(log);
  EXPECT_THAT(*log, AllOf(HasSubstr(" stdout F hello\n"), HasSubstr(" stderr F oops\n"),
                          HasSubstr(" stdout F unfinished\n")));
}

// A follower would otherwise miss lines that were logged between its look at the log and its
// request.
TEST_F(ShimTest, sends_a_follower_a_tick_at_once) {
  started(spec("a", "sleep 100"));
  auto ticks = run_to_end(loop, client.follow("a"));
  ASSERT_TRUE(ticks) << ticks.error().message;
  const auto told = run_to_end(loop, (*ticks)->next());
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_TRUE(*told);
}

TEST_F(ShimTest, reports_the_signal_that_ended_a_run) {
  const ShimRun run = finished(spec("a", "kill -9 $$"));
  EXPECT_EQ(run.signal, SIGKILL);
  EXPECT_EQ(run.exit_code, 137);
}

TEST_F(ShimTest, says_when_there_is_no_such_program) {
  StartSpec missing = spec("a", "");
  missing.argv = {"no-such-program"};
  const ShimRun run = started(missing);
  EXPECT_FALSE(run.running);
  EXPECT_EQ(run.exit_code, 128);
  EXPECT_THAT(run.error, HasSubstr("executable file not found in $PATH"));
}

TEST_F(ShimTest, starts_a_run_once_however_often_it_is_asked) {
  const ShimRun first = started(spec("a", "sleep 100"));
  const ShimRun second = started(spec("a", "sleep 100"));
  EXPECT_EQ(first.pid, second.pid);
}

TEST_F(ShimTest, passes_signals_to_the_main_process) {
  const ShimRun run = started(spec("a", "trap 'exit 5' TERM; while :; do sleep 0.01; done"));
  ASSERT_TRUE(run_to_end(loop, client.signal("a", SIGTERM)));
  // A repeated quit only waits for the end.
  const ShimRun ended = finished(spec("a", ""));
  EXPECT_TRUE(ended.exit_code == 5 || ended.signal == SIGTERM);  // the trap may not be set yet
  EXPECT_EQ(run.pid, ended.pid);
}

TEST_F(ShimTest, kills_what_a_container_leaves_behind) {
  const std::string script =
      "setsid sh -c 'echo $$ > orphan; exec sleep 100' & "
      "while ! test -s orphan; do sleep 0.01; done; exit 0";
  finished(spec("a", script));
  const auto orphan = read_file(dir / "orphan");
  ASSERT_TRUE(orphan);
  const pid_t pid = std::stoi(*orphan);
  // The kill is on its way; the shim reaps the process.
  for (int i = 0; i < 1000 && ::kill(pid, 0) == 0; ++i) ::usleep(1000);
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(ShimTest, runs_a_program_next_to_a_container) {
  started(spec("a", "sleep 100"));
  auto outcome = run_to_end(
      loop, client.exec("a", {"sh", "-c", "echo $GREETING; exit 7"}, std::chrono::seconds(10)));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 7);
  EXPECT_EQ(outcome->output, "hello\n");
  EXPECT_FALSE(outcome->timed_out);
}

TEST_F(ShimTest, ends_a_program_that_takes_too_long) {
  started(spec("a", "sleep 100"));
  auto outcome =
      run_to_end(loop, client.exec("a", {"sleep", "100"}, std::chrono::milliseconds(20)));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->timed_out);
}

TEST_F(ShimTest, leaves_its_state_on_disk) {
  const ShimRun run = started(spec("a", "sleep 100"));
  auto state = read_shim_state(dir.path());
  ASSERT_TRUE(state);
  ASSERT_EQ(state->runs.size(), 1U);
  EXPECT_TRUE(is_alive(run.pid, state->runs[0].pid_start));
  EXPECT_FALSE(is_alive(run.pid, state->runs[0].pid_start + 1));
  EXPECT_EQ(int_at(state->runs[0].tag, {"restart"}), 0);
}

TEST_F(ShimTest, keeps_two_runs_of_each_container) {
  for (std::string id : {"a", "b", "c"}) finished(spec(id, "exit 0"));
  auto state = read_shim_state(dir.path());
  ASSERT_TRUE(state);
  ASSERT_EQ(state->runs.size(), 2U);
  EXPECT_EQ(state->runs[0].id, "b");
}

TEST_F(ShimTest, takes_everything_with_it_when_it_quits) {
  const ShimRun run = started(spec("a", "sleep 100 & sleep 100"));
  const auto state = read_shim_state(dir.path());
  ASSERT_TRUE(state);
  ASSERT_TRUE(run_to_end(loop, client.quit()));
  EXPECT_FALSE(is_alive(run.pid, run.pid_start));
  EXPECT_TRUE(descendants_of(state->pid).empty());
}

TEST_F(ShimTest, leaves_its_directory_alone_once_it_has_quit) {
  ASSERT_TRUE(run_to_end(loop, client.quit()));
  EXPECT_NE(::access((dir / kShimSocket).c_str(), F_OK), 0);
}

TEST_F(ShimTest, is_alone_in_its_directory) {
  started(spec("a", "sleep 100"));
  ASSERT_TRUE(run_to_end(loop, client.launch()));  // finds the running shim
  auto state = read_shim_state(dir.path());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->runs.size(), 1U);
}

TEST_F(ShimTest, gives_a_container_namespaces_and_mounts_of_its_own) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_TRUE(make_directories(dir / "volume"));
  ASSERT_TRUE(write_file(dir / "volume/file", "inside"));
  StartSpec isolated = spec("a", "echo pid $$; cat there/file; hostname; touch there/x || exit 9");
  isolated.own_mounts = isolated.own_processes = isolated.own_devices = true;
  isolated.hostname = "web-0";
  isolated.mounts = {{dir / "volume", dir / "there", true}};
  isolated.capabilities = 0;
  isolated.no_new_privileges = true;
  const ShimRun run = finished(isolated);
  if (run.error.find("cannot create a process") != std::string::npos)
    GTEST_SKIP() << "namespaces are not allowed here";
  EXPECT_EQ(run.exit_code, 9) << run.error;
  const auto log = read_file(dir / "main.log");
  ASSERT_TRUE(log);
  EXPECT_THAT(*log, AllOf(HasSubstr("stdout F pid 1\n"), HasSubstr("inside"), HasSubstr("web-0")));
}

TEST_F(ShimTest, runs_a_program_in_the_namespaces_of_a_container) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  StartSpec isolated = spec("a", "");
  isolated.argv = {"sleep", "100"};
  isolated.own_mounts = isolated.own_processes = isolated.own_devices = true;
  isolated.hostname = "web-0";
  const ShimRun run = started(isolated);
  if (!run.running) GTEST_SKIP() << run.error;
  auto outcome =
      run_to_end(loop, client.exec("a", {"sh", "-c", "hostname; cat /proc/1/comm; exit 4"},
                                   std::chrono::seconds(10)));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 4);
  EXPECT_EQ(outcome->output, "web-0\nsleep\n");
  auto missing = run_to_end(loop, client.exec("a", {"no-such"}, std::chrono::seconds(10)));
  EXPECT_FALSE(missing);
}

}  // namespace
}  // namespace plim::local::kubelet
