#include "kube/informer.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/loop.hpp"
#include "kube/testing/model_cluster.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;
using testing::Fault;
using testing::ModelClient;
using testing::ModelCluster;
using Objects = std::map<std::string, ModelCluster::Object>;

const Resource kThings{"", "v1", "things", "Thing"};

// Everything an informer needs, on one loop and a clock that stands still.
struct Rig {
  explicit Rig(ModelClient::WatchList watch_list = ModelClient::WatchList::refused)
      : client(std::make_shared<ModelClient>(cluster, watch_list)),
        informer(loop.executor(), client, kThings, meta_codec(pool), {.page_size = 3}, clock,
                 random) {
    Informer<ObjectMeta>::Handlers handlers;
    handlers.on_add = [this](const auto& object) {
      consistent &= seen.emplace(object->name, state_of(*object)).second;
      ++adds;
    };
    handlers.on_update = [this](const auto& before, const auto& now) {
      consistent &= seen.contains(now->name) && seen[now->name] == state_of(*before) &&
                    before->uid == now->uid;
      seen[now->name] = state_of(*now);
      ++updates;
    };
    handlers.on_delete = [this](const auto& last) {
      consistent &= seen.contains(last->name) && seen[last->name].uid == last->uid;
      seen.erase(last->name);
      ++deletes;
    };
    handlers.on_synced = [this] { ++syncs; };
    informer.add_handlers(std::move(handlers));
    informer.start();
  }

  ~Rig() { run_to_end(loop, informer.stop()); }

  static ModelCluster::Object state_of(const ObjectMeta& meta) {
    return {meta.uid, meta.resource_version};
  }

  Objects stored() const {
    Objects out;
    for (const auto& [key, object] : informer.store()) out[object->name] = state_of(*object);
    return out;
  }

  // Runs until only the cluster can cause more work.
  void settle() {
    loop.run_ready();
    while (clock.advance_to_next()) loop.run_ready();
  }

  Loop loop;
  FakeClock clock;
  SeededRandom random{7};
  InternPool pool;
  ModelCluster cluster{loop.executor()};
  std::shared_ptr<ModelClient> client;
  Informer<ObjectMeta> informer;
  Objects seen;  // what the handlers were told
  bool consistent = true;
  int adds = 0, updates = 0, deletes = 0, syncs = 0;
};

TEST(Informer, lists_in_pages_then_follows) {
  Rig rig;
  for (auto name : {"a", "b", "c", "d", "e", "f", "g"}) rig.cluster.put(name);
  rig.loop.run_ready();
  EXPECT_TRUE(rig.informer.synced());
  EXPECT_EQ(rig.syncs, 1);
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
  rig.cluster.put("a");
  rig.cluster.remove("b");
  rig.cluster.put("h");
  rig.loop.run_ready();
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
  EXPECT_EQ(rig.adds, 8);
  EXPECT_EQ(rig.updates, 1);
  EXPECT_EQ(rig.deletes, 1);
  EXPECT_EQ(rig.informer.stats().lists, 2u);  // the refused WatchList, then the list
  EXPECT_EQ(rig.informer.stats().failures, 0u);
}

TEST(Informer, takes_the_first_state_from_the_watch_when_offered) {
  Rig rig(ModelClient::WatchList::offered);
  rig.cluster.put("a");
  rig.cluster.put("b");
  rig.loop.run_ready();
  rig.cluster.put("c");
  rig.loop.run_ready();
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
  EXPECT_EQ(rig.informer.stats().watches, 1u);
  EXPECT_EQ(rig.informer.stats().lists, 1u);
}

TEST(Informer, lists_at_once_when_the_server_rejects_initial_events_late) {
  Rig rig(ModelClient::WatchList::refused_late);
  rig.cluster.put("a");
  rig.loop.run_ready();
  EXPECT_TRUE(rig.informer.synced());
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
  EXPECT_EQ(rig.informer.stats().failures, 0u);
}

TEST(Informer, resumes_after_a_cut_without_listing) {
  Rig rig;
  rig.cluster.put("a");
  rig.loop.run_ready();
  rig.cluster.plan(Fault::cut);
  rig.cluster.put("b");
  rig.loop.run_ready();
  EXPECT_EQ(rig.stored().size(), 1u);
  EXPECT_FALSE(rig.clock.sleepers() == 0);
  rig.clock.advance(1600ms);  // the longest first wait
  rig.loop.run_ready();
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
  EXPECT_EQ(rig.informer.stats().lists, 2u);
}

// How long the informer waits before it retries.
Nanos next_wait(Rig& rig) {
  const SteadyTime before = rig.clock.steady();
  EXPECT_TRUE(rig.clock.advance_to_next());
  rig.loop.run_ready();
  return rig.clock.steady() - before;
}

TEST(Informer, reconnects_soon_each_time_a_long_watch_was_cut) {
  Rig rig;
  rig.loop.run_ready();
  for (auto name : {"a", "b", "c", "d", "e", "f"}) {
    rig.clock.advance(1s);
    rig.cluster.plan(Fault::cut);
    rig.cluster.put(name);
    rig.loop.run_ready();
    EXPECT_LT(next_wait(rig), 100ms) << name;
    EXPECT_EQ(rig.stored(), rig.cluster.objects());
  }
  EXPECT_EQ(rig.informer.stats().lists, 2u);
}

TEST(Informer, reconnects_soon_after_a_watch_that_delivered_changes) {
  for (Fault fault : {Fault::cut, Fault::end}) {
    Rig rig;
    rig.loop.run_ready();
    rig.cluster.put("a");
    rig.loop.run_ready();
    rig.cluster.plan(fault);
    rig.cluster.put("b");
    rig.loop.run_ready();
    EXPECT_LT(next_wait(rig), 100ms);
    EXPECT_EQ(rig.stored(), rig.cluster.objects());
  }
}

TEST(Informer, backs_off_from_an_unreachable_server_until_a_watch_lasts) {
  Rig rig;
  rig.loop.run_ready();
  for (auto name : {"a", "b", "c"}) {
    rig.clock.advance(1s);
    rig.cluster.plan(Fault::cut);
    for (int i = 0; i < 4; ++i) rig.cluster.plan(Fault::refused);
    rig.cluster.put(name);
    rig.loop.run_ready();
    EXPECT_LT(next_wait(rig), 100ms);
    for (Nanos least : {800ms, 1600ms, 3200ms, 6400ms}) {
      const Nanos wait = next_wait(rig);
      EXPECT_GE(wait, least);
      EXPECT_LE(wait, 2 * least);
    }
    EXPECT_EQ(rig.stored(), rig.cluster.objects());
  }
}

TEST(Informer, waits_longer_each_time_a_watch_is_cut_at_once) {
  Rig rig;
  for (int i = 0; i < 2; ++i) rig.cluster.plan(Fault::none);  // the refused WatchList, the list
  for (int i = 0; i < 3; ++i) {
    rig.cluster.plan(Fault::none);  // the watch is opened
    rig.cluster.plan(Fault::cut);
  }
  rig.loop.run_ready();
  for (Nanos least : {800ms, 1600ms, 3200ms}) EXPECT_GE(next_wait(rig), least);
}

TEST(Informer, a_bookmark_moves_the_point_of_resumption) {
  Rig rig;
  rig.cluster.put("a");
  rig.loop.run_ready();
  rig.cluster.plan(Fault::bookmark_of_now);
  rig.cluster.plan(Fault::cut);
  rig.cluster.put("b");  // wakes the watch, which sends the bookmark instead of the change
  rig.loop.run_ready();
  rig.cluster.compact();  // the last event we saw is forgotten, the bookmark is not
  rig.settle();
  EXPECT_EQ(rig.informer.stats().lists, 2u);
}

TEST(Informer, lists_again_when_history_is_gone_and_reports_deletions) {
  for (Fault fault : {Fault::gone_error, Fault::cut}) {
    Rig rig;
    rig.cluster.put("stays");
    rig.cluster.put("vanishes");
    rig.cluster.put("is-replaced");
    rig.loop.run_ready();
    rig.cluster.plan(fault);
    rig.cluster.remove("vanishes");
    rig.cluster.remove("is-replaced");
    rig.cluster.put("is-replaced");
    rig.cluster.compact();
    rig.settle();
    EXPECT_EQ(rig.stored(), rig.cluster.objects());
    EXPECT_EQ(rig.seen, rig.cluster.objects());
    EXPECT_TRUE(rig.consistent);
    EXPECT_EQ(rig.deletes, 2);
    EXPECT_EQ(rig.adds, 4);
    EXPECT_EQ(rig.updates, 0);
    EXPECT_EQ(rig.syncs, 1);
  }
}

TEST(Informer, reports_an_old_list_and_catches_up) {
  Rig rig;
  for (auto name : {"a", "b", "gone", "d", "e"}) rig.cluster.put(name);
  rig.loop.run_ready();
  rig.cluster.remove("gone");
  rig.loop.run_ready();
  EXPECT_EQ(rig.deletes, 1);
  rig.cluster.plan(Fault::gone_error);
  rig.cluster.plan(Fault::stale_list);
  rig.cluster.put("a");
  rig.settle();
  // The list knew a, b, gone and d: what had been deleted came back and went again, e went and
  // came.
  EXPECT_EQ(rig.deletes, 3);
  EXPECT_EQ(rig.adds, 7);
  EXPECT_TRUE(rig.consistent);
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
  EXPECT_EQ(rig.seen, rig.cluster.objects());
}

TEST(Informer, events_of_different_objects_may_change_places_even_before_a_cut) {
  Rig rig;
  rig.cluster.put("a");
  rig.loop.run_ready();
  rig.cluster.plan(Fault::reordered);
  rig.cluster.plan(Fault::cut);
  rig.cluster.remove("a");
  rig.cluster.put("b");
  rig.settle();  // resumes after the deletion of a, so that b, which came before it, comes twice
  EXPECT_EQ(rig.adds, 2);
  EXPECT_TRUE(rig.consistent);
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
  EXPECT_EQ(rig.seen, rig.cluster.objects());
}

TEST(Informer, an_expired_continue_token_does_not_stop_a_list) {
  Rig rig;
  for (auto name : {"a", "b", "c", "d", "e"}) rig.cluster.put(name);
  rig.cluster.plan(Fault::none);  // the refused WatchList
  rig.cluster.plan(Fault::none);  // first page
  rig.cluster.plan(Fault::gone_http);
  rig.settle();
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
}

TEST(Informer, backs_off_while_the_server_is_away_and_no_longer_than_a_minute) {
  Rig rig;
  for (int i = 0; i < 40; ++i) rig.cluster.plan(Fault::refused);
  rig.cluster.put("a");
  rig.loop.run_ready();
  std::vector<Nanos> waits;
  while (!rig.informer.synced()) {
    SteadyTime before = rig.clock.steady();
    ASSERT_TRUE(rig.clock.advance_to_next());
    waits.push_back(rig.clock.steady() - before);
    rig.loop.run_ready();
  }
  EXPECT_GE(waits.front(), 800ms);
  EXPECT_LE(waits.front(), 1600ms);
  EXPECT_GE(waits.back(), 30s);
  EXPECT_LE(waits.back(), 60s);
  EXPECT_EQ(rig.informer.stats().failures, waits.size());
}

// What cannot be seen any more is not gone: acting as if it were would delete or move it.
TEST(Informer, keeps_what_it_knows_while_its_right_is_taken_away) {
  Rig rig;
  rig.cluster.put("stays");
  rig.cluster.put("goes");
  rig.loop.run_ready();
  ASSERT_TRUE(rig.informer.synced());
  rig.cluster.plan(Fault::cut);
  for (int i = 0; i < 5; ++i) rig.cluster.plan(Fault::forbidden);
  rig.cluster.put("new");
  rig.cluster.remove("goes");
  rig.loop.run_ready();
  int refusals = 0;
  while (rig.informer.stats().trouble) {
    if (rig.informer.stats().trouble->code == Code::forbidden) ++refusals;
    EXPECT_EQ(rig.stored().size(), 2u);
    EXPECT_EQ(rig.deletes, 0);
    ASSERT_TRUE(rig.clock.advance_to_next());
    rig.loop.run_ready();
  }
  EXPECT_EQ(refusals, 5);
  EXPECT_EQ(rig.stored(), rig.cluster.objects());
  EXPECT_EQ(rig.seen, rig.cluster.objects());
  EXPECT_TRUE(rig.consistent);
  EXPECT_EQ(rig.deletes, 1);
}

TEST(Informer, waits_as_long_as_the_server_asks) {
  Rig rig;
  rig.cluster.plan(Fault::busy);
  rig.cluster.put("a");
  rig.loop.run_ready();
  rig.clock.advance(19s);
  rig.loop.run_ready();
  EXPECT_FALSE(rig.informer.synced());
  rig.clock.advance(1s);
  rig.loop.run_ready();
  EXPECT_TRUE(rig.informer.synced());
}

TEST(Informer, late_handlers_get_all_existing_objects) {
  Rig rig;
  rig.cluster.put("a");
  rig.loop.run_ready();
  std::vector<std::string> told;
  Informer<ObjectMeta>::Handlers handlers;
  handlers.on_add = [&](const auto& object) { told.push_back(object->name); };
  handlers.on_synced = [&] { told.push_back("synced"); };
  rig.informer.add_handlers(handlers);
  EXPECT_EQ(told, (std::vector<std::string>{"a", "synced"}));
}

TEST(Informer, indexes_follow_the_store) {
  Rig rig;
  rig.cluster.put("a");
  auto by_uid = rig.informer.add_index(
      [](const ObjectMeta& meta) { return std::vector<std::string>{meta.uid}; });
  rig.cluster.put("b");
  rig.loop.run_ready();
  ASSERT_EQ(rig.informer.store().indexed(by_uid, "u2").size(), 1u);
  EXPECT_EQ(rig.informer.store().indexed(by_uid, "u2")[0]->name, "b");
  rig.cluster.remove("b");
  rig.loop.run_ready();
  EXPECT_TRUE(rig.informer.store().indexed(by_uid, "u2").empty());
  EXPECT_EQ(rig.informer.store().find("ns/a")->uid, "u1");
}

// After stop() it asks nothing, calls no handler, and leaves nothing that waits.
void expect_stopped(Rig& rig) {
  run_to_end(rig.loop, rig.informer.stop());
  const auto stats = rig.informer.stats();
  const Objects seen = rig.seen;
  rig.cluster.clear_faults();
  rig.cluster.put("late");
  rig.loop.run_ready();
  EXPECT_EQ(rig.clock.sleepers(), 0u);
  EXPECT_EQ(rig.informer.stats().lists, stats.lists);
  EXPECT_EQ(rig.informer.stats().watches, stats.watches);
  EXPECT_EQ(rig.seen, seen);
}

TEST(Informer, stop_ends_it_in_every_state) {
  Rig not_even_started;
  expect_stopped(not_even_started);

  Rig following;
  following.cluster.put("a");
  following.loop.run_ready();
  ASSERT_TRUE(following.seen.contains("a"));
  expect_stopped(following);

  Rig waiting;
  for (int i = 0; i < 3; ++i) waiting.cluster.plan(Fault::refused);
  waiting.loop.run_ready();
  ASSERT_GT(waiting.clock.sleepers(), 0u) << "it waits for its next try";
  expect_stopped(waiting);
}

RC_GTEST_PROP(Informer, ends_up_with_the_clusters_state_whatever_happens, ()) {
  Rig rig(static_cast<ModelClient::WatchList>(*rc::gen::inRange(0, 3)));
  int steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) {
    std::string name(1, static_cast<char>('a' + *rc::gen::inRange(0, 8)));
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
      case 1:
      case 2:
        rig.cluster.put(name);
        break;
      case 3:
        rig.cluster.remove(name);
        break;
      case 4:
        rig.cluster.plan(
            static_cast<Fault>(*rc::gen::inRange(0, static_cast<int>(Fault::bookmark_of_now))));
        break;
      case 5:
        rig.loop.run_ready();
        break;
      case 6:
        rig.clock.advance_to_next();
        rig.loop.run_ready();
        break;
      default:
        rig.cluster.compact();
        break;
    }
    RC_ASSERT(rig.consistent);
  }
  rig.cluster.clear_faults();
  rig.settle();
  RC_ASSERT(rig.informer.synced());
  RC_ASSERT(rig.consistent);
  RC_ASSERT(rig.stored() == rig.cluster.objects());
  RC_ASSERT(rig.seen == rig.cluster.objects());
  RC_ASSERT(rig.adds - rig.deletes == static_cast<int>(rig.seen.size()));
  RC_ASSERT(rig.syncs == 1);
}

}  // namespace
}  // namespace plim::kube
