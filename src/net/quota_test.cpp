#include "net/quota.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace plim::net {
namespace {

TEST(Quota, gives_no_more_than_there_is_and_takes_it_back) {
  Quota quota({.all = 10});
  Quota::Part first(quota, "a"), second(quota, "b");
  EXPECT_TRUE(first.grow(6));
  EXPECT_FALSE(second.grow(5));
  EXPECT_TRUE(second.grow(4));
  EXPECT_FALSE(second.grow(1));
  first = Quota::Part();
  EXPECT_TRUE(second.grow(6));
}

TEST(Quota, gives_a_peer_only_its_part) {
  Quota quota({.all = 10, .per_peer = 4});
  Quota::Part first(quota, "a"), second(quota, "a"), other(quota, "b"), local(quota, "");
  EXPECT_TRUE(first.grow(3));
  EXPECT_FALSE(second.grow(2));
  EXPECT_TRUE(other.grow(2));
  EXPECT_TRUE(local.grow(5)) << "unix sockets have no part";
  EXPECT_FALSE(second.grow(1)) << "nothing is left";
  {
    const Quota::Part moved(std::move(first));
  }
  EXPECT_TRUE(second.grow(3));
}

TEST(Quota, has_no_limit_unless_it_is_set) {
  Quota none({});
  Quota::Part part(none, "a"), without;
  EXPECT_TRUE(part.grow(std::size_t{1} << 62) && part.grow(std::size_t{1} << 62));
  EXPECT_TRUE(without.grow(1));
}

TEST(Quota, can_be_used_by_several_threads) {
  Quota quota({.all = 1000, .per_peer = 600});
  std::vector<std::thread> threads;
  for (const char* peer : {"a", "b", "a", "b"})
    threads.emplace_back([&quota, peer] {
      for (int i = 0; i < 2000; ++i) {
        Quota::Part part(quota, peer);
        EXPECT_TRUE(part.grow(250));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Quota::Part(quota, "").grow(1000));
}

}  // namespace
}  // namespace plim::net
