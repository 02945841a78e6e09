#include "servo/daemon.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "servo/testing/fake_receiver.hpp"
#include "servo/testing/pods.hpp"
#include "servo/testing/script_client.hpp"

namespace plim::servo {
namespace {

using namespace plim::servo::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// One servo process, from start to stop, with a scripted API server.
class Life {
 public:
  Life(const std::string& store, std::size_t most_in_memory) {
    Settings settings;
    settings.account = "me";
    settings.jobs.namespaces = Namespaces{{"default"}};
    settings.jobs.app_id = default_path();
    settings.store = store;
    settings.listen = "127.0.0.1:0";
    settings.jobs.container = "0";
    auto made = std::make_unique<FakeReceiver>(loop.executor());
    receiver = made.get();
    daemon = std::make_unique<Daemon>(loop.executor(), settings, client, std::move(made), registry,
                                      system_clock(), most_in_memory);
  }

  void start() { EXPECT_TRUE(run_to_end(loop, daemon->start())); }

  void stop() {
    receiver->held.clear();
    receiver->release("");
    run_to_end(loop, daemon->stop("test"));
  }

  double unsent() {
    return registry.gauge("plimsoll_servo_unsent", "Runs that are not sent yet").value();
  }

  template <class Condition>
  void until(Condition condition) {
    auto wait = [](Condition& is_met) -> Task<void> {
      while (!is_met()) co_await yield_to_loop();
    };
    run_to_end(loop, wait(condition));
  }

  Loop loop;
  metrics::Registry registry;
  std::shared_ptr<ScriptClient> client = std::make_shared<ScriptClient>(loop.executor());
  FakeReceiver* receiver = nullptr;
  std::unique_ptr<Daemon> daemon;
};

json::array pods(int count) {
  json::array out;
  for (int i = 0; i < count; ++i) out.push_back(ended_pod(fmt::format("u{:03}", i), "a"));
  return out;
}

class DaemonTest : public ::testing::Test {
 protected:
  plim::testing::TempDir dir_{plim::testing::memory_directory()};
};

TEST_F(DaemonTest, sends_hello_runs_and_goodbye) {
  Life life(dir_ / "store", 100);
  life.client->lists = {list_of(pods(2))};
  life.start();
  life.until([&] { return life.receiver->keys.size() == 3 && life.unsent() == 0; });
  life.stop();
  EXPECT_THAT(life.receiver->keys, ElementsAre("", "u000/main/0", "u001/main/0", ""));
  EXPECT_THAT(life.receiver->bodies.front(), HasSubstr("HELLO"));
  EXPECT_THAT(life.receiver->bodies.back(), HasSubstr(R"("reason":"test")"));
}

TEST_F(DaemonTest, runs_beyond_the_limit_in_memory_wait_on_disk_in_order) {
  Life life(dir_ / "store", 4);
  life.receiver->held.insert("a");
  life.client->lists = {list_of(pods(50))};
  life.start();
  life.until([&] { return life.unsent() == 50; });
  life.receiver->release("a");
  life.until([&] { return life.unsent() == 0; });
  life.stop();
  ASSERT_THAT(life.receiver->keys, SizeIs(52));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(life.receiver->keys[static_cast<std::size_t>(i) + 1],
              fmt::format("u{:03}/main/0", i));
}

TEST_F(DaemonTest, sends_unsent_runs_after_a_restart) {
  {
    Life life(dir_ / "store", 4);
    life.receiver->answers["a"].push_back(PostAnswer{.status = 503});
    life.client->lists = {list_of(pods(20))};
    life.start();
    life.until([&] { return life.unsent() == 20; });
    life.stop();
  }
  Life life(dir_ / "store", 4);
  life.start();
  life.until([&] { return life.unsent() == 0; });
  life.stop();
  EXPECT_THAT(life.receiver->keys, SizeIs(22));
}

}  // namespace
}  // namespace plim::servo
