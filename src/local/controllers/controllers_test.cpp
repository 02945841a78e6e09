#include "local/controllers/controllers.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::local {
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

TEST(ParseControllers, names_the_one_it_does_not_know) {
  auto parsed = parse_controllers("deployment,foo");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "there is no controller \"foo\"");
}

}  // namespace
}  // namespace plim::local
