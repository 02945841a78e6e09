// A pod is deleted and created again under its name. What was decided about the first one must not
// happen to the second one.
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/paths.hpp"
#include "local/apiserver/testing/api_fixture.hpp"
#include "placement/testing/objects.hpp"
#include "sched/binder.hpp"
#include "sched/evictor.hpp"

namespace plim::sched {
namespace {

using local::apiserver::testing::simple_pod;

class NamesakeTest : public local::apiserver::testing::ApiTest {
 protected:
  static kube::ObjectPath path() { return {"default", "a"}; }

  PodPointer create() {
    auto made = run(client->create(kube::resources::pods, path(), simple_pod("a")));
    PLIM_ASSERT(made);
    return placement::testing::pod_of(to_json(*made));
  }

  void remove() {
    kube::DeleteOptions at_once;
    at_once.grace_seconds = 0;
    ASSERT_TRUE(run(client->remove(kube::resources::pods, path(), at_once)));
  }

  // The pod is there, and this scheduler decided about an earlier one.
  PodPointer replaced() {
    PodPointer first = create();
    remove();
    second_ = create()->meta.uid;
    EXPECT_NE(second_, first->meta.uid);
    return first;
  }

  Result<void> bind(PodPointer pod) {
    Binder binder(loop.executor(), client);
    std::optional<Result<void>> out;
    Binding binding{.pod = std::move(pod), .node = "n1", .annotations = {}, .extenders = nullptr};
    binder.bind(std::move(binding), [&](Result<void> done) { out = std::move(done); });
    until([&] { return out.has_value(); });
    run(binder.stop());
    return *out;
  }

  void evict(PodPointer victim) {
    Evictor evictor(
        loop.executor(), client, reports_, state_, [this](bool, Nanos) { evicted_ = true; }, clock);
    evictor.evict({.preemptor = placement::testing::plain_pod("great"),
                   .profile = "default-scheduler",
                   .node = "n1",
                   .victims = {std::move(victim)},
                   .yielding = {}});
    until([&] { return evicted_; });
    run(evictor.stop());
  }

  template <class Condition>
  void until(Condition condition) {
    auto wait = [](Condition& is_met) -> Task<void> {
      for (int turns = 0; !is_met(); ++turns) {
        if (turns == 3'000) throw std::runtime_error("it did not come about");
        co_await yield_to_loop();
      }
    };
    run(wait(condition));
  }

  void TearDown() override {
    run(reports_.stop());
    run(events_.stop());
  }

  EventWriter events_{loop.executor(), client, "host", clock};
  kube::Store<kube::Pod> pods_;
  PodReports reports_{loop.executor(), client, events_, pods_, clock};
  SchedulerState state_{{.config = std::make_shared<const Configuration>(default_configuration())},
                        {},
                        {},
                        {.on_change = [] {}},
                        clock};
  std::string second_;  // uid of the second pod
  bool evicted_ = false;
};

TEST_F(NamesakeTest, is_not_bound) {
  const auto bound = bind(replaced());
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code, Code::conflict);
  auto pod = run(client->get(kube::resources::pods, path()));
  ASSERT_TRUE(pod);
  EXPECT_EQ(kube::text_at(*pod, "Pod.spec.nodeName"), "");
}

TEST_F(NamesakeTest, is_not_evicted) {
  evict(replaced());
  auto pod = run(client->get(kube::resources::pods, path()));
  ASSERT_TRUE(pod);
  EXPECT_EQ(kube::text_at(*pod, "Pod.metadata.uid"), second_);
  EXPECT_EQ(kube::find(*pod, "Pod.metadata.deletionTimestamp"), nullptr);
}

TEST_F(NamesakeTest, does_not_keep_the_pod_itself_from_being_bound_or_evicted) {
  ASSERT_TRUE(bind(create()));
  remove();
  evict(create());
  EXPECT_FALSE(run(client->get(kube::resources::pods, path())));
}

}  // namespace
}  // namespace plim::sched
