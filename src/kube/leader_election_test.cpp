#include "kube/leader_election.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/loop.hpp"
#include "base/random.hpp"
#include "kube/testing/object_api.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;
using testing::ObjectApi;
using testing::ObjectClient;

struct Network {
  explicit Network(std::uint64_t seed = 1) : random(seed) {}

  void run_for(Nanos duration) {
    SteadyTime end = clock.steady() + duration;
    for (loop.run_ready(); clock.steady() < end; loop.run_ready()) clock.advance(100ms);
  }

  Loop loop;
  FakeClock clock;
  SeededRandom random;
  ObjectApi api;
};

struct Replica {
  Replica(Network& network, std::string identity)
      : loop(network.loop),
        client(std::make_shared<ObjectClient>(network.api, network.clock, network.random)) {
    ElectionOptions options;
    options.name = "lead";
    options.identity = std::move(identity);
    LeaderElector::Callbacks callbacks;
    callbacks.on_started = [this] { ++started; };
    callbacks.on_stopped = [this] { ++stopped; };
    callbacks.on_new_leader = [this](const std::string& who) { leaders.push_back(who); };
    elector = std::make_unique<LeaderElector>(loop.executor(), client, options, callbacks,
                                              network.clock, network.random);
    elector->start();
  }

  ~Replica() {
    client->max_delay = Nanos(0);
    run_to_end(loop, elector->stop());
  }

  Loop& loop;
  std::shared_ptr<ObjectClient> client;
  std::unique_ptr<LeaderElector> elector;
  int started = 0, stopped = 0;
  std::vector<std::string> leaders;
};

TEST(LeaderElector, the_first_takes_the_lease_and_the_second_waits) {
  Network network;
  Replica a(network, "a");
  network.loop.run_ready();
  Replica b(network, "b");
  network.run_for(60s);
  EXPECT_TRUE(a.elector->is_leader());
  EXPECT_FALSE(b.elector->is_leader());
  EXPECT_EQ(b.elector->leader(), "a");
  const json::value& lease = network.api.objects.at("lead");
  EXPECT_EQ(text_at(lease, {"spec", "holderIdentity"}), "a");
  EXPECT_EQ(int_at(lease, {"spec", "leaseTransitions"}), 0);
  EXPECT_NE(text_at(lease, {"spec", "acquireTime"}), text_at(lease, {"spec", "renewTime"}));
}

TEST(LeaderElector, a_lost_leader_stops_before_another_starts) {
  Network network;
  Replica a(network, "a");
  network.loop.run_ready();
  Replica b(network, "b");
  network.run_for(20s);
  a.client->cut_off = true;
  network.run_for(10s);
  EXPECT_FALSE(a.elector->is_leader());
  EXPECT_EQ(a.stopped, 1);
  EXPECT_FALSE(b.elector->is_leader());
  network.run_for(10s);
  EXPECT_TRUE(b.elector->is_leader());
  EXPECT_EQ(int_at(network.api.objects.at("lead"), {"spec", "leaseTransitions"}), 1);
  EXPECT_EQ(b.leaders, (std::vector<std::string>{"a", "b"}));
}

TEST(LeaderElector, stops_leading_on_time_while_a_renewal_hangs) {
  Network network;
  Replica a(network, "a");
  network.run_for(5s);
  ASSERT_TRUE(a.elector->is_leader());
  a.client->max_delay = 1000h;
  network.run_for(12s);
  EXPECT_FALSE(a.elector->is_leader());
  EXPECT_EQ(a.stopped, 1);
}

TEST(LeaderElector, is_overdue_only_long_after_the_lease_ran_out_unnoticed) {
  Network network;
  Replica a(network, "a");
  network.loop.run_ready();
  Replica b(network, "b");
  network.clock.advance(34s);  // while the loop is busy
  EXPECT_FALSE(a.elector->is_overdue(20s));
  network.clock.advance(2s);
  EXPECT_TRUE(a.elector->is_overdue(20s));
  EXPECT_FALSE(b.elector->is_overdue(20s));  // it does not lead
}

TEST(LeaderElector, gives_the_lease_back_when_stopped) {
  Network network;
  auto a = std::make_unique<Replica>(network, "a");
  network.loop.run_ready();
  Replica b(network, "b");
  network.run_for(5s);
  run_to_end(network.loop, a->elector->stop());
  EXPECT_EQ(a->stopped, 1);
  EXPECT_EQ(text_at(network.api.objects.at("lead"), {"spec", "holderIdentity"}), "");
  network.run_for(3s);
  EXPECT_TRUE(b.elector->is_leader());
}

RC_GTEST_PROP(LeaderElector, never_two_lead_on_a_bad_network, ()) {
  Network network(*rc::gen::arbitrary<std::uint64_t>());
  Replica a(network, "a"), b(network, "b");
  Replica* replicas[] = {&a, &b};
  for (int i = 0; i < 30; ++i) {
    Replica& one = *replicas[*rc::gen::inRange(0, 2)];
    one.client->max_delay = std::chrono::milliseconds(*rc::gen::inRange(0, 9000));
    one.client->loss_percent = static_cast<unsigned>(*rc::gen::inRange(0, 60));
    one.client->cut_off = *rc::gen::inRange(0, 5) == 0;
    for (int tick = 0; tick < 40; ++tick) {
      network.clock.advance(100ms);
      network.loop.run_ready();
      RC_ASSERT(!(a.elector->is_leader() && b.elector->is_leader()));
      for (Replica* r : replicas) {
        int open = r->started - r->stopped;
        RC_ASSERT(open == 0 || open == 1);
        RC_ASSERT(open == 1 || !r->elector->is_leader());
      }
      RC_ASSERT(a.started - a.stopped + b.started - b.stopped <= 1);
    }
  }
  for (Replica* r : replicas) {
    r->client->max_delay = Nanos(0);
    r->client->loss_percent = 0;
    r->client->cut_off = false;
  }
  network.run_for(60s);
  RC_ASSERT(a.elector->is_leader() || b.elector->is_leader());
}

}  // namespace
}  // namespace plim::kube
