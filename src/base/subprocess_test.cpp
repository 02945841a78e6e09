#include "base/subprocess.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::TempDir;

Command shell(std::string script) {
  return Command{.argv = {"/bin/sh", "-c", std::move(script)}};
}

Result<Finished> run_now(Command command) {
  Loop loop;
  return run_to_end(loop, run(std::move(command)));
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

bool have_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// True once no process has this ID; init may need a moment to reap an orphan.
bool gone_soon(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!stat || stat->find(") Z ") != stat->npos) return true;
    ::usleep(10'000);
  }
  return false;
}

TEST(Subprocess, captures_output_and_exit_code) {
  auto finished = run_now(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->out.text, "out\n");
  EXPECT_EQ(finished->err.text, "err\n");
  EXPECT_EQ(finished->exit.code, 3);
  EXPECT_FALSE(finished->exit.ok());
  EXPECT_EQ(finished->exit.describe(), "exit code 3");
}

TEST(Subprocess, reports_the_signal) {
  auto finished = run_now(shell("kill -9 $$"));
  EXPECT_EQ(finished->exit.signal, SIGKILL);
  EXPECT_EQ(finished->exit.describe(), "killed by signal 9 (Killed)");
}

TEST(Subprocess, input_larger_than_a_pipe_comes_back) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "line\n";
  Command command{.argv = {"cat"}};
  command.input = text;
  auto finished = run_now(std::move(command));
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->out.text == text);
  EXPECT_FALSE(finished->out.truncated);
}

TEST(Subprocess, input_may_stay_unread) {
  Command command{.argv = {"true"}};
  command.input = std::string(1 << 20, 'x');
  EXPECT_TRUE(run_now(std::move(command))->exit.ok());
}

TEST(Subprocess, no_input_is_the_end_of_file) {
  EXPECT_EQ(run_now({.argv = {"cat"}})->out.text, "");
}

TEST(Subprocess, output_over_the_limit_is_cut_and_marked) {
  Command command = shell("head -c 300000 /dev/zero; printf 123456 >&2");
  command.out = Output::captured(1000);
  command.err = Output::captured(6);
  auto finished = run_now(std::move(command));
  EXPECT_EQ(finished->out.text.size(), 1000u);
  EXPECT_TRUE(finished->out.truncated);
  EXPECT_EQ(finished->err.text, "123456");
  EXPECT_FALSE(finished->err.truncated);
  EXPECT_TRUE(finished->exit.ok());
}

TEST(Subprocess, environment_and_directory) {
  ::setenv("PLIM_TEST_A", "ours", 1);
  ::setenv("PLIM_TEST_B", "ours", 1);
  Command command = shell("echo $PLIM_TEST_A $PLIM_TEST_B; pwd");
  command.env = {{"PLIM_TEST_B", "theirs"}};
  command.cwd = "/usr";
  EXPECT_EQ(run_now(command)->out.text, "ours theirs\n/usr\n");
  command.inherit_env = false;
  EXPECT_EQ(run_now(command)->out.text, "theirs\n/usr\n");
}

TEST(Subprocess, errors_name_the_program_that_could_not_start) {
  auto missing = run_now({.argv = {"/no/such/program"}});
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(missing.error().message, "cannot start /no/such/program: no such file or directory");
  EXPECT_EQ(run_now({.argv = {"no-such-program-in-path"}}).error().code, Code::not_found);
  EXPECT_EQ(run_now({.argv = {"/etc/passwd"}}).error().code, Code::forbidden);
  Command elsewhere{.argv = {"true"}};
  elsewhere.cwd = "/no/such/dir";
  EXPECT_THAT(run_now(elsewhere).error().message, HasSubstr("in /no/such/dir"));
  EXPECT_EQ(run_now({.argv = {}}).error().code, Code::invalid);
  EXPECT_EQ(run_now({.argv = {"echo", std::string("a\0b", 3)}}).error().code, Code::invalid);
}

TEST(Subprocess, the_child_has_three_descriptors_and_default_signals) {
  Fd leaked(::open("/dev/null", O_RDONLY));  // not close-on-exec
  auto before = ::signal(SIGPIPE, SIG_IGN);
  auto finished = run_now(shell("ls /proc/$$/fd; grep SigIgn /proc/$$/status"));
  ::signal(SIGPIPE, before);
  // The shell may have a descriptor of its own from 10 on; ours would be a small number.
  EXPECT_THAT(finished->out.text, ::testing::StartsWith("0\n1\n2\n"));
  EXPECT_THAT(finished->out.text, ::testing::Not(HasSubstr("\n" + std::to_string(leaked.get()))));
  const auto ignored = finished->out.text.substr(finished->out.text.find("SigIgn:") + 7);
  EXPECT_EQ(std::stoull(ignored, nullptr, 16) & (1u << (SIGPIPE - 1)), 0u);
}

TEST(Subprocess, a_grandchild_holding_the_pipe_is_not_waited_for) {
  const auto start = std::chrono::steady_clock::now();
  auto finished = run_now(shell("echo before; sleep 20 & echo $!"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  ASSERT_THAT(finished->out.text, ::testing::StartsWith("before\n"));
  ::kill(std::stoi(finished->out.text.substr(7)), SIGKILL);
}

TEST(Subprocess, time_out_ends_the_whole_group) {
  TempDir dir;
  Command command = shell("sleep 30 & echo $! > " + dir.path() + "/pid; wait");
  command.timeout = 300ms;
  auto finished = run_now(std::move(command));
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Code::timeout);
  EXPECT_EQ(finished.error().message, "/bin/sh did not end within 0.3 s and was stopped");
  EXPECT_TRUE(gone_soon(std::stoi(read_file(dir / "pid").value())));
  EXPECT_FALSE(have_children());
}

TEST(Subprocess, a_child_that_ignores_sigterm_is_killed_after_the_grace) {
  Command command = shell("trap '' TERM; while :; do sleep 0.05; done");
  command.timeout = 100ms;
  command.grace = 100ms;
  EXPECT_EQ(run_now(std::move(command)).error().code, Code::timeout);
  EXPECT_FALSE(have_children());
}

Task<void> run_and_note(Command command, bool& finished) {
  auto result = co_await run(std::move(command));
  finished = result.has_value();
}

Task<bool> wait_for_file(std::string path) {
  for (int i = 0; i < 500; ++i) {
    if (std::filesystem::exists(path) && std::filesystem::file_size(path) > 0) co_return true;
    co_await system_clock().sleep(10ms);
  }
  co_return false;
}

TEST(Subprocess, cancelling_the_task_kills_and_reaps_the_child) {
  TempDir dir;
  Loop loop;
  bool finished = false;
  TaskGroup group(loop.executor());
  group.spawn("run", run_and_note(shell("echo $$ > " + (dir / "pid") + "; sleep 30"), finished));
  ASSERT_TRUE(run_to_end(loop, wait_for_file(dir / "pid")));
  const pid_t pid = std::stoi(read_file(dir / "pid").value());
  run_to_end(loop, group.stop());
  EXPECT_FALSE(finished);
  for (int i = 0; i < 500 && have_children(); ++i) run_to_end(loop, system_clock().sleep(10ms));
  EXPECT_FALSE(have_children());
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Subprocess, destroying_the_loop_first_leaves_no_zombie_either) {
  {
    Loop loop;
    auto process = Process::spawn(loop.executor(), shell("sleep 30"));
    ASSERT_TRUE(process);
    EXPECT_FALSE(process->exit());
  }
  EXPECT_FALSE(have_children());
}

TEST(Subprocess, waits_without_pidfd_too) {
  Command command = shell("echo hello; exit 7");
  command.poll_for_exit = true;
  auto finished = run_now(std::move(command));
  EXPECT_EQ(finished->exit.code, 7);
  EXPECT_EQ(finished->out.text, "hello\n");
}

TEST(Subprocess, two_hundred_in_a_row_leave_nothing_behind) {
  Loop loop;
  ASSERT_TRUE(run_to_end(loop, run({.argv = {"true"}})));
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 200; ++i) {
    auto finished = run_to_end(loop, run({.argv = {"true"}}));
    ASSERT_TRUE(finished && finished->exit.ok());
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(have_children());
}

TEST(Process, can_be_signalled_and_stopped) {
  Loop loop;
  auto spawned = Process::spawn(loop.executor(), shell("trap 'echo got; exit 4' USR1; echo up; "
                                                       "while :; do sleep 0.02; done"));
  ASSERT_TRUE(spawned);
  Process process = std::move(*spawned);
  std::string out;
  while (out != "up\n") {
    run_to_end(loop, system_clock().sleep(5ms));
    out += process.take_out().text;
  }
  process.signal(SIGUSR1);
  EXPECT_EQ(run_to_end(loop, process.wait()).code, 4);
  EXPECT_EQ(process.take_out().text, "got\n");
  process.signal(SIGUSR1);  // no process is left to receive it

  auto sleeper = Process::spawn(loop.executor(), {.argv = {"sleep", "30"}});
  EXPECT_FALSE(run_to_end(loop, sleeper->wait_until(system_clock().steady() + 20ms)));
  EXPECT_EQ(run_to_end(loop, sleeper->stop(5s)).signal, SIGTERM);
}

TEST(Process, output_can_go_to_a_file) {
  TempDir dir;
  Loop loop;
  Fd file(::open((dir / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  Command command = shell("echo to the log");
  command.out = Output::to(file.get());
  auto process = Process::spawn(loop.executor(), command);
  file.reset();
  EXPECT_TRUE(run_to_end(loop, process->wait()).ok());
  EXPECT_EQ(read_file(dir / "log").value(), "to the log\n");
  EXPECT_EQ(process->take_out().text, "");
}

}  // namespace
}  // namespace plim
