#include "sched/explain_ring.hpp"

#include <gtest/gtest.h>

namespace plim::sched {
namespace {

ExplainRecord about(std::string name, std::int64_t attempt = 1) {
  ExplainRecord out;
  out.ns = "default";
  out.name = std::move(name);
  out.uid = "u-" + out.name;
  out.attempt = attempt;
  return out;
}

net::Response asked(const ExplainRing& ring, std::string query) {
  net::Request request{.path = "/plimsoll/v1/explain", .query = std::move(query)};
  return answer_explain(ring, request);
}

TEST(ExplainRing, gives_the_last_decision_about_a_pod) {
  ExplainRing ring;
  ring.add(about("a", 1));
  ring.add(about("a", 2));
  ring.add(about("b"));
  ASSERT_TRUE(ring.find({.ns = "default", .pod = "a"}));
  EXPECT_EQ(ring.find({.ns = "default", .pod = "a"})->attempt, 2);
  EXPECT_EQ(ring.find({.ns = "default", .pod = "a", .attempt = 1})->attempt, 1);
  EXPECT_FALSE(ring.find({.ns = "default", .pod = "a", .uid = "another"}));
  EXPECT_FALSE(ring.find({.ns = "kube-system", .pod = "a"}));
}

TEST(ExplainRing, forgets_the_oldest_beyond_its_number) {
  ExplainRing ring({.decisions = 2});
  for (const char* name : {"a", "b", "c"}) ring.add(about(name));
  EXPECT_EQ(ring.size(), 2u);
  EXPECT_FALSE(ring.find({.ns = "default", .pod = "a"}));
  EXPECT_TRUE(ring.find({.ns = "default", .pod = "c"}));
}

TEST(ExplainRing, stays_below_its_bytes) {
  ExplainRing ring({.decisions = 1000, .bytes = 64 * 1024});
  for (int i = 0; i < 200; ++i) {
    ExplainRecord one = about(std::to_string(i));
    one.message.assign(2000, 'x');
    ring.add(one);
    EXPECT_LE(ring.bytes(), 64u * 1024);
  }
  EXPECT_GT(ring.size(), 5u);
  EXPECT_LT(ring.size(), 40u);
}

TEST(ExplainRing, answers_requests) {
  ExplainRing ring;
  ring.add(about("a"));
  EXPECT_EQ(asked(ring, "pod=a").status, 200);
  EXPECT_EQ(asked(ring, "namespace=default&pod=a&uid=u-a&attempt=1").status, 200);
  EXPECT_EQ(asked(ring, "namespace=default&pod=b").status, 404);
  EXPECT_EQ(asked(ring, "namespace=default").status, 400);
  EXPECT_EQ(asked(ring, "pod=a&attempt=x").status, 400);
  auto body = parse_json(asked(ring, "pod=a").body);
  ASSERT_TRUE(body);
  EXPECT_EQ(text_at(*body, {"pod", "name"}), "a");
}

}  // namespace
}  // namespace plim::sched
