#include "sched/recent_events.hpp"

#include <gtest/gtest.h>

namespace plim::sched {
namespace {

bool has_since(const RecentEvents& events, std::uint64_t number, EventKind kind) {
  return events.any_since(number, [&](const ClusterEvent& event) { return event.kind == kind; });
}

TEST(RecentEvents, a_try_sees_the_events_since_it_began) {
  RecentEvents events;
  const std::uint64_t first = events.begin_try();
  events.add({.kind = EventKind::NodeAdd});
  const std::uint64_t second = events.begin_try();
  events.add({.kind = EventKind::AssignedPodDelete});
  EXPECT_TRUE(has_since(events, first, EventKind::NodeAdd));
  EXPECT_FALSE(has_since(events, second, EventKind::NodeAdd));
  EXPECT_TRUE(has_since(events, second, EventKind::AssignedPodDelete));
}

TEST(RecentEvents, are_kept_for_the_oldest_try_and_no_longer) {
  RecentEvents events;
  EXPECT_FALSE(events.needed());
  const std::uint64_t first = events.begin_try();
  events.add({.kind = EventKind::NodeAdd});
  const std::uint64_t second = events.begin_try();
  events.add({.kind = EventKind::NodeAdd});
  constexpr auto kNodeAdd = static_cast<std::size_t>(EventKind::NodeAdd);
  events.end_try(second);
  EXPECT_EQ(events.count_by_kind()[kNodeAdd], 2U);
  const std::uint64_t third = events.begin_try();
  events.end_try(first);
  EXPECT_EQ(events.count_by_kind()[kNodeAdd], 0U);
  EXPECT_TRUE(events.needed());
  events.add({.kind = EventKind::NodeAdd});
  EXPECT_TRUE(has_since(events, third, EventKind::NodeAdd));
  events.end_try(third);
  EXPECT_EQ(events.count_by_kind()[kNodeAdd], 0U);
  EXPECT_FALSE(events.needed());
}

}  // namespace
}  // namespace plim::sched
