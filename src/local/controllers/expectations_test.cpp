#include "local/controllers/expectations.hpp"

#include <gtest/gtest.h>

namespace plim::local::controllers {
namespace {

TEST(Expectations, hold_until_every_creation_is_seen) {
  FakeClock clock;
  Expectations expectations(clock);
  EXPECT_TRUE(expectations.satisfied("ns/a"));
  expectations.expect_creations("ns/a", 2);
  EXPECT_FALSE(expectations.satisfied("ns/a"));
  EXPECT_TRUE(expectations.satisfied("ns/b"));
  expectations.creation_observed("ns/a");
  EXPECT_FALSE(expectations.satisfied("ns/a"));
  expectations.creation_observed("ns/a");
  EXPECT_TRUE(expectations.satisfied("ns/a"));
}

TEST(Expectations, count_each_deletion_once) {
  FakeClock clock;
  Expectations expectations(clock);
  expectations.expect_deletions("ns/a", {"u1", "u2"});
  expectations.deletion_observed("ns/a", "u1");
  expectations.deletion_observed("ns/a", "u1");
  expectations.deletion_observed("ns/a", "u9");
  EXPECT_FALSE(expectations.satisfied("ns/a"));
  expectations.deletion_observed("ns/a", "u2");
  EXPECT_TRUE(expectations.satisfied("ns/a"));
}

TEST(Expectations, creations_by_others_do_not_count_for_later_ones) {
  FakeClock clock;
  Expectations expectations(clock);
  expectations.creation_observed("ns/a");
  expectations.expect_creations("ns/a", 1);
  EXPECT_FALSE(expectations.satisfied("ns/a"));
}

TEST(Expectations, give_up_when_events_never_come) {
  FakeClock clock;
  Expectations expectations(clock);
  expectations.expect_creations("ns/a", 3);
  clock.advance(Expectations::kTimeout);
  EXPECT_TRUE(expectations.satisfied("ns/a"));
  expectations.expect_creations("ns/a", 1);
  expectations.creation_observed("ns/a");
  EXPECT_TRUE(expectations.satisfied("ns/a"));
}

TEST(Expectations, forget_the_key_of_a_deleted_owner) {
  FakeClock clock;
  Expectations expectations(clock);
  expectations.expect_creations("ns/a", 3);
  expectations.forget("ns/a");
  EXPECT_TRUE(expectations.satisfied("ns/a"));
}

}  // namespace
}  // namespace plim::local::controllers
