#include "local/controllers/controllers.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/apiserver/testing/api_fixture.hpp"
#include "local/controllers/controller.hpp"

namespace plim::local::controllers {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ParseControllers, takes_names_a_star_and_exceptions) {
  EXPECT_EQ(*parse_controllers("all"), controller_names());
  EXPECT_EQ(*parse_controllers("*"), controller_names());
  EXPECT_THAT(*parse_controllers("none"), IsEmpty());
  EXPECT_THAT(*parse_controllers("deployment, replicaset-controller"),
              ElementsAre("deployment-controller", "replicaset-controller"));
  EXPECT_THAT(*parse_controllers("*,-namespace"), Not(Contains("namespace-controller")));
}

TEST(ParseControllers, names_an_unknown_controller) {
  auto parsed = parse_controllers("deployment,foo");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "there is no controller \"foo\"");
}

// Enqueues its key again at once, whatever it sees.
class Restless final : public Controller {
 public:
  static constexpr int kMany = 10'000;

  using Controller::Controller;
  using Controller::enqueue;

  void look_again(const std::string& key) {
    if (events) {
      enqueue(key);
    } else {
      enqueue_after(key, -std::chrono::seconds(1));
    }
  }

  Task<Result<void>> reconcile(std::string key) override {
    if (++turns < kMany) look_again(key);
    co_return Result<void>();
  }

  bool events = false;  // it causes events itself
  int turns = 0;
};

class RestlessController : public apiserver::testing::ApiTest {
 protected:
  ~RestlessController() override { run_to_end(loop, controller.stop()); }

  SharedInformers informers{loop.executor(), client, clock};
  ControllerContext context{loop.executor(), client, clock, informers};
  Restless controller{context, {.name = "restless", .component = "restless"}};
};

TEST_F(RestlessController, does_not_keep_the_api_from_answering) {
  controller.events = true;
  controller.start();
  controller.enqueue("a");
  EXPECT_TRUE(run(client->get(kube::resources::namespaces, {"", "default"})));
  EXPECT_LT(controller.turns, Restless::kMany);
}

TEST_F(RestlessController, is_slowed_down_to_one_turn_a_second) {
  controller.start();
  controller.enqueue("a");
  for (int i = 0; i < 60'000; i += 10) {
    loop.run_ready();
    clock.advance(std::chrono::milliseconds(10));
  }
  EXPECT_GT(controller.turns, 60);
  EXPECT_LT(controller.turns, 80);
}

}  // namespace
}  // namespace plim::local::controllers
