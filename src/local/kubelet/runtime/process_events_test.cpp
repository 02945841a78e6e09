#include "local/kubelet/runtime/process_events.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/text.hpp"
#include "base/wire.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"
#include "local/kubelet/shim/shim_spawn.hpp"

namespace plim::local::kubelet {
namespace {

using What = ProcessEvent::What;
constexpr std::uint32_t kExec = 2, kExit = 0x8000'0000, kFork = 1, kAnswer = 0;

struct Message {
  std::uint16_t type = 3;
  std::uint32_t index = 1, answers = 0, what = kExec;
  std::uint64_t when = 5'000'000'123;
  std::uint32_t first = 42, second = 40;

  std::string bytes() const {
    std::string out;
    put_number(out, std::uint32_t{76});
    put_number(out, type);
    put_number(out, std::uint16_t{0});
    put_number(out, std::uint64_t{0});
    put_number(out, index);
    put_number(out, std::uint32_t{1});
    put_number(out, std::uint32_t{7});
    put_number(out, answers);
    put_number(out, std::uint16_t{40});
    put_number(out, std::uint16_t{0});
    put_number(out, what);
    put_number(out, std::uint32_t{1});
    put_number(out, when);
    put_number(out, first);
    put_number(out, second);
    out.append(16, '\0');
    return out;
  }
};

TEST(ProcessEvent, reports_an_exec) {
  const auto event = decode_process_event(Message{}.bytes());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->what, What::executed);
  EXPECT_EQ(event->process, 40);
  EXPECT_EQ(event->when, Nanos(5'000'000'123));
}

TEST(ProcessEvent, reports_an_exit_with_the_pid_not_the_thread_id) {
  const auto event = decode_process_event(Message{.what = kExit}.bytes());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->what, What::ended);
  EXPECT_EQ(event->process, 40);
  EXPECT_TRUE(event->thread);
  EXPECT_FALSE(decode_process_event(Message{.what = kExit, .first = 40}.bytes())->thread);
}

TEST(ProcessEvent, knows_the_answer_to_a_request) {
  const auto event =
      decode_process_event(Message{.answers = 10, .what = kAnswer, .first = 0}.bytes());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->what, What::listening);
  EXPECT_EQ(event->request, 9U);
}

TEST(ProcessEvent, does_not_take_an_error_for_an_answer) {
  EXPECT_FALSE(decode_process_event(Message{.what = kAnswer, .first = 22}.bytes()));
}

TEST(ProcessEvent, leaves_other_messages_alone) {
  EXPECT_FALSE(decode_process_event(Message{.what = kFork}.bytes()));
  EXPECT_FALSE(decode_process_event(Message{.type = 2}.bytes()));
  EXPECT_FALSE(decode_process_event(Message{.index = 3}.bytes()));
}

TEST(ProcessEvent, refuses_whatever_is_cut_short) {
  const std::string whole = Message{}.bytes();
  const std::size_t needed = whole.size() - 16;
  for (std::size_t size = 0; size < needed; ++size)
    EXPECT_FALSE(decode_process_event(std::string_view(whole).substr(0, size))) << size;
  EXPECT_TRUE(decode_process_event(std::string_view(whole).substr(0, needed)));
}

ProcessEvent executed(pid_t process, int when) {
  return {.what = What::executed, .process = process, .when = Nanos(when)};
}

ProcessEvent ended(pid_t process, int when, bool thread = false) {
  return {.what = What::ended, .process = process, .thread = thread, .when = Nanos(when)};
}

TEST(ProcessLives, end_with_the_last_thread) {
  ProcessLives lives;
  lives.note(executed(40, 10));
  lives.note(ended(40, 20, true));
  EXPECT_FALSE(lives.find(What::ended, 40, Nanos(0)));
  lives.note(ended(40, 30));
  lives.note(ended(40, 50, true));
  lives.note(ended(40, 40, true));
  EXPECT_EQ(lives.find(What::ended, 40, Nanos(0)), Nanos(50));
}

TEST(ProcessLives, begin_with_the_first_program) {
  ProcessLives lives;
  lives.note(executed(40, 10));
  lives.note(executed(40, 20));
  EXPECT_EQ(lives.find(What::executed, 40, Nanos(0)), Nanos(10));
  EXPECT_FALSE(lives.find(What::executed, 40, Nanos(11)));
}

TEST(ProcessLives, are_those_of_the_newest_process_of_a_number) {
  ProcessLives lives;
  lives.note(executed(40, 10));
  lives.note(ended(40, 20));
  lives.note(executed(40, 30));
  EXPECT_EQ(lives.find(What::executed, 40, Nanos(0)), Nanos(30));
  EXPECT_FALSE(lives.find(What::ended, 40, Nanos(0)));
}

TEST(ProcessLives, are_not_forgotten_for_the_threads_and_programs_of_others) {
  ProcessLives lives;
  lives.note(executed(40, 10));
  lives.note(executed(41, 11));
  for (int i = 0; i < 3 * static_cast<int>(ProcessLives::kKept); ++i) {
    lives.note(ended(41, 12 + i, true));
    lives.note(ended(1000 + i, 12 + i, true));
    lives.note(executed(41, 12 + i));
  }
  EXPECT_TRUE(lives.find(What::executed, 40, Nanos(0)));
}

TEST(ProcessLives, are_forgotten_in_the_order_they_came) {
  ProcessLives lives;
  const int kept = static_cast<int>(ProcessLives::kKept);
  for (int i = 0; i <= kept; ++i) lives.note(executed(40 + i, 10 + i));
  EXPECT_FALSE(lives.find(What::executed, 40, Nanos(0)));
  EXPECT_TRUE(lives.find(What::executed, 41, Nanos(0)));
  EXPECT_TRUE(lives.find(What::executed, 40 + kept, Nanos(0)));
}

class ProcessEventsTest : public testing::NodeTest {
 protected:
  // False if the kernel does not report events; then the test is skipped.
  bool start_listening() {
    listener.start();
    process_events = &listener;
    const Nanos before = Moment::now().monotonic;
    return run(listener.executed(run_program("exit 0"), before)).has_value();
  }

  void TearDown() override {
    NodeTest::TearDown();  // before the events that it uses
    run_to_end(loop, listener.stop());
  }

  static Task<void> ask(ProcessEvents& events, pid_t process, Nanos since, bool& done) {
    EXPECT_FALSE(co_await events.executed(process, since));
    done = true;
  }

  // Returns its pid; the process has ended.
  static pid_t run_program(const char* script) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl("/bin/sh", "sh", "-c", script, nullptr);
      ::_exit(127);
    }
    ::waitpid(pid, nullptr, 0);
    return pid;
  }

  ProcessEvents listener{loop.executor()};
};

#define LISTEN_OR_SKIP() \
  if (!start_listening()) GTEST_SKIP() << "the kernel does not report process events"

TEST_F(ProcessEventsTest, know_when_a_process_began_and_ended) {
  LISTEN_OR_SKIP();
  const Nanos before = Moment::now().monotonic;
  const pid_t pid = run_program("exec true");
  const Nanos after = Moment::now().monotonic;
  const auto began = run(listener.executed(pid, before)), ended = run(listener.ended(pid, before));
  ASSERT_TRUE(began && ended);
  EXPECT_LE(before, *began);
  EXPECT_LE(*began, *ended);
  // The kernel wakes the parent first and sends the event a moment later.
  EXPECT_LE(*ended, after + std::chrono::seconds(1));
}

TEST_F(ProcessEventsTest, look_no_further_back_than_asked) {
  LISTEN_OR_SKIP();
  const pid_t pid = run_program("exit 0");
  EXPECT_FALSE(run(listener.executed(pid, Moment::now().monotonic)));
}

// Waiting for an event that will not come would delay the status of a pod.
TEST_F(ProcessEventsTest, do_not_wait_for_what_the_kernel_has_dropped) {
  LISTEN_OR_SKIP();
  ProcessEvents small(loop.executor(), 64 << 10);
  small.start();
  const Nanos before = Moment::now().monotonic;
  ASSERT_TRUE(run(small.executed(run_program("exit 0"), before)));
  run_program("for i in $(seq 500); do /bin/true; done");  // a shell forks faster than this program
                                                           // under a sanitizer
  const pid_t pid = run_program("exit 0");
  bool done = false;
  TaskGroup asking(loop.executor());
  asking.spawn("asking", ask(small, pid, before, done));
  loop.run_ready();
  EXPECT_TRUE(done);
  run_to_end(loop, asking.stop());
  run_to_end(loop, small.stop());
}

TEST_F(ProcessEventsTest, know_nothing_before_they_listen) {
  const Nanos before = Moment::now().monotonic;
  EXPECT_FALSE(run(listener.executed(run_program("exit 0"), before)));
}

TEST_F(ProcessEventsTest, give_a_pods_run_its_times) {
  LISTEN_OR_SKIP();
  const Nanos before = Moment::now().monotonic;
  start_node();
  create_pod("a", script("echo $$"));
  follow("a", phase("Succeeded"));
  const pid_t pid = parse_int<pid_t>(trim(log_of("a"))).value_or(0);
  const ContainerRun known = node->runs().at(0);
  EXPECT_EQ(run(listener.executed(pid, before)), known.started_monotonic);
  EXPECT_EQ(run(listener.ended(pid, before)), known.finished_monotonic);
  EXPECT_LT(known.started_wall, known.finished_wall);
}

// Otherwise startedAt would step back, and finishedAt forward.
TEST_F(ProcessEventsTest, are_kept_for_the_node_that_comes_next) {
  LISTEN_OR_SKIP();
  start_node();
  create_pod("a", R"({"restartPolicy":"Never","containers":[
      {"name":"stays","image":"x","command":["sleep","1000"]},
      {"name":"ends","image":"x","command":["true"]}]})");
  follow("a", shows("ends:Completed"));
  follow("a", shows("stays:Ready"));
  const std::vector<ContainerRun> before = node->runs();
  stop_node();
  start_node();
  ASSERT_EQ(before.size(), 2U);
  while (node->runs().size() < 2) loop.run_ready();  // the status shows nothing new
  const std::vector<ContainerRun> after = node->runs();
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].started_monotonic, before[i].started_monotonic) << after[i].container;
    EXPECT_EQ(after[i].started_wall, before[i].started_wall) << after[i].container;
    EXPECT_EQ(after[i].finished_monotonic, before[i].finished_monotonic) << after[i].container;
    EXPECT_EQ(after[i].finished_wall, before[i].finished_wall) << after[i].container;
  }
}

}  // namespace
}  // namespace plim::local::kubelet
