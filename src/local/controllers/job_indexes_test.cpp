#include "local/controllers/job_indexes.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::local::controllers {
namespace {

using ::testing::ElementsAre;

TEST(JobIndexes, reads_and_writes_ranges) {
  JobIndexes set = JobIndexes::parse("1,3-5,7", 10);
  EXPECT_EQ(set.size(), 5);
  EXPECT_TRUE(set.contains(4));
  EXPECT_FALSE(set.contains(2));
  EXPECT_EQ(set.to_string(), "1,3-5,7");
  set.add(2);
  EXPECT_EQ(set.to_string(), "1-5,7");
  set.add(6);
  EXPECT_EQ(set.to_string(), "1-7");
}

TEST(JobIndexes, ignores_invalid_indexes) {
  EXPECT_EQ(JobIndexes::parse("x,-1,4-2,5,3,8-20", 10).to_string(), "5,8,9");
}

TEST(JobIndexes, finds_the_lowest_free_indexes) {
  EXPECT_THAT(
      JobIndexes::first_missing(JobIndexes::parse("0,2", 6), JobIndexes::parse("3", 6), 6, 2),
      ElementsAre(1, 4));
}

RC_GTEST_PROP(JobIndexes, hold_what_was_added, (std::vector<std::uint8_t> added)) {
  JobIndexes set;
  std::set<std::int64_t> model;
  for (std::uint8_t index : added) {
    set.add(index % 40);
    model.insert(index % 40);
  }
  RC_ASSERT(set.size() == static_cast<std::int64_t>(model.size()));
  for (std::int64_t i = 0; i < 40; ++i) RC_ASSERT(set.contains(i) == model.contains(i));
  RC_ASSERT(JobIndexes::parse(set.to_string(), 40) == set);
}

}  // namespace
}  // namespace plim::local::controllers
