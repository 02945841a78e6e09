#include "base/random.hpp"

#include <array>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "base/backoff.hpp"

namespace plim {
namespace {

using namespace std::chrono_literals;

TEST(Random, the_same_seed_gives_the_same_sequence) {
  SeededRandom a(7), b(7), c(8);
  const auto first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
}

TEST(Random, below_reaches_every_value_equally) {
  SeededRandom random(1);
  std::array<int, 6> seen{};
  for (int i = 0; i < 6000; ++i) ++seen[random.below(6)];
  for (int count : seen) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, unit_stays_inside_its_bounds) {
  SeededRandom random(2);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = random.unit();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Ids, uuids_have_version_and_variant_and_differ) {
  const std::regex form("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string id = make_uuid();
    EXPECT_TRUE(std::regex_match(id, form)) << id;
    seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Ids, suffixes_use_the_alphabet_of_kubernetes) {
  const std::regex form("[bcdfghjklmnpqrstvwxz2456789]{5}");
  for (int i = 0; i < 100; ++i) {
    const std::string suffix = make_name_suffix();
    EXPECT_TRUE(std::regex_match(suffix, form)) << suffix;
  }
  SeededRandom a(3), b(3);
  EXPECT_EQ(make_name_suffix(a, 10), make_name_suffix(b, 10));
}

TEST(Ids, tokens_have_two_digits_for_each_byte) {
  EXPECT_TRUE(std::regex_match(make_token(40), std::regex("[0-9a-f]{80}")));
  EXPECT_EQ(make_token(0), "");
  EXPECT_NE(make_token(), make_token());
}

TEST(Backoff, doubles_up_to_the_limit_and_starts_again_after_reset) {
  SeededRandom random(1);
  Backoff backoff({.first = 1s, .limit = 5s, .factor = 2, .jitter = 0}, random);
  EXPECT_EQ(backoff.next(), 1s);
  EXPECT_EQ(backoff.next(), 2s);
  EXPECT_EQ(backoff.next(), 4s);
  EXPECT_EQ(backoff.next(), 5s);
  EXPECT_EQ(backoff.next(), 5s);
  backoff.reset();
  EXPECT_EQ(backoff.next(), 1s);
}

TEST(Backoff, jitter_only_adds_and_spreads) {
  SeededRandom random(1);
  std::set<Nanos> seen;
  for (int i = 0; i < 100; ++i) {
    Backoff backoff({.first = 1s, .limit = 5s, .factor = 2, .jitter = 0.5}, random);
    const Nanos wait = backoff.next();
    EXPECT_GE(wait, 1s);
    EXPECT_LT(wait, 1500ms);
    seen.insert(wait);
  }
  EXPECT_GT(seen.size(), 90u);
}

TEST(Backoff, never_overflows) {
  SeededRandom random(1);
  Backoff backoff({.first = 24h, .limit = 24h * 365 * 100, .factor = 1e9, .jitter = 1}, random);
  for (int i = 0; i < 10; ++i) EXPECT_GT(backoff.next(), 0s);
}

}  // namespace
}  // namespace plim
